"""Fixtures for tests on the real stack: a fresh database, and pipelines that clean up after."""

from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from time import monotonic, sleep
from typing import Any
from uuid import uuid4

import psycopg
import pytest
from kafka import KafkaAdminClient
from kafka.errors import KafkaError
from psycopg import sql

from cdc.config import Pipeline
from cdc.endpoints import Endpoints, resolve
from cdc.errors import CdcError
from cdc.stack.addresses import Addresses
from connectors.connect import ConnectClient
from connectors.topics import desired_topics

DEADLINE = 30.0


def poll(probe: Callable[[], Any], *, seconds: float = DEADLINE) -> Any:
    """Ask until `probe` gives something true; the last value is in the failure."""
    deadline = monotonic() + seconds
    while not (value := probe()):
        assert monotonic() < deadline, f"not within {seconds} s; last seen: {value!r}"
        sleep(0.05)
    return value


@pytest.fixture
def eventually() -> Callable[..., Any]:
    """Wait for a condition: `eventually(lambda: …, seconds=30)` returns its first true value."""
    return poll


@dataclass(frozen=True)
class Database:
    """A fresh database with a session as its administrator (autocommit)."""

    name: str
    addresses: Addresses
    connection: psycopg.Connection[Any]

    def execute(self, statement: str, *values: Any) -> list[tuple[Any, ...]]:
        """Run one statement (or several without values) and return the rows, if any."""
        cursor = self.connection.execute(statement, values or None)
        return cursor.fetchall() if cursor.description else []

    def conninfo(self, **overrides: Any) -> str:
        """Return a libpq string for the administrator, or for whom the overrides say."""
        values: dict[str, Any] = {
            "host": self.addresses.postgres_host,
            "port": self.addresses.postgres_port,
            "dbname": self.name,
            "user": self.addresses.postgres_admin_user,
            "password": self.addresses.postgres_admin_password,
        }
        return psycopg.conninfo.make_conninfo("", **(values | overrides))


@pytest.fixture
def database(stack: Addresses) -> Iterator[Database]:
    """Give a database of its own; it and every slot in it are gone afterwards."""
    name = f"t_{uuid4().hex[:10]}"
    draft = Database(name, stack, None)  # type: ignore[arg-type]
    with psycopg.connect(draft.conninfo(dbname="postgres"), autocommit=True) as server:
        server.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(name)))
        try:
            with psycopg.connect(draft.conninfo(), autocommit=True) as connection:
                yield replace(draft, connection=connection)
        finally:
            drop_slots(server, name)
            server.execute(
                sql.SQL("DROP DATABASE IF EXISTS {} WITH (FORCE)").format(sql.Identifier(name))
            )


def drop_slots(server: psycopg.Connection[Any], database: str) -> None:
    """Drop every slot of a database, waiting until its reader has let go."""

    def gone() -> bool:
        query = "SELECT slot_name FROM pg_replication_slots WHERE database = %s"
        for (slot,) in server.execute(query, (database,)).fetchall():
            with suppress(psycopg.errors.ObjectInUse):
                server.execute("SELECT pg_drop_replication_slot(%s)", (slot,))
        return not server.execute(query, (database,)).fetchall()

    poll(gone)


@dataclass(frozen=True)
class Prepared:
    """A pipeline over a fresh database, with its addresses. Unpacks into the two."""

    pipeline: Pipeline
    endpoints: Endpoints

    def __iter__(self) -> Iterator[Any]:
        return iter((self.pipeline, self.endpoints))


@pytest.fixture
def pipeline_factory(database: Database) -> Iterator[Callable[..., Prepared]]:
    """Make pipelines over `database`: `pipeline_factory("public.a", {"name": …}, source={…})`.

    Each has a name and a role of its own. Connector, slot, topics and role are gone afterwards.
    """
    made: list[Prepared] = []

    def make(*tables: str | dict[str, Any], **sections: Any) -> Prepared:
        name = sections.pop("name", f"t{uuid4().hex[:8]}")
        source = {"database": database.name, "user": f"{name}_capture", "heartbeat_seconds": 1}
        source |= sections.pop("source", {})
        document = {"name": name, "source": source, "tables": list(tables), **sections}
        pipeline = Pipeline.model_validate(document)
        prepared = Prepared(pipeline, resolve(pipeline, database.addresses))
        made.append(prepared)
        return prepared

    yield make
    for prepared in made:
        _clean_up(prepared, database)


def _clean_up(prepared: Prepared, database: Database) -> None:
    pipeline, endpoints = prepared
    with suppress(CdcError), ConnectClient(endpoints.connect_url) as connect:
        connect.delete(pipeline.name)
    with suppress(KafkaError):
        admin = KafkaAdminClient(bootstrap_servers=endpoints.kafka_bootstrap)
        names = {topic.name for topic in desired_topics(pipeline)}
        if existing := sorted(names & set(admin.list_topics())):
            admin.delete_topics(existing)
        admin.close()
    if endpoints.connect_password_file is not None:
        endpoints.connect_password_file.unlink(missing_ok=True)
    role = sql.Identifier(endpoints.capture_user)
    with psycopg.connect(database.conninfo(), autocommit=True) as server:
        drop_slots(server, database.name)
        with suppress(psycopg.errors.UndefinedObject):
            server.execute(sql.SQL("DROP OWNED BY {} CASCADE").format(role))
            server.execute(sql.SQL("DROP ROLE {}").format(role))
