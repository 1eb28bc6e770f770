"""The Makefile's promises: every target is listed, the help is the default, CI runs `make test`."""

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
MAKEFILE = (ROOT / "Makefile").read_text()
TARGETS = re.search(r"^\.PHONY: (.+)$", MAKEFILE, re.MULTILINE)
PROMISED = {"help", "setup", "demo", "test", "lint", "bench", "chaos", "up", "down", "clean"}

pytestmark = pytest.mark.skipif(shutil.which("make") is None, reason="make is not installed")


def make(*arguments: str, **environment: str) -> str:
    # The outer make (`make test`) hands its flags down; they must not reach the one under test.
    inherited = {key: value for key, value in os.environ.items() if not key.startswith("MAKE")}
    return subprocess.run(
        ["make", "--no-print-directory", *arguments],
        cwd=ROOT,
        env=inherited | environment,
        capture_output=True,
        check=True,
        text=True,
    ).stdout


def phony() -> set[str]:
    assert TARGETS is not None
    return set(TARGETS[1].split())


def test_help_lists_every_target_with_one_line() -> None:
    listed = re.findall(r"^  make (\w+) +(\S.*)$", make("help"), re.MULTILINE)
    assert {name for name, _ in listed} == phony()
    assert len(listed) == len(phony())


def test_help_is_what_make_alone_does() -> None:
    assert make() == make("help")


def test_the_promised_targets_exist() -> None:
    assert phony() >= PROMISED


def test_demo_takes_its_size() -> None:
    assert "cdc demo --orders 100000" in make("-n", "demo")
    assert "cdc demo --orders 7" in make("-n", "demo", "SIZE=7")


def test_test_lints_before_it_tests() -> None:
    steps = make("-n", "test")
    order = [steps.index(step) for step in ("ruff check", "ruff format --check", "mypy", "pytest")]
    assert order == sorted(order)


def test_chaos_hands_rounds_and_seed_down() -> None:
    assert "ROUNDS=50 SEED=" in make("-n", "chaos")
    assert "ROUNDS=3 SEED=11" in make("-n", "chaos", "ROUNDS=3", "SEED=11")


def test_setup_without_a_usable_python_names_what_to_install(tmp_path: Path) -> None:
    for tool in ("cat", "sha256sum", "cut", "bash", "make", "awk"):
        found = shutil.which(tool)
        assert found is not None
        (tmp_path / tool).symlink_to(found)
    checkout = tmp_path / "checkout"
    shutil.copytree(ROOT / "requirements", checkout / "requirements")
    for name in ("Makefile", "pyproject.toml"):
        shutil.copy(ROOT / name, checkout)
    run = subprocess.run(
        ["make", "setup"],
        cwd=checkout,
        env={"PATH": str(tmp_path)},
        capture_output=True,
        check=False,
        text=True,
    )
    assert run.returncode != 0
    assert "no Python 3.11 or newer" in run.stderr
    assert "Try: install python3.11" in run.stderr
    assert not (checkout / ".venv").exists()


def test_ci_runs_exactly_what_a_developer_types() -> None:
    script = ROOT / ".ci" / "run"
    commands = [
        line
        for line in script.read_text().splitlines()
        if line and not line.startswith(("#", "set ", "cd "))
    ]
    assert commands == ["exec make test"]
    assert os.access(script, os.X_OK)
