"""What Postgres says about the type of a column: read from pg_catalog, never guessed from a name.

Owns `PgType`, the description every codec is chosen by.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any

from psycopg import Connection


class Kind(StrEnum):
    """What sort of type it is, after domains are unwrapped."""

    BASE = "base"
    ARRAY = "array"
    ENUM = "enum"
    COMPOSITE = "composite"
    RANGE = "range"
    MULTIRANGE = "multirange"


@dataclass(frozen=True, slots=True)
class PgType:
    """One column's type.

    `sql` is what a cast needs (`numeric(10,2)`, `public.mood`); `name` is the type's own name in
    the catalog with every domain taken off (`numeric`, `_int4`, `mood`); `typmod` is the modifier
    as Postgres keeps it, -1 for none; `element` is set for arrays only.
    """

    sql: str
    name: str
    kind: Kind = Kind.BASE
    typmod: int = -1
    element: "PgType | None" = None
    domain: bool = False


@dataclass(frozen=True, slots=True)
class Column:
    """One column of one table, in the table's order."""

    schema: str
    table: str
    name: str
    type: PgType
    generated: bool = False
    in_key: bool = False


_KINDS = {
    "b": Kind.BASE,
    "c": Kind.COMPOSITE,
    "e": Kind.ENUM,
    "r": Kind.RANGE,
    "m": Kind.MULTIRANGE,
    "p": Kind.BASE,
}

# A true array is the one its element names as its array type: name, point and int2vector have
# elements too.
_TYPES = """
SELECT t.oid::int8, t.typname, t.typtype::text, t.typbasetype::int8, t.typtypmod,
       COALESCE(e.oid::int8, 0), format_type(t.oid, NULL)
  FROM pg_type t LEFT JOIN pg_type e ON e.oid = t.typelem AND e.typarray = t.oid
"""

_COLUMNS = """
SELECT n.nspname, c.relname, a.attname, a.atttypid::int8, a.atttypmod,
       format_type(a.atttypid, a.atttypmod), a.attgenerated <> '',
       EXISTS (SELECT FROM pg_index i
                WHERE i.indrelid = c.oid AND i.indisprimary AND a.attnum = ANY (i.indkey))
  FROM pg_attribute a
  JOIN pg_class c ON c.oid = a.attrelid
  JOIN pg_namespace n ON n.oid = c.relnamespace
 WHERE a.attnum > 0 AND NOT a.attisdropped
   AND (n.nspname, c.relname) IN (SELECT * FROM unnest(%s::text[], %s::text[]))
 ORDER BY 1, 2, a.attnum
"""


def read_columns(
    connection: Connection[tuple[Any, ...]], tables: Iterable[tuple[str, str]]
) -> list[Column]:
    """Describe every column of the given (schema, table) pairs; unknown tables give nothing."""
    wanted = list(tables)
    types = {row[0]: row[1:] for row in connection.execute(_TYPES)}
    rows = connection.execute(_COLUMNS, [[s for s, _ in wanted], [t for _, t in wanted]])
    return [
        Column(schema, table, name, _resolve(types, oid, typmod, sql), generated, in_key)
        for schema, table, name, oid, typmod, sql, generated, in_key in rows
    ]


def _resolve(types: dict[int, tuple[Any, ...]], oid: int, typmod: int, sql: str) -> PgType:
    name, letter, base, base_typmod, element, _ = types[oid]
    if letter == "d":
        # A domain carries its base's modifier itself: numeric(12,3) below, typmod -1 above.
        inner = _resolve(types, base, base_typmod, types[base][5])
        return replace(inner, sql=sql, domain=True)
    if element:
        # An array column's modifier belongs to its elements.
        inner = _resolve(types, element, typmod, types[element][5])
        return PgType(sql, name, Kind.ARRAY, typmod, inner)
    return PgType(sql, name, _KINDS[letter], typmod)
