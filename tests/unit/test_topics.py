"""Topics as they shall be, and what is said of one that is not."""

from dataclasses import replace

import pytest

from cdc.config import Pipeline
from connectors.action import Verb
from connectors.topics import Topic, desired_topics, drift, drift_fix, topic_actions


def pipeline(copies: int = 1) -> Pipeline:
    document = {
        "name": "shop",
        "source": {"database": "d"},
        "kafka": {"replication_factor": copies},
        "tables": [{"name": "public.orders", "partitions": 3}],
    }
    return Pipeline.model_validate(document)


def orders() -> Topic:
    return desired_topics(pipeline())[0]


def test_each_table_has_a_compacted_topic_and_the_heartbeat_one_of_its_own() -> None:
    topics = {topic.name: topic for topic in desired_topics(pipeline())}
    assert set(topics) == {"shop.public.orders", "__debezium-heartbeat.shop"}
    assert topics["shop.public.orders"].settings["cleanup.policy"] == "compact"
    assert topics["shop.public.orders"].partitions == 3
    assert topics["__debezium-heartbeat.shop"].partitions == 1


def test_with_three_copies_two_must_have_a_record_before_it_counts() -> None:
    assert desired_topics(pipeline(3))[0].settings["min.insync.replicas"] == "2"
    assert desired_topics(pipeline(1))[0].settings["min.insync.replicas"] == "1"


def test_settings_we_do_not_set_are_no_drift() -> None:
    found = replace(orders(), settings={**orders().settings, "segment.bytes": "1048576"})
    assert drift(orders(), found) == ()


@pytest.mark.parametrize(
    ("found", "fix"),
    [
        (replace(orders(), partitions=8), "partitions: 8"),
        (replace(orders(), replication_factor=2), "replication_factor: 2"),
        (
            replace(orders(), settings={**orders().settings, "cleanup.policy": "delete"}),
            "configs alter -r topic -n shop.public.orders -c cleanup.policy=compact",
        ),
    ],
)
def test_drift_is_refused_with_the_command_that_mends_it(found: Topic, fix: str) -> None:
    differences = drift(orders(), found)
    assert fix in drift_fix(orders(), differences, "kafka:9092")
    refused, heartbeat = topic_actions(pipeline(), "kafka:9092", {found.name: found})
    assert (refused.verb, refused.run) == (Verb.REFUSED, None)
    assert heartbeat.verb is Verb.CREATE


def test_a_topic_as_it_should_be_needs_nothing() -> None:
    unchanged, _ = topic_actions(pipeline(), "kafka:9092", {orders().name: orders()})
    assert unchanged.verb is Verb.UNCHANGED
