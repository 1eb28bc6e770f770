"""Brings the pinned artifacts into the cache: in parallel, checked, never half written."""

import fcntl
import shutil
import tarfile
import tempfile
import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

from cdc.errors import FatalError, RetryableError
from cdc.stack.artifacts import Artifact, is_intact, sha256_of
from cdc.stack.ivy import arrival_path, direct_dependency, run_ivy

# One Ivy asks for one file after another and mostly waits for answers, so several run at once.
PARALLEL_IVYS = 6

# A repository that answers hundreds of requests drops one now and then.
ATTEMPTS = 3

Progress = Callable[[int, int], None]


def fetch(artifacts: Iterable[Artifact], cache: Path, progress: Progress | None = None) -> int:
    """Make every artifact present and intact in the cache; return how many had to be fetched.

    Raises FatalError when a file's digest is not the pinned one: it is not kept.
    """
    cache.mkdir(parents=True, exist_ok=True)
    wanted = list(dict.fromkeys(artifacts))
    with _locked(cache / "fetch.lock"):
        missing = first_missing = _missing(wanted, cache)
        for attempt in range(ATTEMPTS):
            if not missing:
                break
            try:
                _fetch_missing(missing, cache, progress or (lambda _done, _total: None))
            except RetryableError:
                if attempt == ATTEMPTS - 1:
                    raise
            missing = _missing(missing, cache)
    if missing:
        names = ", ".join(artifact.coordinates for artifact in missing)
        raise RetryableError(f"did not arrive: {names}", hint="run the command again")
    return len(first_missing)


def _missing(artifacts: list[Artifact], cache: Path) -> list[Artifact]:
    return [artifact for artifact in artifacts if not is_intact(artifact, artifact.path_in(cache))]


def _fetch_missing(missing: list[Artifact], cache: Path, progress: Progress) -> None:
    counter = _Counter(len(missing), progress)
    shards = [missing[start::PARALLEL_IVYS] for start in range(min(PARALLEL_IVYS, len(missing)))]
    with (
        tempfile.TemporaryDirectory(dir=cache, prefix="fetch-") as scratch,
        ThreadPoolExecutor(len(shards)) as pool,
    ):
        running = [
            pool.submit(_fetch_shard, shard, Path(scratch, str(number)), cache, counter)
            for number, shard in enumerate(shards)
        ]
        for shard_done in running:
            shard_done.result()


def _fetch_shard(shard: list[Artifact], work_dir: Path, cache: Path, counter: "_Counter") -> None:
    try:
        for _line in run_ivy(work_dir, map(direct_dependency, shard), read_poms=False):
            counter.add_one()
    finally:
        # Also after a failure: what did arrive need not be fetched again.
        for artifact in shard:
            _admit(artifact, arrival_path(work_dir, artifact), cache)


def _admit(artifact: Artifact, arrived: Path, cache: Path) -> None:
    if not arrived.is_file():
        return
    if not is_intact(artifact, arrived):
        raise FatalError(
            f"{artifact.coordinates} has SHA-256 {sha256_of(arrived)}, "
            f"but {artifact.sha256} was pinned: refused",
            hint="if the network path is trusted, compare with the publisher's digest and pin "
            "anew with `cdc stack lock`; otherwise find out who changed the file",
        )
    target = artifact.path_in(cache)
    target.parent.mkdir(parents=True, exist_ok=True)
    arrived.replace(target)


def unpacked(artifact: Artifact, cache: Path, unpack: Callable[[Path, Path], None]) -> Path:
    """Return the directory where the artifact's content lies, unpacking it the first time."""
    target = cache / "unpacked" / f"{artifact.module}-{artifact.version}-{artifact.sha256[:12]}"
    with _locked(cache / "unpack.lock"):
        if not target.is_dir():
            target.parent.mkdir(parents=True, exist_ok=True)
            scratch = Path(tempfile.mkdtemp(dir=target.parent, prefix="unpack-"))
            scratch.chmod(0o755)
            try:
                unpack(artifact.path_in(cache), scratch)
                scratch.rename(target)
            except BaseException:
                shutil.rmtree(scratch, ignore_errors=True)
                raise
    return target


def extract_all(archive: tarfile.TarFile, target: Path) -> None:
    """Unpack an archive whose digest was checked; nothing may land outside of `target`."""
    if hasattr(tarfile, "data_filter"):
        archive.extractall(target, filter="data")
    else:
        # Python before 3.11.4; the pinned digest vouches for the names.
        archive.extractall(target)  # noqa: S202


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    """Hold an advisory lock: two checkouts may set up at once with one cache."""
    with path.open("a") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


class _Counter:
    """Counts arrivals from several threads for one progress bar."""

    def __init__(self, total: int, progress: Progress) -> None:
        self._total = total
        self._progress = progress
        self._done = 0
        self._lock = threading.Lock()
        progress(0, total)

    def add_one(self) -> None:
        with self._lock:
            self._done += 1
            self._progress(self._done, self._total)
