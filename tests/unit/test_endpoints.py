"""The file's addresses win, the stack's fill the gaps, and passwords stay out of sight."""

from dataclasses import replace
from pathlib import Path

import pytest
from psycopg.conninfo import conninfo_to_dict

from cdc.config.load import parse_pipeline
from cdc.endpoints import embedded_services, resolve
from cdc.errors import ConfigError
from cdc.stack.addresses import Addresses

STACK = Addresses(
    postgres_host="127.0.0.1",
    postgres_port=5555,
    postgres_admin_user="postgres",
    postgres_admin_password="adm1n",
    kafka_bootstrap="127.0.0.1:9999",
    connect_url="http://127.0.0.1:8888",
    opensearch_url="http://127.0.0.1:7777",
    redis_url="redis://127.0.0.1:6666",
    secrets_dir=Path("/state/secrets"),
)
EMBEDDED = parse_pipeline("name: shop\nsource: {database: shop}\ntables: [public.orders]\n")
EXTERNAL = parse_pipeline("""
name: shop
source:
  host: db
  port: 6432
  database: shop
  password: env:CAPTURE
  admin_user: owner
  admin_password: env:ADMIN
  sslmode: verify-full
kafka: {bootstrap_servers: "k1:9092"}
connect: {url: "http://connect:8083/", source_password: "${env:PW}"}
sinks: {search: {type: opensearch, url: "http://search:9200"}}
tables: [public.orders]
""")


@pytest.fixture(autouse=True)
def passwords(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CAPTURE", "c4pture")
    monkeypatch.setenv("ADMIN", "0wner")


def test_what_the_file_leaves_out_is_the_stacks() -> None:
    found = resolve(EMBEDDED, STACK)
    assert (found.postgres_host, found.postgres_port) == ("127.0.0.1", 5555)
    assert (found.admin_user, found.admin_password) == ("postgres", "adm1n")
    assert found.kafka_bootstrap == "127.0.0.1:9999"
    assert found.connect_url == "http://127.0.0.1:8888"
    assert found.connect_password_reference == "${dir:/state/secrets:shop.password}"
    assert found.connect_password_file == Path("/state/secrets/shop.password")
    assert (found.opensearch_url, found.redis_url) == (STACK.opensearch_url, STACK.redis_url)


@pytest.mark.parametrize("stack", [None, STACK])
def test_what_the_file_gives_wins(stack: Addresses | None) -> None:
    found = resolve(EXTERNAL, stack)
    assert (found.postgres_host, found.postgres_port) == ("db", 6432)
    assert (found.admin_user, found.admin_password) == ("owner", "0wner")
    assert (found.capture_user, found.capture_password) == ("cdc_capture", "c4pture")
    assert (found.kafka_bootstrap, found.connect_url) == ("k1:9092", "http://connect:8083")
    assert found.connect_password_reference == "${env:PW}"
    assert found.connect_password_file is None
    assert found.opensearch_url == "http://search:9200"


def test_without_an_admin_the_capturing_role_does_everything() -> None:
    source = EXTERNAL.source.model_copy(update={"admin_user": None, "admin_password": None})
    found = resolve(EXTERNAL.model_copy(update={"source": source}), None)
    assert (found.admin_user, found.admin_password) == ("cdc_capture", "c4pture")


def test_without_a_stack_the_missing_addresses_are_named() -> None:
    with pytest.raises(ConfigError, match=r"source\.host.*kafka\.boot.*connect\.url") as caught:
        resolve(EMBEDDED, None)
    assert caught.value.hint == "cdc stack up"


def test_the_generated_password_is_the_same_every_time_and_differs_by_role_and_stack() -> None:
    first = resolve(EMBEDDED, STACK).capture_password
    assert resolve(EMBEDDED, STACK).capture_password == first
    neighbour = EMBEDDED.model_copy(update={"name": "other"})
    assert resolve(neighbour, STACK).capture_password == first, "one role has one password"
    source = EMBEDDED.source.model_copy(update={"user": "another_role"})
    other = EMBEDDED.model_copy(update={"source": source})
    assert resolve(other, STACK).capture_password != first
    elsewhere = replace(STACK, postgres_admin_password="different")
    assert resolve(EMBEDDED, elsewhere).capture_password != first
    assert len(first) >= 32


def test_the_login_string_survives_any_password(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ADMIN", "it's a \\ b=c")
    parts = conninfo_to_dict(resolve(EXTERNAL, None).admin_conninfo())
    assert parts["password"] == "it's a \\ b=c"
    assert (parts["user"], parts["sslmode"], parts["dbname"]) == ("owner", "verify-full", "shop")


def test_no_password_is_in_the_repr() -> None:
    shown = repr(resolve(EXTERNAL, STACK)) + repr(STACK)
    assert not any(secret in shown for secret in ("c4pture", "0wner", "adm1n"))


def test_only_services_without_an_address_are_needed_from_the_stack() -> None:
    assert embedded_services(EMBEDDED) == ["postgres", "kafka", "connect"]
    assert embedded_services(EXTERNAL) == []
    with_sinks = parse_pipeline(
        "name: shop\nsource: {database: shop}\ntables: [public.orders]\n"
        "sinks: {a: {type: redis}, b: {type: redis}, c: {type: opensearch}, d: {type: warehouse}}\n"
    )
    assert embedded_services(with_sinks) == ["postgres", "kafka", "connect", "opensearch", "redis"]
