"""`search()`: from a query to candidates, ranked chunks, passages and hits."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple, Unpack, overload

from spanwise.embedding import embedder_of
from spanwise.errors import ConnectionLostError, OptionError, SpanwiseError
from spanwise.records.dialects import Place, in_confluence
from spanwise.records.links.text_fragments import link_to_texts
from spanwise.records.record import prefix_of
from spanwise.retrieval.budget import Answer, CutPassage, answers_within, gathered, within_budget
from spanwise.retrieval.hits import Hit, Hits, SentenceScore, rounded
from spanwise.retrieval.passages import Passage, PassageUnit, as_units
from spanwise.retrieval.query import Query, looked_up, prepared
from spanwise.retrieval.ranking import Ranked, ranked
from spanwise.retrieval.request import SearchOptions, SearchRequest, check_dialect, checked_request
from spanwise.retrieval.reranked import load_model, reranked
from spanwise.stores import Store, StoreReader, opened
from spanwise.stores.values import Filters, Model, StoredChunk
from spanwise.text.terms import matches
from spanwise.text.tokens import tokenizer_of

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from spanwise.embedding import Embedder

_POOL: Final = 50  # chunks that are fetched, ranked and joined
_LARGEST_POOL: Final = 500
NEARLY_AS_GOOD: Final = 0.9  # of the best sentence's score: what `answer` returns
_SMALL_CHUNK: Final = 20  # tokens; a budget divided by this is the number of chunks that may be needed to fill it


@overload
def search(
    query: str,
    store: str | os.PathLike[str] | Store,
    tenant: str | None = None,
    *,
    dialect: None = None,
    **options: Unpack[SearchOptions],
) -> Hits: ...


@overload
def search(
    query: str,
    store: str | os.PathLike[str] | Store,
    tenant: str | None = None,
    *,
    dialect: Literal["confluence"],
    **options: Unpack[SearchOptions],
) -> list[dict[str, Any]]: ...


def search(
    query: str,
    store: str | os.PathLike[str] | Store,
    tenant: str | None = None,
    *,
    dialect: str | None = None,
    **options: Unpack[SearchOptions],
) -> Hits | list[dict[str, Any]]:
    """Return the passages or sentences of a store that answer a query, the best first.

    The store is an open one, or its path or address. Without a tenant only documents that belong to none are searched.
    All options are keywords: limit, budget, unit, answer, parents, labels, space, path, since, until, type, embedder,
    weights, reranker, reranker_chunks, reranker_timeout, tokenizer. With a `budget` of tokens the best sentences are
    returned, as `ranges` of their passages; `unit` is "passage" or "sentence" to have it otherwise. With
    `dialect="confluence"` the result is a list of dicts, one a chunk, each with a `score` and a `chunk` under that
    system's names.
    """
    if not isinstance(query, str):
        raise OptionError("query", "must be a string", value=type(query).__name__)
    request = checked_request(tenant, options)
    if dialect is not None:
        check_dialect(dialect, request)
    load_model(request.reranking)
    find: Callable[..., Any] = _hits if dialect is None else _in_dialect
    with opened(store) as opened_store:
        text = looked_up(query)
        meaning = _meaning(text, opened_store.model(), request.embedder)  # no snapshot is held meanwhile
        found: Hits | list[dict[str, Any]]
        try:
            found = find(text, meaning, opened_store, request)
        except ConnectionLostError:  # its snapshot is gone, but nothing was returned yet, and a search changes nothing
            found = find(text, meaning, opened_store, request)
        return found


class _Meaning(NamedTuple):
    """The vector of a query, the embedder that made it, and what is to be said about both."""

    vector: NDArray[np.float32] | None = None
    embedder: Embedder | None = None
    notes: tuple[str, ...] = ()

    def cosines(self, texts: Sequence[str]) -> Sequence[float]:
        """Return the cosine of the query and each text; vectors have length one."""
        if self.embedder is None or self.vector is None or not texts:
            return [0.0] * len(texts)
        found: list[float] = (self.embedder.embed(texts) @ self.vector).tolist()
        return found


def _in_dialect(text: str, meaning: _Meaning, store: Store, request: SearchRequest) -> list[dict[str, Any]]:
    with store.reading(request.tenant) as reader:
        query = prepared(text, reader)
        chunks = ranked(reader, query, meaning.vector, request.filters, request.weights, _pool(request))
    ordered, _ = reranked(chunks, text, request.reranking)
    records = ((one, one.found.record) for one in ordered[: request.limit])
    return [
        {"chunk": in_confluence(record, Place.restored(record)), "score": rounded(one.score)} for one, record in records
    ]


def _hits(text: str, meaning: _Meaning, store: Store, request: SearchRequest) -> Hits:
    with store.reading(request.tenant) as reader:  # all results come from one snapshot
        query = prepared(text, reader)
        chunks = ranked(reader, query, meaning.vector, request.filters, request.weights, _pool(request))
        parents = _parents(reader, chunks) if request.parents else {}
    ordered, notes = reranked(chunks, text, request.reranking)  # no snapshot is held meanwhile
    units = as_units(ordered, parents)
    if request.unit == "sentence":
        hits = _sentence_hits(query, units, request, meaning)
    elif request.budget is None:
        hits = [_hit(query, one) for one in gathered(units, request.limit)]
    else:
        tokenizer = tokenizer_of(request.tokenizer)
        taken = within_budget(units, request.limit, request.budget, tokenizer, lambda one: _marks(query, one))
        hits = [_hit(query, one) for one in taken]
    return Hits(hits, [*meaning.notes, *notes, *([] if hits else [_empty_note(query, request)])])


def _sentence_hits(query: Query, units: Sequence[PassageUnit], request: SearchRequest, meaning: _Meaning) -> list[Hit]:
    """Return the best sentences: each a hit of its own, or, within a budget, those of a passage together."""
    from spanwise.retrieval.late_sentences import LONGEST, PASSAGES, ranked_sentences  # imports NumPy

    tokenizer = tokenizer_of(request.tokenizer)
    passages = [one.passage for one in gathered(units[:PASSAGES], PASSAGES, worth_joining=0.0)]
    similarity = None if meaning.vector is None else meaning.cosines
    longest = LONGEST if request.budget is None else min(LONGEST, request.budget // 2)
    answers: list[Answer] = []
    while passages and not answers and longest:  # within a very small budget, only a part of a sentence may fit
        sentences = ranked_sentences(passages, query, tokenizer, similarity, longest)
        if request.budget is None and not request.answer:
            answers = [Answer(one.passage, ((one.start, one.end),), one) for one in sentences[: request.limit]]
        else:
            share = NEARLY_AS_GOOD if request.answer else 0.0
            answers = answers_within(sentences, request.limit, request.budget, tokenizer, share)
        longest //= 2
    return [_answer_hit(query, one) for one in answers]


def _answer_hit(query: Query, answer: Answer) -> Hit:
    passage, best = answer.passage, answer.best
    whole = _hit(query, CutPassage(passage, 0, len(passage.text)))
    segments = [one for part in answer.ranges for one in passage.source_ranges(*part)]
    texts = [passage.text[one.at : one.until] for one in segments]
    score = SentenceScore(best.words, best.from_passage, best.vector, best.cosine, best.matched())
    first, last = (passage.record_at(position) for position in (segments[0].start, segments[-1].end - 1))
    return replace(
        whole,
        score=best.score,
        headings_path=tuple(best.unit.found.record["headings_path"]),
        page_start=first["page_start"],
        page_end=last["page_end"],
        ranges=tuple((one.start, one.end) for one in segments),
        answer="\n".join(texts),
        line_start=passage.line_at(segments[0].at),
        url=link_to_texts(passage.units[0].found.source.metadata.get("source_url"), texts) or whole.url,
        explain=replace(best.unit.explanation, sentence=score),
    )


def _pool(request: SearchRequest) -> int:
    """Return how many chunks to fetch: enough for all passages that may be returned."""
    needed = 4 * request.limit if request.budget is None else request.budget // _SMALL_CHUNK
    return min(max(_POOL, needed), _LARGEST_POOL)


def _empty_note(query: Query, request: SearchRequest) -> str:
    """Return a note on why nothing was found; it depends on the tenant's own documents and on no others."""
    if not query.chunks:
        return "there are no documents here" + (f" for the tenant {request.tenant}" if request.tenant else "")
    if not query.words:
        return "the question has no words to look for"
    if request.filters != Filters():
        return "nothing that passes the filters has these words"
    return "none of these words stands in the documents"


