"""Columns whose values Debezium cannot carry exactly, each with the reason and the way out.

Two sorts. A *refused* type never arrives as it is. A *limited* one has values that do not: then
`condition` is an SQL expression that is true for just those, to look for them in the table and to
keep them out with a constraint. Found by trying, on snapshot and stream; see README.md.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from psycopg import Connection, sql

from cdc.types.catalog import Column, Kind, PgType, read_columns

_LONGEST_NAME = 63  # bytes; Postgres cuts the rest off
_NUMERIC_HEADER = 4
_SCALE_BITS, _SCALE_SIGN = 0x7FF, 0x400


@dataclass(frozen=True, slots=True)
class Limit:
    """What is wrong with one column. `condition` is None for a type that is refused as a whole."""

    column: Column
    reason: str
    fix: str
    condition: str | None = None
    snapshot_only: bool = False


@dataclass(frozen=True, slots=True)
class Finding:
    """A limit as it stands in one database.

    `violated`: such a value is in the table now, or the type is refused as a whole. `guarded`: a
    validated constraint keeps such values out.
    """

    limit: Limit
    violated: bool
    guarded: bool


def unsupported_columns(columns: Iterable[Column], *, snapshot: bool = True) -> list[Limit]:
    """List what cannot be carried; `snapshot`: Debezium itself reads the rows that exist."""
    limits = [limit for column in columns for limit in _limits(column)]
    return [limit for limit in limits if snapshot or not limit.snapshot_only]


def find_limits(
    connection: Connection[tuple[Any, ...]],
    tables: Iterable[tuple[str, str]],
    *,
    snapshot: bool = True,
) -> list[Finding]:
    """Look into the database for columns and values that cannot be carried.

    Reads every row of a table with a limited column, until it finds one such value.
    """
    limits = unsupported_columns(read_columns(connection, tables), snapshot=snapshot)
    return [_finding(connection, limit) for limit in limits]


def constraint_name(column: Column) -> str:
    """Name the constraint that keeps such values out; the fix uses it, so it can be found."""
    return f"cdc_exact_{column.name}".encode()[:_LONGEST_NAME].decode(errors="ignore")


def _finding(connection: Connection[tuple[Any, ...]], limit: Limit) -> Finding:
    if limit.condition is None:
        return Finding(limit, violated=True, guarded=False)
    column = limit.column
    table = sql.Identifier(column.schema, column.table)
    guarded = connection.execute(
        "SELECT EXISTS (SELECT FROM pg_constraint WHERE conrelid = %s::regclass"
        " AND contype = 'c' AND convalidated AND conname = %s)",
        [table.as_string(connection), constraint_name(column)],
    ).fetchone() == (True,)
    if guarded:
        return Finding(limit, violated=False, guarded=True)
    look = sql.SQL("SELECT EXISTS (SELECT FROM {} WHERE {})").format(
        table,
        sql.SQL(limit.condition),
    )
    return Finding(limit, violated=connection.execute(look).fetchone() == (True,), guarded=False)


def _limits(column: Column) -> Iterator[Limit]:
    pg_type = column.type
    if pg_type.kind is Kind.ARRAY and pg_type.element is not None:
        yield from _array_limits(column, pg_type.element)
    elif pg_type.kind is Kind.BASE:
        yield from _scalar_limits(column, pg_type)


def _scalar_limits(column: Column, pg_type: PgType) -> Iterator[Limit]:
    name = _quoted(column.name)
    if pg_type.name in _REFUSED:
        yield _refused(column, *_REFUSED[pg_type.name])
    elif _has_negative_scale(pg_type):
        yield _refused(column, "every value would be written with 65,534 zeros", "numeric")
    elif pg_type.name == "money":
        # The server's locale says where the point stands; the record has two decimals always.
        reason = "the amount is written with two decimals, also where the currency has not two"
        fix = _refused(column, reason, "numeric").fix.replace("::text::", "::")
        odd = "'0.01'::money::numeric <> 0.01 OR '0.001'::money::numeric <> 0"
        yield Limit(column, f"money: {reason}", fix, odd)
    elif pg_type.name in _LIMITED:
        reason, condition, snapshot_only = _LIMITED[pg_type.name]
        yield _limited(column, reason, condition.format(c=name), snapshot_only=snapshot_only)


def _array_limits(column: Column, element: PgType) -> Iterator[Limit]:
    name = _quoted(column.name)
    # Elements of a domain travel as their own text, whatever they are.
    if not element.domain:
        if element.name in _REFUSED_ELEMENTS:
            # Boxes stand between semicolons: their text is no array of texts.
            other = "text" if element.name == "box" else "text[]"
            yield _refused(column, _REFUSED_ELEMENTS[element.name], other)
            return
        if _has_negative_scale(element):
            yield _refused(column, "every value would be written with 65,534 zeros", "numeric[]")
            return
    reasons = ["more than one dimension, or a first index that is not 1, is lost"]
    conditions = [f"array_ndims({name}) > 1", f"array_lower({name}, 1) <> 1"]
    if element.domain or element.name not in _ELEMENTS_THAT_MAY_BE_NULL:
        reasons.append("a NULL element stops the connector")
        conditions.append(f"num_nulls(VARIADIC {name}) > 0")
    elif element.name in _LIMITED_ELEMENTS:
        reason, condition = _LIMITED_ELEMENTS[element.name]
        reasons.append(reason)
        conditions.append(condition.format(c=name))
    yield _limited(column, "; ".join(reasons), " OR ".join(conditions))


def _refused(column: Column, reason: str, other: str) -> Limit:
    table = f"{_quoted(column.schema)}.{_quoted(column.table)}"
    name = _quoted(column.name)
    return Limit(
        column,
        f"{column.type.sql}: {reason}",
        f"ALTER TABLE {table} ALTER COLUMN {name} TYPE {other} USING {name}::text::{other}",
    )


def _limited(column: Column, reason: str, condition: str, *, snapshot_only: bool = False) -> Limit:
    table = f"{_quoted(column.schema)}.{_quoted(column.table)}"
    fix = (
        f"ALTER TABLE {table} ADD CONSTRAINT {_quoted(constraint_name(column))} "
        f"CHECK (NOT ({condition}))"
    )
    return Limit(column, f"{column.type.sql}: {reason}", fix, condition, snapshot_only)


def _has_negative_scale(pg_type: PgType) -> bool:
    if pg_type.name != "numeric" or pg_type.typmod < 0:
        return False
    return bool((pg_type.typmod - _NUMERIC_HEADER) & _SCALE_BITS & _SCALE_SIGN)


def _quoted(identifier: str) -> str:
    return '"' + identifier.replace('"', '""') + '"'


_UNPROVEN = "there is no codec for it that was tried on the real programs"

# Type -> why, and a type that can hold the same.
_REFUSED = {
    "timetz": ("the zone is lost: 12:00+05:45 arrives as 06:15Z", "text"),
    "varbit": ("leading zeros are lost: 0011 arrives as 11", "text"),
    "refcursor": ("it names a cursor of a session, and the snapshot would open it", "text"),
    "int2vector": ("it arrives empty", "text"),
    "oidvector": ("it arrives empty", "text"),
    "geometry": (_UNPROVEN, "text"),
    "geography": (_UNPROVEN, "text"),
    "vector": (_UNPROVEN, "real[]"),
    "halfvec": (_UNPROVEN, "real[]"),
    "sparsevec": (_UNPROVEN, "text"),
}
# Type -> what happens, for which values, and whether only in Debezium's own snapshot.
_LIMITED = {
    "time": ("24:00:00 arrives as 00:00:00", "{c} = '24:00'", False),
    "timestamp": (
        "the one instant Debezium writes for infinity arrives as infinity",
        "{c} = '294247-01-10 04:00:25.2'",
        False,
    ),
    "interval": (
        "infinity arrives as zero, and more than 2147483647 hours stop the connector",
        "NOT isfinite({c}) OR abs(extract(hour FROM {c})) > 2147483647",
        False,
    ),
    "polygon": (
        "a last point that is also the first is lost",
        r"{c}::text ~ '^\((\([^()]*\)),(.*,)?\1\)$'",
        False,
    ),
    "date": (
        "in Debezium's own snapshot days BC lose their era, and 5 to 14 October 1582 move",
        "isfinite({c}) AND {c} < '0001-01-01' OR {c} BETWEEN '1582-10-05' AND '1582-10-14'",
        True,
    ),
}
_ABSENT = "the column would be missing from every record"
_STOPS = "the connector stops"
_REFUSED_ELEMENTS = {
    "interval": _ABSENT,
    "money": _ABSENT,
    "name": _ABSENT,
    "varbit": _ABSENT,
    "xml": _ABSENT,
    "point": _ABSENT,
    "refcursor": _ABSENT,
    "bit": _STOPS,
    "line": _STOPS,
    "lseg": _STOPS,
    "box": _STOPS,
    "path": _STOPS,
    "polygon": _STOPS,
    "circle": _STOPS,
    "time": "microseconds are lost",
    "timetz": "zone and microseconds are lost",
    "geometry": _UNPROVEN,
    "geography": _UNPROVEN,
    "vector": _UNPROVEN,
    "halfvec": _UNPROVEN,
    "sparsevec": _UNPROVEN,
}
# fmt: off
_ELEMENTS_THAT_MAY_BE_NULL = frozenset({
    "int2", "int4", "int8", "oid", "float4", "float8", "numeric", "bool", "text", "varchar",
    "bpchar", "char", "citext", "bytea", "uuid", "json", "jsonb", "hstore", "inet", "cidr",
    "macaddr", "macaddr8", "date", "timestamp", "timestamptz", "int4range", "int8range",
    "numrange", "tsrange", "tstzrange", "daterange",
})
# fmt: on
_LIMITED_ELEMENTS = {
    "numeric": ("NaN and infinity stop the connector", "{c}::text ~ 'NaN|Infinity'"),
    "date": ("days before 15 October 1582 move", "DATE '1582-10-15' > ANY ({c})"),
    "timestamp": (
        "times before 15 October 1582 move, and one far instant arrives as infinity",
        "TIMESTAMP '1582-10-15' > ANY ({c}) OR TIMESTAMP '294247-01-10 04:00:25.2' = ANY ({c})",
    ),
    "timestamptz": (
        "times BC lose their era",
        "TIMESTAMPTZ '0001-01-01 00:00:00+00' > ANY ({c})",
    ),
}
