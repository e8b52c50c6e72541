"""Output for people: colours that carry no meaning alone, columns, bars; and JSON on stdout."""

from __future__ import annotations

import io
import os
import re
import shutil
import sys
import textwrap
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import accumulate
from typing import IO, Any, Final
from unicodedata import combining, east_asian_width

Rows = Sequence[Sequence[str]]

_LONG_LINE: Final = 50  # characters; a shorter line ends where its author meant it to
_NUMBERED: Final = re.compile(r"\d{1,3}[.)] ")

_COLOURS: Final = {
    "head": "33", "strong": "1", "overlap": "36", "context": "35", "error": "31", "good": "32", "dim": "2",
    "match": "1;33",
}  # fmt: skip
_MOST_REASONS: Final = 20
_EIGHTHS: Final = " ▏▎▍▌▋▊▉█"
_DIRECTIONS: Final = (0x061C, 0x200E, 0x200F, *range(0x202A, 0x202F), *range(0x2066, 0x206A))
_STEERING: Final = (*range(32), *range(127, 160), *_DIRECTIONS, 0x2028, 0x2029)  # and ends of lines
_CONTROL: Final = {code: "�" for code in (*_STEERING, *range(0xD800, 0xE000)) if code not in {9, 10}}
_ESCAPED: Final = {
    **{code: f"\\x{code:02x}" if code < 256 else f"\\u{code:04x}" for code in _CONTROL}, 10: "\\n", 13: "\\r",
}  # fmt: skip
_JSON_CONTROL: Final = {code: f"\\u{code:04x}" for code in _STEERING if code >= 127}  # the others JSON escapes anyway
_OWN_COLOURS: Final = re.compile(rf"(\x1b\[(?:0|{'|'.join(_COLOURS.values())})m)")


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
        self._write(f"{self._safe(self.painted(text, colour) if colour else text)}\n")

    def _safe(self, text: str) -> str:
        """Return a text without what would control the terminal, whatever it quotes; our own colours stay."""
        parts = _OWN_COLOURS.split(text) if self.coloured else [text]
        return "".join(part if number % 2 else part.translate(_CONTROL) for number, part in enumerate(parts))

    def labelled(self, label: str, text: str, colour: str = "head") -> None:
        """Write a line that starts with a coloured label."""
        self.line(f"{self.painted(f'{label}:', colour)} {text}")

    def table(
        self, rows: Rows, *, right: Iterable[int] = (), wrapped: bool = False, head: str = "", indent: str = ""
    ) -> None:
        """Write rows as `table` arranges them, the first one in the colour `head`."""
        cells = [[one_line(cell) for cell in row] for row in rows]
        lines = table(cells, right=right, width=self.width - len(indent), wrapped=wrapped)
        for index, line in enumerate(lines):
            self.line(indent + line, "" if index else head)


def printable(text: str) -> str:
    """Replace characters that would control the terminal; a tab becomes spaces."""
    return text.translate(_CONTROL).expandtabs(4)


def one_line(text: str) -> str:
    """Return a name or message, which may hold any characters, on one line; what isn't printable is escaped."""
    return text.translate(_ESCAPED).expandtabs(4)


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


def line_breaks(line: str, width: int) -> Iterator[tuple[int, int]]:
    """Yield the ranges of a line that fit into so many columns, broken at spaces if possible."""
    start = 0
    while columns(window := line[start : start + 4 * width]) > width:
        most = len(folded(window, width)[0])
        space = window.rfind(" ", 1, most + 1)
        end = start + (space + 1 if space > 0 else most)  # Chinese has no spaces
        yield start, end
        start = end
    yield start, len(line)


def flowing_lines(text: str, width: int) -> Iterator[tuple[int, int]]:
    """Yield the ranges of a text's lines of so many columns, in which the lines of a paragraph are joined."""
    for start, end in _paragraphs(text):
        for first, last in line_breaks(text[start:end].replace("\n", " "), width):
            yield start + first, start + last


def _paragraphs(text: str) -> Iterator[tuple[int, int]]:
    """Yield the lines of a text; one that continues a sentence belongs to the line before it."""
    begun = reached = 0
    for line in text.split("\n"):
        goes_on = reached - begun > _LONG_LINE and line[:1].isalnum() and not _NUMBERED.match(line)
        if reached and not (goes_on and text[begun : begun + 1].isalnum()):
            yield begun, reached - 1
            begun = reached
        reached += len(line) + 1
    yield begun, len(text)


def fitted_path(parts: Sequence[str], width: int) -> str:
    """Return the names of a path in so many columns; the outer ones are left out first."""
    shown = " › ".join(parts)
    for outer in range(1, len(parts)):
        if columns(shown) <= width:
            break
        shown = " › ".join(("…", *parts[outer:]))
    return fitted(shown, width)


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
    """Return how often each reason came up, in the order of their names: `excluded 2, hidden 1`; of many the most."""
    often = sorted(counts, key=lambda reason: (-counts[reason], reason))[:_MOST_REASONS]
    shown = [f"{reason} {counts[reason]:,}" for reason in sorted(often)]
    others = sum(counts.values()) - sum(counts[reason] for reason in often)
    return ", ".join([*shown, f"other reasons {others:,}"] if others else shown)


def print_json(value: Any) -> None:
    """Write one JSON value to stdout, indented."""
    import orjson

    print_json_lines([value], orjson.OPT_INDENT_2)


def print_json_lines(records: Iterable[Any], option: int = 0, *, flush: bool = True) -> None:
    """Write a record a line to stdout."""
    import orjson

    option |= orjson.OPT_APPEND_NEWLINE
    file = for_terminal(sys.stdout.buffer, json=True)
    for record in records:
        file.write(orjson.dumps(record, option=option))
    if flush:
        sys.stdout.buffer.flush()


class TerminalBytes:
    """A terminal's stream of bytes that takes UTF-8 and replaces what would control the terminal."""

    def __init__(self, file: IO[bytes], replaced: Mapping[int, str]) -> None:
        """Write to a file."""
        self._file, self._replaced = file, replaced

    def write(self, data: bytes) -> int:
        """Write whole characters, and return how many bytes they were."""
        self._file.write(data.decode("utf-8", "replace").translate(self._replaced).encode())
        return len(data)


def for_terminal(file: IO[bytes], *, json: bool = False) -> IO[bytes] | TerminalBytes:
    """Return a file as it is; if it is a terminal, one that can't be controlled: JSON stays the same JSON."""
    if sys.stdout is None or file is not sys.stdout.buffer or not sys.stdout.isatty():
        return file
    return TerminalBytes(file, _JSON_CONTROL if json else _CONTROL)


def stderr_screen() -> Screen:
    """Return the screen of stderr; if that is closed, its lines are lost, and nothing else happens."""
    return Screen(sys.stderr or io.StringIO(), write_stderr)


def write_stderr(text: str) -> None:
    """Write to stderr; if that is closed, do nothing."""
    with suppress(OSError, ValueError):
        if sys.stderr is not None:
            sys.stderr.write(text)
            sys.stderr.flush()
