"""Job: a source item with the settings in force for it, and what a list of jobs needs: workers, a proposer."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Final, NamedTuple

from spanwise.chunking.proposers import Proposer, endpoint_options, proposer_of, refuse_endpoint
from spanwise.chunking.strategies import DEFAULT_STRATEGY, default_strategy, strategy_of
from spanwise.chunking.strategies.smart import ENDPOINT_OPTIONS
from spanwise.errors import OptionError
from spanwise.pipeline.settings import (
    Config,
    Layer,
    Settings,
    check_metadata,
    check_tokenizer,
    in_force,
    settings_of,
    with_extra,
)
from spanwise.readers import ReadOptions, expected_format
from spanwise.sources.item import FileItem, SourceItem

_WORTH_A_WORKER: Final = 2_000_000  # bytes of text; a process more costs about a fifth of a second
NO_CALLS: Final = ("max_calls", 0)
"""The option that keeps `smart` from asking anyone."""
_IDENTIFYING: Final = ("document_id", "source_url", "file_path", "page_id")


class Job(NamedTuple):
    """A source item, and how it is read and chunked."""

    item: SourceItem
    settings: Settings
    reading: ReadOptions = ReadOptions()
    offsets: tuple[str, ...] = ()

    @property
    def asks_model(self) -> bool:
        """Whether its strategy needs a proposer."""
        return strategy_of(self.settings.strategy).asks_model

    def __repr__(self) -> str:
        """Show the item and the strategy: settings and passwords may be secret."""
        return f"Job({self.item.name!r}, {self.settings.strategy_name!r})"

    def without_data(self) -> Job:
        """Return the same job without its bytes or document, which outcomes don't need."""
        item = self.item
        if item.data is None and item.document is None:
            return self
        return self._replace(item=replace(item, data=None, document=None))


def jobs_of(
    items: Iterable[SourceItem],
    config: Config,
    layers: Sequence[Layer],
    reading: ReadOptions,
    offsets: tuple[str, ...] = (),
) -> list[Job]:
    """Return a job for each item: the config file's settings for it, overridden by `layers`.

    Raise OptionError where several documents would get metadata that only one can have: their ids would be the same.
    """
    items, known, jobs = list(items), dict[tuple[str, ...], Settings](), list[Job]()
    defaults = {DEFAULT_STRATEGY: 0} | {default_strategy(expected_format(item.name, item.format)): 0 for item in items}
    for item in items:
        own = config.layers(item.path if isinstance(item, FileItem) else None)
        key = tuple(layer.origin for layer in own)
        if key not in known:  # equal settings are checked once
            known[key] = with_checked_extra(settings_of(in_force([*own, *layers], [*defaults])))
            check_tokenizer(known[key].tokenizer)
        jobs.append(Job(item, known[key], reading, offsets))
    _refuse_shared_metadata(jobs)
    return jobs


def _refuse_shared_metadata(jobs: Sequence[Job]) -> None:
    for name in _IDENTIFYING:
        named = Counter(job.settings.metadata[name] for job in jobs if name in job.settings.metadata)
        if (times := max(named.values(), default=0)) > 1:
            rule = f"names one document, but {times:,} would get it"
            raise OptionError(f"meta {name}", rule, hint="give it for one file, or a [[files]] entry for each")


def with_checked_extra(settings: Settings) -> Settings:
    """Return settings whose metadata is checked, with the user's own fields among its `extra`."""
    check_metadata(settings.metadata)
    return replace(settings, metadata=with_extra(settings.metadata))


def checked_workers(jobs: int) -> int:
    """Return a number of processes, 0 for one a processor; raise OptionError if it is none."""
    if isinstance(jobs, bool) or not isinstance(jobs, int) or jobs < 0:
        raise OptionError("jobs", "must be the number of processes", value=jobs, hint="try 2, or 0 for all processors")
    return jobs or os.cpu_count() or 1


def workers_for(wanted: int, jobs: Sequence[Job]) -> int:
    """Return how many processes are worth their start; `wanted` is the number given, 0 for as many as pay."""
    size = sum(job.item.size for job in jobs)
    most = wanted or min(os.cpu_count() or 1, size // _WORTH_A_WORKER)
    return max(1, min(most, len(jobs)))


@contextmanager
def proposer_for(jobs: Iterable[Job]) -> Iterator[Proposer | None]:
    """Open one proposer for all jobs that need one; raise OptionError before any work if it can't be asked."""
    settings = {id(job.settings): job.settings for job in jobs if job.asks_model}
    own = next((one.proposer for one in settings.values() if one.proposer is not None), None)
    if own is not None:
        for one in settings.values():
            refuse_endpoint({name: value for name, value in one.options.items() if (name, value) != NO_CALLS})
        yield proposer_of(own)
        return
    asking = [endpoint_options(one.options) for one in settings.values()]
    if not asking:
        yield None
        return
    with Proposer(**{name: getattr(asking[0], name) for name in ENDPOINT_OPTIONS}) as proposer:
        yield proposer
