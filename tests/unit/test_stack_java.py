"""Java is picked by version, and its absence is explained."""

from pathlib import Path

import pytest

from cdc.errors import FatalError
from cdc.stack import java


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A machine with no Java at all, until a test installs some."""
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    monkeypatch.setattr(java, "USUAL_FOLDERS", (f"{tmp_path}/jvm/*",))
    return tmp_path


def install(machine: Path, name: str, release: str) -> Path:
    home = machine / "jvm" / name
    (home / "bin").mkdir(parents=True)
    (home / "bin" / "java").touch(mode=0o755)
    (home / "release").write_text(f'IMPLEMENTOR="x"\nJAVA_VERSION="{release}"\n')
    return home


def test_the_newest_fitting_java_is_picked(machine: Path) -> None:
    install(machine, "a", "17.0.15")
    newest = install(machine, "b", "25.0.1")
    install(machine, "c", "21")
    assert java.find_java(21) == java.Java(newest, 25)


def test_java_home_wins_when_it_is_new_enough(
    machine: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    chosen = install(machine, "a", "21.0.2")
    install(machine, "b", "25")
    monkeypatch.setenv("JAVA_HOME", str(chosen))
    assert java.find_java(17).home == chosen


def test_java_home_that_is_too_old_is_passed_over(
    machine: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    old = install(machine, "a", "17.0.1")
    fitting = install(machine, "b", "25")
    monkeypatch.setenv("JAVA_HOME", str(old))
    assert java.find_java(21).home == fitting


def test_java_8_names_itself_one_point_eight(machine: Path) -> None:
    install(machine, "a", "1.8.0_402")
    assert java.find_java(8).major == 8


def test_a_java_without_a_release_file_is_asked(machine: Path) -> None:
    home = install(machine, "a", "0")
    (home / "release").unlink()
    program = home / "bin" / "java"
    program.write_text("#!/bin/sh\necho 'openjdk version \"22.0.1\"' >&2\n")
    assert java.find_java(21).major == 22


def test_the_java_on_the_path_is_found(machine: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    elsewhere = install(machine, "../opt/jdk", "23")
    monkeypatch.setenv("PATH", str(elsewhere / "bin"))
    monkeypatch.setattr(java, "USUAL_FOLDERS", ())
    assert java.find_java(21).major == 23


def test_none_fitting_names_what_was_found_and_what_to_install(machine: Path) -> None:
    install(machine, "a", "17.0.15")
    with pytest.raises(FatalError, match=r"Java 21 or newer is needed; found Java 17") as caught:
        java.find_java(21)
    assert "openjdk-21" in caught.value.hint
    assert "JAVA_HOME" in caught.value.hint


@pytest.mark.usefixtures("machine")
def test_no_java_at_all_is_said_so() -> None:
    with pytest.raises(FatalError, match="found none at all"):
        java.find_java(17)
