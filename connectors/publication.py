"""The publication: just the listed tables, owned by the administrator, kept by us.

Debezium is told never to create or alter it, so that the role it uses needs no right to.
"""

from dataclasses import dataclass

from psycopg import sql

from cdc.config import Pipeline, Table
from cdc.endpoints import Endpoints
from connectors.action import Action, Setting, Verb
from connectors.database import Connection, qualified, rows, runner, table_identifier
from connectors.role import revoke_statement

# TRUNCATE is not published: it is turned into deletions before (connectors.truncate).
# With the root, a partitioned table is one table: one topic, whatever its partitions.
PUBLISH = "insert, update, delete"
OPTIONS = sql.SQL("publish = 'insert, update, delete', publish_via_partition_root = true")
UNFILTERED = "all columns, all rows"


@dataclass(frozen=True, slots=True)
class Publication:
    """A publication as found: its options and its tables, each with its filter."""

    all_tables: bool
    schemas: tuple[str, ...]
    publish: str
    via_root: bool
    tables: dict[tuple[str, str], str]


def find_publication(connection: Connection, name: str) -> Publication | None:
    """Look a publication up."""
    found = rows(
        connection,
        """SELECT oid, puballtables, pubinsert, pubupdate, pubdelete, pubtruncate, pubviaroot
           FROM pg_publication WHERE pubname = %s""",
        name,
    )
    if not found:
        return None
    oid, all_tables, *operations, via_root = found[0]
    words = ("insert", "update", "delete", "truncate")
    publish = ", ".join(word for word, on in zip(words, operations, strict=True) if on)
    filters = connection.info.server_version >= 150000  # noqa: PLR2004 (Postgres 15 has filters)
    schemas: list[str] = []
    if filters:
        query = """SELECT nspname FROM pg_publication_namespace JOIN pg_namespace n
                   ON n.oid = pnnspid WHERE pnpubid = %s ORDER BY 1"""
        schemas = [row[0] for row in rows(connection, query, oid)]
    extra = "prattrs IS NOT NULL OR prqual IS NOT NULL" if filters else "false"
    query = f"""SELECT nspname, relname, {extra} FROM pg_publication_rel
                JOIN pg_class c ON c.oid = prrelid JOIN pg_namespace n ON n.oid = c.relnamespace
                WHERE prpubid = %s"""  # noqa: S608 (one of two constants)
    tables = {
        (schema, table): "a column list or a row filter" if filtered else UNFILTERED
        for schema, table, filtered in rows(connection, query, oid)
    }
    return Publication(all_tables, tuple(schemas), publish, via_root, tables)


def publication_actions(
    connection: Connection, pipeline: Pipeline, endpoints: Endpoints
) -> list[Action]:
    """Create the publication or bring it to exactly the listed tables."""
    name = pipeline.publication_name
    found = find_publication(connection, name)
    target = f"publication {name}"
    wanted = {(t.schema_name, t.table_name): t for t in pipeline.tables}
    if found is None:
        settings = tuple(Setting("table", None, table.name) for table in pipeline.tables)
        return [Action(Verb.CREATE, target, settings, run=runner(endpoints, [_create(pipeline)]))]
    if found.all_tables or found.schemas:
        what = "all tables" if found.all_tables else f"all tables of {', '.join(found.schemas)}"
        drop = sql.SQL("DROP PUBLICATION {}").format(sql.Identifier(name)).as_string(None)
        return [
            Action(
                Verb.REFUSED,
                target,
                note=f"it publishes {what}, and someone else may need it",
                fix=f"{drop}; -- or set `source.publication` in pipeline.yaml to another name",
            )
        ]
    changes = _changes(found, wanted)
    if not changes:
        return [Action(Verb.UNCHANGED, target)]
    removed = [key for key in found.tables if key not in wanted]
    statements: list[sql.Composable] = [_set_tables(pipeline), _set_options(name)]
    statements += [
        revoke_statement(endpoints, Table.model_construct(name=".".join(key)))
        for key in removed
        if not _published_elsewhere(connection, name, key)
    ]
    added = [table for key, table in wanted.items() if key not in found.tables]
    return [
        Action(
            Verb.UPDATE,
            target,
            tuple(changes),
            note=_note(connection, pipeline, added, removed),
            run=runner(endpoints, statements),
        )
    ]


