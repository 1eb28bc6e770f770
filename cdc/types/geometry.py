"""Geometric values: from the well-known binary Debezium writes to the literal Postgres reads.

The binary holds every coordinate as the double it is, so all of them, also infinities and NaN,
come back exactly.
"""

from base64 import b64decode
from struct import unpack_from
from typing import Any

_LINE_STRING, _POLYGON = 2, 3
_HEADER = 5  # byte order, type
_COUNT = 4
_POINT = 16

Point = tuple[float, float]


def line_from_json(value: dict[str, Any]) -> str:
    """Read a line: `{"a": 1, "b": 2, "c": 3}`, the numbers of its equation."""
    return "{" + ",".join(_number(value[name]) for name in "abc") + "}"


def circle_from_json(value: dict[str, Any]) -> str:
    """Read a circle: `{"center": {"x": …, "y": …}, "radius": …}`."""
    center = value["center"]
    return f"<({_number(center['x'])},{_number(center['y'])}),{_number(value['radius'])}>"


def segment_from_json(value: dict[str, Any]) -> str:
    """Read a segment: a line string of two points."""
    return f"[{_literal(_points(value))}]"


def box_from_json(value: dict[str, Any]) -> str:
    """Read a box: a ring over its four corners, starting at the upper right one."""
    upper_right, _, lower_left, *_ = _points(value)
    return _literal([upper_right, lower_left])


def path_from_json(value: dict[str, Any]) -> str:
    """Read a path: a line string, with a word beside it that says whether it is closed."""
    points = _literal(_points(value))
    return f"({points})" if value["extensions"]["closed"] == "true" else f"[{points}]"


def polygon_from_json(value: dict[str, Any]) -> str:
    """Read a polygon: a ring that ends with its first point once more, unless it has only one.

    Debezium adds that point only where it is not there already: see limits.py.
    """
    first, *others = _points(value)
    return f"({_literal([first, *others[:-1]])})"


def _points(value: dict[str, Any]) -> list[Point]:
    binary = b64decode(value["wkb"], validate=True)
    order = "<" if binary[0] == 1 else ">"
    (kind,) = unpack_from(f"{order}I", binary, 1)
    if kind not in {_LINE_STRING, _POLYGON}:
        raise ValueError(f"a geometry of kind {kind} is neither a line string nor a polygon")
    # A polygon counts its rings first; these have one.
    start = _HEADER + (_COUNT if kind == _POLYGON else 0)
    (count,) = unpack_from(f"{order}I", binary, start)
    first = start + _COUNT
    return [unpack_from(f"{order}dd", binary, first + number * _POINT) for number in range(count)]


def _literal(points: list[Point]) -> str:
    return ",".join(f"({_number(x)},{_number(y)})" for x, y in points)


def _number(value: float | str) -> str:
    # NaN and the infinities are text in JSON already.
    return value if isinstance(value, str) else repr(value).replace("inf", "Infinity")
