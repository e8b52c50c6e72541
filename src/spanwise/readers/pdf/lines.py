"""Words to lines, in the order in which the file writes them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Final, NamedTuple

from spanwise.readers.pdf.geometry import Box, around, both
from spanwise.readers.pdf.words import Style, Word

_BESIDE: Final = 0.4  # of the smaller height: what two words of one line share at least
_BACKWARDS: Final = 1.5  # of the size: a word that begins so far before the end of the last begins a new line
_WIDE_GAP: Final = 1.3  # of the size: no space between words is that wide, if the text isn't justified very badly
_RAISED: Final = 0.83  # of the size of the line: what is smaller and stands higher is a note's mark

_RIGHT_TO_LEFT: Final = re.compile("[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]")

_SPOKEN: Final = re.compile(r"[^\W_]")
_COMMENTS: Final = frozenset({"#", "//", "--", "/*", "*", ";", "%", "<!--"})
LINK: Final = "\ufdd0"
"""Stands before the first word of a link while a text is being written; no text can hold it."""
MOST_LINKS: Final = 60_000  # of one page
_FIRST_LINK: Final = 0xF0000  # the character behind the mark that stands for the first link of the page
_WIDE: Final = re.compile(
    "[\u2e80-\u303f\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uff00-\uffef]"
)


class Line(NamedTuple):
    """Words beside each other."""

    words: tuple[Word, ...]
    text: str  # the words with spaces where there is white space
    box: Box
    style: Style  # that most of its characters have
    bold: bool  # all of it
    mono: bool
    upright: bool = True

    @property
    def size(self) -> float:
        """The size of most of its characters."""
        return self.style.size

    @property
    def broken(self) -> bool:
        """Whether it ends in a hyphen that the line end may have caused."""
        return self.words[-1].broken


def joined(words: Iterable[Word], *, marked: bool = False) -> str:
    """Put words together as they stand in one line; a hyphen that may be soft is a hyphen here.

    If wanted, links are `marked` before their first word, so that their place is known when the text is done.
    """
    pieces: list[str] = []
    for word in words:
        if word.spaced and pieces:
            pieces.append(" ")
        if marked and word.link >= 0:
            pieces.append(LINK + chr(_FIRST_LINK + word.link))
        pieces.append(word.text + "-" if word.broken and word.text[-1:] != "-" else word.text)
    return "".join(pieces)


def glue(before: str, after: str) -> str:
    """Give what stands between two lines: a space, but in Chinese and Japanese nothing."""
    return "" if _WIDE.match(before[-1:]) and _WIDE.match(after.lstrip(LINK)[:1]) else " "


def unmarked(text: str) -> tuple[list[tuple[int, int]], str]:
    """Take the marks of links out of a text, and give where each stood and the link's number."""
    pieces = text.split(LINK)
    places, reached = list[tuple[int, int]](), len(pieces[0])
    clean = [pieces[0]]
    for piece in pieces[1:]:
        places.append((reached, ord(piece[0]) - _FIRST_LINK))
        clean.append(piece[1:])
        reached += len(piece) - 1
    return places, "".join(clean)


def lines_of(words: Iterable[Word]) -> Iterator[Line]:
    """Group words into lines; `upright` ones stand as most of the page does, others are kept by themselves."""
    waiting: list[Word] = []
    box: Box | None = None
    for word in words:
        if box and waiting and not _goes_on(waiting[-1], box, word):
            yield line_of(waiting)
            waiting, box = [], None
        waiting.append(word)
        box = both(box, word.box) if box else word.box
    if waiting:
        yield line_of(waiting)


def line_of(words: Sequence[Word]) -> Line:
    """Make a line of words."""
    lengths: dict[int, int] = {}
    styles: dict[int, Style] = {}
    for word in words:
        name = id(word.style)
        lengths[name] = lengths.get(name, 0) + len(word.text)
        styles[name] = word.style
    main = styles[max(lengths, key=lambda name: lengths[name])]
    visible = [word for word in words if _SPOKEN.search(word.text)] or words
    return Line(
        tuple(words),
        joined(words),
        around(word.box for word in words),
        main,
        all(word.style.bold for word in visible),
        all(word.style.mono for word in visible) or _is_comment(words),
        main.quarter == 0,
    )


def _is_comment(words: Sequence[Word]) -> bool:
    """Whether a line is a comment in code whose letters the code's font doesn't have, as in Chinese."""
    first = words[0]
    return (
        first.style.mono
        and first.text in _COMMENTS
        and len(words) > 1
        and all(word.style.mono or _WIDE.match(word.text) for word in words)
    )


def _goes_on(last: Word, line: Box, word: Word) -> bool:
    if last.style.quarter != word.style.quarter:
        return False
    if word.style.quarter:
        return word.box.shared_width(line) > 0 if word.style.quarter % 2 else word.box.shared_height(line) > 0
    size = max(word.style.size, last.style.size)
    if word.box.shared_height(last.box) <= _BESIDE * min(word.box.height, last.box.height):
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
    """Whether a word is small and stands above the line, as the mark of a note does."""
    return word.style.size <= _RAISED * line.size and word.box.bottom < line.box.bottom - 0.15 * line.size
