"""The write lock of a store: it ends with the process that holds it, and names that process."""

from __future__ import annotations

import errno
import fcntl
import os
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import datetime
from pathlib import Path
from typing import Final

from spanwise.errors import StoreError, StoreFullError

_PAUSE: Final = 0.05  # seconds between two attempts
_FULL: Final = (errno.ENOSPC, errno.EDQUOT)


@contextmanager
def write_lock(store: str, wait: float) -> Iterator[None]:
    """Hold the write lock, waiting up to `wait` seconds; raise StoreError naming the holder after that.

    The lock is the system's, so it ends with a process that is killed; the file beside the store only carries it.
    """
    path = f"{os.path.realpath(store)}.lock"
    until = time.monotonic() + wait
    while (descriptor := _acquired(store, path)) is None:
        if time.monotonic() >= until:
            hint = "wait for it to end, or longer: --wait SECONDS"
            raise StoreError(store, f"is being written by {_holder(path)}", hint=hint)
        time.sleep(min(_PAUSE, max(until - time.monotonic(), 0.001)))
    try:
        yield
    finally:
        with suppress(OSError):
            os.unlink(path)  # noqa: PTH108 - while the lock is held; a waiting process sees that this file is gone
        os.close(descriptor)


def _acquired(store: str, path: str) -> int | None:
    """Try to take the lock; return None while another process has it."""
    try:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
    except OSError as error:
        rule = f"can't be written: no lock beside it ({error.strerror})"
        if error.errno in _FULL:
            raise StoreFullError(store, rule, hint="make room and run the same command again") from error
        raise StoreError(store, rule, hint="its folder must be writable") from error
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(descriptor)
        return None
    if not _is_current(descriptor, path):
        os.close(descriptor)
        return None
    with suppress(OSError):  # on a full disk the lock holds without a description
        os.ftruncate(descriptor, 0)
        os.write(descriptor, _description().encode())
    return descriptor


def is_locked(store: str) -> bool:
    """Whether a process holds the write lock."""
    try:
        descriptor = os.open(f"{os.path.realpath(store)}.lock", os.O_RDONLY | os.O_CLOEXEC)
    except FileNotFoundError:
        return False
    except OSError:
        return True  # as far as is known
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except OSError:
        return True
    finally:
        os.close(descriptor)
    return False


def _is_current(descriptor: int, path: str) -> bool:
    """Whether the locked file is still the one at this path."""
    try:
        return os.path.samestat(os.fstat(descriptor), os.stat(path))  # noqa: PTH116 - beside fstat
    except FileNotFoundError:
        return False


def _description() -> str:
    return f"process {os.getpid()} on {socket.gethostname()} since {datetime.now():%Y-%m-%d %H:%M:%S}"


def _holder(path: str) -> str:
    try:
        return Path(path).read_text(encoding="utf-8", errors="replace").strip() or "another process"
    except OSError:
        return "another process"
