"""One order's life, told by its records in the topic."""

import time
from typing import TYPE_CHECKING

import orjson
import psycopg

from cdc.changelog import Record, read_changelog
from cdc.errors import RetryableError

if TYPE_CHECKING:
    from cdc.config import Pipeline
    from cdc.endpoints import Endpoints
    from cdc.output import Output

ARRIVES_WITHIN_SECONDS = 60.0
POLL_SECONDS = 0.2
LIFE = (
    "INSERT INTO orders VALUES (0, 1, 'placed', 42.00, true, 'for you', '2026-01-01 12:00+00')",
    "UPDATE orders SET status = 'paid' WHERE id = 0",
    "DELETE FROM orders WHERE id = 0",
)


def show_story(
    connection: psycopg.Connection, pipeline: "Pipeline", endpoints: "Endpoints", out: "Output"
) -> None:
    """Place, pay and cancel order 0, and show what of it is in the topic."""
    for statement in LIFE:
        connection.execute(statement)
    topic = next(pipeline.topic_for(t) for t in pipeline.tables if t.table_name == "orders")
    with out.progress("Following one order"):
        records = _wait_records(endpoints.kafka_bootstrap, topic)
    out.line(f"One order, placed, paid and cancelled, in topic {topic}:")
    for record in records:
        value = record.value.decode() if record.value is not None else "null (deleted)"
        out.line(f"  lsn {record.lsn}  {(record.key or b'').decode()}  {value}")


def _wait_records(bootstrap: str, topic: str) -> list[Record]:
    deadline = time.monotonic() + ARRIVES_WITHIN_SECONDS
    while True:
        found = [
            record
            for record in read_changelog(bootstrap, topic)
            if record.key is not None and orjson.loads(record.key) == {"id": 0}
        ]
        if len(found) >= len(LIFE):
            return found
        if time.monotonic() > deadline:
            raise RetryableError(
                f"{len(found)} of {len(LIFE)} records arrived in {topic}",
                hint="cdc stack logs connect",
            )
        time.sleep(POLL_SECONDS)
