"""What an installation puts into an environment: our four packages, typed, and nothing else."""

import shutil
import subprocess
import sys
import tomllib
import zipfile
from importlib.metadata import metadata, packages_distributions
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
PACKAGES = ("cdc", "connectors", "sinks", "snapshots")
BUILD = "import sys; from setuptools import build_meta; build_meta.build_wheel(sys.argv[1])"


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """Build the wheel from a copy, for building writes into the source tree; return its files."""
    source = tmp_path_factory.mktemp("source")
    skip = shutil.ignore_patterns("__pycache__")
    for name in (*PACKAGES, "tests", "requirements"):
        shutil.copytree(ROOT / name, source / name, ignore=skip)
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, source)
    output = tmp_path_factory.mktemp("wheel")
    subprocess.run(
        [sys.executable, "-c", BUILD, str(output)], cwd=source, check=True, capture_output=True
    )
    (built,) = output.glob("*.whl")
    with zipfile.ZipFile(built) as archive:
        return archive.namelist()


@pytest.mark.parametrize("package", PACKAGES)
def test_each_generic_name_has_one_owner_us(package: str) -> None:
    assert set(packages_distributions()[package]) == {PROJECT["name"]}


def test_the_project_can_never_be_uploaded_to_an_index() -> None:
    assert "Private :: Do Not Upload" in metadata(PROJECT["name"]).get_all("Classifier", [])


@pytest.mark.parametrize("package", PACKAGES)
def test_every_package_ships_its_types(package: str, wheel: list[str]) -> None:
    assert f"{package}/py.typed" in wheel


def test_the_wheel_holds_our_packages_and_nothing_else(wheel: list[str]) -> None:
    about = f"{PROJECT['name'].replace('-', '_')}-{PROJECT['version']}.dist-info"
    assert {name.partition("/")[0] for name in wheel} == {*PACKAGES, about}


def test_the_wheel_carries_the_pins_of_the_stack(wheel: list[str]) -> None:
    assert "cdc/stack/artifacts.lock" in wheel


def test_the_command_line_is_installed() -> None:
    assert PROJECT["scripts"] == {"cdc": "cdc.cli:main"}
