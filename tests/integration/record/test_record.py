"""What one change in Postgres becomes in the topic."""

from collections import defaultdict
from collections.abc import Callable
from typing import Any

import orjson
import psycopg
import pytest

from cdc.types.unavailable import is_unavailable
from connectors.plan import RefusedError, apply_plan, make_plan

Capture = Callable[..., Any]


@pytest.fixture
def orders(database: Any, capture: Capture) -> Any:
    database.execute("CREATE TABLE orders (id int PRIMARY KEY, note text)")
    database.execute("ALTER TABLE orders REPLICA IDENTITY FULL")
    return capture("public.orders", partitions=3)


def pairs(records: list[Any]) -> list[tuple[bytes, bytes | None]]:
    return [(record.key, record.value) for record in records]


def test_insert_update_and_delete_are_row_row_and_nothing(orders: Any) -> None:
    orders.execute("INSERT INTO orders VALUES (1, 'new')")
    orders.execute("UPDATE orders SET note = 'changed'")
    orders.execute("DELETE FROM orders")
    records = orders.after(3)
    assert pairs(records) == [
        (b'{"id":1}', b'{"id":1,"note":"new"}'),
        (b'{"id":1}', b'{"id":1,"note":"changed"}'),
        (b'{"id":1}', None),
    ]


def test_every_record_has_the_two_headers_and_no_more(orders: Any) -> None:
    [(before,)] = orders.execute("SELECT (extract(epoch FROM clock_timestamp()) * 1000)::bigint")
    orders.execute("INSERT INTO orders VALUES (1, 'new')")
    orders.execute("DELETE FROM orders")
    [(after,)] = orders.execute("SELECT (extract(epoch FROM clock_timestamp()) * 1000)::bigint")
    for record in orders.after(2):
        assert [name for name, _ in record.headers] == ["lsn", "ts_ms"]
        assert before <= record.ts_ms <= after
        assert record.lsn > 0


def test_rows_of_the_snapshot_have_the_same_two_headers(database: Any, capture: Capture) -> None:
    database.execute("CREATE TABLE orders (id int PRIMARY KEY)")
    database.execute("INSERT INTO orders VALUES (1), (2)")
    for record in capture("public.orders").after(2):
        assert [name for name, _ in record.headers] == ["lsn", "ts_ms"]


def test_a_changed_key_is_the_old_row_deleted_and_the_new_one_made(orders: Any) -> None:
    orders.execute("INSERT INTO orders VALUES (1, 'x')")
    orders.execute("UPDATE orders SET id = 2")
    records = sorted(orders.after(3), key=lambda record: (record.lsn, record.value is not None))
    assert pairs(records[1:]) == [(b'{"id":1}', None), (b'{"id":2}', b'{"id":2,"note":"x"}')]
    assert records[1].lsn == records[2].lsn > records[0].lsn
    # No trace of the other key, which no deletion would ever reach.
    for record in records:
        assert [name for name, _ in record.headers] == ["lsn", "ts_ms"]


def test_swapped_keys_end_as_postgres_has_them(orders: Any) -> None:
    orders.execute("INSERT INTO orders VALUES (1, 'a'), (2, 'b')")
    with orders.database.connection.transaction():
        orders.execute("UPDATE orders SET id = 3 WHERE id = 1")
        orders.execute("UPDATE orders SET id = 1 WHERE id = 2")
        orders.execute("UPDATE orders SET id = 2 WHERE id = 3")
    newest = {record.key: record for record in orders.after(8)}
    assert {key: record.value for key, record in newest.items()} == {
        b'{"id":1}': b'{"id":1,"note":"b"}',
        b'{"id":2}': b'{"id":2,"note":"a"}',
        b'{"id":3}': None,
    }


def test_one_statement_with_many_rows_gives_each_of_them(orders: Any) -> None:
    orders.execute("INSERT INTO orders SELECT g, 'n' || g FROM generate_series(1, 5000) g")
    records = orders.after(5000)
    assert {record.key for record in records} == {b'{"id":%d}' % n for n in range(1, 5001)}
    assert len(records) == 5000


def test_what_is_rolled_back_never_arrives(orders: Any) -> None:
    connection = orders.database.connection
    with connection.transaction() as whole:
        orders.execute("INSERT INTO orders VALUES (1, 'gone')")
        raise psycopg.Rollback(whole)
    with connection.transaction():
        orders.execute("INSERT INTO orders VALUES (2, 'kept')")
        with connection.transaction() as part:
            orders.execute("INSERT INTO orders VALUES (3, 'gone')")
            raise psycopg.Rollback(part)
        with connection.transaction():
            orders.execute("UPDATE orders SET note = 'kept too'")
    orders.execute("INSERT INTO orders VALUES (4, 'last')")
    assert {record.key for record in orders.after(3)} == {b'{"id":2}', b'{"id":4}'}
    values = [record.value for record in orders.after(3) if record.key == b'{"id":2}']
    assert values == [b'{"id":2,"note":"kept"}', b'{"id":2,"note":"kept too"}']


def test_lsn_rises_for_a_key_and_a_key_stays_in_its_partition(orders: Any) -> None:
    for round_ in range(20):
        orders.execute(
            "INSERT INTO orders SELECT g, %s FROM generate_series(1, 9) g "
            "ON CONFLICT (id) DO UPDATE SET note = excluded.note",
            str(round_),
        )
        orders.execute("DELETE FROM orders WHERE id = %s", round_ % 9 + 1)
    of_key = defaultdict(list)
    for record in orders.after(200):
        of_key[record.key].append(record)
    assert len(of_key) == 9
    assert len({record.partition for records in of_key.values() for record in records}) > 1
    for records in of_key.values():
        assert len({record.partition for record in records}) == 1
        lsns = [record.lsn for record in records]
        assert lsns == sorted(set(lsns))


