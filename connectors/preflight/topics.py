"""Checks whether topics that exist already are ours, and as they should be."""

from connectors.preflight.context import Context
from connectors.preflight.names import shared_names, topic_owners
from connectors.preflight.result import Findings, fail, ok
from connectors.topics import desired_topics, drift, drift_fix


def check_topics(context: Context) -> Findings:
    """Check that an existing topic has exactly the settings a changelog needs."""
    wanted = desired_topics(context.pipeline)
    found = context.kafka.find([topic.name for topic in wanted])
    problems = []
    for topic in wanted:
        if topic.name not in found:
            continue
        differences = drift(topic, found[topic.name])
        if differences:
            told = ", ".join(str(setting) for setting in differences)
            fix = drift_fix(topic, differences, context.endpoints.kafka_bootstrap)
            problems.append(fail(f"topic {topic.name} is not as it should be: {told}", fix))
    yield from problems or [ok(f"{len(found)} of {len(wanted)} exist, as they should be")]


def check_foreign_topics(context: Context) -> Findings:
    """Check that no topic of someone else collides with one of ours."""
    existing = {name: f"the existing topic {name}" for name in context.kafka.names()}
    problems = shared_names(topic_owners(context.pipeline), existing)
    yield from problems or [ok("no other topic collides")]
