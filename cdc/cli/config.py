"""`cdc config`: check pipeline.yaml, and the JSON schema that editors check it with."""

from typing import TYPE_CHECKING

import typer

from cdc.cli import session
from cdc.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cdc.config import Pipeline

SCHEMA_HELP = """Print the JSON schema of pipeline.yaml, for completion and checks in an editor.

\b
cdc config schema > pipeline.schema.json
# and as the first line of pipeline.yaml:
# yaml-language-server: $schema=pipeline.schema.json
"""

app = typer.Typer(
    help="Check pipeline.yaml, or print its JSON schema.",
    rich_markup_mode=None,
)


@app.command(short_help="Check pipeline.yaml alone.")
def check(context: typer.Context) -> None:
    """Check pipeline.yaml alone, without connecting to anything.

    Every problem in the file is reported with its line; secrets that cannot be read here are
    named. `cdc check` goes on from here and looks at the real Postgres, Kafka and Connect.
    """
    current = session.of(context)
    pipeline = current.pipeline()
    current.out.result(pipeline.model_dump(mode="json"))
    for where, error in _unreadable_secrets(pipeline):
        current.out.note(f"Note: {where}: {error.message}; {error.hint}")
    current.out.line(
        f"{current.file} is valid: pipeline {pipeline.name}, {len(pipeline.tables)} tables, "
        f"{len(pipeline.views)} views, {len(pipeline.sinks)} sinks.",
        "ok",
    )


@app.command(help=SCHEMA_HELP, short_help="Print the JSON schema, for editors.")
def schema(context: typer.Context) -> None:
    """Print the JSON schema, with and without --json."""
    from cdc.config.schema import pipeline_schema  # noqa: PLC0415 - slow
    from cdc.output import Output  # noqa: PLC0415 - only here

    session.of(context)
    Output(as_json=True).result(pipeline_schema())


def _unreadable_secrets(pipeline: "Pipeline") -> "Iterator[tuple[str, ConfigError]]":
    """Yield the secrets that this shell cannot read. No failure: another machine may run it."""
    from cdc.config import Secret  # noqa: PLC0415 - slow

    holders = {"source": pipeline.source} | {f"sinks.{k}": v for k, v in pipeline.sinks.items()}
    for name, holder in holders.items():
        for key, value in holder:
            if isinstance(value, Secret):
                try:
                    value.resolve()
                except ConfigError as error:
                    yield f"{name}.{key}", error
