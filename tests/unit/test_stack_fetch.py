"""Pinned artifacts: fetched by Ivy from whatever repository it is told, refused when changed."""

import hashlib
from pathlib import Path

import pytest

from cdc.errors import FatalError, RetryableError
from cdc.stack.artifacts import Artifact, read_lock
from cdc.stack.fetch import fetch

CONTENT = b"not really a jar, but Ivy does not mind"


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository on disk in Maven's layout, set as people behind a mirror set theirs."""
    root = tmp_path / "repository"
    settings = tmp_path / "ivysettings.xml"
    settings.write_text(
        '<ivysettings><settings defaultResolver="central"/><resolvers>'
        '<filesystem name="central" m2compatible="true" checksums="">'
        f'<artifact pattern="{root}/[organisation]/[module]/[revision]/'
        '[artifact]-[revision](-[classifier]).[ext]"/></filesystem></resolvers></ivysettings>'
    )
    monkeypatch.setenv("CDC_IVY_SETTINGS", str(settings))
    return root


def publish(repository: Path, coordinates: str, content: bytes = CONTENT) -> Artifact:
    artifact = Artifact.parse(coordinates, hashlib.sha256(content).hexdigest())
    folder = repository / artifact.organisation.replace(".", "/") / artifact.module
    (folder / artifact.version).mkdir(parents=True, exist_ok=True)
    (folder / artifact.version / artifact.file_name).write_bytes(content)
    return artifact


def test_artifacts_arrive_in_the_cache_once(repository: Path, tmp_path: Path) -> None:
    wanted = [
        publish(repository, "org.example:plain:1.0"),
        publish(repository, "org.example:plain:1.0:tail", b"with a classifier"),
        publish(repository, "org.example:archive:2.0-rc1:plugin@tar.gz", b"an archive"),
        *(publish(repository, f"org.example:more{n}:1", b"%d" % n) for n in range(8)),
    ]
    cache = tmp_path / "cache"
    assert fetch(wanted, cache) == len(wanted)
    assert fetch(wanted, cache) == 0
    assert wanted[0].path_in(cache).read_bytes() == CONTENT
    assert wanted[2].path_in(cache).read_bytes() == b"an archive"


def test_progress_counts_to_the_end(repository: Path, tmp_path: Path) -> None:
    seen: list[tuple[int, int]] = []
    wanted = [publish(repository, f"org.example:m{n}:1", b"%d" % n) for n in range(3)]
    fetch(wanted, tmp_path / "cache", lambda done, total: seen.append((done, total)))
    assert seen == [(0, 3), (1, 3), (2, 3), (3, 3)]


def test_a_wrong_checksum_is_refused_and_not_kept(repository: Path, tmp_path: Path) -> None:
    pinned = publish(repository, "org.example:changed:1.0")
    publish(repository, "org.example:changed:1.0", b"something else")
    with pytest.raises(FatalError, match=r"org\.example:changed:1\.0 has SHA-256 .* refused"):
        fetch([pinned], tmp_path / "cache")
    assert not pinned.path_in(tmp_path / "cache").exists()


def test_a_damaged_file_in_the_cache_is_fetched_again(repository: Path, tmp_path: Path) -> None:
    artifact = publish(repository, "org.example:plain:1.0")
    cached = artifact.path_in(tmp_path / "cache")
    fetch([artifact], tmp_path / "cache")
    cached.write_bytes(CONTENT[:-1] + b"!")
    assert fetch([artifact], tmp_path / "cache") == 1
    assert cached.read_bytes() == CONTENT


def test_what_is_not_there_is_named_and_the_rest_is_kept(repository: Path, tmp_path: Path) -> None:
    there = publish(repository, "org.example:there:1.0")
    absent = Artifact.parse("org.example:absent:9.9", "0" * 64)
    with pytest.raises(RetryableError, match=r"org\.example#absent;9\.9"):
        fetch([there, absent], tmp_path / "cache")
    assert there.path_in(tmp_path / "cache").exists()


def test_a_settings_file_that_is_not_there_is_said_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CDC_IVY_SETTINGS", str(tmp_path / "nowhere.xml"))
    with pytest.raises(FatalError, match=r"nowhere\.xml, which is no file"):
        fetch([Artifact.parse("a:b:1", "0" * 64)], tmp_path / "cache")


@pytest.mark.parametrize("coordinates", ["a.b:c:1", "a:b:1:tail", "a:b:1.0-x:plugin@tar.gz"])
def test_coordinates_read_back_as_written(coordinates: str) -> None:
    assert Artifact.parse(coordinates, "").coordinates == coordinates


def test_every_group_of_the_lock_has_a_digest_for_everything() -> None:
    for group, artifacts in read_lock().items():
        assert artifacts, group
        for artifact in artifacts:
            assert len(artifact.sha256) == 64, artifact.coordinates
