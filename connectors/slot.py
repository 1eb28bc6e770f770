"""The replication slot: made here only when nothing is snapshotted, otherwise by the snapshot.

A slot and the snapshot that goes with it must be made together, or changes between the two are
lost. So with `snapshot: debezium` the connector makes it; a slot that is already there is looked
at, and a wrong or lost one is refused.
"""

from dataclasses import dataclass

from psycopg import sql

from cdc.config import Pipeline
from cdc.endpoints import Endpoints
from connectors.action import Action, Setting, Verb
from connectors.database import Connection, rows, runner

PLUGIN = "pgoutput"


@dataclass(frozen=True, slots=True)
class Slot:
    """A replication slot as Postgres shows it."""

    name: str
    plugin: str | None
    slot_type: str
    database: str | None
    active: bool
    wal_status: str | None
    confirmed_lsn: int | None


def find_slot(connection: Connection, name: str) -> Slot | None:
    """Look a slot up."""
    found = rows(
        connection,
        """SELECT slot_name, plugin, slot_type, database, active, wal_status,
                  (confirmed_flush_lsn - '0/0')::bigint
           FROM pg_replication_slots WHERE slot_name = %s""",
        name,
    )
    return Slot(*found[0]) if found else None


def slot_problem(slot: Slot, database: str) -> str:
    """Say why a slot cannot be ours; empty if it can."""
    if slot.slot_type != "logical" or slot.plugin != PLUGIN:
        return f"it is a {slot.slot_type} slot of plugin {slot.plugin}, not of {PLUGIN}"
    if slot.database != database:
        return f"it belongs to database {slot.database}, not to {database}"
    if slot.wal_status == "lost":
        return "Postgres has removed log that it still needed: changes are lost"
    return ""


def slot_fix(slot: Slot) -> str:
    """Name the way out of a slot that cannot be used."""
    drop = sql.SQL("SELECT pg_drop_replication_slot({})").format(slot.name).as_string(None)
    if slot.wal_status == "lost":
        return f"{drop}; -- then start over under a new pipeline `name`, with new topics"
    return f"{drop}; -- if nobody uses it; else set `source.slot` in pipeline.yaml to another name"


def slot_actions(connection: Connection, pipeline: Pipeline, endpoints: Endpoints) -> list[Action]:
    """Plan the slot."""
    target = f"slot {pipeline.slot_name}"
    found = find_slot(connection, pipeline.slot_name)
    if found is not None:
        problem = slot_problem(found, endpoints.database)
        if problem:
            return [Action(Verb.REFUSED, target, note=problem, fix=slot_fix(found))]
        return [Action(Verb.UNCHANGED, target)]
    if pipeline.source.snapshot == "debezium":
        # Nothing for us to do, and so nothing to show twice: the connector's step makes it.
        return []
    create = sql.SQL("SELECT pg_create_logical_replication_slot({}, {})").format(
        pipeline.slot_name, PLUGIN
    )
    return [
        Action(
            Verb.CREATE,
            target,
            (Setting("plugin", None, PLUGIN),),
            note="from here on Postgres keeps its log until the connector has read it",
            run=runner(endpoints, [create]),
        )
    ]
