"""Programs that are too old, incomplete, or set up to forget us, are named beforehand."""

from collections.abc import Callable
from typing import Any

import pytest

from connectors.preflight import CheckResult, Outcome
from tests.integration.test_preflight import Factory, failure, results


@pytest.fixture
def orders(database: Any, pipeline_factory: Factory) -> Any:
    """Give a pipeline with nothing wrong."""
    database.execute("CREATE TABLE orders (id int PRIMARY KEY)")
    return pipeline_factory("public.orders")


@pytest.mark.parametrize(
    ("check", "bar", "height", "told"),
    [
        ("postgres", "services.OLDEST_POSTGRES", 99, "is too old: 99 is the oldest"),
        ("connect", "services.OLDEST_KAFKA", (99, 0), "Kafka Connect 4.3.1 is too old"),
        ("connect", "services.OLDEST_DEBEZIUM", (99, 0), "loses rows of a transaction"),
        ("connect", "services.CONNECTOR_CLASS", "no.such.Plugin", "has no Debezium connector"),
        ("disk", "server.LEAST_DISK", 2**63, "Postgres and Kafka stop when it is used up"),
    ],
)
def test_what_is_too_old_too_small_or_absent_is_refused(
    orders: Any, monkeypatch: pytest.MonkeyPatch, check: str, bar: str, height: Any, told: str
) -> None:
    """The servers are what they are, so the bar is raised above them."""
    monkeypatch.setattr(f"connectors.preflight.{bar}", height)
    assert told in failure(orders, check).message


def test_an_idle_slot_timeout_is_named(
    orders: Any, database: Any, eventually: Callable[..., Any]
) -> None:
    def warnings() -> list[CheckResult]:
        return [r for r in results(orders, "wal retention") if "loses its slot" in r.message]

    database.execute("ALTER SYSTEM SET idle_replication_slot_timeout = '1h'")
    try:
        # The server reads its settings again in its own time.
        database.execute("SELECT pg_reload_conf()")
        [found] = eventually(warnings)
        assert found.outcome is Outcome.WARN
        for statement in found.fix.split(";"):
            database.execute(statement)
        assert eventually(lambda: not warnings())
    finally:
        database.execute("ALTER SYSTEM RESET idle_replication_slot_timeout")
        database.execute("SELECT pg_reload_conf()")
