"""What commands print: results on stdout, everything else on stderr, as text or as JSON.

In a terminal text is coloured and progress is a bar; in a pipe both are plain lines, cut nowhere.
With JSON a command prints exactly one document, and no progress.
"""

import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Protocol, TextIO

if TYPE_CHECKING:
    from rich.console import Console
    from rich.progress import Progress

STYLES = {
    "ok": "green",
    "warn": "yellow",
    "fail": "red",
    "dim": "dim",
    "bold": "bold",
}


class Steps(Protocol):
    """What a command tells while it works."""

    def say(self, message: str) -> None:
        """Tell what is being done now."""

    def advance(self, message: str = "") -> None:
        """Tell that one of the steps is done."""

    def count(self, done: int, total: int, what: str) -> None:
        """Tell how many of many are done."""


class Output:
    """Where a command's results and progress go. Made once per run, passed to whoever prints."""

    def __init__(
        self, *, as_json: bool = False, stdout: TextIO | None = None, stderr: TextIO | None = None
    ) -> None:
        self.as_json = as_json
        self._stdout = stdout or sys.stdout
        self._stderr = stderr or sys.stderr

    def result(self, data: Any) -> None:
        """Print the command's result as JSON, if that was asked for; else nothing."""
        if self.as_json:
            text = json.dumps(data, indent=2, ensure_ascii=False, default=str)
            print(text, file=self._stdout)

    def line(self, text: str = "", style: str = "") -> None:
        """Print one line of the result for people; nothing with JSON."""
        if self.as_json:
            return
        if self._stdout.isatty():
            self._console(self._stdout).print(text, style=STYLES.get(style), markup=False)
        else:
            print(text, file=self._stdout)

    def table(self, columns: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
        """Print rows for people under their columns; nothing with JSON."""
        if self.as_json:
            return
        if self._stdout.isatty():
            self._rich_table(columns, rows)
            return
        cells = [[name.upper() for name in columns], *rows]
        widths = [max(len(row[at]) for row in cells) for at in range(len(columns))]
        for row in cells:
            padded = (cell.ljust(width) for cell, width in zip(row, widths, strict=True))
            print("  ".join(padded).rstrip(), file=self._stdout)

    def note(self, text: str) -> None:
        """Print a remark on stderr; nothing with JSON."""
        if not self.as_json:
            print(text, file=self._stderr, flush=True)

    def error(self, message: str, hint: str, extra: Mapping[str, Any] | None = None) -> None:
        """Print what went wrong and what to do about it, on stderr."""
        if self.as_json:
            document = {"error": message, "try": hint, **(extra or {})}
            print(json.dumps(document, ensure_ascii=False, default=str), file=self._stderr)
            return
        for label, text, style in (("Error:", message, "bold red"), ("Try:", hint, "bold")):
            if self._stderr.isatty():
                console = self._console(self._stderr)
                console.print(label, style=style, end=" ")
                console.print(text, markup=False, highlight=False)
            else:
                print(label, text, file=self._stderr)

    @contextmanager
    def progress(self, title: str, total: int | None = None) -> Iterator[Steps]:
        """Show that something takes time: a bar in a terminal, lines on stderr in a pipe."""
        if self.as_json:
            yield _Silent()
        elif self._stderr.isatty():
            with self._bar() as bar:
                task = bar.add_task(title, total=total)
                yield _Bar(bar, task, title)
        else:
            self.note(f"{title} …")
            yield _Lines(self, total)

    def _bar(self) -> "Progress":
        from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn  # noqa: PLC0415 - slow

        return Progress(
            TextColumn("{task.description}", markup=False),
            BarColumn(),
            TimeElapsedColumn(),
            console=self._console(self._stderr),
            transient=True,
        )

    def _rich_table(self, columns: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
        from rich.box import SIMPLE_HEAD  # noqa: PLC0415 - slow
        from rich.table import Table  # noqa: PLC0415 - slow
        from rich.text import Text  # noqa: PLC0415 - slow

        table = Table(box=SIMPLE_HEAD, pad_edge=False)
        for name in columns:
            table.add_column(name, overflow="fold")
        for row in rows:
            table.add_row(*(Text(cell, style=STYLES.get(cell, "")) for cell in row))
        self._console(self._stdout).print(table)

    def _console(self, stream: TextIO) -> "Console":
        from rich.console import Console  # noqa: PLC0415 - slow, and not needed in a pipe

        return Console(file=stream, highlight=False)


class _Silent:
    def say(self, message: str) -> None:
        pass

    def advance(self, message: str = "") -> None:
        pass

    def count(self, done: int, total: int, what: str) -> None:
        pass


class _Lines:
    def __init__(self, out: Output, total: int | None) -> None:
        self._out, self._total, self._done = out, total, 0
        self._last = ""
        self._tenth = -1

    def say(self, message: str) -> None:
        if message != self._last:
            self._out.note(f"  {message}")
        self._last = message

    def advance(self, message: str = "") -> None:
        self._done += 1
        if message:
            count = f"[{self._done}/{self._total}] " if self._total else ""
            self.say(f"{count}{message}")

    def count(self, done: int, total: int, what: str) -> None:
        # A line for every tenth that is passed: hundreds of lines tell no more.
        tenth = done * 10 // max(total, 1)
        if tenth != self._tenth:
            self.say(f"{done:,} of {total:,} {what}")
        self._tenth = tenth


class _Bar:
    def __init__(self, bar: "Progress", task: Any, title: str) -> None:
        self._bar, self._task, self._title = bar, task, title

    def say(self, message: str) -> None:
        self._bar.update(self._task, description=f"{self._title}: {message}")

    def advance(self, message: str = "") -> None:
        self._bar.advance(self._task)
        if message:
            self.say(message)

    def count(self, done: int, total: int, what: str) -> None:
        self._bar.update(self._task, completed=done, total=total)
        self.say(f"{done:,} of {total:,} {what}")
