"""What an operator declares in `pipeline.yaml`: the model, its rules and how it is read.

Touches no service: everything here works before anything runs.
"""

from cdc.config.load import load_pipeline
from cdc.config.model import Pipeline, Table, View
from cdc.config.secrets import Secret
from cdc.config.services import Connect, Kafka, OpenSearchSink, RedisSink, Sink, WarehouseSink
from cdc.config.source import Source

__all__ = [
    "Connect",
    "Kafka",
    "OpenSearchSink",
    "Pipeline",
    "RedisSink",
    "Secret",
    "Sink",
    "Source",
    "Table",
    "View",
    "WarehouseSink",
    "load_pipeline",
]
