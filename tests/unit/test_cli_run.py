"""The command line as a user meets it: help, exit codes, errors, interruption."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from cdc.cli.run import globals_first, run
from cdc.cli.session import Session
from cdc.errors import RetryableError

CDC = [sys.executable, "-c", "from cdc.cli import main; main()"]
GOOD = "name: shop\nsource: {database: shop}\ntables: [public.orders]\n"
COMMANDS = [
    *("init", "check", "plan", "apply", "status", "config check", "config schema"),
    *("stack up", "stack down", "stack status", "stack logs", "stack reset"),
]


@pytest.fixture
def good(tmp_path: Path) -> str:
    file = tmp_path / "pipeline.yaml"
    file.write_text(GOOD)
    return str(file)


def cdc(*arguments: str, **options: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run(  # type: ignore[call-overload,no-any-return]
        [*CDC, *arguments], capture_output=True, text=True, check=False, timeout=60, **options
    )


def test_help_teaches_the_order_of_the_commands(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["--help"]) == 0
    text = capsys.readouterr().out
    order = ["stack up", "init", "check", "plan", "apply", "status"]
    places = [text.index(f"\n    cdc {command} ") for command in order]
    assert places == sorted(places)
    assert "Examples:" in text
    assert "Exit codes: 0 done, 1 failed, 2 wrong arguments" in text


@pytest.mark.parametrize("group", ["", "config", "stack"])
def test_no_short_help_is_cut_off(group: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run([*group.split(), "--help"]) == 0
    assert "..." not in capsys.readouterr().out.partition("Commands:")[2]


def test_no_arguments_show_the_help(capsys: pytest.CaptureFixture[str]) -> None:
    assert run([]) == 0
    assert "The usual order:" in capsys.readouterr().out


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_help(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run([*command.split(), "--help"]) == 0
    text = capsys.readouterr().out
    assert text.startswith(f"Usage: cdc {command}")
    assert len(text.splitlines()[2]) > 20


def test_help_loads_nothing_heavy() -> None:
    heavy = "pyspark kafka psycopg httpx rich pyarrow yaml"
    script = (
        "import sys; from cdc.cli.run import run; run(['--help'])\n"
        f"print('LOADED', *set('{heavy}'.split()) & set(sys.modules))"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True, timeout=60
    )
    assert done.stdout.splitlines()[-1].split() == ["LOADED"]


def test_the_version_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["--version"]) == 0
    assert capsys.readouterr().out.startswith("cdc 0.")


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("nonsense", "No such command 'nonsense'"),
        ("plan --nonsense", "No such option"),
        ("init --port nine", "--port"),
        ("init --port 0", "--port"),
        ("config", "Missing command"),
        ("stack", "Missing command"),
        ("stack logs", "SERVICE"),
        ("plan surplus", "unexpected extra argument"),
        ("--file", "--file"),
    ],
)
def test_wrong_arguments_exit_2_and_point_to_the_help(
    line: str, told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(line.split()) == 2
    shown = capsys.readouterr()
    assert shown.out == ""
    assert shown.err.startswith("Error: ")
    assert told in shown.err
    assert "Try: cdc" in shown.err
    assert "--help" in shown.err


def test_wrong_arguments_are_json_too(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["nonsense", "--json"]) == 2
    shown = capsys.readouterr()
    assert json.loads(shown.err) == {"error": "No such command 'nonsense'.", "try": "cdc --help"}


def test_config_check_says_that_a_file_is_valid(
    good: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["-f", good, "config", "check"]) == 0
    assert "is valid: pipeline shop, 1 table" in capsys.readouterr().out


def test_config_check_prints_the_whole_file_as_json(
    good: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["config", "check", "--json", "--file", good]) == 0
    data = json.loads(capsys.readouterr().out)
    assert data["source"]["user"] == "cdc_capture"


@pytest.mark.parametrize("flags", [[], ["--json"]])
def test_config_schema_is_json_either_way(
    flags: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["config", "schema", *flags]) == 0
    assert json.loads(capsys.readouterr().out)["title"] == "pipeline.yaml"


@pytest.mark.parametrize("command", ["check", "plan", "apply", "status", "config check"])
def test_a_missing_file_exits_2_and_points_to_init(
    command: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["-f", str(tmp_path / "none.yaml"), *command.split()]) == 2
    shown = capsys.readouterr()
    assert "Error: there is no " in shown.err
    assert "Try: cdc init" in shown.err
    assert shown.out == ""


def test_problems_of_a_file_are_listed_for_programs(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "pipeline.yaml"
    file.write_text(GOOD.replace("tables", "tabels"))
    assert run(["-f", str(file), "plan", "--json"]) == 2
    error = json.loads(capsys.readouterr().err)
    assert [(each["line"], each["what"]) for each in error["problems"]] == [
        (1, "key `tables` is missing"),
        (3, "unknown key `tabels`"),
    ]
    assert set(error) == {"error", "try", "problems"}


@pytest.mark.parametrize("command", ["check", "plan", "apply", "status", "init"])
def test_without_a_stack_the_command_that_starts_one_is_named(
    command: str, good: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = good if command != "init" else str(tmp_path / "new.yaml")
    assert run(["-f", file, "--state-dir", str(tmp_path / "state"), command]) == 2
    assert "Try: cdc stack up" in capsys.readouterr().err


def test_init_does_not_replace_a_file(good: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["-f", good, "init"]) == 2
    assert "--force" in capsys.readouterr().err
    assert Path(good).read_text() == GOOD


def test_init_takes_no_password_in_plain_text(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = str(tmp_path / "new.yaml")
    assert run(["-f", file, "init", "--host", "db", "--password", "hunter2"]) == 2
    shown = capsys.readouterr().err
    assert "env:PGPASSWORD" in shown
    assert "hunter2" not in shown


def raising(error: BaseException) -> object:
    def pipeline(_: Session) -> None:
        raise error

    return pipeline


def test_an_expected_error_shows_its_hint_and_its_exit_code(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(Session, "pipeline", raising(RetryableError("down", hint="cdc stack up")))
    assert run(["plan"]) == 1
    assert capsys.readouterr().err == "Error: down\nTry: cdc stack up\n"


def test_an_unexpected_error_is_short_and_whole_with_debug(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(Session, "pipeline", raising(KeyError("odd")))
    assert run(["plan"]) == 1
    short = capsys.readouterr().err
    assert "unexpected KeyError: 'odd'" in short
    assert "Traceback" not in short
    assert "--debug" in short
    assert run(["plan", "--debug"]) == 1
    assert "Traceback" in capsys.readouterr().err


def test_ctrl_c_exits_130_with_a_line(tmp_path: Path) -> None:
    fifo = tmp_path / "pipeline.yaml"
    os.mkfifo(fifo)
    # Whoever runs the tests in the background has SIGINT ignored, and children inherit that.
    script = (
        "import signal; signal.signal(signal.SIGINT, signal.default_int_handler); "
        "from cdc.cli import main; main()"
    )
    command = [sys.executable, "-c", script, "-f", str(fifo), "config", "check"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        try:
            writer = wait_for_reader(fifo, deadline=time.monotonic() + 30)
            process.send_signal(signal.SIGINT)
            # A signal between the child's open() and read() is only noted: end the read as well.
            os.close(writer)
            _, shown = process.communicate(timeout=30)
        finally:
            process.kill()
    assert process.returncode == 130
    assert shown.startswith("Error: interrupted\nTry: ")


def wait_for_reader(fifo: Path, deadline: float) -> int:
    """Return once the command has opened the pipe, and so is past its start."""
    while True:
        try:
            return os.open(fifo, os.O_WRONLY | os.O_NONBLOCK)
        except OSError:
            assert time.monotonic() < deadline, "the command never opened the file"


def test_a_closed_pipe_is_no_traceback() -> None:
    done = subprocess.run(
        f"{sys.executable} -c 'from cdc.cli import main; main()' config schema | head -1",
        shell=True,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert done.stdout == "{\n"
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("given", "moved"),
    [
        ("status --json", "--json status"),
        ("plan -f x.yaml --all", "-f x.yaml plan --all"),
        ("plan --file=x.yaml", "--file=x.yaml plan"),
        ("stack up --state-dir d kafka", "--state-dir d stack up kafka"),
        ("stack logs kafka -f", "stack logs kafka -f"),
        ("stack logs kafka -f --json", "--json stack logs kafka -f"),
        ("stack up -- --json", "stack up -- --json"),
        ("plan --file", "--file plan"),
    ],
)
def test_global_options_may_stand_anywhere(given: str, moved: str) -> None:
    assert globals_first(given.split()) == moved.split()


def test_the_console_script_passes_the_exit_code_on() -> None:
    assert cdc("nonsense").returncode == 2
    assert cdc("--version").returncode == 0
