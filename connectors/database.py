"""Sessions with the source database, with our own errors.

Every statement is composed with `psycopg.sql`: names come from files and catalogs, and a table may
be called anything.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import psycopg
from psycopg import sql
from psycopg.rows import TupleRow

from cdc.config import Table
from cdc.endpoints import Endpoints
from cdc.errors import FatalError, RetryableError

Connection = psycopg.Connection[TupleRow]


@contextmanager
def admin_session(endpoints: Endpoints) -> Iterator[Connection]:
    """Log in as the administrator; each statement is its own transaction unless grouped."""
    try:
        connection = psycopg.connect(endpoints.admin_conninfo(), autocommit=True)
    except psycopg.OperationalError as error:
        raise login_error(error, endpoints, endpoints.admin_user) from error
    with connection:
        # Catalog look-ups must not depend on what the role or the database has set.
        connection.execute("SET search_path = pg_catalog")
        yield connection


def login_error(error: psycopg.OperationalError, endpoints: Endpoints, user: str) -> RetryableError:
    """Say where and as whom the login failed; libpq's message never holds the password."""
    where = f"{endpoints.postgres_host}:{endpoints.postgres_port}/{endpoints.database}"
    return RetryableError(
        f"cannot log in to Postgres at {where} as {user}: {str(error).strip()}",
        hint="start it with `cdc stack up`, or correct `source` in pipeline.yaml; try: "
        f"psql -h {endpoints.postgres_host} -p {endpoints.postgres_port} -U {user} "
        f"-d {endpoints.database}",
    )


def can_log_in(endpoints: Endpoints) -> bool:
    """Whether the capture role can log in with its password, asked without reading any hash."""
    try:
        with psycopg.connect(endpoints.capture_conninfo()):
            return True
    except psycopg.OperationalError:
        return False


def rows(connection: Connection, query: sql.SQL | sql.Composed | str, *values: Any) -> list[Any]:
    """Run a query and return its rows."""
    text = sql.SQL(query) if isinstance(query, str) else query
    return connection.execute(text, values).fetchall()


def qualified(schema: str, name: str) -> sql.Identifier:
    """Quote a name with its schema."""
    return sql.Identifier(schema, name)


def table_identifier(table: Table) -> sql.Identifier:
    """Quote a table of the pipeline."""
    return qualified(table.schema_name, table.table_name)


def runner(endpoints: Endpoints, statements: Sequence[sql.Composable]) -> Callable[[], None]:
    """Return a function that runs the statements as the administrator, all or none."""

    def run() -> None:
        with admin_session(endpoints) as connection, connection.transaction():
            for statement in statements:
                execute(connection, statement)

    return run


def execute(connection: Connection, statement: sql.Composable) -> None:
    """Run one statement. Raises FatalError with the server's words and the statement."""
    try:
        connection.execute(statement if isinstance(statement, sql.Composed) else _one(statement))
    except psycopg.errors.InsufficientPrivilege as error:
        raise FatalError(
            f"{_first_line(error)} (in: {shown(statement)})",
            hint="let `source.admin_user` be a role that owns the tables and may create roles, "
            "or run the statement as one",
        ) from error
    except psycopg.Error as error:
        raise FatalError(
            f"Postgres refused: {_first_line(error)} (in: {shown(statement)})",
            hint="run `cdc check`, which names what is in the way",
        ) from error


def shown(statement: sql.Composable) -> str:
    """Render a statement for a message, without the verifier of a password."""
    head, word, _ = statement.as_string(None).partition(" PASSWORD ")
    return f"{head}{word}'…'" if word else head


def _one(statement: sql.Composable) -> sql.Composed:
    return sql.Composed([statement])


def _first_line(error: psycopg.Error) -> str:
    return error.diag.message_primary or str(error).strip().partition("\n")[0]
