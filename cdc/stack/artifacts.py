"""The pinned jars and binaries: what the lock file says, and whether a file is what it says.

`artifacts.lock` lists coordinates and SHA-256 per group and holds no address; fetching is in
`fetch.py`, making the lock in `lock.py`.
"""

import hashlib
import platform
import tomllib
from dataclasses import dataclass
from pathlib import Path

from cdc.errors import FatalError

LOCK_FILE = Path(__file__).with_name("artifacts.lock")

# (system, machine) as Python names them -> as the Postgres binaries' coordinates do.
PLATFORMS = {
    ("Linux", "x86_64"): "linux-amd64",
    ("Linux", "aarch64"): "linux-arm64v8",
    ("Darwin", "x86_64"): "darwin-amd64",
    ("Darwin", "arm64"): "darwin-arm64v8",
}


@dataclass(frozen=True)
class Artifact:
    """One file of a Maven repository, by coordinates, with the digest it must have."""

    organisation: str
    module: str
    version: str
    classifier: str
    extension: str
    sha256: str

    @classmethod
    def parse(cls, coordinates: str, sha256: str) -> "Artifact":
        """Read `organisation:module:version[:classifier][@extension]`."""
        head, _, extension = coordinates.partition("@")
        organisation, module, version, *rest = head.split(":")
        return cls(
            organisation, module, version, rest[0] if rest else "", extension or "jar", sha256
        )

    @property
    def coordinates(self) -> str:
        """Return the form `parse` reads."""
        text = f"{self.organisation}:{self.module}:{self.version}"
        if self.classifier:
            text += f":{self.classifier}"
        return text if self.extension == "jar" else f"{text}@{self.extension}"

    @property
    def file_name(self) -> str:
        """Return the file's name as a Maven repository has it."""
        classifier = f"-{self.classifier}" if self.classifier else ""
        return f"{self.module}-{self.version}{classifier}.{self.extension}"

    def path_in(self, cache: Path) -> Path:
        """Return where the cache keeps it: two modules of one name never meet."""
        return cache / "artifacts" / self.organisation / self.file_name


def read_lock(lock_file: Path = LOCK_FILE) -> dict[str, list[Artifact]]:
    """Return the pinned artifacts by group."""
    groups = tomllib.loads(lock_file.read_text())
    return {
        group: [Artifact.parse(coordinates, digest) for coordinates, digest in pins.items()]
        for group, pins in groups.items()
    }


def postgres_group() -> str:
    """Return the group that holds Postgres for this machine."""
    machine = (platform.system(), platform.machine())
    if machine not in PLATFORMS:
        raise FatalError(
            f"there are no Postgres binaries for {machine[0]} on {machine[1]}",
            hint="run docker-compose.yml, or give the address of a running Postgres under "
            "`source:` in pipeline.yaml",
        )
    return f"postgres-{PLATFORMS[machine]}"


def sha256_of(path: Path) -> str:
    """Return the file's digest."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def is_intact(artifact: Artifact, path: Path) -> bool:
    """Tell whether the file is there and is the one that was pinned."""
    return path.is_file() and sha256_of(path) == artifact.sha256
