"""index(): files, folders and documents into a store, doing no more than what changed."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field, replace
from typing import Any, Final, NamedTuple

from spanwise.chunking.proposers import Propose, Proposer
from spanwise.chunking.strategies import with_options
from spanwise.chunking.strategy import StrategyLike
from spanwise.documents.document import derived_document_id
from spanwise.embedding import Embedder, embedder_of
from spanwise.errors import OptionError, SpanwiseError
from spanwise.indexing.entries import EntryEncoder, StoreEntries, document_bytes, fingerprint_of, has_settings
from spanwise.indexing.identity import Names, gone
from spanwise.indexing.writer import DocumentReport, IndexWriter
from spanwise.pipeline.guard import Limits, checked_limits
from spanwise.pipeline.jobs import NO_CALLS, Job, checked_workers, proposer_for
from spanwise.pipeline.process import DEFAULT_LIMITS, Outcome, process_all
from spanwise.pipeline.settings import settings_from
from spanwise.readers import has_reader, lost_reader
from spanwise.sources.item import FileItem, SourceItem
from spanwise.sources.listing import Listing, Source
from spanwise.stores import Store, StoreWriter, opened, store_files
from spanwise.stores.values import DEFAULT_TENANT, DocumentState, Model, checked_tenant
from spanwise.text.terms import check_installed
from spanwise.text.tokens import Tokenizer

_AT_ONCE: Final = 1_000  # source items that are planned together
_KEPT_BYTES: Final = 1 << 28  # of changed files that are kept between the comparison and the reading


class IndexEvent(NamedTuple):
    """How far a stage of an indexing run is: `read` counts documents, `chunk`, `embed` and `write` count chunks."""

    stage: str
    done: int
    total: int | None = None
    """None while it is unknown."""


@dataclass(frozen=True, slots=True)
class IndexReport:
    """What an indexing run did: numbers of documents by status, and what became of each document."""

    added: int = 0
    changed: int = 0
    unchanged: int = 0
    deleted: int = 0
    failed: int = 0
    chunks: int = 0
    """Chunks that the store now has of these documents."""
    embedded: int = 0
    documents: tuple[DocumentReport, ...] = field(default=(), repr=False)
    passed_over: dict[str, int] = field(default_factory=dict)
    """How many files of a folder were not read, by reason."""
    other_settings: int = 0
    """How many of the changed documents were indexed before with other settings, or by another version."""


class IndexPlan(NamedTuple):
    """What a run has to do: jobs for new and changed documents, and reports on unchanged ones."""

    jobs: list[Job]
    unchanged: list[DocumentReport]


@with_options
def index(
    sources: Source | Iterable[Source],
    store: str | os.PathLike[str] | Store,
    *,
    tenant: str | None = None,
    embedder: str | Embedder | None = "auto",
    strategy: str | StrategyLike | None = None,
    tokenizer: str | os.PathLike[str] | Tokenizer = "cl100k",
    proposer: Proposer | Propose | str | None = None,
    jobs: int = 1,
    progress: Callable[[IndexEvent], None] | None = None,
    wait: float = 10.0,
    file_timeout: float = DEFAULT_LIMITS.seconds,
    file_memory: int = DEFAULT_LIMITS.megabytes,
    follow_links: bool = False,
    **options: Any,
) -> IndexReport:
    """Index a path, a folder, a `Document`, or any iterable of these, and return what was done.

    What did not change is neither read nor embedded again. Files that are gone from a folder that was given are
    deleted from the store; nothing else is. A document that can't be read counts as failed, and the rest goes on.
    `options` are those of the strategy; `strategy`, `tokenizer` and `proposer` are as in `chunk`; `embedder` is a name,
    an object, or None for none. `jobs` is the number of processes that read; `wait` is the number of seconds to wait
    for another writer. A file may take `file_timeout` seconds and `file_memory` megabytes; 0 means no limit. Links that
    leave a folder are passed over unless `follow_links` is true.
    """
    checked_tenant(tenant)
    metadata = {} if tenant is None else {"tenant_id": tenant}
    settings = settings_from(strategy, tokenizer, options, metadata, proposer)
    listing = Listing(sources, has_reader, store_files(store), follow_links=follow_links)
    workers = checked_workers(jobs)
    limits = checked_limits(file_timeout, file_memory)
    reports: list[DocumentReport] = []
    check_installed()
    if embedder != "auto":
        embedder = embedder_for(embedder, None)
        _model(embedder)  # what can't be used or loaded leaves no empty store behind
    with opened(store, create=True) as target, ExitStack() as stack:
        chosen = embedder_for(embedder, target.model())
        writer = stack.enter_context(target.writing(tenant or DEFAULT_TENANT, _model(chosen), wait))
        run, asked = IndexRun(writer, chosen, progress=progress), None
        for some, is_last in _batches(listing, _AT_ONCE):
            plan = run.plan((_for_tenant(Job(item, settings), tenant) for item in some), is_last=is_last)
            if asked is None and any(job.asks_model for job in plan.jobs):
                asked = stack.enter_context(proposer_for(plan.jobs))  # one for the run, so that its limits hold
            reports += run.write(plan, workers, asked, limits)
        reports += run.remove(listing.paths, [error.subject for error in listing.failed], listing.without_reader)
    return replace(_report(reports, dict(listing.passed_over)), other_settings=run.other_settings)


def _batches(items: Iterable[SourceItem], size: int) -> Iterator[tuple[list[SourceItem], bool]]:
    """Yield items in batches, and whether a batch is the last; what the source raises is raised after its items."""
    batch: list[SourceItem] = []
    try:
        for item in items:
            if len(batch) == size:
                yield batch, False
                batch = []
            batch.append(item)
    except Exception:  # not Ctrl-C, and not the end of this generator
        yield batch, False
        raise
    yield batch, True


class IndexRun:
    """One run over the documents of a tenant: plan, write, then remove what is gone."""

    def __init__(
        self,
        writer: StoreWriter,
        embedder: Embedder | None,
        *,
        dry: bool = False,
        progress: Callable[[IndexEvent], None] | None = None,
    ) -> None:
        self._known = writer.known()
        self._names = Names(self._known.values())
        self._embedder = embedder.name if embedder else ""
        self._writer = IndexWriter(writer, embedder, known=self._known, dry=dry, stage=self._advance)
        self._progress = progress
        self._done: Counter[str] = Counter()
        self._planned, self._all_planned = 0, False
        self._locations: set[str] = set()
        self.other_settings = 0

    def plan(self, jobs: Iterable[Job], *, is_last: bool = True) -> IndexPlan:
        """Name the documents, and separate those that did not change; each file is fetched once."""
        work: list[Job] = []
        unchanged: list[DocumentReport] = []
        kept = 0
        for job in jobs:
            named, known = self._named(job)
            data = _data_of(named) if known else None
            if known and data is not None and fingerprint_of(named, data, self._embedder) == known.fingerprint:
                name, chunks = named.item.name, known.chunks
                unchanged.append(DocumentReport(known.document_id, "unchanged", chunks, file=name, kept=chunks))
                continue
            if known and not has_settings(known.fingerprint, named):
                self.other_settings += 1
            if data is not None and named.item.document is None and (kept := kept + len(data)) <= _KEPT_BYTES:
                named = named._replace(item=replace(named.item, data=data))
            work.append(named)
        self._planned += len(work)
        self._all_planned = is_last
        if is_last:
            self._advance("read", 0)
        return IndexPlan(work, unchanged)

    def write(
        self, plan: IndexPlan, workers: int, proposer: Proposer | None = None, limits: Limits = DEFAULT_LIMITS
    ) -> Iterator[DocumentReport]:
        """Process and write what changed, and yield a report on each document when it is safe in the store."""
        outcomes = process_all(plan.jobs, EntryEncoder(self._embedder), workers, proposer, limits)
        return self._writer.write(plan.unchanged, map(self._read, outcomes))

    def gone(self, paths: Iterable[str], unseen: Iterable[str]) -> list[DocumentState]:
        """Return the stored documents whose files lay in `paths` and are gone; `unseen` couldn't be listed."""
        return gone(self._known.values(), paths, self._locations, unseen)

    def remove(
        self, paths: Iterable[str], unseen: Iterable[str], without_reader: Container[str] = ()
    ) -> Iterator[DocumentReport]:
        """Remove the documents whose files are gone, and yield a report on each.

        Files `without_reader` are there, and were read once: their documents stay, and count as failed.
        """
        lost = self.gone(paths, unseen)
        for one in lost:
            if one.location in without_reader:
                error = lost_reader(str(one.file_path or one.location))
                yield DocumentReport(one.document_id, "failed", one.chunks, file=one.file_path, error=error)
        yield from self._writer.remove([one for one in lost if one.location not in without_reader])

    def _named(self, job: Job) -> tuple[Job, DocumentState | None]:
        """Return a job with its name in the store, and what the store knows of the document."""
        item = job.item
        if item.error is not None:
            return job, None
        if isinstance(item, FileItem):
            name = self._names.name(item.path, item.location)
            self._locations.add(name.location)
            metadata = {**item.metadata, "file_path": name.file_path}
            return job._replace(item=replace(item, location=name.location, metadata=metadata)), name.known
        known = self._names.known_at(item.location) if item.location else self._known.get(_document_id(item))
        if known and item.document is not None:  # a document that was a file keeps its location
            item = replace(item, location=known.location)
        return job._replace(item=item), known

    def _read(self, outcome: Outcome[StoreEntries]) -> Outcome[StoreEntries]:
        self._advance("read", 1)
        return outcome

    def _advance(self, stage: str, amount: int) -> None:
        self._done[stage] += amount
        if self._progress:
            total = self._planned if stage == "read" and self._all_planned else None
            self._progress(IndexEvent(stage, self._done[stage], total))


