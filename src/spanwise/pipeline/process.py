"""The way of one job, or of many: fetch, read, chunk, encode. What `encode` returns is all that leaves a child.

A job that fails has an outcome like any other, so the rest goes on. Children return what `encode` makes, never chunks:
pickling those would copy the document once a chunk.
"""

from __future__ import annotations

import pickle
import traceback
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import PurePath
from typing import Any, Final, Generic, NamedTuple, TypeVar

from spanwise.chunking.proposers import Answers, Proposer
from spanwise.chunking.strategy import ModelStrategy
from spanwise.chunking.task import ChunkingTask
from spanwise.documents.document import Document
from spanwise.errors import LostFileError, SpanwiseError, UnreadableError
from spanwise.native.gc_pause import collector_paused
from spanwise.pipeline.chunk import Prepared, finish, prepare
from spanwise.pipeline.guard import CRASH, MEMORY, TIME, Limits
from spanwise.pipeline.jobs import Job
from spanwise.pipeline.workers import batched, in_order
from spanwise.readers import load, read_bytes
from spanwise.records.run import Run

_ASKED_AHEAD: Final = 32  # documents that a model may have been asked about before the first of them is done

DEFAULT_LIMITS: Final = Limits()
_LOST: Final = {
    TIME: "can't be read within {limits.seconds:g} s",
    MEMORY: "is too large for the memory that it may take",
    CRASH: "ended the process that read it, twice",
}
_LOST_HINTS: Final = {
    TIME: "leave it out, or allow more: --file-timeout SECONDS",
    MEMORY: "leave it out, or allow more: --file-memory MB",
    CRASH: "it is damaged, or the reader, strategy or tokenizer has a fault: leave it out",
}

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


class ReadJob(NamedTuple):
    """What reading a job gives: its bytes, None for a document that was given, and the document."""

    data: bytes | None
    document: Document


class _PreparedJob(NamedTuple):
    """A job that is read and prepared; with the answers of a model still to come."""

    job: Job
    read: ReadJob
    prepared: Prepared
    answers: Answers | None = None


def process(job: Job, encode: Callable[[Chunked], T]) -> Outcome[T]:
    """Fetch, read, chunk and encode one job; raise MemoryError if it doesn't fit into memory."""
    with collector_paused:
        return outcome_of(job, lambda: _finished(_prepared(job, read_job(job)), encode))


def process_all(
    jobs: Iterable[Job],
    encode: Callable[[Chunked], T],
    workers: int = 1,
    proposer: Proposer | None = None,
    limits: Limits = DEFAULT_LIMITS,
) -> Iterator[Outcome[T]]:
    """Process jobs in guarded children, and yield their outcomes in the order of the jobs.

    What asks a model is only read there: one proposer, in this process, keeps the bounds for all jobs. Documents that
    are read already stay in this process too, unless there are several workers.
    """
    work = partial(process, encode=encode)
    if proposer is None:
        yield from _guarded(work, jobs, workers, limits)
        return
    listed = list(jobs)
    others = _guarded(work, (job for job in listed if not job.asks_model), workers, limits)
    read = read_all((job for job in listed if job.asks_model), limits)
    asked = _asked(proposer, read, encode)
    for job in listed:
        yield next(asked if job.asks_model else others)


def read_all(jobs: Iterable[Job], limits: Limits = DEFAULT_LIMITS) -> Iterator[Outcome[ReadJob]]:
    """Read jobs in a guarded child, and yield what they hold, in order."""
    return _guarded(_read, jobs, 1, limits)


def _guarded(
    work: Callable[[Job], Outcome[T]], jobs: Iterable[Job], workers: int, limits: Limits
) -> Iterator[Outcome[T]]:
    sized = ((job, job.item.size, workers <= 1 and job.item.is_read) for job in jobs)
    answers = in_order(partial(_without_job, work), batched(sized), partial(_lost, limits), workers, limits)
    return (Outcome(job.without_data(), *answer) for job, answer in answers)


def _without_job(work: Callable[[Job], Outcome[T]], job: Job) -> tuple[Any, ...]:
    """Return the other parts of an outcome: sending every job back would cost more than most texts do."""
    outcome = work(job)
    return outcome[1:] if outcome.error is None else outcome._replace(error=_sendable(outcome.error))[1:]


