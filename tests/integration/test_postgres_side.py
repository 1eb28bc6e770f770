"""The source database after `cdc apply`: who may do what, and what TRUNCATE does."""

from collections.abc import Callable
from typing import Any

import psycopg
import pytest
from psycopg import sql

from connectors.action import Verb
from connectors.postgres import postgres_actions
from connectors.publication import find_publication
from connectors.slot import find_slot


def apply(prepared: Any) -> list[str]:
    """Run every Postgres action that has something to do; return the targets."""
    actions = [a for a in postgres_actions(*prepared) if a.run is not None]
    for action in actions:
        action.run()
    return [action.target for action in actions]


# Some tests only need the tables to be there.
pytestmark = pytest.mark.usefixtures("shop")


@pytest.fixture
def shop(database: Any) -> Any:
    database.execute(
        """CREATE TABLE customers (id int PRIMARY KEY, name varchar(20));
           CREATE TABLE orders (id int PRIMARY KEY,
             customer int REFERENCES customers ON DELETE CASCADE);
           CREATE TABLE private (id int PRIMARY KEY);
           INSERT INTO customers SELECT g, 'c' || g FROM generate_series(1, 3) g;
           INSERT INTO orders SELECT g, 1 FROM generate_series(1, 5) g"""
    )
    return database


def as_role(prepared: Any) -> psycopg.Connection[Any]:
    return psycopg.connect(prepared.endpoints.capture_conninfo(), autocommit=True)


def test_a_second_apply_finds_nothing_to_do(pipeline_factory: Callable[..., Any]) -> None:
    prepared = pipeline_factory("public.customers", "public.orders")
    assert apply(prepared)
    assert apply(prepared) == []
    assert {a.verb for a in postgres_actions(*prepared)} == {Verb.UNCHANGED}


@pytest.mark.parametrize(
    "statement",
    [
        "SELECT * FROM private",
        "CREATE TABLE public.mine (id int)",
        "CREATE SCHEMA mine",
        "INSERT INTO customers VALUES (9)",
        "DELETE FROM orders",
        "TRUNCATE orders",
        "ALTER PUBLICATION {publication} ADD TABLE private",
        "DROP PUBLICATION {publication}",
        "ALTER TABLE orders DISABLE TRIGGER ALL",
        "CREATE ROLE friend",
        "ALTER ROLE CURRENT_USER SUPERUSER",
    ],
)
def test_the_capture_role_is_denied_everything_but_reading_its_tables(
    pipeline_factory: Callable[..., Any], statement: str
) -> None:
    prepared = pipeline_factory("public.customers", "public.orders")
    apply(prepared)
    with as_role(prepared) as role:
        assert role.execute("SELECT count(*) FROM orders").fetchone() == (5,)
        publication = sql.Identifier(prepared.pipeline.publication_name)
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            role.execute(sql.SQL(statement).format(publication=publication))


def test_the_capture_role_owns_nothing_and_cannot_be_used_without_its_password(
    shop: Any, pipeline_factory: Callable[..., Any]
) -> None:
    prepared = pipeline_factory("public.orders")
    apply(prepared)
    owned = shop.execute(
        "SELECT count(*) FROM pg_shdepend WHERE deptype = 'o' AND refobjid = %s::regrole",
        prepared.endpoints.capture_user,
    )
    assert owned == [(0,)]
    with pytest.raises(psycopg.OperationalError, match="password authentication failed"):
        psycopg.connect(shop.conninfo(user=prepared.endpoints.capture_user, password="guess"))


def test_a_changed_password_is_noticed_and_set(
    shop: Any, pipeline_factory: Callable[..., Any]
) -> None:
    prepared = pipeline_factory("public.orders")
    apply(prepared)
    role = sql.Identifier(prepared.endpoints.capture_user)
    shop.connection.execute(sql.SQL("ALTER ROLE {} PASSWORD 'other'").format(role))
    assert apply(prepared) == [f"role {prepared.endpoints.capture_user}"]
    as_role(prepared).close()


