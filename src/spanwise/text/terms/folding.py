"""Text normalized to one spelling, with the offset of each character in the original.

NFKC unifies compatibility forms (`ﬁ` and `fi`, full width and half width, accents as separate marks), and may change
the length of a text; `Folded` keeps the offset of every character in the original. Invisible signs are dropped.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from functools import lru_cache
from typing import Final, NamedTuple

# Invisible and not typed: soft hyphens, zero-width spaces and joiners, variation selectors, byte order marks.
_UNSEEN: Final = "\u00ad\u034f\u061c\u180b-\u180e\u200b-\u200f\u2060-\u2064\ufe00-\ufe0f\ufeff"
_UNSEEN_SIGNS: Final = re.compile(f"[{_UNSEEN}]+")

# Ordering marks takes Python quadratic time in the length of their run, so longer runs are split.
_MARKS_IN_A_ROW: Final = 30
_LONG_MARKS: Final = re.compile(rf"[^\x00-\x7f\w\s]{{{_MARKS_IN_A_ROW},}}")

_RUN: Final = re.compile(r"[\x00-\x7f]+|[^\x00-\x7f]+")
_MOST_KNOWN: Final = 20_000  # characters of which it is remembered how they are normalized
_HANGUL_INSIDE: Final = range(0x1160, 0x1200)  # vowels and finals, which form one syllable with the character before


class Folded(NamedTuple):
    """A normalized text, with the start and the end in the original of each of its characters."""

    text: str
    starts: list[int] | None  # None where all offsets are unchanged
    ends: list[int] | None

    def original(self, start: int, end: int) -> tuple[int, int]:
        """Return the range of the original that a range of this text comes from."""
        if self.starts is None or self.ends is None:
            return start, end
        return self.starts[start], self.ends[end - 1]


def normalized(text: str) -> str:
    """Return a text in one spelling, with its upper and lower case."""
    if text.isascii():
        return text
    seen = _UNSEEN_SIGNS.sub("", text) if _UNSEEN_SIGNS.search(text) else text
    seen = seen.replace("™", " ").replace("℠", " ")  # NFKC would append `TM` to the word before
    if unicodedata.is_normalized("NFKC", seen):
        return seen
    if not _LONG_MARKS.search(seen):
        return unicodedata.normalize("NFKC", seen)
    return "".join(unicodedata.normalize("NFKC", piece) for piece in _without_long_marks(seen))


def with_offsets(text: str) -> Folded:
    """Return a text as `normalized` does, with the original offset of each character."""
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
    """Return a word of a normalized text case-folded, with е for ё."""
    return word.casefold().replace("ё", "е")


def _without_long_marks(text: str) -> Iterator[str]:
    """Yield pieces of a text, none with a long run of marks; short runs stay with the character before."""
    last = 0
    for run in _LONG_MARKS.finditer(text):
        for cut in range(run.start() + _MARKS_IN_A_ROW, run.end(), _MARKS_IN_A_ROW):
            yield text[last:cut]
            last = cut
    yield text[last:]


def _clusters(text: str) -> Iterator[tuple[int, int]]:
    """Yield the ranges that are normalized separately: a character with the marks that follow it; ASCII in runs."""
    joining = {character for character in set(text) if _joins(character)}
    if not joining:
        yield from _changing_apart(text)
        return
    start = 0
    for run in _RUN.finditer(text):
        first, end = run.span()
        if text[first].isascii():
            if start < first:
                yield start, first
            start = end - 1  # a mark may follow
            if first < start:
                yield first, start
            continue
        for index in range(first, end):
            if index and (text[index] not in joining or index - start >= _MARKS_IN_A_ROW):
                yield start, index
                start = index
    if text:
        yield start, len(text)


def _changing_apart(text: str) -> Iterator[tuple[int, int]]:
    """Yield each character that changes alone, and the runs between them; no character may combine with another."""
    changing = sorted(character for character in set(text) if not _stays(character))
    start = 0
    for found in re.finditer(f"[{re.escape(''.join(changing))}]", text) if changing else ():
        if start < found.start():
            yield start, found.start()
        start = found.end()
        yield found.span()
    if start < len(text):
        yield start, len(text)


@lru_cache(_MOST_KNOWN)
def _stays(character: str) -> bool:
    """Whether a character is normalized to itself."""
    return normalized(character) == character


@lru_cache(_MOST_KNOWN)
def _joins(character: str) -> bool:
    """Whether a character may combine with the one before it."""
    if character.isascii():
        return False
    first = unicodedata.normalize("NFKD", character)[:1]
    return unicodedata.category(first)[0] == "M" or ord(first) in _HANGUL_INSIDE or bool(_UNSEEN_SIGNS.match(character))