def _document_id(item: SourceItem) -> str:
    """Return the id that an item's document will have; "" if that depends on its content."""
    if item.document is not None:
        return item.document.document_id
    metadata = item.metadata
    if metadata.get("document_id"):
        return str(metadata["document_id"])
    named = metadata.get("source_url") or metadata.get("file_path")
    return derived_document_id(metadata, "") if named else ""


def embedder_for(chosen: str | Embedder | None, model: Model | None) -> Embedder | None:
    """Return the chosen embedder; for `auto` that of the store's vectors, else the default one if it is installed."""
    if chosen != "auto":
        return embedder_of(None if chosen == "none" else chosen)
    if model is None:
        return embedder_of("auto")
    try:
        return embedder_of(model.name)
    except SpanwiseError as error:
        cause = " ".join(str(error).split()).rstrip(".")
        rule = f"has vectors of {model.name}, which can't be used here ({cause})"
        hint = "install it, or say --embedder none: then what is new is found by its words alone"
        raise OptionError("the store", rule, hint=hint) from error


def without_calls(jobs: Sequence[Job]) -> list[Job]:
    """Return jobs that ask no model: what they would do is then known from the answers in the cache."""
    return [
        job._replace(settings=replace(job.settings, options={**job.settings.options, **dict([NO_CALLS])}))
        if job.asks_model
        else job
        for job in jobs
    ]


