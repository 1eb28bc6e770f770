"""Turns pydantic's errors into problems that an operator can act on."""

from collections.abc import Collection
from typing import Any

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from cdc.config.document import Document, Path, Problem
from cdc.config.model import Pipeline, Table, View
from cdc.config.rules import nearest
from cdc.config.section import BAD_VALUE, BROKEN_RULE, Section
from cdc.config.services import Connect, Kafka, OpenSearchSink, RedisSink, WarehouseSink
from cdc.config.source import Source

SINKS: dict[str, type[Section]] = {
    "opensearch": OpenSearchSink,
    "redis": RedisSink,
    "warehouse": WarehouseSink,
}
_KINDS = {
    "string_type": "text",
    "int_type": "a whole number",
    "list_type": "a list",
    "dict_type": "keys and values",
    "model_type": "keys and values",
    "model_attributes_type": "keys and values",
}


def explain(error: ValidationError, document: Document) -> list[Problem]:
    """Return one problem per error, with its line."""
    details = error.errors(include_url=False, include_input=False)
    return [_problem(detail, document) for detail in details]


def model_at(path: Path, data: Any) -> type[Section] | None:
    """Return the model of the section at `path`; a sink's depends on its `type` in the data."""
    match path:
        case ():
            return Pipeline
        case ("source" | "kafka" | "connect" as key,):
            sections: dict[str, type[Section]] = {
                "source": Source,
                "kafka": Kafka,
                "connect": Connect,
            }
            return sections[key]
        case ("tables", int()):
            return Table
        case ("views", int()):
            return View
        case ("sinks", str()):
            return SINKS.get(str(_lookup((*path, "type"), data)))
    return None


def _problem(error: ErrorDetails, document: Document) -> Problem:
    path = _in_document(error["loc"], document.data)
    kind, line = error["type"], document.line(path)
    name = f"`{_dotted(path)}`" if path else "the file"
    if kind in (BROKEN_RULE, BAD_VALUE):
        what = error["msg"] if kind == BROKEN_RULE else f"{name} {error['msg']}"
        return Problem(line, what, str(error.get("ctx", {}).get("advice", "")))
    if kind == "extra_forbidden":
        return Problem(line, f"unknown key `{path[-1]}`", _alternatives(path, document.data))
    if kind == "missing":
        return _missing(str(error["loc"][-1]), path, document)
    if kind.startswith("union_tag"):
        return _bad_sink(path, document)
    return Problem(line, *_bad_value(kind, name, error["msg"], _lookup(path, document.data)))


def _bad_value(kind: str, name: str, message: str, value: Any) -> tuple[str, str]:
    if kind == "too_short":
        return f"{name} is empty", "list at least one"
    if kind in _KINDS:
        quotable = kind == "string_type" and isinstance(value, bool | int | float)
        what = f"{name} must be {_KINDS[kind]}, not {_kind_of(value)}"
        return what, "put quotes around it" if quotable else ""
    # "Input should be 'delete' or 'refuse'" and the like read well behind the field's name.
    return f"{name} {message.partition(' ')[2]}", ""


def _missing(key: str, path: Path, document: Document) -> Problem:
    model = model_at(path, document.data)
    purpose = model.model_fields[key].description if model and key in model.model_fields else None
    within = f" in `{_dotted(path)}`" if path else ""
    return Problem(document.line(path), f"key `{key}` is missing{within}", purpose or "")


def _alternatives(path: Path, data: Any) -> str:
    model = model_at(path[:-1], data)
    known = sorted(model.model_fields) if model else []
    like = nearest(str(path[-1]), known)
    return f"did you mean `{like}`?" if like else f"known keys: {', '.join(known)}"


def _bad_sink(path: Path, document: Document) -> Problem:
    given = _lookup((*path, "type"), document.data)
    line = document.line((*path, "type"))
    known = ", ".join(SINKS)
    if given is None:
        return Problem(line, f"key `type` is missing in `{_dotted(path)}`", f"one of: {known}")
    like = nearest(str(given), list(SINKS))
    advice = f"did you mean `{like}`? ({known})" if like else f"known types: {known}"
    return Problem(line, f"unknown type of sink in `{_dotted(path)}`", advice)


def _kind_of(value: Any) -> str:
    # By kind only: the value itself may be a password.
    kinds = {
        type(None): "empty",
        bool: "true or false",
        int: "a number",
        float: "a number with a fraction",
        str: "text",
        list: "a list",
    }
    return kinds.get(type(value), "keys and values")


def _in_document(loc: tuple[str | int, ...], data: Any) -> Path:
    """Drop from a pydantic location what is no part of the file: union tags, missing keys."""
    path: list[str | int] = []
    for part in loc:
        if part in _keys(data):
            data = data[part]
            path.append(part)
    return tuple(path)


def _keys(data: Any) -> Collection[str | int]:
    if isinstance(data, list):
        return range(len(data))
    return data if isinstance(data, dict) else ()


def _lookup(path: Path, data: Any) -> Any:
    for part in path:
        data = data.get(part) if isinstance(data, dict) else data[part]
    return data


def _dotted(path: Path) -> str:
    text = ""
    for part in path:
        text += f"[{part}]" if isinstance(part, int) else f".{part}"
    return text.removeprefix(".")
