"""Rerankers, which read a question together with each text that was found for it, and score how well it answers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final, Protocol

from spanwise import plugins
from spanwise.errors import OptionError, did_you_mean

__all__ = ["RERANKERS", "Reranker", "check_reranker", "reranker_of"]


class Reranker(Protocol):
    """A model that scores texts by how well they answer a question."""

    @property
    def name(self) -> str:
        """Its name, for explanations and messages."""

    def rerank(self, question: str, texts: Sequence[str]) -> Sequence[float]:
        """Return a finite number for each text, in their order: the higher, the better it answers the question."""


def _at_endpoint(kind: str) -> Callable[[str], Reranker]:
    def make(model: str) -> Reranker:
        from spanwise.reranking.endpoint import EndpointReranker  # imports all of HTTP

        return EndpointReranker(kind, model)

    return make


def _transformer(model: str) -> Reranker:
    from spanwise.reranking.transformers import TransformerReranker

    return TransformerReranker(model)


def _onnx(model: str) -> Reranker:
    from spanwise.reranking.onnx_model import OnnxReranker

    return OnnxReranker(model)


RERANKERS: Final[dict[str, tuple[Callable[[str], Reranker | None], str]]] = {
    "none": (lambda model: None, ""),
    "cohere": (_at_endpoint("cohere"), "rerank-v3.5"),
    "jina": (_at_endpoint("jina"), "jina-reranker-v2-base-multilingual"),
    "vllm": (_at_endpoint("vllm"), "BAAI/bge-reranker-v2-m3"),
    "infinity": (_at_endpoint("infinity"), "BAAI/bge-reranker-v2-m3"),
    "tei": (_at_endpoint("tei"), ""),
    "sentence-transformers": (_transformer, "cross-encoder/ms-marco-MiniLM-L6-v2"),
    "onnx": (_onnx, "models/reranker"),
}
"""For each kind: the function that creates a reranker, and an example model if one must follow a colon."""

_GROUP: Final = "rerankers"


def check_reranker(name: str) -> None:
    """Raise OptionError if no reranker has this name; nothing is loaded."""
    kind, colon, model = name.partition(":")
    if kind not in RERANKERS:
        known = plugins.names(_GROUP)
        if kind not in known:
            raise OptionError("reranker", "is not known", value=name, hint=did_you_mean(kind, [*RERANKERS, *known]))
        return
    example = RERANKERS[kind][1]
    if example and not model:
        raise OptionError("reranker", "must name its model", value=name, hint=f"try {kind}:{example}")
    if colon and not example:
        raise OptionError("reranker", "has no models to choose from", value=name, hint=f"try {kind}")


def reranker_of(chosen: str | Reranker | None) -> Reranker | None:
    """Return the reranker of a name, or an object as one; None for no reranker."""
    if chosen is None:
        return None
    if not isinstance(chosen, str):
        return _checked(chosen)
    check_reranker(chosen)
    kind, _, model = chosen.partition(":")
    if kind in RERANKERS:
        return RERANKERS[kind][0](model)
    make = plugins.load(_GROUP, kind)
    with plugins.calling(plugins.label(_GROUP, kind)):
        return _checked(make(model))


def _checked(given: Any) -> Reranker:
    """Return an object as a reranker; raise OptionError if it is none."""
    for needed in ("name", "rerank"):
        if not hasattr(given, needed):
            rule = f"must be a name, None, or an object with `{needed}` (see spanwise.Reranker)"
            raise OptionError("reranker", rule, value=type(given).__name__)
    if not isinstance(given.name, str):
        raise OptionError("reranker", "must have a string as `name`", value=given.name)
    found: Reranker = given
    return found
