"""Checks whether the role the connector logs in as has no more than it needs."""

from connectors.database import can_log_in
from connectors.preflight.context import Context
from connectors.preflight.result import Finding, Findings, fail, ok, skip, warn

ATTRIBUTES = (
    ("is a superuser", "NOSUPERUSER"),
    ("may create roles", "NOCREATEROLE"),
    ("may create databases", "NOCREATEDB"),
    ("bypasses row security", "NOBYPASSRLS"),
)
_OWNED = """
SELECT what FROM (
  SELECT 'table ' || oid::regclass::text FROM pg_class WHERE relowner = %(role)s::regrole
  UNION ALL SELECT 'schema ' || nspname FROM pg_namespace WHERE nspowner = %(role)s::regrole
  UNION ALL SELECT 'database ' || datname FROM pg_database WHERE datdba = %(role)s::regrole
  UNION ALL SELECT 'function ' || oid::regproc::text FROM pg_proc WHERE proowner = %(role)s::regrole
  UNION ALL SELECT 'publication ' || pubname FROM pg_publication WHERE pubowner = %(role)s::regrole
) owned(what) ORDER BY 1 LIMIT 5
"""
_WRITABLE = """
SELECT n.nspname, c.relname FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE c.relkind IN ('r', 'p') AND n.nspname NOT IN ('pg_catalog', 'information_schema')
  AND n.nspname NOT LIKE 'pg\\_%%'
  AND has_table_privilege(%s, c.oid, 'INSERT, UPDATE, DELETE, TRUNCATE, TRIGGER')
ORDER BY 1, 2 LIMIT 5
"""
_READABLE = """
SELECT n.nspname, c.relname FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE c.relkind IN ('r', 'p', 'v', 'm', 'f') AND n.nspname NOT LIKE 'pg\\_%%'
  AND n.nspname <> 'information_schema' AND NOT c.relispartition
  AND has_table_privilege(%s, c.oid, 'SELECT')
  AND NOT n.nspname || '.' || c.relname = ANY(%s)
  AND NOT EXISTS (SELECT FROM pg_publication_rel WHERE prrelid = c.oid)
ORDER BY 1, 2 LIMIT 5
"""
_OTHER_SLOTS = """
SELECT s.slot_name FROM pg_replication_slots s JOIN pg_stat_activity a ON a.pid = s.active_pid
WHERE a.usename = %s AND s.slot_name <> %s ORDER BY 1
"""


def check_capture_role(context: Context) -> Findings:
    """Check that the role owns nothing, writes nothing and rules nobody."""
    role = context.endpoints.capture_user
    if role == context.endpoints.admin_user:
        yield fail(
            f"{role} is both the administrator and the role that captures",
            "set `admin_user` and `admin_password` under `source` in pipeline.yaml",
        )
        return
    if not context.rows("SELECT FROM pg_roles WHERE rolname = %s", role):
        yield ok(f"{role} does not exist yet; apply creates it")
        return
    attributes = _attributes(context, role)
    if any("superuser" in finding.message for finding in attributes):
        # Everything else would follow from this one.
        yield from attributes
        return
    problems = [*attributes, *_memberships(context, role), *_owned(context, role)]
    problems += [*_writable(context, role), *_schemas(context, role), *_readable(context, role)]
    yield from problems or [ok(f"{role} owns nothing and may only read")]


def check_row_security(context: Context) -> Findings:
    """Check that no policy hides rows from the snapshot; the log shows all of them."""
    role = context.endpoints.capture_user
    guarded = [facts for facts in context.tables.values() if facts and facts.row_security]
    if not guarded:
        yield ok("no captured table has row security")
        return
    for facts in guarded:
        name = f"{facts.schema}.{facts.name}"
        query = """SELECT polpermissive, pg_get_expr(polqual, polrelid) FROM pg_policy
                   WHERE polrelid = %s AND polcmd IN ('r', '*')
                   AND (0 = ANY(polroles) OR to_regrole(%s)::oid = ANY(polroles))"""
        quoted = context.statement("{}", role)
        policies = context.rows(query, facts.oid, quoted)
        opened = any(permissive and qual == "true" for permissive, qual in policies)
        narrowed = any(not permissive for permissive, _ in policies)
        if opened and not narrowed:
            yield ok(f"a policy shows every row of {name} to {role}")
        else:
            policy = f"CREATE POLICY cdc ON {facts.quoted} FOR SELECT TO {quoted} USING (true)"
            exists = context.rows("SELECT FROM pg_roles WHERE rolname = %s", role)
            others = "; -- and exempt the role from the restrictive policies" if narrowed else ""
            yield fail(
                f"row security of {name} hides rows from {role}: the snapshot would miss them",
                (policy if exists else f"CREATE ROLE {quoted}; {policy}") + others,
            )


