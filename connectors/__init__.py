"""Postgres, Kafka topics and the Debezium connector of a pipeline, as code: plan, apply, check.

`connectors.plan` compares what `pipeline.yaml` asks for with what is there and makes it so;
`connectors.preflight` finds what would go wrong before anything is created.
"""
