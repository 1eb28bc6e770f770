"""Kafka: one KRaft node that is broker and controller, no topic unless somebody asked for it."""

import base64
import socket
import subprocess
import uuid
from collections.abc import Iterable
from pathlib import Path
from typing import ClassVar

from kafka import KafkaAdminClient
from typing_extensions import override

from cdc.errors import FatalError
from cdc.stack import versions
from cdc.stack.artifacts import Artifact, read_lock
from cdc.stack.java import find_java
from cdc.stack.java_logging import write_log_settings
from cdc.stack.ports import DEFAULT_RANGE, LOOPBACK
from cdc.stack.service import Service, Site, write_properties

HEAP = "-Xmx512m"

# What the changelog asks of a broker; docker-compose.yml sets the same.
SETTINGS = {
    # Topics are code: one made by accident would not be compacted.
    "auto.create.topics.enable": "false",
    # A row of 32 MiB must pass; Connect's producer and every reader are given the same.
    "message.max.bytes": "33554432",
    "replica.fetch.max.bytes": "33554432",
    "offsets.topic.replication.factor": "1",
    "offsets.topic.num.partitions": "8",
    "transaction.state.log.replication.factor": "1",
    "transaction.state.log.min.isr": "1",
    "transaction.state.log.num.partitions": "8",
    "share.coordinator.state.topic.replication.factor": "1",
    "share.coordinator.state.topic.min.isr": "1",
    "group.initial.rebalance.delay.ms": "0",
    # Compaction looks for work once a second instead of every fifteen.
    "log.cleaner.backoff.ms": "1000",
    "log.cleaner.dedupe.buffer.size": "67108864",
}


class Kafka(Service):
    """The one ordered log."""

    name = "kafka"
    version = versions.KAFKA
    port_ranges: ClassVar[dict[str, range]] = {"client": DEFAULT_RANGE, "controller": DEFAULT_RANGE}

    @override
    def artifacts(self) -> Iterable[Artifact]:
        return read_lock()["kafka"]

    @override
    def prepare(self, site: Site) -> list[str]:
        java = find_java(versions.JAVA_FOR_KAFKA)
        data = site.home / "data"
        client, controller = site.port(), site.port(role="controller")
        settings = SETTINGS | {
            "process.roles": "broker,controller",
            "node.id": "1",
            "controller.quorum.voters": f"1@{LOOPBACK}:{controller}",
            "controller.listener.names": "CONTROLLER",
            "listeners": f"PLAINTEXT://{LOOPBACK}:{client},CONTROLLER://{LOOPBACK}:{controller}",
            "advertised.listeners": f"PLAINTEXT://{LOOPBACK}:{client}",
            "log.dirs": str(data),
        }
        config = write_properties(site.home / "server.properties", settings)
        command = [
            java.executable,
            HEAP,
            *java.quick_start_flags(site.home / "classes.jsa"),
            f"-Dlog4j2.configurationFile={write_log_settings(site.home)}",
            *("-cp", site.class_path("kafka")),
        ]
        if not (data / "meta.properties").is_file():
            _format(command, config)
        return [*command, "kafka.Kafka", str(config)]

    @override
    def check(self, site: Site) -> None:
        # The client leaves its sockets open when nobody answers, and asks far longer than we do.
        socket.create_connection((LOOPBACK, site.port()), timeout=5).close()
        admin = KafkaAdminClient(bootstrap_servers=f"{LOOPBACK}:{site.port()}")
        try:
            # Lists the brokers that the controller has registered and unfenced.
            if not admin.describe_cluster()["brokers"]:
                raise ConnectionError("the broker has not registered with its controller yet")
        finally:
            admin.close()


def _format(java_command: list[str], config: Path) -> None:
    cluster_id = base64.urlsafe_b64encode(uuid.uuid4().bytes).decode().rstrip("=")
    outcome = subprocess.run(
        [
            # Without the archive flags: two JVMs would fight over writing one archive.
            *(part for part in java_command if "SharedArchive" not in part),
            *("kafka.tools.StorageTool", "format"),
            *("--cluster-id", cluster_id.replace("-", "_")),
            *("--config", str(config)),
        ],
        capture_output=True,
        text=True,
        check=False,
    )
    if outcome.returncode != 0:
        raise FatalError(
            f"Kafka's storage could not be formatted: {outcome.stderr.strip()[-500:]}",
            hint=f"check that {config.parent} is on a disk with room, then `cdc stack reset`",
        )
