"""One line of a plan: what would be done to what, and what changes from which value to which.

Pure data and its rendering; knows neither Postgres nor Kafka.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

HIDDEN = "(hidden)"


class Verb(StrEnum):
    """What a plan does with a target."""

    CREATE = "create"
    UPDATE = "update"
    REMOVE = "remove"
    UNCHANGED = "unchanged"
    REFUSED = "refused"


SIGNS = {
    Verb.CREATE: "+",
    Verb.UPDATE: "~",
    Verb.REMOVE: "-",
    Verb.UNCHANGED: " ",
    Verb.REFUSED: "!",
}


@dataclass(frozen=True, slots=True)
class Setting:
    """One setting of a target: None means it is not there."""

    name: str
    before: str | None
    after: str | None

    def __str__(self) -> str:
        if self.before is None:
            return f"{self.name} = {self.after}"
        return f"{self.name}: {self.before} → {'(removed)' if self.after is None else self.after}"


@dataclass(frozen=True, slots=True)
class Action:
    """One step of a plan.

    `run` does it; it is None exactly when there is nothing to do (unchanged) or nothing may be
    done (refused, with the command that helps in `fix`). `note` says what a reader would miss.
    """

    verb: Verb
    target: str
    settings: tuple[Setting, ...] = ()
    note: str = ""
    fix: str = ""
    run: Callable[[], None] | None = field(default=None, repr=False, compare=False)

    def lines(self) -> list[str]:
        """Render for a terminal: the step, then one indented line for each detail."""
        head = f"{SIGNS[self.verb]} {self.target}"
        details = [str(setting) for setting in self.settings]
        if self.note:
            details.append(self.note)
        if self.fix:
            details.append(f"fix: {self.fix}")
        return [head, *(f"    {line}" for line in details)]

    def as_dict(self) -> dict[str, Any]:
        """Render for `--json`."""
        return {
            "verb": self.verb.value,
            "target": self.target,
            "settings": [
                {"name": s.name, "before": s.before, "after": s.after} for s in self.settings
            ],
            "note": self.note,
            "fix": self.fix,
        }


def changed_settings(
    before: Mapping[str, str], after: Mapping[str, str], *, only: bool = False
) -> tuple[Setting, ...]:
    """Compare two sets of settings; `only` ignores settings that `after` says nothing about."""
    names = set(after) if only else set(before) | set(after)
    return tuple(
        Setting(name, _shown(name, before.get(name)), _shown(name, after.get(name)))
        for name in sorted(names)
        if before.get(name) != after.get(name)
    )


def _shown(name: str, value: str | None) -> str | None:
    # A reference such as ${dir:...} is no secret; anything else under such a name may be one.
    secret = any(word in name.lower() for word in ("password", "secret", "token", "jaas"))
    if value is None or not secret or (value.startswith("${") and value.endswith("}")):
        return value
    return HIDDEN
