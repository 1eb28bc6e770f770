"""`cdc check`, `cdc plan` and `cdc apply`: from pipeline.yaml to changes that flow."""

from collections import Counter
from typing import TYPE_CHECKING, Annotated

import typer

from cdc.cli import session

if TYPE_CHECKING:
    from connectors.plan import Plan


def check(context: typer.Context) -> None:
    """Check that everything is as it must be, and change nothing.

    Looks at pipeline.yaml, Postgres, Kafka and Connect. Each failing check names the command that
    fixes it. Exit code 1 if one fails; warnings are no failure.
    """
    from connectors.preflight import run_checks  # noqa: PLC0415 - slow

    current = session.of(context)
    pipeline = current.pipeline()
    endpoints = current.endpoints(pipeline)
    out = current.out
    with out.progress("Checking"):
        results = run_checks(pipeline, endpoints)
    failed = [result for result in results if result.outcome == "fail"]
    out.result(
        {
            "ok": not failed,
            "checks": [result.as_dict() for result in results],
        }
    )
    for result in results:
        out.line(f"{result.outcome.value:4}  {result.name}: {result.message}", result.outcome.value)
        if result.fix and result.outcome != "ok":
            out.line(f"      fix: {result.fix}")
    counts = Counter(result.outcome.value for result in results)
    out.line(", ".join(f"{count} {outcome}" for outcome, count in counts.items()))
    if failed:
        raise typer.Exit(1)
    out.line("Next: `cdc plan`.")


def plan(
    context: typer.Context,
    *,
    everything: Annotated[
        bool, typer.Option("--all", help="Also list what is as it shall be.")
    ] = False,
) -> None:
    """Show what `cdc apply` would create or change, and change nothing.

    `+` would be created, `~` changed, `-` removed, `!` is refused and needs your hand.
    """
    current = session.of(context)
    made = _make_plan(current)
    out = current.out
    out.result(
        {
            "changes": len(made.changes),
            "refused": len(made.refused),
            "actions": [action.as_dict() for action in made.actions],
        }
    )
    for line in made.lines(everything=everything):
        out.line(line)
    if made.refused:
        raise typer.Exit(1)


def apply(context: typer.Context) -> None:
    """Check, do what `cdc plan` shows, and wait until the connector runs.

    Nothing is created unless every check passes. May be repeated: what is there already stays.
    """
    from connectors.plan import apply_plan  # noqa: PLC0415 - slow

    current = session.of(context)
    made = _make_plan(current)
    out = current.out
    with out.progress("Applying", total=len(made.changes) or None) as steps:
        done = apply_plan(made, steps.say)
    out.result({"done": [action.as_dict() for action in done]})
    for action in done:
        out.line(f"{action.verb.value} {action.target}", "ok")
    summary = f"{len(done)} changes applied" if done else "Nothing to change"
    out.line(f"{summary}; connector {made.pipeline.name} is running. Next: `cdc status`.", "ok")


def _make_plan(current: session.Session) -> "Plan":
    from connectors.plan import make_plan  # noqa: PLC0415 - slow

    pipeline = current.pipeline()
    endpoints = current.endpoints(pipeline)
    with current.out.progress("Comparing pipeline.yaml with what is there"):
        return make_plan(pipeline, endpoints)
