"""The rules of the preflight that need no service."""

import pytest

from cdc.config import Pipeline
from connectors.preflight.facts import Column, Member
from connectors.preflight.identity import identity_problem
from connectors.preflight.keys import key_problem
from connectors.preflight.names import rewritten_names, shared_names, topic_owners
from connectors.preflight.position import judge_position, stored_lsn
from connectors.preflight.result import Outcome
from connectors.preflight.server import GIB, judge_disk, room


def column(type_name: str, **facts: object) -> Column:
    values = {
        "name": "id",
        "type_name": type_name,
        "type_kind": "b",
        "modified": False,
        "deterministic": True,
        "generated": False,
        "declared": type_name,
    }
    return Column(**(values | facts))  # type: ignore[arg-type]


@pytest.mark.parametrize("name", ["int2", "int8", "text", "uuid", "timestamptz", "bytea", "inet"])
def test_types_whose_equal_values_have_equal_bytes_may_be_keys(name: str) -> None:
    assert key_problem(column(name)) == ("", "")


@pytest.mark.parametrize(
    "name", ["float4", "float8", "citext", "interval", "jsonb", "json", "money", "_int4", "point"]
)
def test_other_types_are_refused_with_a_reason(name: str) -> None:
    problem, fix = key_problem(column(name))
    assert problem
    assert fix == "TYPE text"


def test_numeric_needs_a_scale() -> None:
    assert key_problem(column("numeric", modified=True)) == ("", "")
    assert "1.0 and 1.00" in key_problem(column("numeric"))[0]


def test_an_enum_may_be_a_key() -> None:
    assert key_problem(column("mood", type_kind="e")) == ("", "")


def test_a_collation_that_takes_different_texts_for_equal_is_refused() -> None:
    problem, fix = key_problem(column("text", deterministic=False))
    assert "not deterministic" in problem
    assert fix == 'TYPE text COLLATE "C"'


def test_a_generated_key_column_is_refused() -> None:
    assert "generated" in key_problem(column("int4", generated=True))[0]


def member(identity: str, *toastable: str, kind: str = "r", primary: bool = False) -> Member:
    return Member("public", "t", kind, "p", identity, primary, toastable)


@pytest.mark.parametrize(
    ("found", "word"),
    [
        (member("d", "note"), "outside the row (note)"),
        (member("i", "note", primary=True), "outside the row (note)"),
        (member("n"), "REPLICA IDENTITY NOTHING"),
        (member("i"), "another index"),
        (member("d"), ""),
        (member("f", "note"), ""),
        (member("i", primary=True), ""),
    ],
)
def test_the_replica_identity_must_keep_every_value(found: Member, word: str) -> None:
    problem = identity_problem(found, partitioned=False)
    assert word in problem
    assert bool(problem) == bool(word)


def test_a_partitioned_root_holds_no_rows_itself() -> None:
    assert identity_problem(member("d", "note", kind="p"), partitioned=True) == ""


def pipeline(*tables: str) -> Pipeline:
    return Pipeline.model_validate(
        {"name": "shop", "source": {"database": "d"}, "tables": list(tables)}
    )


@pytest.mark.parametrize("name", ["public.a b", "public.größe", "public.x; DROP TABLE y;--"])
def test_a_name_that_kafka_does_not_allow_is_refused(name: str) -> None:
    [finding] = rewritten_names(pipeline(name))
    assert finding.outcome is Outcome.FAIL
    assert name in finding.message


def test_a_topic_name_that_is_too_long_is_refused() -> None:
    table = "s" * 63 + "." + "t" * 63
    assert rewritten_names(pipeline(table)) == []
    long = pipeline(table).model_copy(update={"name": "p" * 130})
    assert "Kafka allows 249" in rewritten_names(long)[0].message


def test_two_tables_with_one_topic_collide() -> None:
    [finding] = shared_names(topic_owners(pipeline("public.a b", "public.a_b")))
    assert "public.a b" in finding.message
    assert "public.a_b" in finding.message


def test_topics_that_differ_by_a_dot_and_an_underscore_collide() -> None:
    [finding] = shared_names(topic_owners(pipeline("a.b_c", "a_b.c")))
    assert "same to Kafka" in finding.message


def test_our_own_existing_topic_is_no_collision_but_a_lookalike_is() -> None:
    owners = topic_owners(pipeline("public.a"))
    assert shared_names(owners, {"shop.public.a": "the existing topic"}) == []
    assert shared_names(owners, {"shop_public.a": "the existing topic"})


@pytest.mark.parametrize(
    ("stored", "confirmed", "written", "outcome"),
    [
        (100, 100, 100, Outcome.OK),
        (100, 90, 200, Outcome.OK),
        (100, 101, 200, Outcome.FAIL),
        (100, 90, 99, Outcome.FAIL),
        (100, None, 200, Outcome.FAIL),
    ],
)
def test_a_gap_between_slot_connector_and_server_is_found(
    stored: int, confirmed: int | None, written: int, outcome: Outcome
) -> None:
    assert judge_position(stored, confirmed, written, "shop_cdc").outcome is outcome


def test_the_highest_stored_position_counts() -> None:
    assert stored_lsn({"lsn": 5, "lsn_proc": 7, "lsn_commit": None, "txId": 99}) == 7


def test_little_disk_warns_and_hardly_any_fails() -> None:
    outcomes = [judge_disk(int(free * GIB), "/s").outcome for free in (0.5, 3, 50)]
    assert outcomes == [Outcome.FAIL, Outcome.WARN, Outcome.OK]


def test_room_for_one_more_is_enough() -> None:
    assert room(3, 4, "max_replication_slots", "slot").outcome is Outcome.OK
    full = room(4, 4, "max_replication_slots", "slot")
    assert full.outcome is Outcome.FAIL
    assert full.fix == "ALTER SYSTEM SET max_replication_slots = 8; -- then restart Postgres"
