"""Redis: from the binary in a jar, every write on disk, nothing evicted."""

import platform
import socket
import zipfile
from collections.abc import Iterable
from pathlib import Path

from typing_extensions import override

from cdc.errors import FatalError
from cdc.stack import versions
from cdc.stack.artifacts import Artifact, read_lock
from cdc.stack.ports import LOOPBACK
from cdc.stack.service import Service, Site

SETTINGS = {
    "appendonly": "yes",
    "appendfsync": "everysec",
    "save": "",
    # An evicted key would take its version guard with it.
    "maxmemory-policy": "noeviction",
}

MACHINES = {"x86_64": "amd64", "amd64": "amd64", "aarch64": "arm64", "arm64": "arm64"}


class Redis(Service):
    """The cache."""

    name = "redis"
    version = versions.REDIS

    @override
    def artifacts(self) -> Iterable[Artifact]:
        return read_lock()["redis"]

    @override
    def prepare(self, site: Site) -> list[str]:
        [artifact] = self.artifacts()
        server = site.unpacked(artifact, _unpack) / "redis-server"
        site.home.mkdir(parents=True, exist_ok=True)
        settings = SETTINGS | {
            "port": str(site.port()),
            "bind": LOOPBACK,
            "dir": str(site.home),
        }
        return [
            str(server),
            *(part for name, value in settings.items() for part in (f"--{name}", value)),
        ]

    @override
    def check(self, site: Site) -> None:
        # The inline protocol needs no client library, which is an optional extra.
        with socket.create_connection((LOOPBACK, site.port()), timeout=5) as connection:
            connection.sendall(b"PING\r\n")
            answer = connection.recv(64)
        if answer != b"+PONG\r\n":
            raise ConnectionError(f"Redis answered {answer!r}")


def _unpack(jar: Path, target: Path) -> None:
    system = platform.system().lower()
    machine = MACHINES.get(platform.machine().lower(), platform.machine())
    with zipfile.ZipFile(jar) as archive:
        fitting = [name for name in archive.namelist() if name.endswith(f"-{system}-{machine}")]
        if not fitting:
            raise FatalError(
                f"there is no Redis binary for {system} on {machine}",
                hint="run docker-compose.yml, or give the address of a running Redis under "
                "`sinks:` in pipeline.yaml",
            )
        server = target / "redis-server"
        server.write_bytes(archive.read(fitting[0]))
        server.chmod(0o755)
