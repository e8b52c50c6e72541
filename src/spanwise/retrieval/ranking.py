"""Ranking: candidates by words and by vectors, with one score, raised by headings, title, labels and links."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from spanwise.retrieval.fusion import WORDS_ALONE, Fused, fused, vector_trust
from spanwise.retrieval.hits import Explanation
from spanwise.retrieval.query import Query, bm25, bm25_parts, share_of
from spanwise.retrieval.weights import Weights
from spanwise.stores import StoreReader
from spanwise.stores.values import Candidate, Filters, StoredChunk
from spanwise.text.terms import document_terms

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Vector = NDArray[np.float32]

_LEXICAL: Final = 200
_NEAREST: Final = 50
_LINKED: Final = 20  # documents of the best hits between which links are looked up


class Ranked(NamedTuple):
    """A chunk with its score and the parts of it."""

    found: StoredChunk
    score: float
    explanation: Explanation


class _Scores(NamedTuple):
    """What is known of the candidates before they are fetched."""

    candidates: Mapping[int, Candidate]
    cosines: Mapping[int, float]
    fused: Mapping[int, Fused]
    trust: float | None


def ranked(
    reader: StoreReader, query: Query, vector: Vector | None, filters: Filters, weights: Weights, most: int
) -> list[Ranked]:
    """Return the best chunks, best first."""
    scores = _scored(reader, query, vector, filters, weights, most)
    keys = sorted(scores.fused, key=lambda key: (-sum(scores.fused[key]), key))[:most]
    found = reader.fetch(keys)
    boosts = _boosts(reader, query, found, scores, weights)
    chunks = [_explained(query, one, scores, boosts[one.key]) for one in found]
    return sorted(chunks, key=lambda one: (-one.score, one.found.document_id, one.found.position))


def _scored(
    reader: StoreReader, query: Query, vector: Vector | None, filters: Filters, weights: Weights, most: int
) -> _Scores:
    terms = query.terms
    lexical = reader.lexical(terms, filters, max(_LEXICAL, most)) if terms else []
    candidates = {candidate.key: candidate for candidate in lexical}
    lexical_scores = bm25(query, lexical)
    if vector is None:
        return _Scores(candidates, {}, fused(lexical_scores, {}, 0.0, WORDS_ALONE), None)
    cosines = dict(reader.nearest(vector, filters, max(_NEAREST, most)))
    cosines |= reader.cosines(vector, [key for key in candidates if key not in cosines])
    coverage = max((share_of(query, candidate.counts) for candidate in lexical), default=0.0)
    trust = vector_trust(lexical_scores, cosines, coverage) if weights.vector else WORDS_ALONE
    others = [key for key in cosines if key not in candidates]
    if terms and others:
        counted = reader.counts(terms, others)
        candidates |= {candidate.key: candidate for candidate in counted}
        lexical_scores |= bm25(query, counted)
    return _Scores(candidates, cosines, fused(lexical_scores, cosines, weights.vector, trust), trust.model)


def _explained(query: Query, found: StoredChunk, scores: _Scores, boosts: Mapping[str, float]) -> Ranked:
    key = found.key
    parts = bm25_parts(query, scores.candidates[key]) if key in scores.candidates else {}
    explanation = Explanation(
        words=scores.fused[key].words,
        vector=scores.fused[key].vector,
        bm25=sum(parts.values()),
        cosine=scores.cosines.get(key),
        trust=scores.trust,
        matched=parts,
        headings=boosts["headings"],
        title=boosts["title"],
        labels=boosts["labels"],
        links_in=boosts["links_in"],
        links_out=boosts["links_out"],
    )
    return Ranked(found, explanation.score, explanation)


def _boosts(
    reader: StoreReader, query: Query, found: Sequence[StoredChunk], scores: _Scores, weights: Weights
) -> dict[int, dict[str, float]]:
    """Return what headings, title, labels and links add to each chunk."""
    links = _linked(reader, found, scores)
    documents = {
        name: _document_boosts(query, one, weights) for name, one in {one.document_id: one for one in found}.items()
    }
    headings = {(tuple(one.record["headings_path"]), one.source.language) for one in found}
    shares = {(path, language): _share(query, path, language) for path, language in headings}
    boosts: dict[int, dict[str, float]] = {}
    for one in found:
        into, out = links.get(one.document_id, (0.0, 0.0))
        boosts[one.key] = documents[one.document_id] | {
            "headings": weights.headings * shares[tuple(one.record["headings_path"]), one.source.language],
            "links_in": weights.links_in * into,
            "links_out": weights.links_out * out,
        }
    return boosts


def _document_boosts(query: Query, found: StoredChunk, weights: Weights) -> dict[str, float]:
    metadata, language = found.source.metadata, found.source.language
    return {
        "title": weights.title * _share(query, [metadata.get("title") or ""], language),
        "labels": weights.labels * _share(query, metadata.get("labels") or (), language),
    }


def _share(query: Query, texts: Iterable[str], language: str) -> float:
    text = "\n".join(texts)
    return share_of(query, set(document_terms(text, language))) if text else 0.0


def _linked(reader: StoreReader, found: Sequence[StoredChunk], scores: _Scores) -> dict[str, tuple[float, float]]:
    """Return for each document the best score linking to it and the best it links to, as shares of the best of all."""
    base: dict[str, float] = {}
    for one in found:  # they come best first
        base.setdefault(one.document_id, sum(scores.fused[one.key]))
    names = list(base)[:_LINKED]
    pairs: Any = reader.links(names) if len(names) > 1 else ()
    best = max(base.values(), default=0.0) or 1.0
    links: dict[str, tuple[float, float]] = {}
    for source, target in sorted(pairs):
        if source != target and source in base and target in base:
            into, out = links.get(target, (0.0, 0.0))
            links[target] = max(into, base[source] / best), out
            into, out = links.get(source, (0.0, 0.0))
            links[source] = into, max(out, base[target] / best)
    return links
