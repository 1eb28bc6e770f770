"""The stack as an operator treats it: twice up, twice down, killed, frozen, forgotten."""

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
import psycopg
import pytest

from cdc.errors import FatalError
from cdc.stack import versions
from cdc.stack.paths import is_root
from cdc.stack.stack import ServiceStatus, Stack
from cdc.stack.state import read_state, write_state

ALL = ["postgres", "kafka", "connect", "opensearch", "redis"]


def status_of(stack: Stack, name: str) -> ServiceStatus:
    [status] = [status for status in stack.status() if status.name == name]
    return status


def pids(stack: Stack) -> dict[str, int | None]:
    return {status.name: status.pid for status in stack.status()}


@pytest.fixture
def own_stack(running_stack: Stack) -> Iterator[Callable[[str], Stack]]:
    """Make small stacks beside the shared one; all are removed at the end."""
    made: list[Stack] = []

    def make(name: str) -> Stack:
        stack = Stack(running_stack.state_dir.with_name(f"{running_stack.state_dir.name}-{name}"))
        stack.reset()
        made.append(stack)
        return stack

    yield make
    for stack in made:
        stack.reset()
        shutil.rmtree(stack.state_dir, ignore_errors=True)


def test_everything_is_ready_and_a_second_up_changes_nothing(running_stack: Stack) -> None:
    before = pids(running_stack)
    assert [(s.name, s.state) for s in running_stack.status()] == [(n, "ready") for n in ALL]
    running_stack.up()
    assert pids(running_stack) == before


@pytest.mark.parametrize("name", ALL)
def test_a_killed_service_is_shown_and_healed_on_its_old_port(
    running_stack: Stack, name: str
) -> None:
    before = status_of(running_stack, name)
    others = {each: pid for each, pid in pids(running_stack).items() if each != name}
    assert before.pid is not None
    os.kill(before.pid, signal.SIGKILL)
    psutil.wait_procs([psutil.Process(before.pid)] if psutil.pid_exists(before.pid) else [], 10)
    dead = status_of(running_stack, name)
    assert dead.state == "dead"
    assert "cdc stack up" in dead.detail
    running_stack.up()
    after = status_of(running_stack, name)
    assert (after.state, after.port) == ("ready", before.port)
    assert after.pid != before.pid
    assert {each: pid for each, pid in pids(running_stack).items() if each != name} == others


def test_a_frozen_service_is_shown_and_started_anew(
    own_stack: Callable[[str], Stack], monkeypatch: pytest.MonkeyPatch
) -> None:
    stack = own_stack("frozen")
    stack.up(["redis"])
    before = status_of(stack, "redis").pid
    assert before is not None
    os.kill(before, signal.SIGSTOP)
    assert status_of(stack, "redis").state == "not ready"
    monkeypatch.setattr("cdc.stack.stack.ANSWER_WITHIN_SECONDS", 1.0)
    stack.up(["redis"])
    after = status_of(stack, "redis")
    assert after.state == "ready"
    assert after.pid != before


def test_a_service_of_another_version_is_replaced(own_stack: Callable[[str], Stack]) -> None:
    stack = own_stack("older")
    stack.up(["redis"])
    before = status_of(stack, "redis").pid
    state = read_state(stack.state_dir)
    assert state is not None
    state.services["redis"].started_version = "0.1"
    write_state(stack.state_dir, state)
    assert status_of(stack, "redis").version == "0.1"
    stack.up(["redis"])
    after = status_of(stack, "redis")
    assert (after.state, after.version) == ("ready", versions.REDIS)
    assert after.pid != before


def test_down_twice_does_no_harm_and_data_survives(own_stack: Callable[[str], Stack]) -> None:
    stack = own_stack("twice")
    stack.up(["postgres"])
    execute(stack, "CREATE TABLE kept AS SELECT 42 AS answer")
    stack.down()
    stack.down()
    assert status_of(stack, "postgres").state == "stopped"
    stack.up(["postgres"])
    assert execute(stack, "SELECT answer FROM kept") == [(42,)]


def test_reset_removes_the_stack_and_nothing_else(own_stack: Callable[[str], Stack]) -> None:
    stack = own_stack("home")
    stack.state_dir.mkdir(parents=True)
    letter = stack.state_dir / "letter.txt"
    letter.write_text("dear reader")
    stack.reset()  # there is no stack yet
    assert letter.exists()
    stack.up(["redis"])
    stack.reset()
    assert list(stack.state_dir.iterdir()) == [letter]
    letter.unlink()
    stack.up(["redis"])
    stack.reset()
    assert not stack.state_dir.exists()


def test_stacks_stand_side_by_side(own_stack: Callable[[str], Stack], running_stack: Stack) -> None:
    one, two = own_stack("one"), own_stack("two")
    one.up(["postgres", "redis"])
    two.up(["postgres", "redis"])
    ports = [status_of(each, "postgres").port for each in (one, two, running_stack)]
    assert len(set(ports)) == 3
    execute(one, "CREATE TABLE only_here (id int)")
    with pytest.raises(psycopg.errors.UndefinedTable):
        execute(two, "SELECT * FROM only_here")
    one.down()
    assert status_of(two, "postgres").state == "ready"


