"""The documents keep up with the code: examples load, commands and targets exist."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer.main

from cdc.cli.app import app
from cdc.config import load_pipeline

ROOT = Path(__file__).parents[2]
DOCUMENTS = sorted(ROOT.glob("*.md"))
PHONY = re.search(r"^\.PHONY: (.+)$", (ROOT / "Makefile").read_text(), re.MULTILINE)

each_document = pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)


def commands(group: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """Yield every command's words: ("stack", "up"), ("apply",)."""
    for name, command in group.commands.items():
        yield (*path, name)
        if hasattr(command, "commands"):
            yield from commands(command, (*path, name))


def named_commands(text: str) -> set[tuple[str, ...]]:
    """Find `cdc word word` in code, with groups followed by one of their own."""
    groups = {words[0] for words in KNOWN if len(words) > 1}
    lines = re.findall(r"(?:^|`)(?:\.venv/bin/)?cdc ([a-z]+)(?: ([a-z]+))?", text, re.MULTILINE)
    return {(first, second) if first in groups and second else (first,) for first, second in lines}


KNOWN = set(commands(typer.main.get_command(app)))


def test_the_pipeline_in_the_readme_is_valid(tmp_path: Path) -> None:
    blocks = re.findall(r"```yaml\n(.*?)```", (ROOT / "README.md").read_text(), re.DOTALL)
    assert blocks
    for block in blocks:
        file = tmp_path / "pipeline.yaml"
        file.write_text(block)
        assert load_pipeline(file).tables


@each_document
def test_every_named_command_exists(document: Path) -> None:
    assert named_commands(document.read_text()) - KNOWN == set()


@each_document
def test_every_named_make_target_exists(document: Path) -> None:
    assert PHONY is not None
    named = set(re.findall(r"(?:^|`)make ([a-z]+)", document.read_text(), re.MULTILINE))
    assert named - set(PHONY[1].split()) == set()


@each_document
def test_every_link_to_a_file_leads_somewhere(document: Path) -> None:
    links = re.findall(r"\]\(([^)#:]+)\)", document.read_text())
    assert [link for link in links if not (ROOT / link).exists()] == []


def test_the_readme_names_every_command() -> None:
    text = (ROOT / "README.md").read_text()
    tops = {words[0] for words in KNOWN}
    assert {top for top in tops if f"cdc {top}" not in text} == set()
