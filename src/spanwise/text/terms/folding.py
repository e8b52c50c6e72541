"""Text in one spelling: compatibility forms, signs that are no letters, and where each character came from.

NFKC makes one of what looks alike (`ﬁ` and `fi`, full width and half width, accents as marks of their own), and may
change the length of a text; `Folded` knows the place of every character in the original.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from typing import Final, NamedTuple

# Nobody sees or types them: soft hyphens, zero-width spaces and joiners, variation selectors, byte order marks.
_UNSEEN: Final = "\u00ad\u034f\u061c\u180b-\u180e\u200b-\u200f\u2060-\u2064\ufe00-\ufe0f\ufeff"
_UNSEEN_SIGNS: Final = re.compile(f"[{_UNSEEN}]+")

# Putting marks in order takes Python quadratic time in the length of their run, so longer runs are broken.
_MARKS_IN_A_ROW: Final = 30
_LONG_MARKS: Final = re.compile(rf"[^\x00-\x7f\w\s]{{{_MARKS_IN_A_ROW},}}")

_HANGUL_INSIDE: Final = range(0x1160, 0x1200)  # vowels and finals, which make one syllable with what stands before


class Folded(NamedTuple):
    """A text in one spelling, with the start and the end in the original of each of its characters."""

    text: str
    starts: list[int] | None  # None where each stands where it stood
    ends: list[int] | None

    def original(self, start: int, end: int) -> tuple[int, int]:
        """Give the range of the original that a range of this text stands for."""
        if self.starts is None or self.ends is None:
            return start, end
        return self.starts[start], self.ends[end - 1]


def normalized(text: str) -> str:
    """Give a text in one spelling, upper and lower case as they are."""
    if text.isascii():
        return text
    seen = _UNSEEN_SIGNS.sub("", text) if _UNSEEN_SIGNS.search(text) else text
    seen = seen.replace("™", " ").replace("℠", " ")  # NFKC would hang `TM` on the word before
    if unicodedata.is_normalized("NFKC", seen):
        return seen
    if not _LONG_MARKS.search(seen):
        return unicodedata.normalize("NFKC", seen)
    return "".join(unicodedata.normalize("NFKC", piece) for piece in _without_long_marks(seen))


def with_places(text: str) -> Folded:
    """Give a text in one spelling as `normalized` does, and where each character was."""
    plain = normalized(text)
    if plain == text:
        return Folded(text, None, None)
    pieces: list[str] = []
    starts: list[int] = []
    ends: list[int] = []
    for start, end in _clusters(text):
        piece = normalized(text[start:end])
        pieces.append(piece)
        same = len(piece) == end - start
        starts += range(start, end) if same else [start] * len(piece)
        ends += range(start + 1, end + 1) if same else [end] * len(piece)
    return Folded("".join(pieces), starts, ends)


def fold(word: str) -> str:
    """Give a word of a normalized text without the difference of upper and lower case, and of ё and е."""
    return word.casefold().replace("ё", "е")


def _without_long_marks(text: str) -> Iterator[str]:
    """Cut a text so that no piece holds a long run of marks; short runs stay with what they belong to."""
    last = 0
    for run in _LONG_MARKS.finditer(text):
        for cut in range(run.start() + _MARKS_IN_A_ROW, run.end(), _MARKS_IN_A_ROW):
            yield text[last:cut]
            last = cut
    yield text[last:]


def _clusters(text: str) -> Iterator[tuple[int, int]]:
    """Give the ranges that are normalized each by itself: a character with the marks that follow it."""
    joining = {character for character in set(text) if _joins(character)}
    start = 0
    for place, character in enumerate(text):
        if place and (character not in joining or place - start >= _MARKS_IN_A_ROW):
            yield start, place
            start = place
    if text:
        yield start, len(text)


def _joins(character: str) -> bool:
    """Say whether a character may become one with what stands before it."""
    if character.isascii():
        return False
    first = unicodedata.normalize("NFKD", character)[:1]
    return unicodedata.category(first)[0] == "M" or ord(first) in _HANGUL_INSIDE or bool(_UNSEEN_SIGNS.match(character))
