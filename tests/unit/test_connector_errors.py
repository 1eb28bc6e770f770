"""Finding what really went wrong in what Connect tells."""

import pytest

from connectors.connect import ConnectorStatus, TaskStatus
from connectors.supervise import describe, innermost, root_cause

TRACE = """org.apache.kafka.connect.errors.ConnectException: Error while processing event
\tat io.debezium.pipeline.ErrorHandler.setProducerThrowable(ErrorHandler.java:73)
Caused by: io.debezium.DebeziumException: Failed to start replication stream
\tat io.debezium.Some.method(Some.java:1)
\t... 7 more
Caused by: org.postgresql.util.PSQLException: ERROR: replication slot "shop_cdc" is active
\tat org.postgresql.Core(Core.java:2)
"""


def test_the_innermost_cause_is_shown() -> None:
    cause = 'org.postgresql.util.PSQLException: ERROR: replication slot "shop_cdc" is active'
    assert innermost(TRACE) == cause


def test_a_trace_without_causes_is_its_first_line() -> None:
    assert innermost("java.lang.Error: broken\n\tat a.b(C.java)") == "java.lang.Error: broken"
    assert innermost("") == "no trace was given"


def test_a_connector_runs_only_if_all_its_tasks_do() -> None:
    running, failed = TaskStatus(0, "RUNNING"), TaskStatus(1, "FAILED", TRACE)
    assert ConnectorStatus("RUNNING", (running,)).running
    assert not ConnectorStatus("RUNNING", (running, failed)).running
    assert not ConnectorStatus("RUNNING", ()).running
    assert not ConnectorStatus("UNASSIGNED", (running,)).running


@pytest.mark.parametrize(
    ("status", "told"),
    [
        (None, "there is no such connector"),
        (ConnectorStatus("RUNNING", ()), "connector RUNNING, no task yet"),
        (
            ConnectorStatus("RUNNING", (TaskStatus(0, "PAUSED"),)),
            "connector RUNNING, task 0 PAUSED",
        ),
    ],
)
def test_a_state_is_told_in_one_line(status: ConnectorStatus | None, told: str) -> None:
    assert describe(status) == told


def test_a_failed_connector_without_tasks_shows_its_own_trace() -> None:
    status = ConnectorStatus("FAILED", (), "java.lang.Error: no licence")
    assert root_cause(status) == "java.lang.Error: no licence"
    assert describe(status) == "failed: java.lang.Error: no licence"
