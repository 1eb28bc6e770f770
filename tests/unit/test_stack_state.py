"""A stack's memory: written whole, read back the same, torn files explained."""

import socket
from pathlib import Path

import pytest

from cdc.errors import FatalError
from cdc.stack import paths, ports
from cdc.stack.process import ProcessId
from cdc.stack.state import ServiceState, StackState, read_state, write_state


def test_a_state_reads_back_as_written(tmp_path: Path) -> None:
    state = StackState(
        services={
            "kafka": ServiceState({"client": 1, "controller": 2}, ProcessId(7, 1.25), "4.3.1"),
            "redis": ServiceState({"client": 3}),
        }
    )
    write_state(tmp_path, state)
    assert read_state(tmp_path) == state


def test_where_there_never_was_a_stack_there_is_no_state(tmp_path: Path) -> None:
    assert read_state(tmp_path / "never") is None


@pytest.mark.parametrize(
    "content", ["", "{", "[]", '{"id": "x"}', '{"id": 1, "services": {"a": 1}}']
)
def test_a_torn_state_is_explained(tmp_path: Path, content: str) -> None:
    (tmp_path / "stack.json").write_text(content)
    with pytest.raises(FatalError, match="not readable as a stack's state") as caught:
        read_state(tmp_path)
    assert "cdc stack reset" in caught.value.hint


def test_two_stacks_have_two_ids() -> None:
    assert StackState().id != StackState().id


def test_a_taken_port_is_not_picked() -> None:
    with socket.socket() as server:
        server.bind((ports.LOOPBACK, 0))
        server.listen()
        port = server.getsockname()[1]
        assert not ports.is_free(port)
        with pytest.raises(OSError, match="no free port"):
            ports.pick(taken=(), among=range(port, port + 1))


def test_a_port_another_service_of_the_stack_has_is_not_picked() -> None:
    one = ports.pick(taken=())
    assert ports.pick(taken={one}, among=range(one, one + 200)) != one


def test_each_directory_has_a_stack_of_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("CDC_STATE_DIR", raising=False)
    seen = set()
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        monkeypatch.chdir(tmp_path / name)
        seen.add(paths.default_state_dir())
    assert len(seen) == 2


def test_the_places_can_be_chosen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CDC_STATE_DIR", "/somewhere/state")
    monkeypatch.setenv("CDC_CACHE", "/somewhere/cache")
    assert paths.default_state_dir() == Path("/somewhere/state")
    assert paths.cache_dir() == Path("/somewhere/cache")
