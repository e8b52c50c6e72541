"""RerankerTests: whether the scores of a reranker are such that a search can use them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import pytest

from spanwise.indexing.index import index
from spanwise.readers import read_text
from spanwise.reranking import Reranker, reranker_of
from spanwise.reranking.timed import timed_scores
from spanwise.retrieval.search import search
from spanwise.testing.memory_store import MemoryStore

_TEXTS: Final = ("one", "two words", "Zażółć gęślą jaźń", "没有标点", "x" * 5000, "🇵🇱👩‍👩‍👧", "", " \n", "one")
_FACTS: Final = ("The dog sleeps in the garden.", "Shares fell on Monday.", "Water boils at a hundred degrees.")
_SECONDS: Final = 60.0


class RerankerTests:
    """Tests for a reranker; a subclass has a fixture `reranker` that returns it."""

    @pytest.fixture
    def reranker(self) -> Reranker:
        """Return the reranker."""
        raise NotImplementedError("write a fixture `reranker` that returns yours")

    def test_it_has_a_name(self, reranker: Reranker) -> None:
        """Explanations and messages show it."""
        assert isinstance(reranker.name, str)
        assert reranker.name.strip()
        assert reranker_of(reranker) is reranker

    @pytest.mark.parametrize("question", ["one", "two words?", "没有标点", "🇵🇱", "y" * 2000])
    def test_a_finite_number_for_each_text(self, reranker: Reranker, question: str) -> None:
        """There are as many as texts, also for texts without content."""
        assert len(timed_scores(reranker, question, _TEXTS, _SECONDS)) == len(_TEXTS)
        assert len(timed_scores(reranker, question, ["one"], _SECONDS)) == 1

    def test_the_best_text_is_the_one_that_is_asked_for(self, reranker: Reranker) -> None:
        """A text is the best answer to itself, wherever it stands."""
        for texts in (_FACTS, _FACTS[::-1]):
            for number, text in enumerate(texts):
                scores = timed_scores(reranker, text, texts, _SECONDS)
                assert max(range(len(texts)), key=scores.__getitem__) == number

    def test_the_same_question_has_the_same_scores(self, reranker: Reranker) -> None:
        """Asking twice gives the same, or nearly: some models round otherwise beside other texts."""
        first = timed_scores(reranker, "one", _TEXTS, _SECONDS)
        assert timed_scores(reranker, "one", _TEXTS, _SECONDS) == pytest.approx(first, rel=1e-4, abs=1e-5)

    def test_it_decides_the_order_of_a_search(self, reranker: Reranker) -> None:
        """Hits come by its scores, without a note."""
        store = MemoryStore()
        documents = [read_text(f"{text} Yes, the dog.", document_id=f"{n}") for n, text in enumerate(_FACTS)]
        index(documents, store, embedder=None)
        hits = search(_FACTS[0], store, reranker=reranker, reranker_timeout=_SECONDS)
        assert hits.notes == ()
        assert hits[0].document_id == "0"
        assert _scores(hits) == sorted(_scores(hits), reverse=True)


def _scores(hits: Sequence[object]) -> list[float]:
    return [hit.explain.reranker.score for hit in hits]  # type: ignore[attr-defined]
