"""chunk_files(): files, folders and documents to JSON lines."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from spanwise.chunking.strategies import strategy_of
from spanwise.pipeline.chunk import checked_offsets
from spanwise.pipeline.jobs import Job, proposer_for
from spanwise.pipeline.process import Chunked, Outcome, process_all
from spanwise.pipeline.settings import settings_from
from spanwise.readers import has_reader
from spanwise.records.dialects import DEFAULT_PREFIX, DialectContext, translated
from spanwise.records.json_lines import json_lines
from spanwise.records.record import records_of
from spanwise.sources.listing import Listing, Source


@dataclass(frozen=True, slots=True)
class LineEncoder:
    """Encodes a chunked job as JSON lines, a record each, under Spanwise's names or those of a dialect."""

    dialect: str | None = None
    prefix: str = DEFAULT_PREFIX

    def __call__(self, chunked: Chunked) -> bytes:
        """Return the lines."""
        run = chunked.run
        if self.dialect is None:
            return json_lines(records_of(run), chunked.job.item.name)
        context = DialectContext(run.document, heading_levels=run.heading_levels, prefix=self.prefix)
        return json_lines(translated(records_of(run), self.dialect, context), chunked.job.item.name)


def chunk_files(
    sources: Source | Iterable[Source],
    strategy: str | None = None,
    tokenizer: str | os.PathLike[str] = "cl100k",
    *,
    dialect: str | None = None,
    offsets: Sequence[str] = (),
    jobs: int = 1,
    **options: Any,
) -> Iterator[Outcome[bytes]]:
    """Chunk files, folders and documents, and yield an outcome for each, in order: JSON lines, or an error.

    `jobs` is the number of processes. `options` are those of the strategy. What fails does not stop the rest.
    """
    settings = settings_from(strategy, tokenizer, options)
    found = (Job(item, settings, offsets=checked_offsets(offsets)) for item in Listing(sources, has_reader))
    if not strategy_of(settings.strategy).asks_model:
        yield from process_all(found, LineEncoder(dialect), jobs)
        return
    listed = list(found)
    with proposer_for(listed) as proposer:
        yield from process_all(listed, LineEncoder(dialect), jobs, proposer)
