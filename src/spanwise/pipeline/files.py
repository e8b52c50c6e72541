"""Many files: each read, chunked and written as JSON lines, by one process or several, always in the same order.

A file that fails gives an outcome like any other, so the rest goes on. Workers give back bytes, not chunks: pickling
those would copy the document once a chunk.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from multiprocessing import resource_tracker
from multiprocessing.connection import Connection, wait
from typing import Any, Final, NamedTuple, TypeVar

from spanwise.chunking.proposers import Proposer
from spanwise.chunking.strategies.smart import SmartStrategy
from spanwise.documents.document import Document
from spanwise.errors import SpanwiseError, UnreadableError
from spanwise.native.gc_pause import collect_seldom, collector_paused
from spanwise.pipeline.chunk import Prepared, finish, prepare
from spanwise.pipeline.settings import Settings
from spanwise.readers import ReadOptions, read_bytes, read_file
from spanwise.records.chunk import Chunk
from spanwise.records.dialects import DEFAULT_PREFIX, Setting, translated
from spanwise.records.record import Run, records_of

_BATCH_BYTES: Final = 1 << 18
_BATCH_FILES: Final = 64
_ASKED_AHEAD: Final = 32  # documents that a model may have been asked about before the first of them is done
_AHEAD: Final = 4  # batches that each worker may be ahead of the writer: this keeps the memory flat

Given = TypeVar("Given")
Done = TypeVar("Done")


class Order(NamedTuple):
    """What is wanted of every file alike."""

    dialect: str | None = None
    prefix: str = DEFAULT_PREFIX
    format: str | None = None  # of the input; None: what the extension says
    offsets: tuple[str, ...] = ()
    password: str | None = None  # of encrypted files
    figures: str | None = None  # the folder that figures are written to
    keep_all: bool = False  # also what is no content


class Job(NamedTuple):
    """One file and what is in force for it; `data` only for what was piped in."""

    file: str
    settings: Settings
    order: Order
    data: bytes | None = None


class Outcome(NamedTuple):
    """What became of a file."""

    file: str
    lines: bytes = b""
    chunks: int = 0
    size: int = 0
    notes: tuple[str, ...] = ()
    error: SpanwiseError | None = None


def chunk_file(job: Job) -> Outcome:
    """Read and chunk one file, and write the records as JSON lines."""
    with collector_paused:
        return guarded(job, _chunked)


def guarded(job: Job, work: Callable[[Job], Done]) -> Done | Outcome:
    """Do something with a file; what goes wrong is its outcome."""
    try:
        return work(job)
    except SpanwiseError as error:
        return Outcome(job.file, error=error)
    except (MemoryError, RecursionError) as error:
        rule = "is too large for this machine's memory" if isinstance(error, MemoryError) else "is nested too deeply"
        return Outcome(job.file, error=UnreadableError(job.file, rule))


def _chunked(job: Job) -> Outcome:
    return _finished(_begun(job))


class _Underway(NamedTuple):
    """A file that is read; its chunks are still to come."""

    job: Job
    begun: Prepared
    size: int
    notes: tuple[str, ...]


def _begun(job: Job) -> _Underway:
    document, size = document_of(job)
    settings = job.settings
    notes = tuple(dict.fromkeys(item.reason for item in document.left_out if not item.usual))
    begun = prepare(document, settings.strategy, settings.tokenizer, job.order.offsets, settings.options)
    return _Underway(job, begun, size, notes)


def _finished(underway: _Underway) -> Outcome:
    job, begun, size, notes = underway
    lines = _lines(finish(begun), job)
    return Outcome(job.file, lines, lines.count(b"\n"), size, notes)  # a dialect may leave some out


def chunk_all(
    jobs: Sequence[tuple[Job, int]], workers: int, lost: Callable[[Job], Outcome], proposer: Proposer | None
) -> Iterator[Outcome]:
    """Chunk files, given with their sizes, and give what becomes of them in their order.

    Those of `smart` stay in this process, where one proposer keeps the bounds for all of them.
    """
    others = in_order(chunk_files, batched((job, size) for job, size in jobs if not is_smart(job)), workers, lost)
    if proposer is None:
        yield from others
        return
    asked = _asked(proposer, (job for job, _ in jobs if is_smart(job)))
    for job, _ in jobs:
        yield next(asked if is_smart(job) else others)


def is_smart(job: Job) -> bool:
    """Whether a file's chunks are proposed by a model."""
    return job.settings.strategy == SmartStrategy.name


def _asked(proposer: Proposer, jobs: Iterable[Job]) -> Iterator[Outcome]:
    """Read ahead of the answers, so that a model has always something to do, but not far, so that memory stays flat."""
    waiting: deque[_Underway | Outcome] = deque()

    def asked(job: Job) -> _Underway:
        underway = _begun(job)
        task = underway.begun.task
        task.answers = proposer.ask(task, SmartStrategy().questions(task), job.settings.options)
        return underway

    def done(first: _Underway | Outcome) -> Outcome:
        return first if isinstance(first, Outcome) else guarded(first.job, lambda _: _finished(first))

    for job in jobs:
        waiting.append(guarded(job, asked))
        if len(waiting) > _ASKED_AHEAD:
            yield done(waiting.popleft())
    while waiting:
        yield done(waiting.popleft())


def chunk_files(jobs: Sequence[Job]) -> list[Outcome]:
    """Read and chunk some files."""
    return [chunk_file(job) for job in jobs]


