"""The demo from beginning to end, on a stack of its own that starts empty and is removed again."""

import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import psycopg

from cdc.config import load_pipeline
from cdc.demo import shop, workload
from cdc.demo.arrived import Comparison, compare
from cdc.demo.story import show_story
from cdc.endpoints import resolve
from cdc.errors import FatalError, RetryableError
from connectors.health import read_health
from connectors.plan import apply_plan, make_plan

if TYPE_CHECKING:
    from cdc.config import Pipeline
    from cdc.endpoints import Endpoints
    from cdc.output import Output
    from cdc.stack.stack import Stack

PIPELINE = f"""\
name: {shop.DATABASE}
source:
  database: {shop.DATABASE}
tables:
  - public.customers
  - public.products
  - public.orders
  - public.order_items
"""
ARRIVES_WITHIN_SECONDS = 600.0
POLL_SECONDS = 0.3


def run_demo(stack: "Stack", out: "Output", *, orders: int, seconds: float, keep: bool) -> None:
    """Show the whole road; raises FatalError if anything that arrived differs from Postgres."""
    size = shop.Size(orders)
    with _running(stack, out, keep=keep):
        addresses = stack.addresses()
        with out.progress(f"Filling the shop: {orders:,} orders") as steps:
            shop.create(
                addresses.admin_conninfo,
                size,
                lambda done, all_: steps.count(done, all_, "parts filled"),
            )
        pipeline = _pipeline()
        endpoints = resolve(pipeline, addresses)
        _capture(pipeline, endpoints, out)
        with psycopg.connect(endpoints.admin_conninfo(), autocommit=True) as connection:
            show_story(connection, pipeline, endpoints, out)
            with out.progress(f"Working in the shop for {seconds:.0f} s") as steps:
                work = workload.run(endpoints.admin_conninfo(), size, seconds, 1, steps.say)
            _wait_confirmed(connection, pipeline, out)
        _show_work(work, out)
        compared = _compare(pipeline, endpoints, out)
    out.result(
        {
            "equal": all(each.equal for each in compared),
            "committed": dict(work.changes),
            "rolled_back": work.rolled_back,
            "tables": [asdict(each) for each in compared],
        }
    )
    _judge(compared)


@contextmanager
def _running(stack: "Stack", out: "Output", *, keep: bool) -> Iterator[None]:
    began = time.monotonic()
    try:
        with out.progress("Starting Postgres, Kafka, Connect, OpenSearch and Redis") as steps:
            stack.reset()
            stack.up(
                report=lambda service, state: steps.say(f"{service}: {state}"),
                fetch_progress=lambda done, total: steps.count(done, total, "files downloaded"),
            )
        out.line(f"The stack is up after {time.monotonic() - began:.0f} s.", "ok")
        yield
    finally:
        if keep:
            file = stack.state_dir / "pipeline.yaml"
            file.write_text(PIPELINE)
            out.line(f"It stays up: cdc --state-dir {stack.state_dir} -f {file} status")
        else:
            with out.progress("Stopping the stack"):
                stack.reset()


def _pipeline() -> "Pipeline":
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "pipeline.yaml")
        path.write_text(PIPELINE)
        return load_pipeline(path)


def _capture(pipeline: "Pipeline", endpoints: "Endpoints", out: "Output") -> None:
    """Apply the pipeline and watch the snapshot arrive."""
    with out.progress("Applying pipeline.yaml") as steps:
        done = apply_plan(make_plan(pipeline, endpoints), steps.say)
    out.line(f"Applied {len(done)} changes: role, publication, triggers, topics, connector.", "ok")
    began = time.monotonic()
    with psycopg.connect(endpoints.admin_conninfo(), autocommit=True) as connection:
        expected = sum(shop.count_rows(connection).values())
        with out.progress("Snapshot into the topics") as steps:
            _wait_snapshot(pipeline, endpoints, expected, steps.count)
    taken = time.monotonic() - began
    out.line(f"{expected:,} rows are in the topics, {expected / taken:,.0f} a second.", "ok")


def _wait_snapshot(
    pipeline: "Pipeline",
    endpoints: "Endpoints",
    expected: int,
    count: Callable[[int, int, str], None],
) -> None:
    deadline = time.monotonic() + ARRIVES_WITHIN_SECONDS
    while True:
        health = read_health(pipeline, endpoints)
        if "connector" in health.problems:
            raise FatalError(health.problems["connector"], hint="cdc stack logs connect")
        # Transaction markers count too, so the sum may pass what is expected.
        arrived = sum(topic.end or 0 for topic in health.topics)
        count(min(arrived, expected), expected, "rows")
        if arrived >= expected and health.slot is not None and health.slot.active:
            return
        if time.monotonic() > deadline:
            raise RetryableError(
                f"only {arrived:,} of {expected:,} rows arrived",
                hint="cdc stack logs connect",
            )
        time.sleep(POLL_SECONDS)


def _wait_confirmed(connection: psycopg.Connection, pipeline: "Pipeline", out: "Output") -> None:
    """Wait until all that is committed now is in the topics: the slot confirms only that."""
    row = connection.execute("SELECT pg_current_wal_lsn()").fetchone()
    deadline = time.monotonic() + ARRIVES_WITHIN_SECONDS
    with out.progress("Waiting for the last change to arrive"):
        while True:
            behind = connection.execute(
                "SELECT pg_wal_lsn_diff(%s, confirmed_flush_lsn)::bigint "
                "FROM pg_replication_slots WHERE slot_name = %s",
                (row and row[0], pipeline.slot_name),
            ).fetchone()
            if behind and behind[0] <= 0:
                return
            if time.monotonic() > deadline:
                raise RetryableError(
                    f"{behind and behind[0]} bytes of log are not confirmed yet",
                    hint="cdc stack logs connect",
                )
            time.sleep(POLL_SECONDS)


def _show_work(work: workload.Work, out: "Output") -> None:
    changes = ", ".join(f"{count:,} {kind}s" for kind, count in sorted(work.changes.items()))
    out.line(f"Committed {changes}; {work.rolled_back:,} transactions were rolled back.", "ok")


def _compare(pipeline: "Pipeline", endpoints: "Endpoints", out: "Output") -> list[Comparison]:
    compared = []
    with (
        psycopg.connect(endpoints.admin_conninfo()) as connection,
        out.progress("Comparing every row with what arrived") as steps,
    ):
        for done, table in enumerate(pipeline.tables):
            steps.count(done, len(pipeline.tables), "tables compared")
            topic = pipeline.topic_for(table)
            compared.append(compare(connection, endpoints.kafka_bootstrap, topic, table.table_name))
    columns = ["table", "rows in postgres", "records", "deleted keys", "missing", "extra"]
    out.table(
        [*columns, "different", "verdict"],
        [
            [
                each.table,
                *(f"{number:,}" for number in (each.rows, each.records, each.deleted_keys)),
                *(f"{number:,}" for number in (each.missing, each.extra, each.different)),
                "equal" if each.equal else "NOT EQUAL",
            ]
            for each in compared
        ],
    )
    return compared


def _judge(compared: list[Comparison]) -> None:
    unequal = [each.table for each in compared if not each.equal]
    if unequal:
        raise FatalError(
            f"what arrived differs from Postgres in {', '.join(unequal)}",
            hint="run `cdc demo --keep` and look with `cdc status` and `cdc stack logs connect`",
        )
