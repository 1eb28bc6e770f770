"""`cdc init`: look at a database and write a starter pipeline.yaml."""

from typing import TYPE_CHECKING, Annotated, get_args

import typer

from cdc.cli import session
from cdc.errors import ConfigError, FatalError

if TYPE_CHECKING:
    from cdc.cli.session import Session
    from cdc.config.starter import FoundDatabase, FoundTable

PASSWORD = "env:PGPASSWORD"  # noqa: S105 - a reference


HELP = """Look at a database and write a commented starter pipeline.yaml.

Tables with a primary key are listed; others are commented out, with the reason. Nothing is
changed in the database. Without --host, port, user and password are those of the stack.

\b
cdc init --database shop
PGPASSWORD=… cdc init --host db.example.com --database shop --user postgres
"""


def init(
    context: typer.Context,
    *,
    host: Annotated[
        str | None,
        typer.Option(metavar="HOST", help="Your Postgres. Default: the one of `cdc stack up`."),
    ] = None,
    port: Annotated[int, typer.Option(metavar="PORT", min=1, max=65535, help="Its port.")] = 5432,
    database: Annotated[
        str, typer.Option(metavar="NAME", help="The database to look at.")
    ] = "postgres",
    user: Annotated[
        str,
        typer.Option(metavar="ROLE", help="The role to look as; the `admin_user` in the file."),
    ] = "postgres",
    password: Annotated[
        str, typer.Option(metavar="REF", help="Where its password is: env:NAME or file:/path.")
    ] = PASSWORD,
    sslmode: Annotated[
        str, typer.Option(metavar="MODE", help="As in libpq: disable, prefer, require, …")
    ] = "prefer",
    name: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Name of the pipeline. Default: from the database's."),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace an existing file.")] = False,
) -> None:
    """Look at a database and write a starter file."""
    from cdc.cli import catalog  # noqa: PLC0415 - slow
    from cdc.config import load, starter  # noqa: PLC0415 - slow
    from cdc.config.source import SslMode  # noqa: PLC0415 - slow

    current = session.of(context)
    if current.file.exists() and not force:
        raise ConfigError(
            f"{current.file} exists already",
            hint="cdc init --force replaces it; -f OTHER.yaml writes another",
        )
    if sslmode not in get_args(SslMode):
        raise ConfigError(
            f"there is no sslmode {sslmode}", hint=f"one of {', '.join(get_args(SslMode))}"
        )
    if host is None:
        stack = current.stack_addresses("postgres")
        host_, port, user, secret = (
            stack.postgres_host,
            stack.postgres_port,
            stack.postgres_admin_user,
            stack.postgres_admin_password,
        )
    else:
        host_, secret = host, _resolve(password)
    found = starter.FoundDatabase(database, host, port, user, password, sslmode)
    with catalog.connect(
        host=host_, port=port, database=database, user=user, password=secret, sslmode=sslmode
    ) as connection:
        tables = catalog.tables(connection)
        others = [other for other in catalog.databases(connection) if other != database]
    _refuse_nothing_to_capture(database, tables, others)
    text = starter.starter(name or starter.pipeline_name(database), found, tables)
    # An option may hold what the file may not (`--name Shop`): say so before writing.
    load.parse_pipeline(text, str(current.file))
    _write(current, text)
    _report(current, found, tables)


def _resolve(reference: str) -> str:
    from pydantic import ValidationError  # noqa: PLC0415 - slow

    from cdc.config import Secret  # noqa: PLC0415 - slow

    try:
        secret = Secret(reference)
    except ValidationError:
        raise ConfigError(
            "--password takes a reference, never the password itself",
            hint="--password env:PGPASSWORD or --password file:/path",
        ) from None
    return secret.resolve()


def _refuse_nothing_to_capture(
    database: str, tables: "list[FoundTable]", others: list[str]
) -> None:
    if any(not table.obstacle() for table in tables):
        return
    if tables:
        reasons = "; ".join(f"{table.full_name}: {table.obstacle()}" for table in tables)
        raise FatalError(
            f"no table of database {database} can be captured ({reasons})",
            hint="give a table a primary key: ALTER TABLE … ADD PRIMARY KEY (…)",
        )
    elsewhere = f"; this server also has: {', '.join(others)}" if others else ""
    raise FatalError(
        f"database {database} has no tables{elsewhere}",
        hint="cdc init --database NAME" if others else "create the tables first",
    )


def _write(current: "Session", text: str) -> None:
    try:
        current.file.write_text(text, "utf-8")
    except OSError as error:
        raise ConfigError(
            f"cannot write {current.file}: {error.strerror}", hint="-f PATH names another file"
        ) from None


def _report(current: "Session", found: "FoundDatabase", tables: "list[FoundTable]") -> None:
    out = current.out
    left_out = {table.full_name: table.obstacle() for table in tables if table.obstacle()}
    listed = [table.full_name for table in tables if not table.obstacle()]
    out.result({"file": str(current.file), "tables": listed, "left_out": left_out})
    out.line(f"Wrote {current.file}: {len(listed)} of {len(tables)} tables.", "ok")
    for name, reason in left_out.items():
        out.line(f"  left out {name}: {reason}", "warn")
    if found.host is not None:
        out.line("Set the password that the capturing role shall have:")
        out.line("  export CDC_SOURCE_PASSWORD=…")
    out.line("Next: read the file, then `cdc check`.")
