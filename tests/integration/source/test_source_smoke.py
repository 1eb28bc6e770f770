"""The road from Postgres to the topic, on whichever stack it runs."""

import json
from collections.abc import Callable
from time import monotonic
from typing import Any

import httpx
from kafka.admin import ConfigResource, ConfigResourceType, KafkaAdminClient

from cdc.changelog import Record, read_changelog

TOPIC = "smoke.public.notes"


def records_of(target: Any, key: int) -> list[Record]:
    everything = read_changelog(target.kafka, TOPIC)
    return [record for record in everything if json.loads(record.key or b"{}") == {"id": key}]


def until(
    read: Callable[[], list[Record]],
    complete: Callable[[list[Record]], bool],
    seconds: float = 60,
) -> list[Record]:
    deadline = monotonic() + seconds
    while not complete(found := read()):
        assert monotonic() < deadline, f"not complete after {seconds:.0f} s: {found}"
    return found


def values(records: list[Record]) -> list[Any]:
    return [None if record.value is None else json.loads(record.value) for record in records]


def test_a_row_from_before_the_capture_arrives(target: Any) -> None:
    found = until(lambda: records_of(target, 0), bool)
    assert values(found)[-1] == {"id": 0, "note": "from before"}


def test_insert_update_and_delete_arrive_in_order_with_rising_versions(target: Any) -> None:
    target.sql(
        "INSERT INTO notes VALUES (1, 'one')",
        "UPDATE notes SET note = 'two' WHERE id = 1",
        "DELETE FROM notes WHERE id = 1",
    )
    found = until(
        lambda: records_of(target, 1), lambda records: bool(records) and records[-1].value is None
    )
    assert values(found) == [{"id": 1, "note": "one"}, {"id": 1, "note": "two"}, None]
    versions = [record.lsn for record in found if record.lsn is not None]
    assert len(versions) == 3
    assert versions == sorted(set(versions))
    assert len({record.partition for record in found}) == 1


def test_a_rolled_back_change_never_arrives(target: Any) -> None:
    target.sql(
        "DO $$ BEGIN INSERT INTO notes VALUES (2, 'never'); RAISE division_by_zero;"
        " EXCEPTION WHEN division_by_zero THEN NULL; END $$",
        "INSERT INTO notes VALUES (3, 'later')",
    )
    until(lambda: records_of(target, 3), bool)
    assert records_of(target, 2) == []


def test_the_topic_is_compacted(target: Any) -> None:
    admin = KafkaAdminClient(bootstrap_servers=target.kafka)
    try:
        resource = ConfigResource(ConfigResourceType.TOPIC, TOPIC)
        described = str(admin.describe_configs([resource]))
    finally:
        admin.close()
    assert "cleanup.policy" in described
    assert "compact" in described


def test_applying_again_changes_nothing(target: Any) -> None:
    before = httpx.get(f"{target.connect}/connectors/smoke").json()
    assert json.loads(target.cdc("plan", "--json"))["changes"] == 0
    target.cdc("apply")
    assert httpx.get(f"{target.connect}/connectors/smoke").json() == before


def test_no_answer_of_connect_holds_the_password(target: Any) -> None:
    answers = [
        httpx.get(f"{target.connect}/connectors/smoke{path}").text
        for path in ("", "/config", "/status", "/tasks")
    ]
    reference = json.loads(answers[1])["database.password"]
    assert reference.startswith("${")
    assert reference.endswith("}")
    if target.password:
        assert not any(target.password in answer for answer in answers)
