"""Jobs in child processes: batches go out, answers come back in order, and a file that ends its child costs itself."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from multiprocessing.connection import wait
from typing import Any, Final, Generic, NamedTuple, TypeVar

from spanwise.pipeline import guard
from spanwise.pipeline.guard import MEMORY, TIME, Child, Encoded, Limits, Order, RefusedError

_BATCH_BYTES: Final = 1 << 18
_BATCH_JOBS: Final = 64
_AHEAD: Final = 4  # batches that each child may be ahead of the consumer: this keeps the memory flat
_LOOK_SECONDS: Final = 1.0  # after which time is counted, though nothing was answered
_SAMPLE_SECONDS: Final = 0.02  # likewise, and memory is looked at, for a file that has ended a child before
_PATIENCE: Final = 10.0  # seconds after its time that a child may take to end itself, and that a look may be late

Given = TypeVar("Given")
Done = TypeVar("Done")


class Batch(NamedTuple, Generic[Given]):
    """Jobs that are worth sending to a child together; those that are done `here` stay in this process."""

    jobs: list[Given]
    here: bool = False


def batched(jobs: Iterable[tuple[Given, int, bool]]) -> Iterator[Batch[Given]]:
    """Yield batches of jobs, given with their sizes in bytes and whether they are to be done in this process."""
    batch: list[Given] = []
    total, batch_here = 0, False
    try:
        for job, size, here in jobs:
            if batch and here != batch_here:
                yield Batch(batch, batch_here)
                batch, total = [], 0
            batch.append(job)
            batch_here, total = here, total + size
            if total >= _BATCH_BYTES or len(batch) >= _BATCH_JOBS:  # not when the next one comes, which may take long
                yield Batch(batch, batch_here)
                batch, total = [], 0
    except Exception:  # of the source: what it gave before counts
        if batch:
            yield Batch(batch, batch_here)
        raise
    if batch:
        yield Batch(batch, batch_here)


def in_order(
    work: Callable[[Given], Done],
    batches: Iterable[Batch[Given]],
    lost: Callable[[Given, str], Done],
    workers: int = 1,
    limits: Limits = Limits(),  # noqa: B008 - a frozen value
) -> Iterator[tuple[Given, Done]]:
    """Yield all jobs, in order, with what `work` returns for each, working in children under limits for each job.

    With one worker and no limits, and in a process that may have no children, all work is done in this process; so is
    what can't be sent to another one. `lost(job, cause)` answers for a job that took too long, and for one that ended
    its child twice running, the second time a new one. What `batches` raises is raised after the jobs before it.
    """
    if not guard.may_start() or (workers <= 1 and not limits):
        yield from ((job, _answer(work, job, lost)) for batch in batches for job in batch.jobs)
        return
    crew, begun, raised = _Crew(work, lost, max(workers, 1), limits), deque[_Begun[Given, Done]](), list[Exception]()
    waiting = _until_raised(batches, raised)
    try:
        while True:
            while crew.has_room() and len(begun) < workers * _AHEAD and (batch := next(waiting, None)):
                begun.append(crew.begin(batch))
            if not begun:
                break
            yield from crew.ready(begun[0])
            if begun[0].is_complete():
                begun.popleft()
            else:
                crew.advance()
        crew.release()
    finally:
        crew.dismiss()
    for error in raised:
        raise error


def _until_raised(batches: Iterable[Batch[Given]], raised: list[Exception]) -> Iterator[Batch[Given]]:
    """Yield batches; what their source raises ends them, and is kept."""
    try:
        yield from batches
    except Exception as error:  # a source of the user's own may raise anything
        raised.append(error)


def _answer(work: Callable[[Given], Done], job: Given, lost: Callable[[Given, str], Done]) -> Done:
    """Work on a job in this process."""
    try:
        return work(job)
    except MemoryError:
        return lost(job, MEMORY)


class _Begun(Generic[Given, Done]):
    """A batch, the answers that have come, how many were handed out, and what is done in this process, by index."""

    def __init__(self, jobs: Sequence[Given]) -> None:
        self.jobs, self.handed_out = jobs, 0
        self.answers: dict[int, Done] = {}
        self.here: set[int] = set()

    def is_complete(self) -> bool:
        """Whether all answers were handed out."""
        return self.handed_out == len(self.jobs)


class _Part(NamedTuple):
    """Jobs of a batch for one child, by their indices; `again`: the first of them has ended a child already."""

    begun: _Begun[Any, Any]
    indices: deque[int]
    order: Encoded
    again: bool = False


class _Worker:
    """A child at work; `waited` is for how many seconds this process has waited for its next answer."""

    def __init__(self, child: Child, part: _Part) -> None:
        self.child, self.part, self.waited = child, part, 0.0


class _Crew(Generic[Given, Done]):
    """The children of one run."""

    def __init__(
        self, work: Callable[[Given], Done], lost: Callable[[Given, str], Done], size: int, limits: Limits
    ) -> None:
        self._work, self._lost, self._size, self._limits = work, lost, size, limits
        self._parts: deque[_Part] = deque()
        self._workers: list[_Worker] = []
        self._idle: list[Child] = []
        self._was_late = False

    def has_room(self) -> bool:
        """Whether a child has nothing to do."""
        return len(self._workers) + len(self._parts) < self._size

    def begin(self, batch: Batch[Given]) -> _Begun[Given, Done]:
        """Take a batch over."""
        begun: _Begun[Given, Done] = _Begun(batch.jobs)
        if batch.here:
            begun.here.update(range(len(batch.jobs)))
        else:
            self._parts.extend(self._parts_of(begun, range(len(batch.jobs))))
        return begun

    def _parts_of(self, begun: _Begun[Given, Done], indices: Sequence[int], *, again: bool = False) -> list[_Part]:
        """Return jobs as they are sent; those that can't be are done in this process."""
        if not indices:
            return []
        order = guard.encoded(Order(self._work, [begun.jobs[index] for index in indices], self._limits))
        # a new process would have to run the user's script again
        if order and not (order.needs_main and self._size == 1 and not guard.may_fork()):
            return [_Part(begun, deque(indices), order, again)]
        if len(indices) == 1:
            begun.here.update(indices)
            return []
        middle = len(indices) // 2  # one job must not keep the others from being guarded
        return [*self._parts_of(begun, indices[:middle]), *self._parts_of(begun, indices[middle:])]

    def ready(self, begun: _Begun[Given, Done]) -> Iterator[tuple[Given, Done]]:
        """Yield the next jobs of a batch whose answers are there."""
        while not begun.is_complete() and (begun.handed_out in begun.here or begun.handed_out in begun.answers):
            index, begun.handed_out = begun.handed_out, begun.handed_out + 1
            job = begun.jobs[index]
            yield job, _answer(self._work, job, self._lost) if index in begun.here else begun.answers.pop(index)

    def advance(self) -> None:
        """Send the children what is waiting, and wait for answers."""
        while self._parts and len(self._workers) < self._size:
            part = self._parts.popleft()
            worker = _Worker(self._child(part), part)
            self._workers.append(worker)
            worker.child.send(part.order)
        watched = [worker for worker in self._workers if worker.part.again]
        for worker in watched:
            worker.child.sample()
        pipes, before = {worker.child.pipe: worker for worker in self._workers}, time.monotonic()
        seconds = _SAMPLE_SECONDS if watched else _LOOK_SECONDS
        answered = wait(list(pipes), seconds)
        waited = time.monotonic() - before
        self._was_late = waited > seconds + _PATIENCE  # then this process was stopped, and its children with it
        self._count(min(waited, seconds))
        for pipe in answered:
            self._take(pipes[pipe])

    def _child(self, part: _Part) -> Child:
        """Return a child for a part: a new one for what has ended one."""
        if part.again:
            return guard.start(part.order.needs_main)
        while self._idle:
            child = self._idle.pop()
            if child.suits(part.order):
                return child
            guard.dismiss(child)
        return guard.borrow(part.order)

    def _count(self, waited: float) -> None:
        """Count the time that was spent waiting; a child that should have ended itself by then is stuck."""
        for worker in list(self._workers):
            worker.waited += waited
            if 0 < self._limits.seconds < worker.waited - _PATIENCE and not worker.child.pipe.poll():
                self._lose(worker, TIME, is_sure=False)

    def _take(self, worker: _Worker) -> None:
        """Take the next answer of a child."""
        part = worker.part
        try:
            answer = worker.child.take()
        except EOFError:
            self._lose(worker, worker.child.cause(self._limits, worker.waited), is_sure=not self._was_late)
        except MemoryError:
            self._lose(worker, MEMORY)
        except RefusedError:
            part.begun.here.update(part.indices)
            self._finish(worker)
        else:
            worker.waited = 0.0
            part.begun.answers[part.indices.popleft()] = answer
            if not part.indices:
                self._finish(worker)

    def _finish(self, worker: _Worker) -> None:
        self._workers.remove(worker)
        self._idle.append(worker.child)

    def _lose(self, worker: _Worker, cause: str, *, is_sure: bool = True) -> None:
        """Answer for the job that a child was lost with, or try it again in a new one; the rest goes on in any case.

        The child may have been killed or stopped from outside, or an earlier file has taken the memory. Only that the
        time is over can be sure at once.
        """
        is_abandoned = worker.child.is_abandoned()
        guard.dismiss(worker.child)
        self._workers.remove(worker)
        begun, (first, *rest) = worker.part.begun, worker.part.indices
        parts = self._parts_of(begun, rest)
        if (cause == TIME and is_sure) or (worker.part.again and not is_abandoned):
            begun.answers[first] = self._lost(begun.jobs[first], cause)
        else:
            parts += self._parts_of(begun, [first], again=not is_abandoned)
        self._parts.extendleft(parts)

    def release(self) -> None:
        """Let the children wait for the next run."""
        while self._idle:
            guard.give_back(self._idle.pop())

    def dismiss(self) -> None:
        """End the children that are left."""
        guard.dismiss(*self._idle, *(worker.child for worker in self._workers))
