"""The Debezium connector of a pipeline, as the settings Kafka Connect takes.

Pure: from the pipeline and the addresses to a dictionary. How values are written is in
`connectors.encoding`; how the dictionary gets to Connect is in `connectors.connect`.
"""

import re
from collections.abc import Mapping
from types import MappingProxyType

from cdc.config import Pipeline, Table
from cdc.endpoints import Endpoints
from connectors.encoding import VALUE_ENCODING

CONNECTOR_CLASS = "io.debezium.connector.postgresql.PostgresConnector"
HEARTBEAT_PREFIX = "__debezium-heartbeat"

# The topic holds rows: the envelope is taken off, a delete becomes a real null, and what a reader
# needs beside the row travels in two headers.
RECORD: Mapping[str, str] = MappingProxyType(
    {
        "transforms": "unwrap,plain",
        "transforms.unwrap.type": "io.debezium.transforms.ExtractNewRecordState",
        "transforms.unwrap.delete.tombstone.handling.mode": "delete-to-tombstone",
        "transforms.unwrap.add.headers": "lsn,source.ts_ms:ts_ms",
        "transforms.unwrap.add.headers.prefix": "",
        # A changed key leaves the other key in a header, where no deletion would ever reach it.
        "transforms.plain.type": "org.apache.kafka.connect.transforms.DropHeaders",
        "transforms.plain.headers": "__debezium.oldkey,__debezium.newkey",
        # The delete itself is the tombstone: a second one would be made only to be dropped.
        "tombstones.on.delete": "false",
        # Four more headers on each record doubled the time a reader needs.
        "extended.headers.enabled": "false",
        # Handled before it reaches the log: see connectors.truncate.
        "skipped.operations": "t",
        # Logical messages of other programs would go to a topic nobody made, and stop the task;
        # our own heartbeat message has done its work once it was read.
        "message.prefix.exclude.list": ".*",
    }
)

# Whatever is unclear stops the task instead of losing a row.
FAIL_CLOSED: Mapping[str, str] = MappingProxyType(
    {
        "exactly.once.support": "required",
        "transaction.boundary": "poll",
        "errors.tolerance": "none",
        "event.processing.failure.handling.mode": "fail",
        "publication.autocreate.mode": "disabled",
        "slot.drop.on.stop": "false",
        # Only what is in Kafka is confirmed to Postgres, never what merely passed by.
        "lsn.flush.mode": "connector",
        "offset.mismatch.strategy": "trust_offset",
        # After a crash Postgres may hold the slot until it notices that the old reader is gone.
        "slot.max.retries": "30",
        "slot.retry.delay.ms": "2000",
    }
)

PACE: Mapping[str, str] = MappingProxyType(
    {
        "poll.interval.ms": "10",
        "max.batch.size": "4096",
        "max.queue.size": "16384",
        # Rows can be large: bounds the queue by memory too.
        "max.queue.size.in.bytes": "67108864",
        "status.update.interval.ms": "5000",
    }
)


def heartbeat_topic(pipeline: Pipeline) -> str:
    """Return the topic of Debezium's heartbeats; nobody reads it, its offsets move the slot."""
    return f"{HEARTBEAT_PREFIX}.{pipeline.name}"


def table_pattern(table: Table) -> str:
    r"""Return a Java regular expression that matches this table's name and no other.

    Debezium ignores case unless told otherwise: `public.orders` would take in `public."Orders"`.
    """
    return "(?-i)" + re.sub(r"([^A-Za-z0-9_])", r"\\\1", table.name)


def connector_config(pipeline: Pipeline, endpoints: Endpoints) -> dict[str, str]:
    """Build the connector's whole configuration; the password in it is only a reference."""
    return {
        "name": pipeline.name,
        "connector.class": CONNECTOR_CLASS,
        "tasks.max": "1",
        **_source(pipeline, endpoints),
        **_capture(pipeline),
        **_heartbeat(pipeline),
        **VALUE_ENCODING,
        **RECORD,
        **FAIL_CLOSED,
        **PACE,
    }


def _source(pipeline: Pipeline, endpoints: Endpoints) -> dict[str, str]:
    return {
        "database.hostname": endpoints.postgres_host,
        "database.port": str(endpoints.postgres_port),
        "database.dbname": endpoints.database,
        "database.user": endpoints.capture_user,
        "database.password": endpoints.connect_password_reference,
        "database.sslmode": endpoints.sslmode,
        "database.tcpKeepAlive": "true",
        "plugin.name": "pgoutput",
        "slot.name": pipeline.slot_name,
        "publication.name": pipeline.publication_name,
    }


def _capture(pipeline: Pipeline) -> dict[str, str]:
    return {
        "topic.prefix": pipeline.name,
        "topic.naming.strategy": "io.debezium.schema.SchemaTopicNamingStrategy",
        "table.include.list": ",".join(table_pattern(table) for table in pipeline.tables),
        "snapshot.mode": "initial" if pipeline.source.snapshot == "debezium" else "no_data",
        "snapshot.max.threads": "1",
    }


def _heartbeat(pipeline: Pipeline) -> dict[str, str]:
    # The message goes through the log of this database, so the slot moves on even when only other
    # databases of the server write. It needs no table and no right to write to one.
    return {
        "heartbeat.interval.ms": str(pipeline.source.heartbeat_seconds * 1000),
        "heartbeat.action.query": "SELECT pg_logical_emit_message(false, 'cdc.heartbeat', '')",
        "topic.heartbeat.prefix": HEARTBEAT_PREFIX,
    }
