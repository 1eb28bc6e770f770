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


SAYS_GOODBYE = """
import signal, sys, time
def leave(*_):
    print("goodbye", flush=True)
    sys.exit()
signal.signal(15, leave)
print("on", flush=True)
time.sleep(99)
"""


def wait_for(word: bytes, log: Path) -> None:
    deadline = time.monotonic() + 10
    while word not in log.read_bytes():
        assert time.monotonic() < deadline, log.read_bytes()


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


def test_a_frozen_process_is_woken_to_end_in_order(tmp_path: Path) -> None:
    log = tmp_path / "log"
    identity = spawn([sys.executable, "-c", SAYS_GOODBYE], log=log, environment=dict(os.environ))
    wait_for(b"on", log)
    os.kill(identity.pid, signal.SIGSTOP)
    stop(identity, ask_with=signal.SIGTERM, grace=10)
    assert identity.find() is None
    assert b"goodbye" in log.read_bytes()


def test_one_that_ignores_the_request_is_killed_after_the_grace(tmp_path: Path) -> None:
    log = tmp_path / "log"
    identity = spawn(
        [sys.executable, "-c", IGNORES_REQUESTS], log=log, environment=dict(os.environ)
    )
    wait_for(b"on", log)
    stop(identity, ask_with=signal.SIGTERM, grace=0.3)
    assert identity.find() is None


def test_stopping_what_is_gone_does_no_harm(sleeper: ProcessId) -> None:
    stop(sleeper, ask_with=signal.SIGTERM, grace=5)
    stop(sleeper, ask_with=signal.SIGTERM, grace=5)
