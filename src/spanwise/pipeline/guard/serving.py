"""What a child does: answer orders, under limits that it sets itself, until its parent ends."""

from __future__ import annotations

import os
import pickle
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, Final

from spanwise.native.gc_pause import collect_seldom
from spanwise.pipeline.guard.orders import CRASH, DONE, MEMORY, REFUSED, Order, working_folder

ENDING: Final = {getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)}
"""Signals that end a process, where the system has them."""
_IDLE_SECONDS: Final = 60.0  # after which a child that has nothing to do ends
_MEGABYTE: Final = 1 << 20
_OUT_OF_MEMORY: Final = pickle.dumps((MEMORY, None))  # made while there is some


def serve(pipe: Connection, parent: int) -> None:
    """Answer orders until the pipe is closed or nothing comes for a while."""
    _set_signals()
    _end_with(parent)
    _be_expendable()
    _silence_libraries()
    sys.stdout = sys.stderr  # what a plug-in prints must not stand among the records that the parent writes
    collect_seldom()
    started_with = _address_space()
    with suppress(EOFError, OSError, MemoryError):  # the parent is gone, or an order is too large
        pipe.send(True)
        while pipe.poll(_IDLE_SECONDS):
            for answer in _answers(pipe.recv_bytes(), started_with):
                pipe.send_bytes(answer)


def _answers(data: bytes, started_with: int) -> Iterator[bytes]:
    """Yield the answers to the jobs of an order."""
    try:
        order = _order(data)
    except MemoryError:
        raise
    except Exception:  # objects of the user's own may raise anything here
        yield pickle.dumps((REFUSED, None))
        return
    del data  # it may be large
    _limit_memory(order.limits.megabytes, started_with)
    for job in order.jobs:
        yield _answer(order.work, job, order.limits.seconds)


def _order(data: bytes) -> Order:
    """Return an order, and take over the surroundings of the process that sent it."""
    folder, environment, order = pickle.loads(data)
    if folder != working_folder():
        os.chdir(folder)
    if environment != dict(os.environ):
        os.environ.clear()
        os.environ.update(environment)
    found: Order = order
    return found


def _answer(work: Callable[[Any], Any], job: Any, seconds: float) -> bytes:
    """Return an encoded answer. SIGALRM ends the process when its time is over, whatever it is doing."""
    _set_alarm(seconds)
    try:
        return pickle.dumps((DONE, work(job)))
    except MemoryError:
        return _OUT_OF_MEMORY
    except Exception as error:  # a bug: the parent must see it
        return _encoded_error(error)
    finally:
        _set_alarm(0)


def _encoded_error(error: Exception) -> bytes:
    try:
        return pickle.dumps((CRASH, error))
    except Exception:  # an error of the user's own need not be picklable
        return pickle.dumps((CRASH, RuntimeError(f"{type(error).__name__}: {error}")))


def _set_alarm(seconds: float) -> None:
    if hasattr(signal, "setitimer"):
        signal.setitimer(signal.ITIMER_REAL, seconds)


def _set_signals() -> None:
    """Leave Ctrl-C to the parent; all else that ends a process ends this one, whatever its parent does with it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if hasattr(signal, "pthread_sigmask"):
        for number in (*(ENDING - {signal.SIGINT}), signal.SIGALRM):
            signal.signal(number, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_SETMASK, {signal.SIGINT})


def _be_expendable() -> None:
    """Ask to be killed before the parent when the system runs out of memory, and leave no image of a crash behind."""
    with suppress(OSError, ValueError):
        score = Path("/proc/self/oom_score_adj")
        score.write_text(str(min(1_000, int(score.read_text(encoding="ascii")) + 500)), encoding="ascii")
    with suppress(ImportError, OSError, ValueError):
        import resource

        resource.setrlimit(resource.RLIMIT_CORE, (0, resource.getrlimit(resource.RLIMIT_CORE)[1]))


def _silence_libraries() -> None:
    """Keep from the terminal what C libraries print when they fail; what Python writes to stderr is shown."""
    ours = sys.stderr
    with suppress(AttributeError, OSError, ValueError):  # a program may have closed it
        if ours.fileno() != 2:  # or replaced it, and have any file there
            return
        sys.stderr = os.fdopen(os.dup(2), "w", buffering=1, encoding=ours.encoding, errors="backslashreplace")
        for handler in sys.modules["logging"].root.handlers if "logging" in sys.modules else ():
            if getattr(handler, "stream", None) is ours:
                handler.setStream(sys.stderr)
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, 2)
        os.close(nowhere)


def _limit_memory(megabytes: int, started_with: int) -> None:
    """Limit what is allocated from now on; a system without such a limit has none."""
    with suppress(ImportError, OSError, ValueError):
        import resource

        soft = hard = resource.getrlimit(resource.RLIMIT_AS)[1]
        if megabytes and started_with:
            soft = started_with + megabytes * _MEGABYTE
            soft = soft if hard == resource.RLIM_INFINITY else min(soft, hard)
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))


def _address_space() -> int:
    """Return the bytes of address space in use; 0 where the system doesn't tell."""
    with suppress(OSError, ValueError, IndexError):
        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0])
        return pages * os.sysconf("SC_PAGE_SIZE")
    return 0


def _end_with(parent: int) -> None:
    """Let the kernel kill this process when its parent ends, also while it works; elsewhere it ends after the job."""
    if sys.platform == "linux":
        import ctypes

        with suppress(OSError, AttributeError):
            ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG
    if os.getppid() != parent:
        os._exit(0)
