"""Chunk files: reads records from JSON lines, a JSON list or Parquet, one at a time, so that size doesn't matter."""

from __future__ import annotations

import io
import sys
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import IO, Any, NamedTuple

from spanwise.errors import UnreadableError
from spanwise.records.frames import needed, records_in_rows


class Recorded(NamedTuple):
    """A record, and its line or row number, from 1; `fault` is the reason if there is no record."""

    number: int
    record: dict[str, Any]
    fault: str | None = None


def read_records(path: str) -> Iterator[Recorded]:
    """Yield the records of a chunk file, `-` for stdin; a line that is no record is reported, and reading goes on."""
    if path == "-":
        if sys.stdin is None:
            raise UnreadableError("-", "can't be read: stdin is closed")
        yield from _from_stream(sys.stdin.buffer)
        return
    try:
        with Path(path).open("rb") as file:
            parquet = file.read(4) == b"PAR1"
            file.seek(0)
            yield from _from_parquet(path) if parquet else _from_json(file)
    except OSError as error:
        raise UnreadableError(path, f"can't be opened ({error.strerror or error})") from error


def _from_stream(stream: IO[bytes]) -> Iterator[Recorded]:
    """Read a pipe; Parquet can only be read once it is complete."""
    first = stream.read(4)
    if first == b"PAR1":
        yield from _from_parquet(io.BytesIO(first + stream.read()))
    else:
        yield from _from_json(io.BytesIO(first + stream.readline()), stream)


def records_of_file(path: str) -> Iterator[dict[str, Any]]:
    """Yield the records of a chunk file; raise UnreadableError at a line that is no record."""
    first = True
    for number, record, fault in read_records(path):
        if fault and first:
            raise no_chunks(path, number, fault)
        if fault:
            rule = f"has no record in line {number} ({fault})"
            raise UnreadableError(path, rule, hint="spanwise check names them all")
        first = False
        yield record


def no_chunks(path: str, number: int, fault: str) -> UnreadableError:
    """Return the error for a file that begins with something else than a chunk."""
    hint = "give what spanwise chunk writes: JSON lines, JSON or Parquet"
    return UnreadableError(path, f"is no file of chunks (line {number}: {fault})", hint=hint)


def _from_json(*files: IO[bytes]) -> Iterator[Recorded]:
    """Read one record a line; a list may open before the first and close after the last, with commas between.

    A list in any other layout, all on one line or with records over many, must be read whole.
    """
    lines = enumerate(chain.from_iterable(files), 1)
    for number, line in lines:
        data = line.removeprefix(b"\xef\xbb\xbf").strip() if number == 1 else line.strip()
        if number == 1 and data.startswith(b"["):
            yield from _from_list(lines) if data == b"[" else _whole(data, lines)
            return
        if data:
            yield _parsed(data, number)


def _from_list(lines: Iterator[tuple[int, bytes]]) -> Iterator[Recorded]:
    for number, line in lines:
        data = line.strip().removesuffix(b",")
        if number == 2 and not (data.startswith(b"{") and data.endswith(b"}")) and data != b"]":
            yield from _whole(b"[" + line, lines)
            return
        if data and data != b"]":
            yield _parsed(data, number)


def _whole(beginning: bytes, lines: Iterator[tuple[int, bytes]]) -> Iterator[Recorded]:
    import orjson

    try:
        records = orjson.loads(beginning + b"".join(line for _, line in lines))
    except orjson.JSONDecodeError as error:
        yield Recorded(1, {}, f"not JSON: {error}")
        return
    yield from (_checked(number, record) for number, record in enumerate(records, 1))


def _parsed(data: bytes, number: int) -> Recorded:
    import orjson

    try:
        return _checked(number, orjson.loads(data))
    except orjson.JSONDecodeError as error:
        return Recorded(number, {}, f"not JSON: {error}")


def _checked(number: int, record: object) -> Recorded:
    if isinstance(record, dict):
        return Recorded(number, record)
    return Recorded(number, {}, f"not an object but {type(record).__name__}")


def _from_parquet(file: str | IO[bytes]) -> Iterator[Recorded]:
    parquet = needed("pyarrow.parquet", "Parquet files", "parquet")
    import pyarrow

    try:
        batches = parquet.ParquetFile(file).iter_batches(batch_size=1024)
        for number, record in enumerate((record for batch in batches for record in records_in_rows(batch)), 1):
            yield Recorded(number, record)
    except pyarrow.ArrowException as error:
        raise UnreadableError(str(file), f"is a damaged Parquet file ({error})") from error
