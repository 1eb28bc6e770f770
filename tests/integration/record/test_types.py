"""Every type with its edge values, through snapshot and stream, judged by Postgres itself."""

from collections.abc import Callable
from itertools import zip_longest
from typing import Any

import orjson
import pytest
from psycopg import sql

from cdc.changelog import Record
from cdc.types.catalog import Column, PgType, read_columns
from cdc.types.codecs import SESSION_SETTINGS, can_encode, decode, encode
from cdc.types.jackson import dumps

Capture = Callable[..., Any]


class Golden:
    """A table with one column for each type, and one row for each edge value."""

    def __init__(self, database: Any, types: dict[str, list[str]], setup: list[str]) -> None:
        self.database = database
        self.types = types
        for statement in setup:
            database.execute(statement)
        columns = ", ".join(f"c{i} {name}" for i, name in enumerate(types))
        database.execute(f"CREATE TABLE golden (id int PRIMARY KEY, {columns})")
        database.execute("ALTER TABLE golden REPLICA IDENTITY FULL")
        for name, value in SESSION_SETTINGS.items():
            database.execute("SELECT set_config(%s, %s, false)", name, value)
        self.columns: list[Column] = read_columns(database.connection, [("public", "golden")])[1:]

    def insert(self, first_id: int) -> int:
        """Write every edge value, NULL where a type has no more; returns how many rows."""
        casts = ", ".join(f"CAST(%s AS {name})" for name in self.types)
        rows = list(zip_longest(*self.types.values()))
        for number, row in enumerate(rows, first_id):
            self.database.execute(f"INSERT INTO golden VALUES (%s, {casts})", number, *row)
        return len(rows)

    def differences(self, record: Record) -> dict[str, str]:
        """Compare a record with its row: same bits and same text, for every column."""
        assert record.key is not None
        assert record.value is not None
        row = orjson.loads(record.value)
        found = {}
        for column, name in zip(self.columns, self.types, strict=True):
            literal = decode(column.type, row[column.name])
            # Compares the stored images: tells 1.0 from 1.00, and 0 from -0.
            query = sql.SQL(
                "SELECT record_image_eq(ROW(CAST(%(literal)s AS {type})), ROW({column})),"
                " CAST(%(literal)s AS {type})::text IS NOT DISTINCT FROM {column}::text,"
                " {column}::text FROM golden WHERE id = %(id)s"
            ).format(type=sql.SQL(name), column=sql.Identifier(column.name))
            values = {"literal": literal, "id": orjson.loads(record.key)["id"]}
            [verdict] = self.database.connection.execute(query, values).fetchall()
            if verdict[:2] != (True, True):
                found[name] = f"{row[column.name]!r} -> {literal!r}, but it is {verdict[2]!r}"
        return found

    def printed(self) -> dict[int, list[str | None]]:
        """Read every row as Postgres prints it: what COPY gives, without any cast."""
        names = ", ".join(column.name for column in self.columns)
        result = self.database.connection.execute(f"SELECT id, {names} FROM golden").pgresult

        def text(row: int, column: int) -> str | None:
            value = result.get_value(row, column)
            return None if value is None else value.decode()

        return {
            int(result.get_value(row, 0)): [text(row, i) for i in range(1, result.nfields)]
            for row in range(result.ntuples)
        }


@pytest.fixture
def hostile(database: Any) -> None:
    """Give the database defaults that change how values are printed."""
    settings = {
        "IntervalStyle": "sql_standard",
        "bytea_output": "escape",
        "extra_float_digits": "-5",
        "DateStyle": "SQL, DMY",
        "TimeZone": "Asia/Kathmandu",
    }
    for name, value in settings.items():
        statement = sql.SQL("ALTER DATABASE {} SET {} TO {}").format(
            sql.Identifier(database.name), sql.Identifier(name), sql.Literal(value)
        )
        database.connection.execute(statement)


def check(golden: Golden, records: list[Record], count: int) -> None:
    assert len(records) == count
    differences = {name: text for r in records for name, text in golden.differences(r).items()}
    assert differences == {}


