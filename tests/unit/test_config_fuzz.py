"""Whatever stands in the file, the answer is a Pipeline or a ConfigError."""

from typing import Any

import pytest
import yaml
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from cdc.config import Pipeline
from cdc.config.load import PipelineFileError, parse_pipeline
from cdc.errors import ConfigError

# A busy machine is slow, not wrong.
patient = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])

WORDS = [
    *("name", "source", "kafka", "connect", "tables", "views", "sinks", "type", "table", "sink"),
    *("host", "port", "database", "user", "password", "slot", "url", "path", "partitions"),
    *("public.orders", "env:X", "file:/x", "${env:X}", "opensearch", "redis", "shop", "admin_user"),
    *("bootstrap_servers", "source_password", "on_truncate", "delete", "<<", "=", "yes", "1_000"),
]
words = st.sampled_from(WORDS) | st.text(max_size=8)
scalars = (
    words
    | st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.dates()
    | st.binary(max_size=4)
)
values = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(words, inner, max_size=4),
    max_leaves=12,
)
sections = st.fixed_dictionaries(
    {},
    optional={
        "name": values | st.just("shop"),
        "source": values | st.dictionaries(words, values, max_size=4),
        "kafka": values | st.dictionaries(words, values, max_size=3),
        "connect": values | st.dictionaries(words, values, max_size=3),
        "tables": st.lists(values | st.just("public.orders"), max_size=3),
        "views": st.lists(st.dictionaries(words, values, max_size=4) | values, max_size=3),
        "sinks": st.dictionaries(words, values | st.dictionaries(words, values), max_size=3),
    },
)


def pipeline_or_config_error(text: str) -> Pipeline | ConfigError:
    try:
        answer: Pipeline | ConfigError = parse_pipeline(text)
    except ConfigError as error:
        answer = error
    assert isinstance(answer, Pipeline) or (answer.message and answer.hint)
    return answer


@patient
@given(st.text())
@example("&a [*a]")
@example("0x_")
@example("name: 2001-99-99")
@example("a: !!int two")
@example("a: !!binary '*'")
@example(f"port: {'9' * 5000}")
@example("a: .inf")
@example("a: 1e999")
@example("%YAML 9.9\n--- a")
@example("? ? ? a")
@example("a: 0b")
@example("=")
@example("sinks: {=: {type: redis}}")
def test_any_text_gives_a_pipeline_or_a_config_error(text: str) -> None:
    pipeline_or_config_error(text)


@patient
@given(st.lists(st.sampled_from([*WORDS, *":-[]{}#&*!|>'\"%@`,?\n \t"]), max_size=60).map("".join))
def test_any_mix_of_yaml_signs_gives_a_pipeline_or_a_config_error(text: str) -> None:
    pipeline_or_config_error(text)


@patient
@given(sections | values)
def test_any_yaml_document_gives_a_pipeline_or_a_config_error(data: Any) -> None:
    answer = pipeline_or_config_error(yaml.safe_dump(data, allow_unicode=True))
    if isinstance(answer, PipelineFileError):
        lines = [problem.line for problem in answer.problems]
        assert all(line is not None and line >= 1 for line in lines)


@pytest.mark.parametrize("data", [{"name": "shop"}, {"source": None}, {"sinks": {"a": None}}])
def test_a_document_with_gaps_is_a_config_error(data: Any) -> None:
    assert isinstance(pipeline_or_config_error(yaml.safe_dump(data)), ConfigError)
