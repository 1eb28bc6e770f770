"""Checks whether the administrator's role may do what `cdc apply` has to do."""

from connectors.preflight.context import Context
from connectors.preflight.result import Finding, Findings, fail, ok

# From here on a role may only give away REPLICATION if it has it itself.
INHERITED_ATTRIBUTES = 160000
PARAMETER_PRIVILEGES = 150000


def check_admin(context: Context) -> Findings:
    """Check that the administrator may create the role, the publication and the triggers."""
    user = context.endpoints.admin_user
    superuser, may_create_roles, may_replicate = context.rows(
        "SELECT rolsuper, rolcreaterole, rolreplication FROM pg_roles WHERE rolname = current_user"
    )[0]
    if superuser:
        yield ok(f"{user} is a superuser")
        return
    problems = [
        *_roles(context, may_create_roles=may_create_roles, may_replicate=may_replicate),
        *_objects(context),
        *_triggers(context),
    ]
    yield from problems or [ok(f"{user} has the privileges it needs")]


def _roles(context: Context, *, may_create_roles: bool, may_replicate: bool) -> list[Finding]:
    user, capture = context.endpoints.admin_user, context.endpoints.capture_user
    exists = context.rows("SELECT FROM pg_roles WHERE rolname = %s", capture)
    found = []
    if not exists and not may_create_roles:
        found.append(
            fail(
                f"{user} may not create role {capture}",
                context.statement("ALTER ROLE {} CREATEROLE", user),
            )
        )
    old = context.postgres.info.server_version < INHERITED_ATTRIBUTES
    if not exists and (old or not may_replicate):
        found.append(
            fail(
                f"{user} may not create a role that replicates",
                context.statement("CREATE ROLE {} LOGIN REPLICATION", capture)
                + "; -- as a superuser"
                if old
                else context.statement("ALTER ROLE {} REPLICATION", user),
            )
        )
    return found


def _objects(context: Context) -> list[Finding]:
    user, database = context.endpoints.admin_user, context.endpoints.database
    found = []
    if not context.value("SELECT has_database_privilege(current_database(), 'CREATE')"):
        found.append(
            fail(
                f"{user} may not create a schema and a publication in database {database}",
                context.statement("GRANT CREATE ON DATABASE {} TO {}", database, user),
            )
        )
    for facts in context.tables.values():
        if facts is None:
            continue
        query = "SELECT pg_has_role(relowner, 'USAGE') FROM pg_class WHERE oid = %s"
        if not context.value(query, facts.oid):
            owner = context.value(
                "SELECT relowner::regrole::text FROM pg_class WHERE oid = %s", facts.oid
            )
            found.append(
                fail(
                    f"{user} does not own table {facts.schema}.{facts.name}, and only an owner may "
                    "publish it and give it a trigger",
                    f"GRANT {owner} TO {context.statement('{}', user)}",
                )
            )
    return found


def _triggers(context: Context) -> list[Finding]:
    if all(table.on_truncate == "refuse" for table in context.pipeline.tables):
        return []
    user = context.endpoints.admin_user
    known = context.postgres.info.server_version >= PARAMETER_PRIVILEGES
    if known and context.value("SELECT has_parameter_privilege('session_replication_role', 'SET')"):
        return []
    grant = context.statement("GRANT SET ON PARAMETER session_replication_role TO {}", user)
    other = "set `on_truncate: refuse` at the tables in pipeline.yaml"
    return [
        fail(
            f"{user} may not turn TRUNCATE into deletions, which needs session_replication_role",
            f"{grant}; -- or {other}" if known else f"use a superuser, or {other}",
        )
    ]
