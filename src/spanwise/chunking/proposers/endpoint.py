"""One endpoint that speaks OpenAI's API: a question in, an answer or a failure out. What it says is never repeated.

Not every endpoint knows every parameter. What one refuses is left out from then on.
"""

from __future__ import annotations

from contextlib import suppress
from email.utils import parsedate_to_datetime
from typing import Any, Final, NamedTuple
from urllib.parse import urlsplit

from spanwise.chunking.proposers.circuit_breaker import Trouble
from spanwise.chunking.proposers.prompt import SCHEMA, Messages
from spanwise.chunking.strategies.smart import SmartOptions

_MOST_TOKENS: Final = 100_000_000  # more than this is no count of tokens
_CONNECTING: Final = 10.0  # seconds
MOST_SHAPES: Final = 4
"""How often a question may be put more simply."""
_REFUSED: Final = frozenset({400, 422})
_TROUBLES: Final = {
    **dict.fromkeys((401, 403, 404, 405), Trouble.USELESS), **dict.fromkeys((408, 409, 425), Trouble.FAULT),
    429: Trouble.BUSY,
}  # fmt: skip
_UNHEARD: Final = frozenset({"no connection", "no connection in time"})
_LOOPBACK: Final = frozenset({"localhost", "127.0.0.1", "::1"})


class Answer(NamedTuple):
    """What a model said, and how many tokens the endpoint counted; None where it didn't say."""

    words: str
    input_tokens: int | None
    output_tokens: int | None


class Failure(Exception):  # noqa: N818 - it is an outcome, and never leaves this package
    """A call without an answer: why, what kind of trouble that is, and for how many seconds the endpoint asks.

    `billed` is whether it may have to be paid for, because there was an answer, or may have been.
    """

    def __init__(
        self, reason: str, trouble: Trouble = Trouble.FAULT, wait: float = 0.0, *, billed: bool = False
    ) -> None:
        """Keep the parts."""
        super().__init__(reason)
        self.reason, self.trouble, self.wait, self.billed = reason, trouble, wait, billed


class Shape(NamedTuple):
    """Which parameters an endpoint is sent."""

    format: str = "json_schema"
    limit: str = "max_completion_tokens"
    temperature: bool = True

    def without(self, complaint: str) -> Shape | None:
        """Leave out what an endpoint complains of, else what it is likeliest not to know; None when nothing is left."""
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
    """An endpoint and the connections to it; used by one event loop."""

    def __init__(self, terms: SmartOptions) -> None:
        """Load what calls are made with, which takes its time; connect to nothing yet."""
        import openai

        from spanwise.chunking.proposers.body_limit import PLAIN, bound

        self._terms = terms
        self._shape = Shape()
        self._proven = False  # whether it has answered a question of this shape
        own = urlsplit(terms.endpoint or "").hostname in _LOOPBACK  # a machine reaches itself without a proxy
        http = openai.DefaultAsyncHttpxClient(
            timeout=openai.Timeout(terms.timeout, connect=min(_CONNECTING, terms.timeout)),
            follow_redirects=False,  # the text goes to whom it was meant for, and to nobody else
            trust_env=not own,
            headers=PLAIN,
            event_hooks={"response": [bound]},
        )
        key = terms.api_key or "none"
        self._client = openai.AsyncOpenAI(base_url=terms.endpoint, api_key=key, max_retries=0, http_client=http)

    async def ask(self, messages: Messages) -> Answer:
        """Ask once."""
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
            raise Failure(reason, billed=reason not in _UNHEARD) from None

    async def _body(self, messages: Messages, shape: Shape) -> bytes:
        """Send a question and read what comes, but not without end."""
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
            "model": self._terms.model,
            "messages": [{"role": role, "content": content} for role, content in messages],
            shape.limit: self._terms.answer_tokens,
        }
        if shape.format != "text":
            schema = {"json_schema": SCHEMA} if shape.format == "json_schema" else {}
            request["response_format"] = {"type": shape.format, **schema}
        return request | ({"temperature": 0} if shape.temperature else {})

    def _simplify(self, refused: Shape, complaint: str) -> None:
        """Send less from now on, unless another call has found that out already, or the shape isn't to blame."""
        simpler = refused.without(complaint)
        if self._shape == refused and not self._proven and simpler is not None:
            self._shape = simpler
        if self._shape != refused:
            raise Failure("the endpoint refused the question", Trouble.SHAPE)

    async def close(self) -> None:
        """Let go of the connections."""
        await self._client.close()


def _answer(body: bytes) -> Answer:
    """Find the words in the body of an answer; whatever else it holds is ignored."""
    import orjson

    try:
        said: Any = orjson.loads(body)
        words = said["choices"][0]["message"]["content"]
    except (ValueError, KeyError, IndexError, TypeError):
        raise Failure("an answer that is not of the API's shape", billed=True) from None
    if words is None:
        words = ""  # all of its tokens went into reasoning, or it refused
    if not isinstance(words, str):
        raise Failure("an answer that is not of the API's shape", billed=True)
    usage = said.get("usage")
    counts = usage if isinstance(usage, dict) else {}
    return Answer(words, _tokens(counts.get("prompt_tokens")), _tokens(counts.get("completion_tokens")))


def _tokens(count: object) -> int | None:
    return count if type(count) is int and 0 <= count <= _MOST_TOKENS else None


def _failure(error: Any) -> Failure:
    """Say what a status means; the body is not repeated, because it may quote the key."""
    status = int(error.status_code)
    trouble = Trouble.FAULT if status >= 500 else _TROUBLES.get(status, Trouble.REFUSED)
    return Failure(f"HTTP {status}", trouble, _retry_after(error.response.headers))


def _retry_after(headers: Any) -> float:
    """Read after how many seconds to try again: a number, or a date."""
    said = headers.get("retry-after", "")
    with suppress(ValueError):
        seconds = float(said)
        return seconds if 0 <= seconds < float("inf") else 0.0
    with suppress(ValueError, TypeError, OverflowError):
        from datetime import UTC, datetime

        date = parsedate_to_datetime(said)
        return max(0.0, (date.replace(tzinfo=date.tzinfo or UTC) - datetime.now(UTC)).total_seconds())
    return 0.0


def _complaint(error: Any) -> str:
    with suppress(UnicodeDecodeError):
        return str(error.response.content[:4000].decode("utf-8", "replace")).lower()
    return ""


def _connection(error: Exception) -> str:
    """Name what is wrong with a connection by its kind alone."""
    cause = error.__cause__ or error
    return {
        "ConnectError": "no connection", "ReadError": "the connection broke", "WriteError": "the connection broke",
        "RemoteProtocolError": "the connection broke", "ConnectTimeout": "no connection in time",
    }.get(type(cause).__name__, "the call failed")  # fmt: skip
