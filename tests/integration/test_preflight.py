"""Every bad set-up is found by its check, on the real servers, before anything is created."""

import shutil
import socket
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import psycopg
import pytest
from kafka import KafkaAdminClient

from cdc.stack.postgres import SETTINGS
from cdc.stack.stack import Stack
from connectors.connect import ConnectClient
from connectors.plan import RefusedError, apply_plan, make_plan
from connectors.preflight import CHECKS, CheckResult, Outcome, run_checks
from connectors.topics import Topic, topic_admin

Factory = Callable[..., Any]


def results(prepared: Any, check: str) -> list[CheckResult]:
    return [result for result in run_checks(*prepared) if result.name == check]


def failure(prepared: Any, check: str) -> CheckResult:
    """Return the one failure of a check; fails the test when there is another number of them."""
    [found] = [r for r in results(prepared, check) if r.outcome is Outcome.FAIL]
    assert found.fix, "a failing check names the fix"
    return found


@pytest.fixture
def orders(database: Any, pipeline_factory: Factory) -> Any:
    """Give a pipeline with nothing wrong."""
    database.execute("CREATE TABLE orders (id int PRIMARY KEY, amount int)")
    return pipeline_factory("public.orders")


def test_a_good_set_up_passes_every_check(orders: Any) -> None:
    found = run_checks(*orders)
    assert {result.name for result in found} == {check.name for check in CHECKS}
    assert [r for r in found if r.outcome in (Outcome.FAIL, Outcome.WARN)] == []


def test_checks_create_nothing(orders: Any, database: Any) -> None:
    run_checks(*orders)
    assert database.execute("SELECT count(*) FROM pg_publication") == [(0,)]
    with topic_admin(orders.endpoints.kafka_bootstrap) as admin:
        assert not [name for name in admin.names() if orders.pipeline.name in name]


def test_apply_refuses_a_bad_set_up_before_anything_is_created(
    database: Any, pipeline_factory: Factory
) -> None:
    database.execute("CREATE TABLE orders (id int)")
    prepared = pipeline_factory("public.orders")
    with pytest.raises(RefusedError, match="no primary key") as caught:
        apply_plan(make_plan(*prepared))
    assert "ADD PRIMARY KEY" in caught.value.hint
    assert database.execute("SELECT count(*) FROM pg_publication") == [(0,)]
    with topic_admin(prepared.endpoints.kafka_bootstrap) as admin:
        assert not [name for name in admin.names() if prepared.pipeline.name in name]


# --- programs -------------------------------------------------------------------------------


@pytest.fixture
def closed_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])


def test_without_postgres_its_checks_are_skipped_and_never_ok(
    orders: Any, closed_port: int
) -> None:
    found = run_checks(orders.pipeline, replace(orders.endpoints, postgres_port=closed_port))
    by_name = {result.name: result for result in found}
    assert by_name["postgres"].outcome is Outcome.FAIL
    assert "cdc stack up" in by_name["postgres"].fix
    dependent = [check.name for check in CHECKS if "postgres" in check.needs]
    assert {by_name[name].outcome for name in dependent} == {Outcome.SKIP}
    assert "postgres failed" in by_name["wal level"].message
    assert by_name["kafka"].outcome is Outcome.OK


def test_without_kafka_topics_are_not_looked_at(orders: Any, closed_port: int) -> None:
    endpoints = replace(orders.endpoints, kafka_bootstrap=f"127.0.0.1:{closed_port}")
    by_name = {result.name: result for result in run_checks(orders.pipeline, endpoints)}
    assert by_name["kafka"].outcome is Outcome.FAIL
    assert by_name["topics"].outcome is Outcome.SKIP


def test_without_connect_the_position_is_not_looked_at(orders: Any, closed_port: int) -> None:
    endpoints = replace(orders.endpoints, connect_url=f"http://127.0.0.1:{closed_port}")
    by_name = {result.name: result for result in run_checks(orders.pipeline, endpoints)}
    assert by_name["connect"].outcome is Outcome.FAIL
    assert by_name["position"].outcome is Outcome.SKIP


