"""Files of records: JSON lines, one JSON list, CSV or Parquet; a file appears whole or not at all."""

from __future__ import annotations

import csv
import io
import os
import stat
import sys
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Final, Protocol

from spanwise.errors import OptionError
from spanwise.records.frames import BATCH_ROWS, batches_of, needed
from spanwise.records.json_lines import records_in

if TYPE_CHECKING:
    import pyarrow

SUFFIXES: Final = {
    ".jsonl": "jsonl", ".ndjson": "jsonl", ".json": "json", ".csv": "csv", ".parquet": "parquet",
}  # fmt: skip
"""The format that the suffix of a file stands for."""


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


class TakesBytes(Protocol):
    """What records are written to: a file, or what shows them safely on a terminal."""

    def write(self, data: bytes, /) -> int:
        """Write bytes."""
        ...


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

    def __init__(self, file: TakesBytes) -> None:
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


class Csv:
    """A table of text with a line of names; lists, objects, true and false are written as JSON, null as nothing."""

    def __init__(self, file: TakesBytes, names: Sequence[str]) -> None:
        """Write the names of the columns."""
        self._file, self._names = file, names
        self._write([self._names])

    def write(self, name: str, lines: bytes) -> None:
        """Write a line for each record."""
        self._write([_cell(record.get(name)) for name in self._names] for record in records_in(lines))

    def _write(self, rows: Iterable[Sequence[str]]) -> None:
        text = io.StringIO(newline="")
        csv.writer(text, lineterminator="\n").writerows(rows)
        self._file.write(text.getvalue().encode())

    def finish(self) -> None:
        """Write nothing: the last line is complete."""


def _cell(value: Any) -> str:
    import orjson

    return value if isinstance(value, str) else "" if value is None else orjson.dumps(value).decode()


class Parquet:
    """A Parquet file; values whose type differs between documents are JSON text."""

    def __init__(self, file: IO[bytes], schema: pyarrow.Schema) -> None:
        """Begin a file with these columns."""
        parquet = needed("pyarrow.parquet", "Parquet files", "parquet")
        self._schema = schema
        self._writer = parquet.ParquetWriter(file, schema, compression="zstd")
        self._records: list[dict[str, Any]] = []

    def write(self, name: str, lines: bytes) -> None:
        """Collect records, and write them by the thousand."""
        self._records += records_in(lines)
        if len(self._records) >= BATCH_ROWS:
            self._flush()

    def finish(self) -> None:
        """Write the last rows and the footer."""
        self._flush()
        self._writer.close()

    def _flush(self) -> None:
        for batch in batches_of(self._records, self._schema):
            self._writer.write_batch(batch)
        self._records = []
