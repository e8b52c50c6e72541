"""Output for people: colours that carry no meaning alone, columns, bars, progress on stderr; and JSON on stdout."""

from __future__ import annotations

import io
import os
import shutil
import sys
import textwrap
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import accumulate
from typing import IO, Any, Final
from unicodedata import combining, east_asian_width

from spanwise.errors import SpanwiseError

Rows = Sequence[Sequence[str]]

_COLOURS: Final = {
    "head": "33", "strong": "1", "overlap": "36", "context": "35", "error": "31", "good": "32", "dim": "2",
    "match": "1;33",
}  # fmt: skip
_EIGHTHS: Final = " ▏▎▍▌▋▊▉█"
_STEERING: Final = (*range(32), *range(127, 160), 0x200E, 0x200F, *range(0x202A, 0x202F), *range(0x2066, 0x206A))
_CONTROL: Final = {code: "�" for code in (*_STEERING, *range(0xD800, 0xE000)) if code not in {9, 10}}


class Screen:
    """A stream of lines: coloured only on a terminal, and not if NO_COLOR is set."""

    def __init__(self, stream: IO[str], write: Callable[[str], object] | None = None) -> None:
        """Find out colours and width of the stream; `write` if the text goes elsewhere in the end."""
        self._write = write or stream.write
        wanted = not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
        self.coloured = stream.isatty() and wanted
        self.width = min(shutil.get_terminal_size((100, 24)).columns, 140)

    def painted(self, text: str, colour: str) -> str:
        """Return a text in a colour, if this stream has colours."""
        return f"\x1b[{_COLOURS[colour]}m{text}\x1b[0m" if self.coloured and text else text

    def line(self, text: str = "", colour: str = "") -> None:
        """Write a line."""
        self._write(f"{self.painted(text, colour) if colour else text}\n")

    def labelled(self, label: str, text: str, colour: str = "head") -> None:
        """Write a line that starts with a coloured label."""
        self.line(f"{self.painted(f'{label}:', colour)} {text}")

    def table(
        self, rows: Rows, *, right: Iterable[int] = (), wrapped: bool = False, head: str = "", indent: str = ""
    ) -> None:
        """Write rows as `table` arranges them, the first one in the colour `head`."""
        lines = table(rows, right=right, width=self.width - len(indent), wrapped=wrapped)
        for index, line in enumerate(lines):
            self.line(indent + line, "" if index else head)


def printable(text: str) -> str:
    """Replace characters that would control the terminal; a tab becomes spaces."""
    return text.translate(_CONTROL).expandtabs(4)


def one_line(text: str) -> str:
    """Return a name or message, which may hold any characters, on one line."""
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
    return text[: sum(column < width for column in accumulate(map(_columns, text)))] + "…"


def folded(text: str, width: int) -> list[str]:
    """Break a line into parts of so many columns."""
    parts, taken = [""], 0
    for character in text:
        taken += _columns(character)
        if taken > width:
            parts.append("")
            taken = _columns(character)
        parts[-1] += character
    return parts


def padded(text: str, width: int, right: bool = False) -> str:
    """Cut or fill a cell to so many columns."""
    cut = fitted(text, width)
    space = " " * (width - columns(cut))
    return space + cut if right else cut + space


def table(rows: Rows, *, right: Iterable[int] = (), width: int = 100, wrapped: bool = False) -> list[str]:
    """Return rows as lines of columns; the last column takes what is left of the width, cut or `wrapped`."""
    widths = [max(map(columns, column)) for column in zip(*rows, strict=True)]
    rest = width - sum(widths[:-1]) - 2 * (len(widths) - 1)
    widths[-1] = max(min(widths[-1], rest), 8)
    sides = [index in {*right} for index in range(len(widths))]
    lines = _unfolded(rows, widths[-1]) if wrapped else rows
    return ["  ".join(map(padded, line, widths, sides)).rstrip() for line in lines]