def test_more_copies_than_brokers_are_refused(database: Any, pipeline_factory: Factory) -> None:
    database.execute("CREATE TABLE orders (id int PRIMARY KEY)")
    prepared = pipeline_factory("public.orders", kafka={"replication_factor": 3})
    assert failure(prepared, "kafka").fix == (
        "set `replication_factor: 1` under `kafka` in pipeline.yaml"
    )


def test_a_password_that_is_no_reference_is_refused_and_not_shown(orders: Any) -> None:
    endpoints = replace(orders.endpoints, connect_password_reference="canary")
    [found] = [r for r in run_checks(orders.pipeline, endpoints) if r.name == "password"]
    assert found.outcome is Outcome.FAIL
    assert "canary" not in found.message + found.fix
    assert "source_password: ${env:" in found.fix


# --- the server -----------------------------------------------------------------------------


@pytest.fixture(scope="module")
def poor_server() -> Iterator[dict[str, Any]]:
    """Start a second, small Postgres that is not set up for capturing."""
    home = Path(tempfile.mkdtemp(prefix="cdc-poor-"))
    # Postgres does not run as root and has to get at its files.
    home.chmod(0o755)
    poor = {
        "wal_level": "replica",
        "max_replication_slots": "0",
        "max_wal_senders": "0",
        "max_slot_wal_keep_size": "-1",
    }
    stack = Stack(home)
    with pytest.MonkeyPatch.context() as patch:
        for name, value in poor.items():
            patch.setitem(SETTINGS, name, value)
        stack.up(only=["postgres"])
        try:
            addresses = stack.addresses()
            yield {
                "postgres_host": addresses.postgres_host,
                "postgres_port": addresses.postgres_port,
                "admin_user": addresses.postgres_admin_user,
                "admin_password": addresses.postgres_admin_password,
                "database": "postgres",
            }
        finally:
            stack.down()
            shutil.rmtree(home, ignore_errors=True)


@pytest.mark.parametrize(
    ("check", "outcome", "fix"),
    [
        ("wal level", Outcome.FAIL, "ALTER SYSTEM SET wal_level = 'logical'"),
        ("slots", Outcome.FAIL, "ALTER SYSTEM SET max_replication_slots = 4"),
        ("wal senders", Outcome.FAIL, "ALTER SYSTEM SET max_wal_senders = 4"),
        ("wal retention", Outcome.WARN, "ALTER SYSTEM SET max_slot_wal_keep_size"),
    ],
)
def test_a_server_that_is_not_set_up_is_refused(
    orders: Any, poor_server: dict[str, Any], check: str, outcome: Outcome, fix: str
) -> None:
    endpoints = replace(orders.endpoints, **poor_server)
    [found] = [r for r in run_checks(orders.pipeline, endpoints) if r.name == check]
    assert found.outcome is outcome
    assert fix in found.fix


def test_a_slot_of_another_kind_is_refused(orders: Any, database: Any) -> None:
    slot = orders.pipeline.slot_name
    database.execute("SELECT pg_create_physical_replication_slot(%s)", slot)
    try:
        found = failure(orders, "slots")
    finally:
        database.execute("SELECT pg_drop_replication_slot(%s)", slot)
    assert "not of pgoutput" in found.message


def test_a_slot_of_another_database_is_refused(orders: Any, database: Any) -> None:
    slot = orders.pipeline.slot_name
    with psycopg.connect(database.conninfo(dbname="postgres"), autocommit=True) as other:
        other.execute("SELECT pg_create_logical_replication_slot(%s, 'pgoutput')", (slot,))
        try:
            found = failure(orders, "slots")
        finally:
            other.execute("SELECT pg_drop_replication_slot(%s)", (slot,))
    assert "belongs to database postgres" in found.message


# --- roles ----------------------------------------------------------------------------------


