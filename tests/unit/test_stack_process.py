"""Processes are known by pid and start time together, and stopped by nothing less."""

import os
import signal
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import psutil
import pytest

from cdc.stack.process import ProcessId, spawn, stop

IGNORES_REQUESTS = (
    "import signal, time; signal.signal(15, signal.SIG_IGN); print('on', flush=1); time.sleep(99)"
)


@pytest.fixture
def sleeper(tmp_path: Path) -> Iterator[ProcessId]:
    identity = spawn(["sleep", "99"], log=tmp_path / "log", environment=dict(os.environ))
    yield identity
    stop(identity, ask_with=signal.SIGKILL, grace=5)


def test_a_running_process_is_found(sleeper: ProcessId) -> None:
    process = sleeper.find()
    assert process is not None
    assert process.pid == sleeper.pid


def test_a_pid_that_was_given_to_somebody_else_is_not_ours(sleeper: ProcessId) -> None:
    earlier = replace(sleeper, started=sleeper.started - 10)
    assert earlier.find() is None
    stop(earlier, ask_with=signal.SIGKILL, grace=5)
    assert sleeper.find() is not None


def test_a_killed_child_is_gone_at_once(sleeper: ProcessId) -> None:
    os.kill(sleeper.pid, signal.SIGKILL)
    deadline = time.monotonic() + 5
    while sleeper.find() is not None:
        assert time.monotonic() < deadline
    assert not psutil.pid_exists(sleeper.pid)


def test_a_stopped_process_ends_too(sleeper: ProcessId) -> None:
    os.kill(sleeper.pid, signal.SIGSTOP)
    stop(sleeper, ask_with=signal.SIGTERM, grace=5)
    assert sleeper.find() is None


def test_one_that_ignores_the_request_is_killed_after_the_grace(tmp_path: Path) -> None:
    log = tmp_path / "log"
    identity = spawn(
        [sys.executable, "-c", IGNORES_REQUESTS], log=log, environment=dict(os.environ)
    )
    deadline = time.monotonic() + 10
    while b"on" not in log.read_bytes():
        assert time.monotonic() < deadline
    stop(identity, ask_with=signal.SIGTERM, grace=0.3)
    assert identity.find() is None


def test_stopping_what_is_gone_does_no_harm(sleeper: ProcessId) -> None:
    stop(sleeper, ask_with=signal.SIGTERM, grace=5)
    stop(sleeper, ask_with=signal.SIGTERM, grace=5)
