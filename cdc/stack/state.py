"""What a stack remembers between commands: `stack.json` in its state directory."""

import json
import secrets
from dataclasses import asdict, dataclass, field
from pathlib import Path

from cdc.errors import FatalError
from cdc.stack.process import ProcessId

STATE_FILE = "stack.json"


@dataclass
class ServiceState:
    """One service: its ports by role, and its process when one was started."""

    ports: dict[str, int] = field(default_factory=dict)
    process: ProcessId | None = None
    started_version: str | None = None

    @property
    def port(self) -> int:
        """Return the port clients use."""
        return self.ports["client"]


@dataclass
class StackState:
    """A stack: an id that keeps it apart from others, and its services by name."""

    id: str = field(default_factory=lambda: secrets.token_hex(4))
    services: dict[str, ServiceState] = field(default_factory=dict)


def read_state(state_dir: Path) -> StackState | None:
    """Return the recorded stack, or None where there never was one."""
    path = state_dir / STATE_FILE
    try:
        raw = json.loads(path.read_text())
        services = {
            name: ServiceState(
                ports=service["ports"],
                process=ProcessId(**service["process"]) if service["process"] else None,
                started_version=service["started_version"],
            )
            for name, service in raw["services"].items()
        }
        return StackState(raw["id"], services)
    except FileNotFoundError:
        return None
    except (ValueError, KeyError, TypeError) as problem:
        raise FatalError(
            f"{path} is not readable as a stack's state ({problem})",
            hint=f"stop what still runs, then remove {state_dir} or run `cdc stack reset`",
        ) from problem


def write_state(state_dir: Path, state: StackState) -> None:
    """Record the stack; a crash leaves the old file or the new one, never half of one."""
    state_dir.mkdir(parents=True, exist_ok=True)
    path = state_dir / STATE_FILE
    scratch = path.with_suffix(".tmp")
    scratch.write_text(json.dumps(asdict(state), indent=2))
    scratch.replace(path)
