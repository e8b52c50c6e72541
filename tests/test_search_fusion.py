"""Fusion of lexical and vector scores: a weak model never makes results worse, a good one improves them."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import spanwise
from searching import note, stored
from spanwise.documents.document import Document
from spanwise.retrieval import search as search_module
from spanwise.retrieval.fusion import VectorTrust, fused, vector_trust

Vectors = NDArray[np.float32]
TOPICS = 60  # number of documents, and dimensions of the model
QUESTIONS = 20
SHARED = ("report", "office", "team", "monthly", "contact", "number", "system", "manager", "printer", "window")


@cache
def corpus() -> tuple[tuple[Document, ...], tuple[tuple[str, str], ...]]:
    """Return documents, three about each topic, and questions that one of the three answers slightly better."""
    chance = random.Random(7)
    documents, questions = [], []
    for number in range(TOPICS):
        topic, asked = number // 3, SHARED[number // 3 % len(SHARED)]
        others = [word for word in SHARED if word != asked]
        answers = number % 3 == 0
        words = [f"topic{topic}a", f"topic{topic}b", asked if answers else others[0], *chance.choices(others, k=12)]
        chance.shuffle(words)
        documents.append(note(" ".join(words), f"d{number}"))
        if answers:
            questions.append((f"topic{topic}a topic{topic}b {asked}", f"d{number}"))
    return tuple(documents), tuple(questions)


def answered() -> NDArray[np.float64]:
    """Return a matrix with 1 where a document answers a question, else 0."""
    found = np.zeros((QUESTIONS, TOPICS))
    found[range(QUESTIONS), range(0, TOPICS, 3)] = 1
    return found


class Model:
    """A model with freely chosen cosines between questions and documents."""

    name = "model"
    dimension = TOPICS

    def __init__(self, cosines: NDArray[np.float64]) -> None:
        """Set the cosines by question and document: a question's vector is its row, a document's one of the axes."""
        self.cosines = cosines

    def embed(self, texts: Sequence[str]) -> Vectors:
        known = {document.text: index for index, document in enumerate(corpus()[0])}
        rows: Vectors = np.eye(TOPICS, dtype=np.float32)[[known[text] for text in texts]]
        return rows

    def embed_query(self, text: str) -> Vectors:
        index = [question for question, _ in corpus()[1]].index(text)
        row: Vectors = self.cosines[index].astype(np.float32)
        return row


def of_random(dimension: int) -> Callable[[], NDArray[np.float64]]:
    def made() -> NDArray[np.float64]:
        chance = np.random.default_rng(dimension)
        pairs = (chance.normal(size=(size, dimension)) for size in (QUESTIONS, TOPICS))
        questions, documents = (rows / np.linalg.norm(rows, axis=1, keepdims=True) for rows in pairs)
        return np.asarray(questions @ documents.T)

    return made


WEAK: dict[str, Callable[[], NDArray[np.float64]]] = {
    "random, 2 numbers": of_random(2),
    "random, 8 numbers": of_random(8),
    "random, 512 numbers": of_random(512),
    "all the same": lambda: np.ones((QUESTIONS, TOPICS)),
    "nothing": lambda: np.zeros((QUESTIONS, TOPICS)),
    "the opposite": lambda: -answered(),
    "all but the answer": lambda: 1 - 2 * answered(),
    "the answer of another question": lambda: np.roll(answered(), 7, axis=0),
}


class FixedCosines:
    """A reader with a model's exact cosines, not those of normalized vectors."""

    def __init__(self, reader: Any) -> None:
        self.reader = reader

    def __enter__(self) -> Any:
        return self

    def __exit__(self, *_: object) -> None:
        """Nothing is held."""

    def __getattr__(self, name: str) -> Any:
        return getattr(self.reader, name)

    def cosines(self, vector: Vectors, keys: Sequence[int]) -> dict[int, float]:
        return {key: float(vector[key - 1]) for key in keys}

    def nearest(self, vector: Vectors, filters: Any, limit: int) -> Any:
        every = self.cosines(vector, sorted(self.reader.rows))
        return sorted(every.items(), key=lambda pair: (-pair[1], pair[0]))[:limit]


def ranks_of(cosines: NDArray[np.float64] | None, monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Return the rank of each question's answer; 20 if it is not among the first twenty."""
    documents, questions = corpus()
    model = Model(cosines) if cosines is not None else None
    store = stored(documents, embedder=model)
    kept = FixedCosines(store.reading(""))
    monkeypatch.setattr(store, "reading", lambda _: kept)
    monkeypatch.setattr(search_module, "embedder_of", lambda _: model)
    ranks = []
    for question, answer in questions:
        names = [hit.document_id for hit in spanwise.search(question, store, limit=20)]
        ranks.append(names.index(answer) if answer in names else 20)
    return ranks


@pytest.mark.server
@pytest.mark.parametrize("kind", WEAK)
def test_a_weak_model_does_no_harm(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    alone = ranks_of(None, monkeypatch)
    with_model = ranks_of(WEAK[kind](), monkeypatch)
    assert sum(rank == 0 for rank in alone) > QUESTIONS / 2  # terms alone find most of them
    for most in (1, 3, 5):
        assert sum(rank < most for rank in with_model) >= sum(rank < most for rank in alone), most


@pytest.mark.server
def test_a_good_model_helps(monkeypatch: pytest.MonkeyPatch) -> None:
    chance = np.random.default_rng(1)
    good = 0.6 * answered() + chance.normal(size=(QUESTIONS, TOPICS)) * 0.05
    alone, with_model = ranks_of(None, monkeypatch), ranks_of(good, monkeypatch)
    assert sum(with_model) <= sum(alone)


def test_trust_in_the_model_depends_on_coverage() -> None:
    lexical, cosines = {key: 1.0 + key / 100 for key in range(20)}, {key: 0.5 - key / 100 for key in range(20)}
    assert vector_trust(lexical, cosines, coverage=0.9) == (1, 0)
    assert vector_trust(lexical, {key: -value for key, value in cosines.items()}, coverage=0.9) == (1, 1)
    assert vector_trust({1: 2.0}, {1: 0.5}, coverage=0.9) == (1, 1)  # too few to compare
    assert vector_trust({}, {}, coverage=0.0) == (0, 1)
    little = vector_trust(lexical, cosines, coverage=0.1)
    assert little.model == 1
    assert 0 < little.words < 0.1


def test_scores_are_shares_of_the_best_and_weighed_cosines() -> None:
    both = fused({1: 4.0, 2: 1.0}, {2: 0.5, 3: 0.9, 1: -0.2}, 0.3, VectorTrust(1.0, 0.5))
    assert both == {1: (1.0, 0.0), 2: (0.25, pytest.approx(0.075)), 3: (0.0, pytest.approx(0.135))}
    assert fused({}, {}, 0.3, VectorTrust(1.0, 1.0)) == {}
    assert fused({1: 0.0}, {}, 0.3, VectorTrust(1.0, 1.0)) == {1: (0.0, 0.0)}
