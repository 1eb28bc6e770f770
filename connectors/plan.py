"""From `pipeline.yaml` to a running connector: compare, show, then do it, in order.

A plan is made from what is there now and lists every target, also those that need nothing.
Applying it a second time finds nothing to do. Nothing is created unless every check passes and no
target is refused.
"""

import os
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from time import monotonic, sleep

from cdc.config import Pipeline
from cdc.endpoints import Endpoints
from cdc.errors import FatalError, RetryableError
from connectors.action import Action, Verb, changed_settings
from connectors.connect import ConnectClient, ConnectError
from connectors.connector import connector_config
from connectors.database import admin_session
from connectors.postgres import postgres_actions
from connectors.preflight import CheckResult, Outcome, run_checks
from connectors.slot import find_slot
from connectors.supervise import Patience, wait_running
from connectors.topics import desired_topics, topic_actions, topic_admin

Progress = Callable[[str], None]


def _silent(_: str) -> None:
    """Show no progress."""


@dataclass(frozen=True, slots=True)
class Plan:
    """Every target of a pipeline with what would be done to it, in the order of doing."""

    pipeline: Pipeline
    endpoints: Endpoints = field(repr=False)
    actions: tuple[Action, ...]

    @property
    def changes(self) -> tuple[Action, ...]:
        """The actions that would change something."""
        return tuple(action for action in self.actions if action.run is not None)

    @property
    def refused(self) -> tuple[Action, ...]:
        """The targets that are not as they should be and are not touched."""
        return tuple(action for action in self.actions if action.verb is Verb.REFUSED)

    def lines(self, *, everything: bool = False) -> list[str]:
        """Render for a terminal; unchanged targets only when asked for."""
        shown = [a for a in self.actions if everything or a.verb is not Verb.UNCHANGED]
        text = [line for action in shown for line in action.lines()]
        if self.refused:
            return [*text, f"{len(self.refused)} refused: nothing will be applied"]
        return [*text, f"{len(self.changes)} to change" if self.changes else "no changes"]


class RefusedError(FatalError):
    """The set-up is not fit to be applied; nothing was changed."""


def make_plan(pipeline: Pipeline, endpoints: Endpoints) -> Plan:
    """Look at Postgres, Kafka and Connect and say what would have to be done."""
    actions = postgres_actions(pipeline, endpoints)
    with topic_admin(endpoints.kafka_bootstrap) as admin:
        found = admin.find([topic.name for topic in desired_topics(pipeline)])
    actions += topic_actions(pipeline, endpoints.kafka_bootstrap, found)
    actions += _password_actions(endpoints)
    with ConnectClient(endpoints.connect_url) as connect:
        actions.append(_connector_action(connect, pipeline, endpoints))
    return Plan(pipeline, endpoints, tuple(actions))


def apply_plan(
    plan: Plan, progress: Progress = _silent, *, patience: Patience | None = None
) -> tuple[Action, ...]:
    """Check, do what the plan says, and wait until the connector runs.

    Returns what was done. Raises RefusedError before the first change if a check fails or a
    target is refused, ConnectError with the task's own error if the connector does not run.
    May be repeated after any failure: what was done is found done.
    """
    progress("checking")
    _refuse_unfit(plan, run_checks(plan.pipeline, plan.endpoints))
    for action in plan.changes:
        progress(f"{action.verb.value} {action.target}")
        if action.run is not None:
            action.run()
    name = plan.pipeline.name
    with ConnectClient(plan.endpoints.connect_url) as connect:
        if _password_changed(plan):
            # A running task has read the old one, and would only notice when it reconnects.
            progress(f"restart connector {name}")
            connect.restart(name, only_failed=False)
        progress(f"waiting for connector {name}")
        wait_running(connect, name, patience=patience, progress=progress)
    _wait_for_slot(plan, patience or Patience())
    return plan.changes


def _wait_for_slot(plan: Plan, patience: Patience) -> None:
    # A task counts as running while it tries in vain to log in: only Postgres knows that it did.
    slot = plan.pipeline.slot_name
    deadline = monotonic() + patience.seconds
    with admin_session(plan.endpoints) as connection:
        while find_slot(connection, slot) is None:
            if monotonic() > deadline:
                raise RetryableError(
                    f"connector {plan.pipeline.name} runs but has not opened slot {slot} within "
                    f"{patience.seconds:.0f} s",
                    hint="see why it cannot log in to Postgres: `cdc stack logs connect`",
                )
            sleep(patience.poll_seconds)


def _password_changed(plan: Plan) -> bool:
    """Whether an existing connector, itself unchanged, works with a password that was replaced."""
    *others, connector = plan.actions
    return connector.verb is Verb.UNCHANGED and any(
        action.verb is Verb.UPDATE and action.target.startswith(("role ", "password file "))
        for action in others
    )


def _refuse_unfit(plan: Plan, results: list[CheckResult]) -> None:
    failed = [result for result in results if result.outcome is Outcome.FAIL]
    problems = [f"{result.name}: {result.message}" for result in failed]
    fixes = [result.fix for result in failed if result.fix]
    topics = {problem.partition(":")[0] for problem in problems}
    for action in plan.refused:
        if action.target not in topics:
            problems.append(f"{action.target}: {action.note}")
            fixes.append(action.fix)
    if problems:
        raise RefusedError(
            "nothing was applied: " + "; ".join(problems), hint="\n".join(dict.fromkeys(fixes))
        )


def _password_actions(endpoints: Endpoints) -> list[Action]:
    path = endpoints.connect_password_file
    if path is None:
        return []
    target = f"password file {path}"
    password = endpoints.capture_password
    exists = path.exists()
    if exists and path.read_text("utf-8") == password:
        return [Action(Verb.UNCHANGED, target)]
    verb = Verb.UPDATE if exists else Verb.CREATE
    return [Action(verb, target, run=lambda: _write_secret(path, password))]


def _write_secret(path: Path, password: str) -> None:
    # Under its final name only when whole, and never readable by others, not even for a moment.
    draft = path.with_name(f".{path.name}.new")
    draft.unlink(missing_ok=True)
    descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        file.write(password)
    draft.replace(path)


def _connector_action(connect: ConnectClient, pipeline: Pipeline, endpoints: Endpoints) -> Action:
    wanted = connector_config(pipeline, endpoints)
    found = connect.config(pipeline.name)
    target = f"connector {pipeline.name}"
    if found == wanted:
        return Action(Verb.UNCHANGED, target)

    def put() -> None:
        with ConnectClient(endpoints.connect_url) as client:
            _refuse_invalid(client.validate(wanted), pipeline.name)
            client.put_config(pipeline.name, wanted)

    return Action(
        Verb.CREATE if found is None else Verb.UPDATE,
        target,
        changed_settings(found or {}, wanted),
        run=put,
    )


def _refuse_invalid(problems: dict[str, list[str]], name: str) -> None:
    if problems:
        told = "; ".join(f"{key}: {' '.join(errors)}" for key, errors in sorted(problems.items()))
        raise ConnectError(
            f"Debezium refuses the configuration of connector {name}: {told}",
            hint="correct what it names in pipeline.yaml, or run `cdc check`",
        )
