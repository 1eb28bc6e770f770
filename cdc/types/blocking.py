"""Types that stop Debezium before it has read a row, wherever in the database they are.

At its start the connector reads every type of the database, and fails on one that counts as an
enum but has no labels of its own: a domain over an enum, or an enum nobody has filled yet. No
captured table needs to use it.
"""

from dataclasses import dataclass
from typing import Any

from psycopg import Connection

_BLOCKING = """
SELECT format_type(t.oid, NULL), t.typtype = 'd', format_type(t.typbasetype, NULL)
  FROM pg_type t JOIN pg_namespace n ON n.oid = t.typnamespace
 WHERE t.typcategory = 'E' AND n.nspname <> 'pg_toast'
   AND NOT EXISTS (SELECT FROM pg_enum e WHERE e.enumtypid = t.oid)
 ORDER BY 1
"""


@dataclass(frozen=True, slots=True)
class BlockingType:
    """One such type, and how to be rid of it."""

    name: str
    reason: str
    fix: str


def blocking_types(connection: Connection[tuple[Any, ...]]) -> list[BlockingType]:
    """Find the types that keep the connector from starting."""
    return [
        _domain(name, base) if is_domain else _empty(name)
        for name, is_domain, base in connection.execute(_BLOCKING)
    ]


def _domain(name: str, base: str) -> BlockingType:
    return BlockingType(
        name,
        f"{name} is a domain over the enum {base}: the connector cannot start in this database",
        f"give every column of that type its base type ({base}), then: DROP DOMAIN {name}",
    )


def _empty(name: str) -> BlockingType:
    return BlockingType(
        name,
        f"{name} is an enum without labels: the connector cannot start in this database",
        f"ALTER TYPE {name} ADD VALUE '…', or: DROP TYPE {name}",
    )
