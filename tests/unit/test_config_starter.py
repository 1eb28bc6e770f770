"""The starter file loads, whatever the database is like."""

import re

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from cdc.config import Pipeline, Secret
from cdc.config.load import parse_pipeline
from cdc.config.starter import FoundDatabase, FoundTable, pipeline_name, starter

# A busy machine is slow, not wrong.
patient = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])

EMBEDDED = FoundDatabase("shop")
EXTERNAL = FoundDatabase("shop", "db.example.com", 6432, "owner", "env:PGPASSWORD", "verify-full")
ORDERS = FoundTable("public", "orders", ("id",), 100_000)
characters = st.characters(exclude_categories=["Cs"], exclude_characters="\x00")
names = st.text(characters, min_size=1, max_size=63) | st.from_regex(
    r"[a-zA-Z0-9_-]{1,63}", fullmatch=True
)
keys = st.lists(names, max_size=3).map(tuple)
found_tables = st.builds(
    FoundTable,
    schema=names,
    name=names,
    key=keys,
    rows=st.none() | st.integers(0, 10**12),
    deferrable_key=st.booleans(),
    unlogged=st.booleans(),
    bad_key=st.just("") | st.text(max_size=20),
    inherited=st.booleans(),
    needs_full=st.booleans(),
)


def without_comment_signs(text: str) -> str:
    """Do what the comment above the views says."""
    head, marker, views = text.partition("# sinks:\n")
    return head + "\n".join(line.removeprefix("# ") for line in (marker + views).split("\n"))


def test_the_embedded_postgres_needs_neither_host_nor_password() -> None:
    pipeline = parse_pipeline(starter("shop", EMBEDDED, [ORDERS]))
    assert pipeline.source.host is None
    assert pipeline.source.database == "shop"
    assert [table.name for table in pipeline.tables] == ["public.orders"]


def test_your_own_postgres_is_written_with_references_to_its_passwords() -> None:
    source = parse_pipeline(starter("shop", EXTERNAL, [ORDERS])).source
    assert (source.host, source.port, source.sslmode) == ("db.example.com", 6432, "verify-full")
    assert (source.admin_user, source.user) == ("owner", "cdc_capture")
    assert source.admin_password == Secret("env:PGPASSWORD")
    assert source.password == Secret("env:CDC_SOURCE_PASSWORD")


@pytest.mark.parametrize(
    ("table", "reason"),
    [
        (FoundTable("public", "log"), "no primary key"),
        (FoundTable("public", "log", ("id",), unlogged=True), "unlogged"),
        (FoundTable("public", "log", ("id",), deferrable_key=True), "deferrable"),
        (FoundTable("public", "log", ("id",), inherited=True), "tables inherit from it"),
        (FoundTable("public", "log", ("id",), bad_key="key column id: odd\n"), "column id: odd?"),
        (FoundTable("public", "l.o.g", ("id",)), "its name has characters"),
        (FoundTable("public", "l o g", ("id",)), "its name has characters"),
        (FoundTable("public", "l\no: g", ("id",)), "its name has characters"),
    ],
)
def test_a_table_that_cannot_be_captured_is_commented_out_with_the_reason(
    table: FoundTable, reason: str
) -> None:
    text = starter("shop", EMBEDDED, [ORDERS, table])
    (line,) = [line for line in text.splitlines() if "cannot be captured" in line]
    assert line.lstrip().startswith("# - public.l")
    assert reason in line
    assert [each.name for each in parse_pipeline(text).tables] == ["public.orders"]


def test_each_table_tells_its_key_and_its_size() -> None:
    text = starter(
        "shop", EMBEDDED, [ORDERS, FoundTable("public", "new", ("a", "b"), needs_full=True)]
    )
    assert "- public.orders  # key id; about 100,000 rows\n" in text
    assert "- public.new  # key a, b; rows unknown; needs another REPLICA IDENTITY" in text


def test_the_commented_views_load_once_the_comment_signs_are_gone() -> None:
    pipeline = parse_pipeline(without_comment_signs(starter("shop", EXTERNAL, [ORDERS])))
    assert [view.sink for view in pipeline.views] == ["search", "cache", "lake"]
    assert {view.table for view in pipeline.views} == {"public.orders"}


@patient
@given(names)
def test_a_database_gives_a_valid_pipeline_name(database: str) -> None:
    name = pipeline_name(database)
    pipeline = parse_pipeline(starter(name, EMBEDDED, [ORDERS]))
    assert pipeline.name == name


@example("\x85")
@example("no")
@example("# x: [y")
@patient
@given(names.filter(lambda name: not re.search(r"[\x00-\x1f\x7f]", name)))
def test_a_database_or_role_of_any_name_is_written_so_that_it_reads_back(name: str) -> None:
    own = FoundDatabase(name, "db", 5432, name, "env:PGPASSWORD")
    source = parse_pipeline(starter("shop", own, [ORDERS])).source
    assert (source.database, source.admin_user) == (name, name)
    assert parse_pipeline(starter("shop", FoundDatabase(name), [ORDERS])).source.database == name


@example([FoundTable("0", "\x85", ("\u2028",))])
@example([FoundTable("null", "true", ("id",)), FoundTable("1", "2", ("id",))])
@example([FoundTable("null", " # x", ("id",)), FoundTable("&a", "*b: [c]", ("id",))])
@patient
@given(st.lists(found_tables, max_size=6, unique_by=lambda table: table.full_name))
def test_any_tables_give_a_file_that_loads_and_lists_just_the_capturable(
    tables: list[FoundTable],
) -> None:
    capturable = {table.full_name for table in tables if not table.obstacle()}
    text = starter("shop", EMBEDDED, [*tables, ORDERS])
    for variant in (text, without_comment_signs(text)):
        pipeline = parse_pipeline(variant)
        assert {table.name for table in pipeline.tables} == capturable | {"public.orders"}
        assert Pipeline.model_validate(pipeline.model_dump()) == pipeline
