"""What cannot be carried exactly: named before anything is captured, with a fix that works.

Each limit is also shown to be real. When Debezium learns to carry a value, the test here fails,
and the limit can go.
"""

from collections.abc import Callable
from typing import Any

import orjson
import psycopg
import pytest

from cdc.errors import CdcError
from cdc.types.blocking import blocking_types
from cdc.types.catalog import read_columns
from cdc.types.codecs import decode
from cdc.types.limits import Finding, find_limits, unsupported_columns
from connectors.supervise import Patience

TABLE = ("public", "t")

# Values that arrive changed, with what would be read instead.
CHANGED = [
    ("time", "24:00", "00:00:00"),
    ("timestamp", "294247-01-10 04:00:25.2", "infinity"),
    ("interval", "infinity", "00:00:00"),
    ("polygon", "((1,2),(3,4),(5,6),(1,2))", "((1,2),(3,4),(5,6))"),
    ("integer[]", "{{1,2},{3,4}}", "{NULL,NULL}"),
    ("integer[]", "[0:1]={1,2}", "{1,2}"),
    ("date[]", "{0044-03-15 BC}", "{0044-03-15}"),
    ("timestamp[]", '{"1500-01-01 00:00:00"}', '{"1500-01-10 00:00:00"}'),
    ("timestamptz[]", '{"0044-01-01 00:00:00+00 BC"}', '{"0044-01-01 00:00:00+00"}'),
]
# Values that stop the connector: loud, but it stays down until they are out of the log.
STOPPING = [
    ("interval", "2147483648 hours"),
    ("numeric[]", "{NaN}"),
    ("mood[]", "{sad,NULL}"),
    ("ltree[]", "{Top,NULL}"),
    ("positive[]", "{1,NULL}"),
]
IN_THE_SNAPSHOT = [("date", "0044-03-15 BC"), ("date", "1582-10-10")]
REFUSED = [
    ("timetz", "12:00:00+05:45"),
    ("varbit", "0011"),
    ("varbit(8)", "0011"),
    ("numeric(3,-2)", "100"),
    ("int2vector", "1 2"),
    ("time[]", "{12:00:00.000001}"),
    ("bit(3)[]", "{101}"),
    ("interval[]", "{1 mon}"),
    ("money[]", "{1}"),
    ("name[]", "{a}"),
    ("xml[]", "{<a/>}"),
    ("point[]", '{"(1,2)"}'),
    ("circle[]", '{"<(1,2),3>"}'),
    ("box[]", "{(3,4),(1,2)}"),
]


@pytest.fixture
def table(database: Any, golden: dict[str, Any]) -> Callable[[str], Any]:
    for statement in golden["setup"]:
        database.execute(statement)

    def make(pg_type: str) -> Any:
        database.execute(f"CREATE TABLE t (id int PRIMARY KEY, v {pg_type})")
        database.execute("ALTER TABLE t REPLICA IDENTITY FULL")
        return database

    return make


def look(database: Any, *, snapshot: bool = True) -> list[Finding]:
    return find_limits(database.connection, [TABLE], snapshot=snapshot)


@pytest.mark.parametrize(
    ("pg_type", "value"),
    [*((t, v) for t, v, _ in CHANGED), *STOPPING, *IN_THE_SNAPSHOT],
)
def test_a_value_that_would_not_arrive_is_found_and_can_be_kept_out(
    table: Callable[[str], Any], pg_type: str, value: str
) -> None:
    database = table(pg_type)
    [finding] = look(database)
    assert (finding.violated, finding.guarded) == (False, False)
    database.execute(f"INSERT INTO t VALUES (1, NULL), (2, CAST(%s AS {pg_type}))", value)
    [finding] = look(database)
    assert finding.violated
    with pytest.raises(psycopg.errors.CheckViolation):
        database.execute(finding.limit.fix)
    database.execute("DELETE FROM t WHERE id = 2")
    database.execute(finding.limit.fix)
    [finding] = look(database)
    assert (finding.violated, finding.guarded) == (False, True)
    with pytest.raises(psycopg.errors.CheckViolation):
        database.execute(f"INSERT INTO t VALUES (2, CAST(%s AS {pg_type}))", value)


