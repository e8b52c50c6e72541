"""A small endpoint on this machine that speaks OpenAI's language, and misbehaves on demand."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Answer = tuple[int, dict[str, str], bytes]


def vector_of(text: str, dimension: int = 4) -> list[float]:
    """Give a vector that tells texts apart."""
    return [float(len(text)), *(float(ord(text[place % len(text)])) for place in range(dimension - 1))]


def whole(request: dict[str, Any], dimension: int = 4) -> Answer:
    """Answer as one should, but in another order than was asked."""
    data = [{"index": place, "embedding": vector_of(text, dimension)} for place, text in enumerate(request["input"])]
    return 200, {}, json.dumps({"data": data[::-1], "model": request["model"]}).encode()


class Endpoint:
    """What was asked of the server, and what it answers next; when nothing is left to say, it answers as one should."""

    def __init__(self) -> None:
        self.url = ""
        self.requests: list[dict[str, Any]] = []
        self.headers: list[dict[str, str]] = []
        self.answers: list[Answer | Callable[[dict[str, Any]], Answer]] = []
        self.released = threading.Event()

    def answer(self, request: dict[str, Any]) -> Answer:
        """Give the next answer."""
        self.requests.append(request)
        answer = self.answers.pop(0) if self.answers else whole
        return answer(request) if callable(answer) else answer


@contextmanager
def serving() -> Iterator[Endpoint]:
    """Serve on a free port as long as the context lasts."""
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
            """Say nothing."""

        def handle(self) -> None:
            """Let a caller hang up."""
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