def _changes(found: Publication, wanted: dict[tuple[str, str], Table]) -> list[Setting]:
    changes = []
    if found.publish != PUBLISH:
        changes.append(Setting("publish", found.publish, PUBLISH))
    if not found.via_root:
        changes.append(Setting("publish_via_partition_root", "false", "true"))
    for key, table in wanted.items():
        state = found.tables.get(key)
        if state is None:
            changes.append(Setting("table", None, table.name))
        elif state != UNFILTERED:
            changes.append(Setting(f"table {table.name}", state, UNFILTERED))
    gone = sorted(found.tables.keys() - wanted.keys())
    return [*changes, *(Setting("table", ".".join(key), None) for key in gone)]


def _note(
    connection: Connection,
    pipeline: Pipeline,
    added: list[Table],
    removed: list[tuple[str, str]],
) -> str:
    notes = [
        f"topic {pipeline.name}.{'.'.join(key)} stays as it is; delete it yourself if nobody "
        "needs it"
        for key in sorted(removed)
    ]
    for table in added:
        if _has_rows(connection, table):
            column = _first_key_column(connection, table)
            update = sql.SQL("UPDATE {} SET {} = {}").format(
                table_identifier(table), sql.Identifier(column), sql.Identifier(column)
            )
            notes.append(
                f"{table.name} has rows already, which a running connector does not read; after "
                f"apply, write them once through the log: {update.as_string(None)}"
            )
    return "; ".join(notes)


def _create(pipeline: Pipeline) -> sql.Composed:
    return sql.SQL("CREATE PUBLICATION {} FOR TABLE {} WITH ({})").format(
        sql.Identifier(pipeline.publication_name), _table_list(pipeline), OPTIONS
    )


def _set_tables(pipeline: Pipeline) -> sql.Composed:
    return sql.SQL("ALTER PUBLICATION {} SET TABLE {}").format(
        sql.Identifier(pipeline.publication_name), _table_list(pipeline)
    )


def _set_options(name: str) -> sql.Composed:
    return sql.SQL("ALTER PUBLICATION {} SET ({})").format(sql.Identifier(name), OPTIONS)


def _table_list(pipeline: Pipeline) -> sql.Composed:
    # ONLY: an inheritance child would be published under its own name, which nobody listens to.
    return sql.SQL(", ").join(
        sql.SQL("ONLY {}").format(table_identifier(table)) for table in pipeline.tables
    )


def _published_elsewhere(connection: Connection, name: str, key: tuple[str, str]) -> bool:
    query = """SELECT FROM pg_publication_tables
               WHERE pubname <> %s AND schemaname = %s AND tablename = %s"""
    return bool(rows(connection, query, name, *key))


def _has_rows(connection: Connection, table: Table) -> bool:
    query = "SELECT to_regclass(%s) IS NOT NULL"
    if not rows(connection, query, table_identifier(table).as_string(None))[0][0]:
        return False
    any_row = sql.SQL("SELECT EXISTS (SELECT FROM {})").format(table_identifier(table))
    return bool(rows(connection, any_row)[0][0])


def _first_key_column(connection: Connection, table: Table) -> str:
    query = """
        SELECT attname FROM pg_index i JOIN pg_attribute a
        ON a.attrelid = i.indrelid AND a.attnum = i.indkey[0]
        WHERE i.indisprimary AND i.indrelid = to_regclass(%s)
    """
    found = rows(connection, query, qualified(table.schema_name, table.table_name).as_string(None))
    return str(found[0][0]) if found else "id"
