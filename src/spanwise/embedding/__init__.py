"""Embedders, which turn texts into vectors with a model that the user chose."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Final, Protocol

from spanwise import plugins
from spanwise.embedding.plugin_embedder import PluginEmbedder
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
        """The model's name: a store records it and rejects another; `embedder_of` returns the embedder for it."""

    @property
    def dimension(self) -> int:
        """The number of components of a vector."""

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return a row for each text of a document: a vector of length one, or zeros for a blank text.

        Rows of another length are scaled.
        """

    def embed_query(self, text: str) -> NDArray[np.float32]:
        """Return the vector of a query."""


def _openai(model: str) -> Embedder:
    from spanwise.embedding.endpoint import EndpointEmbedder  # imports all of HTTP, which only this embedder needs

    return EndpointEmbedder(model)


EMBEDDERS: Final[dict[str, tuple[Callable[[str], Embedder | None], str]]] = {
    "auto": (lambda model: universal_embedder(model) if is_installed() else None, ""),
    "none": (lambda model: None, ""),
    "universal": (universal_embedder, ""),
    "sentence-transformers": (TransformerEmbedder, "BAAI/bge-m3"),
    "openai": (_openai, "text-embedding-3-small"),
}
"""For each kind: the function that creates an embedder, and an example model if one must follow a colon."""


_KIND: Final = "embedders"


def embedder_of(chosen: str | Embedder | None) -> Embedder | None:
    """Return the embedder of a name, or an object as one; None for no embedder."""
    if chosen is None:
        return None
    if not isinstance(chosen, str):
        return chosen if plugins.is_own(chosen) else PluginEmbedder(chosen, f"embedder {_name_of(chosen)}")
    kind, colon, model = chosen.partition(":")
    if kind not in EMBEDDERS:
        return _plugin(chosen, kind, model)
    make, example = EMBEDDERS[kind]
    if example and not model:
        raise OptionError("embedder", "must name its model", value=chosen, hint=f"try {kind}:{example}")
    if colon and not example:
        raise OptionError("embedder", "has no models to choose from", value=chosen, hint=f"try {kind}")
    return make(model)


def _plugin(chosen: str, kind: str, model: str) -> Embedder:
    """Return the embedder of a plug-in: its name leads back to it, because a store records nothing else."""
    known = plugins.names(_KIND)
    if kind not in known:
        raise OptionError("embedder", "is not known", value=chosen, hint=did_you_mean(kind, [*EMBEDDERS, *known]))
    make, who = plugins.load(_KIND, kind), plugins.label(_KIND, kind)
    with plugins.calling(who):
        made = make(model)
        own = _name_of(made)
        return PluginEmbedder(made, who, own if own.partition(":")[0] == kind else chosen)


def _name_of(embedder: object) -> str:
    return str(getattr(embedder, "name", type(embedder).__name__))


def note_of(chosen: str | Embedder | None) -> str | None:
    """Return a message for the user if a missing extra limits search to words, else None."""
    if chosen == "auto" and not is_installed():
        return f"no embedder is installed, so words alone are searched; {EXTRA} adds one"
    return None
