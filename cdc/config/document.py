"""A YAML file as plain data that remembers the line of every value.

Only what a settings file needs: text, numbers, booleans, lists, mappings with text keys. Anchors,
tags and keys given twice are refused, since each can make a file mean what it does not say.
"""

import re
from dataclasses import dataclass, field
from typing import Any

import yaml
from yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

Path = tuple[str | int, ...]

DEPTH_LIMIT = 20
_PLAIN = "tag:yaml.org,2002:"
_TAGS = {_PLAIN + kind for kind in ("null", "bool", "int", "float", "str", "seq", "map")}
# YAML reads these into dates and merges; here they are the text that stands in the file.
_TEXT = {_PLAIN + kind for kind in ("timestamp", "merge", "value")}

# What the parser quotes from the file may be a password; single signs and its own
# <names of tokens> are not.
_QUOTED = re.compile(r"""'(?!<)[^']{2,}'|"(?!<)[^"]{2,}"|`[^`]{2,}`""")


@dataclass(frozen=True)
class Problem:
    """One thing to change in the file."""

    line: int | None
    what: str
    advice: str = ""


class UnreadableError(Exception):
    """The text is no YAML we can read at all; carries the one problem to report."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem.what)
        self.problem = problem


@dataclass
class Document:
    """The data, the line of each key or list entry by its path, and what was wrong on the way."""

    data: Any = None
    lines: dict[Path, int] = field(default_factory=dict)
    problems: list[Problem] = field(default_factory=list)

    def line(self, path: Path) -> int | None:
        """Return the line of the value at `path`, or of the nearest thing around it."""
        while path and path not in self.lines:
            path = path[:-1]
        return self.lines.get(path)


class _Composer(yaml.SafeLoader):
    """SafeLoader that refuses aliases and deep nesting, both of which can exhaust memory."""

    depth = 0

    def compose_node(self, parent: Node | None, index: Any) -> Node | None:
        if self.check_event(yaml.AliasEvent):
            line = self.peek_event().start_mark.line + 1  # type: ignore[no-untyped-call]
            raise UnreadableError(
                Problem(line, "anchors and aliases are not supported", "write the value out")
            )
        self.depth += 1
        if self.depth > DEPTH_LIMIT:
            line = self.peek_event().start_mark.line + 1  # type: ignore[no-untyped-call]
            raise UnreadableError(Problem(line, "values are nested too deeply"))
        node = super().compose_node(parent, index)
        self.depth -= 1
        return node


def read_document(text: str) -> Document:
    """Parse `text`. Raises UnreadableError where the rest of the file cannot be understood."""
    try:
        loader = _Composer(text)
        try:
            root = loader.get_single_node()
        finally:
            loader.dispose()
    except yaml.YAMLError as error:
        raise UnreadableError(_syntax(error)) from None
    document = Document()
    if root is not None:
        document.lines[()] = root.start_mark.line + 1
        document.data = _value(root, (), document)
    return document


def _syntax(error: yaml.YAMLError) -> Problem:
    mark = getattr(error, "problem_mark", None) or getattr(error, "context_mark", None)
    what = getattr(error, "problem", None) or getattr(error, "reason", None) or str(error)
    context = getattr(error, "context", None)
    text = f"{what} ({context})" if context else str(what)
    return Problem(
        mark.line + 1 if mark else None,
        f"not valid YAML: {_QUOTED.sub('…', text)}",
        "check the indentation, colons and quotes there",
    )


def _value(node: Node, path: Path, document: Document) -> Any:
    if isinstance(node, MappingNode):
        return _mapping(node, path, document)
    if isinstance(node, SequenceNode):
        items = []
        for index, item in enumerate(node.value):
            document.lines[*path, index] = item.start_mark.line + 1
            items.append(_value(item, (*path, index), document))
        return items
    return _scalar(node, document)


def _mapping(node: MappingNode, path: Path, document: Document) -> dict[str, Any]:
    result: dict[str, Any] = {}
    for key, value in node.value:
        line = key.start_mark.line + 1
        if not isinstance(key, ScalarNode):
            document.problems.append(Problem(line, "a key must be plain text"))
            continue
        # The key as written: YAML would read `on` and `no` as booleans.
        name = str(key.value)
        if name in result:
            first = document.lines[*path, name]
            document.problems.append(
                Problem(line, f"key `{name}` is given twice", f"the first is in line {first}")
            )
            continue
        document.lines[*path, name] = line
        result[name] = _value(value, (*path, name), document)
    return result


def _scalar(node: Node, document: Document) -> Any:
    if node.tag in _TEXT:
        return node.value
    if node.tag not in _TAGS:
        line = node.start_mark.line + 1
        # Not named: a password that starts with `!` looks like a tag.
        document.problems.append(Problem(line, "tags are not supported", "put quotes around it"))
        return None
    try:
        return yaml.SafeLoader("").construct_object(node)
    except (yaml.YAMLError, ValueError, OverflowError, KeyError):
        # `0x_`, `!!int two`, a number of ten thousand digits: it only looks like one.
        return node.value
