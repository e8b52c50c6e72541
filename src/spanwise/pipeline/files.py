"""chunk_files(): files, folders and documents to JSON lines."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from spanwise.chunking.proposers import Propose, Proposer
from spanwise.chunking.strategies import strategy_of, with_options
from spanwise.chunking.strategy import StrategyLike
from spanwise.pipeline.chunk import checked_offsets
from spanwise.pipeline.guard import checked_limits
from spanwise.pipeline.jobs import Job, checked_workers, proposer_for
from spanwise.pipeline.process import DEFAULT_LIMITS, Chunked, Outcome, process_all
from spanwise.pipeline.settings import settings_from
from spanwise.readers import has_reader
from spanwise.records.columns import columns_of
from spanwise.records.dialects import DEFAULT_PREFIX, DialectContext, translated
from spanwise.records.json_lines import json_lines
from spanwise.records.record import records_of
from spanwise.sources.listing import Listing, Source
from spanwise.text.tokens import Tokenizer


@dataclass(frozen=True, slots=True)
class LineEncoder:
    """Encodes a chunked job as JSON lines, a record each, under Spanwise's names or those of a dialect."""

    dialect: str | None = None
    prefix: str = DEFAULT_PREFIX
    fields: tuple[str, ...] | None = None
    """Those that are kept, in order; None: all."""

    def __call__(self, chunked: Chunked) -> bytes:
        """Return the lines."""
        run = chunked.run
        records = records_of(run)
        if self.dialect is not None:
            context = DialectContext(run.document, heading_levels=run.heading_levels, prefix=self.prefix)
            records = translated(records, self.dialect, context)
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
    offsets: Sequence[str] = (),
    proposer: Proposer | Propose | str | None = None,
    fields: Sequence[str] | None = None,
    texts: str | None = None,
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
    found = (Job(item, settings, offsets=measures) for item in listing)
    run = partial(
        process_all,
        encode=LineEncoder(dialect, fields=columns.fields),
        workers=checked_workers(jobs),
        limits=checked_limits(file_timeout, file_memory),
    )
    return _asking(found, run) if strategy_of(settings.strategy).asks_model else run(found)


def _asking(jobs: Iterable[Job], run: Callable[..., Iterator[Outcome[bytes]]]) -> Iterator[Outcome[bytes]]:
    listed = list(jobs)
    with proposer_for(listed) as proposer:
        yield from run(listed, proposer=proposer)
