"""Helpers that run the `spanwise` command as a process: with pipes, on a terminal, without privileges."""

from __future__ import annotations

import os
import select
import signal
import struct
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, NamedTuple

import orjson

COMMAND = (sys.executable, "-m", "spanwise")
NOBODY = 65534


class Ran(NamedTuple):
    """Exit code and output of a process."""

    code: int
    out: bytes
    err: str


def environment(more: Mapping[str, str] | None = None) -> dict[str, str]:
    """Return an environment without variables for colours or the terminal size."""
    plain = {name: value for name, value in os.environ.items() if name not in {"NO_COLOR", "COLUMNS", "LINES"}}
    return plain | {"TERM": "xterm"} | dict(more or {})


def ran(
    *arguments: str | bytes, cwd: Path, piped: bytes = b"", timeout: float = 30, more: Mapping[str, str] | None = None
) -> Ran:
    """Run the command with stdin, stdout and stderr as pipes."""
    done = subprocess.run(
        [*COMMAND, *arguments], cwd=cwd, input=piped, capture_output=True, timeout=timeout, env=environment(more)
    )
    return Ran(done.returncode, done.stdout, done.stderr.decode())


def ran_by_shell(line: str, cwd: Path, timeout: float = 30) -> Ran:
    """Run a shell command line in which `$spanwise` is the command; a timeout kills its process group."""
    with subprocess.Popen(
        ["/bin/sh", "-c", line],
        cwd=cwd,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
        env=environment({"spanwise": " ".join(COMMAND)}),
    ) as shell:
        try:
            out, err = shell.communicate(timeout=timeout)
        except subprocess.TimeoutExpired:
            os.killpg(shell.pid, signal.SIGKILL)
            raise
    return Ran(shell.returncode, out, err.decode())


def started(*arguments: str, cwd: Path) -> subprocess.Popen[bytes]:
    """Start the command in a new session, as a shell does, so that signals can be sent to its group."""
    return subprocess.Popen(
        [*COMMAND, *arguments],
        cwd=cwd,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        start_new_session=True,
        env=environment(),
    )


def on_terminal(
    *arguments: str, cwd: Path, columns: int = 80, more: Mapping[str, str] | None = None, timeout: float = 30
) -> tuple[int, str]:
    """Run the command with a terminal as stdout and stderr; return its exit code and what it wrote there."""
    import fcntl  # not on Windows, where the other helpers work
    import pty
    import termios

    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    with subprocess.Popen(
        [*COMMAND, *arguments],
        cwd=cwd,
        stdin=subprocess.DEVNULL,
        stdout=slave,
        stderr=slave,
        env=environment(more),
    ) as process:
        os.close(slave)
        try:
            output = _all_of(master, time.monotonic() + timeout)
        finally:
            os.close(master)
            process.kill()  # it has ended, or it hangs
    return process.returncode, output.decode().replace("\r\n", "\n")


def _all_of(descriptor: int, deadline: float) -> bytes:
    """Read until the other end is closed, which a terminal reports as an error."""
    parts: list[bytes] = []
    while (left := deadline - time.monotonic()) > 0:
        if not select.select([descriptor], [], [], left)[0]:
            continue
        try:
            part = os.read(descriptor, 65536)
        except OSError:
            return b"".join(parts)
        if not part:
            return b"".join(parts)
        parts.append(part)
    raise TimeoutError(b"".join(parts))


def records(lines: bytes | str | Path) -> list[dict[str, Any]]:
    """Parse JSON lines, from a file if a path is given."""
    data = lines.read_bytes() if isinstance(lines, Path) else lines.encode() if isinstance(lines, str) else lines
    return [orjson.loads(line) for line in data.splitlines()]


def files(folder: Path, texts: Mapping[str, str | bytes]) -> Path:
    """Write files below a folder."""
    for name, text in texts.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return folder


@contextmanager
def without_rights() -> Iterator[None]:
    """Drop root's privileges for the duration of the block, so that permissions apply."""
    root = os.geteuid() == 0
    if root:
        os.seteuid(NOBODY)
    try:
        yield
    finally:
        if root:
            os.seteuid(0)


def living_in_group(group: int) -> Sequence[int]:
    """Return the ids of the running processes of a group (from /proc, so Linux only)."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            with suppress(OSError, ValueError):
                fields = (entry / "stat").read_text().rpartition(")")[2].split()
                if int(fields[2]) == group and fields[0] != "Z":
                    found.append(int(entry.name))
    return found
