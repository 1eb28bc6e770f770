"""A captured table: what is written to Postgres on one side, the records of its topic on the other.

Built on the fixtures one directory up: everything made here is gone after the test.
"""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson
import pytest
import yaml

from cdc.changelog import Record, read_changelog
from connectors.connect import ConnectClient
from connectors.plan import apply_plan, make_plan
from connectors.supervise import Patience

GOLDEN = Path(__file__).with_name("golden_types.yaml")


@dataclass(frozen=True)
class Captured:
    """One table and its topic."""

    database: Any
    prepared: Any
    topic: str
    eventually: Callable[..., Any]

    def execute(self, statement: str, *values: Any) -> list[tuple[Any, ...]]:
        """Write to, or ask, the source."""
        found: list[tuple[Any, ...]] = self.database.execute(statement, *values)
        return found

    def records(self) -> list[Record]:
        """Return what is in the topic now."""
        return list(read_changelog(self.prepared.endpoints.kafka_bootstrap, self.topic))

    def failed(self) -> bool:
        """Tell whether the connector's task has stopped with an error."""
        endpoints = self.prepared.endpoints
        with ConnectClient(endpoints.connect_url) as connect:
            status = connect.status(self.prepared.pipeline.name)
        return status is not None and bool(status.failed)

    def after(self, count: int) -> list[Record]:
        """Wait for so many records; a test that finds more fails on its own."""

        def arrived() -> list[Record] | None:
            found = self.records()
            return found if len(found) >= count else None

        found: list[Record] = self.eventually(arrived, seconds=60)
        return found


@pytest.fixture
def capture(
    database: Any, pipeline_factory: Callable[..., Any], eventually: Callable[..., Any]
) -> Callable[..., Captured]:
    """Give `capture("public.t")`: apply a pipeline for that one table and hand it over.

    A pipeline that was prepared before can be given instead of the table's name.
    """

    def start(
        table: Any, *, partitions: int = 1, patience: Patience | None = None, **options: Any
    ) -> Captured:
        entry = {"name": table, "partitions": partitions, **options}
        prepared = pipeline_factory(entry) if isinstance(table, str) else table
        apply_plan(make_plan(*prepared), patience=patience)
        topic = prepared.pipeline.topic_for(prepared.pipeline.tables[0])
        return Captured(database, prepared, topic, eventually)

    return start


@pytest.fixture
def row_of() -> Callable[[Record], dict[str, Any]]:
    """Read a record's value."""

    def read(record: Record) -> dict[str, Any]:
        assert record.value is not None
        row: dict[str, Any] = orjson.loads(record.value)
        return row

    return read


@pytest.fixture(scope="session")
def golden() -> dict[str, Any]:
    """Give the table of types and edge values."""
    document: dict[str, Any] = yaml.safe_load(GOLDEN.read_text())
    return document
