"""The topics of a pipeline as code: one compacted topic for each table, made before the connector.

A topic that exists with other settings is refused, never altered: the wrong cleanup policy has
already lost rows, more partitions have already split keys, and someone set it that way on purpose
or by accident. The refusal names the command.
"""

import socket
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from shlex import quote
from types import MappingProxyType
from typing import Any

from kafka import KafkaAdminClient
from kafka.admin import ConfigResource, ConfigResourceType
from kafka.errors import KafkaError, TopicAlreadyExistsError

from cdc.config import Pipeline
from cdc.errors import FatalError, RetryableError
from connectors.action import Action, Setting, Verb, changed_settings
from connectors.connector import heartbeat_topic

HOUR_MS = 3_600_000
KNOCK_SECONDS = 5.0

# What the changelog of a table needs. Brokers' defaults do not matter: each is set.
CHANGELOG: Mapping[str, str] = MappingProxyType(
    {
        "cleanup.policy": "compact",
        # A reader less than an hour behind sees every change, not only the newest of each row.
        "min.compaction.lag.ms": str(HOUR_MS),
        # A deleted or overwritten value is gone from the disk within a day, also on a quiet table.
        "max.compaction.lag.ms": str(24 * HOUR_MS),
        # A reader that was away for a week still sees every deletion; one that was away longer
        # must rebuild, because it would keep rows that are gone.
        "delete.retention.ms": str(7 * 24 * HOUR_MS),
        # A row may be as large as the broker takes (32 MiB); Postgres allows far more.
        "max.message.bytes": str(32 * 1024 * 1024),
        "compression.type": "producer",
    }
)
# One key, rewritten for ever: nothing in it is worth keeping.
HEARTBEATS: Mapping[str, str] = MappingProxyType(
    {"cleanup.policy": "compact,delete", "retention.ms": str(24 * HOUR_MS)}
)


@dataclass(frozen=True, slots=True)
class Topic:
    """A topic as it shall be, or as it was found."""

    name: str
    partitions: int
    replication_factor: int
    settings: Mapping[str, str]

    def comparable(self) -> dict[str, str]:
        """Return all there is to compare."""
        return {
            "partitions": str(self.partitions),
            "replication.factor": str(self.replication_factor),
            **self.settings,
        }


def desired_topics(pipeline: Pipeline) -> list[Topic]:
    """Return the topics the pipeline needs."""
    copies = pipeline.kafka.replication_factor
    safe = {"min.insync.replicas": str(max(1, copies - 1))}
    topics = [
        Topic(pipeline.topic_for(table), table.partitions, copies, {**CHANGELOG, **safe})
        for table in pipeline.tables
    ]
    return [*topics, Topic(heartbeat_topic(pipeline), 1, copies, {**HEARTBEATS, **safe})]


def drift(wanted: Topic, found: Topic) -> tuple[Setting, ...]:
    """Return the settings of an existing topic that are not as they shall be."""
    return changed_settings(found.comparable(), wanted.comparable(), only=True)


def drift_fix(wanted: Topic, differences: Sequence[Setting], bootstrap: str) -> str:
    """Name the command that brings a topic back to what it shall be."""
    names = {setting.name for setting in differences}
    found = {setting.name: setting.before for setting in differences}
    if "partitions" in names:
        # Keys would move to other partitions and their old values would never be compacted away.
        return (
            f"the number of partitions is for ever: write `partitions: {found['partitions']}` at "
            "this table in pipeline.yaml, or give the pipeline a new `name` for new topics"
        )
    if "replication.factor" in names:
        return (
            f"write `replication_factor: {found['replication.factor']}` under `kafka` in "
            "pipeline.yaml, or move the replicas with kafka-reassign-partitions"
        )
    changes = " ".join(f"-c {quote(f'{s.name}={s.after}')}" for s in differences)
    return (
        f"python -m kafka.admin -b {bootstrap} configs alter -r topic -n {quote(wanted.name)} "
        f"{changes}"
    )


