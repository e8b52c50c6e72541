"""The guard: a child process that works on one file after the other, under limits of time and memory for each.

A file that hangs, crashes or takes too much memory costs the child, never the run. The child enforces its own limits,
so they hold while its parent is busy, and it ends with its parent. Where a system has no alarm for a process, its
parent watches the time; where it can't limit the memory, nobody does.
"""

from __future__ import annotations

import atexit
import multiprocessing
import os
import pickle
import signal
import socket
import struct
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext, suppress
from multiprocessing import resource_tracker
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, Final
from weakref import WeakSet

from spanwise.errors import SpanwiseError
from spanwise.pipeline.guard.orders import (
    CRASH,
    MEMORY,
    REFUSED,
    TIME,
    Encoded,
    Limits,
    Order,
    checked_limits,
    encoded,
    working_folder,
)
from spanwise.pipeline.guard.serving import ENDING, serve

__all__ = [
    "CRASH", "MEMORY", "TIME", "Child", "Encoded", "Limits", "Order", "RefusedError", "borrow", "checked_limits",
    "dismiss", "encoded", "give_back", "may_fork", "may_start", "start",
]  # fmt: skip

_START_SECONDS: Final = 60.0
_END_SECONDS: Final = 5.0  # that a process may take to end when its pipe has ended, or it was killed
_STUCK_SECONDS: Final = 60  # without a byte in the middle of an order or an answer
_MUCH: Final = 0.25  # of the memory allowed: a crash above it is for lack of memory; what doubles it fails at a third


def may_fork() -> bool:
    """Whether this process has one thread only: a copy of several may wait for a lock for ever."""
    with suppress(OSError):
        return len(os.listdir("/proc/self/task")) == 1  # noqa: PTH208 - also threads that Python doesn't know
    return False


def may_start() -> bool:
    """Whether this process may have children: workers of some pools may not, nor new ones start in a deleted folder."""
    return not multiprocessing.current_process().daemon and (working_folder() is not None or may_fork())


class RefusedError(Exception):
    """A child can't read an order: something in it can't be unpickled there."""


class Child:
    """A process that answers orders, and the pipe to it.

    Copying this process costs a few milliseconds and is done where it is safe; a new one costs a fifth of a second.
    """

    def __init__(self, needs_main: bool = False) -> None:
        """Start it; raise EOFError or OSError if it doesn't run."""
        self.is_copy, self.has_main, self.is_foreign = may_fork(), needs_main, False
        self._owner, self._thread, self._standing = os.getpid(), threading.get_native_id(), _standing()
        context: Any = multiprocessing.get_context("fork" if self.is_copy else "spawn")
        self.pipe, theirs = context.Pipe()
        self.process = context.Process(target=serve, args=(theirs, self._owner), daemon=True)
        _living.add(self)
        try:
            with nullcontext() if needs_main or self.is_copy else _without_main(), _signals_blocked(self.is_copy):
                self.process.start()
            theirs.close()  # so that the pipe ends when the child does
            _give_up_when_stuck(self.pipe)
            if not self.pipe.poll(_START_SECONDS):
                raise EOFError
            self.pipe.recv()
        except BaseException:
            dismiss(self)
            raise
        self._least = self._most = self._used()  # megabytes, as far as they were seen

    def suits(self, order: Encoded) -> bool:
        """Whether it waits for an order, and can carry out this one."""
        if (order.needs_main and not self.has_main and not self.is_copy) or self._standing != _standing():
            return False
        return self.process.is_alive() and not self.pipe.poll()

    def send(self, order: Encoded) -> None:
        """Send an order; that the child is gone is noticed when its answers are due."""
        self.is_foreign = self.is_foreign or order.is_foreign
        with suppress(OSError):
            self.pipe.send_bytes(order.data)

    def take(self) -> Any:
        """Return the answer to the next job; raise MemoryError or EOFError if the child is lost, else RefusedError."""
        try:
            kind, answer = pickle.loads(self.pipe.recv_bytes())
        except OSError as error:
            raise EOFError from error
        if kind == MEMORY:
            raise MemoryError
        if kind == REFUSED:
            raise RefusedError
        if kind == CRASH:
            raise answer
        return answer

    def sample(self) -> None:
        """Look how much memory it uses; nobody can after its end."""
        self._most = max(self._most, self._used())

    def _used(self) -> int:
        with suppress(OSError, IndexError, ValueError):
            status = Path(f"/proc/{self.process.pid}/status").read_text(encoding="ascii", errors="replace")
            return int(status.split("VmPeak:")[1].split()[0]) // 1024
        return 0

    def cause(self, limits: Limits, waited: float) -> str:
        """Return why it ended, after so many seconds without an answer."""
        self.process.join(_END_SECONDS)
        code = self.process.exitcode  # None if something else in this process has taken it
        if code == -getattr(signal, "SIGALRM", 0) or (code is None and 0 < limits.seconds <= waited):
            return TIME
        return MEMORY if self._most - self._least > limits.megabytes * _MUCH > 0 else CRASH

    def is_abandoned(self) -> bool:
        """Whether the thread that started it has ended: the kernel kills it then, as if the process had."""
        return sys.platform == "linux" and not Path(f"/proc/self/task/{self._thread}").exists()

    def kill(self) -> None:
        """Kill it, unless this process is a copy of the one that it belongs to."""
        if self._owner == os.getpid() and self.process.pid is not None:
            self.process.kill()
        self.pipe.close()

    def reap(self) -> None:
        """Wait until it has ended."""
        if self._owner == os.getpid() and self.process.pid is not None:
            self.process.join(_END_SECONDS)


