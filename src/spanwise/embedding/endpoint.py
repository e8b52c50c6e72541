"""Models behind an endpoint with OpenAI's API: OpenAI's own, or one of the many compatible ones.

`SPANWISE_EMBEDDING_URL` and `SPANWISE_EMBEDDING_KEY` set its address and key; without them, `OPENAI_BASE_URL` and
`OPENAI_API_KEY`. The key goes into one header and nowhere else.
"""

from __future__ import annotations

import math
import os
import time
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final

from spanwise.embedding.vectors import Encoding, batches, embedded
from spanwise.errors import OptionError
from spanwise.http_client import JsonEndpoint, PassingError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

KIND: Final = "openai"

_OPENAI: Final = "https://api.openai.com/v1"
_DIMENSIONS: Final = {"text-embedding-3-small": 1536, "text-embedding-3-large": 3072, "text-embedding-ada-002": 1536}
"""The dimensions of OpenAI's own models; for any other, the endpoint is asked."""

_LONGEST: Final = 20_000  # characters of one text
_TEXTS, _CHARACTERS = 64, 200_000  # of one request
_LARGEST_ANSWER: Final = 64_000_000


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
        address = chosen.rstrip("/") + "/embeddings"
        if not address.startswith(("https://", "http://")):
            raise OptionError("SPANWISE_EMBEDDING_URL", "must begin with https:// or http://", value=chosen)
        key = key or os.environ.get("SPANWISE_EMBEDDING_KEY") or os.environ.get("OPENAI_API_KEY")
        if not key and chosen == _OPENAI:
            hint = "set OPENAI_API_KEY, or SPANWISE_EMBEDDING_URL for an endpoint of your own"
            raise OptionError("OPENAI_API_KEY", f"must be set for the embedder {KIND}:{model}", hint=hint)
        self._model = model
        self.name = f"{KIND}:{model}"
        self._endpoint = JsonEndpoint(address, self.name, key, timeout, _LARGEST_ANSWER, wait=wait)

    @cached_property
    def dimension(self) -> int:
        """The known dimension of the model, else that of the vector of one word."""
        if self._endpoint.url.startswith(_OPENAI) and self._model in _DIMENSIONS:
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
                raise self._endpoint.error(f"gave a vector of {len(row)} numbers where {self.dimension} are due")
        return rows

    def _answer(self, texts: Sequence[str]) -> list[list[float]]:
        body = {"model": self._model, "input": list(texts)}
        return self._endpoint.ask(body, lambda answer: _vectors(answer, len(texts)))


def _vectors(answer: Any, count: int) -> list[list[float]]:
    """Return the vectors of an answer, in the order of the texts; a broken answer is worth another try."""
    try:
        rows = answer["data"]
        by_index = {int(row.get("index", number)): row["embedding"] for number, row in enumerate(rows)}
        vectors = [[float(value) for value in by_index[number]] for number in range(count)]
    except (ValueError, TypeError, KeyError, AttributeError, OverflowError) as error:
        raise PassingError("gave an answer that can't be read as one vector for each text") from error
    if len(rows) != count or not all(math.isfinite(number) for row in vectors for number in row) or not all(vectors):
        raise PassingError("gave an answer that can't be read as one vector for each text")
    return vectors
