"""Preflight: find what would go wrong before anything is created, and name the command that helps.

To add a check, write one function in the file of its subject and one line in `CHECKS`.
"""

from cdc.config import Pipeline
from cdc.endpoints import Endpoints
from connectors.preflight.administrator import check_admin
from connectors.preflight.capture_role import check_capture_role, check_login, check_row_security
from connectors.preflight.columns import check_column_types, check_database_types
from connectors.preflight.context import Context
from connectors.preflight.identity import check_replica_identity
from connectors.preflight.keys import check_key_types
from connectors.preflight.names import check_names
from connectors.preflight.position import check_position
from connectors.preflight.result import Check, CheckResult, Outcome
from connectors.preflight.server import (
    check_disk,
    check_retention,
    check_senders,
    check_slots,
    check_wal_level,
)
from connectors.preflight.services import (
    check_connect,
    check_kafka,
    check_password,
    check_postgres,
)
from connectors.preflight.tables import (
    check_deferrable,
    check_generated,
    check_partitions,
    check_primary_key,
    check_tables,
)
from connectors.preflight.topics import check_foreign_topics, check_topics

__all__ = ["CHECKS", "CheckResult", "Outcome", "run_checks"]

POSTGRES = ("postgres",)
KAFKA = ("kafka",)
CHECKS = (
    Check("postgres", check_postgres),
    Check("kafka", check_kafka),
    Check("connect", check_connect),
    Check("password", check_password),
    Check("disk", check_disk),
    Check("wal level", check_wal_level, POSTGRES),
    Check("slots", check_slots, POSTGRES),
    Check("wal senders", check_senders, POSTGRES),
    Check("wal retention", check_retention, POSTGRES),
    Check("administrator", check_admin, POSTGRES),
    Check("capture role", check_capture_role, POSTGRES),
    Check("login", check_login, POSTGRES),
    Check("tables", check_tables, POSTGRES),
    Check("row security", check_row_security, POSTGRES),
    Check("primary key", check_primary_key, POSTGRES),
    Check("deferrable key", check_deferrable, POSTGRES),
    Check("key types", check_key_types, POSTGRES),
    Check("replica identity", check_replica_identity, POSTGRES),
    Check("column types", check_column_types, POSTGRES),
    Check("database types", check_database_types, POSTGRES),
    Check("generated columns", check_generated, POSTGRES),
    Check("partitions", check_partitions, POSTGRES),
    Check("names", check_names),
    Check("topics", check_topics, KAFKA),
    Check("other topics", check_foreign_topics, KAFKA),
    Check("position", check_position, (*POSTGRES, "connect")),
)


def run_checks(pipeline: Pipeline, endpoints: Endpoints) -> list[CheckResult]:
    """Run every check; creates and changes nothing.

    A check whose prerequisite failed is reported as skipped, with the prerequisite.
    """
    results: list[CheckResult] = []
    with Context(pipeline, endpoints) as context:
        for check in CHECKS:
            broken = [name for name in check.needs if not _passed(results, name)]
            if broken:
                message = f"not looked at: {', '.join(broken)} failed"
                results.append(CheckResult(check.name, Outcome.SKIP, message))
                continue
            results += [
                CheckResult(check.name, finding.outcome, finding.message, finding.fix)
                for finding in check.run(context)
            ]
    return results


def _passed(results: list[CheckResult], name: str) -> bool:
    return all(
        result.outcome in (Outcome.OK, Outcome.WARN) for result in results if result.name == name
    )