def batched(files: Iterable[tuple[Given, int]]) -> Iterator[list[Given]]:
    """Put files, given with their sizes, into batches that are worth sending to a worker."""
    batch: list[Given] = []
    total = 0
    for file, size in files:
        batch.append(file)
        total += size
        if total >= _BATCH_BYTES or len(batch) >= _BATCH_FILES:
            yield batch
            batch, total = [], 0
    if batch:
        yield batch


class _Worker:
    """A process that does one batch after the other, and the pipe to it."""

    def __init__(self, work: Callable[[list[Given]], list[Done]]) -> None:
        """Start it; Ctrl-C is for its parent, so it inherits a mask that keeps it out."""
        context = multiprocessing.get_context("spawn")
        self.pipe, theirs = context.Pipe()
        self.process = context.Process(target=_serve, args=(work, theirs), daemon=True)
        before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        try:
            self.process.start()
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)  # what was pressed meanwhile is heard now
        theirs.close()  # so that the pipe ends when the worker does
        self.number: int | None = None  # of the batch that it is at

    def take(self) -> Any:
        """Take what it has done; EOFError where it died over it."""
        try:
            well, answer = self.pipe.recv()
        except OSError as error:
            raise EOFError from error
        if not well:
            raise answer
        return answer

    def dismiss(self) -> None:
        """End it at once."""
        self.process.kill()
        self.pipe.close()


def _serve(work: Callable[[list[Any]], list[Any]], pipe: Connection) -> None:
    """Do batches until there are no more."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    collect_seldom()
    while True:
        try:
            batch = pipe.recv()
        except EOFError:  # nobody wants anything any more
            return
        try:
            answer = True, work(batch)
        except Exception as error:  # a fault of ours: the parent must see it
            answer = False, error  # type: ignore[assignment]
        with suppress(OSError):  # the parent is gone: the next look at the pipe tells
            pipe.send(answer)


def in_order(
    work: Callable[[list[Given]], list[Done]],
    batches: Iterable[list[Given]],
    workers: int,
    lost: Callable[[Given], Done],
) -> Iterator[Done]:
    """Do all batches and give what is done in their order; `lost` says what became of a job that killed its worker."""
    if workers <= 1:
        for batch in batches:
            for job in batch:
                yield from work([job])
        return
    source, reached = enumerate(batches), 0
    begun: dict[int, list[Given]] = {}
    done: dict[int, list[Done]] = {}
    crew: list[_Worker] = []
    resource_tracker.ensure_running()  # its start would lift the mask under which workers must start
    try:
        crew += [_Worker(work) for _ in range(workers)]
        while True:
            for worker in crew:
                if worker.number is None and len(begun) + len(done) < workers * _AHEAD:
                    _give(worker, source, begun)
            while reached in done:
                yield from done.pop(reached)
                reached += 1
            busy = {worker.pipe: worker for worker in crew if worker.number is not None}
            if not busy and not done:
                return
            for pipe in wait(list(busy)):
                worker = busy[pipe]  # type: ignore[index]
                number = worker.number
                assert number is not None  # it is busy
                try:
                    done[number] = worker.take()
                    worker.number = None
                except EOFError:
                    worker.dismiss()
                    crew[crew.index(worker)] = _Worker(work)
                    done[number] = list(_one_by_one(work, begun[number], lost))
                del begun[number]
    finally:
        for worker in crew:
            worker.dismiss()


def _give(worker: _Worker, source: Iterator[tuple[int, list[Given]]], begun: dict[int, list[Given]]) -> None:
    for number, batch in source:
        worker.number, begun[number] = number, batch
        with suppress(OSError):  # it died meanwhile: that is seen when its answer is due
            worker.pipe.send(batch)
        return


def _one_by_one(
    work: Callable[[list[Given]], list[Done]], batch: list[Given], lost: Callable[[Given], Done]
) -> Iterator[Done]:
    """Do the jobs of a batch that killed its worker, each in a worker of its own."""
    for job in batch:
        worker = _Worker(work)
        try:
            worker.pipe.send([job])
            yield from worker.take()
        except EOFError:
            yield lost(job)
        finally:
            worker.dismiss()


def document_of(job: Job) -> tuple[Document, int]:
    """Read what a job is about, and give the bytes that it takes."""
    access = ReadOptions(job.order.password, job.order.figures, job.order.keep_all)
    if job.data is None:
        document = read_file(job.file, job.order.format, job.settings.metadata, access)
        return document, os.stat(job.file).st_size  # noqa: PTH116 - a path object for each of many files costs
    return read_bytes(job.data, job.file, job.order.format, job.settings.metadata, access), len(job.data)


def _lines(chunks: Sequence[Chunk], job: Job) -> bytes:
    """Write records as JSON lines."""
    import orjson

    if not chunks:
        return b""
    run: Run = chunks[0]._run
    records: Iterator[dict[str, Any]]
    if job.order.dialect is None:
        records = records_of(run)
    else:
        setting = Setting(run.document, heading_levels=run.heading_levels, prefix=job.order.prefix)
        records = translated(run, job.order.dialect, setting)
    try:
        return b"".join([orjson.dumps(record, option=orjson.OPT_APPEND_NEWLINE) for record in records])
    except TypeError as error:  # an integer over 64 bits, or half a character, in metadata of one's own
        raise UnreadableError(job.file, f"has metadata that JSON can't say ({error})") from error
