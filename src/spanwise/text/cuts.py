"""Where a text may be cut: item, row, cell, line, sentence, word, grapheme; functions that a strategy chooses from.

A cut is a position strictly inside a span; the texts before it and after it are two units. White space around a cut
belongs to neither. Sentences are found in sentences.py.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Sequence
from functools import partial
from itertools import accumulate
from typing import Final
from unicodedata import category

from spanwise.documents.document import Block, Part
from spanwise.native import line_starts, visible_range
from spanwise.text.sentences import sentence_starts
from spanwise.text.tokens import NEAR, TokenMap

Cutter = Callable[[int, int], list[int]]
"""A function that returns the cuts inside a span."""

_BLANK_LINE: Final = re.compile(r"\n[^\S\n]*\n")
_QUOTE_GAP: Final = re.compile(r"\n[ \t]*(?:>[ \t]*)+\n|\n[^\S\n]*\n")
_CELL: Final = re.compile(r"(?<!\\)\|")
_JSON_MARK: Final = re.compile(r'"(?>[^"\\]*(?:\\.[^"\\]*)*)"?|[{}\[\],]', re.DOTALL)
_JSON_LEVELS: Final = 8  # of members in members that are cut in turn, before sentences
_VISIBLE: Final = re.compile(r"\S")
_CJK_BREAKS: Final = "。！？，、；：」』）》】…"
_WORD_GAP: Final = re.compile(rf"[\s{_CJK_BREAKS}]+")
_APART: Final = frozenset({
    "Lu", "Ll", "Lt", "Lo", "Nd", "Nl", "No", "Pc", "Pd", "Ps", "Pe", "Pi", "Pf", "Po", "Sm", "Sc", "So",
    "Zs", "Zl", "Zp", "Cc",
})  # fmt: skip
_JOINING: Final = "\u0e33\u0eb3\uff9e\uff9f"  # letters by category, but part of the character before them


def trimmed(text: str, start: int, end: int, *, indented: bool = False) -> tuple[int, int] | None:
    """Trim white space off both ends of a span; None when nothing is left.

    An `indented` text (code) loses only blank lines in front, and keeps the indentation of its first line.
    """
    found = visible_range(text, start, end)
    if indented and found and found[0] > start:
        line = text.rfind("\n", max(start - 1, 0), found[0]) + 1
        if line or start == 0:  # else the span begins inside a line, where space is no indentation
            return line, found[1]
    return found


def sides_of(text: str, start: int, cut: int, end: int) -> tuple[int, int] | None:
    """Return where the text before a cut ends and the text after it begins; None when one side is blank."""
    near = max(start, cut - 64)
    before = text[near:cut].rstrip()
    if not before:
        near, before = start, text[start:cut].rstrip()
    after = _VISIBLE.search(text, cut, end)
    return (near + len(before), after.start()) if before and after else None


def line_cuts(text: str) -> Cutter:
    """Cut before every line that isn't blank."""
    return partial(line_starts, text)


def paragraph_cuts(text: str) -> Cutter:
    """Cut at blank lines."""
    return _by_pattern(text, _BLANK_LINE)


def quote_cuts(text: str) -> Cutter:
    """Cut between the paragraphs of a quote: at lines with nothing but its mark."""
    return _by_pattern(text, _QUOTE_GAP)


def cell_cuts(text: str) -> Cutter:
    """Cut before every cell of a row but the first; a bar that closes a row stays with its cell."""

    def cuts(start: int, end: int) -> list[int]:
        bars = [found.start() for found in _CELL.finditer(text, start, end)]
        return [bar for bar in bars if start < bar < end - 1]

    return cuts


def member_cuts(text: str) -> Cutter:
    """Cut JSON between the members of the outermost objects and arrays that have several."""

    def cuts(start: int, end: int) -> list[int]:
        depth, outermost, found = 0, 0, list[int]()
        for mark in _JSON_MARK.finditer(text, start, end):
            if mark[0] == "," and mark.end() < end:  # one at the end belongs to what is around
                if depth < outermost or not found:
                    outermost, found = depth, []
                if depth == outermost:
                    found.append(mark.end())
            elif mark[0] in "{[":
                depth += 1
            elif mark[0] in "}]":
                depth -= 1
        return found

    return cuts


def sentence_cuts(text: str, language_at: Callable[[int], str]) -> Cutter:
    """Cut where a sentence begins; `language_at` returns the language of the text at a position."""
    return lambda start, end: sentence_starts(text, start, end, language_at(start))


def position_cuts(positions: Sequence[int]) -> Cutter:
    """Cut at known positions, given in ascending order."""
    return lambda start, end: list(positions[bisect_right(positions, start) : bisect_left(positions, end)])


def part_cuts(block: Block) -> list[Cutter]:
    """Cut before the parts of a list or table: first the outermost, then level by level those nested in them."""
    cutters: list[Cutter] = []
    level: Sequence[Part] = block.parts
    while level:
        cutters.append(position_cuts([part.start for part in level]))
        level = [child for part in level for child in part.parts]
    return cutters


def block_cuts(text: str, block: Block, language_at: Callable[[int], str]) -> list[Cutter]:
    """Return the cutters of a block, coarsest first; words and graphemes come after the last."""
    sentences = sentence_cuts(text, language_at)
    if block.kind == "code" and "pointer" in (block.source_ref or ()):
        return [*part_cuts(block), *[member_cuts(text)] * _JSON_LEVELS, sentences]
    if block.kind == "code":
        return [line_cuts(text)]
    if block.kind == "list":
        return [*part_cuts(block), sentences]
    if block.kind == "table":
        return [*part_cuts(block), cell_cuts(text), sentences]
    if block.kind == "quote":
        return [quote_cuts(text), sentences]
    if block.kind == "html":
        return [line_cuts(text), sentences]
    return [sentences]


