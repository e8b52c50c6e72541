"""Chunk files: records back from JSON lines, a JSON list or Parquet, one at a time, so that size doesn't matter."""

from __future__ import annotations

import sys
from collections.abc import Iterator
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
        yield from _from_json(sys.stdin.buffer)
        return
    try:
        with Path(path).open("rb") as file:
            parquet = file.read(4) == b"PAR1"
            file.seek(0)
            yield from _from_parquet(path) if parquet else _from_json(file)
    except OSError as error:
        raise UnreadableError(path, f"can't be opened ({error.strerror or error})") from error


def records_of_file(path: str) -> Iterator[dict[str, Any]]:
    """Read a chunk file in which every line must be a record."""
    for place, record, fault in recorded(path):
        if fault:
            raise UnreadableError(
                path, f"has no record in line {place} ({fault})", hint="spanwise check names them all"
            )
        yield record


def _from_json(file: IO[bytes]) -> Iterator[Recorded]:
    """Read a record a line; a list may open before the first and close after the last, with commas between."""
    listed = False
    for place, line in enumerate(file, 1):
        words = line.strip()
        if place == 1 and words.startswith(b"["):
            listed, words = True, words[1:].lstrip()
        if listed:
            words = words.removesuffix(b"]").rstrip().removesuffix(b",") if not _is_record(words) else words
        if words:
            yield _parsed(words, place)


def _is_record(words: bytes) -> bool:
    return words.startswith(b"{") and words.endswith(b"}")


def _parsed(words: bytes, place: int) -> Recorded:
    import orjson

    try:
        record = orjson.loads(words)
    except orjson.JSONDecodeError as error:
        return Recorded(place, {}, f"not JSON: {error}")
    if not isinstance(record, dict):
        return Recorded(place, {}, f"not an object but {type(record).__name__}")
    return Recorded(place, record)


def _from_parquet(path: str) -> Iterator[Recorded]:
    import orjson

    try:
        import pyarrow
        from pyarrow import parquet
    except ImportError as error:
        hint = 'pip install "spanwise[parquet]"'
        raise MissingExtraError("pyarrow", "is needed for Parquet files", hint=hint) from error
    place = 0
    try:
        for batch in parquet.ParquetFile(path).iter_batches(batch_size=1024):
            for record in batch.to_pylist():
                place += 1
                metadata = record.get("metadata") or {}
                if isinstance(metadata.get("extra"), str):
                    metadata["extra"] = orjson.loads(metadata["extra"])
                yield Recorded(place, record)
    except pyarrow.ArrowException as error:
        raise UnreadableError(path, f"is a damaged Parquet file ({error})") from error
