"""Starts, recognises and stops processes by recorded identity.

A pid alone may by now belong to somebody else; pid and start time together do not. Nothing here
ever looks for a process by name.
"""

import contextlib
import os
import pwd
import signal
import subprocess
import time
import warnings
from dataclasses import dataclass
from pathlib import Path

import psutil

from cdc.stack.paths import is_root

UNPRIVILEGED_USER = "nobody"
POLL_SECONDS = 0.05
# psutil reports the start time in clock ticks since boot; two readings may round differently.
SAME_START_SECONDS = 0.05


@dataclass(frozen=True)
class ProcessId:
    """Which process was started: its pid and when it began."""

    pid: int
    started: float

    def find(self) -> psutil.Process | None:
        """Return the very process that was recorded, or None when it is gone."""
        try:
            process = psutil.Process(self.pid)
            if process.status() == psutil.STATUS_ZOMBIE:
                _reap(self.pid)
                return None
            same = abs(process.create_time() - self.started) < SAME_START_SECONDS
        except psutil.NoSuchProcess:
            return None
        return process if same else None


def unprivileged() -> tuple[int, int]:
    """Return uid and gid for a program that refuses to run as root."""
    entry = pwd.getpwnam(UNPRIVILEGED_USER)
    return entry.pw_uid, entry.pw_gid


def spawn(
    command: list[str], *, log: Path, environment: dict[str, str], drop_root: bool = False
) -> ProcessId:
    """Start a process of its own session that outlives us, its output appended to `log`."""
    user, group = unprivileged() if drop_root and is_root() else (None, None)
    with log.open("ab") as output:
        child = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            cwd="/",
            env=environment,
            start_new_session=True,
            user=user,
            group=group,
            extra_groups=[] if user is not None else None,
        )
    identity = ProcessId(child.pid, psutil.Process(child.pid).create_time())
    with warnings.catch_warnings():
        # It is meant to go on without its handle: the recorded identity takes its place.
        warnings.simplefilter("ignore", ResourceWarning)
        del child
    return identity


def stop(identity: ProcessId, *, ask_with: signal.Signals, grace: float) -> None:
    """Ask the process to end, wait, and only then kill it with whatever children it left."""
    process = identity.find()
    if process is None:
        return
    family = [process, *process.children(recursive=True)]
    # A stopped process cannot answer a request to end.
    _signal(process, signal.SIGCONT)
    _signal(process, ask_with)
    if _wait_gone(identity, grace):
        return
    for member in family:
        _signal(member, signal.SIGKILL)
    _wait_gone(identity, grace)


def _wait_gone(identity: ProcessId, seconds: float) -> bool:
    deadline = time.monotonic() + seconds
    while identity.find() is not None:
        if time.monotonic() > deadline:
            return False
        time.sleep(POLL_SECONDS)
    return True


def _signal(process: psutil.Process, number: signal.Signals) -> None:
    # psutil checks the start time again, so a pid that was given anew is never hit.
    with contextlib.suppress(psutil.NoSuchProcess):
        process.send_signal(number)


def _reap(pid: int) -> None:
    with contextlib.suppress(ChildProcessError):
        os.waitpid(pid, os.WNOHANG)