def _model(embedder: Embedder | None) -> Model | None:
    return Model(embedder.name, embedder.dimension) if embedder else None


def _for_tenant(job: Job, tenant: str | None) -> Job:
    """Return a job whose document belongs to the tenant; one of another tenant fails."""
    item = job.item
    own = item.metadata.get("tenant_id") if item.document is None else item.document.metadata.tenant_id
    if own == tenant or (own is None and item.document is None):
        return job
    if own is None and item.document is not None:
        document = replace(item.document, metadata=replace(item.document.metadata, tenant_id=tenant))
        return job._replace(item=replace(item, document=document))
    rule = f"is the tenant of this document, but it is indexed for {tenant or 'the tenant without a name'}"
    return job._replace(item=replace(item, document=None, error=OptionError("tenant_id", rule, value=own)))


def _data_of(job: Job) -> bytes | None:
    """Return the bytes of a job; None if they can't be fetched: reading it will raise the error."""
    if job.item.document is not None:
        return document_bytes(job.item.document)
    with suppress(Exception):  # a source of the user's own may raise anything
        return job.item.fetch()
    return None


def _report(reports: Sequence[DocumentReport], passed_over: dict[str, int]) -> IndexReport:
    statuses = Counter(report.status for report in reports)
    return IndexReport(
        **{name: statuses[name] for name in ("added", "changed", "unchanged", "deleted", "failed")},
        chunks=sum(report.chunks for report in reports),
        embedded=sum(report.embedded for report in reports),
        documents=tuple(reports),
        passed_over=passed_over,
    )