def _attributes(context: Context, role: str) -> list[Finding]:
    flags = context.rows(
        """SELECT rolsuper, rolcreaterole, rolcreatedb, rolbypassrls
           FROM pg_roles WHERE rolname = %s""",
        role,
    )[0]
    return [
        fail(f"{role} {what}", context.statement(f"ALTER ROLE {{}} {word}", role))
        for (what, word), on in zip(ATTRIBUTES, flags, strict=True)
        if on
    ]


def _memberships(context: Context, role: str) -> list[Finding]:
    query = """SELECT g.rolname FROM pg_auth_members m JOIN pg_roles g ON g.oid = m.roleid
               JOIN pg_roles r ON r.oid = m.member WHERE r.rolname = %s ORDER BY 1"""
    return [
        fail(
            f"{role} is a member of {group} and has its privileges too",
            context.statement("REVOKE {} FROM {}", group, role),
        )
        for (group,) in context.rows(query, role)
    ]


def _owned(context: Context, role: str) -> list[Finding]:
    quoted = context.statement("{}", role)
    owned = [what for (what,) in context.postgres.execute(_OWNED, {"role": quoted}).fetchall()]
    if not owned:
        return []
    heir = context.endpoints.admin_user
    return [
        fail(
            f"{role} owns {', '.join(owned)}",
            context.statement("REASSIGN OWNED BY {} TO {}", role, heir),
        )
    ]


def _writable(context: Context, role: str) -> list[Finding]:
    return [
        fail(
            f"{role} may change table {schema}.{table}",
            context.statement(
                "REVOKE INSERT, UPDATE, DELETE, TRUNCATE, TRIGGER ON {}.{} FROM {}",
                schema,
                table,
                role,
            )
            + "; -- and from PUBLIC, if everyone may",
        )
        for schema, table in context.rows(_WRITABLE, role)
    ]


def _schemas(context: Context, role: str) -> list[Finding]:
    query = """SELECT nspname FROM pg_namespace WHERE nspname NOT LIKE 'pg\\_%%'
               AND has_schema_privilege(%s, oid, 'CREATE') ORDER BY 1"""
    # Until Postgres 14 everyone may create in `public`: common, and not this role's fault.
    return [
        warn(
            f"{role} may create objects in schema {schema}",
            context.statement("REVOKE CREATE ON SCHEMA {} FROM {}, PUBLIC", schema, role),
        )
        for (schema,) in context.rows(query, role)
    ]


def _readable(context: Context, role: str) -> list[Finding]:
    listed = [table.name for table in context.pipeline.tables]
    return [
        warn(
            f"{role} may also read {schema}.{table}",
            context.statement("REVOKE SELECT ON {}.{} FROM {}, PUBLIC", schema, table, role),
        )
        for schema, table in context.rows(_READABLE, role, listed)
    ]


def check_login(context: Context) -> Findings:
    """Check that an existing role is not locked out; a wrong password is set by apply.

    Unless another connector logs in with the old one: it would fail when it next reconnects.
    """
    role = context.endpoints.capture_user
    query = "SELECT rolvaliduntil < now() FROM pg_roles WHERE rolname = %s"
    found = context.rows(query, role)
    if not found:
        yield skip(f"{role} does not exist yet")
        return
    if found[0][0]:
        yield fail(
            f"the password of {role} has expired",
            context.statement("ALTER ROLE {} VALID UNTIL 'infinity'", role),
        )
        return
    others = [slot for (slot,) in context.rows(_OTHER_SLOTS, role, context.pipeline.slot_name)]
    if others and not can_log_in(context.endpoints):
        yield fail(
            f"{role} has another password, with which slot {', '.join(others)} is being read",
            f"set `user: {context.pipeline.name}_capture` under `source` in pipeline.yaml",
        )
        return
    yield ok(f"{role} can log in, or apply sets its password")
