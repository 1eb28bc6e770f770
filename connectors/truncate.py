"""TRUNCATE of a captured table: turned into deletions at the source, or refused there.

Why at the source. TRUNCATE is one event without a key; a compacted topic takes no record without
a key, so Debezium can only drop it, and every view would keep the rows for ever. Turning the event
into deletions later would race with rows inserted after it: a deletion that is written late hits
the new row. Inside the transaction that truncates there is no race. A statement trigger before
TRUNCATE holds the lock that keeps every writer out, deletes the rows, and the deletions travel
through the log like any others, in order, before everything that comes later.

The deletion behaves as TRUNCATE does: foreign keys are not checked and no ON DELETE trigger fires
(`session_replication_role = replica`). TRUNCATE ... CASCADE and a partitioned root fire the trigger
of every table they reach; a single partition may be truncated too, so each has its own trigger.
RESTART IDENTITY is not affected. The price is the time of a DELETE.
"""

from psycopg import sql

from cdc.config import Pipeline
from cdc.endpoints import Endpoints
from connectors.action import Action, Setting, Verb
from connectors.database import Connection, qualified, rows, runner

SCHEMA = "cdc"
FUNCTIONS = {"delete": "truncate_as_delete", "refuse": "refuse_truncate"}

# A later snapshot than the lock is needed to see every row: READ COMMITTED takes one for each
# statement; above it a row committed after the transaction began would be truncated unseen.
DELETE_BODY = """
BEGIN
  IF current_setting('transaction_isolation') NOT IN ('read committed', 'read uncommitted') THEN
    RAISE EXCEPTION 'cdc: TRUNCATE of %.% needs READ COMMITTED', TG_TABLE_SCHEMA, TG_TABLE_NAME
      USING ERRCODE = 'feature_not_supported',
      DETAIL = 'The table is captured: TRUNCATE is turned into deletions, and this transaction '
        'cannot see rows that others committed after it began.',
      HINT = 'Run it in a transaction with ISOLATION LEVEL READ COMMITTED.';
  END IF;
  EXECUTE pg_catalog.format('DELETE FROM %I.%I', TG_TABLE_SCHEMA, TG_TABLE_NAME);
  RETURN NULL;
END
"""
REFUSE_BODY = """
BEGIN
  RAISE EXCEPTION 'cdc: TRUNCATE of %.% is refused', TG_TABLE_SCHEMA, TG_TABLE_NAME
    USING ERRCODE = 'feature_not_supported',
    DETAIL = 'The table is captured with on_truncate: refuse.',
    HINT = pg_catalog.format('Use DELETE FROM %I.%I, or set on_truncate: delete in pipeline.yaml '
      'and run cdc apply.', TG_TABLE_SCHEMA, TG_TABLE_NAME);
END
"""
BODIES = {"delete": DELETE_BODY, "refuse": REFUSE_BODY}
# Owned by the administrator, with a path nobody else can write to; row security may not hide rows.
SETTINGS = {
    "delete": "SET search_path = pg_catalog, pg_temp SET session_replication_role = replica "
    "SET row_security = off",
    "refuse": "SET search_path = pg_catalog, pg_temp",
}


def trigger_name(pipeline: Pipeline) -> str:
    """Return the name of the pipeline's triggers; another pipeline may capture the same table."""
    return f"cdc_truncate_{pipeline.name}"


def truncate_actions(
    connection: Connection, pipeline: Pipeline, endpoints: Endpoints
) -> list[Action]:
    """Make the functions and the triggers as wanted, and remove triggers no longer wanted."""
    wanted = {
        leaf: table.on_truncate
        for table in pipeline.tables
        for leaf in _with_partitions(connection, table.schema_name, table.table_name)
    }
    found = _triggers(connection, pipeline)
    policies = sorted(set(wanted.values()))
    actions = [_function_action(connection, endpoints, policy) for policy in policies]
    for key, policy in wanted.items():
        actions.append(_trigger_action(pipeline, endpoints, key, policy, found.get(key)))
    for key in sorted(found.keys() - wanted.keys()):
        drop = _drop(pipeline, key)
        target = f"trigger {trigger_name(pipeline)} on {'.'.join(key)}"
        actions.append(Action(Verb.REMOVE, target, run=runner(endpoints, [drop])))
    return actions