def _meaning(text: str, model: Model | None, chosen: str | Embedder | None) -> _Meaning:
    """Embed a query with the store's own model; if it can't be used, there is no vector but a note."""
    if model is None or chosen is None or not text:
        return _Meaning()
    try:
        embedder = embedder_of(model.name if chosen == "auto" else chosen)
    except SpanwiseError as error:
        if chosen != "auto":
            raise
        return _Meaning(notes=(_unusable_note(model, error),))
    if embedder is None:
        return _Meaning()
    if embedder.name != model.name or embedder.dimension != model.dimension:
        rule = f"must be the model whose vectors the store holds ({model.name}, {model.dimension} numbers)"
        raise OptionError("embedder", rule, value=f"{embedder.name}, {embedder.dimension} numbers", hint='try "auto"')
    try:
        return _Meaning(embedder.embed_query(text), embedder)
    except SpanwiseError as error:
        return _Meaning(notes=(_unusable_note(model, error),))


def _unusable_note(model: Model, error: SpanwiseError) -> str:
    reason = str(error).replace("\nhint: ", "; hint: ")
    return f"the model {model.name} can't be used, so the words alone were searched: {reason}"


def _parents(reader: StoreReader, chunks: Sequence[Ranked]) -> dict[str, StoredChunk]:
    wanted = dict.fromkeys(one.found.record.get("parent_id") for one in chunks)
    return {found.record["chunk_id"]: found for found in reader.fetch_ids([name for name in wanted if name])}


