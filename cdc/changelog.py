"""Read a table's topic up to its present end.

Owns the shape of a record as every reader sees it. Knows Kafka only: what key and value mean is
`cdc.types`'s business.
"""

from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from time import monotonic
from typing import Any

from kafka import KafkaConsumer, TopicPartition
from kafka.errors import KafkaError

from cdc.errors import RetryableError


@dataclass(frozen=True, slots=True)
class Record:
    """One change of one row: `value` is the row as JSON, None means deleted."""

    key: bytes | None
    value: bytes | None
    headers: tuple[tuple[str, bytes], ...]
    partition: int
    offset: int

    @property
    def lsn(self) -> int | None:
        """The change's version; None for a record that carries none."""
        return self._number("lsn")

    @property
    def ts_ms(self) -> int | None:
        """When the database made the change, in milliseconds since 1970."""
        return self._number("ts_ms")

    def _number(self, name: str) -> int | None:
        for header, value in self.headers:
            if header == name:
                return int(value)
        return None


def read_changelog(bootstrap: str, topic: str, *, deadline: float = 60.0) -> Iterator[Record]:
    """Yield the committed records that are in `topic` now, in offset order within a partition.

    The end is taken once, at the start: a topic that keeps growing does not keep the caller. It is
    the last *stable* offset, so rows of open and aborted transactions never show. `deadline` is
    the number of seconds without progress after which the read is given up.
    """
    try:
        with closing(_consumer(bootstrap)) as consumer:
            numbers = consumer.partitions_for_topic(topic)
            if not numbers:
                raise RetryableError(
                    f"topic {topic} does not exist at {bootstrap}",
                    hint="run `cdc apply`, which creates the topics",
                )
            partitions = [TopicPartition(topic, number) for number in sorted(numbers)]
            consumer.assign(partitions)
            consumer.seek_to_beginning(*partitions)
            yield from _until(consumer, consumer.end_offsets(partitions), deadline)
    except KafkaError as error:
        raise RetryableError(
            f"cannot read topic {topic} at {bootstrap}: {error}",
            hint="see `cdc stack status`, or the broker's log",
        ) from error


def _consumer(bootstrap: str) -> KafkaConsumer:
    return KafkaConsumer(
        bootstrap_servers=bootstrap,
        bootstrap_timeout_ms=10_000,
        group_id=None,
        enable_auto_commit=False,
        auto_offset_reset="earliest",
        isolation_level="read_committed",
        fetch_max_wait_ms=100,
        max_partition_fetch_bytes=8 * 1024 * 1024,
    )


def _until(
    consumer: KafkaConsumer, ends: dict[TopicPartition, int], patience: float
) -> Iterator[Record]:
    given_up = monotonic() + patience
    reached: dict[TopicPartition, int] = {}
    # The position is asked, not counted from records: the last offset before the end is a
    # transaction marker, which no consumer ever sees.
    while waiting := [tp for tp, end in ends.items() if consumer.position(tp) < end]:
        for tp, batch in consumer.poll(timeout_ms=500).items():
            for message in batch:
                if message.offset < ends[tp]:
                    yield _record(message)
        positions = {tp: consumer.position(tp) for tp in ends}
        if positions != reached:
            reached, given_up = positions, monotonic() + patience
        elif monotonic() > given_up:
            raise RetryableError(
                f"no progress for {patience:.0f} s reading "
                + ", ".join(f"{tp.topic}-{tp.partition} at {positions[tp]}" for tp in waiting),
                hint="see `cdc stack status`, or the broker's log",
            )


def _record(message: Any) -> Record:
    headers = tuple((name, value) for name, value in message.headers or ())
    return Record(message.key, message.value, headers, message.partition, message.offset)
