"""The shape of the code base: import direction, length of files, names at the root."""

import ast
import subprocess
from collections.abc import Iterator
from pathlib import Path
from statistics import median

import pytest

ROOT = Path(__file__).parents[2]
PACKAGES = ("cdc", "connectors", "sinks", "snapshots")

VOCABULARY = {"cdc.errors", "cdc.types", "cdc.changelog"}
DECLARED = {*VOCABULARY, "cdc.config", "cdc.endpoints"}

# Part of the code -> the other parts it may import. A new part needs a line here: decide where it
# stands before it grows roots. Only the command line and the demo wire everything together.
MAY_IMPORT: dict[str, set[str]] = {
    "cdc": set(),
    "cdc.errors": set(),
    "cdc.output": set(),
    "cdc.types": {"cdc.errors"},
    "cdc.changelog": {"cdc.errors"},
    "cdc.config": {"cdc.errors"},
    "cdc.stack": {"cdc.errors"},
    "cdc.endpoints": {"cdc.errors", "cdc.config", "cdc.stack.addresses"},
    "connectors": DECLARED,
    "sinks": VOCABULARY,
    "snapshots": {*DECLARED, "connectors", "sinks.contract"},
    "cdc.demo": {*DECLARED, "cdc.output", "cdc.stack", "connectors", "sinks", "snapshots"},
    "cdc.cli": {
        *DECLARED,
        "cdc.output",
        "cdc.stack",
        "cdc.demo",
        "connectors",
        "sinks",
        "snapshots",
    },
}

AT_THE_ROOT = {
    *PACKAGES,
    "CHANGELOG.md",
    "CONTRIBUTING.md",
    "Dockerfile",
    "LICENSE",
    "Makefile",
    "README.md",
    "docker-compose.yml",
    "pyproject.toml",
    "requirements",
    "tests",
}


def sources() -> list[Path]:
    return sorted(path for package in PACKAGES for path in (ROOT / package).rglob("*.py"))


def module_of(path: Path) -> str:
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def imports_of(tree: ast.AST) -> Iterator[str]:
    """Yield what is imported, with `from a import b` as both: `b` may be a module or a name."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "relative imports hide the direction"
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def covers(part: str, module: str) -> bool:
    return module == part or module.startswith(f"{part}.")


def part_of(module: str) -> str | None:
    return max((part for part in MAY_IMPORT if covers(part, module)), key=len, default=None)


def forbidden(module: str, imported: list[str]) -> list[str]:
    part = part_of(module)
    ours = [name for name in imported if name.partition(".")[0] in PACKAGES]
    if part is None or (part == "cdc" and module != "cdc"):
        return [f"{module} belongs to no part: give it a line in MAY_IMPORT"]
    allowed = {part, *MAY_IMPORT[part]} if part != "cdc" else set()
    return [
        f"{module} imports {name}"
        for name in ours
        if not any(covers(target, name) for target in allowed)
    ]


def test_imports_point_in_one_direction() -> None:
    found = [
        complaint
        for path in sources()
        for complaint in forbidden(module_of(path), list(imports_of(ast.parse(path.read_text()))))
    ]
    assert found == []


@pytest.mark.parametrize(
    ("module", "statement"),
    [
        ("connectors.plan", "from cdc.stack.stack import Stack"),
        ("connectors.plan", "import cdc.cli"),
        ("cdc.config.model", "from connectors import topics"),
        ("cdc.stack.kafka", "from cdc.config import Pipeline"),
        ("cdc.endpoints", "from cdc.stack.stack import Stack"),
        ("sinks.redis", "def late():\n    from connectors.connect import Client"),
        ("snapshots.copy", "from sinks.redis import RedisSink"),
        ("cdc.utils", "import json"),
    ],
)
def test_an_import_against_the_direction_is_noticed(module: str, statement: str) -> None:
    assert forbidden(module, list(imports_of(ast.parse(statement))))


def lengths(paths: list[Path]) -> dict[str, int]:
    return {str(path.relative_to(ROOT)): len(path.read_text().splitlines()) for path in paths}


@pytest.mark.parametrize("tree", ["source", "tests"])
def test_files_stay_small(tree: str) -> None:
    paths = sources() if tree == "source" else sorted((ROOT / "tests").rglob("*.py"))
    sizes = lengths(paths)
    assert {name: size for name, size in sizes.items() if size > 400} == {}
    assert median(sizes.values()) <= 150


def test_every_module_says_what_it_owns() -> None:
    assert [
        str(path.relative_to(ROOT))
        for path in sources()
        if not ast.get_docstring(ast.parse(path.read_text()))
    ] == []


def test_the_root_holds_only_the_agreed_names() -> None:
    try:
        listing = subprocess.run(
            ["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=True, text=True
        ).stdout
    except (OSError, subprocess.CalledProcessError) as error:
        pytest.skip(f"not a git checkout: {error}")
    names = {Path(name).parts[0] for name in listing.split("\0") if name}
    if not names:
        pytest.skip("git tracks no file here yet")
    assert {name for name in names if not name.startswith(".")} == AT_THE_ROOT
