"""chunk_files(): files, folders and documents to JSON lines."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from spanwise.chunking.strategies import strategy_of
from spanwise.errors import OptionError, did_you_mean
from spanwise.pipeline.chunk import checked_offsets
from spanwise.pipeline.jobs import Job, checked_workers, proposer_for
from spanwise.pipeline.process import Chunked, Outcome, process_all
from spanwise.pipeline.settings import settings_from
from spanwise.readers import has_reader
from spanwise.records.dialects import DEFAULT_PREFIX, DIALECTS, DialectContext, translated
from spanwise.records.json_lines import json_lines
from spanwise.records.record import records_of
from spanwise.sources.listing import Listing, Source
from spanwise.text.tokens import Tokenizer


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
    tokenizer: str | os.PathLike[str] | Tokenizer = "cl100k",
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
    if dialect is not None and dialect not in DIALECTS:
        raise OptionError("dialect", "is not known", value=dialect, hint=did_you_mean(str(dialect), DIALECTS))
    listing, measures = Listing(sources, has_reader), checked_offsets(offsets)
    found = (Job(item, settings, offsets=measures) for item in listing)
    return _outcomes(found, LineEncoder(dialect), checked_workers(jobs), strategy_of(settings.strategy).asks_model)


def _outcomes(jobs: Iterable[Job], encode: LineEncoder, workers: int, asks_model: bool) -> Iterator[Outcome[bytes]]:
    listed = list(jobs) if asks_model else jobs
    with proposer_for(listed if asks_model else ()) as proposer:
        yield from process_all(listed, encode, workers, proposer)
