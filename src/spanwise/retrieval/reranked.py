"""The best chunks in the order of a reranker, or, if it fails or is too slow, in the order without it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, Final, NamedTuple

from spanwise.errors import SpanwiseError
from spanwise.options import check_value, option
from spanwise.reranking import Reranker, check_reranker, reranker_of
from spanwise.reranking.onnx_model import OnnxReranker
from spanwise.reranking.timed import timed_scores
from spanwise.reranking.transformers import TransformerReranker
from spanwise.retrieval.hits import RerankerScore
from spanwise.retrieval.ranking import Ranked
from spanwise.stores.values import StoredChunk

_LEAST: Final = 0.1  # points of the worst chunk that was read; the best has 1
_UNREAD: Final = 0.09  # of the former score: what was not read follows
_STEP: Final = 1e-9  # that each chunk has less than the one before, so that equal scores keep their order
_LONGEST_QUESTION: Final = 2_000  # characters: most of a model's limit is for the text
_LONGEST_HEADINGS: Final = 500
_LONGEST_TEXT: Final = 20_000  # no model reads more; most cut earlier


@dataclass(frozen=True, kw_only=True, slots=True)
class RerankSettings:
    """What is said of reranking; declared once, read by the config file and the library."""

    reranker: str | None = option(None, "scores the best chunks again: a name", kind=str)
    reranker_chunks: int = option(50, "how many of the best chunks it reads", low=1, high=500)
    reranker_timeout: float = option(5.0, "seconds that all of this may take", low=0.05, high=600)


RERANK_SETTINGS: Final = tuple(item.name for item in fields(RerankSettings))


class Reranking(NamedTuple):
    """A reranker, how many chunks it reads, and the seconds that it has."""

    reranker: Reranker | None
    chunks: int
    seconds: float


def check_rerank_settings(given: Mapping[str, Any]) -> None:
    """Raise OptionError for a wrong value, or a name that no reranker has; nothing is loaded."""
    for item in fields(RerankSettings):
        if item.name in given:
            check_value(item, given[item.name])
    if given.get("reranker") is not None:
        check_reranker(given["reranker"])


def reranking_of(options: Mapping[str, Any]) -> Reranking:
    """Return what the options of a search ask for; raise OptionError for a wrong name or value."""
    numbers = {name: options[name] for name in RERANK_SETTINGS[1:] if options.get(name) is not None}
    check_rerank_settings(numbers)
    settings = RerankSettings(**numbers)
    reranker = reranker_of(options.get("reranker"))
    return Reranking(reranker, settings.reranker_chunks, float(settings.reranker_timeout))


def load_model(how: Reranking) -> None:
    """Load a local model, which isn't limited in time; raise SpanwiseError if it can't be loaded."""
    if isinstance(how.reranker, OnnxReranker | TransformerReranker):
        how.reranker.load()


def reranked(chunks: Sequence[Ranked], question: str, how: Reranking) -> tuple[Sequence[Ranked], tuple[str, ...]]:
    """Return the chunks in their new order with notes; if the reranker fails, as they are, with one on why."""
    if how.reranker is None or not chunks:
        return chunks, ()
    read = chunks[: how.chunks]
    texts = [reranked_text(one.found) for one in read]
    try:
        scores = timed_scores(how.reranker, question[:_LONGEST_QUESTION], texts, how.seconds)
    except SpanwiseError as error:
        reason = str(error).replace("\nhint: ", "; hint: ")
        return chunks, (f"the reranker {how.reranker.name} can't be used, so the order is that without it: {reason}",)
    return _ordered(chunks, scores, how.reranker.name), ()


def reranked_text(found: StoredChunk) -> str:
    """Return what a reranker reads of a chunk: title and headings in a line, then its text as a page shows it."""
    record = found.record
    title, path = found.source.metadata.get("title") or "", record["headings_path"]
    above = path if path[:1] == [title] else [title, *path]  # a title is often the first heading
    headings = " > ".join(" ".join(one.split()) for one in above if one.strip())
    text = str(record.get("plain_text") or record["normalized_text"])  # records of 0.1 have the latter alone
    parts = (headings[:_LONGEST_HEADINGS], text[:_LONGEST_TEXT])
    return "\n".join(part for part in parts if part)


def _ordered(chunks: Sequence[Ranked], scores: Sequence[float], name: str) -> list[Ranked]:
    """Return the chunks that were read by their scores, equal ones as before, and behind them the others."""
    shares = _shares(scores)
    best = max(one.score for one in chunks) or 1.0
    points = [_LEAST + (1 - _LEAST) * share for share in shares]
    points += [_UNREAD * max(one.score, 0.0) / best for one in chunks[len(scores) :]]
    order = sorted(range(len(scores)), key=lambda number: (-scores[number], number))
    order += range(len(scores), len(chunks))
    found: list[Ranked] = []
    for rank, number in enumerate(order, 1):
        given = scores[number] if number < len(scores) else None
        worth = round(round(points[number], 9) - (rank - 1) * _STEP, 9)
        score = RerankerScore(name, given, worth, rank, number + 1)
        one = chunks[number]
        found.append(Ranked(one.found, worth, replace(one.explanation, reranker=score)))
    return found


def _shares(scores: Sequence[float]) -> list[float]:
    """Return scores between 0 for the worst and 1 for the best; all 1 if they are equal."""
    halves = [score / 2 for score in scores]  # so that no difference is infinite
    low, high = min(halves), max(halves)
    return [(half - low) / (high - low) if high > low else 1.0 for half in halves]
