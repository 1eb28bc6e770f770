"""Compaction on the real broker: one record for each row that is, none for one that is gone."""

from collections.abc import Callable
from typing import Any

import pytest
from kafka import KafkaAdminClient
from kafka.admin import ConfigResource, ConfigResourceType

# A second's patience instead of hours: the cleaner may take everything but the newest segment.
EAGER = {
    "cleanup.policy": "compact",
    "segment.ms": "100",
    "min.cleanable.dirty.ratio": "0.001",
    "min.compaction.lag.ms": "0",
    "max.compaction.lag.ms": "1000",
    "delete.retention.ms": "0",
}
ROWS, DELETED = 50, 10


def set_topic(captured: Any, settings: dict[str, str]) -> None:
    admin = KafkaAdminClient(bootstrap_servers=captured.prepared.endpoints.kafka_bootstrap)
    try:
        admin.alter_configs(
            [ConfigResource(ConfigResourceType.TOPIC, captured.topic, configs=settings)]
        )
    finally:
        admin.close()


@pytest.fixture
def orders(database: Any, capture: Callable[..., Any]) -> Any:
    database.execute("CREATE TABLE orders (id int PRIMARY KEY, note text)")
    database.execute("ALTER TABLE orders REPLICA IDENTITY FULL")
    return capture("public.orders")


def test_compaction_leaves_one_record_per_row_and_none_of_deleted_rows(
    orders: Any, eventually: Callable[..., Any]
) -> None:
    # Written by Connect in transactions: their markers take offsets of their own.
    set_topic(orders, EAGER)
    orders.execute("INSERT INTO orders SELECT g, 'first' FROM generate_series(1, %s) g", ROWS)
    for round_ in range(5):
        orders.execute("UPDATE orders SET note = %s", f"round {round_}")
    orders.execute("DELETE FROM orders WHERE id <= %s", DELETED)
    written = 6 * ROWS + DELETED
    orders.after(written)
    expected = {
        b'{"id":%d}' % n: b'{"id":%d,"note":"round 4"}' % n for n in range(DELETED + 1, ROWS + 1)
    }
    beats = iter(range(1, 1_000_000))

    def compacted() -> bool:
        # Only a closed segment is cleaned, and only a write closes one: one more key keeps moving.
        note = f"beat {next(beats)}"
        orders.execute(
            "INSERT INTO orders VALUES (0, %s) ON CONFLICT (id) DO UPDATE SET note = excluded.note",
            note,
        )
        records = [record for record in orders.records() if record.key != b'{"id":0}']
        return [(record.key, record.value) for record in records] == list(expected.items())

    eventually(compacted, seconds=90)
    # Offsets keep their places: the order of what is left is still the order of the changes.
    lsns = [record.lsn for record in orders.records()]
    assert lsns == sorted(lsns)
