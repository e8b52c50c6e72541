"""Chunk files: records back from JSON lines, a JSON list or Parquet, one at a time, so that size doesn't matter."""

from __future__ import annotations

import io
import sys
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import IO, Any, NamedTuple

from spanwise.errors import MissingExtraError, UnreadableError


class Recorded(NamedTuple):
    """A record, and the line or row where it stands, from 1; `fault` says why there is none."""

    place: int
    record: dict[str, Any]
    fault: str | None = None


def recorded(path: str) -> Iterator[Recorded]:
    """Read a chunk file, `-` for stdin; a line that is no record is told, and the next one is read."""
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
    """Read what is piped in; Parquet must be there whole before it can be read."""
    first = stream.read(4)
    if first == b"PAR1":
        yield from _from_parquet(io.BytesIO(first + stream.read()))
    else:
        yield from _from_json(io.BytesIO(first + stream.readline()), stream)


def records_of_file(path: str) -> Iterator[dict[str, Any]]:
    """Read a chunk file in which every line must be a record."""
    for place, record, fault in recorded(path):
        if fault:
            raise UnreadableError(
                path, f"has no record in line {place} ({fault})", hint="spanwise check names them all"
            )
        yield record


def _from_json(*files: IO[bytes]) -> Iterator[Recorded]:
    """Read a record a line; a list may open before the first and close after the last, with commas between.

    A list that is written otherwise, all on one line or over many, must be read whole.
    """
    lines = enumerate(chain.from_iterable(files), 1)
    for place, line in lines:
        words = line.removeprefix(b"\xef\xbb\xbf").strip() if place == 1 else line.strip()
        if place == 1 and words.startswith(b"["):
            yield from _from_list(lines) if words == b"[" else _whole(words, lines)
            return
        if words:
            yield _parsed(words, place)


def _from_list(lines: Iterator[tuple[int, bytes]]) -> Iterator[Recorded]:
    for place, line in lines:
        words = line.strip().removesuffix(b",")
        if place == 2 and not (words.startswith(b"{") and words.endswith(b"}")) and words != b"]":
            yield from _whole(b"[" + line, lines)
            return
        if words and words != b"]":
            yield _parsed(words, place)


def _whole(begun: bytes, lines: Iterator[tuple[int, bytes]]) -> Iterator[Recorded]:
    import orjson

    try:
        records = orjson.loads(begun + b"".join(line for _, line in lines))
    except orjson.JSONDecodeError as error:
        yield Recorded(1, {}, f"not JSON: {error}")
        return
    for place, record in enumerate(records, 1):
        yield Recorded(place, record) if isinstance(record, dict) else _no_record(place, record)


def _no_record(place: int, record: object) -> Recorded:
    return Recorded(place, {}, f"not an object but {type(record).__name__}")


def _parsed(words: bytes, place: int) -> Recorded:
    import orjson

    try:
        record = orjson.loads(words)
    except orjson.JSONDecodeError as error:
        return Recorded(place, {}, f"not JSON: {error}")
    return Recorded(place, record) if isinstance(record, dict) else _no_record(place, record)


def _from_parquet(file: str | IO[bytes]) -> Iterator[Recorded]:
    import orjson

    try:
        import pyarrow
        from pyarrow import parquet
    except ImportError as error:
        hint = 'pip install "spanwise[parquet]"'
        raise MissingExtraError("pyarrow", "is needed for Parquet files", hint=hint) from error
    place = 0
    try:
        for batch in parquet.ParquetFile(file).iter_batches(batch_size=1024):
            for record in batch.to_pylist():
                place += 1
                metadata = record.get("metadata") or {}
                if isinstance(metadata.get("extra"), str):
                    metadata["extra"] = orjson.loads(metadata["extra"])
                yield Recorded(place, record)
    except pyarrow.ArrowException as error:
        raise UnreadableError(str(file), f"is a damaged Parquet file ({error})") from error
