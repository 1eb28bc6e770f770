"""Kafka Connect's REST interface: one small method for each call, our own errors for each failure.

Knows nothing of Debezium or of pipelines. Waiting for a connector is in `connectors.supervise`.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from time import monotonic, sleep
from types import TracebackType
from typing import Any, Self
from urllib.parse import quote

import httpx

from cdc.errors import FatalError, RetryableError

NOT_FOUND = 404
CONFLICT = 409
SERVER_ERROR = 500
# A rebalance takes a second or two; a worker that is still joining its group answers 409 as well.
REBALANCE_SECONDS = 60.0


class ConnectError(FatalError):
    """Kafka Connect understood the request and refused it."""


@dataclass(frozen=True, slots=True)
class TaskStatus:
    """State of one task; `trace` is the Java stack trace of a failed one."""

    id: int
    state: str
    trace: str = ""


@dataclass(frozen=True, slots=True)
class ConnectorStatus:
    """State of a connector and of its tasks: one may run while the other has failed."""

    state: str
    tasks: tuple[TaskStatus, ...]
    trace: str = ""

    @property
    def failed(self) -> tuple[TaskStatus, ...]:
        """The tasks that have failed."""
        return tuple(task for task in self.tasks if task.state == "FAILED")

    @property
    def running(self) -> bool:
        """Whether the connector and at least one task run, and no task does not."""
        states = {self.state, *(task.state for task in self.tasks)}
        return bool(self.tasks) and states == {"RUNNING"}


class ConnectClient:
    """A session with one Connect cluster. Close it, or use it with `with`."""

    def __init__(self, url: str, *, timeout: float = 30.0) -> None:
        self.url = url.rstrip("/")
        self._http = httpx.Client(base_url=self.url, timeout=timeout, trust_env=False)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the connections."""
        self._http.close()

    def version(self) -> str:
        """Return the version of the worker."""
        return str(self._get("/")["version"])

    def plugins(self) -> dict[str, str]:
        """Return the installed connectors: class → version."""
        return {p["class"]: str(p.get("version", "")) for p in self._get("/connector-plugins")}

    def connectors(self) -> list[str]:
        """Return the names of all connectors."""
        return list(self._get("/connectors"))

    def config(self, name: str) -> dict[str, str] | None:
        """Return a connector's configuration as it was given, None if there is no connector."""
        found: dict[str, str] | None = self._get_or_none(f"{_path(name)}/config")
        return found

    def put_config(self, name: str, config: Mapping[str, str]) -> None:
        """Create the connector or replace its configuration."""
        self._call("PUT", f"{_path(name)}/config", json=dict(config))

    def validate(self, config: Mapping[str, str]) -> dict[str, list[str]]:
        """Let the plugin check a configuration; returns what it has to say: field → errors."""
        plugin = quote(config["connector.class"].rpartition(".")[2], safe="")
        answer = self._call(
            "PUT", f"/connector-plugins/{plugin}/config/validate", json=dict(config)
        )
        values = (entry["value"] for entry in answer["configs"])
        return {value["name"]: list(value["errors"]) for value in values if value["errors"]}

    def status(self, name: str) -> ConnectorStatus | None:
        """Return the state of a connector and its tasks, None if there is no such connector."""
        found = self._get_or_none(f"{_path(name)}/status")
        if found is None:
            return None
        tasks = tuple(
            TaskStatus(int(t["id"]), str(t["state"]), str(t.get("trace", "")))
            for t in found["tasks"]
        )
        connector = found["connector"]
        return ConnectorStatus(str(connector["state"]), tasks, str(connector.get("trace", "")))

    def offsets(self, name: str) -> list[dict[str, Any]]:
        """Return the source positions the connector has committed."""
        return list(self._get(f"{_path(name)}/offsets")["offsets"])

    def restart(self, name: str, *, only_failed: bool = True) -> None:
        """Restart the connector and its tasks, by default only those that have failed."""
        params = {"includeTasks": "true", "onlyFailed": str(only_failed).lower()}
        self._call("POST", f"{_path(name)}/restart", params=params)

    def pause(self, name: str) -> None:
        """Let the tasks finish what they hold and wait; they keep their slot."""
        self._call("PUT", f"{_path(name)}/pause")

    def resume(self, name: str) -> None:
        """Let a paused or stopped connector go on."""
        self._call("PUT", f"{_path(name)}/resume")

    def stop(self, name: str) -> None:
        """Shut the tasks down but keep configuration and offsets."""
        self._call("PUT", f"{_path(name)}/stop")

    def delete_offsets(self, name: str) -> None:
        """Forget where a stopped connector was."""
        self._call("DELETE", f"{_path(name)}/offsets")

    def delete(self, name: str) -> None:
        """Remove a connector; one that is not there is fine. Its offsets stay in Kafka."""
        self._call("DELETE", _path(name), missing_ok=True)

    def _get(self, path: str) -> Any:
        return self._call("GET", path)

    def _get_or_none(self, path: str) -> Any:
        return self._call("GET", path, missing_ok=True)

    def _call(
        self,
        method: str,
        path: str,
        *,
        json: Mapping[str, Any] | None = None,
        params: Mapping[str, str] | None = None,
        missing_ok: bool = False,
    ) -> Any:
        response = self._past_rebalance(
            lambda: self._http.request(method, path, json=json, params=params)
        )
        if response.status_code == NOT_FOUND and missing_ok:
            return None
        if response.status_code >= SERVER_ERROR or response.status_code == CONFLICT:
            raise RetryableError(
                f"Kafka Connect could not {method} {path}: {_message(response)}",
                hint="try again in a few seconds; see the worker's log: `cdc stack logs connect`",
            )
        if response.is_error:
            raise ConnectError(
                f"Kafka Connect refused to {method} {path}: {_message(response)}",
                hint="correct what the message names and run `cdc apply` again",
            )
        return response.json() if response.content else None

    def _past_rebalance(self, request: Callable[[], httpx.Response]) -> httpx.Response:
        deadline = monotonic() + REBALANCE_SECONDS
        pause = 0.1
        while True:
            try:
                response = request()
            except httpx.HTTPError as error:
                raise RetryableError(
                    f"Kafka Connect does not answer at {self.url}: {error or type(error).__name__}",
                    hint="start it with `cdc stack up`, or correct `connect.url` in pipeline.yaml",
                ) from error
            if not _rebalancing(response) or monotonic() > deadline:
                return response
            sleep(pause)
            pause = min(pause * 2, 2.0)


def _path(name: str) -> str:
    return f"/connectors/{quote(name, safe='')}"


def _rebalancing(response: httpx.Response) -> bool:
    # Requests the worker hands on to the leader get a 409; those it answers itself get a 500 that
    # only its words tell from a real failure.
    status = response.status_code
    return status == CONFLICT or (status == SERVER_ERROR and "rebalance" in _message(response))


def _message(response: httpx.Response) -> str:
    try:
        return str(response.json()["message"]).strip()
    except (ValueError, KeyError, TypeError):
        return f"HTTP {response.status_code}"
