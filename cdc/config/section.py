"""The base of every part of `pipeline.yaml`: frozen, strict, reporting all its problems at once.

Pydantic's own cross-field validators run only when every field is valid, so an operator would
see one kind of mistake after the other. Here the rules between fields read the raw input
and are reported beside the mistakes in the fields.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, LiteralString, Self

from pydantic import (
    BaseModel,
    ConfigDict,
    GetCoreSchemaHandler,
    GetJsonSchemaHandler,
    ModelWrapValidatorHandler,
    ValidationError,
    model_validator,
)
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema, InitErrorDetails, PydanticCustomError, core_schema

BAD_VALUE = "bad_value"
BROKEN_RULE = "broken_rule"


@dataclass(frozen=True)
class Broken:
    """A rule between fields that does not hold; `where` is the path to the field to change."""

    where: tuple[str | int, ...]
    what: str
    advice: str = ""


@dataclass(frozen=True)
class Shape:
    """In `Annotated[str, Shape(...)]`: text of a pattern, refused with advice in words."""

    pattern: str
    advice: str

    def __get_pydantic_core_schema__(
        self, source: Any, handler: GetCoreSchemaHandler
    ) -> CoreSchema:
        return core_schema.no_info_after_validator_function(self._check, handler(source))

    def __get_pydantic_json_schema__(
        self, core: CoreSchema, handler: GetJsonSchemaHandler
    ) -> JsonSchemaValue:
        return handler(core) | {"pattern": f"^(?:{self.pattern})$"}

    def _check(self, value: str) -> str:
        if re.fullmatch(self.pattern, value) is None:
            raise complaint("is not valid", self.advice)
        return value


class Section(BaseModel):
    """One part of `pipeline.yaml`. Unknown keys are errors, values are never converted."""

    # Inputs may hold a password someone typed in plain text: no error may repeat them.
    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, hide_input_in_errors=True)

    @classmethod
    def rules(cls, raw: Mapping[str, Any]) -> Iterator[Broken]:
        """Yield what is wrong between fields. `raw` is unvalidated: expect any type anywhere."""
        del raw
        yield from ()

    @model_validator(mode="wrap")
    @classmethod
    def _report_everything(cls, data: Any, handler: ModelWrapValidatorHandler[Self]) -> Self:
        found: list[InitErrorDetails] = []
        model: Self | None = None
        try:
            model = handler(data)
        except ValidationError as error:
            found += [
                _detail(each["type"], each["loc"], each["msg"], each.get("ctx"))
                for each in error.errors(include_url=False)
            ]
        raw = _plain(data)
        if isinstance(raw, dict):
            found += [
                _detail(BROKEN_RULE, rule.where, rule.what, {"advice": rule.advice})
                for rule in cls.rules(raw)
            ]
        if found or model is None:
            raise ValidationError.from_exception_data(cls.__name__, found, hide_input=True)
        return model


def complaint(what: str, advice: str) -> PydanticCustomError:
    """Return the error for one bad value; it must not repeat the value, which may be secret."""
    return PydanticCustomError(BAD_VALUE, _text(what), {"advice": advice})


def entries(raw: Mapping[str, Any], key: str) -> list[tuple[int, Any]]:
    """Return the list under `key` with its indices, or nothing if there is no list there."""
    value = raw.get(key)
    return list(enumerate(value)) if isinstance(value, list) else []


def section(raw: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    """Return the mapping under `key`, or an empty one if there is none."""
    value = raw.get(key)
    return value if isinstance(value, dict) else {}


def _plain(value: Any) -> Any:
    if isinstance(value, BaseModel):
        return value.model_dump()
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return value


def _detail(
    kind: str, where: tuple[str | int, ...], message: str, context: dict[str, Any] | None
) -> InitErrorDetails:
    error = PydanticCustomError(_text(kind), _text(message), context)
    return InitErrorDetails(type=error, loc=where, input=None)


def _text(message: str) -> LiteralString:
    # Pydantic wants literals, because it fills `{names}` in them from the context. Ours come from
    # the file too: the worst a file can do is to have its own braces filled in.
    return message  # type: ignore[return-value,unused-ignore]
