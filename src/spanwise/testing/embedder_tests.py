"""EmbedderTests: whether the vectors of an embedder have the shape that a store needs."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import pytest

from spanwise.embedding import Embedder

_TEXTS: Final = ("one", "two words", "Zażółć gęślą jaźń", "没有标点", "x" * 5000, "🇵🇱👩‍👩‍👧", "1", "a\nb\n\nc")


class EmbedderTests:
    """Tests for an embedder; a subclass has a fixture `embedder` that returns it."""

    @pytest.fixture
    def embedder(self) -> Embedder:
        """Return the embedder."""
        raise NotImplementedError("write a fixture `embedder` that returns yours")

    def test_it_has_a_name_and_a_dimension(self, embedder: Embedder) -> None:
        """A store records both."""
        assert isinstance(embedder.name, str)
        assert embedder.name.strip()
        assert type(embedder.dimension) is int
        assert embedder.dimension > 0

    def test_a_vector_for_each_text(self, embedder: Embedder) -> None:
        """There is a row for each text, in order."""
        rows = np.asarray(embedder.embed(list(_TEXTS)))
        assert rows.shape == (len(_TEXTS), embedder.dimension)
        assert np.asarray(embedder.embed(["one"])).shape == (1, embedder.dimension)
        for number in (0, len(_TEXTS) - 1):
            assert np.allclose(np.asarray(embedder.embed([_TEXTS[number]]))[0], rows[number], atol=1e-4)

    def test_vectors_can_be_compared(self, embedder: Embedder) -> None:
        """Numbers are finite; they are scaled to length one before they are stored, so any length but zero will do."""
        rows = [*embedder.embed(list(_TEXTS)), *(embedder.embed_query(text) for text in _TEXTS)]
        lengths = np.linalg.norm(np.asarray(rows, dtype=np.float64), axis=1)
        assert np.isfinite(lengths).all()
        assert lengths.any(), "all vectors are zero, so nothing is near anything"

    def test_a_blank_text_has_a_vector_too(self, embedder: Embedder) -> None:
        """A text without content doesn't fail, among others and as a query."""
        rows: Any = np.asarray(embedder.embed(["one", " ", ""]))
        assert rows.shape == (3, embedder.dimension)
        assert np.isfinite(rows).all()
        assert np.asarray(embedder.embed_query(" ")).shape == (embedder.dimension,)

    def test_a_query_is_near_the_same_text(self, embedder: Embedder) -> None:
        """A text is nearest to itself, as a query."""
        texts = ["The dog sleeps in the garden.", "Shares fell on Monday.", "Water boils at a hundred degrees."]
        rows = np.asarray(embedder.embed(texts), dtype=np.float64)
        rows /= np.linalg.norm(rows, axis=1, keepdims=True)
        for number, text in enumerate(texts):
            assert int((rows @ np.asarray(embedder.embed_query(text))).argmax()) == number

    def test_the_same_text_has_the_same_vector(self, embedder: Embedder) -> None:
        """Embedding twice gives the same."""
        assert np.allclose(embedder.embed(list(_TEXTS)), embedder.embed(list(_TEXTS)), atol=1e-5)
