"""What a check has to say, and how checks are strung together."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from connectors.preflight.context import Context


class Outcome(StrEnum):
    """How a check ended. A check that could not look is skipped, never ok."""

    OK = "ok"
    WARN = "warn"
    FAIL = "fail"
    SKIP = "skip"


@dataclass(frozen=True, slots=True)
class CheckResult:
    """One finding. `fix` is a command: SQL, shell, or the line to write into pipeline.yaml."""

    name: str
    outcome: Outcome
    message: str
    fix: str = ""

    def as_dict(self) -> dict[str, Any]:
        """Render for `--json`."""
        return {
            "name": self.name,
            "outcome": self.outcome.value,
            "message": self.message,
            "fix": self.fix,
        }


@dataclass(frozen=True, slots=True)
class Finding:
    """What a check found, before it is known under which name it is reported."""

    outcome: Outcome
    message: str
    fix: str = ""


Findings = Iterator[Finding]


@dataclass(frozen=True, slots=True)
class Check:
    """A named check, and the names of those that must have passed before it can look."""

    name: str
    run: Callable[[Context], Findings]
    needs: tuple[str, ...] = ()


def ok(message: str) -> Finding:
    """Say that all is as it should be."""
    return Finding(Outcome.OK, message)


def warn(message: str, fix: str = "") -> Finding:
    """Say what will work, but the operator should know."""
    return Finding(Outcome.WARN, message, fix)


def fail(message: str, fix: str) -> Finding:
    """Say what would not work, or lose data."""
    return Finding(Outcome.FAIL, message, fix)


def skip(message: str) -> Finding:
    """Say that nobody looked."""
    return Finding(Outcome.SKIP, message)
