"""docker-compose.yml agrees with `cdc/stack`, opens only loopback, and holds no secret."""

import re
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml

from cdc.config import load_pipeline
from cdc.stack import connect, kafka, opensearch, postgres, redis, versions

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "docker-compose.yml").read_text()
COMPOSE = yaml.safe_load(TEXT)
SERVICES: dict[str, dict[str, Any]] = COMPOSE["services"]
RUNNING = sorted(set(SERVICES) - {"pipeline"})
EXAMPLE = ROOT / "connectors" / "examples" / "compose.yaml"
ENV_EXAMPLE = (ROOT / ".env.example").read_text()
VERSION = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]

IMAGES = {
    "postgres": f"postgres:{versions.POSTGRES}",
    "kafka": f"apache/kafka:{versions.KAFKA}",
    "connect": f"quay.io/debezium/connect:{versions.DEBEZIUM}",
    "opensearch": f"opensearchproject/opensearch:{versions.OPENSEARCH}",
    "redis": f"redis:{versions.REDIS}",
    "pipeline": f"cdc-pipeline:{VERSION}",
}
CONTAINER_PORTS = {
    "postgres": 5432,
    "kafka": 9092,
    "connect": 8083,
    "opensearch": 9200,
    "redis": 6379,
}
UNITS = {"m": 1, "g": 1024}


def with_defaults(text: str) -> str:
    """Substitute as compose does where no variable is set."""
    return re.sub(r"(?<!\$)\$\{\w+:-([^}]*)\}", r"\1", text)


def environment(service: str) -> dict[str, str]:
    return {
        key: with_defaults(str(value)) for key, value in SERVICES[service]["environment"].items()
    }


def megabytes(text: str) -> int:
    return int(text[:-1]) * UNITS[text[-1].lower()]


@pytest.mark.parametrize("service", IMAGES)
def test_both_stacks_run_the_same_version(service: str) -> None:
    assert SERVICES[service]["image"] == IMAGES[service]


def test_there_is_no_service_without_a_pinned_version() -> None:
    assert set(SERVICES) == set(IMAGES)


# Where a container differs from a local process: addresses, places on disk, secrets.
OWN_PLACE = {
    "postgres": {"hba_file"},
    "kafka": {
        "process.roles",
        "node.id",
        "controller.quorum.voters",
        "controller.listener.names",
        "inter.broker.listener.name",
        "listeners",
        "advertised.listeners",
        "listener.security.protocol.map",
        "log.dirs",
    },
    "connect": {
        "bootstrap.servers",
        "listeners",
        "rest.advertised.host.name",
        "config.providers",
        "config.providers.env.class",
        "config.providers.env.param.allowlist.pattern",
    },
    "opensearch": set(),
    "redis": {"requirepass"},
}
# What the Connect image's entrypoint sets by itself: CONNECT_GROUP_ID and the like are overwritten.
SHORT_NAMES = {
    "BOOTSTRAP_SERVERS": "bootstrap.servers",
    "ADVERTISED_HOST_NAME": "rest.advertised.host.name",
    "GROUP_ID": "group.id",
    "CONFIG_STORAGE_TOPIC": "config.storage.topic",
    "OFFSET_STORAGE_TOPIC": "offset.storage.topic",
    "STATUS_STORAGE_TOPIC": "status.storage.topic",
    "KEY_CONVERTER": "key.converter",
    "VALUE_CONVERTER": "value.converter",
    "OFFSET_FLUSH_INTERVAL_MS": "offset.flush.interval.ms",
}


def prefixed(service: str, prefix: str) -> dict[str, str]:
    return {
        key.removeprefix(prefix).lower().replace("_", "."): value
        for key, value in environment(service).items()
        if key.startswith(prefix) and not key.endswith("HEAP_OPTS")
    }


def settings_of(service: str) -> dict[str, str]:
    """Return the settings as the program sees them, by the rules of its image."""
    if service == "kafka":
        return prefixed("kafka", "KAFKA_")
    if service == "connect":
        short = {SHORT_NAMES[k]: v for k, v in environment("connect").items() if k in SHORT_NAMES}
        long = prefixed("connect", "CONNECT_")
        assert not set(short) & set(long)
        assert not set(long) & set(SHORT_NAMES.values()), "the image would overwrite these"
        return short | long
    if service == "opensearch":
        return {key: value for key, value in environment("opensearch").items() if "." in key}
    if service == "postgres":
        words = SERVICES["postgres"]["command"][1:]
        assert set(words[::2]) == {"-c"}
        return dict(word.split("=", 1) for word in words[1::2])
    lines = SERVICES["redis"]["command"][-1].splitlines()[1:-1]
    return {name: value.strip('"') for name, value in (line.split(" ", 1) for line in lines)}


@pytest.mark.parametrize("module", [connect, kafka, opensearch, postgres, redis])
def test_both_stacks_have_the_same_settings(module: Any) -> None:
    service = module.__name__.rpartition(".")[2]
    found = settings_of(service)
    own = {key for key in found if key in OWN_PLACE[service]}
    assert {key: value for key, value in found.items() if key not in own} == module.SETTINGS
    assert own == OWN_PLACE[service]


def test_both_stacks_give_the_same_heaps() -> None:
    assert environment("kafka")["KAFKA_HEAP_OPTS"] == kafka.HEAP
    assert environment("connect")["HEAP_OPTS"] == connect.HEAP
    assert environment("opensearch")["OPENSEARCH_JAVA_OPTS"].split() == list(opensearch.HEAP)


@pytest.mark.parametrize("service", RUNNING)
def test_ports_are_published_on_loopback_only(service: str) -> None:
    published = [with_defaults(port).split(":") for port in SERVICES[service]["ports"]]
    port = str(CONTAINER_PORTS[service])
    assert published == [["127.0.0.1", port, port]]


