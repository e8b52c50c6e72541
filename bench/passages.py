"""Questions with known answer ranges, and how much of them a list of hits returns.

The measures are those of Chroma's "Evaluating Chunking Strategies for Retrieval", in characters. Text returned by
several hits counts once where it is right, and every time where it is superfluous.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from corpora import SHARED

from spanwise.evaluation.ranges import Range, merged
from spanwise.evaluation.ranges import length as _length

HITS = 5
BUDGET = 1_000  # tokens
DEFAULT = SHARED / "chroma"
SOURCE = "https://github.com/brandonstarxel/chunking_evaluation"
PINNED = {
    "chatlogs.md": "543a98f82b2a6a492349fd7f8c9d6c3e78d1a4af81d13c79a7fd513c3f65bda6",
    "finance.md": "1c48d0156820abc88e46e5c992fa0cd2708b07ae59a3771b2b18234b7208561f",
    "pubmed.md": "0fd9242ffb253695e5d0f0215cb79a66a2a8f1236591e764c60d370747684ced",
    "state_of_the_union.md": "6fc21d560d31eb2421e337596feea0f83f1fa9ca02c6c4e47bc26959d7531b37",
    "wikitexts.md": "74cafcdb771185ecb9f22cc41b73e2e44477e0636ecf9cf1f96fd6ee0f4b86c0",
    "questions.jsonl": "4db25b390a3c309f14f4ae6b15ce0ec192620a266e50475382c71e254f2ddda5",
}


class Question(NamedTuple):
    """A question, the text it is about, and the ranges that answer it."""

    text: str
    corpus: str
    answers: tuple[Range, ...]


class Passage(NamedTuple):
    """A chunk: the text searched, and the ranges returned."""

    corpus: str
    searched: str
    ranges: tuple[Range, ...]
    tokens: int  # of what is returned


class Scores(NamedTuple):
    """Shares between 0 and 1."""

    recall: float
    precision: float
    iou: float
    recall_at_budget: float


@dataclass(frozen=True)
class QuestionSet:
    """Texts, questions on them, and whether both match the pinned hashes."""

    texts: dict[str, str]
    questions: tuple[Question, ...]
    pinned: bool


def load_questions(folder: Path | None, questions: Path | None) -> QuestionSet:
    """Read a folder of `NAME.md` and its questions, or other questions on the same texts."""
    location = folder or DEFAULT
    file = questions or location / "questions.jsonl"
    if not file.is_file():
        hint = f"name a folder with --corpus: texts as NAME.md, and questions.jsonl; Chroma's are at {SOURCE}"
        raise SystemExit(f"error: {file} is not there\nhint: {hint}")
    files = [*sorted(location.glob("*.md")), file]
    texts = {path.stem: path.read_bytes().decode("utf-8") for path in files[:-1]}
    lines = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines() if line.strip()]
    hashes = {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in files}
    return QuestionSet(texts, tuple(map(_question, lines)), hashes == PINNED)


def _question(line: dict[str, object]) -> Question:
    references: Iterable[dict[str, int]] = line["references"]  # type: ignore[assignment]
    answers = merged((reference["start"], reference["end"]) for reference in references)
    return Question(str(line["question"]), str(line["corpus"]), answers)


def scored(question: Question, ranked: Sequence[Passage]) -> Scores:
    """Score the first `HITS` hits, and those within the token budget."""
    total = _length(question.answers)
    hits = ranked[:HITS]
    found, returned = _found(question, hits), sum(_length(hit.ranges) for hit in hits)
    recall_at_budget = _found(question, within_budget(ranked)) / total
    return Scores(found / total, found / max(returned, 1), found / (returned + total - found), recall_at_budget)


def within_budget(ranked: Iterable[Passage]) -> list[Passage]:
    """Return hits until the token budget is spent; the last one is cut off."""
    chosen, left = list[Passage](), BUDGET
    for hit in ranked:
        if hit.tokens >= left:
            return [*chosen, hit._replace(ranges=_beginning(hit.ranges, left / hit.tokens), tokens=left)]
        chosen.append(hit)
        left -= hit.tokens
    return chosen


def _beginning(ranges: Sequence[Range], share: float) -> tuple[Range, ...]:
    left, kept = int(_length(ranges) * share), list[Range]()
    for start, end in ranges:
        if left > 0:
            kept.append((start, min(end, start + left)))
        left -= end - start
    return tuple(kept)


def _found(question: Question, hits: Iterable[Passage]) -> int:
    ranges = merged(span for hit in hits if hit.corpus == question.corpus for span in hit.ranges)
    return sum(max(0, min(end, b) - max(start, a)) for start, end in ranges for a, b in question.answers)
