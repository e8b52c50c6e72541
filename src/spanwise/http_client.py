"""JSON over HTTP: a request that is tried again, within limits of time and size, and with a key that is never shown.

Embedders and rerankers use it. What it asks may trickle one byte at a time, or send without an end: neither the time
nor the memory of a try depends on that.
"""

from __future__ import annotations

import http.client
import io
import json
import socket
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Final, TypeVar

from spanwise.errors import EndpointError

_AGENT: Final = "spanwise"  # some services turn away clients with the name that urllib has
_PASSING: Final = frozenset({408, 409, 425, 429, 500, 502, 503, 504})  # status codes worth another try
_LONGEST_PAUSE: Final = 30.0
_MOST_OF_A_REFUSAL: Final = 2_000  # bytes of it that are read
T = TypeVar("T")


class PassingError(Exception):
    """A failure worth another try, after the pause that the endpoint asks for."""

    def __init__(self, reason: str, pause: float = 0.0) -> None:
        super().__init__(reason)
        self.pause = pause


@dataclass(frozen=True)
class JsonEndpoint:
    """An address that answers JSON with JSON."""

    url: str
    who: str
    """What is asked, for messages."""
    key: str | None = field(default=None, repr=False)
    timeout: float = 30.0
    """Seconds of one try, from the connection to the last byte of the answer."""
    largest: int = 1 << 20
    """Bytes of an answer; a larger one is an error."""
    tries: int = 4
    wait: Callable[[float], None] = field(default=time.sleep, repr=False)

    def ask(self, body: Mapping[str, Any], read: Callable[[Any], T], within: float | None = None) -> T:
        """Return what `read` makes of the answer; it raises PassingError for a broken one.

        A passing failure is tried again after a growing pause, all `within` so many seconds. Raise EndpointError for a
        permanent one, or the last.
        """
        end = None if within is None else time.monotonic() + within
        for number in range(1, self.tries + 1):
            try:
                return read(_parsed(self._sent(body, end)))
            except PassingError as error:
                pause = min(max(0.25 * 2**number, error.pause), _LONGEST_PAUSE)
                if number == self.tries or (end is not None and time.monotonic() + pause >= end):
                    raise self.error(f"{error}, {number} times" if number > 1 else str(error)) from error
                self.wait(pause)
        raise AssertionError("the last try returns or raises")

    def error(self, rule: str, hint: str | None = None) -> EndpointError:
        """Return an error that names the address and what was asked."""
        return EndpointError(self.url, f"{rule} when {self.who} was asked", hint=hint)

    def _sent(self, body: Mapping[str, Any], end: float | None) -> bytes:
        headers = {"Content-Type": "application/json", "Accept": "application/json", "User-Agent": _AGENT}
        if self.key:
            headers["Authorization"] = f"Bearer {self.key}"
        request = urllib.request.Request(self.url, json.dumps(body).encode(), headers, method="POST")
        now = time.monotonic()
        deadline = now + self.timeout if end is None else min(now + self.timeout, end)
        try:
            with _opener(deadline).open(request, timeout=max(deadline - now, 0.001)) as answer:
                content = bytes(answer.read(self.largest + 1))
        except urllib.error.HTTPError as error:
            with error:
                raise self._refused(error) from None
        except TimeoutError:
            raise self._too_late(deadline - now) from None
        except (urllib.error.URLError, http.client.HTTPException, OSError) as error:
            reason = getattr(error, "reason", None) or error
            if isinstance(reason, TimeoutError):
                raise self._too_late(deadline - now) from None
            raise PassingError(self._hidden(f"can't be reached ({type(reason).__name__}: {reason})")) from None
        if len(content) > self.largest:
            raise self.error(f"sent an answer of more than {self.largest} bytes")
        return content

    def _too_late(self, seconds: float) -> PassingError:
        return PassingError(f"didn't answer within {round(seconds, 2):g} seconds")

    def _refused(self, error: urllib.error.HTTPError) -> Exception:
        status = self._hidden(f"answered {error.code} ({error.reason})")
        if error.code in _PASSING:
            return PassingError(status, _seconds(error.headers.get("Retry-After")))
        try:
            content = error.read(_MOST_OF_A_REFUSAL)
        except (OSError, http.client.HTTPException):  # the status says enough
            content = b""
        message = self._hidden(" ".join(content.decode("utf-8", "replace").split()))
        hint = "is the key right?" if error.code in (401, 403) else None
        return self.error(f"{status}: {message[:300]}" if message else status, hint)

    def _hidden(self, text: str) -> str:
        return text.replace(self.key, "…") if self.key else text


class _TimedReader(io.RawIOBase):
    """The bytes of a connection until a deadline, however many or few come at once."""

    def __init__(self, connection: socket.socket, deadline: float) -> None:
        self._connection, self._deadline = connection, deadline
        self._bytes = connection.makefile("rb", buffering=0)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int | None:
        left = self._deadline - time.monotonic()
        if left <= 0:
            raise TimeoutError("timed out")
        self._connection.settimeout(left)
        return self._bytes.readinto(buffer)

    def close(self) -> None:
        self._bytes.close()
        super().close()


class _TimedResponse(http.client.HTTPResponse):
    """A response that is read until a deadline."""

    def __init__(self, sock: socket.socket, *given: Any, deadline: float, **named: Any) -> None:
        super().__init__(sock, *given, **named)
        self.fp.close()
        self.fp = io.BufferedReader(_TimedReader(sock, deadline))


class _Connection(http.client.HTTPConnection):
    def __init__(self, *given: Any, deadline: float, **named: Any) -> None:
        super().__init__(*given, **named)
        self.response_class = partial(_TimedResponse, deadline=deadline)  # type: ignore[assignment]


class _SecureConnection(http.client.HTTPSConnection):
    def __init__(self, *given: Any, deadline: float, **named: Any) -> None:
        super().__init__(*given, **named)
        self.response_class = partial(_TimedResponse, deadline=deadline)  # type: ignore[assignment]


class _Http(urllib.request.HTTPHandler):
    def __init__(self, deadline: float) -> None:
        super().__init__()
        self._deadline = deadline

    def http_open(self, req: urllib.request.Request) -> http.client.HTTPResponse:
        return self.do_open(_Connection, req, deadline=self._deadline)  # type: ignore[arg-type]


class _Https(urllib.request.HTTPSHandler):
    def __init__(self, deadline: float) -> None:
        super().__init__()
        self._deadline = deadline

    def https_open(self, req: urllib.request.Request) -> http.client.HTTPResponse:
        return self.do_open(_SecureConnection, req, deadline=self._deadline)  # type: ignore[arg-type]


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    """A handler that follows no redirect, so that the key isn't sent to another host."""

    def redirect_request(self, *_: Any) -> None:
        """Return None: the answer then counts as an error."""


def _opener(deadline: float) -> urllib.request.OpenerDirector:
    return urllib.request.build_opener(_NoRedirects, _Http(deadline), _Https(deadline))


def _parsed(content: bytes) -> Any:
    try:
        return json.loads(content)
    except (ValueError, RecursionError) as error:
        raise PassingError("gave an answer that is no JSON") from error


def _seconds(retry_after: str | None) -> float:
    try:
        return max(0.0, float(retry_after or 0))
    except ValueError:  # a date
        return 0.0
