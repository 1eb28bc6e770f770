"""Postgres array literals: build one from texts, take one apart into texts.

One dimension only, because Debezium carries no more. Knows nothing of the elements' type.
"""

import re
from collections.abc import Iterable

_ELEMENT = re.compile(r'"((?:[^"\\]|\\.)*)"|([^",{}\\]+)', re.DOTALL)
_ESCAPED = re.compile(r"\\(.)", re.DOTALL)
_TO_ESCAPE = re.compile(r'(["\\])')


def array_literal(elements: Iterable[str | None], delimiter: str = ",") -> str:
    """Quote every element, so that no text needs a rule of its own."""
    quoted = ("NULL" if e is None else '"' + _TO_ESCAPE.sub(r"\\\1", e) + '"' for e in elements)
    return "{" + delimiter.join(quoted) + "}"


def array_elements(literal: str) -> list[str | None]:
    """Take apart what Postgres prints; refuse what has more dimensions or other bounds."""
    if not (literal.startswith("{") and literal.endswith("}")):
        raise ValueError(f"not a plain array literal: {literal!r}")
    body = literal[1:-1]
    elements: list[str | None] = []
    at = 0
    while at < len(body):
        found = _ELEMENT.match(body, at)
        if found is None:
            raise ValueError(f"not a one-dimensional array literal: {literal!r}")
        quoted, bare = found.groups()
        if bare is None:
            elements.append(_ESCAPED.sub(r"\1", quoted))
        else:
            elements.append(None if bare == "NULL" else bare)
        at = found.end()
        if at < len(body) and body[at] != ",":
            raise ValueError(f"not a one-dimensional array literal: {literal!r}")
        at += 1
    return elements
