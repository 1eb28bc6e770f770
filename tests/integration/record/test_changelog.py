"""Reading a topic to its end, transactions and all."""

from collections.abc import Callable, Iterator
from typing import Any
from uuid import uuid4

import pytest
from kafka import KafkaAdminClient, KafkaProducer
from kafka.admin import NewTopic

from cdc.changelog import Record, read_changelog
from cdc.errors import RetryableError


@pytest.fixture
def topic(stack: Any) -> Iterator[str]:
    name = f"t{uuid4().hex[:8]}.public.changelog"
    admin = KafkaAdminClient(bootstrap_servers=stack.kafka_bootstrap)
    admin.create_topics([NewTopic(name, 2, 1, topic_configs={"cleanup.policy": "compact"})])
    yield name
    admin.delete_topics([name])
    admin.close()


@pytest.fixture
def producer(stack: Any) -> Iterator[Any]:
    made = KafkaProducer(bootstrap_servers=stack.kafka_bootstrap, transactional_id=uuid4().hex)
    made.init_transactions()
    yield made
    made.close()


@pytest.fixture
def read(stack: Any, topic: str) -> Callable[[], list[Record]]:
    return lambda: list(read_changelog(stack.kafka_bootstrap, topic))


def send(producer: Any, topic: str, key: bytes, value: bytes | None) -> None:
    headers = [("lsn", b"42"), ("ts_ms", b"1700000000000")]
    producer.send(topic, key=key, value=value, headers=headers, partition=0).get(timeout=30)


def test_an_empty_topic_is_read_at_once(read: Callable[[], list[Record]]) -> None:
    assert read() == []


def test_records_come_with_key_value_version_and_place(
    producer: Any, topic: str, read: Callable[[], list[Record]]
) -> None:
    producer.begin_transaction()
    send(producer, topic, b"k", b"v")
    send(producer, topic, b"k", None)
    producer.commit_transaction()
    first, second = read()
    assert (first.key, first.value, first.lsn, first.ts_ms) == (b"k", b"v", 42, 1_700_000_000_000)
    assert (second.value, second.partition, second.offset) == (None, 0, 1)


def test_aborted_and_open_transactions_do_not_show_and_do_not_hang(
    producer: Any, topic: str, read: Callable[[], list[Record]]
) -> None:
    for round_ in range(3):
        producer.begin_transaction()
        send(producer, topic, b"aborted", b"x")
        producer.abort_transaction()
        producer.begin_transaction()
        send(producer, topic, b"kept", b"%d" % round_)
        producer.commit_transaction()
    producer.begin_transaction()
    send(producer, topic, b"aborted", b"x")
    producer.abort_transaction()
    kept = [(b"kept", b"0"), (b"kept", b"1"), (b"kept", b"2")]
    assert [(record.key, record.value) for record in read()] == kept
    producer.begin_transaction()
    send(producer, topic, b"open", b"x")
    assert [(record.key, record.value) for record in read()] == kept
    producer.commit_transaction()
    assert [record.key for record in read()][-1] == b"open"


def test_a_missing_topic_is_named_with_the_command_that_makes_it(stack: Any) -> None:
    with pytest.raises(RetryableError, match="nowhere does not exist") as missing:
        list(read_changelog(stack.kafka_bootstrap, "nowhere"))
    assert "cdc apply" in missing.value.hint
