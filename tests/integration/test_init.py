"""`cdc init` on a real database, and the road from there to a running connector."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from cdc.cli.run import run
from cdc.config import load_pipeline
from cdc.stack.addresses import Addresses
from cdc.stack.stack import Stack

TABLES = """
CREATE TABLE orders (id bigint PRIMARY KEY, amount numeric(10, 2));
INSERT INTO orders SELECT g, g FROM generate_series(1, 1000) g;
CREATE TABLE notes (id int PRIMARY KEY, body text);
CREATE TABLE pairs (a int, b int, PRIMARY KEY (b, a));
CREATE TABLE no_key (a int);
CREATE UNLOGGED TABLE unlogged (id int PRIMARY KEY);
CREATE TABLE late (id int PRIMARY KEY DEFERRABLE);
CREATE TABLE price_key (price float8 PRIMARY KEY);
CREATE TABLE parent (id int PRIMARY KEY);
CREATE TABLE child () INHERITS (parent);
CREATE TABLE "Odd, name" (id int PRIMARY KEY);
CREATE TABLE "two words" (id int PRIMARY KEY);
CREATE TABLE months (id int PRIMARY KEY) PARTITION BY RANGE (id);
CREATE TABLE months_1 PARTITION OF months FOR VALUES FROM (0) TO (10);
CREATE SCHEMA other;
CREATE TABLE other.things (id uuid PRIMARY KEY);
CREATE VIEW a_view AS SELECT 1 AS id;
ANALYZE orders;
"""


@pytest.fixture
def cdc(running_stack: Stack, tmp_path: Path) -> Callable[..., int]:
    """Run `cdc` on the shared stack with a pipeline file of the test's own."""
    common = ["--state-dir", str(running_stack.state_dir), "--file", str(tmp_path / "p.yaml")]
    return lambda *line: run([*common, *line])


def test_init_lists_what_can_be_captured_and_says_why_the_rest_cannot(
    cdc: Callable[..., int], database: Any, tmp_path: Path
) -> None:
    database.execute(TABLES)
    assert cdc("init", "--database", database.name) == 0
    pipeline = load_pipeline(tmp_path / "p.yaml")
    assert [table.name for table in pipeline.tables] == [
        "other.things",
        "public.months",
        "public.notes",
        "public.orders",
        "public.pairs",
    ]
    assert pipeline.source.host is None
    assert pipeline.source.database == database.name
    text = (tmp_path / "p.yaml").read_text()
    assert "- public.orders  # key id; about 1,000 rows\n" in text
    assert "- public.pairs  # key b, a; rows unknown" in text
    assert "- public.notes  # key id; rows unknown; needs another REPLICA IDENTITY" in text
    for line in (
        "# - public.no_key  # cannot be captured: it has no primary key",
        "# - public.child  # cannot be captured: it has no primary key",
        "# - public.unlogged  # cannot be captured: it is unlogged",
        "# - public.late  # cannot be captured: its primary key is deferrable",
        "# - public.price_key  # cannot be captured: key column price: 0 and -0",
        "# - public.parent  # cannot be captured: tables inherit from it",
        "# - public.Odd, name  # cannot be captured: its name has characters",
        "# - public.two words  # cannot be captured: its name has characters",
    ):
        assert line in text
    assert "a_view" not in text
    assert "months_1" not in text


