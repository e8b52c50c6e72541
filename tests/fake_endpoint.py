"""A real HTTP server on this machine that speaks OpenAI's API, and misbehaves on command."""

from __future__ import annotations

import json
import re
import socket
import struct
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple

NUMBERED = re.compile(r"^\[(\d+)\] (.*)$", re.MULTILINE)
Request = dict[str, Any]
Behaviour = Callable[["Handler", Request], None]
Oracle = Callable[[str], bool]


class Line(NamedTuple):
    """A line that the model is shown."""

    number: int
    text: str


def lines_in(request: Request) -> list[Line]:
    """Read the numbered lines that a request shows."""
    return [Line(int(number), text) for number, text in NUMBERED.findall(request["messages"][1]["content"])]


def envelope(content: Any, **usage: Any) -> dict[str, Any]:
    return {
        "id": "x", "object": "chat.completion", "created": 1, "model": "m",
        "choices": [{"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": content}}],
        "usage": {"prompt_tokens": 0, "completion_tokens": 0, "total_tokens": 0} | usage,
    }  # fmt: skip


class Handler(BaseHTTPRequestHandler):
    """Counts and keeps what is asked, then does what the server is told to."""

    protocol_version = "HTTP/1.1"
    server: Server

    def do_POST(self) -> None:
        request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        with self.server.lock:
            self.server.requests.append(request)
            self.server.headers.append({name.lower(): value for name, value in self.headers.items()})
            self.server.paths.append(self.path)
            self.server.busy += 1
            self.server.busiest = max(self.server.busiest, self.server.busy)
            number = len(self.server.requests)
        try:
            with suppress(OSError):
                self.server.behaviour(number)(self, request)
        finally:
            with self.server.lock:
                self.server.busy -= 1

    def send(self, status: int, body: bytes, **headers: str) -> None:
        self.send_response(status)
        for name, value in {"Content-Type": "application/json", "Content-Length": str(len(body)), **headers}.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:
        """Say nothing."""


class Server(ThreadingHTTPServer):
    """The endpoint; it keeps all that it was asked."""

    daemon_threads = True

    def __init__(self, behaviour: Behaviour | Callable[[int], Behaviour]) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.lock = threading.Lock()
        self.requests: list[Request] = []
        self.headers: list[dict[str, str]] = []
        self.paths: list[str] = []
        self.busy = self.busiest = 0
        self.over = threading.Event()
        self.script = behaviour

    def behaviour(self, number: int) -> Behaviour:
        return self.script(number) if getattr(self.script, "by_number", False) else self.script  # type: ignore

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Say nothing: a client that goes away is no fault."""

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/v1"

    @property
    def calls(self) -> int:
        return len(self.requests)


@contextmanager
def serving(behaviour: Behaviour | Callable[[int], Behaviour]) -> Iterator[Server]:
    server = Server(behaviour)
    thread = threading.Thread(target=lambda: server.serve_forever(0.02), daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.over.set()
        server.shutdown()
        server.server_close()
        thread.join()


def in_turn(*behaviours: Behaviour) -> Callable[[int], Behaviour]:
    """Do one after the other, and then the last for ever."""

    def script(number: int) -> Behaviour:
        return behaviours[min(number, len(behaviours)) - 1]

    script.by_number = True  # type: ignore[attr-defined]
    return script


def saying(content: Any, **usage: Any) -> Behaviour:
    """Answer with these words, whatever is asked."""
    return lambda handler, _: handler.send(200, json.dumps(envelope(content, **usage)).encode())


def topics(starts: Oracle) -> Behaviour:
    """Answer with the lines that an oracle says are starts, and count as `cl100k` does."""

    def behave(handler: Handler, request: Request) -> None:
        from spanwise.text.tokens import tokenizer_of

        count = tokenizer_of("cl100k").count
        words = json.dumps({"starts": [line.number for line in lines_in(request) if starts(line.text)]})
        sent = sum(count(message["content"]) for message in request["messages"])
        usage = {"prompt_tokens": sent, "completion_tokens": count(words)}
        handler.send(200, json.dumps(envelope(words, **usage)).encode())

    return behave


def status(code: int, body: bytes = b'{"error": {"message": "no"}}', **headers: str) -> Behaviour:
    return lambda handler, _: handler.send(code, body, **headers)


def raw(body: bytes) -> Behaviour:
    return lambda handler, _: handler.send(200, body)


def half(handler: Handler, _: Request) -> None:
    """Promise more than is sent, and close."""
    body = json.dumps(envelope('{"starts": [1]}')).encode()
    handler.send_response(200)
    handler.send_header("Content-Length", str(len(body)))
    handler.end_headers()
    handler.wfile.write(body[: len(body) // 2])
    handler.close_connection = True


def hang(handler: Handler, _: Request) -> None:
    """Say nothing."""
    handler.server.over.wait(60)
    handler.close_connection = True


def drip(handler: Handler, _: Request) -> None:
    """Send a byte now and then, beginning with the status line."""
    for byte in b"HTTP/1.1 200 OK\r\nContent-Length: 100000\r\nX-Long: " + b"a" * 10_000:
        handler.wfile.write(bytes([byte]))
        if handler.server.over.wait(0.05):
            return


def drip_body(handler: Handler, _: Request) -> None:
    """Send the head at once, and then a byte now and then."""
    handler.send_response(200)
    handler.send_header("Content-Length", "100000")
    handler.end_headers()
    while not handler.server.over.wait(0.05):
        handler.wfile.write(b" ")


def reset(handler: Handler, _: Request) -> None:
    """Close the connection hard."""
    handler.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    handler.close_connection = True
    handler.connection.close()


def endless(handler: Handler, _: Request) -> None:
    """Send without end, as fast as it goes."""
    handler.send_response(200)
    handler.send_header("Transfer-Encoding", "chunked")
    handler.end_headers()
    piece = b"10000\r\n" + b" " * 0x10000 + b"\r\n"
    while not handler.server.over.is_set():
        handler.wfile.write(piece)


def slowly(seconds: float, behaviour: Behaviour) -> Behaviour:
    """Take some time before doing something."""

    def behave(handler: Handler, request: Request) -> None:
        time.sleep(seconds)
        behaviour(handler, request)

    return behave
