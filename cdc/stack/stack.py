"""Brings the services up and down together and tells how each one fares."""

import contextlib
import fcntl
import os
import shutil
import threading
import time
from collections.abc import Callable, Collection, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path

from cdc.errors import CdcError, FatalError
from cdc.stack import ports
from cdc.stack.addresses import Addresses
from cdc.stack.connect import Connect, secrets_dir
from cdc.stack.fetch import Progress, fetch
from cdc.stack.kafka import Kafka
from cdc.stack.opensearch import OpenSearch
from cdc.stack.paths import cache_dir, default_state_dir
from cdc.stack.postgres import ADMIN_USER, SECRETS, Postgres, admin_password
from cdc.stack.process import spawn, stop
from cdc.stack.redis import Redis
from cdc.stack.service import LOGS, Service, Site
from cdc.stack.state import STATE_FILE, ServiceState, StackState, read_state, write_state

READY_WITHIN_SECONDS = 120.0
# A running service that does not answer for this long is started anew by `up`.
ANSWER_WITHIN_SECONDS = 15.0
POLL_SECONDS = 0.1
LOCK_FILE = "lock"

Report = Callable[[str, str], None]


def all_services() -> dict[str, Service]:
    """Return every service by name, in the order in which people think of them."""
    services: list[Service] = [Postgres(), Kafka(), Connect(), OpenSearch(), Redis()]
    return {service.name: service for service in services}


@dataclass(frozen=True)
class ServiceStatus:
    """One line of `cdc stack status`."""

    name: str
    version: str
    state: str
    """ready, not ready, dead (it was started and is gone) or stopped"""
    detail: str
    port: int | None
    pid: int | None
    memory_mb: int | None
    uptime_seconds: int | None
    log: str


