"""Questions put to a store, and what the hits hold of their answers."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

from spanwise.embedding import Embedder
from spanwise.evaluation.ranges import Range, common, length, merged
from spanwise.evaluation.values import Amount, Question, Returned, Score
from spanwise.retrieval.hits import Hit, Hits
from spanwise.retrieval.search import search
from spanwise.stores import Store
from spanwise.text.tokens import FullTokenizer

RANKED: Final = Amount("limit", 10, "passage")
"""The search by which documents are ranked."""
_SHOWN: Final = 400  # characters of the first hit that are kept for the report


@dataclass(frozen=True)
class Asking:
    """How questions are asked: the same for every setting."""

    amounts: tuple[Amount, ...]
    main: Amount
    """The amount that settings are compared by, and whose hits the report shows."""
    embedder: str | Embedder | None
    tokenizer: FullTokenizer
    tenant: str | None = None
    weights: Any = None


@dataclass
class Answers:
    """What was found for every question, in order."""

    scores: dict[Amount, list[Score]] = field(default_factory=dict)
    mrr: list[float] = field(default_factory=list)
    ndcg: list[float] = field(default_factory=list)
    returned: list[Returned] = field(default_factory=list)
    notes: dict[str, None] = field(default_factory=dict)


class WholeChunks(NamedTuple):
    """For a peer's chunks with overlap the range of the whole, and how to get the text of a document."""

    ranges: Mapping[str, Range]
    text: Callable[[str], str]


def asked(
    questions: Sequence[Question],
    store: Store,
    asking: Asking,
    whole: WholeChunks | None = None,
    progress: Callable[[int], None] | None = None,
) -> Answers:
    """Put every question to a store, once for each amount and once more to rank documents, if need be."""
    answers = Answers({amount: [] for amount in asking.amounts})
    for question in questions[:1]:  # what the first search loads is no part of its time
        _search(question, store, asking, asking.main)
    for number, question in enumerate(questions, 1):
        ranking: Hits | None = None
        for amount in asking.amounts:
            hits, seconds = _search(question, store, asking, amount)
            answers.notes.update(dict.fromkeys(note for note in hits.notes if hits))
            found = _returned(hits, amount, asking.tokenizer, whole)
            answers.scores[amount].append(scored(question, found, len(hits), seconds))
            ranking = hits if amount == RANKED else ranking
            if amount == asking.main:
                answers.returned.append(_kept(question, found, hits))
        rank = document_rank(question, ranking if ranking is not None else _search(question, store, asking, RANKED)[0])
        answers.mrr.append(1 / rank if rank else 0.0)
        answers.ndcg.append(1 / math.log2(1 + rank) if rank else 0.0)
        if progress:
            progress(number)
    return answers


def _search(question: Question, store: Store, asking: Asking, amount: Amount) -> tuple[Hits, float]:
    options: dict[str, Any] = {amount.kind: amount.value, "unit": amount.unit, "embedder": asking.embedder}
    options |= {} if asking.weights is None else {"weights": asking.weights}
    began = time.perf_counter()
    hits = search(question.question, store, asking.tenant, tokenizer=asking.tokenizer, **options)
    return hits, time.perf_counter() - began


class Found(NamedTuple):
    """What hits hold: the ranges of each document, each character once, and all tokens that are returned."""

    ranges: Mapping[str, tuple[Range, ...]]
    tokens: int


def _returned(hits: Iterable[Hit], amount: Amount, tokenizer: FullTokenizer, whole: WholeChunks | None) -> Found:
    """Return what hits hold; of a peer's passages without a budget the whole chunks, overlap and all."""
    ranges: dict[str, list[Range]] = {}
    tokens = 0
    for hit in hits:
        own, text = hit.ranges, hit.answer
        if whole is not None and amount.kind == "limit" and amount.unit == "passage":
            longer = [whole.ranges[name] for name in hit.chunk_ids if name in whole.ranges]
            if longer:
                own, document = merged([*own, *longer]), whole.text(hit.document_id)
                text = "\n".join(document[start:end] for start, end in own)
        ranges.setdefault(hit.document_id, []).extend(own)
        tokens += tokenizer.count(text)
    return Found({name: merged(found) for name, found in ranges.items()}, tokens)


def scored(question: Question, found: Found, hits: int, seconds: float) -> Score:
    """Return recall, precision and IoU in characters; what is returned of other documents is superfluous."""
    wanted = length(question.ranges)
    right = length(common(question.ranges, found.ranges.get(question.document_id, ())))
    returned = sum(map(length, found.ranges.values()))
    return Score(
        right / wanted, right / returned if returned else 0.0, right / (returned + wanted - right), found.tokens, hits,
        seconds,
    )  # fmt: skip


def document_rank(question: Question, hits: Iterable[Hit]) -> int | None:
    """Return the rank of the right document among those of the hits, each counted once; None if it isn't there."""
    documents = list(dict.fromkeys(hit.document_id for hit in hits))
    return documents.index(question.document_id) + 1 if question.document_id in documents else None


def _kept(question: Question, found: Found, hits: Sequence[Hit]) -> Returned:
    first = max(hits, key=lambda hit: hit.score, default=None)
    if first is None:
        return Returned((), None, "")
    name = first.file_path or first.title or first.document_id
    text = first.answer if len(first.answer) <= _SHOWN else first.answer[:_SHOWN] + "…"
    return Returned(found.ranges.get(question.document_id, ()), name, text)
