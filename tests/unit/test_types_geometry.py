"""Geometric values as Debezium writes them, recorded on the real programs."""

from base64 import b64encode
from struct import pack
from typing import Any

import pytest

from cdc.types.catalog import PgType
from cdc.types.codecs import decode


def wkb(kind: int, *points: tuple[float, float], **extensions: str) -> dict[str, Any]:
    rings = pack("<I", 1) if kind == 3 else b""
    body = pack("<BI", 1, kind) + rings + pack("<I", len(points))
    binary = body + b"".join(pack("<dd", *point) for point in points)
    return {"wkb": b64encode(binary).decode(), "srid": None, "extensions": extensions}


RECORDED = [
    ("point", {"x": 1.5, "y": "NaN", "wkb": "", "srid": None}, "(1.5,NaN)"),
    ("line", {"a": -1.0, "b": 0.0, "c": 5.5}, "{-1.0,0.0,5.5}"),
    ("circle", {"center": {"x": 0.1, "y": -0.5}, "radius": "Infinity"}, "<(0.1,-0.5),Infinity>"),
    (
        "lseg",
        {"wkb": "AQIAAAACAAAAAAAAAAAA8P8AAAAAAAD4fwAAAAAAAAAAAAAAAAAA8H8=", "srid": None},
        "[(-Infinity,nan),(0.0,Infinity)]",
    ),
    (
        "path",
        wkb(2, (1, 2), (3, 4), type="path", closed="true"),
        "((1.0,2.0),(3.0,4.0))",
    ),
    ("path", wkb(2, (1, 2), type="path", closed="false"), "[(1.0,2.0)]"),
    ("box", wkb(3, (3, 4), (3, 2), (1, 2), (1, 4), (3, 4)), "(3.0,4.0),(1.0,2.0)"),
    ("polygon", wkb(3, (1, 2), (3, 4), (5, 6), (1, 2)), "((1.0,2.0),(3.0,4.0),(5.0,6.0))"),
    ("polygon", wkb(3, (1, 2)), "((1.0,2.0))"),
]


@pytest.mark.parametrize(("name", "value", "literal"), RECORDED)
def test_a_recorded_value_gives_its_literal(name: str, value: Any, literal: str) -> None:
    assert decode(PgType(name, name), value) == literal


def test_another_kind_of_geometry_is_refused() -> None:
    with pytest.raises(ValueError, match="kind 1"):
        decode(PgType("path", "path"), wkb(1, (1, 2)))
