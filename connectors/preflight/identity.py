"""Check that the log shows the whole new row at each update, and the key at each deletion.

A value that was moved out of the row (TOAST) and is not touched by an update is not in the log,
unless the replica identity is FULL. The record would hold a placeholder; compaction would then
remove the older record that held the value, and nothing could bring it back.
"""

from collections.abc import Iterator

from connectors.preflight.context import Context
from connectors.preflight.facts import Member, TableFacts
from connectors.preflight.result import Finding, Findings, fail
from connectors.preflight.tables import each_table


def check_replica_identity(context: Context) -> Findings:
    """Check that every table that holds rows logs enough of them."""

    def judge(facts: TableFacts) -> Iterator[Finding]:
        for member in facts.members:
            problem = identity_problem(member, partitioned=facts.kind == "p")
            if problem:
                wanted = "FULL" if member.toastable else "DEFAULT"
                yield fail(problem, f"ALTER TABLE {member.quoted} REPLICA IDENTITY {wanted}")

    yield from each_table(context, judge, "the log holds what is needed")


def identity_problem(member: Member, *, partitioned: bool) -> str:
    """Say why a table's replica identity is not enough; empty if it is."""
    name = f"{member.schema}.{member.name}"
    if member.replica_identity == "f":
        return ""
    if member.kind == "p" and partitioned and member.replica_identity != "n":
        # A partitioned table has no rows of its own: what counts is each partition's identity.
        return ""
    if member.replica_identity == "n":
        return f"{name} has REPLICA IDENTITY NOTHING: updates and deletions fail or have no key"
    if member.toastable:
        columns = ", ".join(member.toastable)
        return (
            f"{name} can hold values outside the row ({columns}): an update that leaves one alone "
            "would lose it"
        )
    if member.replica_identity == "i" and not member.identity_is_primary:
        return f"{name} logs another index than its primary key: deletions would have no key"
    return ""
