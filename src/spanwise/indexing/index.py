"""index(): files, folders and documents into a store, doing no more than what changed."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import Any, Final, NamedTuple

from spanwise.chunking.proposers import Proposer
from spanwise.embedding import Embedder, embedder_of
from spanwise.errors import OptionError, SpanwiseError
from spanwise.indexing.entries import EntryEncoder, document_bytes, fingerprint_of
from spanwise.indexing.identity import Names, gone
from spanwise.indexing.writer import DocumentReport, IndexWriter
from spanwise.pipeline.jobs import Job, proposer_for
from spanwise.pipeline.process import process_all
from spanwise.pipeline.settings import settings_from
from spanwise.readers import has_reader
from spanwise.sources.listing import Listing, Source
from spanwise.stores import Store, StoreWriter, opened
from spanwise.stores.values import DEFAULT_TENANT, DocumentState, Model

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


class IndexPlan(NamedTuple):
    """What a run has to do: jobs for new and changed documents, and reports on unchanged ones."""

    jobs: list[Job]
    unchanged: list[DocumentReport]


def index(
    sources: Source | Iterable[Source],
    store: str | os.PathLike[str] | Store,
    *,
    tenant: str | None = None,
    embedder: str | Embedder | None = "auto",
    strategy: str | None = None,
    tokenizer: str | os.PathLike[str] = "cl100k",
    jobs: int = 1,
    progress: Callable[[IndexEvent], None] | None = None,
    wait: float = 10.0,
    **options: Any,
) -> IndexReport:
    """Index a path, a folder, a `Document`, or any iterable of these, and return what was done.

    What did not change is neither read nor embedded again. Files that are gone from a folder that was given are
    deleted from the store; nothing else is. A document that can't be read counts as failed, and the rest goes on.
    `options` are those of the strategy; `jobs` is the number of processes; `wait` is the number of seconds to wait for
    another writer.
    """
    metadata = {} if tenant is None else {"tenant_id": tenant}
    settings = settings_from(strategy, tokenizer, options, metadata)
    listing, reports = Listing(sources, has_reader), list[DocumentReport]()
    with opened(store, create=True) as target:
        chosen = embedder_for(embedder, target.model())
        with target.writing(tenant or DEFAULT_TENANT, _model(chosen), wait) as writer:
            run = IndexRun(writer, chosen, progress=progress)
            items = iter(listing)
            while some := [Job(item, settings) for item in islice(items, _AT_ONCE)]:
                plan = run.plan(_for_tenant(job, tenant) for job in some)
                with proposer_for(plan.jobs) as proposer:
                    reports += run.write(plan, jobs, proposer)
            reports += run.remove(listing.paths, [error.subject for error in listing.failed])
    return _report(reports, dict(listing.passed_over))


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
        self._writer = IndexWriter(writer, embedder, dry=dry, stage=self._advance)
        self._progress = progress
        self._done: Counter[str] = Counter()
        self._total = 0
        self._locations: set[str] = set()

    def plan(self, jobs: Iterable[Job]) -> IndexPlan:
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
            if data is not None and named.item.document is None and (kept := kept + len(data)) <= _KEPT_BYTES:
                named = named._replace(item=replace(named.item, data=data))
            work.append(named)
        self._total += len(work)
        return IndexPlan(work, unchanged)

    def write(self, plan: IndexPlan, workers: int, proposer: Proposer | None = None) -> Iterator[DocumentReport]:
        """Process and write what changed, and yield a report on each document when it is safe in the store."""
        outcomes = process_all(plan.jobs, EntryEncoder(self._embedder), workers, proposer)
        return self._writer.write(plan.unchanged, outcomes)

    def gone(self, paths: Iterable[str], unseen: Iterable[str]) -> list[DocumentState]:
        """Return the stored documents whose files lay in `paths` and are gone; `unseen` couldn't be listed."""
        return gone(self._known.values(), paths, self._locations, unseen)

    def remove(self, paths: Iterable[str], unseen: Iterable[str]) -> Iterator[DocumentReport]:
        """Remove the documents whose files are gone, and yield a report on each."""
        return self._writer.remove(self.gone(paths, unseen))

    def _named(self, job: Job) -> tuple[Job, DocumentState | None]:
        """Return a job with its name in the store, and what the store knows of the document."""
        item = job.item
        if item.error is not None:
            return job, None
        if item.document is not None or "file_path" not in item.metadata:
            return job, self._known.get(item.name)
        name = self._names.name(item.name)
        self._locations.add(name.location)
        metadata = {**item.metadata, "file_path": name.file_path}
        return job._replace(item=replace(item, location=name.location, metadata=metadata)), name.known

    def _advance(self, stage: str, chunks: int) -> None:
        if stage == "chunk":
            self._report_progress("read", 1, self._total)
        self._report_progress(stage, chunks, None)

    def _report_progress(self, stage: str, amount: int, total: int | None) -> None:
        self._done[stage] += amount
        if self._progress:
            self._progress(IndexEvent(stage, self._done[stage], total))


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
        job._replace(settings=replace(job.settings, options={**job.settings.options, "max_calls": 0}))
        if job.asks_model
        else job
        for job in jobs
    ]


def _model(embedder: Embedder | None) -> Model | None:
    return Model(embedder.name, embedder.dimension) if embedder else None


def _for_tenant(job: Job, tenant: str | None) -> Job:
    """Return a job whose document belongs to the tenant; one of another tenant fails."""
    document = job.item.document
    if document is None or document.metadata.tenant_id == tenant:
        return job
    if document.metadata.tenant_id is None:
        document = replace(document, metadata=replace(document.metadata, tenant_id=tenant))
        return job._replace(item=replace(job.item, document=document))
    rule = f"is the tenant of this document, but it is indexed for {tenant or 'the tenant without a name'}"
    error = OptionError("tenant_id", rule, value=document.metadata.tenant_id)
    return job._replace(item=replace(job.item, document=None, error=error))


def _data_of(job: Job) -> bytes | None:
    """Return the bytes of a job; None if they can't be had: reading it will raise the error."""
    if job.item.document is not None:
        return document_bytes(job.item.document)
    with suppress(OSError, ValueError):
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
