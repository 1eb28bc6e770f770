"""What is downloaded is pinned: one version, its SHA-256, and no word of where it comes from."""

import re
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

from cdc.stack.artifacts import LOCK_FILE

ROOT = Path(__file__).parents[2]
LOCKS = sorted((ROOT / "requirements").glob("*.lock"))
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]

PIN = re.compile(r"^(?P<name>[a-z0-9][a-z0-9.-]*)==(?P<version>[^\s;]+)(?: ; (?P<marker>.+))?$")
HASH = re.compile(r"^--hash=sha256:[0-9a-f]{64}$")
COORDINATES = re.compile(r"^[\w.-]+:[\w.-]+:\d[\w.-]*(:[\w.-]+)?(@[a-z.]+)?$")


def entries(lock: str) -> list[list[str]]:
    """Return each logical line of a pip lock as its words: the pin, then its hashes."""
    joined = lock.replace("\\\n", " ")
    return [
        [part.strip() for part in re.split(r" (?=--)", line)]
        for line in joined.splitlines()
        if line.strip() and not line.startswith("#")
    ]


def problems(lock: str) -> list[str]:
    found = [f"unpinned: {line[0]}" for line in entries(lock) if not PIN.match(line[0])]
    found += [
        f"without a hash: {line[0]}"
        for line in entries(lock)
        if not line[1:] or not all(HASH.match(word.strip()) for word in line[1:])
    ]
    return found + [f"an address: {word}" for word in re.findall(r"\S*(?:://|www\.)\S*", lock)]


def pins(name: str) -> dict[str, Version]:
    matches = [PIN.match(line[0]) for line in entries((ROOT / "requirements" / name).read_text())]
    return {match["name"]: Version(match["version"]) for match in matches if match}


@pytest.mark.parametrize("lock", LOCKS, ids=lambda path: path.name)
def test_every_package_is_pinned_with_hashes_and_no_address(lock: Path) -> None:
    assert entries(lock.read_text())
    assert problems(lock.read_text()) == []


HASHED = "--hash=sha256:" + "0" * 64


@pytest.mark.parametrize(
    "lock",
    [
        f"httpx>=0.28 {HASHED}",
        "httpx==0.28.1",
        "httpx==0.28.1 --hash=sha256:short",
        f"httpx @ https://example.org/httpx.whl {HASHED}",
        f"--index-url https://example.org/simple\nhttpx==0.28.1 {HASHED}",
        f"# https://example.org\nhttpx==0.28.1 {HASHED}",
    ],
)
def test_a_loose_line_is_noticed(lock: str) -> None:
    assert problems(lock)


def test_there_is_a_lock_for_building_running_and_developing() -> None:
    assert [lock.stem for lock in LOCKS] == ["build", "dev", "runtime"]


@pytest.mark.parametrize(
    ("lock", "extras"),
    [
        ("runtime.lock", ["opensearch", "redis", "warehouse"]),
        ("dev.lock", ["opensearch", "redis", "warehouse", "dev"]),
    ],
)
def test_the_locks_answer_what_the_project_asks_for(lock: str, extras: list[str]) -> None:
    locked = pins(lock)
    asked = PROJECT["dependencies"] + [
        text for extra in extras for text in PROJECT["optional-dependencies"][extra]
    ]
    for wanted in map(Requirement, asked):
        if wanted.name == PROJECT["name"]:
            continue
        name = canonicalize_name(wanted.name)
        assert name in locked, f"{name} is missing: make lock"
        assert locked[name] in wanted.specifier, f"{name} moved on: make lock"


def test_developers_run_what_is_shipped() -> None:
    developing = pins("dev.lock")
    assert {name: developing.get(name) for name in pins("runtime.lock")} == pins("runtime.lock")


def test_every_artifact_of_the_stack_is_pinned_by_coordinates_and_sha256() -> None:
    groups = tomllib.loads(LOCK_FILE.read_text())
    assert groups
    for group, artifacts in groups.items():
        assert artifacts, f"{group} is empty"
        for coordinates, digest in artifacts.items():
            assert COORDINATES.match(coordinates), coordinates
            assert "SNAPSHOT" not in coordinates
            assert re.fullmatch(r"[0-9a-f]{64}", digest), coordinates


def test_no_address_is_in_the_stack_lock() -> None:
    assert re.findall(r"\S*(?:://|www\.)\S*", LOCK_FILE.read_text()) == []
