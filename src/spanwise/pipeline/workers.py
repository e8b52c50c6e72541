"""Worker processes: batches go out, answers come back in order, and a worker that dies costs one job."""

from __future__ import annotations

import multiprocessing
import pickle
import signal
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, nullcontext, suppress
from functools import partial
from itertools import chain
from multiprocessing import resource_tracker
from multiprocessing.connection import Connection, wait
from typing import Any, Final, TypeVar

from spanwise.native.gc_pause import collect_seldom

_BATCH_BYTES: Final = 1 << 18
_BATCH_JOBS: Final = 64
_AHEAD: Final = 4  # batches that each worker may be ahead of the consumer: this keeps the memory flat

Given = TypeVar("Given")
Done = TypeVar("Done")


def batched(jobs: Iterable[tuple[Given, int]]) -> Iterator[list[Given]]:
    """Yield batches of jobs, given with their sizes in bytes, that are worth sending to a worker."""
    batch: list[Given] = []
    total = 0
    for job, size in jobs:
        batch.append(job)
        total += size
        if total >= _BATCH_BYTES or len(batch) >= _BATCH_JOBS:
            yield batch
            batch, total = [], 0
    if batch:
        yield batch


class _Worker:
    """A process that works on one batch after the other, and the pipe to it."""

    def __init__(self, work: Callable[[list[Given]], list[Done]], needs_main: bool) -> None:
        """Start it with SIGINT blocked: Ctrl-C is handled by its parent."""
        context = multiprocessing.get_context("spawn")
        self.pipe, theirs = context.Pipe()
        self.process = context.Process(target=_serve, args=(work, theirs), daemon=True)
        before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        try:
            with nullcontext() if needs_main else _without_main():
                self.process.start()
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)  # a signal that came meanwhile is delivered now
        theirs.close()  # so that the pipe ends when the worker does
        self.number: int | None = None  # of its current batch

    def take(self) -> Any:
        """Return its answer; raise EOFError if it died."""
        try:
            succeeded, answer = self.pipe.recv()
        except OSError as error:
            raise EOFError from error
        if not succeeded:
            raise answer
        return answer

    def dismiss(self) -> None:
        """Kill it."""
        self.process.kill()
        self.pipe.close()


def _needs_main(work: Callable[[list[Given]], list[Done]], batch: list[Given]) -> bool:
    """Whether workers need the main module: something that is sent to them is defined there."""
    return b"__main__" in pickle.dumps((work, batch))


@contextmanager
def _without_main() -> Iterator[None]:
    """Hide the main module from a process that starts: a script without a guard would run again in every worker."""
    names: dict[str, Any] = vars(sys.modules["__main__"])
    hidden: dict[str, Any] = {name: names[name] for name in ("__file__", "__spec__") if name in names}
    names.pop("__file__", None)
    names["__spec__"] = None
    try:
        yield
    finally:
        names.update(hidden)


def _serve(work: Callable[[list[Any]], list[Any]], pipe: Connection) -> None:
    """Work on batches until the pipe is closed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    collect_seldom()
    while True:
        try:
            batch = pipe.recv()
        except EOFError:
            return
        try:
            answer = True, work(batch)
        except Exception as error:  # a bug: the parent must see it
            answer = False, error  # type: ignore[assignment]
        with suppress(OSError):  # the parent is gone: the next receive ends the loop
            pipe.send(answer)


def in_order(
    work: Callable[[list[Given]], list[Done]],
    batches: Iterable[list[Given]],
    workers: int,
    worker_died: Callable[[Given], Done],
) -> Iterator[Done]:
    """Yield what `work` returns for all batches, in order; `worker_died` answers for a job that killed its worker."""
    if workers <= 1:
        for batch in batches:
            for job in batch:
                yield from work([job])
        return
    waiting = iter(batches)
    first = next(waiting, None)
    if first is None:
        return
    source, reached, start = enumerate(chain([first], waiting)), 0, partial(_Worker, work, _needs_main(work, first))
    begun: dict[int, list[Given]] = {}
    done: dict[int, list[Done]] = {}
    crew: list[_Worker] = []
    resource_tracker.ensure_running()  # starting it later would unblock SIGINT
    try:
        crew += [start() for _ in range(workers)]
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
                    crew[crew.index(worker)] = start()
                    done[number] = list(_one_by_one(work, begun[number], worker_died))
                del begun[number]
    finally:
        for worker in crew:
            worker.dismiss()


def _give(worker: _Worker, source: Iterator[tuple[int, list[Given]]], begun: dict[int, list[Given]]) -> None:
    for number, batch in source:
        worker.number, begun[number] = number, batch
        with suppress(OSError):  # it died meanwhile: that is noticed when its answer is due
            worker.pipe.send(batch)
        return


def _one_by_one(
    work: Callable[[list[Given]], list[Done]], batch: list[Given], worker_died: Callable[[Given], Done]
) -> Iterator[Done]:
    """Work on the jobs of a batch that killed its worker, each in a worker of its own."""
    for job in batch:
        worker = _Worker(work, _needs_main(work, [job]))
        try:
            worker.pipe.send([job])
            yield from worker.take()
        except EOFError:
            yield worker_died(job)
        finally:
            worker.dismiss()