class TopicAdmin:
    """What we ask of a Kafka cluster about topics."""

    def __init__(self, bootstrap: str, client: Any) -> None:
        self.bootstrap = bootstrap
        self._client = client

    def brokers(self) -> int:
        """Return how many brokers there are."""
        return len(self._client.describe_cluster()["brokers"])

    def names(self) -> list[str]:
        """Return the names of all topics."""
        return list(self._client.list_topics())

    def find(self, names: Sequence[str]) -> dict[str, Topic]:
        """Return those of the named topics that exist, as they are."""
        existing = sorted(set(names) & set(self.names()))
        if not existing:
            return {}
        resources = [ConfigResource(ConfigResourceType.TOPIC, name) for name in existing]
        answer = self._client.describe_configs(resources, config_filter="all")["topic"]
        return {
            topic["name"]: Topic(
                topic["name"],
                len(topic["partitions"]),
                min(len(partition["replica_nodes"]) for partition in topic["partitions"]),
                {key: str(entry["value"]) for key, entry in answer[topic["name"]].items()},
            )
            for topic in self._client.describe_topics(existing)
        }

    def create(self, topic: Topic) -> None:
        """Create a topic and wait until every partition has a leader."""
        options = {
            "num_partitions": topic.partitions,
            "replication_factor": topic.replication_factor,
            "configs": dict(topic.settings),
        }
        try:
            self._client.create_topics({topic.name: options}, wait_for_metadata=True)
        except TopicAlreadyExistsError as error:
            raise RetryableError(
                f"topic {topic.name} was created by someone else meanwhile",
                hint="run `cdc plan` to see whether it is as it should be",
            ) from error
        except KafkaError as error:
            raise FatalError(
                f"Kafka refused to create topic {topic.name}: {error}",
                hint=f"see the broker's log; {self.brokers()} broker(s) answer at "
                f"{self.bootstrap}, and `kafka.replication_factor` cannot be higher",
            ) from error


@contextmanager
def topic_admin(bootstrap: str) -> Iterator[TopicAdmin]:
    """Open a session with the cluster. Raises RetryableError when no broker answers."""
    servers = bootstrap.split(",")
    try:
        _knock(servers)
        client = KafkaAdminClient(bootstrap_servers=servers, client_id="cdc")
    except (KafkaError, OSError) as error:
        raise RetryableError(
            f"Kafka does not answer at {bootstrap}: {error or type(error).__name__}",
            hint="start it with `cdc stack up`, or correct `kafka.bootstrap_servers`",
        ) from error
    try:
        yield TopicAdmin(bootstrap, client)
    finally:
        client.close()


def _knock(servers: Sequence[str]) -> None:
    # The client tries for long, and leaks its sockets when nobody answers.
    for number, server in enumerate(servers, start=1):
        host, _, port = server.rpartition(":")
        try:
            with socket.create_connection((host, int(port)), timeout=KNOCK_SECONDS):
                return
        except OSError:
            if number == len(servers):
                raise


def topic_actions(pipeline: Pipeline, bootstrap: str, found: Mapping[str, Topic]) -> list[Action]:
    """Compare what shall be with what is."""
    return [_action(topic, found.get(topic.name), bootstrap) for topic in desired_topics(pipeline)]


def _action(wanted: Topic, found: Topic | None, bootstrap: str) -> Action:
    target = f"topic {wanted.name}"
    if found is None:

        def create() -> None:
            with topic_admin(bootstrap) as admin:
                admin.create(wanted)

        return Action(Verb.CREATE, target, changed_settings({}, wanted.comparable()), run=create)
    differences = drift(wanted, found)
    if differences:
        return Action(
            Verb.REFUSED,
            target,
            differences,
            note="it exists with other settings, and is not altered",
            fix=drift_fix(wanted, differences, bootstrap),
        )
    return Action(Verb.UNCHANGED, target)
