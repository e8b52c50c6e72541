"""Embedders: texts to vectors, by a model that the user chose."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Final, Protocol

from spanwise.embedding.transformers import TransformerEmbedder
from spanwise.embedding.universal import EXTRA, is_installed, universal_embedder
from spanwise.embedding.vectors import quantized
from spanwise.errors import OptionError, did_you_mean

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = ["EMBEDDERS", "Embedder", "embedder_of", "note_of", "quantized"]


class Embedder(Protocol):
    """A model that turns texts into vectors."""

    @property
    def name(self) -> str:
        """The model's name: a store remembers it and refuses another; `embedder_of` gives the embedder for it."""

    @property
    def dimension(self) -> int:
        """How many numbers a vector has."""

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Give a vector of length one for each text of a document, a row each; zeros where a text says nothing."""

    def embed_query(self, text: str) -> NDArray[np.float32]:
        """Give the vector of a question."""


def _auto(model: str) -> Embedder | None:
    return universal_embedder(model) if is_installed() else None


def _none(model: str) -> None:
    return None


def _openai(model: str) -> Embedder:
    from spanwise.embedding.endpoint import EndpointEmbedder  # with all of HTTP, which nobody else needs

    return EndpointEmbedder(model)


EMBEDDERS: Final[dict[str, tuple[Callable[[str], Embedder | None], str]]] = {
    "auto": (_auto, ""),
    "none": (_none, ""),
    "universal": (universal_embedder, ""),
    "sentence-transformers": (TransformerEmbedder, "BAAI/bge-m3"),
    "openai": (_openai, "text-embedding-3-small"),
}
"""What makes an embedder, and a model's name for those that want one after a colon."""


def embedder_of(chosen: str | Embedder | None) -> Embedder | None:
    """Give the embedder of that name; None where there shall be none."""
    if chosen is None or not isinstance(chosen, str):
        return chosen
    kind, colon, model = chosen.partition(":")
    if kind not in EMBEDDERS:
        raise OptionError("embedder", "is not known", value=chosen, hint=did_you_mean(kind, EMBEDDERS))
    make, example = EMBEDDERS[kind]
    if example and not model:
        raise OptionError("embedder", "must name its model", value=chosen, hint=f"try {kind}:{example}")
    if colon and not example:
        raise OptionError("embedder", "has no models to choose from", value=chosen, hint=f"try {kind}")
    return make(model)


def note_of(chosen: str | Embedder | None) -> str | None:
    """Say what a user should know of a choice: that nothing but words is searched, because an extra is missing."""
    if chosen == "auto" and not is_installed():
        return f"no embedder is installed, so words alone are searched; {EXTRA} adds one"
    return None
