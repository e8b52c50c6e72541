"""Files of records: JSON lines, one JSON list, or Parquet; a file appears whole or not at all."""

from __future__ import annotations

import os
import stat
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, Protocol

from spanwise.errors import MissingExtraError, OptionError
from spanwise.records.json_lines import records_in


class OutputError(Exception):
    """Something that can't be written; the message has its name and the reason."""


@contextmanager
def opened(path: str | None, flag: str = "-o", example: str = "chunks.jsonl") -> Iterator[IO[bytes]]:
    """Open stdout, or a file that gets its name only when it is complete."""
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
    """Return the permissions of the file, or those that a new one would get."""
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
    """Writes the records of one document after the other in a format."""

    def write(self, name: str, lines: bytes) -> None:
        """Write the records of a document, given by its name and as JSON lines."""
        ...

    def finish(self) -> None:
        """Write what comes after the last record."""
        ...


class JsonLines:
    """A record a line."""

    def __init__(self, file: IO[bytes]) -> None:
        """Write to a file."""
        self._file = file

    def write(self, name: str, lines: bytes) -> None:
        """Write the lines as they are."""
        self._file.write(lines)

    def finish(self) -> None:
        """Write nothing: the last line is complete."""


class Json(JsonLines):
    """One list of records, each on a line."""

    _between = b"[\n"

    def write(self, name: str, lines: bytes) -> None:
        """Write the records with commas between them."""
        if lines:
            self._file.write(self._between + lines.rstrip(b"\n").replace(b"\n", b",\n"))
            self._between = b",\n"

    def finish(self) -> None:
        """Close the list."""
        self._file.write(b"[]\n" if self._between == b"[\n" else b"\n]\n")


class Parquet:
    """A Parquet file; values whose type differs between documents are JSON text."""

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

    def write(self, name: str, lines: bytes) -> None:
        """Collect rows, and write them by the thousand."""
        from spanwise.records.columns import row_of

        self._rows += [row_of(record, self._schema) for record in records_in(lines)]
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
