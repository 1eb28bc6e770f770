"""The commented `pipeline.yaml` that `cdc init` writes, from what was found in a database.

Pure text: what is found is passed in. Whatever the names in the database are, the result loads.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

import yaml

from cdc.config.model import Table, topic_name
from cdc.config.source import DEFAULT_PORT

CAPTURE_PASSWORD = "env:CDC_SOURCE_PASSWORD"  # noqa: S105 - a reference
NAME_LIMIT = 31
COMMENT_LIMIT = 150


@dataclass(frozen=True)
class FoundTable:
    """A table as the catalog describes it."""

    schema: str
    name: str
    key: tuple[str, ...] = ()
    rows: int | None = None
    bad_key: str = ""
    """Why the type of a key column will not do."""
    deferrable_key: bool = False
    unlogged: bool = False
    inherited: bool = False
    needs_full: bool = False
    """Whether the log leaves out what a record needs until the replica identity is changed."""

    @property
    def full_name(self) -> str:
        """The name as pipeline.yaml spells it."""
        return f"{self.schema}.{self.name}"

    def obstacle(self) -> str:
        """Say why the table cannot be captured; empty if it can."""
        reasons = {
            "it is unlogged, so its changes are not in the log": self.unlogged,
            "it has no primary key": not self.key,
            "its primary key is deferrable": self.deferrable_key,
            "tables inherit from it, and their changes do not show in it": self.inherited,
            "its name has characters that a topic cannot have": not _nameable(self.full_name),
            self.bad_key: bool(self.bad_key),
        }
        return next((reason for reason, holds in reasons.items() if holds), "")


@dataclass(frozen=True)
class FoundDatabase:
    """The database that was looked at. Without a host it is the embedded stack's."""

    database: str
    host: str | None = None
    port: int = DEFAULT_PORT
    admin_user: str = ""
    admin_password: str = ""
    """A reference (`env:` or `file:`), never the password."""
    sslmode: str = "prefer"


def pipeline_name(database: str) -> str:
    """Make a valid pipeline name out of a database's."""
    name = re.sub(r"[^a-z0-9]+", "_", database.lower()).strip("_")
    return (name if name[:1].isalpha() else f"db_{name}".rstrip("_"))[:NAME_LIMIT]


def starter(name: str, found: FoundDatabase, tables: Sequence[FoundTable]) -> str:
    """Return the text of the file. At least one table must be capturable for it to load."""
    capturable = [table for table in tables if not table.obstacle()]
    parts = [_HEAD.format(name=_scalar(name)), _source(found), _tables(tables), _views(capturable)]
    return "\n".join(parts)


_HEAD = """\
# What is captured from where, and which views are kept of it.
#
# Check it:               cdc config check
# Completion in editors:  cdc config schema > pipeline.schema.json, and add the line
#                         "yaml-language-server: $schema=pipeline.schema.json" as a comment
# Then:                   cdc check, cdc plan, cdc apply

# Names everything that is created: topics, slot, publication, connector.
name: {name}
"""

_EMBEDDED = """\
source:
  # No host: this is the Postgres of `cdc stack up`. For one of your own add
  #   host: db.example.com
  #   password: env:CDC_SOURCE_PASSWORD   # of the role `cdc_capture`, which `cdc apply` creates
  #   admin_user: postgres                # creates that role, the publication and the triggers
  #   admin_password: env:PGPASSWORD
  database: {database}
"""

_EXTERNAL = """\
source:
  host: {host}
  port: {port}
  database: {database}
  sslmode: {sslmode}
  # The role that reads the changes: `cdc apply` creates it with this password, and with only the
  # rights it needs. Passwords are given by reference: env:NAME or file:/path.
  user: cdc_capture
  password: {capture_password}
  # The role that creates it, the publication and the triggers.
  admin_user: {admin_user}
  admin_password: {admin_password}

# Without these, Kafka and Connect are those of `cdc stack up`. For your own:
# kafka:
#   bootstrap_servers: broker1:9092,broker2:9092
#   replication_factor: 3
# connect:
#   url: http://connect:8083
#   source_password: ${{env:CDC_SOURCE_PASSWORD}}   # resolved by the Connect worker
"""


def _source(found: FoundDatabase) -> str:
    if found.host is None:
        return _EMBEDDED.format(database=_scalar(found.database))
    return _EXTERNAL.format(
        host=_scalar(found.host),
        port=found.port,
        database=_scalar(found.database),
        sslmode=found.sslmode,
        capture_password=CAPTURE_PASSWORD,
        admin_user=_scalar(found.admin_user),
        admin_password=_scalar(found.admin_password),
    )


def _tables(tables: Sequence[FoundTable]) -> str:
    lines = [
        "# One compacted topic each. The long form has settings of its own:",
        "#   - name: public.orders",
        "#     partitions: 8          # how many tasks can read the topic at once; default 4",
        "#     on_truncate: refuse    # or delete, the default: a deletion of every row",
        "tables:",
    ]
    for table in sorted(tables, key=lambda found: found.full_name):
        obstacle = table.obstacle()
        if obstacle:
            lines.append(
                f"  # - {_comment(table.full_name)}  # cannot be captured: {_comment(obstacle)}"
            )
        else:
            lines.append(f"  - {_scalar(table.full_name)}  # {_comment(_remarks(table))}")
    return "\n".join(lines) + "\n"


def _remarks(table: FoundTable) -> str:
    rows = "rows unknown" if table.rows is None else f"about {table.rows:,} rows"
    identity = "; needs another REPLICA IDENTITY, see `cdc check`" if table.needs_full else ""
    return f"key {', '.join(table.key)}; {rows}{identity}"


def _views(capturable: Sequence[FoundTable]) -> str:
    example = capturable[0].full_name if capturable else "public.orders"
    table = _scalar(example)
    return f"""\
# Views: datasets kept in sync with one table. Remove the first `# ` of each line to have these.
# sinks:
#   search:
#     type: opensearch       # url: https://search.example.com:9200, user:, password: env:…
#   cache:
#     type: redis            # url: redis://cache.example.com:6379/0, password: env:…
#   lake:
#     type: warehouse        # path: where the Delta tables live
# views:
#   - name: example_search
#     table: {table}
#     sink: search
#   - name: example_cache
#     table: {table}
#     sink: cache
#   - name: example_lake
#     table: {table}
#     sink: lake
"""


def _nameable(full_name: str) -> bool:
    """Tell whether the table's topic has the table's name: any other may be shared."""
    try:
        return topic_name(Table(name=full_name).name) == full_name
    except ValueError:
        return False


def _scalar(text: str) -> str:
    """Quote text as YAML needs it, on one line."""
    # Some characters are line breaks to YAML: whatever is not printable is escaped.
    plain = text.isprintable()
    dumped = yaml.safe_dump(
        text, allow_unicode=plain, default_style=None if plain else '"', width=10**9
    )
    return dumped.removesuffix("\n").removesuffix("\n...")


def _comment(text: str) -> str:
    """Make any text safe inside a comment: one line, printable, not endless."""
    printable = "".join(c if c.isprintable() else "?" for c in text)
    return printable if len(printable) <= COMMENT_LIMIT else f"{printable[: COMMENT_LIMIT - 1]}…"
