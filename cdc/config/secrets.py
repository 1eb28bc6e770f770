"""Secrets by reference: `pipeline.yaml` names where a password is, never the password."""

import os
import re
from pathlib import Path

from pydantic import ConfigDict, RootModel, field_validator

from cdc.config.section import complaint
from cdc.errors import ConfigError

PATTERN = r"(env:[A-Za-z_][A-Za-z0-9_]*|file:(/|~/)[^\x00-\x1f]+)"


class Secret(RootModel[str]):
    """A reference to a secret: `env:NAME` (a variable) or `file:/path` (a file holding only it)."""

    model_config = ConfigDict(
        frozen=True,
        strict=True,
        hide_input_in_errors=True,
        json_schema_extra={
            "pattern": f"^{PATTERN}$",
            "examples": ["env:PGPASSWORD", "file:/run/secrets/db"],
        },
    )

    @field_validator("root")
    @classmethod
    def _is_a_reference(cls, value: str) -> str:
        if re.fullmatch(PATTERN, value):
            return value
        if value.startswith("file:"):
            raise complaint("needs an absolute path after `file:`", "as in file:/run/secrets/db")
        if value.startswith("env:"):
            raise complaint("needs the name of a variable after `env:`", "as in env:PGPASSWORD")
        raise complaint(
            "holds a secret in plain text",
            "put the secret into a variable or a file and write env:NAME or file:/path",
        )

    def resolve(self) -> str:
        """Read the secret now. Raises ConfigError if the variable or file is not there or empty."""
        kind, _, target = self.root.partition(":")
        return _from_env(target) if kind == "env" else _from_file(target)


def _from_env(name: str) -> str:
    value = os.environ.get(name)
    if not value:
        state = "is not set" if value is None else "is empty"
        raise ConfigError(f"the variable {name} {state}", hint=f"export {name}=…")
    return value


def _from_file(name: str) -> str:
    try:
        value = Path(name).expanduser().read_text("utf-8").rstrip("\r\n")
    except (OSError, RuntimeError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "it is not UTF-8 text"
        raise ConfigError(
            f"cannot read the secret in {name}: {reason}",
            hint=f"put the secret alone into {name}, readable only by you (chmod 600)",
        ) from None
    if not value:
        raise ConfigError(f"the secret in {name} is empty", hint=f"put the secret into {name}")
    return value
