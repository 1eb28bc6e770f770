"""What `cdc status` shows of what was found."""

import io

from cdc.cli.status import _show
from cdc.output import Output
from connectors.health import Health, Slot, Task, Topic

TRACE = "org.apache.kafka.connect.errors.ConnectException: no slot\n\tat io.debezium.Some.java"


def shown(health: Health) -> str:
    stdout = io.StringIO()
    _show(Output(stdout=stdout, stderr=io.StringIO()), health)
    return stdout.getvalue()


def test_a_failed_task_is_shown_with_its_whole_error() -> None:
    text = shown(
        Health(
            "shop",
            connector="RUNNING",
            tasks=[Task(0, "FAILED", TRACE)],
            problems={"connector": "task 0 has failed"},
        )
    )
    assert "task 0: FAILED\n    org.apache.kafka.connect.errors.ConnectException: no slot\n" in text
    assert "at io.debezium.Some.java" in text
    assert "Problem: connector: task 0 has failed" in text


def test_topics_and_the_kept_log_are_shown() -> None:
    text = shown(
        Health(
            "shop",
            connector="RUNNING",
            tasks=[Task(0, "RUNNING")],
            topics=[Topic("shop.public.orders", 4, 1_234_567), Topic("shop.public.new")],
            slot=Slot("shop_cdc", True, "reserved", 5 * 2**20, 0),
        )
    )
    assert "shop.public.orders  4           1,234,567" in text
    assert "shop.public.new     0           missing" in text
    assert "log kept for it:    5.0 MiB (reserved)" in text
