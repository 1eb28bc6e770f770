"""A quiet captured table on a busy server: the slot moves on all the same."""

from collections.abc import Callable
from typing import Any

import psycopg
from psycopg import sql

MEGABYTE = 1024 * 1024


def test_the_slot_keeps_little_of_what_other_databases_write(
    database: Any, capture: Callable[..., Any], eventually: Callable[..., Any]
) -> None:
    database.execute("CREATE TABLE orders (id int PRIMARY KEY)")
    captured = capture("public.orders")
    slot = captured.prepared.pipeline.slot_name
    other = f"{database.name}_busy"
    database.execute(f"CREATE DATABASE {other}")

    def position() -> int:
        [(lsn,)] = database.execute("SELECT (pg_current_wal_lsn() - '0/0')::bigint")
        return int(lsn)

    def retained() -> int:
        query = "SELECT (pg_current_wal_lsn() - restart_lsn)::bigint FROM pg_replication_slots"
        [(size,)] = database.execute(f"{query} WHERE slot_name = %s", slot)
        return int(size)

    try:
        with psycopg.connect(database.conninfo(dbname=other), autocommit=True) as busy:
            busy.execute("CREATE TABLE noise (body text STORAGE EXTERNAL)")
            start = position()
            while position() - start < 100 * MEGABYTE:
                busy.execute(
                    "INSERT INTO noise SELECT repeat('x', 10000) FROM generate_series(1, 500)"
                )
        eventually(lambda: retained() < 32 * MEGABYTE, seconds=60)
    finally:
        drop = sql.SQL("DROP DATABASE {} WITH (FORCE)").format(sql.Identifier(other))
        database.connection.execute(drop)
    assert captured.records() == []
