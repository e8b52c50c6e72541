"""A reranker that prefers short texts."""

from __future__ import annotations

from collections.abc import Sequence


class ShortestReranker:
    """The shorter a text below its headings, the better; the model is a factor."""

    def __init__(self, model: str) -> None:
        self._factor = float(model or 1)
        self.name = f"shortest:{model}" if model else "shortest"

    def rerank(self, question: str, texts: Sequence[str]) -> list[float]:
        """Return the negative length of each text."""
        return [-self._factor * len(text.partition("\n")[2]) for text in texts]
