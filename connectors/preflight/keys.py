"""Check that equal keys always have equal bytes.

Kafka compares keys byte by byte: it picks the partition by them and compacts by them. Where
Postgres takes two texts for one key (1.0 and 1.00, -0 and 0, 'A' and 'a' in citext), a row would
have two records, in two partitions perhaps, and its deletion would remove only one of them.
"""

from collections.abc import Iterator

from connectors.preflight.context import Context
from connectors.preflight.facts import Column, TableFacts
from connectors.preflight.result import Finding, Findings, fail
from connectors.preflight.tables import each_table

EXACT = frozenset(
    {
        *("bool", "int2", "int4", "int8", "oid", "uuid", "bytea", "bit", "varbit"),
        *("text", "varchar", "bpchar", "char", "name"),
        *("date", "time", "timestamp", "timestamptz"),
        *("inet", "cidr", "macaddr", "macaddr8"),
    }
)
WHY = {
    "float4": "0 and -0 are equal there",
    "float8": "0 and -0 are equal there",
    "citext": "'A' and 'a' are equal there",
    "interval": "'1 day' and '24 hours' are equal there",
    "jsonb": "1 and 1.0 are equal there",
    "money": "its text depends on the server's locale",
}


def check_key_types(context: Context) -> Findings:
    """Check that equal values of every column of every primary key have equal bytes."""

    def judge(facts: TableFacts) -> Iterator[Finding]:
        for column in facts.key:
            problem, fix = key_problem(column)
            if problem:
                name = context.statement("{}", column.name)
                yield fail(
                    f"{facts.schema}.{facts.name}: key column {column.name} ({column.declared}): "
                    f"{problem}",
                    f"ALTER TABLE {facts.quoted} ALTER COLUMN {name} {fix}",
                )

    yield from each_table(context, judge, "equal keys have equal bytes")


def key_problem(column: Column) -> tuple[str, str]:
    """Say why a column cannot be part of a key, and the rest of the ALTER COLUMN that mends it."""
    if column.generated:
        return "it is generated, and generated columns are not in the log", "DROP EXPRESSION"
    if not column.deterministic:
        return (
            "its collation is not deterministic: different texts are equal there",
            f'TYPE {column.declared} COLLATE "C"',
        )
    if column.type_name == "numeric":
        if column.modified:
            return "", ""
        return "without a scale 1.0 and 1.00 are equal there", "TYPE numeric(38, 0)"
    if column.type_kind == "e" or column.type_name in EXACT:
        return "", ""
    why = WHY.get(column.type_name, "nobody has shown that equal values have equal bytes")
    return why, "TYPE text"