@pytest.mark.parametrize(("pg_type", "value"), REFUSED)
def test_a_type_that_never_arrives_is_refused_with_one_that_does(
    table: Callable[[str], Any], pg_type: str, value: str
) -> None:
    database = table(pg_type)
    database.execute(f"INSERT INTO t VALUES (1, NULL), (2, CAST(%s AS {pg_type}))", value)
    [finding] = look(database)
    assert finding.violated
    assert finding.limit.condition is None
    database.execute(finding.limit.fix)
    assert all(not again.violated for again in look(database))


def test_limits_of_the_snapshot_do_not_matter_without_one(table: Callable[[str], Any]) -> None:
    database = table("date")
    database.execute("INSERT INTO t VALUES (1, '0044-03-15 BC')")
    assert look(database, snapshot=False) == []


def test_every_golden_value_is_within_the_limits(database: Any, golden: dict[str, Any]) -> None:
    for statement in golden["setup"]:
        database.execute(statement)
    columns = ", ".join(f"c{i} {name}" for i, name in enumerate(golden["types"]))
    database.execute(f"CREATE TABLE t (id int, {columns})")
    for i, (name, values) in enumerate(golden["types"].items()):
        for value in values:
            database.execute(f"INSERT INTO t (c{i}) VALUES (CAST(%s AS {name}))", value)
    assert [finding.limit.reason for finding in look(database) if finding.violated] == []


def test_a_limited_value_really_arrives_changed(
    table: Callable[[str], Any], capture: Callable[..., Any]
) -> None:
    columns = ", ".join(f"c{i} {pg_type}" for i, (pg_type, _, _) in enumerate(CHANGED))
    database = table(f"int, {columns}")
    captured = capture("public.t")
    casts = ", ".join(f"CAST(%s AS {pg_type})" for pg_type, _, _ in CHANGED)
    database.execute(f"INSERT INTO t VALUES (1, 1, {casts})", *(value for _, value, _ in CHANGED))
    [record] = captured.after(1)
    row = orjson.loads(record.value)
    arrived = []
    for column in read_columns(database.connection, [TABLE])[2:]:
        literal = decode(column.type, row[column.name])
        [(text,)] = database.execute(f"SELECT CAST(%s AS {column.type.sql})::text", literal)
        arrived.append(text)
    assert arrived == [instead for _, _, instead in CHANGED]


# Without the interval: Debezium takes that one for a fault of the connection and tries again.
@pytest.mark.parametrize(("pg_type", "value"), STOPPING[1:])
def test_a_stopping_value_really_stops_the_connector(
    table: Callable[[str], Any],
    capture: Callable[..., Any],
    eventually: Callable[..., Any],
    pg_type: str,
    value: str,
) -> None:
    database = table(pg_type)
    captured = capture("public.t")
    database.execute(f"INSERT INTO t VALUES (1, CAST(%s AS {pg_type}))", value)
    eventually(captured.failed)
    assert captured.records() == []


@pytest.mark.parametrize(
    ("statement", "cure"),
    [
        ("CREATE TYPE mood AS ENUM ('sad'); CREATE DOMAIN feeling AS mood", "DROP DOMAIN feeling"),
        ("CREATE TYPE mood AS ENUM ()", "ALTER TYPE mood ADD VALUE 'sad'"),
    ],
)
def test_a_type_that_stops_the_connector_is_found_though_no_table_uses_it(
    database: Any, capture: Callable[..., Any], statement: str, cure: str
) -> None:
    database.execute(statement)
    database.execute("CREATE TABLE t (id int PRIMARY KEY)")
    [blocking] = blocking_types(database.connection)
    assert cure.split(maxsplit=1)[0] in blocking.fix
    with pytest.raises(CdcError):
        capture("public.t", patience=Patience(restarts=0))
    database.execute(cure)
    assert blocking_types(database.connection) == []


def test_plain_columns_have_no_limits(database: Any) -> None:
    database.execute("CREATE TABLE t (id bigint, a text, b numeric(10,2), c timestamptz, d jsonb)")
    assert unsupported_columns(read_columns(database.connection, [TABLE])) == []
