"""A local HTTP server with OpenAI's embeddings API that can be made to misbehave."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Answer = tuple[int, dict[str, str], bytes]


def vector_of(text: str, dimension: int = 4) -> list[float]:
    """Return a vector that differs between texts."""
    return [float(len(text)), *(float(ord(text[index % len(text)])) for index in range(dimension - 1))]


def whole(request: dict[str, Any], dimension: int = 4) -> Answer:
    """Return a correct answer, with its items in reverse order."""
    data = [{"index": index, "embedding": vector_of(text, dimension)} for index, text in enumerate(request["input"])]
    return 200, {}, json.dumps({"data": data[::-1], "model": request["model"]}).encode()


class Endpoint:
    """The requests a server received and the answers it gives next; without any left, it answers correctly."""

    def __init__(self) -> None:
        self.url = ""
        self.requests: list[dict[str, Any]] = []
        self.headers: list[dict[str, str]] = []
        self.answers: list[Answer | Callable[[dict[str, Any]], Answer]] = []
        self.released = threading.Event()

    def answer(self, request: dict[str, Any]) -> Answer:
        """Return the next answer."""
        self.requests.append(request)
        answer = self.answers.pop(0) if self.answers else whole
        return answer(request) if callable(answer) else answer


@contextmanager
def serving() -> Iterator[Endpoint]:
    """Serve on a free port for the duration of the block."""
    endpoint = Endpoint()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            endpoint.headers.append(dict(self.headers.items()))
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            status, headers, content = endpoint.answer({**body, "path": self.path})
            self.send_response(status)
            for name, value in {"Content-Length": str(len(content)), **headers}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, format: str, *arguments: Any) -> None:
            """Log nothing."""

        def handle(self) -> None:
            """Ignore clients that close the connection."""
            try:
                super().handle()
            except (ConnectionError, BrokenPipeError):
                self.close_connection = True

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    endpoint.url = f"http://127.0.0.1:{server.server_address[1]}/v1"
    try:
        yield endpoint
    finally:
        endpoint.released.set()
        server.shutdown()
        thread.join()
        server.server_close()