def _marks(query: Query, passage: Passage) -> list[tuple[int, int]]:
    return matches(passage.text, passage.best.found.source.language, query.distinctive)


def _hit(query: Query, taken: CutPassage) -> Hit:
    passage, start, end = taken
    whole = (start, end) == (0, len(passage.text))
    text = passage.text[start:end]
    first, best = passage.units[0].found, passage.best
    record, metadata, language = first.record, first.source.metadata, first.source.language
    full_text = passage.before + text + passage.after if whole else text
    prefix = prefix_of(record)
    navigation = {**(record["navigation"] or {}), "text_length": len(text)}
    return Hit(
        document_id=first.document_id,
        chunk_ids=tuple(name for unit in passage.units for name in unit.chunk_ids),
        score=best.score,
        normalized_text=text,
        full_text=full_text,
        embedding_text=prefix + full_text,
        headings_path=tuple(record["headings_path"]),
        page_start=record["page_start"],
        page_end=passage.units[-1].found.record["page_end"],
        char_start=passage.source_offset(start),
        char_end=passage.source_offset(end - 1) + 1,
        ranges=tuple((one.start, one.end) for one in passage.source_ranges(start, end)),
        answer="\n".join(text[one.at - start : one.until - start] for one in passage.source_ranges(start, end)),
        line_start=passage.line_at(start),
        verbatim=passage.is_verbatim(start, end),
        truncated=not whole,
        url=navigation.get("url") or metadata.get("source_url"),
        title=metadata.get("title"),
        file_path=metadata.get("file_path"),
        labels=tuple(metadata.get("labels") or ()),
        updated_at=metadata.get("updated_at"),
        language=language,
        parent_id=record["chunk_id"] if passage.units[0].is_parent else None,
        marks=tuple(matches(text, language, query.distinctive)),
        navigation=navigation,
        explain=best.explanation,
    )