def _with_partitions(connection: Connection, schema: str, table: str) -> list[tuple[str, str]]:
    # The root itself even when it does not exist yet: then the preflight says so.
    query = """
        SELECT n.nspname, c.relname FROM pg_partition_tree(to_regclass(%s)) t
        JOIN pg_class c ON c.oid = t.relid JOIN pg_namespace n ON n.oid = c.relnamespace
        WHERE c.relkind IN ('r', 'p') AND t.level > 0 ORDER BY 1, 2
    """
    name = qualified(schema, table).as_string(None)
    return [(schema, table), *((s, t) for s, t in rows(connection, query, name))]


def _triggers(connection: Connection, pipeline: Pipeline) -> dict[tuple[str, str], tuple[str, str]]:
    """Return our triggers: table → (policy, how it is enabled)."""
    query = """
        SELECT n.nspname, c.relname, p.proname, t.tgenabled::text
        FROM pg_trigger t JOIN pg_class c ON c.oid = t.tgrelid
        JOIN pg_namespace n ON n.oid = c.relnamespace
        JOIN pg_proc p ON p.oid = t.tgfoid
        JOIN pg_namespace pn ON pn.oid = p.pronamespace
        WHERE t.tgname = %s AND pn.nspname = %s AND NOT t.tgisinternal
    """
    policies = {function: policy for policy, function in FUNCTIONS.items()}
    return {
        (schema, table): (policies.get(function, function), enabled)
        for schema, table, function, enabled in rows(
            connection, query, trigger_name(pipeline), SCHEMA
        )
    }


def _trigger_action(
    pipeline: Pipeline,
    endpoints: Endpoints,
    key: tuple[str, str],
    policy: str,
    found: tuple[str, str] | None,
) -> Action:
    target = f"trigger {trigger_name(pipeline)} on {'.'.join(key)}"
    if found == (policy, "A"):
        return Action(Verb.UNCHANGED, target)
    statements = [] if found is None else [_drop(pipeline, key)]
    names = {"name": sql.Identifier(trigger_name(pipeline)), "table": qualified(*key)}
    statements += [
        sql.SQL(
            "CREATE TRIGGER {name} BEFORE TRUNCATE ON {table} "
            "FOR EACH STATEMENT EXECUTE FUNCTION {function}()"
        ).format(function=qualified(SCHEMA, FUNCTIONS[policy]), **names),
        # Also for sessions that replay changes of another server.
        sql.SQL("ALTER TABLE {table} ENABLE ALWAYS TRIGGER {name}").format(**names),
    ]
    before = None if found is None else f"{found[0]}{'' if found[1] == 'A' else ', not always on'}"
    return Action(
        Verb.CREATE if found is None else Verb.UPDATE,
        target,
        (Setting("on_truncate", before, policy),),
        run=runner(endpoints, statements),
    )


def _drop(pipeline: Pipeline, key: tuple[str, str]) -> sql.Composed:
    return sql.SQL("DROP TRIGGER IF EXISTS {} ON {}").format(
        sql.Identifier(trigger_name(pipeline)), qualified(*key)
    )


def _function_action(connection: Connection, endpoints: Endpoints, policy: str) -> Action:
    name = FUNCTIONS[policy]
    target = f"function {SCHEMA}.{name}()"
    query = """
        SELECT p.prosrc, p.prosecdef, array_to_string(p.proconfig, '; ')
        FROM pg_proc p JOIN pg_namespace n ON n.oid = p.pronamespace
        WHERE n.nspname = %s AND p.proname = %s AND p.pronargs = 0
    """
    found = rows(connection, query, SCHEMA, name)
    wanted = (BODIES[policy], True, _as_stored(SETTINGS[policy]))
    if found and found[0] == wanted:
        return Action(Verb.UNCHANGED, target)
    return Action(
        Verb.UPDATE if found else Verb.CREATE,
        target,
        (Setting("body", "(another)", "(ours)"),) if found else (),
        run=runner(endpoints, _create_function(policy)),
    )


def _create_function(policy: str) -> list[sql.Composable]:
    function = qualified(SCHEMA, FUNCTIONS[policy])
    create = sql.SQL(
        "CREATE OR REPLACE FUNCTION {}() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER {} AS {}"
    )
    return [
        sql.SQL("CREATE SCHEMA IF NOT EXISTS {}").format(sql.Identifier(SCHEMA)),
        create.format(function, sql.SQL(SETTINGS[policy]), sql.Literal(BODIES[policy])),
        sql.SQL("REVOKE ALL ON FUNCTION {}() FROM PUBLIC").format(function),
    ]


def _as_stored(settings: str) -> str:
    pairs = [part.strip() for part in settings.split("SET ") if part.strip()]
    return "; ".join(pair.replace(" = ", "=") for pair in pairs)
