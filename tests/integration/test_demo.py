"""The demo runs from nothing to a verdict, and its verdict can be "not equal"."""

import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from typing import Any
from uuid import uuid4

import psycopg
import pytest
from kafka import KafkaAdminClient, KafkaProducer
from kafka.admin import NewTopic

from cdc.demo import shop
from cdc.demo.arrived import compare
from cdc.stack.addresses import Addresses
from cdc.stack.stack import Stack


def test_the_demo_ends_with_every_row_equal_and_nothing_left_running(
    running_stack: Stack,
) -> None:
    place = running_stack.state_dir.with_name(f"{running_stack.state_dir.name}-shop")
    ended = subprocess.run(
        [
            *(sys.executable, "-c", "from cdc.cli import main; main()"),
            *("--json", "--state-dir", str(place), "demo", "--orders", "500", "--seconds", "1"),
        ],
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == 0, ended.stderr
    verdict = json.loads(ended.stdout)
    assert verdict["equal"] is True
    assert sum(verdict["committed"].values()) > 0
    assert {each["table"] for each in verdict["tables"]} == set(shop.KEYS)
    assert all(each["rows"] > 0 for each in verdict["tables"])
    demo_place = place.with_name(f"{place.name}-demo")
    assert {status.state for status in Stack(demo_place).status()} == {"stopped"}


@pytest.fixture
def topic(stack: Addresses) -> Iterator[str]:
    name = f"demo-{uuid4().hex[:8]}"
    admin = KafkaAdminClient(bootstrap_servers=stack.kafka_bootstrap)
    admin.create_topics([NewTopic(name, num_partitions=2, replication_factor=1)])
    yield name
    admin.delete_topics([name])
    admin.close()


@pytest.fixture
def write(stack: Addresses, topic: str) -> Iterator[Callable[[dict[str, Any], Any], None]]:
    producer = KafkaProducer(bootstrap_servers=stack.kafka_bootstrap)

    def send(key: dict[str, Any], value: Any) -> None:
        content = json.dumps(value).encode() if value is not None else None
        producer.send(topic, key=json.dumps(key).encode(), value=content)
        producer.flush()

    yield send
    producer.close()


ROW = {"order_id": 1, "line": 1, "product_id": 3, "quantity": 2, "price": "9.90"}
KEY = {"order_id": 1, "line": 1}


@pytest.mark.parametrize(
    ("records", "missing", "extra", "different"),
    [
        pytest.param([(KEY, ROW)], 0, 0, 0, id="equal"),
        pytest.param([], 1, 0, 0, id="missing"),
        pytest.param([(KEY, ROW), (KEY, None)], 1, 0, 0, id="deleted"),
        pytest.param([(KEY, ROW | {"price": "9.91"})], 0, 0, 1, id="different"),
        pytest.param([(KEY, ROW | {"quantity": None})], 0, 0, 1, id="a null"),
        pytest.param([(KEY, ROW), ({"order_id": 2, "line": 1}, ROW | {"order_id": 2})], 0, 1, 0),
        pytest.param([(KEY, ROW | {"quantity": 9}), (KEY, ROW)], 0, 0, 0, id="newest counts"),
    ],
)
def test_the_comparison_tells_what_differs(
    database: Any,
    stack: Addresses,
    topic: str,
    write: Callable[[dict[str, Any], Any], None],
    records: list[tuple[dict[str, Any], Any]],
    missing: int,
    extra: int,
    different: int,
) -> None:
    database.execute(
        "CREATE TABLE order_items (order_id bigint, line int, product_id bigint, quantity int, "
        "price numeric(10, 2)); INSERT INTO order_items VALUES (1, 1, 3, 2, 9.90)"
    )
    for key, value in records:
        write(key, value)
    with psycopg.connect(database.conninfo()) as connection:
        found = compare(connection, stack.kafka_bootstrap, topic, "order_items")
    assert (found.missing, found.extra, found.different) == (missing, extra, different)
    assert found.equal == (missing == extra == different == 0)
    assert found.records == len(records)
