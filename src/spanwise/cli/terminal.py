"""Words for people: colours that aren't needed to understand, columns, bars, and progress on stderr."""

from __future__ import annotations

import io
import os
import shutil
import sys
import textwrap
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from itertools import accumulate
from typing import IO, Any, Final
from unicodedata import combining, east_asian_width

_COLOURS: Final = {
    "head": "33", "strong": "1", "overlap": "36", "context": "35", "error": "31", "good": "32", "dim": "2",
    "match": "1;33",
}  # fmt: skip
_EIGHTHS: Final = " ▏▎▍▌▋▊▉█"
_STEERING: Final = (*range(32), *range(127, 160), 0x200E, 0x200F, *range(0x202A, 0x202F), *range(0x2066, 0x206A))
_CONTROL: Final = {code: "�" for code in (*_STEERING, *range(0xD800, 0xE000)) if code not in {9, 10}}


class Screen:
    """Where words go: painted only if it is a terminal and nobody said NO_COLOR."""

    def __init__(self, stream: IO[str], write: Callable[[str], object] | None = None) -> None:
        """Look at the stream once; `write` if the words go somewhere else in the end."""
        self._write = write or stream.write
        wanted = not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
        self.coloured = stream.isatty() and wanted
        self.width = min(shutil.get_terminal_size((100, 24)).columns, 140)

    def painted(self, words: str, colour: str) -> str:
        """Give words in a colour, if colours are wanted here."""
        return f"\x1b[{_COLOURS[colour]}m{words}\x1b[0m" if self.coloured and words else words

    def line(self, words: str = "", colour: str = "") -> None:
        """Write a line."""
        self._write(f"{self.painted(words, colour) if colour else words}\n")


def printable(text: str) -> str:
    """Take out what would steer the terminal rather than be read; a tab becomes spaces."""
    return text.translate(_CONTROL).expandtabs(4)


def one_line(text: str) -> str:
    """Show a name, which may hold anything, on one line."""
    return printable(text).replace("\n", "�")


def columns(text: str) -> int:
    """Count the columns that a text takes; a Chinese character takes two, a combining mark none."""
    return len(text) if text.isascii() else sum(map(_columns, text))


def _columns(character: str) -> int:
    return 0 if combining(character) else 2 if east_asian_width(character) in "WF" else 1


def fitted(text: str, width: int) -> str:
    """Cut a line to so many columns."""
    if columns(text) <= width:
        return text
    reached = accumulate(map(_columns, text))
    return text[: sum(1 for column in reached if column < width)] + "…"


def folded(text: str, width: int) -> list[str]:
    """Break a line into parts of so many columns."""
    parts = [""]
    taken = 0
    for character in text:
        size = _columns(character)
        if taken + size > width:
            parts.append("")
            taken = 0
        parts[-1] += character
        taken += size
    return parts


def padded(text: str, width: int, *, right: bool = False) -> str:
    """Fit and fill a cell."""
    cut = fitted(text, width)
    space = " " * (width - columns(cut))
    return space + cut if right else cut + space


def table(
    rows: Sequence[Sequence[str]], *, right: Iterable[int] = (), width: int = 100, wrapped: bool = False
) -> list[str]:
    """Set rows in columns; the last column takes what is left of the width, cut or `wrapped`."""
    numeric = set(right)
    widths = [max(columns(row[place]) for row in rows) for place in range(len(rows[0]))]
    rest = width - sum(widths[:-1]) - 2 * (len(widths) - 1)
    widths[-1] = max(min(widths[-1], rest), 8)
    lines = []
    for row in _unfolded(rows, widths[-1]) if wrapped else rows:
        cells = enumerate(zip(row, widths, strict=True))
        lines.append("  ".join(padded(cell, size, right=place in numeric) for place, (cell, size) in cells).rstrip())
    return lines


def _unfolded(rows: Iterable[Sequence[str]], width: int) -> Iterator[Sequence[str]]:
    for row in rows:
        first, *more = textwrap.wrap(row[-1], width) or [""]
        yield [*row[:-1], first]
        yield from ([""] * (len(row) - 1) + [line] for line in more)


def bar(share: float, width: int) -> str:
    """Draw a share of a whole as a bar, to an eighth of a column."""
    eighths = round(max(0.0, min(share, 1.0)) * width * 8)
    return ("█" * (eighths // 8) + _EIGHTHS[eighths % 8]).rstrip()


def counted(number: float, one: str, many: str = "") -> str:
    """Say a number of things: `1 chunk`, `1,200 chunks`."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def print_json(value: Any) -> None:
    """Write one JSON value to stdout, set for reading."""
    import orjson

    sys.stdout.buffer.write(orjson.dumps(value, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE))
    sys.stdout.buffer.flush()


def print_json_lines(records: Iterable[Any]) -> None:
    """Write a record a line to stdout."""
    import orjson

    sys.stdout.buffer.writelines(orjson.dumps(record, option=orjson.OPT_APPEND_NEWLINE) for record in records)
    sys.stdout.buffer.flush()


def for_people() -> Screen:
    """Give the screen behind stderr; where nobody listens the words are lost, and nothing else."""
    return Screen(sys.stderr or io.StringIO(), _to_people)


def _to_people(words: str) -> None:
    with suppress(OSError, ValueError):
        if sys.stderr is not None:
            sys.stderr.write(words)
            sys.stderr.flush()


class Progress:
    """A line on stderr that tells how far the work is; only for work over two seconds, and only for people."""

    def __init__(self, total: int, *, silent: bool = False, clock: Callable[[], float] = time.monotonic) -> None:
        """Begin to count."""
        self.total, self._clock = total, clock
        self._begun = self._drawn = clock()
        self._wanted = sys.stderr is not None and sys.stderr.isatty() and not silent
        self._visible = False
        self.documents = self.chunks = self.size = 0

    def advance(self, chunks: int, size: int) -> None:
        """Count a document."""
        self.documents += 1
        self.chunks += chunks
        self.size += size
        self.draw()

    def draw(self) -> None:
        """Show how far the work is, if it takes long and not too often."""
        now = self._clock()
        if self._wanted and now - self._begun > 2 and now - self._drawn > 0.1:
            self._drawn, self._visible = now, True
            width = shutil.get_terminal_size((100, 24)).columns
            _to_people(f"\r\x1b[K{fitted(self.words(), width - 1)}")

    def words(self) -> str:
        """Say how far the work is."""
        seconds = max(self._clock() - self._begun, 1e-6)
        done = self.documents / max(self.total, 1)
        parts = (
            f"{bar(done, 20):<20} {done:4.0%}",
            f"{self.documents:,}/{self.total:,} documents",
            counted(self.chunks, "chunk"),
            f"{self.size / seconds / 1e6:.1f} MB/s",
        )
        return " · ".join(parts)

    @property
    def seconds(self) -> float:
        """How long the work has taken so far."""
        return self._clock() - self._begun

    def clear(self) -> None:
        """Take the line away."""
        if self._visible:
            _to_people("\r\x1b[K")
            self._visible = False


def value_word(value: Any) -> str:
    """Return a setting as people write it."""
    if isinstance(value, bool):
        return "on" if value else "off"
    return "none" if value is None else str(value)
