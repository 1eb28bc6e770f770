"""Every address and login a command needs, from `pipeline.yaml` and the embedded stack together.

The file's address wins; what it leaves out is the embedded stack's. Connects to nothing.
"""

import hashlib
import hmac
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from psycopg.conninfo import make_conninfo

from cdc.config import OpenSearchSink, Pipeline, RedisSink
from cdc.errors import ConfigError
from cdc.stack.addresses import Addresses

CONNECT_TIMEOUT_SECONDS = 10


@dataclass(frozen=True)
class Endpoints:
    """Where each program is, and how to log in. Passwords are resolved: never print one."""

    postgres_host: str
    postgres_port: int
    database: str
    admin_user: str
    admin_password: str = field(repr=False)
    capture_user: str
    capture_password: str = field(repr=False)
    sslmode: str
    kafka_bootstrap: str
    connect_url: str
    connect_password_reference: str
    """What the connector's configuration holds in place of the password."""
    connect_password_file: Path | None
    """The file behind that reference, for `cdc apply` to write; None: the operator provides it."""
    opensearch_url: str | None
    redis_url: str | None

    def admin_conninfo(self) -> str:
        """Return the libpq string to log in as the administrator. Holds the password."""
        return self._conninfo(self.admin_user, self.admin_password)

    def capture_conninfo(self) -> str:
        """Return the libpq string to log in as the capturing role. Holds the password."""
        return self._conninfo(self.capture_user, self.capture_password)

    def _conninfo(self, user: str, password: str) -> str:
        return make_conninfo(
            host=self.postgres_host,
            port=self.postgres_port,
            dbname=self.database,
            user=user,
            password=password,
            sslmode=self.sslmode,
            connect_timeout=CONNECT_TIMEOUT_SECONDS,
            application_name="cdc",
        )


def embedded_services(pipeline: Pipeline) -> list[str]:
    """Return the services of the embedded stack that the file gives no address for."""
    return [name for name, _ in _missing(pipeline)]


def external_services(pipeline: Pipeline) -> list[str]:
    """Return the services that the file gives addresses for, so that ours are not needed."""
    given = {
        "postgres": pipeline.source.host is not None,
        "kafka": pipeline.kafka.bootstrap_servers is not None,
        "connect": pipeline.connect.url is not None,
        "opensearch": _sink_url(pipeline, OpenSearchSink) is not None,
        "redis": _sink_url(pipeline, RedisSink) is not None,
    }
    needed = embedded_services(pipeline)
    return [name for name, elsewhere in given.items() if elsewhere and name not in needed]


def resolve(pipeline: Pipeline, addresses: Addresses | None) -> Endpoints:
    """Combine the file with the running stack's addresses, and read the secrets it refers to.

    Raises ConfigError if the file leaves something out and no stack runs, or a secret is missing.
    """
    missing = list(_missing(pipeline))
    if addresses is None and missing:
        keys = ", ".join(f"`{key}`" for _, key in missing)
        raise ConfigError(
            f"no stack is running, and pipeline.yaml does not give {keys}", hint="cdc stack up"
        )
    source = pipeline.source
    capture_password = source.password.resolve() if source.password else None
    if source.host is not None:
        host, port = source.host, source.port
        admin_user, admin_password = source.user, capture_password or ""
    else:
        stack = _of(addresses)
        host, port = stack.postgres_host, stack.postgres_port
        admin_user, admin_password = stack.postgres_admin_user, stack.postgres_admin_password
    if source.admin_user is not None and source.admin_password is not None:
        admin_user, admin_password = source.admin_user, source.admin_password.resolve()
    reference, file = _worker_password(pipeline, addresses)
    return Endpoints(
        postgres_host=host,
        postgres_port=port,
        database=source.database,
        admin_user=admin_user,
        admin_password=admin_password,
        capture_user=source.user,
        capture_password=capture_password or _generated(source.user, admin_password),
        sslmode=source.sslmode,
        kafka_bootstrap=pipeline.kafka.bootstrap_servers or _of(addresses).kafka_bootstrap,
        connect_url=(pipeline.connect.url or _of(addresses).connect_url).rstrip("/"),
        connect_password_reference=reference,
        connect_password_file=file,
        opensearch_url=_sink_url(pipeline, OpenSearchSink)
        or (addresses.opensearch_url if addresses else None),
        redis_url=_sink_url(pipeline, RedisSink) or (addresses.redis_url if addresses else None),
    )


def _missing(pipeline: Pipeline) -> Iterator[tuple[str, str]]:
    """Yield each service needed from the embedded stack, with the key that would replace it."""
    if pipeline.source.host is None:
        yield "postgres", "source.host"
    if pipeline.kafka.bootstrap_servers is None:
        yield "kafka", "kafka.bootstrap_servers"
    if pipeline.connect.url is None:
        yield "connect", "connect.url"
    for service, kind in (("opensearch", OpenSearchSink), ("redis", RedisSink)):
        for name, sink in pipeline.sinks.items():
            if isinstance(sink, kind) and sink.url is None:
                yield service, f"sinks.{name}.url"
                break


def _of(addresses: Addresses | None) -> Addresses:
    if addresses is None:
        raise ConfigError("no stack is running", hint="cdc stack up")
    return addresses


def _sink_url(pipeline: Pipeline, kind: type[OpenSearchSink | RedisSink]) -> str | None:
    urls = (sink.url for sink in pipeline.sinks.values() if isinstance(sink, kind))
    return next((url for url in urls if url), None)


def _worker_password(pipeline: Pipeline, addresses: Addresses | None) -> tuple[str, Path | None]:
    if pipeline.connect.source_password is not None:
        return pipeline.connect.source_password, None
    directory = _of(addresses).secrets_dir
    file = directory / f"{pipeline.name}.password"
    return f"${{dir:{directory}:{file.name}}}", file


def _generated(role: str, admin_password: str) -> str:
    # Derived, not stored: every command finds the same one, and nobody without the
    # administrator's own password can. Pipelines that share a role share its password.
    return hmac.new(admin_password.encode(), f"capture:{role}".encode(), hashlib.sha256).hexdigest()
