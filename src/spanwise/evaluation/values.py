"""The values of an evaluation: questions, amounts that are read, scores of one question, intervals."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

from spanwise.evaluation.ranges import Range

MEASURES: Final = ("recall", "precision", "iou", "tokens", "seconds")
RANKS: Final = ("mrr", "ndcg")


class Amount(NamedTuple):
    """How much is read of what a search returns: a budget of tokens, or a number of hits, in passages or sentences."""

    kind: str
    """`budget` or `limit`, as the option of search is called."""
    value: int
    unit: str

    @property
    def key(self) -> str:
        """Its name in JSON, such as `budget=1000 unit=sentence`."""
        return f"{self.kind}={self.value} unit={self.unit}"

    @property
    def label(self) -> str:
        """Its name for people: a budget is of sentences and a number of hits of passages, unless it says so."""
        if self.kind == "limit":
            return f"{self.value:,} {self.unit}{'' if self.value == 1 else 's'}"
        return f"{self.value:,} tokens{'' if self.unit == 'sentence' else ' of passages'}"


class Interval(NamedTuple):
    """A mean over questions, and the bootstrap interval that holds it with 95 percent confidence."""

    mean: float
    low: float
    high: float

    def to_dict(self) -> dict[str, float]:
        """Return the numbers by name."""
        return {"mean": self.mean, "low": self.low, "high": self.high}


class Score(NamedTuple):
    """What one search returned of an answer; shares lie between 0 and 1 and count characters."""

    recall: float
    precision: float
    iou: float
    tokens: int
    hits: int
    seconds: float


class BadLine(NamedTuple):
    """A line of the questions that could not be used, and why."""

    line: int
    question: str
    reason: str

    def __str__(self) -> str:
        """Return it in a line."""
        return f"line {self.line}: {f'{self.question!r}: ' if self.question else ''}{self.reason}"


class Excerpt(NamedTuple):
    """A part of a document around an answer."""

    start: int
    text: str


@dataclass(frozen=True, slots=True)
class Question:
    """A question, the document that answers it, and where; ranges are in characters of `document.text`."""

    line: int
    question: str
    document_id: str
    document: str
    """The name of the document, for people."""
    ranges: tuple[Range, ...]
    located: str = "ranges"
    """How the ranges are known: they were given (`ranges`), or found from a text (`exact`, `aligned`)."""
    made_by: str | None = None
    excerpts: tuple[Excerpt, ...] = field(default=(), repr=False)

    def to_dict(self) -> dict[str, Any]:
        """Return the question as values for JSON, without the excerpts."""
        return {
            "line": self.line, "question": self.question, "document_id": self.document_id, "document": self.document,
            "ranges": [list(one) for one in self.ranges], "located": self.located, "made_by": self.made_by,
        }  # fmt: skip


class Returned(NamedTuple):
    """What a search returned to a question: the ranges of the right document, and the first hit for people."""

    ranges: tuple[Range, ...]
    first_document: str | None
    first_text: str


@dataclass(frozen=True, slots=True)
class SettingResult:
    """What one setting returned to every question."""

    name: str
    kind: str
    """`store`, `spanwise` or `peer`."""
    chunks: int
    embedding_tokens: int | None
    """The sum of the tokens of all searched chunks; None for a store that was there before."""
    index_seconds: float | None
    failed: tuple[str, ...]
    """The documents that could not be indexed, each with the reason."""
    scores: Mapping[Amount, tuple[Score, ...]] = field(repr=False)
    """For each amount the score of every question, in order."""
    mrr: tuple[float, ...] = field(repr=False)
    ndcg: tuple[float, ...] = field(repr=False)
    returned: tuple[Returned, ...] = field(default=(), repr=False)
    """For each question what was returned within the amount that settings are compared by."""
    notes: tuple[str, ...] = ()

    def values(self, amount: Amount, measure: str) -> tuple[float, ...]:
        """Return a measure of every question."""
        if measure in RANKS:
            ranks: tuple[float, ...] = getattr(self, measure)
            return ranks
        return tuple(float(getattr(score, measure)) for score in self.scores[amount])


class Comparison(NamedTuple):
    """The difference between two settings on the same questions: the second less the first."""

    first: str
    second: str
    amount: Amount
    measure: str
    difference: Interval
    verdict: str
    """`better`, `worse`, `may be chance` or `too few questions`, said of the second."""

    def to_dict(self) -> dict[str, Any]:
        """Return the comparison as values for JSON."""
        return {
            "first": self.first, "second": self.second, "amount": self.amount.key, "measure": self.measure,
            "difference": self.difference.to_dict(), "verdict": self.verdict,
        }  # fmt: skip
