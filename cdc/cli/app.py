"""The command tree and its help: which commands there are, in the order one needs them."""

from pathlib import Path
from typing import Annotated

import typer

from cdc.cli import config, demo, init, source, stack, status
from cdc.cli.session import Session
from cdc.output import Output

HELP = """Keep a search index, a cache and a warehouse in sync with Postgres.

Postgres is the only place anyone writes. Every committed change is captured into one compacted
Kafka topic per table; the views you declare in pipeline.yaml are kept in sync from there, and can
be thrown away and rebuilt at any time.

\b
The usual order:
  cdc stack up      start Postgres, Kafka, Connect, OpenSearch and Redis on this
                    machine, without Docker (or use your own: `cdc init --host`)
  cdc init          look at a database and write a starter pipeline.yaml
  cdc check         is everything as it must be? each failure names its fix
  cdc plan          show what would be created or changed, and change nothing
  cdc apply         do it, and wait until changes flow
  cdc status        what runs, what has arrived, how far behind

\b
Examples:
  cdc stack up && cdc init --database shop && cdc apply
  cdc init --host db.example.com --database shop --user postgres
  cdc -f staging.yaml plan
  cdc status --json
  cdc stack logs connect -n 50
"""
EPILOG = "Exit codes: 0 done, 1 failed, 2 wrong arguments or configuration, 130 interrupted."

app = typer.Typer(
    name="cdc",
    help=HELP,
    epilog=EPILOG,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)


def _print_version(wanted: bool) -> None:  # noqa: FBT001 - a callback's signature
    if wanted:
        from importlib.metadata import version  # noqa: PLC0415 - rarely needed

        typer.echo(f"cdc {version('cdc-pipeline')}")
        raise typer.Exit


@app.callback()
def common(
    context: typer.Context,
    file: Annotated[
        Path, typer.Option("--file", "-f", metavar="PATH", help="The pipeline file.")
    ] = Path("pipeline.yaml"),
    state_dir: Annotated[
        Path | None,
        typer.Option(
            "--state-dir",
            metavar="DIR",
            envvar="CDC_STATE_DIR",
            help="Where the embedded stack keeps its data. Default: one per working directory.",
        ),
    ] = None,
    *,
    json: Annotated[bool, typer.Option("--json", help="Print results and errors as JSON.")] = False,
    debug: Annotated[bool, typer.Option("--debug", help="Show a traceback with an error.")] = False,
    version: Annotated[
        bool,
        typer.Option(
            "--version", help="Print the version.", callback=_print_version, is_eager=True
        ),
    ] = False,
) -> None:
    """Collect what all commands share."""
    from cdc.stack.paths import default_state_dir  # noqa: PLC0415 - keep the tree light

    del debug, version
    context.obj = Session(
        file=file,
        state_dir=(state_dir or default_state_dir()).expanduser().absolute(),
        out=Output(as_json=json),
    )


# Short enough for one line in 80 columns each.
app.command("init", help=init.HELP, short_help="Look at a database, write pipeline.yaml.")(
    init.init
)
app.command("check", short_help="Check that everything is as it must be.")(source.check)
app.command("plan", short_help="Show what `cdc apply` would change.")(source.plan)
app.command("apply", short_help="Create and change what the plan shows.")(source.apply)
app.command("status", short_help="Show what runs and what has arrived.")(status.status)
app.command("demo", short_help="Show it all on a sample shop.")(demo.demo)
app.add_typer(stack.app, name="stack", short_help="Run all services on this machine.")
app.add_typer(config.app, name="config", short_help="Check pipeline.yaml; its JSON schema.")
