"""An endpoint with OpenAI's API: a question in, an answer or a failure out. Its error texts are never repeated.

Not every endpoint knows every parameter. A parameter that one refuses is left out from then on.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from email.utils import parsedate_to_datetime
from typing import Any, Final, NamedTuple
from urllib.parse import urlsplit

from spanwise.chunking.proposers.circuit_breaker import Trouble
from spanwise.chunking.proposers.prompt import SCHEMA, Messages
from spanwise.chunking.strategies.smart import SmartOptions

_MOST_TOKENS: Final = 100_000_000  # a larger number is no token count
_CONNECTING: Final = 10.0  # seconds
MOST_SHAPES: Final = 4
"""How many request shapes are tried, each simpler than the one before."""
_REFUSED: Final = frozenset({400, 422})
_TROUBLES: Final = {
    **dict.fromkeys((401, 403, 404, 405), Trouble.USELESS), **dict.fromkeys((408, 409, 425), Trouble.FAULT),
    429: Trouble.BUSY,
}  # fmt: skip
_NOT_SENT: Final = frozenset({"no connection", "no connection in time"})
_LOOPBACK: Final = frozenset({"localhost", "127.0.0.1", "::1"})


class Answer(NamedTuple):
    """The text of an answer, and the tokens that the endpoint counted; None if it reported none."""

    text: str
    input_tokens: int | None
    output_tokens: int | None


class Failure(Exception):  # noqa: N818 - it is an outcome, and never leaves this package
    """A call without an answer: the reason, the kind of trouble, and the seconds that the endpoint asks to wait.

    `billed` is whether it may have to be paid for, because there was an answer, or may have been.
    """

    def __init__(
        self, reason: str, trouble: Trouble = Trouble.FAULT, wait: float = 0.0, *, billed: bool = False
    ) -> None:
        """Store the parts."""
        super().__init__(reason)
        self.reason, self.trouble, self.wait, self.billed = reason, trouble, wait, billed


class Shape(NamedTuple):
    """The parameters of a request."""

    format: str = "json_schema"
    limit: str = "max_completion_tokens"
    temperature: bool = True

    def without(self, complaint: str) -> Shape | None:
        """Return a shape without the refused parameter, else without the least common one; None if none is left."""
        if self.temperature and "temperature" in complaint:
            return self._replace(temperature=False)
        if self.limit == "max_completion_tokens" and "max_completion_tokens" in complaint:
            return self._replace(limit="max_tokens")
        if self.format == "json_schema":
            return self._replace(format="json_object")
        if self.format == "json_object":
            return Shape("text", "max_tokens", temperature=False)
        return None


class Endpoint:
    """An endpoint and its connections; used by one event loop."""

    def __init__(self, settings: SmartOptions, schema: Mapping[str, Any] = SCHEMA) -> None:
        """Load the client library, which is slow; no connection is opened yet. Answers are to be of the schema."""
        import openai

        from spanwise.chunking.proposers.body_limit import PLAIN, limit_body

        self._settings, self._schema = settings, schema
        self._shape = Shape()
        self._proven = False  # whether it has answered a request of this shape
        own = urlsplit(settings.endpoint or "").hostname in _LOOPBACK  # the local machine needs no proxy
        http = openai.DefaultAsyncHttpxClient(
            timeout=openai.Timeout(settings.timeout, connect=min(_CONNECTING, settings.timeout)),
            follow_redirects=False,  # the text must go to the given endpoint only
            trust_env=not own,
            headers=PLAIN,
            event_hooks={"response": [limit_body]},
        )
        key = settings.api_key or "none"
        self._client = openai.AsyncOpenAI(base_url=settings.endpoint, api_key=key, max_retries=0, http_client=http)

    async def ask(self, messages: Messages) -> Answer:
        """Return the answer of one call; raise Failure if there is none."""
        import httpx2
        import openai

        shape = self._shape
        try:
            body = await self._body(messages, shape)
            self._proven = self._proven or shape == self._shape
            return _answer(body)
        except openai.APIStatusError as error:
            if error.status_code in _REFUSED:
                self._simplify(shape, _complaint(error))
            raise _failure(error) from None
        except (openai.APITimeoutError, httpx2.TimeoutException):
            raise Failure("no answer in time", Trouble.TIME, billed=True) from None
        except (openai.OpenAIError, httpx2.HTTPError, httpx2.StreamError, httpx2.InvalidURL, OSError) as error:
            reason = _connection(error)
            raise Failure(reason, billed=reason not in _NOT_SENT) from None

    async def _body(self, messages: Messages, shape: Shape) -> bytes:
        """Send a question and return the body of the response, up to a limit."""
        from spanwise.chunking.proposers.body_limit import LARGEST

        create: Any = self._client.chat.completions.with_streaming_response.create
        async with create(**self._request(messages, shape)) as response:
            body = bytearray()
            async for part in response.iter_bytes():
                body += part
                if len(body) > LARGEST:
                    raise Failure("an answer without end", billed=True)
            return bytes(body)

    def _request(self, messages: Messages, shape: Shape) -> dict[str, Any]:
        request: dict[str, Any] = {
            "model": self._settings.model,
            "messages": [{"role": role, "content": content} for role, content in messages],
            shape.limit: self._settings.answer_tokens,
        }
        if shape.format != "text":
            schema = {"json_schema": self._schema} if shape.format == "json_schema" else {}
            request["response_format"] = {"type": shape.format, **schema}
        return request | ({"temperature": 0} if shape.temperature else {})

    def _simplify(self, refused: Shape, complaint: str) -> None:
        """Use a simpler shape from now on, unless another call has done so already, or the shape isn't the cause."""
        simpler = refused.without(complaint)
        if self._shape == refused and not self._proven and simpler is not None:
            self._shape = simpler
        if self._shape != refused:
            raise Failure("the endpoint refused the question", Trouble.SHAPE)

    async def close(self) -> None:
        """Close the connections."""
        await self._client.close()


