"""The JSON schema of `pipeline.yaml`, for editors."""

from typing import Any

from cdc.config.model import Pipeline

DIALECT = "https://json-schema.org/draft/2020-12/schema"


def pipeline_schema() -> dict[str, Any]:
    """Return the schema, with the dialect it is written in and the file it is for."""
    schema = Pipeline.model_json_schema()
    return {"$schema": DIALECT, **schema, "title": "pipeline.yaml"}
