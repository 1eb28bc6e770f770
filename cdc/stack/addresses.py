"""Where the parts of one running embedded stack can be reached.

Plain data: knows nothing of processes or of `pipeline.yaml`.
"""

from dataclasses import dataclass, field
from pathlib import Path

from psycopg.conninfo import make_conninfo


@dataclass(frozen=True)
class Addresses:
    """The addresses and the administrator's login of one embedded stack."""

    postgres_host: str
    postgres_port: int
    postgres_admin_user: str
    postgres_admin_password: str = field(repr=False)
    kafka_bootstrap: str
    connect_url: str
    opensearch_url: str
    redis_url: str
    secrets_dir: Path
    """The Connect worker may read files of this directory through its config provider `dir`."""

    def admin_conninfo(self, database: str) -> str:
        """Return the libpq string to log in as the administrator. Holds the password."""
        return make_conninfo(
            host=self.postgres_host,
            port=self.postgres_port,
            user=self.postgres_admin_user,
            password=self.postgres_admin_password,
            dbname=database,
        )
