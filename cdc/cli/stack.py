"""`cdc stack`: the embedded stack, started, stopped and looked at."""

from typing import TYPE_CHECKING, Annotated

import typer

from cdc.cli import session
from cdc.errors import ConfigError, FatalError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from cdc.stack.stack import Stack

BAD_STATES = ("dead", "not ready")

app = typer.Typer(
    help="Run Postgres, Kafka, Connect, OpenSearch and Redis on this machine, without Docker.",
    rich_markup_mode=None,
)
Services = Annotated[
    list[str] | None, typer.Argument(metavar="[SERVICE]...", help="Only these services.")
]


@app.command(short_help="Start what is not running, wait until it is ready.")
def up(context: typer.Context, services: Services = None) -> None:
    """Start what is not running, and wait until all of it is ready. Does no harm when repeated.

    What was killed is started anew, with its data. Services that pipeline.yaml gives an address
    for are not started. The first time, programs are downloaded and checked against pinned sums.
    """
    current = session.of(context)
    stack = _stack(current)
    chosen = _wanted(current, services or ())
    out = current.out
    if not chosen:
        out.result({"started": []})
        out.line(f"{current.file} gives an address for every service: nothing to start.")
        return
    with out.progress("Starting the stack") as steps:
        stack.up(
            chosen,
            report=lambda service, state: steps.say(f"{service}: {state}"),
            fetch_progress=lambda done, total: steps.count(done, total, "files downloaded"),
        )
    out.result({"started": list(chosen)})
    out.line(f"Ready: {', '.join(chosen)}.", "ok")
    if not current.file.exists():
        out.line("Next: `cdc init --database NAME`.")


@app.command(short_help="Stop everything; the data stays.")
def down(context: typer.Context) -> None:
    """Stop everything that was started here. The data stays. Does no harm when repeated."""
    current = session.of(context)
    with current.out.progress("Stopping the stack") as steps:
        _stack(current).down(report=lambda service, state: steps.say(f"{service}: {state}"))
    current.out.result({"state_dir": str(current.state_dir), "stopped": True})
    current.out.line("Stopped; the data stays.", "ok")


@app.command(short_help="Show which services run, and whether they are ready.")
def status(context: typer.Context) -> None:
    """Show which services run, where, and whether they are ready.

    Exit code 1 if one has died or does not answer; `cdc stack up` heals it.
    """
    from cdc.stack.stack import as_json  # noqa: PLC0415 - slow

    current = session.of(context)
    found = _stack(current).status()
    bad = [each for each in found if each.state in BAD_STATES]
    current.out.result(
        {"ok": not bad, "state_dir": str(current.state_dir), "services": as_json(found)}
    )
    rows = [
        [
            each.name,
            each.version,
            each.state,
            _or_dash(each.port),
            _or_dash(each.pid),
            f"{each.memory_mb} MB" if each.memory_mb is not None else "-",
            each.detail,
        ]
        for each in found
    ]
    columns = ["service", "version", "state", "port", "pid", "memory", "detail"]
    current.out.table(columns, rows)
    if bad:
        current.out.line("Heal it with `cdc stack up`.", "fail")
        raise typer.Exit(1)


@app.command(short_help="Print the end of a service's log.")
def logs(
    context: typer.Context,
    service: Annotated[str, typer.Argument(metavar="SERVICE", help="Whose log.")],
    lines: Annotated[
        int, typer.Option("--lines", "-n", metavar="N", min=0, help="How many, from the end.")
    ] = 100,
    *,
    follow: Annotated[
        bool, typer.Option("--follow", "-f", help="Go on with what is added, until Ctrl-C.")
    ] = False,
) -> None:
    """Print the end of a service's log: postgres, kafka, connect, opensearch or redis."""
    from cdc.cli.logs import tail  # noqa: PLC0415 - only here

    current = session.of(context)
    _refuse_unknown([service])
    path = _stack(current).log_file(service)
    if not path.exists():
        raise FatalError(f"{service} has never run here, so it has no log", hint="cdc stack up")
    last = tail(path, lines)
    if not follow:
        current.out.result({"service": service, "log": str(path), "lines": last})
    for line in last:
        current.out.line(line)
    if follow:
        _follow(current, path)


@app.command(short_help="Stop everything and delete its data.")
def reset(
    context: typer.Context,
    *,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
) -> None:
    """Stop everything and delete all data of this stack: databases, topics, indexes.

    Downloaded programs stay in the cache.
    """
    current = session.of(context)
    if not yes:
        typer.confirm(f"Delete all data below {current.state_dir}?", abort=True, err=True)
    with current.out.progress("Removing the stack") as steps:
        _stack(current).reset(report=lambda service, state: steps.say(f"{service}: {state}"))
    current.out.result({"state_dir": str(current.state_dir), "removed": True})
    current.out.line(f"Removed the stack in {current.state_dir}.", "ok")


@app.command(short_help="Download the programs, start nothing.")
def fetch(context: typer.Context, services: Services = None) -> None:
    """Download what the services are made of, checked against pinned sums, and start nothing."""
    current = session.of(context)
    _refuse_unknown(services or ())
    with current.out.progress("Downloading") as steps:
        count = _stack(current).fetch(
            lambda done, total: steps.count(done, total, "files downloaded"), services or ()
        )
    current.out.result({"fetched": count})
    current.out.line(f"{count} files downloaded." if count else "Everything is there.", "ok")


@app.command(short_help="Pin the programs anew (for maintainers).")
def lock(context: typer.Context) -> None:
    """Pin the programs anew, after a version was changed in cdc/stack/versions.py.

    Resolves them and what they depend on, and writes coordinates and SHA-256 sums to
    cdc/stack/artifacts.lock. Takes some minutes.
    """
    from cdc.stack.lock import write_lock  # noqa: PLC0415 - only here

    out = session.of(context).out
    with out.progress("Resolving") as steps:
        count = write_lock(progress=steps.say)
    out.result({"pinned": count})
    out.line(f"{count} files pinned.", "ok")


def _stack(current: session.Session) -> "Stack":
    from cdc.stack.stack import Stack  # noqa: PLC0415 - slow

    return Stack(current.state_dir)


def _wanted(current: session.Session, named: "Sequence[str]") -> "Sequence[str]":
    from cdc.endpoints import external_services  # noqa: PLC0415 - slow
    from cdc.stack.stack import all_services  # noqa: PLC0415 - slow

    _refuse_unknown(named)
    if named:
        return named
    elsewhere = external_services(current.pipeline()) if current.file.exists() else []
    return [name for name in all_services() if name not in elsewhere]


def _refuse_unknown(names: "Sequence[str]") -> None:
    from cdc.stack.stack import all_services  # noqa: PLC0415 - slow

    known = list(all_services())
    for name in names:
        if name not in known:
            raise ConfigError(
                f"there is no service called {name}", hint=f"one of {', '.join(known)}"
            )


def _follow(current: session.Session, path: "Path") -> None:
    from cdc.cli.logs import follow  # noqa: PLC0415 - only here

    try:
        for line in follow(path):
            if current.out.as_json:
                current.out.result(line)
            current.out.line(line)
    except KeyboardInterrupt:
        # How one stops following; nothing was interrupted.
        return


def _or_dash(value: int | None) -> str:
    return "-" if value is None else str(value)
