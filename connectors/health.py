"""What `cdc status` reports: connector, topics and slot, each read on its own.

A part that cannot be read is reported as such: the others are what one needs to see then.
"""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import psycopg
from kafka import KafkaAdminClient, TopicPartition
from kafka.admin import OffsetSpec
from kafka.errors import KafkaError

from cdc.config import Pipeline
from cdc.endpoints import Endpoints
from cdc.errors import CdcError
from connectors.connect import ConnectClient
from connectors.database import admin_session
from connectors.topics import topic_admin

if TYPE_CHECKING:
    from collections.abc import Callable

SLOT = """
SELECT active, wal_status,
       pg_wal_lsn_diff(pg_current_wal_lsn(), restart_lsn)::bigint,
       pg_wal_lsn_diff(pg_current_wal_lsn(), confirmed_flush_lsn)::bigint
FROM pg_replication_slots WHERE slot_name = %s
"""
PUBLICATION = "SELECT 1 FROM pg_publication WHERE pubname = %s"
BROKEN_WAL = ("lost", "unreserved")


@dataclass(frozen=True)
class Task:
    """One task of the connector, with the error that stopped it, whole."""

    id: int
    state: str
    trace: str = ""


@dataclass(frozen=True)
class Topic:
    """A table's topic. `end` is None if the topic does not exist."""

    name: str
    partitions: int = 0
    end: int | None = None
    """Records ever written, all partitions, transaction markers included."""


@dataclass(frozen=True)
class Slot:
    """The replication slot and the log that Postgres keeps for it."""

    name: str
    active: bool
    wal_status: str | None
    retained_bytes: int | None
    unconfirmed_bytes: int | None


@dataclass
class Health:
    """All that was found out; `problems` says, by part, what is wrong or could not be read."""

    pipeline: str
    connector: str | None = None
    trace: str = ""
    tasks: list[Task] = field(default_factory=list)
    topics: list[Topic] = field(default_factory=list)
    slot: Slot | None = None
    problems: dict[str, str] = field(default_factory=dict)


def read_health(pipeline: Pipeline, endpoints: Endpoints) -> Health:
    """Ask Connect, Kafka and Postgres. Raises nothing for a part that does not answer."""
    health = Health(pipeline.name)
    parts: dict[str, Callable[[], None]] = {
        "connector": lambda: _connector(health, pipeline, endpoints),
        "topics": lambda: _topics(health, pipeline, endpoints),
        "slot": lambda: _slot(health, pipeline, endpoints),
    }
    for name, read in parts.items():
        try:
            read()
        except CdcError as error:
            health.problems[name] = f"{error.message}; {error.hint}"
        except (KafkaError, psycopg.Error, OSError) as error:
            health.problems[name] = f"cannot be read: {str(error).strip() or type(error).__name__}"
    return health


def _connector(health: Health, pipeline: Pipeline, endpoints: Endpoints) -> None:
    with ConnectClient(endpoints.connect_url) as connect:
        status = connect.status(pipeline.name)
    if status is None:
        health.problems["connector"] = "there is none; `cdc apply` makes it"
        return
    health.connector, health.trace = status.state, status.trace
    health.tasks = [Task(task.id, task.state, task.trace) for task in status.tasks]
    if not status.running:
        failed = ", ".join(f"task {task.id} has failed" for task in status.failed)
        health.problems["connector"] = f"{failed or f'it is {status.state}'}; see `cdc apply`"


def _topics(health: Health, pipeline: Pipeline, endpoints: Endpoints) -> None:
    names = [pipeline.topic_for(table) for table in pipeline.tables]
    bootstrap = endpoints.kafka_bootstrap
    with topic_admin(bootstrap) as admin:
        partitions = {name: topic.partitions for name, topic in admin.find(names).items()}
    ends = _ends(bootstrap, partitions) if partitions else {}
    health.topics = [Topic(name, partitions.get(name, 0), ends.get(name)) for name in names]
    missing = [topic.name for topic in health.topics if topic.end is None]
    if missing:
        health.problems["topics"] = f"missing: {', '.join(missing)}; `cdc apply` creates them"


def _ends(bootstrap: str, partitions: dict[str, int]) -> dict[str, int]:
    asked = {
        TopicPartition(name, number): OffsetSpec.LATEST
        for name, count in partitions.items()
        for number in range(count)
    }
    ends = dict.fromkeys(partitions, 0)
    client = KafkaAdminClient(bootstrap_servers=bootstrap.split(","), client_id="cdc-status")
    try:
        for partition, found in client.list_partition_offsets(asked).items():
            ends[partition.topic] += found.offset
    finally:
        client.close()
    return ends


def _slot(health: Health, pipeline: Pipeline, endpoints: Endpoints) -> None:
    with admin_session(endpoints) as connection:
        row = connection.execute(SLOT, (pipeline.slot_name,)).fetchone()
        published = connection.execute(PUBLICATION, (pipeline.publication_name,)).fetchone()
    if published is None:
        # Postgres 18 only warns of it in its log, and the connector goes on, reading nothing.
        health.problems["publication"] = (
            f"there is no publication {pipeline.publication_name}, so changes are not captured; "
            "`cdc apply` makes it"
        )
    if row is None:
        health.problems["slot"] = f"there is no slot {pipeline.slot_name}; `cdc apply` makes it"
        return
    health.slot = Slot(pipeline.slot_name, *row)
    if health.slot.wal_status in BROKEN_WAL:
        health.problems["slot"] = (
            f"slot {pipeline.slot_name} is {health.slot.wal_status}: Postgres has dropped, or is "
            "about to drop, log it still needs; run `cdc check`"
        )
    elif not health.slot.active:
        health.problems["slot"] = "nobody reads it, so Postgres keeps all log since; `cdc apply`"
