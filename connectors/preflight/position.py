"""Check that the connector's stored position, the slot and the server's log belong together.

Debezium starts from its stored position. If the slot is ahead of it (advanced by hand, or made
anew), Postgres silently starts at the slot, and the changes between are lost. If the position
is ahead of the server's log (restored from a backup, another server), Postgres silently
sends nothing until the log has grown that far.
"""

from collections.abc import Mapping
from typing import Any

from connectors.preflight.context import Context
from connectors.preflight.result import Finding, Findings, fail, ok, skip
from connectors.slot import find_slot

START_OVER = (
    "SELECT pg_drop_replication_slot('{slot}'); -- after you have started over under a new `name` "
    "in pipeline.yaml, with new topics and a new slot"
)


def check_position(context: Context) -> Findings:
    """Check that nothing was lost between what Kafka holds and what Postgres will send next."""
    name = context.pipeline.name
    if context.connect.config(name) is None:
        yield ok("the connector does not exist yet")
        return
    # The slot first: it only ever follows the stored position, so what is read later is not less.
    slot = find_slot(context.postgres, context.pipeline.slot_name)
    offsets = context.connect.offsets(name)
    written = int(context.value("SELECT (pg_current_wal_lsn() - '0/0')::bigint"))
    if not offsets:
        yield skip("the connector has stored no position yet")
        return
    confirmed = slot.confirmed_lsn if slot else None
    yield judge_position(
        stored_lsn(offsets[0]["offset"]), confirmed, written, context.pipeline.slot_name
    )


def stored_lsn(offset: Mapping[str, Any]) -> int:
    """Return the highest position in a stored offset."""
    return max(int(offset.get(key) or 0) for key in ("lsn", "lsn_proc", "lsn_commit"))


def judge_position(stored: int, confirmed: int | None, written: int, slot: str) -> Finding:
    """Compare the connector's position with the slot's and the server's."""
    fix = START_OVER.format(slot=slot)
    if confirmed is None:
        return fail(f"slot {slot} is gone: changes since the connector's position are lost", fix)
    if confirmed > stored:
        return fail(
            f"slot {slot} is at {_shown(confirmed)}, ahead of the connector's {_shown(stored)}: "
            "the changes between are lost",
            fix,
        )
    if stored > written:
        return fail(
            f"the connector is at {_shown(stored)}, ahead of the server's log "
            f"({_shown(written)}): this is another server, or one restored from a backup",
            fix,
        )
    return ok(f"{stored - confirmed} bytes of log between slot and connector")


def _shown(lsn: int) -> str:
    return f"{lsn >> 32:X}/{lsn & 0xFFFFFFFF:X}"