def test_the_password_is_sent_hashed(shop: Any, pipeline_factory: Callable[..., Any]) -> None:
    prepared = pipeline_factory("public.orders")
    apply(prepared)
    stored = shop.execute(
        "SELECT rolpassword FROM pg_authid WHERE rolname = %s", prepared.endpoints.capture_user
    )[0][0]
    assert stored.startswith("SCRAM-SHA-256$")


def test_the_publication_holds_just_the_listed_tables(
    shop: Any, pipeline_factory: Callable[..., Any]
) -> None:
    prepared = pipeline_factory("public.customers", "public.orders")
    apply(prepared)
    found = find_publication(shop.connection, prepared.pipeline.publication_name)
    assert found is not None
    assert set(found.tables) == {("public", "customers"), ("public", "orders")}
    assert (found.all_tables, found.via_root, found.publish) == (
        False,
        True,
        "insert, update, delete",
    )


def test_a_row_filter_put_on_the_publication_is_taken_off(
    shop: Any, pipeline_factory: Callable[..., Any]
) -> None:
    prepared = pipeline_factory("public.orders")
    apply(prepared)
    name = sql.Identifier(prepared.pipeline.publication_name)
    shop.connection.execute(
        sql.SQL("ALTER PUBLICATION {} SET TABLE orders WHERE (id > 3)").format(name)
    )
    assert apply(prepared) == [f"publication {prepared.pipeline.publication_name}"]
    assert apply(prepared) == []


def test_a_publication_of_all_tables_is_refused(
    shop: Any, pipeline_factory: Callable[..., Any]
) -> None:
    prepared = pipeline_factory("public.orders")
    name = sql.Identifier(prepared.pipeline.publication_name)
    shop.connection.execute(sql.SQL("CREATE PUBLICATION {} FOR ALL TABLES").format(name))
    refused = [a for a in postgres_actions(*prepared) if a.verb is Verb.REFUSED]
    assert [a.target for a in refused] == [f"publication {prepared.pipeline.publication_name}"]
    assert "DROP PUBLICATION" in refused[0].fix


def test_removing_a_table_takes_it_out_of_everything_but_keeps_its_topic(
    shop: Any, pipeline_factory: Callable[..., Any]
) -> None:
    before = pipeline_factory("public.customers", "public.orders")
    apply(before)
    after = pipeline_factory("public.customers", name=before.pipeline.name)
    actions = {a.target: a for a in postgres_actions(*after) if a.run is not None}
    publication = actions[f"publication {before.pipeline.publication_name}"]
    assert [str(s) for s in publication.settings] == ["table: public.orders → (removed)"]
    assert f"topic {before.pipeline.name}.public.orders stays" in publication.note
    apply(after)
    with as_role(after) as role, pytest.raises(psycopg.errors.InsufficientPrivilege):
        role.execute("SELECT * FROM orders")
    shop.execute("TRUNCATE orders")
    assert apply(after) == []


def test_adding_a_table_with_rows_says_how_to_write_them_into_the_log(
    pipeline_factory: Callable[..., Any],
) -> None:
    before = pipeline_factory("public.customers")
    apply(before)
    after = pipeline_factory("public.customers", "public.orders", name=before.pipeline.name)
    notes = [a.note for a in postgres_actions(*after) if a.target.startswith("publication")]
    assert 'UPDATE "public"."orders" SET "id" = "id"' in notes[0]


def changes(database: Any, slot: str, publication: str) -> list[bytes]:
    """Read what the slot would send: the first letter of each message says what it is."""
    messages = database.execute(
        "SELECT data FROM pg_logical_slot_get_binary_changes(%s, NULL, NULL,"
        " 'proto_version', '1', 'publication_names', %s)",
        slot,
        publication,
    )
    return [bytes(data)[:1] for (data,) in messages]


