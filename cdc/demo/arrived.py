"""Compares every row of a table with what its topic says, and lets Postgres be the judge.

The newest record per key is what compaction would keep: a view built from offset zero sees
exactly that.
"""

from dataclasses import dataclass

import psycopg
from psycopg import sql

from cdc.changelog import read_changelog
from cdc.demo.shop import KEYS


@dataclass(frozen=True)
class Comparison:
    """One table against its topic."""

    table: str
    records: int
    deleted_keys: int
    rows: int
    missing: int
    extra: int
    different: int

    @property
    def equal(self) -> bool:
        """Whether every row arrived as it is, and no other did."""
        return not (self.missing or self.extra or self.different)


def compare(connection: psycopg.Connection, bootstrap: str, topic: str, table: str) -> Comparison:
    """Read the topic from offset zero and compare its newest values with the table's rows."""
    newest: dict[bytes, bytes | None] = {}
    records = 0
    for record in read_changelog(bootstrap, topic):
        records += 1
        newest[record.key or b""] = record.value
    live = [value for value in newest.values() if value is not None]
    missing, extra, different, rows = _judge(connection, table, live)
    return Comparison(
        table=table,
        records=records,
        deleted_keys=len(newest) - len(live),
        rows=rows,
        missing=missing,
        extra=extra,
        different=different,
    )


def _judge(
    connection: psycopg.Connection, table: str, live: list[bytes]
) -> tuple[int, int, int, int]:
    connection.execute("CREATE TEMP TABLE arrived (value jsonb) ON COMMIT DROP")
    with connection.cursor().copy("COPY arrived FROM STDIN") as copy:
        for value in live:
            copy.write_row((value.decode(),))
    key = sql.Identifier(KEYS[table][0])
    join = sql.SQL(" AND ").join(
        sql.SQL("source.{0} = topic.{0}").format(sql.Identifier(column)) for column in KEYS[table]
    )
    row = connection.execute(
        sql.SQL("""
            SELECT count(*) FILTER (WHERE topic.{key} IS NULL),
                   count(*) FILTER (WHERE source.{key} IS NULL),
                   count(*) FILTER (WHERE topic.{key} IS NOT NULL AND source.{key} IS NOT NULL
                                      AND source IS DISTINCT FROM topic),
                   count(source.{key})
            FROM {table} source
            FULL JOIN (SELECT item.* FROM arrived,
                       jsonb_populate_record(NULL::{table}, value) item) topic ON {join}
        """).format(key=key, table=sql.Identifier(table), join=join)
    ).fetchone()
    connection.rollback()
    if row is None:
        raise AssertionError
    return row