@pytest.fixture
def weak_admin(orders: Any, database: Any) -> Iterator[Any]:
    """Give a pipeline whose administrator may do nothing."""
    role = f"{orders.pipeline.name}_weak"
    database.execute(f"CREATE ROLE {role} LOGIN PASSWORD 'weak'")
    yield replace(
        orders, endpoints=replace(orders.endpoints, admin_user=role, admin_password="weak")
    )
    database.execute(f"REASSIGN OWNED BY {role} TO CURRENT_USER; DROP OWNED BY {role}")
    database.execute(f"DROP ROLE {role}")


def test_an_administrator_without_privileges_is_told_each_one(
    weak_admin: Any, database: Any
) -> None:
    found = [r for r in results(weak_admin, "administrator") if r.outcome is Outcome.FAIL]
    told = " ".join(result.message for result in found)
    for word in ("may not create role", "replicates", "schema and a publication", "own table"):
        assert word in told
    assert any("session_replication_role" in result.fix for result in found)
    role = weak_admin.endpoints.admin_user
    for result in found:
        database.execute(result.fix)
    assert [r.outcome for r in results(weak_admin, "administrator")] == [Outcome.OK], role


@pytest.mark.parametrize(
    ("spoil", "word"),
    [
        ("ALTER ROLE {role} SUPERUSER", "is a superuser"),
        ("ALTER ROLE {role} CREATEROLE", "may create roles"),
        ("ALTER ROLE {role} BYPASSRLS", "bypasses row security"),
        ("GRANT pg_read_all_data TO {role}", "is a member of pg_read_all_data"),
        ("GRANT UPDATE ON orders TO {role}", "may change table public.orders"),
        ("CREATE TABLE mine (id int); ALTER TABLE mine OWNER TO {role}", "owns table"),
    ],
)
def test_a_capture_role_that_may_do_too_much_is_refused(
    orders: Any, database: Any, spoil: str, word: str
) -> None:
    role = orders.endpoints.capture_user
    database.execute(f"CREATE ROLE {role} LOGIN REPLICATION")
    assert [r.outcome for r in results(orders, "capture role")] == [Outcome.OK]
    database.execute(spoil.format(role=role))
    found = [r for r in results(orders, "capture role") if r.outcome is Outcome.FAIL]
    assert word in found[0].message
    database.execute(found[0].fix)
    assert word not in " ".join(r.message for r in results(orders, "capture role"))


def test_reading_other_tables_is_only_a_warning(orders: Any, database: Any) -> None:
    role = orders.endpoints.capture_user
    database.execute(
        f"CREATE ROLE {role}; CREATE TABLE other (id int); GRANT SELECT ON other TO {role}"
    )
    [found] = results(orders, "capture role")
    assert (found.outcome, found.message) == (Outcome.WARN, f"{role} may also read public.other")
    database.execute(found.fix)
    assert [r.outcome for r in results(orders, "capture role")] == [Outcome.OK]


def test_the_administrator_cannot_be_the_capture_role(orders: Any) -> None:
    endpoints = replace(orders.endpoints, capture_user=orders.endpoints.admin_user)
    found = failure((orders.pipeline, endpoints), "capture role")
    assert "admin_user" in found.fix


def test_an_expired_password_is_found(orders: Any, database: Any) -> None:
    database.execute(f"CREATE ROLE {orders.endpoints.capture_user} LOGIN VALID UNTIL '2001-01-01'")
    assert "VALID UNTIL 'infinity'" in failure(orders, "login").fix


def test_a_role_that_another_connector_uses_with_another_password_is_left_alone(
    orders: Any, database: Any, pipeline_factory: Factory, eventually: Callable[..., Any]
) -> None:
    apply_plan(make_plan(*orders))
    query = "SELECT active FROM pg_replication_slots WHERE slot_name = %s"
    eventually(lambda: database.execute(query, orders.pipeline.slot_name) == [(True,)])
    role = orders.endpoints.capture_user
    second = pipeline_factory("public.orders", source={"user": role})
    shared = replace(second, endpoints=replace(second.endpoints, capture_password="another"))
    found = failure(shared, "login")
    assert orders.pipeline.slot_name in found.message
    assert f"user: {second.pipeline.name}_capture" in found.fix