KEYS = [
    '"',
    "/",
    "\\",
    "a/b?c=d&e",
    "'",
    "\n\t",
    "💩",
    "日本",
    " ",
    "",
    "null",
    "{}",
    "%2F",
    "\x01",
]


def test_keys_with_any_character_survive(database: Any, capture: Capture) -> None:
    database.execute("CREATE TABLE things (name text, part int, PRIMARY KEY (name, part))")
    database.execute("ALTER TABLE things REPLICA IDENTITY FULL")
    captured = capture("public.things", partitions=3)
    for key in KEYS:
        captured.execute("INSERT INTO things VALUES (%s, 1)", key)
    captured.execute("DELETE FROM things")
    records = captured.after(2 * len(KEYS))
    made = [orjson.loads(record.key) for record in records if record.value is not None]
    gone = [orjson.loads(record.key) for record in records if record.value is None]
    expected = sorted(KEYS)
    assert sorted(key["name"] for key in made) == expected
    assert sorted(key["name"] for key in gone) == expected
    places = {(record.key, record.partition) for record in records}
    assert len(places) == len(KEYS)


SIZES = [8_000, 100_000, 1_500_000]


def test_a_large_value_stays_whole_when_another_column_changes(
    database: Any, capture: Capture, row_of: Callable[..., Any]
) -> None:
    database.execute("CREATE TABLE docs (id int PRIMARY KEY, n int, body text, data bytea)")
    database.execute("ALTER TABLE docs REPLICA IDENTITY FULL")
    # Kept outside the row even where it would compress well.
    database.execute("ALTER TABLE docs ALTER body SET STORAGE EXTERNAL")
    database.execute("ALTER TABLE docs ALTER data SET STORAGE EXTERNAL")
    captured = capture("public.docs")
    for size in SIZES:
        body = "é💩x" * (size // 3)
        captured.execute(
            "INSERT INTO docs VALUES (%s, 0, %s, convert_to(%s, 'UTF8'))", size, body, body
        )
    captured.execute("UPDATE docs SET n = 1")
    records = captured.after(2 * len(SIZES))
    rows = [row_of(record) for record in records]
    for first, second in zip(rows[: len(SIZES)], rows[len(SIZES) :], strict=True):
        assert (first["n"], second["n"]) == (0, 1)
        assert second["body"] == first["body"] == "é💩x" * (first["id"] // 3)
        assert second["data"] == first["data"]


STAND_INS = ["text", "bytea", "jsonb", "numeric", "text[]", "integer[]", "bigint[]", "uuid[]"]


def test_without_full_identity_only_a_stand_in_would_arrive(
    database: Any,
    pipeline_factory: Callable[..., Any],
    capture: Capture,
    row_of: Callable[..., Any],
) -> None:
    columns = [f"c{i} {pg_type}" for i, pg_type in enumerate(STAND_INS)]
    database.execute(f"CREATE TABLE docs (id int PRIMARY KEY, n int, {', '.join(columns)})")
    for i in range(len(STAND_INS)):
        database.execute(f"ALTER TABLE docs ALTER c{i} SET STORAGE EXTERNAL")
    prepared = pipeline_factory("public.docs")
    with pytest.raises(RefusedError, match="docs") as refused:
        apply_plan(make_plan(*prepared))
    assert "REPLICA IDENTITY FULL" in refused.value.hint
    # Taken back behind our back, after the checks.
    database.execute("ALTER TABLE docs REPLICA IDENTITY FULL")
    captured = capture(prepared)
    database.execute("ALTER TABLE docs REPLICA IDENTITY DEFAULT")
    captured.execute(
        """INSERT INTO docs SELECT 1, 0, repeat('x', 9000), convert_to(repeat('x', 9000), 'UTF8'),
           to_jsonb(repeat('x', 9000)), repeat('1234567890', 2500)::numeric,
           array[repeat('x', 9000)], array_agg(g), array_agg(g::bigint),
           array_agg(gen_random_uuid()) FROM generate_series(1, 5000) g"""
    )
    captured.execute("UPDATE docs SET n = 1")
    first, second = (row_of(record) for record in captured.after(2))
    large = [f"c{i}" for i in range(len(STAND_INS))]
    assert {name: is_unavailable(first[name]) for name in large} == dict.fromkeys(large, False)
    assert {name: is_unavailable(second[name]) for name in large} == dict.fromkeys(large, True)


def test_truncate_deletes_every_row_before_what_comes_later(orders: Any) -> None:
    orders.execute("INSERT INTO orders SELECT g, 'old' FROM generate_series(1, 100) g")
    orders.execute("TRUNCATE orders")
    orders.execute("INSERT INTO orders VALUES (1, 'new')")
    newest = {record.key: record for record in orders.after(201)}
    assert {key for key, record in newest.items() if record.value is not None} == {b'{"id":1}'}
    assert newest[b'{"id":1}'].value == b'{"id":1,"note":"new"}'
    assert len(newest) == 100


def test_truncate_can_be_refused_loudly(database: Any, capture: Capture) -> None:
    database.execute("CREATE TABLE orders (id int PRIMARY KEY)")
    captured = capture("public.orders", on_truncate="refuse")
    captured.execute("INSERT INTO orders VALUES (1)")
    with pytest.raises(psycopg.errors.FeatureNotSupported, match=r"TRUNCATE of public\.orders"):
        captured.execute("TRUNCATE orders")
    assert captured.execute("SELECT id FROM orders") == [(1,)]
    assert pairs(captured.after(1)) == [(b'{"id":1}', b'{"id":1}')]
