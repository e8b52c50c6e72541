"""JSON over HTTP: limits of time and size that no server can exceed, also with TLS, and a key that is never shown."""

from __future__ import annotations

import json
import ssl
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest

from fake_endpoint import Handler, Request, drip, drip_body, endless, hang, in_turn, raw, serving, status
from spanwise.embedding.endpoint import EndpointEmbedder
from spanwise.errors import EndpointError
from spanwise.http_client import JsonEndpoint, PassingError

KEY = "sk-very-secret"
pytestmark = pytest.mark.server


def as_it_is(answer: Any) -> Any:
    return answer


def echo(handler: Handler, request: Request) -> None:
    handler.send(200, json.dumps(request).encode())


def test_an_answer_is_read() -> None:
    with serving(echo) as server:
        endpoint = JsonEndpoint(server.url, "echo", KEY)
        assert endpoint.ask({"a": "ż"}, as_it_is) == {"a": "ż"}
    assert server.headers[0]["authorization"] == f"Bearer {KEY}"
    assert KEY not in repr(endpoint)


@pytest.mark.parametrize("behaviour", [drip, drip_body, hang])
def test_a_try_ends_in_time(behaviour: Any) -> None:
    with serving(behaviour) as server:
        start = time.monotonic()
        with pytest.raises(EndpointError, match=r"didn't answer within 0\.4 seconds, 2 times"):
            JsonEndpoint(server.url, "x", timeout=0.4, tries=2, wait=lambda seconds: None).ask({}, as_it_is)
        assert 0.8 <= time.monotonic() - start < 2.5
        assert server.calls == 2


@pytest.mark.slow
def test_a_server_that_stalls_late_ends_in_time() -> None:
    def stall(handler: Handler, _: Request) -> None:
        time.sleep(1.5)
        handler.send_response(200)
        handler.send_header("Content-Length", "9")
        handler.end_headers()
        handler.server.over.wait(60)

    with serving(stall) as server:
        start = time.monotonic()
        with pytest.raises(EndpointError, match="didn't answer within 2 seconds"):
            JsonEndpoint(server.url, "x", timeout=2.0, tries=1).ask({}, as_it_is)
        assert time.monotonic() - start < 3.2


def test_all_tries_end_in_time() -> None:
    with serving(hang) as server:
        start = time.monotonic()
        with pytest.raises(EndpointError, match="didn't answer within"):
            JsonEndpoint(server.url, "x", timeout=0.4, tries=50).ask({}, as_it_is, 1.5)
        assert time.monotonic() - start < 3


def test_an_answer_has_a_largest_size() -> None:
    with serving(raw(b'"' + b"a" * 98 + b'"')) as server:
        assert len(JsonEndpoint(server.url, "x", largest=100).ask({}, as_it_is)) == 98
        with pytest.raises(EndpointError, match="more than 99 bytes"):
            JsonEndpoint(server.url, "x", largest=99).ask({}, as_it_is)
    with serving(endless) as server, pytest.raises(EndpointError, match="more than 1000000 bytes"):
        JsonEndpoint(server.url, "x", largest=1_000_000).ask({}, as_it_is)


def test_a_refusal_that_does_not_end() -> None:
    def refuse(handler: Handler, _: Request) -> None:
        handler.send_response(400)
        handler.send_header("Content-Length", "100000")
        handler.end_headers()
        handler.wfile.write(b"no ")
        while not handler.server.over.wait(0.05):
            handler.wfile.write(b".")

    with serving(refuse) as server:
        start = time.monotonic()
        with pytest.raises(EndpointError, match="answered 400"):
            JsonEndpoint(server.url, "x", timeout=0.5).ask({}, as_it_is)
        assert time.monotonic() - start < 2


def test_the_key_is_in_no_message() -> None:
    for code in (400, 401, 503):
        with serving(status(code, f"key {KEY} is wrong".encode())) as server:
            with pytest.raises(EndpointError) as caught:
                JsonEndpoint(server.url, "x", KEY, wait=lambda seconds: None).ask({}, as_it_is)
            assert KEY not in str(caught.value) + repr(vars(caught.value)) + repr(caught.value.__cause__)


def test_a_pause_that_would_take_too_long_is_not_waited_for() -> None:
    pauses: list[float] = []
    with serving(in_turn(status(429, Retry_After="20"), echo)) as server:
        with pytest.raises(EndpointError, match=r"answered 429 \(Too Many Requests\) when x was asked"):
            JsonEndpoint(server.url, "x", wait=pauses.append).ask({}, as_it_is, 5.0)
        assert pauses == []
        assert JsonEndpoint(server.url, "x", wait=pauses.append).ask({}, as_it_is, 60.0) == {}


def test_what_can_not_be_read_is_asked_for_again() -> None:
    def strict(answer: Any) -> str:
        if "good" not in answer:
            raise PassingError("gave nothing good")
        return str(answer["good"])

    with serving(in_turn(raw(b"{}"), raw(b"oh"), raw(b'{"good": 1}'))) as server:
        assert JsonEndpoint(server.url, "x", wait=lambda seconds: None).ask({}, strict) == "1"
        assert server.calls == 3


def test_an_embedder_is_not_held_up_by_a_trickle(monkeypatch: pytest.MonkeyPatch) -> None:
    with serving(drip_body) as server:
        monkeypatch.setenv("SPANWISE_EMBEDDING_URL", server.url)
        start = time.monotonic()
        with pytest.raises(EndpointError, match="didn't answer within"):
            EndpointEmbedder("mine", timeout=0.3, wait=lambda seconds: None).embed(["x"])
        assert time.monotonic() - start < 4


@pytest.mark.process
def test_the_same_holds_with_tls(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pair = ["-keyout", str(tmp_path / "key.pem"), "-out", str(tmp_path / "certificate.pem")]
    name = ["-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost"]
    command = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", *pair, *name]
    subprocess.run(command, check=True, capture_output=True)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(tmp_path / "certificate.pem", tmp_path / "key.pem")
    with serving(in_turn(echo, drip_body)) as server:
        server.socket = context.wrap_socket(server.socket, server_side=True)
        url = f"https://localhost:{server.server_address[1]}/"
        with pytest.raises(EndpointError, match="CERTIFICATE_VERIFY_FAILED"):
            JsonEndpoint(url, "x", tries=1).ask({}, as_it_is)
        monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "certificate.pem"))
        assert JsonEndpoint(url, "x").ask({"a": 1}, as_it_is) == {"a": 1}
        start = time.monotonic()
        with pytest.raises(EndpointError, match="didn't answer within"):
            JsonEndpoint(url, "x", timeout=0.5, tries=1).ask({}, as_it_is)
        assert time.monotonic() - start < 2
