"""docker-compose.yml brought up, and what is said where that cannot be."""

import os
from collections.abc import Callable, Mapping
from typing import Any

import httpx
import psycopg
import pytest

from cdc.stack import versions

Obstacle = Callable[[Mapping[str, str]], str | None]


@pytest.mark.docker
def test_the_connect_worker_runs_the_version_we_test(docker: Any) -> None:
    plugins = httpx.get(f"{docker.connect}/connector-plugins").json()
    postgres = [plugin for plugin in plugins if plugin["class"].endswith("PostgresConnector")]
    assert [plugin["version"] for plugin in postgres] == [versions.DEBEZIUM]


@pytest.mark.docker
def test_a_wrong_password_does_not_open_postgres(docker: Any) -> None:
    login = {**docker.admin, "password": "wrong"}
    with pytest.raises(psycopg.OperationalError, match="password"):
        psycopg.connect(**login, dbname="postgres")


@pytest.mark.docker
def test_nobody_can_copy_the_whole_cluster(docker: Any) -> None:
    with pytest.raises(psycopg.OperationalError, match=r"no pg_hba\.conf entry for replication"):
        psycopg.connect(**docker.admin, replication="true")


def test_without_an_engine_the_reason_names_its_address(docker_obstacle: Obstacle) -> None:
    if "no `docker` command" in str(docker_obstacle(os.environ)):
        pytest.skip("no `docker` command on PATH")
    nowhere = "unix:///nonexistent/docker.sock"
    reason = docker_obstacle({**os.environ, "DOCKER_HOST": nowhere})
    assert reason == f"no Docker engine answered at {nowhere}"


def test_without_the_command_the_reason_says_so(docker_obstacle: Obstacle) -> None:
    assert docker_obstacle({"PATH": "/nonexistent"}) == "no `docker` command on PATH"
