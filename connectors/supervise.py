"""Wait until a connector really runs; restart what failed; show why it does not.

Connect says RUNNING for a connector whose task has failed, and for a task that fails a second
later: so every task is looked at, several times.
"""

from collections.abc import Callable
from dataclasses import dataclass
from time import monotonic, sleep

from cdc.errors import RetryableError
from connectors.connect import ConnectClient, ConnectError, ConnectorStatus


@dataclass(frozen=True, slots=True)
class Patience:
    """How long to wait, how often to look, how often to restart a failed task."""

    seconds: float = 120.0
    poll_seconds: float = 0.5
    stable_polls: int = 4
    restarts: int = 4
    first_pause: float = 1.0


def wait_running(
    connect: ConnectClient,
    name: str,
    *,
    patience: Patience | None = None,
    progress: Callable[[str], None] = lambda _: None,
) -> ConnectorStatus:
    """Return once the connector and all its tasks have run for several looks in a row.

    Failed tasks are restarted, each time after a longer pause. Raises ConnectError with the
    task's own error when it has failed too often, RetryableError when the time is up.
    """
    limits = patience or Patience()
    deadline = monotonic() + limits.seconds
    stable, restarts, pause = 0, 0, limits.first_pause
    status: ConnectorStatus | None = None
    while monotonic() < deadline:
        status = connect.status(name)
        if status is not None and status.running:
            stable += 1
            if stable >= limits.stable_polls:
                return status
        else:
            stable = 0
        if status is not None and _has_failed(status):
            if restarts >= limits.restarts:
                raise ConnectError(
                    f"connector {name} has failed {restarts + 1} times: {root_cause(status)}",
                    hint="correct the cause and run `cdc apply` again; the whole trace: "
                    f"curl {connect.url}/connectors/{name}/status",
                )
            restarts += 1
            progress(f"{root_cause(status)}; restart {restarts} of {limits.restarts}")
            sleep(pause)
            pause *= 2
            connect.restart(name)
        sleep(limits.poll_seconds)
    raise RetryableError(
        f"connector {name} did not run within {limits.seconds:.0f} s: {describe(status)}",
        hint="see the worker's log: `cdc stack logs connect`",
    )


def describe(status: ConnectorStatus | None) -> str:
    """Say in one line how a connector is."""
    if status is None:
        return "there is no such connector"
    if _has_failed(status):
        return f"failed: {root_cause(status)}"
    tasks = ", ".join(f"task {task.id} {task.state}" for task in status.tasks) or "no task yet"
    return f"connector {status.state}, {tasks}"


def root_cause(status: ConnectorStatus) -> str:
    """Return the line of a failed connector's trace that says what really went wrong."""
    traces = [task.trace for task in status.failed]
    if status.state == "FAILED":
        traces.append(status.trace)
    return innermost(next((trace for trace in traces if trace), ""))


def innermost(trace: str) -> str:
    """Return the last cause of a Java stack trace: the first line if there is no `Caused by`.

    The outer ones only say that a task was stopped by an exception.
    """
    causes = [line.strip() for line in trace.splitlines() if line and not line[0].isspace()]
    for line in reversed(causes):
        if line.startswith("Caused by: "):
            return line.removeprefix("Caused by: ")
    return causes[0] if causes else "no trace was given"


def _has_failed(status: ConnectorStatus) -> bool:
    return status.state == "FAILED" or bool(status.failed)
