"""Where chunks are written to, and in which format; a file appears whole or not at all."""

from __future__ import annotations

import io
import os
import stat
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, Final, Protocol

from spanwise.cli.chunk_view import show_rows, show_view
from spanwise.cli.terminal import Screen
from spanwise.errors import MissingExtraError, OptionError
from spanwise.pipeline.files import Outcome


class OutputError(Exception):
    """Something that can't be written; the words say what and why."""


@contextmanager
def opened(path: str | None, flag: str = "-o", example: str = "chunks.jsonl") -> Iterator[IO[bytes]]:
    """Open stdout, or a file that takes its name only when everything is in it."""
    if path is None or path == "-":
        if sys.stdout is None:
            raise OutputError("the output can't be written (stdout is closed)")
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
        return
    with _named(path):
        target = Path(os.path.realpath(path))
        if target.is_symlink():
            raise OutputError(f"{path} can't be written (its links lead in a circle)")
        if target.is_dir() or path.endswith("/"):
            hint = f"name a file in it, such as {(Path(path) / example).as_posix()}"
            raise OptionError(flag, "names a folder", value=path, hint=hint)
        if target.exists() and not stat.S_ISREG(target.stat().st_mode):  # a device or pipe can't be replaced
            with target.open("wb") as file:
                yield file
            return
        yield from _replacing(target)


def _replacing(target: Path) -> Iterator[IO[bytes]]:
    descriptor, name = tempfile.mkstemp(prefix=f".{target.name[:40]}.", suffix=".part", dir=target.parent)
    part = Path(name)
    try:
        with os.fdopen(descriptor, "wb") as file:
            yield file
        part.chmod(_mode(target))
        part.replace(target)
    except BaseException:
        part.unlink(missing_ok=True)
        raise


def _mode(target: Path) -> int:
    """Give the rights that the file has, or that a new one would get."""
    if target.exists():
        return stat.S_IMODE(target.stat().st_mode)
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask


@contextmanager
def _named(path: str) -> Iterator[None]:
    try:
        yield
    except BrokenPipeError:
        raise
    except OSError as error:
        raise OutputError(f"{path} can't be written ({error.strerror or error})") from error


class Writer(Protocol):
    """Takes outcomes one by one and writes them in a format."""

    def write(self, outcome: Outcome) -> None:
        """Write the records of a file."""
        ...

    def finish(self) -> None:
        """Write what comes after the last."""
        ...


class JsonLines:
    """A record a line."""

    def __init__(self, file: IO[bytes]) -> None:
        """Write to a file."""
        self._file = file

    def write(self, outcome: Outcome) -> None:
        """Write the lines as they are."""
        self._file.write(outcome.lines)

    def finish(self) -> None:
        """Nothing comes after the last line."""


class Json:
    """One list of records."""

    def __init__(self, file: IO[bytes]) -> None:
        """Write to a file."""
        self._file = file
        self._between = b"[\n"

    def write(self, outcome: Outcome) -> None:
        """Write the records with commas between them."""
        if outcome.lines:
            self._file.write(self._between + outcome.lines.rstrip(b"\n").replace(b"\n", b",\n"))
            self._between = b",\n"

    def finish(self) -> None:
        """Close the list."""
        self._file.write(b"[]\n" if self._between == b"[\n" else b"\n]\n")


class Parquet:
    """A Parquet file; values that have a shape of their own for every document are JSON text."""

    def __init__(self, file: IO[bytes], dialect: str | None, offsets: Sequence[str]) -> None:
        """Begin a file with the columns of a dialect."""
        try:
            import pyarrow.parquet as parquet
        except ImportError as error:
            hint = 'pip install "spanwise[parquet]"'
            raise MissingExtraError("pyarrow", "is needed for --format parquet", hint=hint) from error
        from spanwise.records.columns import schema_of

        self._schema = schema_of(dialect, offsets)
        self._writer = parquet.ParquetWriter(file, self._schema, compression="zstd")
        self._rows: list[dict[str, Any]] = []

    def write(self, outcome: Outcome) -> None:
        """Collect rows, and write them by the thousand."""
        from spanwise.records.columns import row_of

        self._rows += [row_of(record, self._schema) for record in records_in(outcome.lines)]
        if len(self._rows) >= 4096:
            self._flush()

    def finish(self) -> None:
        """Write the last rows and the footer."""
        self._flush()
        self._writer.close()

    def _flush(self) -> None:
        import pyarrow

        if self._rows:
            self._writer.write_table(pyarrow.Table.from_pylist(self._rows, schema=self._schema))
            self._rows = []


class Shown:
    """Chunks for people: whole, or a line each."""

    def __init__(self, file: IO[bytes], *, whole: bool, lines: int) -> None:
        """Write to the terminal, or to a file that somebody will read."""
        self._whole, self._lines = whole, lines
        to_file = sys.stdout is None or file is not sys.stdout.buffer
        self._screen = Screen(
            io.StringIO() if to_file else sys.stdout, lambda words: file.write(words.encode("utf-8", "replace"))
        )

    def write(self, outcome: Outcome) -> None:
        """Show the chunks of a file."""
        records = records_in(outcome.lines)
        if self._whole:
            show_view(self._screen, outcome.file, records, self._lines)
        else:
            show_rows(self._screen, outcome.file, records)

    def finish(self) -> None:
        """Nothing comes after the last chunk."""


def records_in(lines: bytes) -> list[dict[str, Any]]:
    """Read the records back from JSON lines."""
    import orjson

    return [orjson.loads(line) for line in lines.splitlines()]


FORMATS: Final = ("jsonl", "json", "parquet", "table", "view")


def writer_of(
    name: str, file: IO[bytes], dialect: str | None, *, lines: int = 0, offsets: Sequence[str] = ()
) -> Writer:
    """Give the writer of a format."""
    if name in {"table", "view"} and dialect:
        hint = "try --format jsonl"
        raise OptionError("--format", f"{name} shows Spanwise's own records, not a dialect", value=dialect, hint=hint)
    if name == "parquet":
        return Parquet(file, dialect, offsets)
    if name in {"table", "view"}:
        return Shown(file, whole=name == "view", lines=lines)
    return Json(file) if name == "json" else JsonLines(file)
