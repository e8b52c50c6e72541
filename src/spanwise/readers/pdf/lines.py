"""Lines made of words, in the order in which the file writes them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Final, NamedTuple

from spanwise.readers.pdf.geometry import Box, around, union
from spanwise.readers.pdf.words import Style, Word

_LEAST_OVERLAP: Final = 0.4  # of the smaller height: the least that two words of one line share
_BACKWARDS: Final = 1.5  # of the size: a word that begins so far before the end of the last one begins a new line
_WIDE_GAP: Final = 1.3  # of the size: wider than any space between words, unless text is justified very badly
_RAISED: Final = 0.83  # of the size of the line: smaller and higher text is a note mark

_RIGHT_TO_LEFT: Final = re.compile("[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]")

_LETTER_OR_DIGIT: Final = re.compile(r"[^\W_]")
_COMMENTS: Final = frozenset({"#", "//", "--", "/*", "*", ";", "%", "<!--"})
LINK: Final = "\ufdd0"
"""Precedes the first word of a link while a text is being written; no text can contain it."""
MOST_LINKS: Final = 60_000  # on one page
_FIRST_LINK: Final = 0xF0000  # the character after the mark, for the first link of the page
_WIDE: Final = re.compile(
    "[\u2e80-\u303f\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uff00-\uffef]"
)


class Line(NamedTuple):
    """Words beside each other, on one line of a page."""

    words: tuple[Word, ...]
    text: str  # the words, with spaces where the file has white space
    box: Box
    style: Style  # of most of its characters
    bold: bool  # all of it
    mono: bool
    upright: bool = True

    @property
    def size(self) -> float:
        """The size of most of its characters."""
        return self.style.size

    @property
    def broken(self) -> bool:
        """Whether it ends in a hyphen that the line break may have caused."""
        return self.words[-1].broken


def joined(words: Iterable[Word], *, marked: bool = False) -> str:
    """Join the words of one line; a hyphen that may be soft is kept.

    With `marked`, each link is marked before its first word, so that its position is known when the text is complete.
    """
    pieces: list[str] = []
    for word in words:
        if word.spaced and pieces:
            pieces.append(" ")
        if marked and word.link >= 0:
            pieces.append(LINK + chr(_FIRST_LINK + word.link))
        pieces.append(word.text + "-" if word.broken and word.text[-1:] != "-" else word.text)
    return "".join(pieces)


def separator(before: str, after: str) -> str:
    """Return the separator of two lines: a space, or nothing in Chinese and Japanese."""
    return "" if _WIDE.match(before[-1:]) and _WIDE.match(after.lstrip(LINK)[:1]) else " "


def unmarked(text: str) -> tuple[list[tuple[int, int]], str]:
    """Remove link marks from a text; return the position and link number of each, and the text."""
    pieces = text.split(LINK)
    positions, reached = list[tuple[int, int]](), len(pieces[0])
    clean = [pieces[0]]
    for piece in pieces[1:]:
        positions.append((reached, ord(piece[0]) - _FIRST_LINK))
        clean.append(piece[1:])
        reached += len(piece) - 1
    return positions, "".join(clean)


def lines_of(words: Iterable[Word]) -> Iterator[Line]:
    """Group words into lines; `upright` ones run as most of the page does, others are lines of their own."""
    pending: list[Word] = []
    box: Box | None = None
    for word in words:
        if box and pending and not _continues(pending[-1], box, word):
            yield line_of(pending)
            pending, box = [], None
        pending.append(word)
        box = union(box, word.box) if box else word.box
    if pending:
        yield line_of(pending)


def line_of(words: Sequence[Word]) -> Line:
    """Return the line that words form."""
    lengths: dict[int, int] = {}
    styles: dict[int, Style] = {}
    for word in words:
        key = id(word.style)
        lengths[key] = lengths.get(key, 0) + len(word.text)
        styles[key] = word.style
    main = styles[max(lengths, key=lambda key: lengths[key])]
    lettered = [word for word in words if _LETTER_OR_DIGIT.search(word.text)] or words
    return Line(
        tuple(words),
        joined(words),
        around(word.box for word in words),
        main,
        all(word.style.bold for word in lettered),
        all(word.style.mono for word in lettered) or _is_comment(words),
        main.quarter == 0,
    )


def _is_comment(words: Sequence[Word]) -> bool:
    """Whether a line is a code comment in letters that the code font lacks, as in Chinese."""
    first = words[0]
    return (
        first.style.mono
        and first.text in _COMMENTS
        and len(words) > 1
        and all(word.style.mono or _WIDE.match(word.text) for word in words)
    )


def _continues(last: Word, line: Box, word: Word) -> bool:
    if last.style.quarter != word.style.quarter:
        return False
    if word.style.quarter:
        return word.box.shared_width(line) > 0 if word.style.quarter % 2 else word.box.shared_height(line) > 0
    size = max(word.style.size, last.style.size)
    if word.box.shared_height(last.box) <= _LEAST_OVERLAP * min(word.box.height, last.box.height):
        return False
    plain = word.text.isascii() and last.text.isascii()
    if not plain and (_RIGHT_TO_LEFT.search(word.text) or _RIGHT_TO_LEFT.search(last.text)):
        return line.left - word.box.right < 3 * size and word.box.left - line.right < 3 * size
    return word.box.left > last.box.right - _BACKWARDS * size and word.box.left > line.left


def split_at_gaps(line: Line) -> list[Line]:
    """Split a line where the gap is wider than any space between words."""
    pieces: list[list[Word]] = [[]]
    for word in line.words:
        if pieces[-1]:
            gap = word.box.left - pieces[-1][-1].box.right
            if gap > _WIDE_GAP * max(word.style.size, 4.0):
                pieces.append([])
        pieces[-1].append(word)
    return [line] if len(pieces) == 1 else [line_of(piece) for piece in pieces]


def is_raised(word: Word, line: Line) -> bool:
    """Whether a word is small and raised above the baseline, as a note mark is."""
    return word.style.size <= _RAISED * line.size and word.box.bottom < line.box.bottom - 0.15 * line.size