def test_init_looks_at_your_own_postgres_with_a_password_by_reference(
    cdc: Callable[..., int],
    database: Any,
    stack: Addresses,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    database.execute("CREATE TABLE orders (id int PRIMARY KEY)")
    monkeypatch.setenv("CDC_TEST_ADMIN", stack.postgres_admin_password)
    server = ["--host", stack.postgres_host, "--port", str(stack.postgres_port)]
    login = ["--user", stack.postgres_admin_user, "--password", "env:CDC_TEST_ADMIN"]
    assert cdc("init", *server, *login, "--database", database.name, "--name", "mine") == 0
    text = (tmp_path / "p.yaml").read_text()
    assert stack.postgres_admin_password not in text
    source = load_pipeline(tmp_path / "p.yaml").source
    assert (source.host, source.port) == (stack.postgres_host, stack.postgres_port)
    assert source.admin_password is not None
    assert source.admin_password.resolve() == stack.postgres_admin_password


def test_init_of_an_empty_database_names_the_others_and_writes_nothing(
    cdc: Callable[..., int],
    database: Any,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert cdc("init", "--database", database.name) == 1
    shown = capsys.readouterr().err
    assert f"database {database.name} has no tables; this server also has: " in shown
    assert "postgres" in shown
    assert not (tmp_path / "p.yaml").exists()


def test_init_where_nothing_can_be_captured_says_why_and_writes_nothing(
    cdc: Callable[..., int],
    database: Any,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    database.execute("CREATE TABLE no_key (a int)")
    assert cdc("init", "--database", database.name) == 1
    shown = capsys.readouterr().err
    assert "public.no_key: it has no primary key" in shown
    assert "ADD PRIMARY KEY" in shown
    assert not (tmp_path / "p.yaml").exists()


def test_a_wrong_password_is_told_without_repeating_it(
    cdc: Callable[..., int],
    stack: Addresses,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("PGPASSWORD", "wr0ng-s3cret")
    server = ["--host", stack.postgres_host, "--port", str(stack.postgres_port)]
    assert cdc("init", *server, "--user", stack.postgres_admin_user) == 1
    shown = capsys.readouterr().err
    assert "cannot log in to Postgres" in shown
    assert "wr0ng-s3cret" not in shown


def test_from_init_to_a_running_connector(
    cdc: Callable[..., int],
    database: Any,
    pipeline_factory: Callable[..., Any],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    database.execute("CREATE TABLE orders (id bigint PRIMARY KEY, amount int)")
    database.execute("INSERT INTO orders SELECT g, g FROM generate_series(1, 100) g")
    pipeline, endpoints = pipeline_factory("public.orders")  # it cleans up under the same names
    assert cdc("init", "--database", database.name, "--name", pipeline.name) == 0
    file = tmp_path / "p.yaml"
    own_role = f"  database: {database.name}\n  user: {endpoints.capture_user}\n"
    file.write_text(file.read_text().replace(f"  database: {database.name}\n", own_role))
    capsys.readouterr()

    def answer(*line: str) -> tuple[int, Any]:
        code = cdc(*line, "--json")
        return code, json.loads(capsys.readouterr().out)

    code, status = answer("status")
    assert (code, status["ok"]) == (1, False)
    assert set(status["problems"]) == {"connector", "topics", "slot", "publication"}

    code, checked = answer("check")
    assert (code, checked["ok"]) == (0, True), checked

    code, planned = answer("plan")
    assert (code, planned["refused"]) == (0, 0)
    assert planned["changes"] > 5

    code, applied = answer("apply")
    assert (code, len(applied["done"])) == (0, planned["changes"])

    assert answer("plan")[1]["changes"] == 0
    code, again = answer("apply")
    assert (code, again["done"]) == (0, [])

    code, status = answer("status")
    assert (code, status["ok"], status["problems"]) == (0, True, {})
    assert status["connector"] == "RUNNING"
    assert [task["state"] for task in status["tasks"]] == ["RUNNING"]
    assert status["slot"]["active"] is True
    assert status["slot"]["retained_bytes"] >= 0
    assert [topic["name"] for topic in status["topics"]] == [f"{pipeline.name}.public.orders"]

    database.execute(f"DROP PUBLICATION {pipeline.publication_name}")
    code, status = answer("status")
    assert (code, set(status["problems"])) == (1, {"publication"})


def test_stack_status_shows_every_service_ready(
    cdc: Callable[..., int], capsys: pytest.CaptureFixture[str]
) -> None:
    assert cdc("stack", "status", "--json") == 0
    services = json.loads(capsys.readouterr().out)["services"]
    assert {each["name"]: each["state"] for each in services} == dict.fromkeys(
        ["postgres", "kafka", "connect", "opensearch", "redis"], "ready"
    )


def test_stack_logs_prints_the_end_of_a_log(
    cdc: Callable[..., int], capsys: pytest.CaptureFixture[str]
) -> None:
    assert cdc("stack", "logs", "connect", "-n", "3") == 0
    assert len(capsys.readouterr().out.splitlines()) == 3
