"""Models behind an endpoint with OpenAI's API: OpenAI's own, or one of the many compatible ones.

`SPANWISE_EMBEDDING_URL` and `SPANWISE_EMBEDDING_KEY` set its address and key; without them, `OPENAI_BASE_URL` and
`OPENAI_API_KEY`. The key goes into one header and nowhere else.
"""

from __future__ import annotations

import http.client
import json
import math
import os
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final

from spanwise.embedding.vectors import Encoding, batches, embedded
from spanwise.errors import EndpointError, OptionError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

KIND: Final = "openai"

_OPENAI: Final = "https://api.openai.com/v1"
_DIMENSIONS: Final = {"text-embedding-3-small": 1536, "text-embedding-3-large": 3072, "text-embedding-ada-002": 1536}
"""The dimensions of OpenAI's own models; for any other, the endpoint is asked."""

_LONGEST: Final = 20_000  # characters of one text
_TEXTS, _CHARACTERS = 64, 200_000  # of one request
_TRIES: Final = 4
_PASSING: Final = frozenset({408, 409, 425, 429, 500, 502, 503, 504})  # status codes worth another try
_LONGEST_PAUSE: Final = 30.0
_LARGEST_ANSWER: Final = 64_000_000


class _PassingError(Exception):
    """A failure worth another try, after the pause that the endpoint asks for."""

    def __init__(self, reason: str, pause: float = 0.0) -> None:
        super().__init__(reason)
        self.pause = pause


class EndpointEmbedder(Encoding):
    """A model behind an endpoint."""

    def __init__(
        self,
        model: str,
        url: str | None = None,
        key: str | None = None,
        *,
        timeout: float = 30.0,
        wait: Callable[[float], None] = time.sleep,
    ) -> None:
        """Take the address and the key from the environment if they aren't given."""
        chosen = url or os.environ.get("SPANWISE_EMBEDDING_URL") or os.environ.get("OPENAI_BASE_URL") or _OPENAI
        self._url = chosen.rstrip("/") + "/embeddings"
        if not self._url.startswith(("https://", "http://")):
            raise OptionError("SPANWISE_EMBEDDING_URL", "must begin with https:// or http://", value=chosen)
        self._key = key or os.environ.get("SPANWISE_EMBEDDING_KEY") or os.environ.get("OPENAI_API_KEY")
        if not self._key and chosen == _OPENAI:
            hint = "set OPENAI_API_KEY, or SPANWISE_EMBEDDING_URL for an endpoint of your own"
            raise OptionError("OPENAI_API_KEY", f"must be set for the embedder {KIND}:{model}", hint=hint)
        self._model, self._timeout, self._wait = model, timeout, wait
        self.name = f"{KIND}:{model}"

    @cached_property
    def dimension(self) -> int:
        """The known dimension of the model, else that of the vector of one word."""
        if self._url.startswith(_OPENAI) and self._model in _DIMENSIONS:
            return _DIMENSIONS[self._model]
        return len(self._answer(["dimension"])[0])

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return a row for each text, of zeros for a blank one."""

        def encode(kept: list[str]) -> list[list[float]]:
            return [row for batch in batches(kept, _TEXTS, _CHARACTERS) for row in self._rows(batch)]

        return embedded(texts, self.dimension, _LONGEST, encode)

    def embed_query(self, text: str) -> NDArray[np.float32]:
        """Return the vector of a query; such endpoints don't distinguish queries from documents."""
        row: NDArray[np.float32] = self.embed([text])[0]
        return row

    def _rows(self, texts: Sequence[str]) -> list[list[float]]:
        rows = self._answer(texts)
        for row in rows:
            if len(row) != self.dimension:
                raise self._error(f"gave a vector of {len(row)} numbers where {self.dimension} are due")
        return rows

    def _answer(self, texts: Sequence[str]) -> list[list[float]]:
        """Request the vectors, with increasing pauses between tries; a permanent error is raised at once."""
        for number in range(_TRIES):
            try:
                return _vectors(self._sent(texts), len(texts))
            except _PassingError as error:
                if number == _TRIES - 1:
                    raise self._error(f"{error}, {_TRIES} times") from error
                self._wait(min(max(0.5 * 2**number, error.pause), _LONGEST_PAUSE))
        raise AssertionError("the last try returns or raises")

    def _sent(self, texts: Sequence[str]) -> bytes:
        headers = {"Content-Type": "application/json", "Accept": "application/json"}
        if self._key:
            headers["Authorization"] = f"Bearer {self._key}"
        body = json.dumps({"model": self._model, "input": list(texts)}).encode()
        request = urllib.request.Request(self._url, body, headers, method="POST")
        try:
            with _opener().open(request, timeout=self._timeout) as answer:
                return bytes(answer.read(_LARGEST_ANSWER))
        except urllib.error.HTTPError as error:
            with error:
                raise self._refused(error) from None
        except TimeoutError:
            raise _PassingError(f"didn't answer within {self._timeout:g} seconds") from None
        except (urllib.error.URLError, http.client.HTTPException, OSError) as error:
            reason = getattr(error, "reason", None) or error
            raise _PassingError(f"can't be reached ({type(reason).__name__}: {reason})") from None

    def _refused(self, error: urllib.error.HTTPError) -> Exception:
        if error.code in _PASSING:
            return _PassingError(f"answered {error.code} ({error.reason})", _seconds(error.headers.get("Retry-After")))
        message = " ".join(error.read(2_000).decode("utf-8", "replace").split())
        if self._key:
            message = message.replace(self._key, "…")
        hint = "is the key right?" if error.code in (401, 403) else None
        return self._error(f"answered {error.code} ({error.reason}): {message[:300]}", hint)

    def _error(self, rule: str, hint: str | None = None) -> EndpointError:
        return EndpointError(self._url, f"{rule} when {self.name} was asked", hint=hint)


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    """A handler that follows no redirect, so that the key isn't sent to another host."""

    def redirect_request(self, *_: Any) -> None:
        """Return None: the answer then counts as an error."""


def _opener() -> urllib.request.OpenerDirector:
    return urllib.request.build_opener(_NoRedirects)


def _vectors(answer: bytes, count: int) -> list[list[float]]:
    """Return the vectors of an answer, in the order of the texts; a broken answer is worth another try."""
    try:
        rows = json.loads(answer)["data"]
        by_index = {int(row.get("index", number)): row["embedding"] for number, row in enumerate(rows)}
        vectors = [[float(value) for value in by_index[number]] for number in range(count)]
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        raise _PassingError("gave an answer that can't be read as one vector for each text") from error
    if len(rows) != count or not all(math.isfinite(number) for row in vectors for number in row) or not all(vectors):
        raise _PassingError("gave an answer that can't be read as one vector for each text")
    return vectors


def _seconds(retry_after: str | None) -> float:
    try:
        return max(0.0, float(retry_after or 0))
    except ValueError:  # a date
        return 0.0