def word_starts(text: str, start: int, end: int) -> list[int]:
    """Return the positions inside a span where a word begins; where words aren't spaced, after punctuation."""
    cuts = (found.end() for found in _WORD_GAP.finditer(text, start, end))
    return [cut for cut in cuts if cut < end and is_grapheme_boundary(text, cut)]


def forced_cuts(tokens: TokenMap, start: int, end: int, limit: int, most: int) -> list[int]:
    """Cut a text that nothing coarser could divide: at words, and inside a word between graphemes.

    A grapheme larger than `limit` but not than `most` stays whole; a larger one is cut between code points.
    """
    text = tokens.text
    cuts: list[int] = []
    while not tokens.fits(start, end, limit):
        cut = _forced_cut(tokens, start, end, limit, most)
        if cut >= end:
            break
        cuts.append(cut)
        start = cut
        if text[cut].isspace() and (visible := _VISIBLE.search(text, cut, end)):
            start = visible.start()
    return cuts


def _forced_cut(tokens: TokenMap, start: int, end: int, limit: int, most: int) -> int:
    text = tokens.text
    high = start + 1
    for room in (limit, limit - NEAR, limit // 2, limit // 4, 1):
        high = min(max(tokens.reach(start, max(room, 1)), start + 1), end)
        cut = high if high == end else word_break(text, start, high) or grapheme_break(text, start, high)
        if cut is None:
            whole = grapheme_end(text, start, min(tokens.reach(start, most + NEAR), end))
            if whole is not None and tokens.fits(start, whole, most):
                return whole
            cut = high
        if tokens.fits(start, cut, limit):
            return cut
    return high


def word_break(text: str, start: int, high: int) -> int | None:
    """Return the last position in `(start, high]` where a word ends or begins; None where a word fills the range."""
    while high > start:
        if text[high].isspace() or text[high - 1].isspace():
            cut = high
        else:
            piece = text[start:high]
            last_word = piece.rsplit(None, 1)[-1]
            marks = 0 if last_word.isascii() else max(last_word.rfind(mark) for mark in _CJK_BREAKS) + 1
            cut = high - len(last_word) + marks
        if cut <= start or not text[start:cut].strip():
            return None
        if is_grapheme_boundary(text, cut) and _starts_whole(text, cut):
            return cut
        high = cut - 1
    return None


def _starts_whole(text: str, cut: int) -> bool:
    """Whether the text after a cut, trimmed, begins with a whole character and not with a mark on a space."""
    visible = _VISIBLE.search(text, cut)
    return visible is None or visible.start() == cut or is_grapheme_boundary(text, visible.start())


def grapheme_break(text: str, start: int, high: int) -> int | None:
    """Return the last grapheme boundary in `(start, high]`; None where one grapheme fills the range."""
    while high > start:
        if high >= len(text):
            return high
        boundary = (
            high
            if _surely_apart(text[high - 1], text[high])
            else _last_boundary(text, _anchor(text, start, high), high)
        )
        if boundary <= start:
            return None
        if not text[boundary].isspace() or _starts_whole(text, boundary):
            return boundary
        high = boundary - 1
    return None


def grapheme_end(text: str, start: int, high: int) -> int | None:
    """Return the end of the grapheme that starts at `start`; None when it goes on beyond `high`."""
    from pyuegc import EGC

    end = start + len(next(iter(EGC(text[start : high + 1])), ""))
    return end if end <= high else None


def grapheme_starts(text: str, start: int, end: int) -> list[int]:
    """Return where each grapheme of a span begins, the first at `start`."""
    from pyuegc import EGC

    return list(accumulate(map(len, EGC(text[start:end])), initial=start))[:-1]


def is_grapheme_boundary(text: str, position: int) -> bool:
    """Whether a cut at a position leaves every grapheme cluster whole."""
    if position <= 0 or position >= len(text) or _surely_apart(text[position - 1], text[position]):
        return True
    return _last_boundary(text, _anchor(text, max(0, position - 256), position), position) == position


def _last_boundary(text: str, anchor: int, high: int) -> int:
    """Return the last grapheme boundary up to `high`, searched from the boundary `anchor`."""
    from pyuegc import EGC

    boundary = reached = anchor
    for cluster in EGC(text[anchor : high + 1]):
        if reached > high:
            break
        boundary = reached
        reached += len(cluster)
    return boundary


def _surely_apart(before: str, after: str) -> bool:
    """Whether two characters are in different graphemes in any context; False when it isn't sure."""
    if before >= "\u0300":  # below this, only a carriage return can join what follows
        return before in _CJK_BREAKS and after not in _JOINING and category(after) in _APART
    if after < "\u0300":
        return before != "\r" or after != "\n"
    return category(after) in _APART and after not in _JOINING


def _anchor(text: str, start: int, position: int) -> int:
    """Return the nearest sure grapheme boundary before `position`, else `start`."""
    for candidate in range(position - 1, max(start, position - 256), -1):
        if _surely_apart(text[candidate - 1], text[candidate]):
            return candidate
    return start


def _by_pattern(text: str, pattern: re.Pattern[str]) -> Cutter:
    return lambda start, end: [found.end() for found in pattern.finditer(text, start, end)]
