"""Runs one command line: arguments in, exit code out, every failure shown with what to do next.

0 done, 1 failed, 2 wrong arguments or configuration, 130 interrupted.
"""

import sys
import traceback
from collections.abc import Sequence

import typer

from cdc.cli.app import app
from cdc.errors import CdcError
from cdc.output import Output

INTERRUPTED = 130
_VALUED = ("--file", "--state-dir")
_FLAGS = ("--json", "--debug")


def run(arguments: Sequence[str]) -> int:
    """Run `cdc` with these arguments and return the exit code. Never raises an Exception."""
    line = globals_first(arguments) or ["--help"]
    out = Output(as_json="--json" in line)
    try:
        code = app(line, prog_name="cdc", standalone_mode=False)
    except CdcError as error:
        _debug(line)
        out.error(error.message, error.hint, _problems(error))
        return error.exit_code
    except typer.TyperException as error:
        context = getattr(error, "ctx", None)
        out.error(error.format_message(), f"{context.command_path if context else 'cdc'} --help")
        return error.exit_code
    except typer.Abort:
        out.error("cancelled, nothing was done", "answer `y`, or give --yes")
        return 1
    except Exception as error:  # noqa: BLE001 - the last stop: shown, never swallowed
        _debug(line)
        out.error(
            f"unexpected {type(error).__name__}: {error}",
            "the same command with --debug shows where; please report it with that output",
        )
        return 1
    if code == INTERRUPTED:
        out.error("interrupted", "the same command again: every command may be repeated")
    return code if isinstance(code, int) else 0


def globals_first(arguments: Sequence[str]) -> list[str]:
    """Move the global options to the front: they may stand anywhere before `--`.

    `-f` is `--file` except after `logs`, where it means follow.
    """
    rest, front = list(arguments), []
    end = rest.index("--") if "--" in rest else len(rest)
    line, tail = rest[:end], rest[end:]
    valued = (*_VALUED, *(() if "logs" in line else ("-f",)))
    kept = []
    while line:
        word = line.pop(0)
        if word in _FLAGS or word.startswith(tuple(f"{name}=" for name in _VALUED)):
            front.append(word)
        elif word in valued:
            front += [word, *line[:1]]
            line = line[1:]
        else:
            kept.append(word)
    return front + kept + tail


def _problems(error: CdcError) -> dict[str, object]:
    found = getattr(error, "problems", ())
    return {"problems": [vars(problem) for problem in found]} if found else {}


def _debug(line: Sequence[str]) -> None:
    if "--debug" in line:
        traceback.print_exc(file=sys.stderr)