_living: Final[WeakSet[Child]] = WeakSet()


def dismiss(*children: Child) -> None:
    """End children: kill all of them, then wait."""
    for child in children:
        child.kill()
    for child in children:
        child.reap()


@atexit.register
def _dismiss_all() -> None:
    """End what is left; multiprocessing asks politely, and waits for one that is stopped for ever."""
    dismiss(*_living)


class _IdleChildren:
    """Children that wait for the next run of this process: starting one costs more than reading a small file."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._children: list[Child] = []
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=self.forget)

    def take(self, order: Encoded) -> Child | None:
        """Return an idle child that suits an order, if there is one."""
        with self._lock:
            child = self._children.pop() if self._children else None
        if child is None or child.suits(order):
            return child
        dismiss(child)
        return None

    def keep(self, child: Child) -> None:
        """Keep a child, unless another is idle already; a copy of this process holds its open files, so it must go."""
        with self._lock:
            if not self._children and not child.is_copy and not child.is_foreign:
                self._children.append(child)
                return
        dismiss(child)

    def forget(self) -> None:
        """Leave the children to the parent, in a copy of this process."""
        self._lock, self._children = threading.Lock(), []


_idle: Final = _IdleChildren()


def _standing() -> tuple[object, ...]:
    """Return as whom this process acts and where it finds code: a child that differs must not work for it."""
    names = [name for name in ("geteuid", "getegid", "getgroups") if hasattr(os, name)]
    return *(getattr(os, name)() for name in names), tuple(sys.path)


def start(needs_main: bool = False) -> Child:
    """Return a new child; raise SpanwiseError if none can be started, which is not the fault of a file."""
    with suppress(EOFError, OSError):  # it may be killed from outside before it says anything
        return Child(needs_main)
    try:
        return Child(needs_main)
    except (EOFError, OSError) as error:
        reason = f" ({error.strerror})" if isinstance(error, OSError) and error.strerror else ""
        hint = 'allow more processes, or fewer --jobs; a script needs `if __name__ == "__main__":` around its calls'
        raise SpanwiseError("the process that reads files", f"can't be started{reason}", hint=hint) from error


def borrow(order: Encoded) -> Child:
    """Return a child that may have worked before; for code of the user's own a new one, as it may have changed."""
    return (None if order.is_foreign else _idle.take(order)) or start(order.needs_main)


def give_back(child: Child) -> None:
    """Keep a child that has answered everything for the next run, or end it."""
    _idle.keep(child)


def _give_up_when_stuck(pipe: Connection) -> None:
    """Make sending and receiving fail when the other side does nothing, as one that was stopped; it is only killed."""
    if os.name == "posix":
        with socket.socket(fileno=os.dup(pipe.fileno())) as ours:
            for option in (socket.SO_RCVTIMEO, socket.SO_SNDTIMEO):
                ours.setsockopt(socket.SOL_SOCKET, option, struct.pack("ll", _STUCK_SECONDS, 0))


@contextmanager
def _signals_blocked(is_copy: bool) -> Iterator[None]:
    """Block what ends a process while a child starts, until it has set what it does then; where signals can be."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    if not is_copy:
        resource_tracker.ensure_running()  # starting it later would unblock SIGINT
    before = signal.pthread_sigmask(signal.SIG_BLOCK, ENDING)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)  # a signal that came meanwhile is delivered now


_main_lock: Final = threading.Lock()


@contextmanager
def _without_main() -> Iterator[None]:
    """Hide the main module from a process that starts: a script without a guard would run again in every child."""
    names: dict[str, Any] = vars(sys.modules["__main__"])
    with _main_lock:
        hidden: dict[str, Any] = {name: names[name] for name in ("__file__", "__spec__") if name in names}
        names.pop("__file__", None)
        names["__spec__"] = None
        try:
            yield
        finally:
            names.update(hidden)
