"""Embedders: texts to vectors, by a model that the user chose."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

from spanwise.errors import OptionError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class Embedder(Protocol):
    """A model that turns texts into vectors."""

    @property
    def name(self) -> str:
        """The model's name: a store remembers it and refuses another."""

    @property
    def dimension(self) -> int:
        """How many numbers a vector has."""

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Give a vector of length one for each text of a document, a row each."""

    def embed_query(self, text: str) -> NDArray[np.float32]:
        """Give the vector of a question."""


def embedder_of(chosen: str | Embedder | None) -> Embedder | None:
    """Give the embedder of that name; None where there shall be none."""
    if chosen is None or chosen in ("none", "auto"):
        return None
    if isinstance(chosen, str):
        raise OptionError("embedder", "is not known", value=chosen, hint="known: none")
    return chosen


def quantized(vectors: NDArray[np.float32]) -> NDArray[np.int8]:
    """Give vectors of length one as small integers: 127 stands for one."""
    import numpy as np

    rounded: NDArray[np.int8] = np.clip(np.rint(vectors * 127.0), -127, 127).astype(np.int8)
    return rounded