class Stack:
    """One stack, kept in one state directory."""

    def __init__(self, state_dir: Path | None = None, cache: Path | None = None) -> None:
        self.state_dir = (state_dir or default_state_dir()).absolute()
        self.cache = cache or cache_dir()
        self._services = all_services()
        # Several services start at once; each records itself.
        self._recording = threading.Lock()

    def fetch(self, progress: Progress | None = None, only: Collection[str] = ()) -> int:
        """Bring what the services are made of into the cache; return how many files came."""
        chosen = self._chosen(only)
        wanted = [artifact for service in chosen for artifact in service.artifacts()]
        return fetch(wanted, self.cache, progress)

    def up(
        self,
        only: Collection[str] = (),
        *,
        report: Report = lambda _service, _state: None,
        fetch_progress: Progress | None = None,
    ) -> None:
        """Make every service run and be ready, starting just those that are not.

        Safe to call at any time; what was killed or hangs is started anew on its old port.
        """
        chosen = self._chosen(only)
        self.fetch(fetch_progress, only)
        with self._locked() as state:
            for service in chosen:
                self._assign_ports(service, state)
            write_state(self.state_dir, state)
            self._start_all(chosen, state, report)

    def down(self, *, report: Report = lambda _service, _state: None) -> None:
        """Stop every recorded process of this stack; data stays."""
        with self._locked() as state:
            self._stop_all(state, report)

    def reset(self, *, report: Report = lambda _service, _state: None) -> None:
        """Stop everything and remove the stack's data; the cache of downloads stays.

        Removes what a stack makes and nothing else: the directory may be somebody's home.
        """
        if not self.state_dir.is_dir():
            return
        with self._locked() as state:
            self._stop_all(state, report)
            if state.services:
                for name in (*self._services, LOGS, SECRETS):
                    shutil.rmtree(self.state_dir / name, ignore_errors=True)
                (self.state_dir / STATE_FILE).unlink(missing_ok=True)
            (self.state_dir / LOCK_FILE).unlink()
        with contextlib.suppress(OSError):
            self.state_dir.rmdir()

    def status(self) -> list[ServiceStatus]:
        """Look at every service as it is now."""
        state = read_state(self.state_dir) or StackState()
        with ThreadPoolExecutor(len(self._services)) as pool:
            return list(pool.map(lambda each: self._status(each, state), self._services.values()))

    def addresses(self) -> Addresses:
        """Return where clients find the services; raises when the stack was never started."""
        state = read_state(self.state_dir)
        if state is None or not state.services:
            raise FatalError(f"there is no stack in {self.state_dir}", hint="cdc stack up")
        port = {
            name: state.services[name].port if name in state.services else 0
            for name in self._services
        }
        return Addresses(
            postgres_host=ports.LOOPBACK,
            postgres_port=port["postgres"],
            postgres_admin_user=ADMIN_USER,
            postgres_admin_password=admin_password(self.state_dir),
            kafka_bootstrap=f"{ports.LOOPBACK}:{port['kafka']}",
            connect_url=f"http://{ports.LOOPBACK}:{port['connect']}",
            opensearch_url=f"http://{ports.LOOPBACK}:{port['opensearch']}",
            redis_url=f"redis://{ports.LOOPBACK}:{port['redis']}",
            secrets_dir=secrets_dir(self.state_dir),
        )

    def log_file(self, service: str) -> Path:
        """Return where a service's output goes."""
        [known] = self._chosen([service])
        return self._site(known, StackState()).log

    # -- starting ------------------------------------------------------------------------------

    def _start_all(self, chosen: list[Service], state: StackState, report: Report) -> None:
        names = {service.name for service in chosen}
        started: dict[str, Future[None]] = {}

        def start(service: Service) -> None:
            for needed in service.needs:
                if needed in names:
                    started[needed].result()
            self._start(service, state, report)

        with ThreadPoolExecutor(len(chosen)) as pool:
            # Listed so that a service comes after those it needs.
            for service in chosen:
                started[service.name] = pool.submit(start, service)
        problems = [error for future in started.values() if (error := future.exception())]
        for error in problems:
            if not isinstance(error, CdcError):
                raise error
        if problems:
            raise problems[0]

    def _start(self, service: Service, state: StackState, report: Report) -> None:
        site = self._site(service, state)
        recorded = state.services[service.name]
        if recorded.process and recorded.process.find():
            if recorded.started_version != service.version:
                report(service.name, f"is {recorded.started_version}: starting {service.version}")
            elif self._answers(service, site, ANSWER_WITHIN_SECONDS):
                report(service.name, "ready")
                return
            else:
                report(service.name, "does not answer: starting anew")
            self._stop(service, state)
        report(service.name, "starting")
        site.log.parent.mkdir(parents=True, exist_ok=True)
        began = time.monotonic()
        command = service.prepare(site)
        recorded.process = spawn(
            command, log=site.log, environment=_environment(), drop_root=service.drops_root
        )
        recorded.started_version = service.version
        with self._recording:
            write_state(self.state_dir, state)
        self._wait_ready(service, site)
        report(service.name, f"ready after {time.monotonic() - began:.1f} s")

    def _answers(self, service: Service, site: Site, seconds: float) -> bool:
        deadline = time.monotonic() + seconds
        while _problem(service, site):
            if time.monotonic() > deadline:
                return False
            time.sleep(POLL_SECONDS)
        return True

    def _wait_ready(self, service: Service, site: Site) -> None:
        deadline = time.monotonic() + READY_WITHIN_SECONDS
        process = site.stack.services[service.name].process
        while problem := _problem(service, site):
            alive = process is not None and process.find() is not None
            if not alive or time.monotonic() > deadline:
                what = "is not ready" if alive else "ended while starting"
                raise FatalError(
                    f"{service.name} {what} ({problem}); the end of {site.log}:\n"
                    + _tail(site.log, 8),
                    hint=f"cdc stack logs {service.name} (state directory {self.state_dir})",
                )
            time.sleep(POLL_SECONDS)

    def _assign_ports(self, service: Service, state: StackState) -> None:
        """Keep a service's recorded ports, so that what others stored of them stays true."""
        recorded = state.services.setdefault(service.name, ServiceState())
        running = recorded.process is not None and recorded.process.find() is not None
        taken = {port for each in state.services.values() for port in each.ports.values()}
        for role, among in service.port_ranges.items():
            port = recorded.ports.get(role)
            if port is None or not (running or ports.is_free(port)):
                recorded.ports[role] = ports.pick(taken, among)
                taken.add(recorded.ports[role])

    # -- stopping ------------------------------------------------------------------------------

    def _stop_all(self, state: StackState, report: Report) -> None:
        for wave in self._stop_waves():
            running = [s for s in wave if s.name in state.services]
            if not running:
                continue
            with ThreadPoolExecutor(len(running)) as pool:
                for service in running:
                    pool.submit(self._stop, service, state, report)

    def _stop_waves(self) -> Iterator[list[Service]]:
        """First those that need others, then the rest."""
        yield [service for service in self._services.values() if service.needs]
        yield [service for service in self._services.values() if not service.needs]

    def _stop(
        self, service: Service, state: StackState, report: Report = lambda _service, _state: None
    ) -> None:
        recorded = state.services[service.name]
        if recorded.process and recorded.process.find():
            report(service.name, "stopping")
            stop(recorded.process, ask_with=service.stop_signal, grace=service.stop_grace)
        recorded.process = None
        with self._recording:
            write_state(self.state_dir, state)
        report(service.name, "stopped")

    # -- looking -------------------------------------------------------------------------------

    def _status(self, service: Service, state: StackState) -> ServiceStatus:
        site = self._site(service, state)
        recorded = state.services.get(service.name, ServiceState())
        process = recorded.process.find() if recorded.process else None
        if process is None:
            condition = "dead" if recorded.process else "stopped"
            detail = (
                "it was started and is gone: `cdc stack up` heals it" if recorded.process else ""
            )
        else:
            detail = _problem(service, site)
            condition = "not ready" if detail else "ready"
        return ServiceStatus(
            name=service.name,
            version=recorded.started_version or service.version,
            state=condition,
            detail=detail,
            port=recorded.ports.get("client"),
            pid=process.pid if process else None,
            memory_mb=process.memory_info().rss // 2**20 if process else None,
            uptime_seconds=int(time.time() - process.create_time()) if process else None,
            log=str(site.log),
        )

    def _site(self, service: Service, state: StackState) -> Site:
        return Site(self.state_dir, self.cache, state, service.name)

    def _chosen(self, only: Collection[str]) -> list[Service]:
        unknown = set(only) - set(self._services)
        if unknown:
            raise FatalError(
                f"there is no service called {', '.join(sorted(unknown))}",
                hint=f"choose among {', '.join(self._services)}",
            )
        return [service for name, service in self._services.items() if not only or name in only]

    @contextmanager
    def _locked(self) -> Iterator[StackState]:
        """Let one command at a time change this stack."""
        while True:
            self.state_dir.mkdir(parents=True, exist_ok=True)
            path = self.state_dir / LOCK_FILE
            with path.open("a") as file:
                fcntl.flock(file, fcntl.LOCK_EX)
                # Whoever held it before may have removed it with the stack: then it locks nothing.
                if not _is_still(path, file.fileno()):
                    continue
                yield read_state(self.state_dir) or StackState()
                return


def as_json(statuses: list[ServiceStatus]) -> list[dict[str, object]]:
    """Return the statuses for machines."""
    return [asdict(status) for status in statuses]


def _problem(service: Service, site: Site) -> str:
    """Return why the service is not ready, or nothing when it is."""
    try:
        service.check(site)
    except Exception as reason:  # noqa: BLE001 - any failure of any client means: not ready
        return f"{type(reason).__name__}: {reason}".strip().splitlines()[0]
    return ""


def _environment() -> dict[str, str]:
    """Return what the services inherit: nothing that could hold a secret or bend a JVM."""
    kept = ("PATH", "HOME", "LANG", "LC_ALL", "TMPDIR")
    return {name: os.environ[name] for name in kept if name in os.environ} | {"TZ": "UTC"}


def _is_still(path: Path, descriptor: int) -> bool:
    try:
        return os.path.samestat(path.stat(), os.fstat(descriptor))
    except FileNotFoundError:
        return False


def _tail(path: Path, lines: int) -> str:
    if not path.is_file():
        return ""
    return "\n".join(path.read_text(errors="replace").splitlines()[-lines:])