def _unfolded(rows: Iterable[Sequence[str]], width: int) -> Iterator[Sequence[str]]:
    for row in rows:
        first, *more = textwrap.wrap(row[-1], width) or [""]
        yield [*row[:-1], first]
        yield from ([""] * (len(row) - 1) + [line] for line in more)


def bar(share: float, width: int) -> str:
    """Return a share of a whole as a bar, to an eighth of a column."""
    eighths = round(max(0.0, min(share, 1.0)) * width * 8)
    return ("█" * (eighths // 8) + _EIGHTHS[eighths % 8]).rstrip()


def counted(number: float, one: str, many: str = "") -> str:
    """Return a number with its noun: `1 chunk`, `1,200 chunks`."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def reason_counts(counts: Mapping[str, int]) -> str:
    """Return how often each reason came up, in the order of their names: `excluded 2, hidden 1`."""
    return ", ".join(f"{reason} {count:,}" for reason, count in sorted(counts.items()))


def print_json(value: Any) -> None:
    """Write one JSON value to stdout, indented."""
    import orjson

    print_json_lines([value], orjson.OPT_INDENT_2)


def print_json_lines(records: Iterable[Any], option: int = 0, *, flush: bool = True) -> None:
    """Write a record a line to stdout."""
    import orjson

    option |= orjson.OPT_APPEND_NEWLINE
    sys.stdout.buffer.writelines(orjson.dumps(record, option=option) for record in records)
    if flush:
        sys.stdout.buffer.flush()


def stderr_screen() -> Screen:
    """Return the screen of stderr; if that is closed, its lines are lost, and nothing else happens."""
    return Screen(sys.stderr or io.StringIO(), _write_stderr)


def _write_stderr(text: str) -> None:
    with suppress(OSError, ValueError):
        if sys.stderr is not None:
            sys.stderr.write(text)
            sys.stderr.flush()


class Progress:
    """A line on a terminal's stderr that shows how far the work is, if it takes over two seconds.

    Errors and warnings about single documents are written through it: they take the place of the line.
    """

    def __init__(self, total: int = 0, *, silent: bool = False, clock: Callable[[], float] = time.monotonic) -> None:
        """Start to count."""
        self.total, self._clock, self.screen = total, clock, stderr_screen()
        self._begun = self._drawn = clock()
        self._wanted = sys.stderr is not None and sys.stderr.isatty() and not silent
        self._visible = False
        self.documents = self.chunks = self.size = self.failed = 0

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
            _write_stderr(f"\r\x1b[K{fitted(self.text(), width - 1)}")

    def text(self) -> str:
        """Return how far the work is, in a line."""
        speed = self.size / max(self.seconds, 1e-6) / 1e6
        counts = f"{self.documents:,}/{self.total:,} documents", counted(self.chunks, "chunk"), f"{speed:.1f} MB/s"
        return " · ".join((self.share(), *counts))

    def share(self) -> str:
        """Return the share of documents that are done, as a bar and in percent."""
        done = self.documents / max(self.total, 1)
        return f"{bar(done, 20):<20} {done:4.0%}"

    @property
    def seconds(self) -> float:
        """How long the work has taken so far."""
        return self._clock() - self._begun

    def clear(self) -> None:
        """Remove the line."""
        if self._visible:
            _write_stderr("\r\x1b[K")
            self._visible = False

    def report_errors(self, *errors: SpanwiseError, file: str = "") -> None:
        """Write for each error in one line what failed, where, why, and what to do."""
        for error in errors:
            text = str(error).replace("\nhint: ", "; hint: ").replace("say its format: ", "say --input-format ")
            name = f"{one_line(file)}: " if file and one_line(file) not in one_line(text) else ""
            self.clear()
            self.screen.labelled("error", name + one_line(text), "error")
        self.failed += len(errors)

    def report_warnings(self, name: str, notes: Iterable[str]) -> None:
        """Write a line for each note on a document."""
        for note in notes:
            self.clear()
            self.screen.labelled("warning", f"{one_line(name)}: {one_line(note)}")
