"""How the client of Connect's REST interface takes its answers, from a small real HTTP server."""

import json
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from cdc.errors import RetryableError
from connectors.connect import ConnectClient, ConnectError

Answer = tuple[int, object]


@pytest.fixture
def answering() -> Iterator[Callable[..., tuple[ConnectClient, list[str]]]]:
    """Give a client of a server that answers with what it was given, one after the other."""
    servers: list[ThreadingHTTPServer] = []
    clients: list[ConnectClient] = []

    def start(*answers: Answer) -> tuple[ConnectClient, list[str]]:
        asked: list[str] = []

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                asked.append(f"{self.command} {self.path}")
                status, body = answers[min(len(asked), len(answers)) - 1]
                payload = json.dumps(body).encode()
                self.send_response(status)
                self.send_header("Content-Length", str(len(payload)))
                self.end_headers()
                self.wfile.write(payload)

            do_DELETE = do_GET  # noqa: N815

            def log_message(self, *_: object) -> None:
                """Keep the test's output clean."""

        server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        client = ConnectClient(f"http://127.0.0.1:{server.server_port}/")
        servers.append(server)
        clients.append(client)
        return client, asked

    yield start
    for client in clients:
        client.close()
    for server in servers:
        server.shutdown()
        server.server_close()


@pytest.mark.parametrize(
    "busy",
    [
        (409, {"message": "Cannot complete request momentarily"}),
        (500, {"message": "Request cannot be completed because a rebalance is expected"}),
    ],
)
def test_a_rebalance_is_waited_for(
    answering: Callable[..., tuple[ConnectClient, list[str]]], busy: Answer
) -> None:
    client, asked = answering(busy, busy, (200, {"name": "shop"}))
    assert client.config("shop") == {"name": "shop"}
    assert len(asked) == 3


def test_another_failure_of_the_worker_may_be_tried_again_later(
    answering: Callable[..., tuple[ConnectClient, list[str]]],
) -> None:
    client, asked = answering((500, {"message": "disk full"}))
    with pytest.raises(RetryableError, match="disk full"):
        client.connectors()
    assert len(asked) == 1


def test_a_refusal_is_final_and_tells_connects_words(
    answering: Callable[..., tuple[ConnectClient, list[str]]],
) -> None:
    client, _ = answering((400, {"message": "Connector configuration is invalid"}))
    with pytest.raises(ConnectError, match="configuration is invalid"):
        client.status("shop")


def test_what_is_not_there_is_none(
    answering: Callable[..., tuple[ConnectClient, list[str]]],
) -> None:
    client, asked = answering((404, {"message": "not found"}))
    assert client.status("a/b") is None
    client.delete("a/b")
    assert asked == ["GET /connectors/a%2Fb/status", "DELETE /connectors/a%2Fb"]
