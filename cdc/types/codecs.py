"""The table: which Postgres type is encoded how, in both directions.

A new type is one line in `CODECS`. Types that are not in it arrive as opaque text, which is what
Debezium does with a type it does not know (`include.unknown.datatypes`).
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from cdc.types import geometry, scalars, temporal
from cdc.types.arrays import array_elements, array_literal
from cdc.types.catalog import Kind, PgType

_MICROSECONDS = 6
_UNFORESEEN = "cannot be encoded byte for byte as Debezium does"


@dataclass(frozen=True, slots=True)
class Codec:
    """How one type travels.

    `decode` takes the JSON value, `encode` the text Postgres prints under the settings of
    `SESSION_SETTINGS`. `encode` is None where Debezium's bytes cannot be foreseen.
    """

    decode: Callable[[PgType, Any], str]
    encode: Callable[[PgType, str], Any] | None


# What `encode` expects a session to have, whatever the server's defaults are.
SESSION_SETTINGS = {
    "DateStyle": "ISO, YMD",
    "IntervalStyle": "postgres",
    "TimeZone": "UTC",
    "bytea_output": "hex",
    "extra_float_digits": "1",
    "lc_monetary": "C",
}


def decode(pg_type: PgType, value: Any) -> str | None:
    """Give the Postgres literal of a JSON value: cast it to `pg_type.sql` to have the value."""
    return None if value is None else codec_for(pg_type).decode(pg_type, value)


def encode(pg_type: PgType, text: str | None) -> Any:
    """Give the JSON value Debezium would write for a text Postgres printed."""
    if text is None:
        return None
    codec = codec_for(pg_type)
    if codec.encode is None:
        raise ValueError(f"{pg_type.sql} {_UNFORESEEN}")
    return codec.encode(pg_type, text)


def can_encode(pg_type: PgType) -> bool:
    """Whether `encode` works: if not, the table's snapshot has to be left to Debezium."""
    element = pg_type.element
    codec = codec_for(pg_type) if element is None else _element_codec(element)
    return codec.encode is not None


def codec_for(pg_type: PgType) -> Codec:
    """Look the codec up; domains have been taken off by the catalog already."""
    if pg_type.kind is Kind.ARRAY:
        return _ARRAY
    if pg_type.kind is Kind.ENUM:
        return _TEXT
    if pg_type.kind is Kind.COMPOSITE:
        return _OPAQUE
    return CODECS.get(pg_type.name, _OPAQUE)


def _plain(decode: Callable[[Any], str], encode: Callable[[str], Any] | None) -> Codec:
    """Build a codec that does not need to know the type's modifier."""
    return Codec(
        lambda _, value: decode(value),
        None if encode is None else lambda _, text: encode(text),
    )


def _same(text: str) -> str:
    return text


def _decode_array(pg_type: PgType, value: list[Any]) -> str:
    element = pg_type.element
    if element is None:
        raise ValueError(f"{pg_type.sql} is no array")
    codec = _element_codec(element)
    texts = (None if item is None else codec.decode(element, item) for item in value)
    # The one type whose arrays have another delimiter, because of the commas in it.
    return array_literal(texts, ";" if element.name == "box" else ",")


def _encode_array(pg_type: PgType, text: str) -> list[Any]:
    element = pg_type.element
    if element is None:
        raise ValueError(f"{pg_type.sql} is no array")
    codec = _element_codec(element)
    if codec.encode is None:
        raise ValueError(f"{pg_type.sql} {_UNFORESEEN}")
    return [None if item is None else codec.encode(element, item) for item in array_elements(text)]


def _element_codec(element: PgType) -> Codec:
    if not element.domain:
        return _DATES if element.name == "date" else codec_for(element)
    # Debezium sees through a domain, but not below an array: there it is a type it does not know.
    return _BOXES if element.name == "box" else _OPAQUE


def _precision(pg_type: PgType) -> int:
    return _MICROSECONDS if pg_type.typmod < 0 else pg_type.typmod


_TEXT = _plain(_same, _same)
_OPAQUE = _plain(scalars.opaque_from_json, scalars.opaque_to_json)
_DATES = _plain(temporal.date_from_iso, temporal.date_element_to_iso)
_BOXES = _plain(scalars.opaque_from_json, None)
_ARRAY = Codec(_decode_array, _encode_array)
_INTEGER = _plain(str, scalars.integer_to_json)

CODECS: dict[str, Codec] = {
    "int2": _INTEGER,
    "int4": _INTEGER,
    "int8": _INTEGER,
    "oid": _INTEGER,
    "float4": _plain(scalars.float_from_json, scalars.real_to_json),
    "float8": _plain(scalars.float_from_json, scalars.float_to_json),
    "numeric": _plain(scalars.numeric_from_json, scalars.numeric_to_json),
    "money": _plain(_same, scalars.money_to_json),
    "bool": _plain(scalars.boolean_from_json, scalars.boolean_to_json),
    "text": _TEXT,
    "varchar": _TEXT,
    "bpchar": _TEXT,
    "char": _TEXT,
    "name": _TEXT,
    "citext": _TEXT,
    "xml": _TEXT,
    "json": _TEXT,
    "jsonb": _TEXT,
    "uuid": _TEXT,
    "inet": _TEXT,
    "cidr": _TEXT,
    "macaddr": _TEXT,
    "macaddr8": _TEXT,
    "tsvector": _TEXT,
    "ltree": _TEXT,
    "isbn": _TEXT,
    "int4range": _TEXT,
    "int8range": _TEXT,
    "numrange": _TEXT,
    "tsrange": _TEXT,
    "tstzrange": _TEXT,
    "daterange": _TEXT,
    "bytea": _plain(scalars.bytes_from_json, scalars.bytes_to_json),
    "bit": Codec(
        lambda pg_type, value: scalars.bits_from_json(value, pg_type.typmod),
        lambda pg_type, text: scalars.bits_to_json(text, pg_type.typmod),
    ),
    "date": _plain(temporal.date_from_iso, temporal.date_to_iso),
    "time": _plain(temporal.time_from_iso, temporal.time_to_iso),
    "timestamp": _plain(temporal.timestamp_from_iso, temporal.timestamp_to_iso),
    "timestamptz": Codec(
        lambda _, value: temporal.timestamptz_from_iso(value),
        lambda pg_type, text: temporal.timestamptz_to_iso(text, _precision(pg_type)),
    ),
    "interval": _plain(_same, None),
    "hstore": _plain(scalars.hstore_from_json, None),
    "point": _plain(scalars.point_from_json, None),
    "line": _plain(geometry.line_from_json, None),
    "lseg": _plain(geometry.segment_from_json, None),
    "box": _plain(geometry.box_from_json, None),
    "path": _plain(geometry.path_from_json, None),
    "polygon": _plain(geometry.polygon_from_json, None),
    "circle": _plain(geometry.circle_from_json, None),
}
