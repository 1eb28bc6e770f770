"""One source, two stacks: the same tests run on the embedded stack and on docker-compose.yml."""

import os
import secrets
import shutil
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from pathlib import Path
from time import monotonic
from typing import Any

import httpx
import psycopg
import pytest
import yaml
from kafka import KafkaAdminClient
from psycopg.conninfo import make_conninfo

ROOT = Path(__file__).parents[3]
PIPELINE = "smoke"
TABLE = "public.notes"
PORTS = ("POSTGRES_PORT", "KAFKA_PORT", "CONNECT_PORT", "OPENSEARCH_PORT", "REDIS_PORT")


@dataclass(frozen=True)
class Target:
    """A running stack as seen from here, and a way to run `cdc` against it."""

    admin: Mapping[str, Any]
    kafka: str
    connect: str
    sections: Mapping[str, Any]
    file: Path
    cdc: Callable[..., str]
    password: str | None = None

    def sql(self, *statements: str, database: str = PIPELINE) -> None:
        """Run each statement in its own transaction, as the administrator."""
        with psycopg.connect(make_conninfo(**self.admin, dbname=database), autocommit=True) as link:
            for statement in statements:
                link.execute(statement.encode())

    def write_pipeline(self) -> None:
        """Write the pipeline file of these tests for this target."""
        own = {"database": PIPELINE, "user": f"{PIPELINE}_capture"}
        source = {**self.sections.get("source", {}), **own}
        content = {"name": PIPELINE, **self.sections, "source": source, "tables": [TABLE]}
        self.file.write_text(yaml.safe_dump(content))
        self.file.chmod(0o644)  # the container reads it as another user

    def forget(self) -> None:
        """Undo what the tests made: a stack that others share has few slots to give."""
        httpx.delete(f"{self.connect}/connectors/{PIPELINE}", timeout=30)
        with psycopg.connect(make_conninfo(**self.admin, dbname="postgres"), autocommit=True) as db:
            drop_slots(db, deadline=monotonic() + 60)
            db.execute(f"DROP DATABASE IF EXISTS {PIPELINE} WITH (FORCE)")
            db.execute(f"DROP ROLE IF EXISTS {PIPELINE}_capture")
        admin = KafkaAdminClient(bootstrap_servers=self.kafka)
        try:
            admin.delete_topics([name for name in admin.list_topics() if f"{PIPELINE}." in name])
        finally:
            admin.close()


def drop_slots(db: psycopg.Connection[Any], deadline: float) -> None:
    """Drop the pipeline's slots; the worker lets go of one a moment after its connector is gone."""
    slots = f"FROM pg_replication_slots WHERE database = '{PIPELINE}'"
    while db.execute(f"SELECT slot_name {slots}").fetchall():
        assert monotonic() < deadline, db.execute(f"SELECT * {slots}").fetchall()
        with suppress(psycopg.errors.ObjectInUse):
            db.execute(f"SELECT pg_drop_replication_slot(slot_name) {slots}")


def why_no_docker(environment: Mapping[str, str]) -> str | None:
    """Say why compose cannot be brought up here; None if it can."""
    if shutil.which("docker", path=environment.get("PATH")) is None:
        return "no `docker` command on PATH"

    def ask(*arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            ["docker", *arguments],
            env=dict(environment),
            capture_output=True,
            check=False,
            text=True,
            timeout=60,
        )

    if ask("version", "--format", "{{.Server.Version}}").returncode != 0:
        host = ask("context", "inspect", "--format", "{{.Endpoints.docker.Host}}").stdout.strip()
        return f"no Docker engine answered at {host or 'the default address'}"
    if ask("compose", "version").returncode != 0:
        return "the `docker` command has no compose plugin"
    return None


@pytest.fixture(scope="session")
def docker_obstacle() -> Callable[[Mapping[str, str]], str | None]:
    """Hand the check itself to the tests of it."""
    return why_no_docker


