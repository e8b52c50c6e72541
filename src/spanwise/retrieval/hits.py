"""The result of a search: passages with their ranges in the source and the parts of their scores."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from typing import Any, Final

_DIGITS: Final = 6


@dataclass(frozen=True, slots=True)
class SentenceScore:
    """The parts of a sentence's score; `words`, `passage` and `vector` add up to it."""

    words: float
    """BM25 of the words in the windows around it and above it, as a share of the best sentence's."""
    passage: float
    """0.3 of its chunk's score, as a share of the best chunk's."""
    vector: float
    cosine: float | None
    matched: Mapping[str, Mapping[str, float]]
    """For each word of the query the points it added, and how often it stands in each window."""

    def to_dict(self) -> dict[str, Any]:
        """Return the parts by name."""
        parts = {name: rounded(getattr(self, name)) for name in ("words", "passage", "vector", "cosine")}
        matched = {word: {name: rounded(value) for name, value in one.items()} for word, one in self.matched.items()}
        return parts | {"matched": matched}


@dataclass(frozen=True, slots=True)
class RerankerScore:
    """What a reranker made of a chunk; `points` is the chunk's score then."""

    name: str
    score: float | None
    """What the reranker returned; None if the chunk was not among those that it reads."""
    points: float
    """1 for the best, 0.1 for the worst of those that it read, in proportion between; less for the others."""
    rank: int
    rank_before: int
    """The rank among all chunks that were found, by the sum of the parts."""

    def to_dict(self) -> dict[str, Any]:
        """Return the parts by name."""
        return {item.name: rounded(getattr(self, item.name)) for item in fields(self)}


@dataclass(frozen=True, slots=True)
class Explanation:
    """The parts of a score; `words` to `links_out` add up to it, unless a reranker decides."""

    words: float
    """BM25 of the best chunk, as a share of the best that any chunk reached."""
    vector: float = 0.0
    headings: float = 0.0
    title: float = 0.0
    labels: float = 0.0
    links_in: float = 0.0
    links_out: float = 0.0
    bm25: float = 0.0
    cosine: float | None = None
    """None if no model was used."""
    trust: float | None = None
    """How far the model was trusted, from 0 to 1."""
    matched: Mapping[str, float] | None = None
    """What each word of the query added to BM25."""
    sentence: SentenceScore | None = None
    """The score of the best sentence, which the hit then has; None where whole passages were asked for."""
    reranker: RerankerScore | None = None
    """The score of the reranker, which the chunk then has; None without one, or if it failed."""

    @property
    def sum(self) -> float:
        """The sum of the parts."""
        return math.fsum(getattr(self, name) for name in PARTS)

    @property
    def score(self) -> float:
        """The points of the reranker, else the sum of the parts."""
        return self.reranker.points if self.reranker else self.sum

    def to_dict(self) -> dict[str, Any]:
        """Return the parts by name."""
        parts = {name: rounded(getattr(self, name)) for name in (*PARTS, "bm25", "cosine", "trust")}
        parts["matched"] = {word: rounded(value) for word, value in (self.matched or {}).items()}
        further = {"sentence": self.sentence, "reranker": self.reranker}
        return parts | {name: one and one.to_dict() for name, one in further.items()}


PARTS: Final = ("words", "vector", "headings", "title", "labels", "links_in", "links_out")


@dataclass(frozen=True, slots=True)
class Hit:
    """A passage that was found: one chunk, or neighbours joined to one text."""

    document_id: str
    chunk_ids: tuple[str, ...]
    score: float
    normalized_text: str
    full_text: str
    embedding_text: str
    headings_path: tuple[str, ...]
    page_start: int | None
    page_end: int | None
    char_start: int
    char_end: int
    ranges: tuple[tuple[int, int], ...]
    """The sentences that answer, as ranges of the document's text in order; of a whole passage, its own."""
    answer: str
    """The text of `ranges`, a line each."""
    line_start: int | None
    """The line of the file that it starts in, from 1; None if the document's text is not the file."""
    verbatim: bool
    """Whether `normalized_text` is `document.text[char_start:char_end]`, character by character."""
    truncated: bool
    """Whether the passage was cut to fit the budget."""
    url: str | None
    title: str | None
    file_path: str | None
    labels: tuple[str, ...]
    updated_at: str | None
    language: str
    parent_id: str | None
    """The parent whose text this is, if parents were requested."""
    marks: tuple[tuple[int, int], ...]
    """The ranges of `normalized_text` that match words of the query."""
    navigation: Mapping[str, Any]
    explain: Explanation

    def to_dict(self) -> dict[str, Any]:
        """Return the hit as values for JSON."""
        values = {item.name: getattr(self, item.name) for item in fields(self)}
        lists: dict[str, Any] = {name: list(values[name]) for name in ("chunk_ids", "headings_path", "labels")}
        lists["ranges"] = [list(one) for one in self.ranges]
        values |= lists | {"marks": [list(mark) for mark in self.marks], "navigation": dict(self.navigation)}
        return values | {"score": rounded(self.score), "explain": self.explain.to_dict()}


class Hits(tuple[Hit, ...]):
    """The hits of a search, best first: a tuple with notes."""

    notes: tuple[str, ...]
    """Deviations from the request, such as a model that couldn't be used."""

    def __new__(cls, hits: Iterable[Hit] = (), notes: Iterable[str] = ()) -> Hits:
        """Create the tuple from hits and notes."""
        created = super().__new__(cls, hits)
        created.notes = tuple(notes)
        return created


def rounded(value: Any) -> Any:
    """Round numbers to as many digits as two stores agree on."""
    return round(value, _DIGITS) if isinstance(value, float) else value