def test_truncate_becomes_one_deletion_for_each_row_and_fires_no_cascade(
    shop: Any, pipeline_factory: Callable[..., Any]
) -> None:
    prepared = pipeline_factory("public.customers", "public.orders", source={"snapshot": "none"})
    apply(prepared)
    shop.execute("TRUNCATE customers, orders RESTART IDENTITY")
    pipeline = prepared.pipeline
    sent = changes(shop, pipeline.slot_name, pipeline.publication_name)
    assert sent.count(b"D") == 8
    assert sent.count(b"T") == 0
    assert shop.execute("SELECT count(*) FROM customers") == [(0,)]


def test_truncate_cascade_deletes_from_every_captured_table_it_reaches(
    shop: Any, pipeline_factory: Callable[..., Any]
) -> None:
    prepared = pipeline_factory("public.orders", source={"snapshot": "none"})
    apply(prepared)
    shop.execute("TRUNCATE customers CASCADE")
    pipeline = prepared.pipeline
    sent = changes(shop, pipeline.slot_name, pipeline.publication_name)
    assert sent.count(b"D") == 5


def test_truncate_does_not_fire_delete_triggers(
    shop: Any, pipeline_factory: Callable[..., Any]
) -> None:
    shop.execute(
        """CREATE FUNCTION never() RETURNS trigger LANGUAGE plpgsql
             AS $$BEGIN RAISE 'a delete trigger fired'; END$$;
           CREATE TRIGGER never BEFORE DELETE ON orders
             FOR EACH ROW EXECUTE FUNCTION never()"""
    )
    apply(pipeline_factory("public.orders"))
    shop.execute("TRUNCATE orders")
    assert shop.execute("SELECT count(*) FROM orders") == [(0,)]


def test_truncate_by_an_owner_who_is_not_the_administrator_works(
    shop: Any, pipeline_factory: Callable[..., Any]
) -> None:
    prepared = pipeline_factory("public.orders", source={"snapshot": "none"})
    apply(prepared)
    owner = f"{prepared.pipeline.name}_owner"
    shop.execute(f"CREATE ROLE {owner}")
    try:
        shop.execute(f"GRANT TRUNCATE ON orders TO {owner}; SET ROLE {owner}; TRUNCATE orders")
    finally:
        shop.execute(f"RESET ROLE; DROP OWNED BY {owner}; DROP ROLE {owner}")
    pipeline = prepared.pipeline
    assert changes(shop, pipeline.slot_name, pipeline.publication_name).count(b"D") == 5


def test_truncate_above_read_committed_is_refused_because_it_cannot_see_every_row(
    shop: Any, pipeline_factory: Callable[..., Any]
) -> None:
    apply(pipeline_factory("public.orders"))
    shop.execute("SET default_transaction_isolation = 'repeatable read'")
    with pytest.raises(psycopg.errors.FeatureNotSupported, match="needs READ COMMITTED"):
        shop.execute("TRUNCATE orders")


def test_truncate_is_refused_with_advice_where_the_pipeline_says_so(
    shop: Any, pipeline_factory: Callable[..., Any]
) -> None:
    apply(pipeline_factory({"name": "public.orders", "on_truncate": "refuse"}))
    with pytest.raises(psycopg.errors.FeatureNotSupported, match="is refused") as caught:
        shop.execute("TRUNCATE orders")
    assert "DELETE FROM public.orders" in (caught.value.diag.message_hint or "")
    shop.execute("SET session_replication_role = replica")
    with pytest.raises(psycopg.errors.FeatureNotSupported):
        shop.execute("TRUNCATE orders")
    assert shop.execute("SELECT count(*) FROM orders") == [(5,)]


