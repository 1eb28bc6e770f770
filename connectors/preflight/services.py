"""Checks whether every program is there, and new enough."""

import re

from cdc.errors import CdcError
from connectors.connector import CONNECTOR_CLASS
from connectors.preflight.context import Context
from connectors.preflight.result import Findings, fail, ok

OLDEST_POSTGRES = 14
OLDEST_KAFKA = (3, 9)
OLDEST_DEBEZIUM = (3, 7)


def check_postgres(context: Context) -> Findings:
    """Check that Postgres answers, is new enough, and takes writes."""
    try:
        version = context.postgres.info.server_version
    except CdcError as error:
        yield fail(error.message, error.hint)
        return
    if version < OLDEST_POSTGRES * 10000:
        # Before 14 no logical message can be decoded, which the heartbeat needs.
        yield fail(
            f"Postgres {version // 10000} is too old: {OLDEST_POSTGRES} is the oldest that works",
            f"pg_upgrade to Postgres {OLDEST_POSTGRES} or newer",
        )
    elif context.value("SELECT pg_is_in_recovery()"):
        yield fail(
            "this server is a standby: role, publication and triggers are made on the primary",
            "set `source.host` in pipeline.yaml to the primary",
        )
    else:
        yield ok(f"Postgres {context.value('SHOW server_version')}")


def check_kafka(context: Context) -> Findings:
    """Check that brokers answer, and enough of them for the copies asked for."""
    try:
        brokers = context.kafka.brokers()
    except CdcError as error:
        yield fail(error.message, error.hint)
        return
    wanted = context.pipeline.kafka.replication_factor
    if wanted > brokers:
        yield fail(
            f"{wanted} copies of each topic are asked for, and there are {brokers} broker(s)",
            f"set `replication_factor: {brokers}` under `kafka` in pipeline.yaml",
        )
    else:
        yield ok(f"{brokers} broker(s)")


def check_connect(context: Context) -> Findings:
    """Check that Connect answers, is new enough, and has a Debezium that is."""
    try:
        version = context.connect.version()
        debezium = context.connect.plugins().get(CONNECTOR_CLASS)
    except CdcError as error:
        yield fail(error.message, error.hint)
        return
    if _numbers(version) < OLDEST_KAFKA:
        yield fail(
            f"Kafka Connect {version} is too old: {_dotted(OLDEST_KAFKA)} is the oldest that works",
            "upgrade the Connect workers",
        )
    elif debezium is None:
        yield fail(
            "the Connect worker has no Debezium connector for Postgres",
            "unpack debezium-connector-postgres into a folder of the worker's plugin.path and "
            "restart the worker",
        )
    elif _numbers(debezium) < OLDEST_DEBEZIUM:
        # The position stored by earlier ones is one LSN, which all rows of a COPY share.
        yield fail(
            f"Debezium {debezium} loses rows of a transaction it is killed in: "
            f"{_dotted(OLDEST_DEBEZIUM)} is the first that does not",
            "replace debezium-connector-postgres in the worker's plugin.path and restart it",
        )
    else:
        yield ok(f"Kafka Connect {version}, Debezium {debezium}")


def check_password(context: Context) -> Findings:
    """Check that the connector finds its password by reference, and that it can work."""
    reference = context.endpoints.connect_password_reference
    file = context.endpoints.connect_password_file
    if not re.fullmatch(r"\$\{[^{}]+\}", reference):
        yield fail(
            "the source's password would stand in the connector's configuration",
            "set `source_password: ${env:CDC_SOURCE_PASSWORD}` under `connect` in pipeline.yaml",
        )
    elif not context.endpoints.capture_password:
        yield fail(
            f"no password is given for role {context.endpoints.capture_user}",
            "set `password: env:CDC_SOURCE_PASSWORD` under `source` in pipeline.yaml",
        )
    elif file is not None and not file.parent.is_dir():
        yield fail(
            f"{file.parent}, where the Connect worker looks for passwords, does not exist",
            f"mkdir -m 700 {file.parent}",
        )
    else:
        yield ok(f"by reference {reference}")


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in re.findall(r"\d+", version)[:2])


def _dotted(version: tuple[int, ...]) -> str:
    return ".".join(map(str, version))
