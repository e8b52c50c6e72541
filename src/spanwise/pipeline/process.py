"""The way of one job, or of many: fetch, read, chunk, encode. What `encode` returns is all that leaves a worker.

A job that fails has an outcome like any other, so the rest goes on. Workers return what `encode` makes, never chunks:
pickling those would copy the document once a chunk.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Final, Generic, NamedTuple, TypeVar

from spanwise.chunking.proposers import Answers, Proposer
from spanwise.chunking.strategy import ModelStrategy
from spanwise.chunking.task import ChunkingTask
from spanwise.documents.document import Document
from spanwise.errors import SpanwiseError, UnreadableError
from spanwise.native.gc_pause import collector_paused
from spanwise.pipeline.chunk import Prepared, finish, prepare
from spanwise.pipeline.jobs import Job
from spanwise.pipeline.workers import batched, in_order
from spanwise.readers import load, read_bytes
from spanwise.records.run import Run

_ASKED_AHEAD: Final = 32  # documents that a model may have been asked about before the first of them is done

T = TypeVar("T")


class Chunked(NamedTuple):
    """A job that is read and chunked; `encode` turns it into what is handed on."""

    job: Job
    data: bytes | None
    """The bytes; None for a document that was given."""
    document: Document
    task: ChunkingTask
    run: Run


class Outcome(NamedTuple, Generic[T]):
    """What became of a job: a value or an error; `notes` are what a reader warns of, `size` is in bytes."""

    job: Job
    value: T | None = None
    size: int = 0
    notes: tuple[str, ...] = ()
    error: SpanwiseError | None = None

    @property
    def name(self) -> str:
        """The name of the source item."""
        return self.job.item.name


class _PreparedJob(NamedTuple):
    """A job that is read and prepared; with the answers of a model still to come."""

    job: Job
    data: bytes | None
    document: Document
    prepared: Prepared
    answers: Answers | None = None


def process(job: Job, encode: Callable[[Chunked], T], proposer: Proposer | None = None) -> Outcome[T]:
    """Fetch, read, chunk and encode one job."""
    with collector_paused:
        return guarded(job, lambda: _finished(_prepared(job, proposer), encode))


def process_all(
    jobs: Iterable[Job], encode: Callable[[Chunked], T], workers: int = 1, proposer: Proposer | None = None
) -> Iterator[Outcome[T]]:
    """Process jobs in one process or several, and yield their outcomes in the order of the jobs.

    Jobs that ask a model stay in this process, where one proposer keeps the bounds for all of them.
    """
    work = partial(_process_batch, encode=encode)
    if proposer is None:
        yield from in_order(work, batched((job, job.item.size) for job in jobs), workers, worker_died)
        return
    listed = list(jobs)
    others = ((job, job.item.size) for job in listed if not job.asks_model)
    others_done = in_order(work, batched(others), workers, worker_died)
    asked = _asked(proposer, (job for job in listed if job.asks_model), encode)
    for job in listed:
        yield next(asked if job.asks_model else others_done)


def read_job(job: Job) -> tuple[bytes | None, Document]:
    """Fetch and read the item of a job; a document that is given stays as it is."""
    item = job.item
    if item.error is not None:
        raise item.error
    if item.document is not None:
        return None, item.document
    metadata = {**item.metadata, **job.settings.metadata}
    data, found = load(item.name, item.fetch, item.format)
    return data, read_bytes(data, item.name, found, metadata, job.reading)


def worker_died(job: Job) -> Outcome[T]:
    """Return the outcome of a job that ended its process."""
    rule = "ended the process that read it (out of memory?)"
    error = UnreadableError(job.item.name, rule, hint="try it alone, with --jobs 1")
    return Outcome(job.without_data(), error=error)


def _process_batch(jobs: list[Job], encode: Callable[[Chunked], T]) -> list[Outcome[T]]:
    return [process(job, encode) for job in jobs]


def _prepared(job: Job, proposer: Proposer | None) -> _PreparedJob:
    data, document = read_job(job)
    settings = job.settings
    prepared = prepare(document, settings.strategy, settings.tokenizer, settings.options)
    answers: Answers | None = None
    if proposer is not None and isinstance(prepared.strategy, ModelStrategy):
        questions = prepared.strategy.questions(prepared.task)
        answers = proposer.ask(prepared.task, questions, settings.options)
    return _PreparedJob(job, data, document, prepared, answers)


def _finished(begun: _PreparedJob, encode: Callable[[Chunked], T]) -> Outcome[T]:
    job, data, document, prepared, answers = begun
    run = finish(prepared, answers, job.offsets).run
    value = encode(Chunked(job, data, document, prepared.task, run))
    notes = tuple(dict.fromkeys(item.reason for item in document.left_out if not item.usual))
    return Outcome(job.without_data(), value, len(data or ()), notes)


def _asked(proposer: Proposer, jobs: Iterable[Job], encode: Callable[[Chunked], T]) -> Iterator[Outcome[T]]:
    """Read ahead of the answers, so that the model is never idle, but not far, so that memory stays flat."""
    waiting: deque[Outcome[_PreparedJob]] = deque()

    def done(first: Outcome[_PreparedJob]) -> Outcome[T]:
        begun = first.value
        if begun is None:
            return Outcome(first.job, error=first.error)
        return guarded(begun.job, lambda: _finished(begun, encode))

    for job in jobs:
        waiting.append(guarded(job, partial(_asked_about, job, proposer)))
        if len(waiting) > _ASKED_AHEAD:
            yield done(waiting.popleft())
    while waiting:
        yield done(waiting.popleft())


def _asked_about(job: Job, proposer: Proposer) -> Outcome[_PreparedJob]:
    return Outcome(job, _prepared(job, proposer))


def guarded(job: Job, work: Callable[[], Outcome[T]]) -> Outcome[T]:
    """Return the outcome of `work`, or one with the error that it raised."""
    try:
        return work()
    except SpanwiseError as error:
        return Outcome(job.without_data(), error=error)
    except (MemoryError, RecursionError) as error:
        rule = "is too large for this machine's memory" if isinstance(error, MemoryError) else "is nested too deeply"
        return Outcome(job.without_data(), error=UnreadableError(job.item.name, rule))