def test_the_truncate_policy_can_be_changed(
    shop: Any, pipeline_factory: Callable[..., Any]
) -> None:
    refuse = pipeline_factory({"name": "public.orders", "on_truncate": "refuse"})
    apply(refuse)
    delete = pipeline_factory("public.orders", name=refuse.pipeline.name)
    apply(delete)
    shop.execute("TRUNCATE orders")
    assert apply(delete) == []


@pytest.mark.parametrize("truncated", ["events", "events_1"])
def test_truncate_of_a_partitioned_table_or_of_one_partition_becomes_deletions(
    database: Any, pipeline_factory: Callable[..., Any], truncated: str
) -> None:
    database.execute(
        """CREATE TABLE events (id int PRIMARY KEY) PARTITION BY RANGE (id);
           CREATE TABLE events_1 PARTITION OF events FOR VALUES FROM (0) TO (10);
           CREATE TABLE events_2 PARTITION OF events FOR VALUES FROM (10) TO (20);
           INSERT INTO events SELECT generate_series(1, 19)"""
    )
    prepared = pipeline_factory("public.events", source={"snapshot": "none"})
    apply(prepared)
    database.execute(f"TRUNCATE {truncated}")
    pipeline = prepared.pipeline
    sent = changes(database, pipeline.slot_name, pipeline.publication_name)
    assert sent.count(b"D") == {"events": 19, "events_1": 9}[truncated]
    database.execute("CREATE TABLE events_3 PARTITION OF events FOR VALUES FROM (20) TO (30)")
    name = f"cdc_truncate_{pipeline.name}"
    assert apply(prepared) == [f"trigger {name} on public.events_3"]


def test_nobody_else_may_use_the_truncate_functions(
    shop: Any, pipeline_factory: Callable[..., Any]
) -> None:
    prepared = pipeline_factory("public.orders")
    apply(prepared)
    may = shop.execute(
        "SELECT has_function_privilege(%s, 'cdc.truncate_as_delete()', 'EXECUTE')",
        prepared.endpoints.capture_user,
    )
    assert may == [(False,)]


def test_a_table_with_a_hostile_name_is_quoted_everywhere(
    database: Any, pipeline_factory: Callable[..., Any]
) -> None:
    hostile = "x; DROP TABLE y;--"
    database.execute("CREATE TABLE y (id int PRIMARY KEY)")
    table = sql.Identifier(hostile)
    database.connection.execute(sql.SQL("CREATE TABLE {} (id int PRIMARY KEY)").format(table))
    database.connection.execute(sql.SQL("INSERT INTO {} VALUES (1)").format(table))
    prepared = pipeline_factory(f"public.{hostile}")
    apply(prepared)
    database.connection.execute(sql.SQL("TRUNCATE {}").format(table))
    assert apply(prepared) == []
    assert database.execute("SELECT count(*) FROM y") == [(0,)]


def test_the_slot_is_made_only_when_nothing_is_snapshotted(
    shop: Any, pipeline_factory: Callable[..., Any]
) -> None:
    snapshotted = pipeline_factory("public.orders")
    apply(snapshotted)
    assert find_slot(shop.connection, snapshotted.pipeline.slot_name) is None
    streamed = pipeline_factory("public.orders", source={"snapshot": "none"})
    apply(streamed)
    slot = find_slot(shop.connection, streamed.pipeline.slot_name)
    assert slot is not None
    assert (slot.plugin, slot.database) == ("pgoutput", shop.name)


def test_a_slot_of_another_plugin_is_refused(
    shop: Any, pipeline_factory: Callable[..., Any]
) -> None:
    prepared = pipeline_factory("public.orders")
    slot = prepared.pipeline.slot_name
    shop.execute("SELECT pg_create_physical_replication_slot(%s)", slot)
    try:
        refused = [a for a in postgres_actions(*prepared) if a.verb is Verb.REFUSED]
    finally:
        shop.execute("SELECT pg_drop_replication_slot(%s)", slot)
    assert [a.target for a in refused] == [f"slot {slot}"]
    assert "pg_drop_replication_slot" in refused[0].fix
