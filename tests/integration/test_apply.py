"""`cdc apply` on the real stack: idempotent, patient, telling what is wrong, hiding passwords."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import httpx
import psycopg
import pytest
from kafka import KafkaAdminClient
from kafka.admin import ConfigResource, ConfigResourceType

from cdc.changelog import read_changelog
from cdc.errors import RetryableError
from connectors.action import Verb
from connectors.connect import ConnectClient, ConnectError
from connectors.plan import Plan, RefusedError, apply_plan, make_plan
from connectors.supervise import Patience, wait_running

Factory = Callable[..., Any]
QUICK = Patience(restarts=1, first_pause=0.2)


@pytest.fixture
def orders(database: Any, pipeline_factory: Factory) -> Any:
    database.execute(
        """CREATE TABLE orders (id int PRIMARY KEY, amount int);
           CREATE TABLE customers (id int PRIMARY KEY);
           INSERT INTO orders SELECT g, g FROM generate_series(1, 5) g"""
    )
    return pipeline_factory("public.orders")


@pytest.fixture
def connect(stack: Any) -> Any:
    with ConnectClient(stack.connect_url) as client:
        yield client


def rows_in_topic(prepared: Any, table: str = "public.orders") -> dict[bytes, bytes | None]:
    topic = f"{prepared.pipeline.name}.{table}"
    records = read_changelog(prepared.endpoints.kafka_bootstrap, topic)
    return {record.key or b"": record.value for record in records}


def test_apply_brings_every_row_into_the_topic_and_a_second_one_changes_nothing(
    orders: Any, eventually: Callable[..., Any]
) -> None:
    said: list[str] = []
    done = apply_plan(make_plan(*orders), said.append)
    assert {action.verb for action in done} == {Verb.CREATE}
    assert said[0] == "checking"
    assert said[-1] == f"waiting for connector {orders.pipeline.name}"
    eventually(lambda: len(rows_in_topic(orders)) == 5)
    again = make_plan(*orders)
    assert again.changes == ()
    assert again.lines() == ["no changes"]
    assert apply_plan(again) == ()


def test_changes_and_truncate_arrive_in_order(
    orders: Any, database: Any, eventually: Callable[..., Any]
) -> None:
    apply_plan(make_plan(*orders))
    eventually(lambda: len(rows_in_topic(orders)) == 5)
    database.execute("UPDATE orders SET amount = 50 WHERE id = 5")
    database.execute("UPDATE orders SET id = 6 WHERE id = 5")
    database.execute("TRUNCATE orders")
    database.execute("INSERT INTO orders VALUES (1, 100)")
    expected = {b'{"id":%d}' % number: None for number in range(2, 7)}
    expected |= {b'{"id":1}': b'{"id":1,"amount":100}'}
    eventually(lambda: rows_in_topic(orders) == expected)
    topic = f"{orders.pipeline.name}.public.orders"
    for record in read_changelog(orders.endpoints.kafka_bootstrap, topic):
        assert [name for name, _ in record.headers] == ["lsn", "ts_ms"]


def test_the_password_never_shows_in_connects_rest_interface(
    orders: Any, connect: ConnectClient
) -> None:
    apply_plan(make_plan(*orders))
    secret = orders.endpoints.capture_password
    name = orders.pipeline.name
    for path in (f"/connectors/{name}", f"/connectors/{name}/config", f"/connectors/{name}/tasks"):
        response = httpx.get(connect.url + path)
        assert response.is_success
        assert secret not in response.text
        assert "${dir:" in response.text or path.endswith("/tasks")
    file = orders.endpoints.connect_password_file
    assert file.stat().st_mode & 0o777 == 0o600
    assert secret not in "\n".join(make_plan(*orders).lines(everything=True))


def test_a_plan_never_shows_a_password_someone_put_into_the_connector(
    orders: Any, connect: ConnectClient
) -> None:
    apply_plan(make_plan(*orders))
    config = connect.config(orders.pipeline.name) or {}
    connect.put_config(
        orders.pipeline.name,
        {
            **config,
            "database.password": orders.endpoints.capture_password,
            "poll.interval.ms": "99",
        },
    )
    plan = make_plan(*orders)
    shown = "\n".join(plan.lines())
    assert orders.endpoints.capture_password not in shown
    assert "database.password: (hidden) → ${dir:" in shown
    assert "poll.interval.ms: 99 → 10" in shown
    apply_plan(plan)
    assert make_plan(*orders).changes == ()


def test_a_topic_that_was_altered_is_refused_and_left_alone(orders: Any) -> None:
    apply_plan(make_plan(*orders))
    topic = f"{orders.pipeline.name}.public.orders"
    alter(orders, topic, {"cleanup.policy": "delete"})
    plan = make_plan(*orders)
    assert [action.target for action in plan.refused] == [f"topic {topic}"]
    assert plan.lines()[-1] == "1 refused: nothing will be applied"
    with pytest.raises(RefusedError, match=r"cleanup\.policy: delete → compact") as caught:
        apply_plan(plan)
    assert f"-n {topic} -c cleanup.policy=compact" in caught.value.hint
    alter(orders, topic, {"cleanup.policy": "compact"})
    assert make_plan(*orders).lines() == ["no changes"]


def alter(prepared: Any, topic: str, settings: dict[str, str]) -> None:
    admin = KafkaAdminClient(bootstrap_servers=prepared.endpoints.kafka_bootstrap)
    admin.alter_configs([ConfigResource(ConfigResourceType.TOPIC, topic, settings)])
    admin.close()


def test_a_failed_task_shows_its_own_error(
    orders: Any, database: Any, connect: ConnectClient
) -> None:
    apply_plan(make_plan(*orders))
    database.execute(f"DROP PUBLICATION {orders.pipeline.publication_name}")
    connect.restart(orders.pipeline.name, only_failed=False)
    said: list[str] = []
    with pytest.raises(ConnectError, match="Publication autocreation is disabled") as caught:
        wait_running(connect, orders.pipeline.name, patience=QUICK, progress=said.append)
    assert "has failed 2 times" in str(caught.value)
    assert said[0].endswith("restart 1 of 1")
    assert "/status" in caught.value.hint


def test_apply_mends_the_cause_and_restarts_the_failed_task(
    orders: Any, database: Any, connect: ConnectClient, eventually: Callable[..., Any]
) -> None:
    name = orders.pipeline.name
    apply_plan(make_plan(*orders))
    database.execute(f"DROP PUBLICATION {orders.pipeline.publication_name}")
    connect.restart(name, only_failed=False)
    eventually(lambda: (status := connect.status(name)) and status.failed)
    plan = make_plan(*orders)
    assert [a.target for a in plan.changes] == [f"publication {orders.pipeline.publication_name}"]
    apply_plan(plan)
    status = connect.status(name)
    assert status is not None
    assert status.running


def test_a_new_password_reaches_the_running_connector(
    orders: Any, database: Any, eventually: Callable[..., Any]
) -> None:
    apply_plan(make_plan(*orders))
    eventually(lambda: len(rows_in_topic(orders)) == 5)
    [(before,)] = database.execute("SELECT clock_timestamp()")
    changed = replace(orders.endpoints, capture_password="another one")
    plan = make_plan(orders.pipeline, changed)
    assert [action.verb for action in plan.changes] == [Verb.UPDATE, Verb.UPDATE]
    said: list[str] = []
    apply_plan(plan, said.append)
    assert f"restart connector {orders.pipeline.name}" in said
    query = """SELECT count(*) > 0 AND min(backend_start) > %s FROM pg_stat_activity
               WHERE usename = %s"""
    eventually(lambda: database.execute(query, before, orders.endpoints.capture_user)[0][0])


def test_a_table_can_be_added_and_taken_away(
    orders: Any, database: Any, pipeline_factory: Factory, eventually: Callable[..., Any]
) -> None:
    apply_plan(make_plan(*orders))
    both = pipeline_factory("public.orders", "public.customers", name=orders.pipeline.name)
    apply_plan(make_plan(*both))
    database.execute("INSERT INTO customers VALUES (1)")
    eventually(lambda: rows_in_topic(both, "public.customers") == {b'{"id":1}': b'{"id":1}'})
    plan: Plan = make_plan(*orders)
    shown = "\n".join(plan.lines())
    assert "table: public.customers → (removed)" in shown
    assert f"topic {orders.pipeline.name}.public.customers stays" in shown
    apply_plan(plan)
    assert rows_in_topic(both, "public.customers")
    assert make_plan(*orders).changes == ()


def test_the_slot_moves_on_while_only_another_database_writes(
    orders: Any, database: Any, eventually: Callable[..., Any]
) -> None:
    apply_plan(make_plan(*orders))
    query = """SELECT confirmed_flush_lsn > %s::pg_lsn FROM pg_replication_slots
               WHERE slot_name = %s"""
    elsewhere = noise(database)
    eventually(lambda: database.execute(query, elsewhere, orders.pipeline.slot_name)[0][0])


def noise(database: Any) -> str:
    """Write into another database; return the position after it."""
    with psycopg.connect(database.conninfo(dbname="postgres"), autocommit=True) as other:
        other.execute("CREATE TABLE cdc_noise AS SELECT generate_series(1, 10000) AS n")
        other.execute("DROP TABLE cdc_noise")
        [position] = other.execute("SELECT pg_current_wal_lsn()").fetchone() or ("",)
        return str(position)


def test_a_configuration_debezium_refuses_is_told_field_by_field(connect: ConnectClient) -> None:
    problems = connect.validate(
        {
            "name": "bad",
            "connector.class": "io.debezium.connector.postgresql.PostgresConnector",
            "topic.prefix": "not a topic!",
            "poll.interval.ms": "soon",
        }
    )
    assert "poll.interval.ms" in problems
    assert "topic.prefix" in problems


def test_an_unknown_connector_is_none_and_can_be_deleted(connect: ConnectClient) -> None:
    assert connect.config("nobody") is None
    assert connect.status("nobody") is None
    connect.delete("nobody")


def test_a_connect_that_is_down_is_worth_a_retry_and_says_what_to_do() -> None:
    with (
        ConnectClient("http://127.0.0.1:1") as client,
        pytest.raises(RetryableError, match=r"does not answer at http://127.0.0.1:1") as caught,
    ):
        client.version()
    assert "cdc stack up" in caught.value.hint


def test_a_connector_can_be_paused_resumed_and_stopped(
    orders: Any, connect: ConnectClient, eventually: Callable[..., Any]
) -> None:
    name = orders.pipeline.name
    apply_plan(make_plan(*orders))

    def state() -> str:
        status = connect.status(name)
        return status.state if status else ""

    connect.pause(name)
    eventually(lambda: state() == "PAUSED")
    connect.resume(name)
    wait_running(connect, name)
    eventually(lambda: connect.offsets(name))
    connect.stop(name)
    eventually(lambda: state() == "STOPPED")
    connect.delete_offsets(name)
    assert connect.offsets(name) == []
