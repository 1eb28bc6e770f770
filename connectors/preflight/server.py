"""Checks whether Postgres is set up for logical decoding, with room for one more reader."""

import shutil

from connectors.preflight.context import Context
from connectors.preflight.result import Finding, Findings, fail, ok, warn
from connectors.slot import find_slot, slot_fix, slot_problem

GIB = 1024**3
LEAST_DISK = 1 * GIB
GOOD_DISK = 5 * GIB


def check_wal_level(context: Context) -> Findings:
    """Check that the log holds enough to decode rows from it."""
    level = context.value("SHOW wal_level")
    if level == "logical":
        yield ok("logical")
    else:
        yield fail(
            f"wal_level is {level}: rows cannot be decoded from the log",
            "ALTER SYSTEM SET wal_level = 'logical'; -- then restart Postgres",
        )


def check_slots(context: Context) -> Findings:
    """Check that our slot is usable, or that there is room to make it."""
    found = find_slot(context.postgres, context.pipeline.slot_name)
    if found is not None:
        problem = slot_problem(found, context.endpoints.database)
        if problem:
            yield fail(f"slot {found.name}: {problem}", slot_fix(found))
        else:
            yield ok(f"slot {found.name} exists")
        return
    limit = int(context.value("SHOW max_replication_slots"))
    used = int(context.value("SELECT count(*) FROM pg_replication_slots"))
    yield room(used, limit, "max_replication_slots", "replication slot")


def check_senders(context: Context) -> Findings:
    """Check that there is room for the process that sends us the log."""
    found = find_slot(context.postgres, context.pipeline.slot_name)
    if found is not None and found.active:
        yield ok("the slot is being read")
        return
    limit = int(context.value("SHOW max_wal_senders"))
    used = int(context.value("SELECT count(*) FROM pg_stat_replication"))
    yield room(used, limit, "max_wal_senders", "WAL sender")


def room(used: int, limit: int, setting: str, what: str) -> Finding:
    """Judge whether one more of something fits."""
    if used < limit:
        return ok(f"{limit - used} of {limit} free")
    return fail(
        f"no free {what}: {used} of {limit} are in use",
        f"ALTER SYSTEM SET {setting} = {limit + 4}; -- then restart Postgres",
    )


def check_retention(context: Context) -> Findings:
    """Check that a connector that is down for long cannot fill the server's disk."""
    kept = context.value("SELECT setting FROM pg_settings WHERE name = 'max_slot_wal_keep_size'")
    if kept == "-1":
        yield warn(
            "max_slot_wal_keep_size is unlimited: while the connector is down the log grows until "
            "the server's disk is full",
            "ALTER SYSTEM SET max_slot_wal_keep_size = '20GB'; SELECT pg_reload_conf()",
        )
    else:
        yield ok(f"at most {context.value('SHOW max_slot_wal_keep_size')} of log is kept")
    # New in Postgres 18: an idle slot is invalidated, and every change since is lost to us.
    timeout = context.rows(
        "SELECT setting FROM pg_settings WHERE name = 'idle_replication_slot_timeout'"
    )
    if timeout and timeout[0][0] != "0":
        yield warn(
            "idle_replication_slot_timeout is set: a connector that is down longer loses its slot",
            "ALTER SYSTEM SET idle_replication_slot_timeout = 0; SELECT pg_reload_conf()",
        )


def check_disk(context: Context) -> Findings:
    """Check that the embedded stack has room; of other servers only they know."""
    file = context.endpoints.connect_password_file
    if file is None or not file.parent.is_dir():
        yield ok("the stack runs elsewhere; watch the disks of Postgres and Kafka there")
        return
    yield judge_disk(shutil.disk_usage(file.parent).free, str(file.parent))


def judge_disk(free: int, folder: str) -> Finding:
    """Judge the free space on the disk of the state directory."""
    message = f"{free / GIB:.1f} GiB free at {folder}"
    if free < LEAST_DISK:
        return fail(
            f"{message}: Postgres and Kafka stop when it is used up",
            f"df -h {folder}; free some, or move the stack: cdc --state-dir DIR stack up",
        )
    if free < GOOD_DISK:
        return warn(message, f"df -h {folder}")
    return ok(message)