def _answer(body: bytes) -> Answer:
    """Return the answer in the body of a response; everything else in it is ignored."""
    import orjson

    try:
        parsed: Any = orjson.loads(body)
        text = parsed["choices"][0]["message"]["content"]
    except (ValueError, KeyError, IndexError, TypeError):
        raise Failure("an answer that is not of the API's shape", billed=True) from None
    if text is None:
        text = ""  # all of its tokens went into reasoning, or it refused
    if not isinstance(text, str):
        raise Failure("an answer that is not of the API's shape", billed=True)
    usage = parsed.get("usage")
    counts = usage if isinstance(usage, dict) else {}
    return Answer(text, _tokens(counts.get("prompt_tokens")), _tokens(counts.get("completion_tokens")))


def _tokens(count: object) -> int | None:
    return count if type(count) is int and 0 <= count <= _MOST_TOKENS else None


def _failure(error: Any) -> Failure:
    """Return the failure for a status; the body is not repeated, because it may quote the key."""
    status = int(error.status_code)
    trouble = Trouble.FAULT if status >= 500 else _TROUBLES.get(status, Trouble.REFUSED)
    return Failure(f"HTTP {status}", trouble, _retry_after(error.response.headers))


def _retry_after(headers: Any) -> float:
    """Return the seconds until the next try, from a number or a date."""
    value = headers.get("retry-after", "")
    with suppress(ValueError):
        seconds = float(value)
        return seconds if 0 <= seconds < float("inf") else 0.0
    with suppress(ValueError, TypeError, OverflowError):
        from datetime import UTC, datetime

        date = parsedate_to_datetime(value)
        return max(0.0, (date.replace(tzinfo=date.tzinfo or UTC) - datetime.now(UTC)).total_seconds())
    return 0.0


def _complaint(error: Any) -> str:
    with suppress(UnicodeDecodeError):
        return str(error.response.content[:4000].decode("utf-8", "replace")).lower()
    return ""


def _connection(error: Exception) -> str:
    """Return the reason of a connection error by its type alone."""
    cause = error.__cause__ or error
    return {
        "ConnectError": "no connection", "ReadError": "the connection broke", "WriteError": "the connection broke",
        "RemoteProtocolError": "the connection broke", "ConnectTimeout": "no connection in time",
    }.get(type(cause).__name__, "the call failed")  # fmt: skip
