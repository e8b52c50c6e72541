"""A local HTTP server with OpenAI's chat API that can be made to misbehave."""

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
    """A numbered line of a prompt."""

    number: int
    text: str


def lines_in(request: Request) -> list[Line]:
    """Return the numbered lines in the prompt of a request."""
    return [Line(int(number), text) for number, text in NUMBERED.findall(request["messages"][1]["content"])]


def envelope(content: Any, **usage: Any) -> dict[str, Any]:
    return {
        "id": "x", "object": "chat.completion", "created": 1, "model": "m",
        "choices": [{"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": content}}],
        "usage": {"prompt_tokens": 0, "completion_tokens": 0, "total_tokens": 0} | usage,
    }  # fmt: skip


class Handler(BaseHTTPRequestHandler):
    """A request handler that records each request and then runs the server's behaviour."""

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
        """Log nothing."""


class Server(ThreadingHTTPServer):
    """An endpoint that keeps all requests it received."""

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
        """Ignore errors: a client that goes away is not a fault."""

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
    """Return a script that runs the behaviours in turn and repeats the last one."""

    def script(number: int) -> Behaviour:
        return behaviours[min(number, len(behaviours)) - 1]

    script.by_number = True  # type: ignore[attr-defined]
    return script


def answering(content: Any, **usage: Any) -> Behaviour:
    """Return a behaviour that answers every request with `content`."""
    return lambda handler, _: handler.send(200, json.dumps(envelope(content, **usage)).encode())


def topics(starts: Oracle) -> Behaviour:
    """Return a behaviour that answers with the lines for which `starts` holds, and counts tokens in `cl100k`."""

    def behave(handler: Handler, request: Request) -> None:
        from spanwise.text.tokens import tokenizer_of

        count = tokenizer_of("cl100k").count
        content = json.dumps({"starts": [line.number for line in lines_in(request) if starts(line.text)]})
        sent = sum(count(message["content"]) for message in request["messages"])
        usage = {"prompt_tokens": sent, "completion_tokens": count(content)}
        handler.send(200, json.dumps(envelope(content, **usage)).encode())

    return behave


def status(code: int, body: bytes = b'{"error": {"message": "no"}}', **headers: str) -> Behaviour:
    return lambda handler, _: handler.send(code, body, **headers)


def raw(body: bytes) -> Behaviour:
    return lambda handler, _: handler.send(200, body)


def half(handler: Handler, _: Request) -> None:
    """Announce more bytes than are sent, and close."""
    body = json.dumps(envelope('{"starts": [1]}')).encode()
    handler.send_response(200)
    handler.send_header("Content-Length", str(len(body)))
    handler.end_headers()
    handler.wfile.write(body[: len(body) // 2])
    handler.close_connection = True


def hang(handler: Handler, _: Request) -> None:
    """Never answer."""
    handler.server.over.wait(60)
    handler.close_connection = True


def drip(handler: Handler, _: Request) -> None:
    """Send one byte at a time with pauses, from the status line on."""
    for byte in b"HTTP/1.1 200 OK\r\nContent-Length: 100000\r\nX-Long: " + b"a" * 10_000:
        handler.wfile.write(bytes([byte]))
        if handler.server.over.wait(0.05):
            return


def drip_body(handler: Handler, _: Request) -> None:
    """Send the headers at once, then one byte at a time with pauses."""
    handler.send_response(200)
    handler.send_header("Content-Length", "100000")
    handler.end_headers()
    while not handler.server.over.wait(0.05):
        handler.wfile.write(b" ")


def reset(handler: Handler, _: Request) -> None:
    """Reset the connection."""
    handler.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    handler.close_connection = True
    handler.connection.close()


def endless(handler: Handler, _: Request) -> None:
    """Send an endless body as fast as possible."""
    handler.send_response(200)
    handler.send_header("Transfer-Encoding", "chunked")
    handler.end_headers()
    piece = b"10000\r\n" + b" " * 0x10000 + b"\r\n"
    while not handler.server.over.is_set():
        handler.wfile.write(piece)


def slowly(seconds: float, behaviour: Behaviour) -> Behaviour:
    """Return a behaviour that waits before it runs another."""

    def behave(handler: Handler, request: Request) -> None:
        time.sleep(seconds)
        behaviour(handler, request)

    return behave
