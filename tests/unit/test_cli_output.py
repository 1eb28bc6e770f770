"""One output, three readers: a terminal, a pipe, a program."""

import io
import json

import pytest

from cdc.cli.status import size
from cdc.output import Output


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def outputs(
    *, terminal: bool = False, as_json: bool = False
) -> tuple[Output, io.StringIO, io.StringIO]:
    make = Terminal if terminal else io.StringIO
    stdout, stderr = make(), make()
    return Output(as_json=as_json, stdout=stdout, stderr=stderr), stdout, stderr


def test_a_pipe_gets_plain_lines_that_are_never_cut() -> None:
    out, stdout, _ = outputs()
    out.line("x" * 500, "ok")
    out.table(["name", "state"], [["a" * 200, "ok"], ["b", "fail"]])
    lines = stdout.getvalue().splitlines()
    assert lines[0] == "x" * 500
    assert lines[1].startswith("NAME ")
    assert lines[2] == f"{'a' * 200}  ok"
    assert "\x1b" not in stdout.getvalue()


def test_a_terminal_gets_colour_and_text_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.delenv("NO_COLOR", raising=False)
    out, stdout, _ = outputs(terminal=True)
    out.line("[red]not markup[/red]", "ok")
    out.table(["name"], [["[bold]table[/bold]"]])
    assert "[red]not markup[/red]" in stdout.getvalue()
    assert "[bold]table[/bold]" in stdout.getvalue()
    assert "\x1b[32m" in stdout.getvalue()


def test_json_is_one_document_and_nothing_else() -> None:
    out, stdout, stderr = outputs(as_json=True)
    out.line("text")
    out.table(["a"], [["b"]])
    out.note("remark")
    with out.progress("Working", total=2) as steps:
        steps.say("one")
        steps.advance("two")
    out.result({"ok": True, "name": "ü"})
    assert json.loads(stdout.getvalue()) == {"ok": True, "name": "ü"}
    assert stderr.getvalue() == ""


def test_text_output_prints_no_json() -> None:
    out, stdout, _ = outputs()
    out.result({"ok": True})
    assert stdout.getvalue() == ""


def test_progress_in_a_pipe_is_lines_on_stderr() -> None:
    out, stdout, stderr = outputs()
    with out.progress("Starting", total=2) as steps:
        steps.advance("postgres")
        steps.say("waiting")
        steps.say("waiting")
        steps.advance("kafka")
    assert stderr.getvalue().splitlines() == [
        "Starting …",
        "  [1/2] postgres",
        "  waiting",
        "  [2/2] kafka",
    ]
    assert stdout.getvalue() == ""


def test_progress_in_a_terminal_is_a_bar_on_stderr() -> None:
    out, stdout, stderr = outputs(terminal=True)
    with out.progress("Starting", total=2) as steps:
        steps.advance("[postgres]")
    assert "Starting: [postgres]" in stderr.getvalue()
    assert stdout.getvalue() == ""


@pytest.mark.parametrize("terminal", [False, True])
def test_errors_go_to_stderr_with_what_to_try(terminal: bool) -> None:  # noqa: FBT001
    out, stdout, stderr = outputs(terminal=terminal)
    out.error("it broke [here]", "cdc stack up")
    assert "Error:" in stderr.getvalue()
    assert "it broke [here]" in stderr.getvalue()
    assert "Try:" in stderr.getvalue()
    assert stdout.getvalue() == ""


@pytest.mark.parametrize(
    ("count", "text"),
    [(None, "unknown"), (0, "0 B"), (1023, "1023 B"), (1536, "1.5 KiB"), (5 * 2**40, "5.0 TiB")],
)
def test_sizes_read_as_people_say_them(count: int | None, text: str) -> None:
    assert size(count) == text
