"""The command `spanwise` as a process of its own: with pipes, on a terminal, without rights."""

from __future__ import annotations

import fcntl
import os
import pty
import select
import signal
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, NamedTuple

import orjson

COMMAND = (sys.executable, "-m", "spanwise")
NOBODY = 65534


class Ran(NamedTuple):
    """What a process left behind."""

    code: int
    out: bytes
    err: str


def environment(more: Mapping[str, str] | None = None) -> dict[str, str]:
    """Give an environment in which nothing speaks of colours or columns."""
    plain = {name: value for name, value in os.environ.items() if name not in {"NO_COLOR", "COLUMNS", "LINES"}}
    return plain | {"TERM": "xterm"} | dict(more or {})


def ran(*arguments: str | bytes, cwd: Path, piped: bytes = b"", timeout: float = 30) -> Ran:
    """Run the command with pipes on all sides."""
    done = subprocess.run(
        [*COMMAND, *arguments], cwd=cwd, input=piped, capture_output=True, timeout=timeout, env=environment()
    )
    return Ran(done.returncode, done.stdout, done.stderr.decode())


def ran_by_shell(line: str, cwd: Path, timeout: float = 30) -> Ran:
    """Run a line of the shell, in which `$spanwise` is the command; whatever it started ends with it."""
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
    """Start the command in a group of its own, as a shell does, so that it can be sent signals."""
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
    """Run the command with a terminal as stdout and stderr; give its exit code and what the terminal got."""
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
            shown = _all_of(master, time.monotonic() + timeout)
        finally:
            os.close(master)
            process.kill()  # it has ended, or it hangs
    return process.returncode, shown.decode().replace("\r\n", "\n")


def _all_of(descriptor: int, deadline: float) -> bytes:
    """Read until the other side is closed, which a terminal tells by an error."""
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
    """Read JSON lines, from a file if a path is given."""
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
    """Be somebody whom permissions bind; who runs as root becomes nobody for a while."""
    root = os.geteuid() == 0
    if root:
        os.seteuid(NOBODY)
    try:
        yield
    finally:
        if root:
            os.seteuid(0)


def living_in_group(group: int) -> Sequence[int]:
    """Give the processes of a group that still run (Linux tells them in /proc)."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            with suppress(OSError, ValueError):
                fields = (entry / "stat").read_text().rpartition(")")[2].split()
                if int(fields[2]) == group and fields[0] != "Z":
                    found.append(int(entry.name))
    return found
