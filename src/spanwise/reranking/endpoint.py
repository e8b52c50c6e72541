"""Rerankers behind an endpoint: the services of Cohere and Jina, and the servers that people run themselves.

`SPANWISE_RERANKER_URL` and `SPANWISE_RERANKER_KEY` set address and key of an endpoint of one's own. A service has an
address of its own, and its key under its own name. A key goes into one header, to the address that it is meant for.
"""

from __future__ import annotations

import copy
import math
import os
import time
from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

from spanwise.errors import OptionError
from spanwise.http_client import JsonEndpoint, PassingError

_LONGEST: Final = 16_000  # characters of one text; endpoints cut at the limit of the model
_LARGEST_ANSWER: Final = 8_000_000  # bytes: some servers send the texts back
_LONGEST_TRY: Final = 600.0
_TRIES: Final = 3
_DEFAULT_SECONDS: Final = 5.0


class _Service(NamedTuple):
    """What requests look like, and where they go if the environment doesn't say otherwise."""

    url: str = ""
    keys: tuple[str, ...] = ()
    texts: str = "documents"
    score: str = "relevance_score"
    extra: Mapping[str, Any] = {}
    most: int = 500
    """Texts of one request."""


_SERVICES: Final = {
    "cohere": _Service("https://api.cohere.com/v2", ("CO_API_KEY", "COHERE_API_KEY")),
    "jina": _Service("https://api.jina.ai/v1", ("JINA_API_KEY",), extra={"return_documents": False}),
    "vllm": _Service(extra={"truncate_prompt_tokens": -1}),
    "infinity": _Service(extra={"return_documents": False}),
    "tei": _Service(texts="texts", score="score", extra={"truncate": True}, most=32),
}


class EndpointReranker:
    """A model behind an endpoint."""

    def __init__(self, kind: str, model: str) -> None:
        """Take the address and the key from the environment; raise OptionError if one that is needed isn't set."""
        self.name = f"{kind}:{model}" if model else kind
        self._service, self._model, self._seconds = _SERVICES[kind], model, _DEFAULT_SECONDS
        own = os.environ.get("SPANWISE_RERANKER_URL")
        key = os.environ.get("SPANWISE_RERANKER_KEY")
        if not own:
            key = key or next(filter(None, map(os.environ.get, self._service.keys)), None)
        address = (own or self._service.url).rstrip("/")
        if not address.startswith(("https://", "http://")):
            rule = "must begin with https:// or http://" if own else f"must be set for the reranker {self.name}"
            raise OptionError("SPANWISE_RERANKER_URL", rule, hint="such as http://localhost:8080")
        if not own and not key:
            name = self._service.keys[0]
            hint = f"set {name}, or SPANWISE_RERANKER_URL for an endpoint of your own"
            raise OptionError(name, f"must be set for the reranker {self.name}", hint=hint)
        url = address if address.endswith("/rerank") else f"{address}/rerank"
        self._endpoint = JsonEndpoint(url, self.name, key, _LONGEST_TRY, _LARGEST_ANSWER, _TRIES)

    def within(self, seconds: float) -> EndpointReranker:
        """Return the same with so many seconds for a call."""
        found = copy.copy(self)
        found._seconds = seconds
        return found

    def rerank(self, question: str, texts: Sequence[str]) -> list[float]:
        """Return the score of each text; all requests together take no longer than one may."""
        most, end = self._service.most, time.monotonic() + self._seconds
        batches = [texts[at : at + most] for at in range(0, len(texts), most)]
        return [one for batch in batches for one in self._scores(question, batch, end - time.monotonic())]

    def _scores(self, question: str, texts: Sequence[str], seconds: float) -> list[float]:
        service = self._service
        body: dict[str, Any] = {"query": question, service.texts: [text[:_LONGEST] for text in texts], **service.extra}
        if self._model:
            body |= {"model": self._model, "top_n": len(texts)}
        return self._endpoint.ask(body, lambda answer: _in_order(answer, service.score, len(texts)), seconds)


def _in_order(answer: Any, name: str, count: int) -> list[float]:
    """Return the scores of an answer in the order of the texts; a broken answer is worth another try."""
    try:
        rows = answer if isinstance(answer, list) else answer["results"]
        scores = {_index(row["index"]): float(row[name]) for row in rows}
        found = [scores[number] for number in range(count)]
        if len(rows) != count or not all(map(math.isfinite, found)):
            raise ValueError
    except (ValueError, TypeError, KeyError, OverflowError) as error:
        raise PassingError("gave an answer that can't be read as one score for each text") from error
    return found


def _index(value: Any) -> int:
    if type(value) is not int:
        raise TypeError
    return value
