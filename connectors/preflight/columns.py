"""Check that every column holds what a record can carry exactly; which those are: `cdc.types`."""

from cdc.types.blocking import blocking_types
from cdc.types.limits import Finding as Limitation
from cdc.types.limits import find_limits
from connectors.preflight.context import Context
from connectors.preflight.result import Finding, Findings, fail, ok, warn


def check_column_types(context: Context) -> Findings:
    """Refuse what would arrive changed now; name what would, should it ever be written.

    Looks at every row of a table with such a column, unless a constraint keeps such values out.
    """
    present = [(facts.schema, facts.name) for facts in context.tables.values() if facts]
    snapshot = context.pipeline.source.snapshot == "debezium"
    found = find_limits(context.postgres, present, snapshot=snapshot)
    findings = [judge(limitation) for limitation in found if not limitation.guarded]
    yield from findings or [ok("every value can be carried exactly")]


def check_database_types(context: Context) -> Findings:
    """Refuse a database in which the connector could not start."""
    found = [fail(blocking.reason, blocking.fix) for blocking in blocking_types(context.postgres)]
    yield from found or [ok("none keeps the connector from starting")]


def judge(limitation: Limitation) -> Finding:
    """Turn a limit into a failure, if such a value is there, or into a warning."""
    limit = limitation.limit
    column = limit.column
    message = f"{column.schema}.{column.table}.{column.name} is {limit.reason}"
    return fail(message, limit.fix) if limitation.violated else warn(message, limit.fix)
