"""The formats of `spanwise chunk`: files of records, and chunks for people."""

from __future__ import annotations

import io
import sys
from collections.abc import Sequence
from typing import IO, Final

from spanwise.cli.chunk_view import show_rows, show_view
from spanwise.cli.terminal import Screen
from spanwise.errors import OptionError
from spanwise.records.json_lines import records_in
from spanwise.records.writers import Json, JsonLines, Parquet, Writer

FORMATS: Final = ("jsonl", "json", "parquet", "table", "view")


class ChunkView:
    """Chunks for people: whole, or a line each."""

    def __init__(self, file: IO[bytes], *, whole: bool, lines: int) -> None:
        """Write to the terminal, or to a text file."""
        self._whole, self._lines = whole, lines
        to_file = sys.stdout is None or file is not sys.stdout.buffer
        stream = io.StringIO() if to_file else sys.stdout
        self._screen = Screen(stream, lambda text: file.write(text.encode("utf-8", "replace")))

    def write(self, name: str, lines: bytes) -> None:
        """Write the chunks of a file."""
        records = records_in(lines)
        if self._whole:
            show_view(self._screen, name, records, self._lines)
        else:
            show_rows(self._screen, name, records)

    def finish(self) -> None:
        """Do nothing: nothing follows the last chunk."""


def writer_of(name: str, file: IO[bytes], dialect: str | None, lines: int, offsets: Sequence[str]) -> Writer:
    """Return the writer of a format."""
    if name == "parquet":
        return Parquet(file, dialect, offsets)
    if name in {"table", "view"}:
        if dialect:
            rule = f"{name} shows Spanwise's own records, not a dialect"
            raise OptionError("--format", rule, value=dialect, hint="try --format jsonl")
        return ChunkView(file, whole=name == "view", lines=lines)
    return Json(file) if name == "json" else JsonLines(file)
