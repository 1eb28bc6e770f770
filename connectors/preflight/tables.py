"""Checks whether each listed table is one whose every change the log shows."""

from collections.abc import Callable, Iterator

from connectors.preflight.context import Context
from connectors.preflight.facts import TableFacts
from connectors.preflight.result import Finding, Findings, Outcome, fail, ok, skip, warn

KINDS = {
    "v": "a view",
    "m": "a materialized view",
    "f": "a foreign table",
    "S": "a sequence",
    "i": "an index",
    "c": "a composite type",
}


def check_tables(context: Context) -> Findings:
    """Check that every listed table exists and is an ordinary or partitioned, logged table."""
    listed = {table.name for table in context.pipeline.tables}
    problems = [
        finding
        for name, facts in context.tables.items()
        for finding in ([_missing(context, name)] if facts is None else _unfit(facts, listed))
    ]
    yield from problems or [ok(f"{len(listed)} table(s) can be captured")]


def each_table(
    context: Context, judge: Callable[[TableFacts], Iterator[Finding]], good: str
) -> Findings:
    """Judge every table that `check_tables` found fit; say of the others that nobody looked."""
    listed = {table.name for table in context.pipeline.tables}
    clean = 0
    for name, facts in context.tables.items():
        if facts is None or list(_unfit(facts, listed)):
            yield skip(f"{name}: the table itself cannot be captured")
            continue
        findings = list(judge(facts))
        yield from findings
        clean += not any(f.outcome in (Outcome.FAIL, Outcome.WARN) for f in findings)
    if clean:
        yield ok(f"{clean} table(s): {good}")


def check_primary_key(context: Context) -> Findings:
    """Check that every table has a primary key: it is the key of the records."""

    def judge(facts: TableFacts) -> Iterator[Finding]:
        if not facts.key:
            yield fail(
                f"{facts.schema}.{facts.name} has no primary key: its records would have no key",
                f"ALTER TABLE {facts.quoted} ADD COLUMN id bigint GENERATED ALWAYS AS IDENTITY "
                "PRIMARY KEY; -- or ADD PRIMARY KEY (…) with columns it has",
            )

    yield from each_table(context, judge, "have a primary key")


def check_deferrable(context: Context) -> Findings:
    """Check that no primary key is deferrable: two rows could hold one key inside a transaction."""

    def judge(facts: TableFacts) -> Iterator[Finding]:
        if facts.key_deferrable:
            name = context.value(
                "SELECT conname FROM pg_constraint WHERE conrelid = %s AND contype = 'p'", facts.oid
            )
            constraint = context.statement("{}", name)
            columns = ", ".join(context.statement("{}", column.name) for column in facts.key)
            yield fail(
                f"the primary key of {facts.schema}.{facts.name} is deferrable: a key that moves "
                "from row to row inside a transaction would end as deleted",
                f"ALTER TABLE {facts.quoted} DROP CONSTRAINT {constraint}, "
                f"ADD CONSTRAINT {constraint} PRIMARY KEY ({columns})",
            )

    yield from each_table(context, judge, "keys are checked at once")


def check_generated(context: Context) -> Findings:
    """Say which columns the log does not show."""

    def judge(facts: TableFacts) -> Iterator[Finding]:
        if facts.generated:
            yield warn(
                f"{facts.schema}.{facts.name}: generated columns are not captured: "
                f"{', '.join(facts.generated)}",
                "compute them in the view, or turn one into a plain column: ALTER TABLE "
                f"{facts.quoted} ALTER COLUMN … DROP EXPRESSION",
            )

    yield from each_table(context, judge, "every column is in the log")


def check_partitions(context: Context) -> Findings:
    """Say what partitions can do behind the log's back."""

    def judge(facts: TableFacts) -> Iterator[Finding]:
        if facts.kind == "p":
            yield warn(
                f"{facts.schema}.{facts.name} is partitioned: rows of a partition that is dropped "
                "or detached leave without a trace, and a new partition has no truncate trigger",
                "DELETE FROM a partition before you drop or detach it; run `cdc apply` after you "
                "add one",
            )

    yield from each_table(context, judge, "are not partitioned")


def _missing(context: Context, name: str) -> Finding:
    table = name.partition(".")[2]
    query = """SELECT n.nspname || '.' || c.relname FROM pg_class c
               JOIN pg_namespace n ON n.oid = c.relnamespace
               WHERE lower(c.relname) = lower(%s) AND c.relkind IN ('r', 'p') ORDER BY 1 LIMIT 3"""
    alike = [found for (found,) in context.rows(query, table)]
    return fail(
        f"there is no table {name} in database {context.endpoints.database}",
        f"write `{alike[0]}` in pipeline.yaml"
        if alike
        else f"remove {name} from pipeline.yaml, or create the table",
    )


def _unfit(facts: TableFacts, listed: set[str]) -> Iterator[Finding]:
    name = f"{facts.schema}.{facts.name}"
    remove = f"remove {name} from pipeline.yaml"
    if facts.kind not in ("r", "p"):
        what = KINDS.get(facts.kind, f"of kind {facts.kind}")
        yield fail(
            f"{name} is {what}: its changes are not in the log",
            f"{remove}; capture the tables behind it",
        )
        return
    for member in facts.members:
        if member.persistence == "u":
            yield fail(
                f"{member.schema}.{member.name} is unlogged: its changes are not in the log",
                f"ALTER TABLE {member.quoted} SET LOGGED",
            )
        elif member.persistence == "t":
            yield fail(f"{name} is temporary: its changes are not in the log", remove)
        elif member.kind == "f":
            yield fail(
                f"partition {member.schema}.{member.name} is a foreign table: its changes are not "
                "in the log",
                f"ALTER TABLE {facts.quoted} DETACH PARTITION {member.quoted}",
            )
    if facts.children:
        yield fail(
            f"{name} has inheritance children ({', '.join(facts.children)}): their rows show in "
            "it, but their changes do not",
            f"ALTER TABLE {facts.children[0]} NO INHERIT {facts.quoted}",
        )
    for parent in facts.parents:
        if parent in listed:
            yield fail(
                f"{name} is a partition of {parent}, which is listed too: its changes are captured "
                "there",
                remove,
            )
