"""The Debezium configuration made from a pipeline."""

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from cdc.config import Pipeline, Table
from cdc.endpoints import Endpoints
from connectors.connector import connector_config, heartbeat_topic, table_pattern
from connectors.encoding import VALUE_ENCODING

ENDPOINTS = Endpoints(
    postgres_host="db",
    postgres_port=5433,
    database="shop",
    admin_user="admin",
    admin_password="admin-canary",
    capture_user="cdc_capture",
    capture_password="capture-canary",
    sslmode="verify-full",
    kafka_bootstrap="kafka:9092",
    connect_url="http://connect:8083",
    connect_password_reference="${env:CDC_SOURCE_PASSWORD}",
    connect_password_file=None,
    opensearch_url=None,
    redis_url=None,
)


def pipeline(*tables: Any, **source: Any) -> Pipeline:
    document = {"name": "shop", "source": {"database": "shop", **source}, "tables": list(tables)}
    return Pipeline.model_validate(document)


def test_every_setting_is_a_string_as_connect_wants_them() -> None:
    config = connector_config(pipeline("public.orders"), ENDPOINTS)
    assert all(isinstance(value, str) for value in config.values())


def test_the_password_is_only_ever_a_reference() -> None:
    config = connector_config(pipeline("public.orders"), ENDPOINTS)
    assert config["database.password"] == "${env:CDC_SOURCE_PASSWORD}"
    assert "canary" not in str(config)
    assert config["database.sslmode"] == "verify-full"


def test_a_delete_becomes_a_real_null_and_only_two_headers_are_added() -> None:
    config = connector_config(pipeline("public.orders"), ENDPOINTS)
    assert config["transforms.unwrap.delete.tombstone.handling.mode"] == "delete-to-tombstone"
    assert config["transforms.unwrap.add.headers"] == "lsn,source.ts_ms:ts_ms"
    assert config["transforms.unwrap.add.headers.prefix"] == ""
    assert config["extended.headers.enabled"] == "false"


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("exactly.once.support", "required"),
        ("transaction.boundary", "poll"),
        ("publication.autocreate.mode", "disabled"),
        ("slot.drop.on.stop", "false"),
        ("errors.tolerance", "none"),
        ("lsn.flush.mode", "connector"),
        ("plugin.name", "pgoutput"),
        ("snapshot.max.threads", "1"),
    ],
)
def test_what_is_unclear_stops_the_task(key: str, value: str) -> None:
    assert connector_config(pipeline("public.orders"), ENDPOINTS)[key] == value


def test_how_values_are_written_is_taken_over_whole() -> None:
    config = connector_config(pipeline("public.orders"), ENDPOINTS)
    assert {key: config[key] for key in VALUE_ENCODING} == dict(VALUE_ENCODING)


@pytest.mark.parametrize(("snapshot", "mode"), [("debezium", "initial"), ("none", "no_data")])
def test_the_snapshot_mode_follows_the_pipeline(snapshot: str, mode: str) -> None:
    config = connector_config(pipeline("public.orders", snapshot=snapshot), ENDPOINTS)
    assert config["snapshot.mode"] == mode


def test_names_default_to_the_pipelines_and_can_be_given() -> None:
    config = connector_config(pipeline("public.orders"), ENDPOINTS)
    assert (config["slot.name"], config["publication.name"]) == ("shop_cdc", "shop_cdc")
    given = connector_config(pipeline("public.orders", slot="a", publication="b"), ENDPOINTS)
    assert (given["slot.name"], given["publication.name"]) == ("a", "b")


def test_the_heartbeat_needs_no_table() -> None:
    config = connector_config(pipeline("public.orders", heartbeat_seconds=7), ENDPOINTS)
    assert config["heartbeat.interval.ms"] == "7000"
    assert config["heartbeat.action.query"].startswith("SELECT pg_logical_emit_message(false,")
    assert re.fullmatch(config["message.prefix.exclude.list"], "cdc.heartbeat")
    assert heartbeat_topic(pipeline("public.orders")) == "__debezium-heartbeat.shop"


@pytest.mark.parametrize("name", ["public.orders", "public.a-b", "my schema.x$y", "s.(a|b)*"])
def test_a_table_pattern_matches_its_table_and_no_other(name: str) -> None:
    pattern = table_pattern(Table.model_validate(name)).removeprefix("(?-i)")
    assert re.fullmatch(pattern, name)
    assert not re.fullmatch(pattern, name.replace(".", "x"))
    assert not re.fullmatch(pattern, name + "s")


def test_tables_that_differ_only_by_case_are_told_apart() -> None:
    assert table_pattern(Table.model_validate("public.orders")).startswith("(?-i)")


def test_several_tables_are_listed_in_order() -> None:
    config = connector_config(pipeline("public.b", "public.a"), ENDPOINTS)
    assert config["table.include.list"] == r"(?-i)public\.b,(?-i)public\.a"


def test_endpoints_do_not_show_passwords() -> None:
    shown = repr(replace(ENDPOINTS, connect_password_file=Path("/secrets/shop.password")))
    assert "canary" not in shown
