"""OpenSearch: one node from plain jars, alone in its cluster."""

from collections.abc import Iterable
from typing import ClassVar

import httpx
from typing_extensions import override

from cdc.stack import versions
from cdc.stack.artifacts import Artifact, read_lock
from cdc.stack.java import find_java
from cdc.stack.ports import DEFAULT_RANGE, LOOPBACK
from cdc.stack.service import Service, Site

HEAP = ("-Xms512m", "-Xmx1g")

# docker-compose.yml sets the same.
SETTINGS = {
    # Never joins a node of another stack on this machine.
    "discovery.type": "single-node",
    "action.auto_create_index": "false",
    "cluster.routing.allocation.disk.threshold_enabled": "false",
}


class OpenSearch(Service):
    """The search index."""

    name = "opensearch"
    version = versions.OPENSEARCH
    # The runner takes no client port above 9299.
    port_ranges: ClassVar[dict[str, range]] = {
        "client": range(7_000, 9_299),
        "transport": DEFAULT_RANGE,
    }

    @override
    def artifacts(self) -> Iterable[Artifact]:
        return read_lock()["opensearch"]

    @override
    def prepare(self, site: Site) -> list[str]:
        java = find_java(versions.JAVA_FOR_OPENSEARCH)
        settings = SETTINGS | {
            "network.host": LOOPBACK,
            "transport.port": str(site.port(role="transport")),
        }
        config = site.home / "config"
        config.mkdir(parents=True, exist_ok=True)
        (config / "opensearch.yml").write_text(
            "".join(f"{name}: {value}\n" for name, value in settings.items())
        )
        return [
            java.executable,
            *HEAP,
            *java.quick_start_flags(site.home / "classes.jsa"),
            # Lucene asks for both; without the module it only warns and is slower.
            *("--add-modules", "jdk.incubator.vector"),
            "--enable-native-access=ALL-UNNAMED",
            *("-cp", site.class_path("opensearch")),
            "org.codelibs.opensearch.runner.OpenSearchRunner",
            *("-basePath", str(site.home)),
            *("-confPath", str(config)),
            *("-numOfNode", "1"),
            *("-clusterName", cluster_name(site)),
            # The runner adds the node's number to the base port.
            *("-baseHttpPort", str(site.port() - 1)),
            "-useLogger",
        ]

    @override
    def check(self, site: Site) -> None:
        with httpx.Client(base_url=f"http://{LOOPBACK}:{site.port()}", timeout=10) as client:
            health = client.get("/_cluster/health").raise_for_status().json()
        if health["cluster_name"] != cluster_name(site):
            raise ConnectionError(f"port {site.port()} belongs to {health['cluster_name']}")
        if health["status"] == "red":
            raise ConnectionError("the cluster is red: some primary shard has not started yet")


def cluster_name(site: Site) -> str:
    """Return a name no other stack has."""
    return f"cdc-{site.stack.id}"
