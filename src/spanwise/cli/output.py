"""The formats of `spanwise chunk`: files of records, and chunks for people."""

from __future__ import annotations

import io
import sys
from pathlib import PurePath
from typing import IO, Final

from spanwise.cli.chunk_view import show_rows, show_view
from spanwise.cli.terminal import Screen, for_terminal
from spanwise.errors import OptionError
from spanwise.records.columns import Columns
from spanwise.records.json_lines import records_in
from spanwise.records.writers import SUFFIXES, Csv, Json, JsonLines, Parquet, Writer

FORMATS: Final = ("jsonl", "json", "csv", "parquet", "table", "view")


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


def format_of(output: str | None, *, whole: bool) -> str:
    """Return the format that the suffix of a file stands for; on a terminal, the view of whole chunks for people."""
    ending = PurePath(output or "").suffix.lower()
    if ending and ending not in SUFFIXES:
        hint = f"known: {', '.join(sorted(SUFFIXES))}; or say it: --format jsonl"
        raise OptionError("-o", f"ends in {ending}, which stands for no format", value=output, hint=hint)
    return SUFFIXES.get(ending) or ("view" if on_screen(output) and whole else "jsonl")


def on_screen(output: str | None) -> bool:
    """Whether the output goes to a terminal."""
    return output in {None, "-"} and sys.stdout is not None and sys.stdout.isatty()


def writer_of(name: str, file: IO[bytes], columns: Columns, lines: int) -> Writer:
    """Return the writer of a format."""
    if name == "parquet":
        return Parquet(file, columns.schema)
    if name == "csv":
        return Csv(for_terminal(file), columns.names)
    if name in {"table", "view"}:
        if columns.dialect or columns.fields:
            what = ", not a dialect" if columns.dialect else " with all their fields"
            rule = f"{name} shows Spanwise's own records{what}"
            raise OptionError("--format", rule, value=columns.dialect or name, hint="try --format jsonl")
        return ChunkView(file, whole=name == "view", lines=lines)
    shown = for_terminal(file, json=True)
    return Json(shown) if name == "json" else JsonLines(shown)
