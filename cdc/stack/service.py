"""What every service of the stack has in common; one small file per service does the rest."""

import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from signal import SIGTERM, Signals
from typing import ClassVar

from cdc.stack.artifacts import Artifact, read_lock
from cdc.stack.fetch import unpacked
from cdc.stack.ports import DEFAULT_RANGE
from cdc.stack.state import StackState

LOGS = "logs"


@dataclass(frozen=True)
class Site:
    """Where one service of one stack lives: handed to the service, which keeps no state itself."""

    state_dir: Path
    cache: Path
    stack: StackState
    name: str

    @property
    def home(self) -> Path:
        """Return the service's own directory."""
        return self.state_dir / self.name

    @property
    def log(self) -> Path:
        """Return the file its output goes to."""
        return self.state_dir / LOGS / f"{self.name}.log"

    def port(self, service: str | None = None, role: str = "client") -> int:
        """Return a recorded port, of this service or of another one."""
        return self.stack.services[service or self.name].ports[role]

    def unpacked(self, artifact: Artifact, unpack: Callable[[Path, Path], None]) -> Path:
        """Return where the artifact's content lies."""
        return unpacked(artifact, self.cache, unpack)

    def class_path(self, group: str) -> str:
        """Return a group's jars as Java wants them."""
        return os.pathsep.join(str(jar.path_in(self.cache)) for jar in read_lock()[group])


class Service(ABC):
    """One program: where its files come from, its settings, when it is ready, how it ends."""

    name: ClassVar[str]
    version: ClassVar[str]
    needs: ClassVar[tuple[str, ...]] = ()
    port_ranges: ClassVar[dict[str, range]] = {"client": DEFAULT_RANGE}
    drops_root: ClassVar[bool] = False
    stop_signal: ClassVar[Signals] = SIGTERM
    stop_grace: ClassVar[float] = 20.0

    @abstractmethod
    def artifacts(self) -> Iterable[Artifact]:
        """Return the pinned files it needs."""

    @abstractmethod
    def prepare(self, site: Site) -> list[str]:
        """Write its files and return the command that starts it.

        Called before every start, so it must leave existing data alone.
        """

    @abstractmethod
    def check(self, site: Site) -> None:
        """Return when it answers as a client would want; raise any `Exception` with the reason."""


def write_properties(path: Path, settings: dict[str, str]) -> Path:
    """Write a Java properties file that only we can read."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.touch(mode=0o600)
    path.write_text("".join(f"{key}={value}\n" for key, value in settings.items()))
    return path
