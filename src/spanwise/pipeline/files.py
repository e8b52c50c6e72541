"""chunk_files(): files, folders and documents to JSON lines."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Final, TypeVar

from spanwise.chunking.proposers import Propose, Proposer
from spanwise.chunking.strategies import strategy_of, with_options
from spanwise.chunking.strategy import StrategyLike
from spanwise.documents.offsets import Measure
from spanwise.errors import SpanwiseError
from spanwise.pipeline.chunk import checked_offsets
from spanwise.pipeline.guard import checked_limits
from spanwise.pipeline.jobs import Job, checked_workers, proposer_for
from spanwise.pipeline.process import DEFAULT_LIMITS, Chunked, Outcome, process_all
from spanwise.pipeline.settings import settings_from
from spanwise.readers import has_reader
from spanwise.readers.encodings import cleaned, decoded
from spanwise.readers.markdown.front_matter import front_matter_end, front_matter_metadata
from spanwise.records.columns import Texts, columns_of
from spanwise.records.dialects import DEFAULT_PREFIX, DialectContext, translated
from spanwise.records.json_lines import json_lines
from spanwise.records.record import records_of
from spanwise.sources.item import SourceItem
from spanwise.sources.listing import Listing, Source
from spanwise.text.tokens import Tokenizer

T = TypeVar("T")
_NOTES: Final = (".md", ".markdown")
_FRONT_MATTER: Final = 1 << 17  # bytes that hold it


@dataclass(frozen=True, slots=True)
class LineEncoder:
    """Encodes a chunked job as JSON lines, a record each, under Spanwise's names or those of a dialect."""

    dialect: str | None = None
    prefix: str = DEFAULT_PREFIX
    fields: tuple[str, ...] | None = None
    """Those that are kept, in order; None: all."""
    shared_ids: frozenset[str] = frozenset()
    """Ids in the front matter of several notes of the run."""

    def __call__(self, chunked: Chunked) -> bytes:
        """Return the lines."""
        run = chunked.run
        records = records_of(run)
        if self.dialect is not None:
            records = translated(records, self.dialect, DialectContext.of(run, self.prefix, self.shared_ids))
        if (names := self.fields) is not None:
            records = ({name: record[name] for name in names} for record in records)
        return json_lines(records, chunked.job.item.name)


@with_options
def chunk_files(
    sources: Source | Iterable[Source],
    strategy: str | StrategyLike | None = None,
    tokenizer: str | os.PathLike[str] | Tokenizer = "cl100k",
    *,
    dialect: str | None = None,
    offsets: Measure | Sequence[Measure] = (),
    proposer: Proposer | Propose | str | None = None,
    fields: Sequence[str] | None = None,
    texts: Texts | None = None,
    jobs: int = 1,
    file_timeout: float = DEFAULT_LIMITS.seconds,
    file_memory: int = DEFAULT_LIMITS.megabytes,
    follow_links: bool = False,
    **options: Any,
) -> Iterator[Outcome[bytes]]:
    """Chunk files, folders and documents, and yield an outcome for each, in order: JSON lines, or an error.

    `fields` are the names of those that are kept of each record, in order; or `texts` is `core`, `full` or `embedding`,
    and the other texts are left out. `jobs` is the number of processes that read. `options` are those of the strategy;
    `strategy`, `tokenizer` and `proposer` are as in `chunk`. What fails does not stop the rest: a file may take
    `file_timeout` seconds and `file_memory` megabytes; 0 means no limit. Links that leave a folder are passed over
    unless `follow_links` is true.
    """
    settings = settings_from(strategy, tokenizer, options, proposer=proposer)
    listing, measures = Listing(sources, has_reader, follow_links=follow_links), checked_offsets(offsets)
    columns = columns_of(dialect, measures, fields, texts)
    items, shared = _noted(listing, dialect)
    found = (Job(item, settings, offsets=measures) for item in items)
    run = partial(
        process_all,
        encode=LineEncoder(dialect, fields=columns.fields, shared_ids=frozenset(shared.values())),
        workers=checked_workers(jobs),
        limits=checked_limits(file_timeout, file_memory),
    )
    outcomes = _asking(found, run) if strategy_of(settings.strategy).asks_model else run(found)
    return with_shared_ids(outcomes, shared) if shared else outcomes


def _noted(listing: Listing, dialect: str | None) -> tuple[Iterable[SourceItem], dict[str, str]]:
    """Return items and the ids that several of them share; only for notes all must be known before the first."""
    if dialect != "notes":
        return listing, {}
    items = list(listing)
    return items, shared_note_ids(items)


def shared_note_ids(items: Iterable[SourceItem]) -> dict[str, str]:
    """Return the ids in the front matter of several notes, by the names of the items that have them."""
    found = {item.name: own for item in items if (own := _own_id(item))}
    times = Counter(found.values())
    return {name: own for name, own in found.items() if times[own] > 1}


def _own_id(item: SourceItem) -> str | None:
    """Return the id in the front matter of a note; None for what has none or can't be read, which the run reports."""
    if item.document is not None:
        own = item.document.metadata.extra.get("id")
    elif item.error is not None or not (item.format == "markdown" or item.name.lower().endswith(_NOTES)):
        return None
    else:
        try:
            text = cleaned(decoded(item.fetch()[:_FRONT_MATTER], item.name)[0])[0]
        except (SpanwiseError, OSError, ValueError):
            return None
        own = front_matter_metadata(text, end).get("extra", {}).get("id") if (end := front_matter_end(text)) else None
    return own if isinstance(own, str) else None


def with_shared_ids(outcomes: Iterable[Outcome[T]], shared: Mapping[str, str]) -> Iterator[Outcome[T]]:
    """Add a note to the outcome of each item whose front matter has the id of another."""
    for outcome in outcomes:
        own = shared.get(outcome.name)
        more = () if own is None else (f"its id {own!r} is that of another note, so it has its document id instead",)
        yield outcome._replace(notes=(*outcome.notes, *more))


def _asking(jobs: Iterable[Job], run: Callable[..., Iterator[Outcome[bytes]]]) -> Iterator[Outcome[bytes]]:
    listed = list(jobs)
    with proposer_for(listed) as proposer:
        yield from run(listed, proposer=proposer)
