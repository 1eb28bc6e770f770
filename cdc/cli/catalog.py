"""What `cdc init` sees in a database: its tables, their keys and sizes, from the catalog."""

from collections.abc import Iterator
from contextlib import contextmanager

import psycopg
from psycopg.conninfo import make_conninfo
from psycopg.rows import TupleRow

from cdc.config.starter import FoundTable
from cdc.errors import RetryableError
from connectors.preflight.facts import TableFacts, load_facts
from connectors.preflight.identity import identity_problem
from connectors.preflight.keys import key_problem

CONNECT_TIMEOUT_SECONDS = 10
Connection = psycopg.Connection[TupleRow]

# Partitions come with their root, and tables of an extension are its own business.
TABLES = """
SELECT n.nspname, c.relname, c.reltuples::bigint
FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE c.relkind IN ('r', 'p') AND NOT c.relispartition AND c.relpersistence <> 't'
  AND n.nspname <> 'information_schema' AND n.nspname NOT LIKE 'pg\\_%'
  AND NOT EXISTS (SELECT FROM pg_depend d WHERE d.classid = 'pg_class'::regclass
                  AND d.objid = c.oid AND d.deptype = 'e')
ORDER BY 1, 2
"""
DATABASES = """
SELECT datname FROM pg_database WHERE datallowconn AND NOT datistemplate ORDER BY 1
"""


@contextmanager
def connect(
    *, host: str, port: int, database: str, user: str, password: str, sslmode: str
) -> Iterator[Connection]:
    """Open a session that only reads. Raises RetryableError if the login fails."""
    conninfo = make_conninfo(
        host=host,
        port=port,
        dbname=database,
        user=user,
        password=password,
        sslmode=sslmode,
        connect_timeout=CONNECT_TIMEOUT_SECONDS,
        application_name="cdc init",
        options="-c default_transaction_read_only=on -c search_path=pg_catalog",
    )
    try:
        connection = psycopg.connect(conninfo)
    except psycopg.OperationalError as error:
        raise RetryableError(
            f"cannot log in to Postgres at {host}:{port}/{database} as {user}: "
            f"{str(error).strip()}",
            hint="correct --host, --port, --database, --user or --password",
        ) from None
    with connection:
        yield connection


def tables(connection: Connection) -> list[FoundTable]:
    """Return every table that could be meant, capturable or not."""
    listed = connection.execute(TABLES).fetchall()
    facts = [(load_facts(connection, schema, name), rows) for schema, name, rows in listed]
    return [describe(table, rows) for table, rows in facts if table is not None]


def describe(facts: TableFacts, rows: int) -> FoundTable:
    """Say of a table what the starter file tells, by the same rules as `cdc check`."""
    problems = ((column.name, key_problem(column)[0]) for column in facts.key)
    partitioned = facts.kind == "p"
    return FoundTable(
        schema=facts.schema,
        name=facts.name,
        key=tuple(column.name for column in facts.key),
        # -1: never analyzed.
        rows=rows if rows >= 0 else None,
        bad_key=next((f"key column {name}: {why}" for name, why in problems if why), ""),
        deferrable_key=facts.key_deferrable,
        unlogged=any(member.persistence == "u" for member in facts.members),
        inherited=bool(facts.children),
        needs_full=any(
            identity_problem(member, partitioned=partitioned) for member in facts.members
        ),
    )


def databases(connection: Connection) -> list[str]:
    """Return the databases of the server that take connections."""
    return [str(row[0]) for row in connection.execute(DATABASES)]
