"""Check that every table gets a topic of its own, under its own name.

Debezium writes `_` for every character Kafka does not allow in a topic, so `"a b"` and `a_b` would
share one topic. Kafka in turn refuses a topic that differs from another only by `.` and `_`.
"""

from collections.abc import Mapping, Sequence

from cdc.config import Pipeline
from connectors.connector import heartbeat_topic
from connectors.preflight.context import Context
from connectors.preflight.result import Finding, Findings, fail, ok

LONGEST = 249


def check_names(context: Context) -> Findings:
    """Check that no name is rewritten, cut off or shared."""
    pipeline = context.pipeline
    problems = [*rewritten_names(pipeline), *shared_names(topic_owners(pipeline))]
    yield from problems or [ok(f"{len(pipeline.tables)} table(s), each with a topic of its own")]


def rewritten_names(pipeline: Pipeline) -> list[Finding]:
    """Refuse tables whose topic would not have their name."""
    found = []
    for table in pipeline.tables:
        topic, wanted = pipeline.topic_for(table), f"{pipeline.name}.{table.name}"
        if topic != wanted:
            found.append(
                fail(
                    f"{table.name} would be written to a topic of another name, {topic}: Kafka "
                    "allows only letters, digits, `.`, `_` and `-`",
                    f"rename the table, or remove {table.name} from pipeline.yaml",
                )
            )
        elif len(topic) > LONGEST:
            found.append(
                fail(
                    f"the topic of {table.name} would have {len(topic)} characters, Kafka allows "
                    f"{LONGEST}",
                    "shorten `name` in pipeline.yaml, or the table's name",
                )
            )
    return found


def topic_owners(pipeline: Pipeline) -> list[tuple[str, str]]:
    """Return every topic of the pipeline with what it is for."""
    return [
        *((pipeline.topic_for(table), f"table {table.name}") for table in pipeline.tables),
        (heartbeat_topic(pipeline), "the heartbeat"),
    ]


def shared_names(
    owners: Sequence[tuple[str, str]], existing: Mapping[str, str] | None = None
) -> list[Finding]:
    """Refuse topics that are one to Kafka: the same name, or the same but for `.` and `_`."""
    taken: dict[str, tuple[str, str]] = {
        _to_kafka(topic): (topic, owner) for topic, owner in (existing or {}).items()
    }
    found = []
    for topic, owner in owners:
        other = taken.setdefault(_to_kafka(topic), (topic, owner))
        if other[1] != owner and not (existing and other[0] == topic):
            found.append(
                fail(
                    f"{owner} and {other[1]} collide: topics {topic} and {other[0]} are the same "
                    "to Kafka",
                    "rename one of the two, or capture it in a pipeline of another `name`",
                )
            )
    return found


def _to_kafka(topic: str) -> str:
    return topic.replace(".", "_")
