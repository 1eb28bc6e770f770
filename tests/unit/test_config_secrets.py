"""Secrets stand outside the file, and nothing repeats one that was typed into it."""

import string
import traceback
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from cdc.config import Secret
from cdc.config.load import parse_pipeline
from cdc.errors import ConfigError

# A busy machine is slow, not wrong.
patient = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])

FILE = """\
name: shop
source: {{host: db, database: shop, password: {password}}}
tables: [public.orders]
"""


def test_a_variable_is_read_when_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    secret = Secret("env:CDC_TEST_SECRET")
    monkeypatch.setenv("CDC_TEST_SECRET", "s3cret ")
    assert secret.resolve() == "s3cret "


def test_a_file_is_read_without_its_last_line_break(tmp_path: Path) -> None:
    file = tmp_path / "password"
    file.write_text(" s3cret \r\n")
    assert Secret(f"file:{file}").resolve() == " s3cret "


def test_a_variable_that_is_not_there_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CDC_TEST_SECRET", raising=False)
    with pytest.raises(ConfigError, match="CDC_TEST_SECRET is not set") as caught:
        Secret("env:CDC_TEST_SECRET").resolve()
    assert caught.value.hint.startswith("export CDC_TEST_SECRET")
    monkeypatch.setenv("CDC_TEST_SECRET", "")
    with pytest.raises(ConfigError, match="CDC_TEST_SECRET is empty"):
        Secret("env:CDC_TEST_SECRET").resolve()


@pytest.mark.parametrize("content", [None, b"", b"\n", b"\xff\xfe"])
def test_a_file_that_holds_no_secret_is_named(tmp_path: Path, content: bytes | None) -> None:
    file = tmp_path / "password"
    if content is not None:
        file.write_bytes(content)
    with pytest.raises(ConfigError, match=str(file)):
        Secret(f"file:{file}").resolve()


def test_repr_shows_the_reference_only(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CDC_TEST_SECRET", "s3cret")
    secret = Secret("env:CDC_TEST_SECRET")
    secret.resolve()
    assert "s3cret" not in repr(secret) + str(secret) + repr(vars(secret))


@pytest.mark.parametrize("value", ["env:", "env:1A", "file:", "file:relative/path", "ENV:X"])
def test_a_malformed_reference_is_refused(value: str) -> None:
    with pytest.raises(ValueError, match="Secret"):
        Secret(value)


# The mark occurs nowhere else: a password that is a word of our own code is in every traceback.
@patient
@given(st.text(string.ascii_letters + string.digits, max_size=40).map(lambda text: f"zq7{text}"))
def test_a_plain_password_is_refused_and_never_repeated(password: str) -> None:
    with pytest.raises(ConfigError) as caught:
        parse_pipeline(FILE.format(password=f"'{password}'"))
    shown = "".join(traceback.format_exception(caught.value)) + caught.value.hint
    assert "holds a secret in plain text" in shown
    assert "env:NAME or file:/path" in shown
    assert password not in shown


@pytest.mark.parametrize(
    "password",
    [
        *(
            "12345678",
            "true",
            "[hunter2]",
            "{hunter2: hunter2}",
            "!hunter2",
            "&hunter2",
            "*hunter2",
        ),
        *("!hunter2!x y", "!<hunter2", "%hunter2", "@hunter2", "`hunter2", '"hunter2', "'hunter2"),
        *("hunter2: hunter2", "|hunter2", ">hunter2", '"\\hunter2"', "hunter2]", "? hunter2"),
    ],
)
def test_a_password_yaml_reads_as_something_else_is_not_repeated_either(password: str) -> None:
    with pytest.raises(ConfigError) as caught:
        parse_pipeline(FILE.format(password=password))
    shown = "".join(traceback.format_exception(caught.value))
    assert "12345678" not in shown
    assert "hunter2" not in shown
