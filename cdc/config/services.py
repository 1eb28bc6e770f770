"""The `kafka`, `connect` and `sinks` sections: programs that run elsewhere, and where.

Every address may be left out: then the program of the embedded stack is used.
"""

from typing import Annotated, Literal

from pydantic import AfterValidator, Field

from cdc.config.secrets import Secret
from cdc.config.section import Section, Shape, complaint


def _without_login(url: str) -> str:
    if "@" in url:
        raise complaint(
            "holds a login",
            "leave it out of the address; a sink takes `user:` and `password: env:NAME` beside it",
        )
    return url


HttpUrl = Annotated[
    str,
    Shape(r"https?://[^\s/]+(/\S*)?", "write an address such as http://host:8083"),
    AfterValidator(_without_login),
]
RedisUrl = Annotated[
    str,
    Shape(r"rediss?://[^\s/]+(/\d+)?", "write an address such as redis://host:6379/0"),
    AfterValidator(_without_login),
]
Brokers = Annotated[
    str,
    Shape(
        r"[^\s,:/@]+:\d{1,5}(,[^\s,:/@]+:\d{1,5})*",
        "write host:port, several separated by commas",
    ),
]
WorkerReference = Annotated[
    str,
    Shape(
        r"\$\{[A-Za-z0-9_-]+:[^\s{}]+\}",
        "write a reference that the Connect worker resolves, such as ${env:CDC_SOURCE_PASSWORD}, "
        "never the password itself",
    ),
]


class Kafka(Section):
    """The Kafka cluster that holds the topics."""

    bootstrap_servers: Brokers | None = Field(
        None,
        description="Brokers to start from: `host:port`, several separated by commas. Left out: "
        "the broker of `cdc stack up`.",
    )
    replication_factor: int = Field(
        1,
        ge=1,
        le=32767,
        description="Copies of each topic. 3 on a real cluster; 1 where there is one broker.",
    )


class Connect(Section):
    """The Kafka Connect cluster that runs the connector."""

    url: HttpUrl | None = Field(
        None, description="Address of its REST interface. Left out: the one of `cdc stack up`."
    )
    source_password: WorkerReference | None = Field(
        None,
        description="How a Connect worker finds the source's password, as a reference to one of "
        "its config providers such as `${env:CDC_SOURCE_PASSWORD}`. Required with `url`.",
    )


class OpenSearchSink(Section):
    """A search index."""

    type: Literal["opensearch"] = Field(description="The kind of sink.")
    url: HttpUrl | None = Field(
        None, description="Address of OpenSearch. Left out: the one of `cdc stack up`."
    )
    user: str | None = Field(None, description="User to log in as, if OpenSearch asks for one.")
    password: Secret | None = Field(
        None, description="Where the password of `user` is: `env:NAME` or `file:/path`."
    )


class RedisSink(Section):
    """A cache."""

    type: Literal["redis"] = Field(description="The kind of sink.")
    url: RedisUrl | None = Field(
        None,
        description="Address of Redis, such as `redis://cache:6379/0`. Left out: the one of "
        "`cdc stack up`.",
    )
    user: str | None = Field(None, description="User to log in as, if Redis has users.")
    password: Secret | None = Field(
        None, description="Where the password is: `env:NAME` or `file:/path`."
    )


class WarehouseSink(Section):
    """Delta Lake tables."""

    type: Literal["warehouse"] = Field(description="The kind of sink.")
    path: Annotated[str, Field(min_length=1)] | None = Field(
        None,
        description="Directory or bucket that holds the tables. Left out: below the state "
        "directory of `cdc stack up`.",
    )


Sink = Annotated[OpenSearchSink | RedisSink | WarehouseSink, Field(discriminator="type")]
