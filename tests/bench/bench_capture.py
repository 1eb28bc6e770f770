"""From a commit in Postgres to a record in the topic: how many a second, and how late.

`make bench` runs this; ROWS sets the table's size. The raw limit beside it is COPY of the same
rows out of the same Postgres.
"""

import os
import statistics
import threading
import time
from collections.abc import Callable
from typing import Any

import psycopg
from kafka import KafkaConsumer

from cdc.config import Pipeline
from cdc.endpoints import Endpoints, resolve
from cdc.stack.stack import Stack
from connectors.connect import ConnectClient
from connectors.plan import apply_plan, make_plan

ROWS = int(os.environ.get("ROWS") or 500_000)
PER_TRANSACTION = 5_000
LATENCY_CHANGES = 100
CHANGES_A_SECOND = 10
SCHEMA = """
CREATE TABLE measured (
    id bigint PRIMARY KEY, a bigint, b bigint, c text, d text, e numeric(12, 2),
    f timestamptz, g boolean, h int);
ALTER TABLE measured REPLICA IDENTITY FULL;
"""
FILL = """
INSERT INTO measured SELECT n, n, n * 7, 'name ' || n, repeat('text ', 12), n / 100.0,
       now(), n %% 2 = 0, n FROM generate_series(1, %s) n
"""

Publish = Callable[[dict[str, float]], None]


def test_warm_start(bench_stack: Stack, publish: Publish) -> None:
    """From nothing running to all ready, with data and archives there."""
    seconds = []
    for _ in range(3):
        bench_stack.down()
        began = time.monotonic()
        bench_stack.up()
        seconds.append(time.monotonic() - began)
    publish({"warm_start_seconds_median": round(statistics.median(seconds), 1)})


def test_capture(bench_stack: Stack, publish: Publish) -> None:
    """Snapshot and stream the same rows; then single changes, a few a second."""
    pipeline, endpoints = prepare(bench_stack)
    topic = pipeline.topic_for(pipeline.tables[0])
    with psycopg.connect(endpoints.admin_conninfo(), autocommit=True) as connection:
        began = time.monotonic()
        with connection.cursor().copy("COPY measured TO STDOUT") as copy:
            for _block in copy:
                pass
        raw = ROWS / (time.monotonic() - began)
        reader = Reader(endpoints, topic)
        began = time.monotonic()
        apply_plan(make_plan(pipeline, endpoints))
        reader.wait_count(ROWS)
        snapshot = ROWS / (reader.last_arrival - began)
        began = time.monotonic()
        for first in range(1, ROWS + 1, PER_TRANSACTION):
            connection.execute(
                "UPDATE measured SET h = h + 1 WHERE id BETWEEN %s AND %s",
                (first, first + PER_TRANSACTION - 1),
            )
        reader.wait_count(2 * ROWS)
        stream = ROWS / (reader.last_arrival - began)
        delays = latencies(connection, reader)
    with ConnectClient(endpoints.connect_url) as connect:
        connect.delete(pipeline.name)
    publish(
        {
            "rows": ROWS,
            "raw_copy_rows_per_second": round(raw),
            "snapshot_rows_per_second_with_apply": round(snapshot),
            "stream_rows_per_second": round(stream),
            "commit_to_topic_ms_p50": round(statistics.median(delays) * 1000, 1),
            "commit_to_topic_ms_p99": round(statistics.quantiles(delays, n=100)[98] * 1000, 1),
        }
    )


def prepare(stack: Stack) -> tuple[Pipeline, Endpoints]:
    addresses = stack.addresses()
    with psycopg.connect(addresses.admin_conninfo("postgres"), autocommit=True) as admin:
        admin.execute("CREATE DATABASE bench")
    with psycopg.connect(addresses.admin_conninfo("bench")) as admin:
        admin.execute(SCHEMA)
        admin.execute(FILL, (ROWS,))
    document = {"name": "bench", "source": {"database": "bench"}, "tables": ["public.measured"]}
    pipeline = Pipeline.model_validate(document)
    return pipeline, resolve(pipeline, addresses)


class Reader:
    """Counts records as they become visible, on a thread of its own."""

    def __init__(self, endpoints: Endpoints, topic: str) -> None:
        self.count = 0
        self.last_arrival = 0.0
        self._endpoints = endpoints
        self._topic = topic
        self._arrived = threading.Condition()
        threading.Thread(target=self._read, daemon=True).start()

    def wait_count(self, expected: int, seconds: float = 900) -> None:
        with self._arrived:
            assert self._arrived.wait_for(lambda: self.count >= expected, seconds), self.count

    def _read(self) -> None:
        consumer: Any = KafkaConsumer(
            bootstrap_servers=self._endpoints.kafka_bootstrap,
            isolation_level="read_committed",
            auto_offset_reset="earliest",
            group_id=None,
            fetch_max_wait_ms=10,
            metadata_max_age_ms=500,
        )
        consumer.subscribe([self._topic])
        while True:
            records = sum(map(len, consumer.poll(timeout_ms=200).values()))
            if records:
                with self._arrived:
                    self.count += records
                    self.last_arrival = time.monotonic()
                    self._arrived.notify_all()


def latencies(connection: psycopg.Connection[Any], reader: Reader) -> list[float]:
    found = []
    for number in range(1, LATENCY_CHANGES + 1):
        before = reader.count
        connection.execute("UPDATE measured SET h = -1 WHERE id = %s", (number,))
        committed = time.monotonic()
        reader.wait_count(before + 1)
        found.append(reader.last_arrival - committed)
        # The pace is part of what is measured.
        time.sleep(1 / CHANGES_A_SECOND)
    return found