def test_every_type_survives_the_snapshot(
    database: Any, golden: dict[str, Any], capture: Capture
) -> None:
    table = Golden(database, golden["types"], golden["setup"])
    count = table.insert(1)
    records = capture("public.golden").after(count)
    check(table, records, count)


def test_every_type_survives_the_stream(
    database: Any, golden: dict[str, Any], capture: Capture
) -> None:
    types = {
        name: [*values, *golden["stream_only"].get(name, [])]
        for name, values in golden["types"].items()
    }
    table = Golden(database, types, golden["setup"])
    captured = capture("public.golden")
    count = table.insert(1)
    check(table, captured.after(count), count)


def test_snapshot_and_stream_write_the_same_bytes(
    database: Any, golden: dict[str, Any], capture: Capture
) -> None:
    # The one exception: Debezium's snapshot has its own stand-in for infinite dates.
    types = {**golden["types"], "date": ["1970-01-01", "0001-01-01", "5874897-12-31"]}
    table = Golden(database, types, golden["setup"])
    count = table.insert(1)
    captured = capture("public.golden")
    captured.after(count)
    captured.execute("UPDATE golden SET id = id")
    records = captured.after(2 * count)
    before = {record.key: record.value for record in records[:count]}
    after = {record.key: record.value for record in records[count:]}
    assert before == after


def test_our_own_encoding_gives_debeziums_bytes(
    database: Any, golden: dict[str, Any], capture: Capture
) -> None:
    table = Golden(database, golden["types"], golden["setup"])
    captured = capture("public.golden")
    records = captured.after(table.insert(1))
    printed = table.printed()

    def ours(pg_type: PgType, text: str | None, theirs: Any) -> Any:
        return encode(pg_type, text) if can_encode(pg_type) else theirs

    for record in records:
        row = orjson.loads(record.value or b"")
        key = {"id": row["id"]}
        assert dumps(key) == record.key
        texts = printed[row["id"]]
        again = {
            column.name: ours(column.type, text, row[column.name])
            for column, text in zip(table.columns, texts, strict=True)
        }
        assert dumps(key | again) == record.value
    assert sum(can_encode(column.type) for column in table.columns) >= 100


@pytest.mark.usefixtures("hostile")
def test_the_servers_own_formats_do_not_matter(
    database: Any, golden: dict[str, Any], capture: Capture
) -> None:
    table = Golden(database, golden["types"], golden["setup"])
    count = table.insert(1)
    captured = capture("public.golden")
    check(table, captured.after(count), count)
    captured.execute("UPDATE golden SET id = id")
    check(table, captured.after(2 * count)[count:], count)


def test_null_is_null_whatever_the_columns_default_is(
    database: Any, golden: dict[str, Any], capture: Capture
) -> None:
    types = {name: [values[0]] for name, values in golden["types"].items()}
    table = Golden(database, types, golden["setup"])
    for i, (name, [value]) in enumerate(types.items()):
        literal = sql.Literal(value).as_string(None)
        database.execute(f"ALTER TABLE golden ALTER c{i} SET DEFAULT CAST({literal} AS {name})")
    nulls = ", ".join("NULL" for _ in types)
    database.execute(f"INSERT INTO golden VALUES (1, {nulls})")
    captured = capture("public.golden")
    captured.after(1)
    captured.execute(f"INSERT INTO golden VALUES (2, {nulls})")
    for record in captured.after(2):
        row = orjson.loads(record.value or b"")
        assert set(list(row.values())[1:]) == {None}
        assert len(row) == len(types) + 1
    check(table, captured.records(), 2)


def test_a_label_added_to_an_enum_arrives(database: Any, capture: Capture) -> None:
    database.execute("CREATE TYPE mood AS ENUM ('sad')")
    database.execute("CREATE TABLE people (id int PRIMARY KEY, mood mood)")
    captured = capture("public.people")
    captured.execute("ALTER TYPE mood ADD VALUE 'happy'")
    captured.execute("INSERT INTO people VALUES (1, 'happy')")
    [record] = captured.after(1)
    assert record.value == b'{"id":1,"mood":"happy"}'
