"""The role Debezium logs in as: it may replicate and read the listed tables, and owns nothing.

REPLICATION lets a role read the changes of every table of the database whatever it was granted:
its password is worth the whole database, which is why it is only ever passed on by reference.
"""

from psycopg import sql

from cdc.config import Pipeline, Table
from cdc.endpoints import Endpoints
from connectors.action import Action, Setting, Verb
from connectors.database import (
    Connection,
    admin_session,
    can_log_in,
    execute,
    rows,
    runner,
    table_identifier,
)


def role_action(connection: Connection, endpoints: Endpoints) -> Action:
    """Create the role, or give it what it lacks; never takes anything from an existing one.

    A role that may do too much is refused by the preflight: it may serve someone else as well.
    """
    name = endpoints.capture_user
    target = f"role {name}"
    found = rows(
        connection, "SELECT rolcanlogin, rolreplication FROM pg_roles WHERE rolname = %s", name
    )
    if not found:
        settings = (
            Setting("attributes", None, "LOGIN REPLICATION"),
            Setting("password", None, "(set)"),
        )
        return Action(Verb.CREATE, target, settings, run=lambda: _set(endpoints, create=True))
    lacking = [
        word
        for word, present in zip(("LOGIN", "REPLICATION"), found[0], strict=True)
        if not present
    ]
    changes = [Setting(word, "no", "yes") for word in lacking]
    if not can_log_in(endpoints):
        changes.append(Setting("password", "(another)", "(set)"))
    if not changes:
        return Action(Verb.UNCHANGED, target)
    return Action(Verb.UPDATE, target, tuple(changes), run=lambda: _set(endpoints, create=False))


def grant_actions(connection: Connection, pipeline: Pipeline, endpoints: Endpoints) -> list[Action]:
    """Grant the role the right to connect and to read the listed tables, and nothing else."""
    role = sql.Identifier(endpoints.capture_user)
    exists = bool(
        rows(connection, "SELECT FROM pg_roles WHERE rolname = %s", endpoints.capture_user)
    )
    schemas = sorted({table.schema_name for table in pipeline.tables})
    wanted: list[tuple[str, bool, sql.Composed]] = [
        (
            f"CONNECT on database {endpoints.database}",
            exists and _may_connect(connection, endpoints),
            sql.SQL("GRANT CONNECT ON DATABASE {} TO {}").format(
                sql.Identifier(endpoints.database), role
            ),
        ),
        *(
            (
                f"USAGE on schema {schema}",
                exists and _may_use(connection, endpoints.capture_user, schema),
                sql.SQL("GRANT USAGE ON SCHEMA {} TO {}").format(sql.Identifier(schema), role),
            )
            for schema in schemas
        ),
        *(
            (
                f"SELECT on table {table.name}",
                exists and _may_read(connection, endpoints.capture_user, table),
                sql.SQL("GRANT SELECT ON TABLE {} TO {}").format(table_identifier(table), role),
            )
            for table in pipeline.tables
        ),
    ]
    return [
        Action(Verb.UNCHANGED, f"grant {what}")
        if granted
        else Action(Verb.CREATE, f"grant {what}", run=runner(endpoints, [statement]))
        for what, granted, statement in wanted
    ]


def revoke_statement(endpoints: Endpoints, table: Table) -> sql.Composed:
    """Take back the right to read a table that is no longer captured."""
    return sql.SQL("REVOKE SELECT ON TABLE {} FROM {}").format(
        table_identifier(table), sql.Identifier(endpoints.capture_user)
    )


def _set(endpoints: Endpoints, *, create: bool) -> None:
    with admin_session(endpoints) as connection:
        # Hashed here: the server's log and statistics never see the password.
        verifier = connection.pgconn.encrypt_password(
            endpoints.capture_password.encode(), endpoints.capture_user.encode(), b"scram-sha-256"
        ).decode()
        words = (
            "CREATE ROLE {} WITH LOGIN REPLICATION NOSUPERUSER NOCREATEDB NOCREATEROLE "
            "NOBYPASSRLS PASSWORD {}"
            if create
            else "ALTER ROLE {} WITH LOGIN REPLICATION PASSWORD {}"
        )
        statement = sql.SQL(words).format(sql.Identifier(endpoints.capture_user), verifier)
        execute(connection, statement)


def _may_connect(connection: Connection, endpoints: Endpoints) -> bool:
    query = "SELECT has_database_privilege(%s, current_database(), 'CONNECT')"
    return bool(rows(connection, query, endpoints.capture_user)[0][0])


def _may_use(connection: Connection, role: str, schema: str) -> bool:
    query = "SELECT has_schema_privilege(%s, oid, 'USAGE') FROM pg_namespace WHERE nspname = %s"
    found = rows(connection, query, role, schema)
    return bool(found) and bool(found[0][0])


def _may_read(connection: Connection, role: str, table: Table) -> bool:
    query = """
        SELECT has_table_privilege(%s, c.oid, 'SELECT')
        FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
        WHERE n.nspname = %s AND c.relname = %s
    """
    found = rows(connection, query, role, table.schema_name, table.table_name)
    return bool(found) and bool(found[0][0])