def test_a_stack_left_by_a_killed_process_is_found_and_stopped(
    own_stack: Callable[[str], Stack],
) -> None:
    stack = own_stack("left")
    code = (
        "import os; from pathlib import Path; from cdc.stack.stack import Stack; "
        f"Stack(Path({str(stack.state_dir)!r})).up(['redis']); os.kill(os.getpid(), 9)"
    )
    ended = subprocess.run([sys.executable, "-c", code], check=False)
    assert ended.returncode == -signal.SIGKILL
    left = status_of(stack, "redis")
    assert left.state == "ready"
    assert left.pid is not None
    process = psutil.Process(left.pid)
    stack.down()
    # Its parent is gone, so it may wait as a zombie for whoever inherits it.
    assert not process.is_running() or process.status() == psutil.STATUS_ZOMBIE


def test_a_process_that_only_shares_the_recorded_pid_is_left_alone(
    own_stack: Callable[[str], Stack],
) -> None:
    stack = own_stack("reused")
    stack.up(["redis"])
    state = read_state(stack.state_dir)
    assert state is not None
    identity = state.services["redis"].process
    assert identity is not None
    state.services["redis"].process = type(identity)(os.getpid(), identity.started)
    write_state(stack.state_dir, state)
    stack.down()  # would end this very process
    assert psutil.pid_exists(identity.pid)
    state.services["redis"].process = identity
    write_state(stack.state_dir, state)


def test_a_service_whose_port_was_taken_moves(own_stack: Callable[[str], Stack]) -> None:
    one, two = own_stack("first"), own_stack("second")
    one.up(["redis"])
    port = status_of(one, "redis").port
    one.down()
    two.up(["redis"])
    state = read_state(two.state_dir)
    assert state is not None
    two.down()
    state.services["redis"].ports["client"] = port or 0
    state.services["redis"].process = None
    write_state(two.state_dir, state)
    two.up(["redis"])
    one.up(["redis"])
    assert status_of(two, "redis").port == port
    assert status_of(one, "redis").port != port
    assert status_of(one, "redis").state == "ready"


def test_everything_listens_on_loopback_only(running_stack: Stack) -> None:
    for status in running_stack.status():
        process = psutil.Process(status.pid)
        listening = [c.laddr for c in process.net_connections() if c.status == psutil.CONN_LISTEN]
        assert listening, status.name
        for address in listening:
            assert address.ip.removeprefix("::ffff:") in {"127.0.0.1", "::1"}, status.name


def test_secrets_are_for_our_eyes_only(running_stack: Stack) -> None:
    for folder in (running_stack.state_dir / "secrets", running_stack.addresses().secrets_dir):
        assert folder.stat().st_mode & 0o077 == 0, folder
    password = running_stack.addresses().postgres_admin_password
    for process in psutil.process_iter(["cmdline"]):
        assert password not in " ".join(process.info["cmdline"] or ())


def test_a_wrong_password_is_refused(running_stack: Stack) -> None:
    addresses = running_stack.addresses()
    with pytest.raises(psycopg.OperationalError, match="password authentication failed"):
        psycopg.connect(
            host=addresses.postgres_host,
            port=addresses.postgres_port,
            user="postgres",
            password="wrong",
            dbname="postgres",
        )


@pytest.mark.skipif(not is_root(), reason="only root has privileges to drop")
def test_postgres_does_not_run_as_root(running_stack: Stack) -> None:
    assert psutil.Process(status_of(running_stack, "postgres").pid).uids().effective != 0


def test_a_service_that_cannot_start_shows_the_end_of_its_log(
    own_stack: Callable[[str], Stack],
) -> None:
    stack = own_stack("broken")
    stack.up(["postgres"])
    stack.down()
    (stack.state_dir / "postgres" / "data" / "postgresql.conf").write_text("nonsense = 1\n")
    with pytest.raises(
        FatalError, match='unrecognized configuration parameter "nonsense"'
    ) as caught:
        stack.up(["postgres"])
    assert "cdc stack logs postgres" in caught.value.hint


def test_an_unknown_service_is_answered_with_the_known_ones(tmp_path: Path) -> None:
    with pytest.raises(FatalError, match="no service called mysql") as caught:
        Stack(tmp_path).up(["mysql"])
    assert "postgres, kafka, connect, opensearch, redis" in caught.value.hint


def test_addresses_of_a_stack_that_never_was_name_the_command(tmp_path: Path) -> None:
    with pytest.raises(FatalError, match="there is no stack in") as caught:
        Stack(tmp_path).addresses()
    assert caught.value.hint == "cdc stack up"


def execute(stack: Stack, sql: str) -> list[tuple[object, ...]]:
    with psycopg.connect(stack.addresses().admin_conninfo("postgres")) as connection:
        cursor = connection.execute(sql)
        return cursor.fetchall() if cursor.description else []
