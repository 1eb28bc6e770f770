"""The one stack that all integration tests share, and what every test may wait with."""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from cdc.stack.addresses import Addresses
from cdc.stack.paths import default_state_dir
from cdc.stack.stack import Stack


@pytest.fixture(scope="session")
def running_stack() -> Iterator[Stack]:
    """Bring up a stack of the tests' own, from nothing, and take it down at the end.

    Its place is fixed, so that a session that was killed leaves nothing behind that the next one
    does not find by its recorded ids. CDC_TEST_STATE_DIR names a stack that is up already, is
    used as it is and stays up: for people who run one test again and again.
    """
    if kept := os.environ.get("CDC_TEST_STATE_DIR"):
        stack = Stack(Path(kept))
        stack.up()
        yield stack
        return
    default = default_state_dir()
    stack = Stack(default.with_name(default.name + "-test"))
    with _alone(stack.state_dir.with_suffix(".session")):
        stack.reset()
        stack.up()
        yield stack
        stack.reset()


@contextmanager
def _alone(path: Path) -> Iterator[None]:
    """Refuse a second session of this checkout: it would reset the stack under the first one."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            pytest.exit(f"another test session of this checkout is running ({path})", 2)
        yield


@pytest.fixture(scope="session")
def stack(running_stack: Stack) -> Addresses:
    """Where the shared stack's services are found."""
    return running_stack.addresses()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark what uses the stack by its fixtures: a marker of one's own can be forgotten."""
    for item in items:
        fixtures = getattr(item, "fixturenames", ())
        if "running_stack" in fixtures:
            item.add_marker("stack")