def test_the_pipeline_publishes_nothing() -> None:
    assert "ports" not in SERVICES["pipeline"]
    assert "network_mode" not in TEXT


@pytest.mark.parametrize("service", RUNNING)
def test_every_service_has_a_health_check_that_asks_the_program(service: str) -> None:
    asked = {
        "postgres": "SELECT 1",
        "kafka": "--list",
        "connect": "/health",
        "opensearch": "wait_for_status=yellow",
        "redis": "PONG",
    }
    assert asked[service] in " ".join(SERVICES[service]["healthcheck"]["test"])


def test_services_start_in_the_order_of_their_health() -> None:
    waits = {
        name: set(service["depends_on"])
        for name, service in SERVICES.items()
        if "depends_on" in service
    }
    assert waits == {
        "connect": {"kafka", "postgres"},
        "pipeline": {"connect", "kafka", "postgres"},
    }
    conditions = [
        wait["condition"]
        for service in SERVICES.values()
        for wait in service.get("depends_on", {}).values()
    ]
    assert set(conditions) == {"service_healthy"}


def test_data_lives_in_named_volumes() -> None:
    used = {
        name: [volume.split(":")[0] for volume in SERVICES[name].get("volumes", [])]
        for name in RUNNING
    }
    assert used == {
        "connect": [],  # its state is in Kafka
        "kafka": ["kafka"],
        "opensearch": ["opensearch"],
        "postgres": ["postgres"],
        "redis": ["redis"],
    }
    assert set(COMPOSE["volumes"]) == {volume for volumes in used.values() for volume in volumes}


@pytest.mark.parametrize("service", SERVICES)
def test_memory_is_limited_and_the_heap_fits_twice(service: str) -> None:
    limit = megabytes(SERVICES[service]["mem_limit"])
    for heap in re.findall(r"-Xmx(\d+[mg])", str(SERVICES[service].get("environment"))):
        assert megabytes(heap) * 2 <= limit


@pytest.mark.parametrize("service", SERVICES)
def test_no_container_has_or_gains_privileges(service: str) -> None:
    assert SERVICES[service]["cap_drop"] == ["ALL"]
    assert SERVICES[service]["security_opt"] == ["no-new-privileges:true"]
    assert not SERVICES[service].get("privileged")


def test_no_password_stands_in_the_file() -> None:
    found = {
        (name, key): value
        for name, service in SERVICES.items()
        for key, value in service.get("environment", {}).items()
        if "PASSWORD" in key
    }
    assert found
    for (_, key), value in found.items():
        assert str(value).startswith(f"${{{key}:?")


def test_every_variable_is_documented_in_the_example() -> None:
    required = set(re.findall(r"(?<!\$)\$\{(\w+):\?", TEXT))
    optional = dict(re.findall(r"(?<!\$)\$\{(\w+):-([^}]*)\}", TEXT))
    assert set(re.findall(r"^(\w+)=$", ENV_EXAMPLE, re.MULTILINE)) == required
    assert dict(re.findall(r"^#(\w+)=(.+)$", ENV_EXAMPLE, re.MULTILINE)) == optional


def test_the_filled_in_example_stays_out_of_git_and_of_the_image() -> None:
    assert ".env" in (ROOT / ".gitignore").read_text().splitlines()
    assert (ROOT / ".dockerignore").read_text().splitlines()[1] == "*"


def test_the_worker_may_resolve_the_password_and_no_other_variable() -> None:
    pattern = environment("connect")["CONNECT_CONFIG_PROVIDERS_ENV_PARAM_ALLOWLIST_PATTERN"]
    known = [name for name in environment("connect") if re.fullmatch(pattern, name)]
    assert known == ["CDC_SOURCE_PASSWORD"]


def test_postgres_asks_everyone_for_a_password_and_gives_nobody_the_whole_cluster() -> None:
    lines = [line.split() for line in COMPOSE["configs"]["pg_hba"]["content"].splitlines()]
    assert lines
    assert {line[-1] for line in lines} == {"scram-sha-256"}
    assert {line[1] for line in lines} == {"all"}


def test_the_example_pipeline_speaks_of_these_services() -> None:
    pipeline = load_pipeline(EXAMPLE)
    assert pipeline.source.host == "postgres"
    assert pipeline.source.database == environment("postgres")["POSTGRES_DB"]
    assert (
        f"INTERNAL://{pipeline.kafka.bootstrap_servers}"
        in (environment("kafka")["KAFKA_ADVERTISED_LISTENERS"])
    )
    assert environment("connect")["BOOTSTRAP_SERVERS"] == pipeline.kafka.bootstrap_servers
    assert pipeline.connect.url == f"http://connect:{CONTAINER_PORTS['connect']}"
    assert pipeline.connect.source_password == "${env:CDC_SOURCE_PASSWORD}"


def test_the_pipeline_service_gets_the_secrets_its_file_refers_to() -> None:
    referred = set(re.findall(r"env:(\w+)", EXAMPLE.read_text()))
    assert referred == set(environment("pipeline"))


def test_the_image_runs_as_nobody_special_from_locked_packages() -> None:
    dockerfile = (ROOT / "Dockerfile").read_text()
    assert "://" not in dockerfile
    bases = re.findall(r"^FROM (\S+)", dockerfile, re.MULTILINE)
    assert all(re.fullmatch(r"python:3\.11\.\d+-slim-\w+", base) for base in bases)
    assert re.findall(r"^USER (\S+)$", dockerfile, re.MULTILINE)[-1] == "10001"
    for line in re.findall(r"pip install .*-r \S+", dockerfile):
        assert "--require-hashes" in line
    assert 'ENTRYPOINT ["cdc"]' in dockerfile
