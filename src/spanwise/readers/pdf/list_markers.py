"""The markers of list items: a bullet, written or drawn, or a number."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final, NamedTuple
from unicodedata import category

from spanwise.readers.pdf.geometry import Box
from spanwise.readers.pdf.lines import Line
from spanwise.readers.pdf.words import Word

_STRONG: Final = "•◦▪▫●○■□◆◇▶►➢➤✓✔✗✘❖‣⁃∙⦁"
_WEAK: Final = frozenset({"-", "–", "—", "*", "o", "·", "+", "»", "→"})
_NUMBER: Final = re.compile(
    r"\(?(\d{1,3}|[a-zA-Z]|[ivxlcIVXLC]{2,7})[.)](?=\s|\Z)|(\d{1,3}(?:\.\d{1,3}){1,3})\.?(?=\s|\Z)"
)
_NO_BULLETS: Final = "\"'([{„“«‹”’$€£§&@%=<>|"
_SYMBOLS: Final = re.compile(r"symbol|ding|bullet|marlett", re.IGNORECASE)
_ROMAN: Final = {"i": 1, "v": 5, "x": 10, "l": 50, "c": 100}
_FARTHEST_DOT: Final = 3.5  # of the size: the largest gap between a drawn bullet and its text
_SAME_INDENT: Final = 2.5  # points


class Marker(NamedTuple):
    """The marker at the beginning of an item."""

    text: str  # as Markdown writes it
    left: float
    body: float  # where the item's text begins
    skipped: int  # words of the line that are the marker
    glued: int = 0  # characters of the next word that are the marker
    sure: bool = False  # it can be nothing else


def markers_of(lines: Sequence[Line], dots: Sequence[Box]) -> list[Marker | None]:
    """Return the marker of each line; one that might be text needs others like it, or a hanging indent."""
    found = [_bullet(line) or _drawn(line, dots) or _number(line) for line in lines]
    for index, marker in enumerate(found):
        if marker and not marker.sure and not _is_confirmed(index, marker, found, lines):
            found[index] = None
    return found


def _bullet(line: Line) -> Marker | None:
    first = line.words[0]
    mark, left = first.text[0], first.box.left
    if not line.upright:
        return None
    if first.text in _WEAK or (len(first.text) == 1 and (mark in _STRONG or _may_be_bullet(mark))):
        return Marker("-", left, line.words[1].box.left, 1, sure=mark in _STRONG) if len(line.words) > 1 else None
    if len(first.text) == 1 and _SYMBOLS.search(first.style.font) and len(line.words) > 1:
        return Marker("-", left, line.words[1].box.left, 1, sure=True)  # a letter that a symbol font draws as a bullet
    if mark in _STRONG and len(first.text) > 1:
        return Marker("-", left, left + first.box.width / len(first.text), 0, glued=1, sure=True)
    return None


def _may_be_bullet(mark: str) -> bool:
    """Whether a character may be a bullet; mathematical signs are none."""
    return not mark.isalnum() and mark not in _NO_BULLETS and category(mark) not in {"Sm", "Mn", "Co", "Cn"}


def _drawn(line: Line, dots: Sequence[Box]) -> Marker | None:
    """Return the marker of a bullet that is drawn, not written, before a line."""
    for dot in dots:
        gap = line.box.left - dot.right
        level = line.words[0].box
        if 0 <= gap <= _FARTHEST_DOT * line.size and level.top - 1 <= dot.middle <= level.bottom + 1 and line.upright:
            return Marker("-", dot.left, line.box.left, 0, sure=True)
    return None


def _number(line: Line) -> Marker | None:
    first = line.words[0]
    if not line.upright or len(line.words) < 2 or not _NUMBER.fullmatch(first.text) or not line.words[1].spaced:
        return None
    return Marker(first.text, first.box.left, line.words[1].box.left, 1)


def value_of(marker: str) -> int | None:
    """Return the number of a marker; letters count from a, roman numerals have their value."""
    label = marker.strip("().").lower()
    if label.isdigit():
        return int(label)
    if "." in label:
        last = label.rsplit(".", 1)[1]
        return int(last) if last.isdigit() else None
    if len(label) > 1 or label in "ivx":
        return _roman(label)
    return ord(label) - ord("a") + 1 if label.isascii() and label.isalpha() else None


def _roman(label: str) -> int | None:
    values = [_ROMAN.get(letter, 0) for letter in label]
    if not all(values):
        return None
    return sum(-value if value < max(values[index:]) else value for index, value in enumerate(values))


def _is_confirmed(index: int, marker: Marker, found: Sequence[Marker | None], lines: Sequence[Line]) -> bool:
    """Whether a marker has a sibling nearby, or the next line is indented to its text."""
    if index + 1 < len(lines) and _hangs(lines[index], marker, lines[index + 1]):
        return True
    for step in (-1, 1):
        other = index + step
        for _ in range(40):
            if not 0 <= other < len(lines):
                break
            sibling = found[other]
            if sibling and abs(sibling.left - marker.left) <= _SAME_INDENT and _are_siblings(marker, sibling, step):
                return True
            other += step
    return False


def _are_siblings(marker: Marker, sibling: Marker, step: int) -> bool:
    if marker.text == "-" or sibling.text == "-":
        return marker.text == sibling.text
    own, others = value_of(marker.text), value_of(sibling.text)
    if own is None or others is None or _shape(marker.text) != _shape(sibling.text):
        return _letter(marker.text) is not None and _letter(sibling.text) == (_letter(marker.text) or 0) + step
    return others == own + step or (_letter(sibling.text) or -9) == (_letter(marker.text) or -99) + step


def _letter(marker: str) -> int | None:
    label = marker.strip("().")
    return ord(label.lower()) if len(label) == 1 and label.isalpha() else None


def _shape(marker: str) -> str:
    return re.sub(r"[a-zA-Z]+", "a", re.sub(r"\d+", "1", marker))


def _hangs(line: Line, marker: Marker, below: Line) -> bool:
    distance = below.box.top - line.box.bottom
    return (
        marker.body - marker.left > 0.8 * line.size
        and abs(below.box.left - marker.body) <= _SAME_INDENT
        and distance < line.box.height
        and below.upright
    )


def without_marker(line: Line, marker: Marker) -> tuple[Word, ...]:
    """Return the words of an item's first line without its marker."""
    words = line.words[marker.skipped :]
    if marker.glued and words:
        first = words[0]
        words = (first._replace(text=first.text[marker.glued :]), *words[1:])
    return words
