"""What Postgres' catalog says of a table, as far as capturing it depends on it. Only reads."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from connectors.database import Connection, qualified, rows


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a primary key; `type_name` is the base type, below any domain."""

    name: str
    type_name: str
    type_kind: str
    modified: bool
    """Whether the type has a modifier, such as the scale of a numeric."""
    deterministic: bool
    generated: bool
    declared: str


@dataclass(frozen=True, slots=True)
class Member:
    """A table that holds rows: the table itself, or a partition of it."""

    schema: str
    name: str
    kind: str
    persistence: str
    replica_identity: str
    identity_is_primary: bool
    toastable: tuple[str, ...]

    @property
    def quoted(self) -> str:
        """Its name, quoted for SQL."""
        return qualified(self.schema, self.name).as_string(None)


@dataclass(frozen=True, slots=True)
class TableFacts:
    """A table as the catalog shows it."""

    oid: int
    schema: str
    name: str
    kind: str
    persistence: str
    parents: tuple[str, ...]
    """Partitioned tables this one is a partition of, as schema.table."""
    children: tuple[str, ...]
    """Tables that inherit from it in the old way."""
    row_security: bool
    generated: tuple[str, ...]
    key: tuple[Column, ...]
    key_deferrable: bool
    members: tuple[Member, ...]

    @property
    def quoted(self) -> str:
        """Its name, quoted for SQL."""
        return qualified(self.schema, self.name).as_string(None)


_TABLE = """
SELECT c.oid, c.relkind::text, c.relpersistence::text, c.relrowsecurity,
  ARRAY(SELECT pn.nspname || '.' || p.relname
        FROM pg_partition_ancestors(c.oid) a JOIN pg_class p ON p.oid = a.relid
        JOIN pg_namespace pn ON pn.oid = p.relnamespace WHERE p.oid <> c.oid),
  ARRAY(SELECT i.inhrelid::regclass::text FROM pg_inherits i JOIN pg_class k ON k.oid = i.inhrelid
        WHERE i.inhparent = c.oid AND NOT k.relispartition),
  ARRAY(SELECT attname::text FROM pg_attribute
        WHERE attrelid = c.oid AND attgenerated <> '' AND NOT attisdropped ORDER BY attnum)
FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE n.nspname = %s AND c.relname = %s
"""
_KEY = """
WITH RECURSIVE base(attnum, oid, typmod) AS (
  SELECT a.attnum, a.atttypid, a.atttypmod FROM pg_attribute a WHERE a.attrelid = %(oid)s
  UNION ALL
  SELECT b.attnum, t.typbasetype, CASE WHEN t.typtypmod >= 0 THEN t.typtypmod ELSE b.typmod END
  FROM base b JOIN pg_type t ON t.oid = b.oid WHERE t.typtype = 'd'
)
SELECT a.attname, t.typname, t.typtype::text, b.typmod >= 0, COALESCE(l.collisdeterministic, true),
  a.attgenerated <> '', format_type(a.atttypid, a.atttypmod), NOT i.indimmediate
FROM pg_index i
CROSS JOIN LATERAL unnest(i.indkey) WITH ORDINALITY k(attnum, position)
JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = k.attnum
JOIN base b ON b.attnum = a.attnum
JOIN pg_type t ON t.oid = b.oid AND t.typtype <> 'd'
LEFT JOIN pg_collation l ON l.oid = a.attcollation
WHERE i.indrelid = %(oid)s AND i.indisprimary AND k.position <= i.indnkeyatts
ORDER BY k.position
"""
_MEMBERS = """
SELECT n.nspname, c.relname, c.relkind::text, c.relpersistence::text, c.relreplident::text,
  COALESCE((SELECT indisprimary FROM pg_index WHERE indrelid = c.oid AND indisreplident), false),
  ARRAY(SELECT attname::text FROM pg_attribute
        WHERE attrelid = c.oid AND attnum > 0 AND NOT attisdropped
          AND attstorage <> 'p' AND (c.reltoastrelid <> 0 OR c.relkind = 'p') ORDER BY attnum)
FROM (SELECT relid FROM pg_partition_tree(%(oid)s) UNION SELECT %(oid)s::oid) t
JOIN pg_class c ON c.oid = t.relid JOIN pg_namespace n ON n.oid = c.relnamespace
ORDER BY 1, 2
"""


def load_facts(connection: Connection, schema: str, name: str) -> TableFacts | None:
    """Read what the catalog says of a table; None if there is none of that name."""
    found = rows(connection, _TABLE, schema, name)
    if not found:
        return None
    oid, kind, persistence, row_security, parents, children, generated = found[0]
    keys = connection.execute(_KEY, {"oid": oid}).fetchall()
    members = connection.execute(_MEMBERS, {"oid": oid}).fetchall()
    return TableFacts(
        oid=oid,
        schema=schema,
        name=name,
        kind=kind,
        persistence=persistence,
        parents=tuple(parents),
        children=tuple(children),
        row_security=row_security,
        generated=tuple(generated),
        key=tuple(Column(*row[:7]) for row in keys),
        key_deferrable=any(row[7] for row in keys),
        members=tuple(_member(row) for row in members),
    )


def _member(row: Sequence[Any]) -> Member:
    schema, name, kind, persistence, identity, is_primary, toastable = row
    return Member(schema, name, kind, persistence, identity, is_primary, tuple(toastable))
