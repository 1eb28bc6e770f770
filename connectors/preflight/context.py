"""What the checks look at: the pipeline, and sessions that are opened once, when first needed."""

from collections.abc import Mapping
from contextlib import ExitStack
from functools import cached_property
from types import TracebackType
from typing import Any, Self

from psycopg import sql

from cdc.config import Pipeline
from cdc.endpoints import Endpoints
from connectors.connect import ConnectClient
from connectors.database import Connection, admin_session, rows
from connectors.preflight.facts import TableFacts, load_facts
from connectors.topics import TopicAdmin, topic_admin


class Context:
    """The things checks share. Use with `with`: it closes what was opened."""

    def __init__(self, pipeline: Pipeline, endpoints: Endpoints) -> None:
        self.pipeline = pipeline
        self.endpoints = endpoints
        self._open = ExitStack()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._open.close()

    @cached_property
    def postgres(self) -> Connection:
        """A session as the administrator. Raises RetryableError if there is none to be had."""
        return self._open.enter_context(admin_session(self.endpoints))

    @cached_property
    def kafka(self) -> TopicAdmin:
        """A session with Kafka. Raises RetryableError if no broker answers."""
        return self._open.enter_context(topic_admin(self.endpoints.kafka_bootstrap))

    @cached_property
    def connect(self) -> ConnectClient:
        """A session with Connect; nothing is sent yet."""
        return self._open.enter_context(ConnectClient(self.endpoints.connect_url))

    @cached_property
    def tables(self) -> Mapping[str, TableFacts | None]:
        """What the catalog says of each listed table, None for one that is not there."""
        return {
            table.name: load_facts(self.postgres, table.schema_name, table.table_name)
            for table in self.pipeline.tables
        }

    def value(self, query: str, *values: Any) -> Any:
        """Return the single value a query gives."""
        return rows(self.postgres, query, *values)[0][0]

    def rows(self, query: str, *values: Any) -> list[Any]:
        """Return the rows a query gives."""
        return rows(self.postgres, query, *values)

    def statement(self, template: str, *parts: str | sql.Composable) -> str:
        """Compose an SQL command to show as a fix; plain strings are quoted as names."""
        quoted = [p if isinstance(p, sql.Composable) else sql.Identifier(p) for p in parts]
        return sql.SQL(template).format(*quoted).as_string(None)