def _sendable(error: SpanwiseError) -> SpanwiseError:
    """Return an error as it is, or, if it is of a class or has a value that can't be sent, its words."""
    try:
        pickle.loads(pickle.dumps(error))
    except Exception:  # a class of the user's own may raise anything here
        return UnreadableError(str(error.subject), str(error.rule), hint=error.hint and str(error.hint))
    return error


def read_job(job: Job) -> ReadJob:
    """Fetch and read the item of a job; a document that is given stays as it is."""
    item = job.item
    if item.error is not None:
        raise item.error
    if item.document is not None:
        return ReadJob(None, item.document)
    metadata = {**item.metadata, **job.settings.metadata}
    data, found = load(item.name, item.fetch, item.format)
    return ReadJob(data, read_bytes(data, item.name, found, metadata, job.reading))


def outcome_of(job: Job, work: Callable[[], Outcome[T]]) -> Outcome[T]:
    """Return the outcome of `work`, or one with the error that it raised; raise MemoryError."""
    try:
        return work()
    except SpanwiseError as error:
        return Outcome(job.without_data(), error=error)
    except RecursionError:
        nested = UnreadableError(job.item.name, "is nested too deeply", hint="leave it out")
        return Outcome(job.without_data(), error=nested)
    except MemoryError:
        raise
    except Exception as error:  # a fault of ours or of a plug-in must not end the run
        return Outcome(job.without_data(), error=_fault(job.item.name, error))


def _fault(name: str, error: Exception) -> UnreadableError:
    """Return what is reported of an exception that nobody expected: what it is, and where to look for it."""
    place = traceback.extract_tb(error.__traceback__)[-1]
    words = " ".join(traceback.format_exception_only(error)[-1].split())[:200]
    rule = f"can't be processed: {words} ({PurePath(place.filename).name}, line {place.lineno})"
    return UnreadableError(name, rule, hint="this is a fault of the program: please report it, and leave the file out")


def _lost(limits: Limits, job: Job, cause: str) -> tuple[Any, ...]:
    """Return the outcome, without the job, of one that took too long or too much memory, or that ended its process."""
    error = LostFileError(job.item.name, _LOST[cause].format(limits=limits), hint=_LOST_HINTS[cause])
    error.cause = cause
    return Outcome[None](job, error=error)[1:]


def _read(job: Job) -> Outcome[ReadJob]:
    with collector_paused:
        return outcome_of(job, lambda: Outcome(job.without_data(), read_job(job)))


def _prepared(job: Job, read: ReadJob, proposer: Proposer | None = None) -> _PreparedJob:
    settings = job.settings
    strategy, options = settings.chunking(read.document)
    prepared = prepare(read.document, strategy, settings.tokenizer, options)
    answers: Answers | None = None
    if proposer is not None and isinstance(prepared.strategy, ModelStrategy):
        questions = prepared.strategy.questions(prepared.task)
        answers = proposer.ask(prepared.task, questions, settings.options)
    return _PreparedJob(job, read, prepared, answers)


def _finished(begun: _PreparedJob, encode: Callable[[Chunked], T]) -> Outcome[T]:
    job, (data, document), prepared, answers = begun
    run = finish(prepared, answers, job.offsets).run
    value = encode(Chunked(job, data, document, prepared.task, run))
    notes = tuple(dict.fromkeys(item.reason for item in document.left_out if not item.usual))
    return Outcome(job.without_data(), value, len(data or ()), notes)


def _asked(
    proposer: Proposer, jobs: Iterable[Outcome[ReadJob]], encode: Callable[[Chunked], T]
) -> Iterator[Outcome[T]]:
    """Read ahead of the answers, so that the model is never idle, but not far, so that memory stays flat."""
    waiting: deque[Outcome[_PreparedJob]] = deque()

    def done(first: Outcome[_PreparedJob]) -> Outcome[T]:
        begun = first.value
        if begun is None:
            return Outcome(first.job, error=first.error)
        return outcome_of(begun.job, lambda: _finished(begun, encode))

    for one in jobs:
        waiting.append(outcome_of(one.job, partial(_asked_about, one, proposer)))
        if len(waiting) > _ASKED_AHEAD:
            yield done(waiting.popleft())
    while waiting:
        yield done(waiting.popleft())


def _asked_about(one: Outcome[ReadJob], proposer: Proposer) -> Outcome[_PreparedJob]:
    if one.value is None:
        return Outcome(one.job, error=one.error)
    return Outcome(one.job, _prepared(one.job, one.value, proposer))