def test_row_security_that_hides_rows_from_the_snapshot_is_refused(
    orders: Any, database: Any
) -> None:
    database.execute("ALTER TABLE orders ENABLE ROW LEVEL SECURITY")
    database.execute(failure(orders, "row security").fix)
    assert [r.outcome for r in results(orders, "row security")] == [Outcome.OK]


# --- topics and names -----------------------------------------------------------------------


def test_names_that_are_rewritten_or_collide_are_refused(
    database: Any, pipeline_factory: Factory
) -> None:
    database.execute(
        'CREATE TABLE "a b" (id int PRIMARY KEY); CREATE TABLE a_b (id int PRIMARY KEY)'
    )
    found = results(pipeline_factory("public.a b", "public.a_b"), "names")
    assert [r.outcome for r in found] == [Outcome.FAIL, Outcome.FAIL]
    assert "another name" in found[0].message
    assert "collide" in found[1].message


@pytest.fixture
def kafka(orders: Any) -> Iterator[Callable[[str, int, dict[str, str]], None]]:
    """Give a function that makes a topic by hand; it is gone afterwards."""
    made: list[str] = []

    def make(name: str, partitions: int, settings: dict[str, str]) -> None:
        with topic_admin(orders.endpoints.kafka_bootstrap) as admin:
            admin.create(Topic(name, partitions, 1, settings))
        made.append(name)

    yield make
    admin = KafkaAdminClient(bootstrap_servers=orders.endpoints.kafka_bootstrap)
    admin.delete_topics(made)
    admin.close()


def test_a_topic_with_another_policy_is_refused(orders: Any, kafka: Any) -> None:
    topic = f"{orders.pipeline.name}.public.orders"
    kafka(topic, 4, {"cleanup.policy": "delete"})
    found = failure(orders, "topics")
    assert "cleanup.policy: delete → compact" in found.message
    assert f"configs alter -r topic -n {topic}" in found.fix


def test_a_topic_with_another_number_of_partitions_is_refused(orders: Any, kafka: Any) -> None:
    kafka(f"{orders.pipeline.name}.public.orders", 7, {"cleanup.policy": "compact"})
    found = failure(orders, "topics")
    assert "partitions: 7 → 4" in found.message
    assert "`partitions: 7`" in found.fix


def test_a_topic_that_kafka_takes_for_ours_is_refused(orders: Any, kafka: Any) -> None:
    kafka(f"{orders.pipeline.name}_public.orders", 1, {})
    assert "collide" in failure(orders, "other topics").message


# --- the position ---------------------------------------------------------------------------


def test_a_slot_that_was_made_anew_is_found(
    orders: Any, database: Any, eventually: Callable[..., Any]
) -> None:
    pipeline, endpoints = orders
    slot = pipeline.slot_name
    apply_plan(make_plan(pipeline, endpoints))
    with ConnectClient(endpoints.connect_url) as connect:
        eventually(lambda: connect.offsets(pipeline.name))
        assert [r.outcome for r in results(orders, "position")] == [Outcome.OK]
        connect.stop(pipeline.name)
    query = "SELECT NOT active FROM pg_replication_slots WHERE slot_name = %s"
    eventually(lambda: database.execute(query, slot)[0][0])
    database.execute("SELECT pg_drop_replication_slot(%s)", slot)
    assert "is gone" in failure(orders, "position").message
    database.execute("INSERT INTO orders VALUES (1, 1)")
    database.execute("SELECT pg_create_logical_replication_slot(%s, 'pgoutput')", slot)
    assert "ahead of the connector" in failure(orders, "position").message
    with pytest.raises(RefusedError, match="the changes between are lost"):
        apply_plan(make_plan(pipeline, endpoints))