@pytest.fixture(scope="session")
def embedded(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Target]:
    """Use the embedded stack that all integration tests share."""
    stack = request.getfixturevalue("running_stack")
    addresses = stack.addresses()
    file = tmp_path_factory.mktemp("embedded") / "pipeline.yaml"
    command = [Path(sys.executable).with_name("cdc"), "--state-dir", stack.state_dir, "-f", file]
    target = Target(
        admin={
            "host": addresses.postgres_host,
            "port": addresses.postgres_port,
            "user": addresses.postgres_admin_user,
            "password": addresses.postgres_admin_password,
        },
        kafka=addresses.kafka_bootstrap,
        connect=addresses.connect_url,
        sections={},
        file=file,
        cdc=lambda *arguments: run([*command, *arguments], os.environ),
    )
    with prepared(target):
        yield target


@pytest.fixture(scope="session")
def docker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Target]:
    """Bring docker-compose.yml up beside whatever else runs, on free ports, and take it down."""
    if reason := why_no_docker(os.environ):
        pytest.skip(reason)
    from testcontainers.compose import DockerCompose  # noqa: PLC0415 - only with an engine

    home = tmp_path_factory.mktemp("compose")
    file = home / "pipeline.yaml"
    settings = {
        "COMPOSE_PROJECT_NAME": f"cdc-test-{secrets.token_hex(4)}",
        "CDC_PIPELINE_FILE": str(file),
        **{f"{name}_PASSWORD": secrets.token_hex(16) for name in ("POSTGRES", "REDIS")},
        "CDC_SOURCE_PASSWORD": secrets.token_hex(16),
        **dict(zip(PORTS, map(str, free_ports(len(PORTS))), strict=True)),
    }
    (home / "env").write_text("".join(f"{key}={value}\n" for key, value in settings.items()))
    compose = DockerCompose(
        ROOT, compose_file_name="docker-compose.yml", env_file=str(home / "env"), wait=True
    )
    example = yaml.safe_load((ROOT / "connectors" / "examples" / "compose.yaml").read_text())
    pipeline = [*compose.docker_compose_command(), "run", "--rm", "-T", "pipeline"]
    target = Target(
        admin={
            "host": "127.0.0.1",
            "port": settings["POSTGRES_PORT"],
            "user": "postgres",
            "password": settings["POSTGRES_PASSWORD"],
        },
        kafka=f"127.0.0.1:{settings['KAFKA_PORT']}",
        connect=f"http://127.0.0.1:{settings['CONNECT_PORT']}",
        sections={key: example[key] for key in ("source", "kafka", "connect")},
        file=file,
        cdc=lambda *arguments: run([*pipeline, *arguments], os.environ),
        password=settings["CDC_SOURCE_PASSWORD"],
    )
    with compose:
        run([*compose.docker_compose_command(), "build", "pipeline"], os.environ)
        with prepared(target):
            yield target


@pytest.fixture(
    scope="session",
    params=[
        pytest.param("embedded", marks=pytest.mark.stack),
        pytest.param("docker", marks=pytest.mark.docker),
    ],
)
def target(request: pytest.FixtureRequest) -> Target:
    """Give each stack in turn, its pipeline applied to a table with one row."""
    found = request.getfixturevalue(request.param)
    assert isinstance(found, Target)
    return found


def prepared(target: Target) -> ExitStack:
    """Create a database with one table and one row, capture it, and undo that on exit."""
    undo = ExitStack()
    target.sql(f"CREATE DATABASE {PIPELINE}", database="postgres")
    undo.callback(target.forget)
    try:
        target.sql(
            f"CREATE TABLE {TABLE} (id bigint PRIMARY KEY, note text)",
            f"ALTER TABLE {TABLE} REPLICA IDENTITY FULL",
            f"INSERT INTO {TABLE} VALUES (0, 'from before')",
        )
        target.write_pipeline()
        target.cdc("apply")
    except BaseException:
        undo.close()
        raise
    return undo


def run(command: list[Any], environment: Mapping[str, str]) -> str:
    """Run a command to its end and return its output; a failure shows all it said."""
    done = subprocess.run(
        [str(word) for word in command],
        cwd=ROOT,
        env=dict(environment),
        capture_output=True,
        check=False,
        text=True,
    )
    assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
    return done.stdout


def free_ports(count: int) -> list[int]:
    """Ask the system for ports nobody uses; all are held until all are known."""
    with ExitStack() as held:
        sockets = [held.enter_context(socket.socket()) for _ in range(count)]
        for each in sockets:
            each.bind(("127.0.0.1", 0))
        return [each.getsockname()[1] for each in sockets]
