"""The whole of `pipeline.yaml`: tables, views, and the rules between the sections."""

import re
from collections.abc import Iterator, Mapping
from typing import Annotated, Any, Literal

from pydantic import Field, GetJsonSchemaHandler, model_validator
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema

from cdc.config.rules import duplicates, mixed_stack, unknown_references
from cdc.config.section import Broken, Section, Shape
from cdc.config.services import Connect, Kafka, Sink
from cdc.config.source import Source

# No dots (they separate) and no commas or quotes (Debezium's lists of tables have no way to say
# them); anything else Postgres allows is fine.
_PART = r"[^\x00-\x1f\x7f.,\"'\\]{1,63}"
TableName = Annotated[
    str,
    Shape(
        rf"{_PART}\.{_PART}",
        "write schema.table such as public.orders, without quotes or commas",
    ),
]
Name = Annotated[
    str, Shape(r"[a-z][a-z0-9_]{0,62}", "use a-z, 0-9 and _, a letter first, at most 63")
]
# Short, because Postgres cuts the names derived from it at 63.
PipelineName = Annotated[
    str, Shape(r"[a-z][a-z0-9_]{0,30}", "use a-z, 0-9 and _, a letter first, at most 31")
]


class Table(Section):
    """A captured table. Its name alone is enough: `- public.orders`."""

    name: TableName = Field(description="The table as `schema.table`.", examples=["public.orders"])
    partitions: int = Field(
        4,
        ge=1,
        le=1000,
        description="Partitions of its topic: how many tasks can read it at once. Choose once, a "
        "later change moves keys to other partitions.",
    )
    on_truncate: Literal["delete", "refuse"] = Field(
        "delete",
        description="What TRUNCATE of the table does: `delete` captures it as the deletion of "
        "every row, `refuse` makes the command fail.",
    )

    @property
    def schema_name(self) -> str:
        """The part before the dot."""
        return self.name.partition(".")[0]

    @property
    def table_name(self) -> str:
        """The part after the dot."""
        return self.name.partition(".")[2]

    @model_validator(mode="before")
    @classmethod
    def _from_bare_name(cls, data: Any) -> Any:
        return {"name": data} if isinstance(data, str) else data

    @classmethod
    def __get_pydantic_json_schema__(
        cls, core: CoreSchema, handler: GetJsonSchemaHandler
    ) -> JsonSchemaValue:
        """Tell editors of the short form too."""
        full = handler.resolve_ref_schema(handler(core))
        name = full["properties"]["name"]
        short = {"type": "string", "title": "Table name"} | {
            key: name[key] for key in ("pattern", "description", "examples")
        }
        return {"anyOf": [short, full], "title": "Table", "description": full["description"]}


class View(Section):
    """A dataset kept in sync with one table, living in one sink."""

    name: Name = Field(description="Name of the view: the index, key prefix or table it becomes.")
    table: TableName = Field(description="The table it follows; one of `tables`.")
    sink: Name = Field(description="The sink it lives in; one of `sinks`.")


class Pipeline(Section):
    """What is captured from where, and which views are kept of it."""

    name: PipelineName = Field(
        description="Names everything the pipeline creates: topics, slot, publication, connector."
    )
    source: Source = Field(description="The Postgres database whose changes are captured.")
    kafka: Kafka = Field(default=Kafka(), description="The Kafka cluster that holds the topics.")
    connect: Connect = Field(
        default=Connect(), description="The Kafka Connect cluster that runs the connector."
    )
    tables: list[Table] = Field(min_length=1, description="The tables to capture.")
    sinks: dict[Name, Sink] = Field(
        default_factory=dict, description="The systems that views live in, by a name of your own."
    )
    views: list[View] = Field(
        default_factory=list, description="The datasets to keep in sync with the tables."
    )

    @model_validator(mode="before")
    @classmethod
    def _without_empty_sections(cls, data: Any) -> Any:
        # A heading whose lines are all commented out says nothing, and is no mistake.
        optional = ("kafka", "connect", "sinks", "views")
        if not isinstance(data, dict):
            return data
        return {k: v for k, v in data.items() if not (v is None and k in optional)}

    @classmethod
    def rules(cls, raw: Mapping[str, Any]) -> Iterator[Broken]:
        """Check what only several sections together can tell."""
        yield from duplicates(raw, "tables", "table")
        yield from duplicates(raw, "views", "view")
        yield from unknown_references(raw)
        yield from mixed_stack(raw)

    @property
    def slot_name(self) -> str:
        """The replication slot's name, given or by default."""
        return self.source.slot or f"{self.name}_cdc"

    @property
    def publication_name(self) -> str:
        """The publication's name, given or by default."""
        return self.source.publication or f"{self.name}_cdc"

    def topic_for(self, table: Table) -> str:
        """Return the topic of a table, as Debezium names it."""
        return topic_name(f"{self.name}.{table.name}")


def topic_name(text: str) -> str:
    """Write `_` for each character that Kafka does not allow, once per UTF-16 unit, as Debezium."""
    units = "".join(c if ord(c) < 0x10000 else "__" for c in text)  # noqa: PLR2004
    return re.sub(r"[^a-zA-Z0-9._-]", "_", units)
