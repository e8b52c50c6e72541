"""An embedder that counts letters."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray


class LetterEmbedder:
    """How often each letter occurs; the model is the alphabet."""

    def __init__(self, model: str) -> None:
        self._alphabet = model or "abcdefghijklmnopqrstuvwxyz"
        self.name = f"letters:{model}" if model else "letters"
        self.dimension = len(self._alphabet)

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return a row for each text, of any length."""
        rows = [[text.lower().count(letter) for letter in self._alphabet] for text in texts]
        return np.array(rows, dtype=np.float32)

    def embed_query(self, text: str) -> NDArray[np.float32]:
        """Return the same for a query."""
        row: NDArray[np.float32] = self.embed([text])[0]
        return row
