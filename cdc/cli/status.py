"""`cdc status`: what runs, what has arrived, how far behind."""

from typing import TYPE_CHECKING

import typer

from cdc.cli import session

if TYPE_CHECKING:
    from cdc.output import Output
    from connectors.health import Health

KILO = 1024


def status(context: typer.Context) -> None:
    """Show the connector and its tasks, the topics, and the log kept for the slot.

    A failed task is shown with its whole error. Exit code 1 if anything is not as it should be.
    """
    from dataclasses import asdict  # noqa: PLC0415 - slow

    from connectors.health import read_health  # noqa: PLC0415 - slow

    current = session.of(context)
    pipeline = current.pipeline()
    endpoints = current.endpoints(pipeline)
    with current.out.progress("Asking Connect, Kafka and Postgres"):
        health = read_health(pipeline, endpoints)
    current.out.result({"ok": not health.problems, **asdict(health)})
    _show(current.out, health)
    if health.problems:
        raise typer.Exit(1)


def size(count: int | None) -> str:
    """Say a number of bytes as people do."""
    if count is None:
        return "unknown"
    amount = float(count)
    for unit in ("B", "KiB", "MiB", "GiB"):
        if abs(amount) < KILO:
            return f"{amount:.0f} {unit}" if unit == "B" else f"{amount:.1f} {unit}"
        amount /= KILO
    return f"{amount:.1f} TiB"


def _show(out: "Output", health: "Health") -> None:
    out.line(f"Connector {health.pipeline}: {health.connector or 'none'}", "bold")
    for line in health.trace.splitlines():
        out.line(f"  {line}", "fail")
    for task in health.tasks:
        out.line(f"  task {task.id}: {task.state}", "ok" if task.state == "RUNNING" else "fail")
        for line in task.trace.splitlines():
            out.line(f"    {line}", "fail")
    rows = [
        [topic.name, str(topic.partitions), "missing" if topic.end is None else f"{topic.end:,}"]
        for topic in health.topics
    ]
    if rows:
        out.line("Topics", "bold")
        out.table(["topic", "partitions", "end offset"], rows)
    if health.slot is not None:
        slot = health.slot
        out.line(f"Slot {slot.name}: {'active' if slot.active else 'not active'}", "bold")
        out.line(f"  log kept for it:    {size(slot.retained_bytes)} ({slot.wal_status})")
        out.line(f"  not yet confirmed:  {size(slot.unconfirmed_bytes)}")
    for part, problem in health.problems.items():
        out.line(f"Problem: {part}: {problem}", "fail")
