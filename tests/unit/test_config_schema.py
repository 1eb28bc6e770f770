"""The JSON schema for editors says what the model says."""

import json
import re
from collections.abc import Iterator
from typing import Any

import pytest

from cdc.config import Pipeline
from cdc.config.explain import model_at
from cdc.config.schema import pipeline_schema


def properties(schema: Any, path: str = "") -> Iterator[tuple[str, dict[str, Any]]]:
    if isinstance(schema, dict):
        for name, value in schema.get("properties", {}).items():
            yield f"{path}.{name}", value
        for name, value in schema.items():
            yield from properties(value, f"{path}/{name}")
    elif isinstance(schema, list):
        for index, value in enumerate(schema):
            yield from properties(value, f"{path}/{index}")


def test_every_field_has_a_description() -> None:
    schema = pipeline_schema()
    found = dict(properties(schema))
    assert len(found) > 30
    # Where field and section have one description, pydantic writes it once, at the section.
    described = {f"#/$defs/{name}" for name, each in schema["$defs"].items() if each["description"]}
    missing = [
        name
        for name, field in found.items()
        if not field.get("description") and field.get("$ref") not in described
    ]
    assert missing == []


def test_unknown_keys_are_an_error_in_the_editor_too() -> None:
    def objects(schema: Any) -> Iterator[dict[str, Any]]:
        if isinstance(schema, dict):
            if "properties" in schema:
                yield schema
            for value in schema.values():
                yield from objects(value)
        elif isinstance(schema, list):
            for value in schema:
                yield from objects(value)

    found = list(objects(pipeline_schema()))
    assert len(found) >= 9
    assert all(each["additionalProperties"] is False for each in found)


def test_the_short_form_of_a_table_is_in_the_schema() -> None:
    short, full = pipeline_schema()["$defs"]["Table"]["anyOf"]
    assert short["type"] == "string"
    assert re.match(short["pattern"], "public.orders")
    assert full["type"] == "object"


def test_it_is_json_that_names_its_dialect() -> None:
    schema = json.loads(json.dumps(pipeline_schema()))
    assert schema["$schema"].startswith("https://json-schema.org/")
    assert schema["required"] == ["name", "source", "tables"]


@pytest.mark.parametrize(
    ("path", "data"),
    [
        ((), {}),
        (("source",), {}),
        (("kafka",), {}),
        (("connect",), {}),
        (("tables", 0), {}),
        (("views", 0), {}),
        (("sinks", "a"), {"sinks": {"a": {"type": "opensearch"}}}),
        (("sinks", "a"), {"sinks": {"a": {"type": "redis"}}}),
        (("sinks", "a"), {"sinks": {"a": {"type": "warehouse"}}}),
    ],
)
def test_every_section_has_known_keys_to_suggest(path: tuple[str | int, ...], data: Any) -> None:
    assert model_at(path, data) is not None


def test_no_section_of_the_model_is_without_suggestions() -> None:
    sections = {
        name for name, field in Pipeline.model_fields.items() if field.annotation is not str
    }
    assert sections == {"source", "kafka", "connect", "tables", "views", "sinks"}
