"""Kafka Connect with Debezium: one distributed worker, exactly-once, REST on loopback only."""

import tarfile
from collections.abc import Iterable
from pathlib import Path

import httpx
from typing_extensions import override

from cdc.stack import versions
from cdc.stack.artifacts import Artifact, read_lock
from cdc.stack.fetch import extract_all
from cdc.stack.java import find_java
from cdc.stack.java_logging import write_log_settings
from cdc.stack.paths import make_private
from cdc.stack.ports import LOOPBACK
from cdc.stack.service import Service, Site, write_properties

HEAP = "-Xmx768m"
DEBEZIUM_CLASS = "io.debezium.connector.postgresql.PostgresConnector"
JSON = "org.apache.kafka.connect.json.JsonConverter"

# What the changelog asks of a worker; docker-compose.yml sets the same.
SETTINGS = {
    "group.id": "cdc-connect",
    "config.storage.topic": "connect-configs",
    "config.storage.replication.factor": "1",
    "offset.storage.topic": "connect-offsets",
    "offset.storage.replication.factor": "1",
    "offset.storage.partitions": "5",
    "status.storage.topic": "connect-status",
    "status.storage.replication.factor": "1",
    "status.storage.partitions": "2",
    "key.converter": JSON,
    "key.converter.schemas.enable": "false",
    "value.converter": JSON,
    "value.converter.schemas.enable": "false",
    # Records and the source's position are committed together: a killed worker repeats nothing.
    "exactly.once.source.support": "enabled",
    # Topics are code; Connect makes none for a connector.
    "topic.creation.enable": "false",
    # A connector must not be able to change the worker's own clients (login modules and the like).
    "connector.client.config.override.policy": "None",
    "plugin.discovery": "service_load",
    # A worker that was killed is replaced at once, not after five minutes.
    "scheduled.rebalance.max.delay.ms": "0",
    "session.timeout.ms": "6000",
    "heartbeat.interval.ms": "1500",
    "offset.flush.interval.ms": "5000",
    "producer.compression.type": "lz4",
    "producer.linger.ms": "5",
    "producer.batch.size": "262144",
    "producer.max.request.size": "33554432",
    "producer.buffer.memory": "67108864",
}


class Connect(Service):
    """The source's reader."""

    name = "connect"
    version = versions.DEBEZIUM
    needs = ("kafka",)

    @override
    def artifacts(self) -> Iterable[Artifact]:
        lock = read_lock()
        return [*lock["kafka"], *lock["debezium"]]

    @override
    def prepare(self, site: Site) -> list[str]:
        java = find_java(versions.JAVA_FOR_KAFKA)
        [debezium] = read_lock()["debezium"]
        secrets = make_private(secrets_dir(site.state_dir))
        settings = SETTINGS | {
            "bootstrap.servers": f"{LOOPBACK}:{site.port('kafka')}",
            "listeners": f"http://{LOOPBACK}:{site.port()}",
            "rest.advertised.host.name": LOOPBACK,
            "plugin.path": str(site.unpacked(debezium, _unpack)),
            # Passwords stay in files; a connector's configuration only names them.
            "config.providers": "dir",
            "config.providers.dir.class": (
                "org.apache.kafka.common.config.provider.DirectoryConfigProvider"
            ),
            "config.providers.dir.param.allowed.paths": str(secrets),
        }
        config = write_properties(site.home / "worker.properties", settings)
        return [
            java.executable,
            HEAP,
            *java.quick_start_flags(site.home / "classes.jsa"),
            f"-Dlog4j2.configurationFile={write_log_settings(site.home)}",
            *("-cp", site.class_path("kafka")),
            "org.apache.kafka.connect.cli.ConnectDistributed",
            str(config),
        ]

    @override
    def check(self, site: Site) -> None:
        base = f"http://{LOOPBACK}:{site.port()}"
        with httpx.Client(base_url=base, timeout=5) as client:
            # Answered only once the worker has joined its group and read its topics.
            client.get("/connectors").raise_for_status()
            plugins = client.get("/connector-plugins").raise_for_status().json()
        if DEBEZIUM_CLASS not in {plugin["class"] for plugin in plugins}:
            raise LookupError("the Debezium plugin is not loaded")


def secrets_dir(state_dir: Path) -> Path:
    """Return the only directory from which a connector's configuration may take secrets."""
    return state_dir / "connect" / "secrets"


def _unpack(archive: Path, target: Path) -> None:
    with tarfile.open(archive) as content:
        extract_all(content, target)
