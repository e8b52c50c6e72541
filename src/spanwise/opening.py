"""Opening files of this machine: what is no file is refused, nothing waits, and nothing is read without an end."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable
from pathlib import PurePath
from stat import S_ISCHR, S_ISDIR, S_ISFIFO, S_ISREG
from typing import Final

from spanwise.errors import UnreadableError

MAX_BYTES: Final = 2 << 30
"""What a file may have, 2 GiB: reading more takes memory that hardly any machine has."""
_PART: Final = 1 << 20
# a pipe without a writer, a device or a lease must not keep anyone waiting; a terminal must not become ours
_WAITING: Final = os.O_RDONLY | getattr(os, "O_NOCTTY", 0) | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)
_FLAGS: Final = _WAITING | getattr(os, "O_NONBLOCK", 0)
_NO_LINK: Final = getattr(os, "O_NOFOLLOW", 0)


def path_text(path: str | os.PathLike[str]) -> str:
    """Return a path as text: a name on disk may be no text, and two that differ must not become one."""
    return name_text(PurePath(path).as_posix())


def name_text(name: str) -> str:
    """Return a name on disk, or a path that is written as it should be, as text."""
    return name.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")


def read_file_bytes(
    path: str | os.PathLike[str], *, within: str | None = None, links: bool = True, most: int = MAX_BYTES
) -> bytes:
    """Return the bytes of a file, as many as it had when it was opened.

    `within` is the real path of the folder that it was found in, "" for any; None for a file that was named: only that
    may be a pipe, which is waited for. Raise UnreadableError for what is no file, lies outside of `within`, or has more
    than `most` bytes; raise OSError if it can't be opened, also for a link if `links` is false.
    """
    waits = within is None and S_ISFIFO(os.stat(path).st_mode)  # noqa: PTH116 - of any length and kind
    descriptor = os.open(path, (_WAITING if waits else _FLAGS) | (0 if links else _NO_LINK))
    try:
        status = os.fstat(descriptor)
        if within is None and S_ISCHR(status.st_mode) and status.st_rdev == os.stat(os.devnull).st_rdev:  # noqa: PTH116
            return b""
        if S_ISDIR(status.st_mode):
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
        if not S_ISREG(status.st_mode) and not (within is None and S_ISFIFO(status.st_mode)):
            raise _no_file(path, status.st_mode)
        if within and not lies_within(_real_path(descriptor, path), within):
            hint = "follow links only in folders that you trust: --follow-links"
            raise UnreadableError(path_text(path), "leads out of the folder that it was found in", hint=hint)
        return read_to_end(lambda size: os.read(descriptor, size), path_text(path), most, status.st_size)
    finally:
        os.close(descriptor)


def read_to_end(read: Callable[[int], bytes], name: str, most: int = MAX_BYTES, size: int = 0) -> bytes:
    """Return what `read` gives, called with a number of bytes: `size` bytes if that is known, else all until the end.

    Raise UnreadableError if that is more than `most` bytes.
    """
    parts: list[bytes] = []
    left = size or most + 1
    while left > 0 and size <= most and (part := read(min(left, size or _PART))):
        parts.append(part)
        left -= len(part)
    if size > most or (not size and not left):
        limit = f"{most >> 30} GiB" if most >> 30 else f"{most >> 20} MiB"
        raise UnreadableError(name, f"is larger than {limit}", hint="divide it, or leave it out")
    return parts[0] if len(parts) == 1 else b"".join(parts)


def lies_within(path: str, folder: str) -> bool:
    """Whether a path lies in a folder, or is the folder; both are real paths."""
    return os.path.join(path, "").startswith(os.path.join(folder, ""))  # noqa: PTH118 - the separator at the end


def _no_file(path: str | os.PathLike[str], mode: int) -> UnreadableError:
    what = "pipe" if S_ISFIFO(mode) else "device"
    return UnreadableError(path_text(path), f"is a {what}, not a file", hint="give a file, or - for what is piped in")


def _real_path(descriptor: int, path: str | os.PathLike[str]) -> str:
    """Return where an open file lies: asking before it is opened could be too early."""
    try:
        return os.readlink(f"/proc/self/fd/{descriptor}")  # noqa: PTH115 - a path object costs
    except OSError:  # a system without it
        return os.path.realpath(path)
