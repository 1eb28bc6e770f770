"""The `source` section: which Postgres is captured, as whom, and under which names."""

from collections.abc import Iterator, Mapping
from typing import Annotated, Any, Literal

from pydantic import Field

from cdc.config.secrets import Secret
from cdc.config.section import Broken, Section, Shape

Identifier = Annotated[
    str,
    Shape(r"[^\x00-\x1f\x7f]{1,63}", "use 1 to 63 printable characters"),
]
# Postgres itself allows no other characters in a slot's name.
SlotName = Annotated[str, Shape(r"[a-z0-9_]{1,63}", "use 1 to 63 of a-z, 0-9 and _")]
PublicationName = Annotated[
    str, Shape(r"[a-z_][a-z0-9_]{0,62}", "use at most 63 of a-z, 0-9 and _, no digit first")
]
Host = Annotated[
    str, Shape(r"[^\s/@:,]+|[0-9a-fA-F:.]+", "write the host alone; the port goes under `port:`")
]
DEFAULT_PORT = 5432
SslMode = Literal["disable", "prefer", "require", "verify-ca", "verify-full"]


class Source(Section):
    """The Postgres database whose changes are captured."""

    host: Host | None = Field(
        None,
        description="Host name or address of Postgres. Left out: the Postgres of `cdc stack up`.",
    )
    port: int = Field(
        DEFAULT_PORT,
        ge=1,
        le=65535,
        description="Port of Postgres; used only when `host` is given.",
    )
    database: Identifier = Field(description="The database to capture.")
    user: Identifier = Field(
        "cdc_capture",
        description="Role that reads the changes. `cdc apply` creates it, with only the rights "
        "it needs.",
    )
    password: Secret | None = Field(
        None,
        description="Where the password of `user` is: `env:NAME` or `file:/path`. Left out only "
        "with the Postgres of `cdc stack up`, which generates one.",
    )
    admin_user: Identifier | None = Field(
        None,
        description="Role that `cdc check`, `plan` and `apply` log in as to create the role, the "
        "publication and the triggers. Left out: `user`.",
    )
    admin_password: Secret | None = Field(
        None, description="Where the password of `admin_user` is: `env:NAME` or `file:/path`."
    )
    sslmode: SslMode = Field(
        "prefer",
        description="How the connection to Postgres is encrypted, with libpq's words. Use "
        "`verify-full` outside your own machine.",
    )
    slot: SlotName | None = Field(
        None, description="Name of the replication slot. Left out: the pipeline's name + `_cdc`."
    )
    publication: PublicationName | None = Field(
        None, description="Name of the publication. Left out: the pipeline's name + `_cdc`."
    )
    heartbeat_seconds: int = Field(
        10,
        ge=1,
        le=3600,
        description="How often a heartbeat moves the slot on while the captured tables are quiet.",
    )
    snapshot: Literal["debezium", "none"] = Field(
        "debezium",
        description="How rows that exist already get into the topics: `debezium` reads them "
        "first, `none` captures only what changes from now on.",
    )

    @classmethod
    def rules(cls, raw: Mapping[str, Any]) -> Iterator[Broken]:
        """Check what only several fields together can tell."""
        if raw.get("host") is not None and raw.get("password") is None:
            yield Broken(
                ("host",),
                "`source.password` is required when `source.host` is given",
                "add `password: env:CDC_SOURCE_PASSWORD`",
            )
        if raw.get("host") is None and raw.get("port", DEFAULT_PORT) != DEFAULT_PORT:
            yield Broken(
                ("port",),
                "`source.port` has no effect without `source.host`",
                "add `host:` or remove `port:`",
            )
        user, password = raw.get("admin_user"), raw.get("admin_password")
        if password is not None and user is None:
            yield Broken(
                ("admin_password",),
                "`source.admin_password` belongs to `source.admin_user`",
                "add `admin_user:`",
            )
        if user is not None and password is None:
            yield Broken(
                ("admin_user",),
                "`source.admin_user` needs its password",
                "add `admin_password: env:PGPASSWORD`",
            )
