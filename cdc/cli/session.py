"""What every command starts from: the global options, and what they lead to."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from cdc.errors import ConfigError
from cdc.output import Output

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cdc.config import Pipeline
    from cdc.endpoints import Endpoints
    from cdc.stack.addresses import Addresses


@dataclass(frozen=True)
class Session:
    """One run of the command line."""

    file: Path
    state_dir: Path
    out: Output

    def pipeline(self) -> "Pipeline":
        """Read pipeline.yaml. Raises ConfigError."""
        from cdc.config import load_pipeline  # noqa: PLC0415 - slow

        return load_pipeline(self.file)

    def endpoints(self, pipeline: "Pipeline") -> "Endpoints":
        """Return where everything can be reached. Raises ConfigError if something is nowhere."""
        from cdc.endpoints import embedded_services, resolve  # noqa: PLC0415 - slow

        return resolve(pipeline, self.addresses(embedded_services(pipeline)))

    def addresses(self, needed: "Sequence[str]") -> "Addresses | None":
        """Return where the embedded stack is, or None if one of `needed` was never started.

        What was started and has stopped since has an address too: the command that talks to it
        reports that best.
        """
        from cdc.stack.stack import Stack  # noqa: PLC0415 - slow
        from cdc.stack.state import read_state  # noqa: PLC0415 - slow

        state = read_state(self.state_dir)
        if state is None or not state.services or not set(needed) <= set(state.services):
            return None
        return Stack(self.state_dir).addresses()

    def stack_addresses(self, *needed: str) -> "Addresses":
        """Return where the embedded stack is. Raises ConfigError if `needed` never ran there."""
        found = self.addresses(needed)
        if found is None:
            raise ConfigError(f"no stack is running in {self.state_dir}", hint="cdc stack up")
        return found


def of(context: typer.Context) -> Session:
    """Return the session of a command."""
    session = context.obj
    if not isinstance(session, Session):
        raise TypeError("the command was called without the application around it")
    return session
