"""The end of a log, and what is added to it."""

from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from cdc.cli import logs
from cdc.cli.logs import follow, tail

# A busy machine is slow, not wrong.
patient = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])


@example(["aaaa", "bb"], 2, 4)  # the block begins in the middle of the first line wanted
@patient
@given(st.lists(st.text("ab", max_size=5), max_size=30), st.integers(0, 40), st.integers(1, 50))
def test_the_tail_is_the_last_lines_whatever_the_block_size(
    lines: list[str], count: int, block: int
) -> None:
    with TemporaryDirectory() as directory, pytest.MonkeyPatch.context() as patch:
        path = Path(directory, "log")
        path.write_text("".join(f"{line}\n" for line in lines))
        patch.setattr(logs, "BLOCK", block)
        assert tail(path, count) == (lines[-count:] if count else [])


def test_a_last_line_without_a_line_break_counts(tmp_path: Path) -> None:
    path = tmp_path / "log"
    path.write_bytes(b"one\ntwo\r\nthr\xffee")
    assert tail(path, 2) == ["two", "thr\ufffdee"]


def test_following_yields_whole_lines_as_they_are_added(tmp_path: Path) -> None:
    path = tmp_path / "log"
    path.write_text("old\n")
    additions = iter(["", "new", " line\nnext\n", ""])

    def add() -> None:
        with path.open("a") as file:
            file.write(next(additions))

    followed = follow(path, wait=add)
    assert next(followed) == "new line"
    assert next(followed) == "next"


def test_a_log_started_anew_is_read_from_its_start(tmp_path: Path) -> None:
    path = tmp_path / "log"
    path.write_text("a long old line\n")

    looks = iter(range(5))

    def start_anew() -> None:
        assert next(looks, None) is not None, "the new log was never read"
        path.write_text("new\n")

    assert next(follow(path, wait=start_anew)) == "new"
