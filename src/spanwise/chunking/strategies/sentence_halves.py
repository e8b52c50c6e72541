"""Halving of a sentence that is over the token limit: near its middle, after a word if there is one, repeatedly."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from functools import cached_property
from itertools import pairwise
from typing import Final, NamedTuple

from spanwise.chunking.packing import Range
from spanwise.chunking.strategies.sentence_drafts import WORD_BREAK
from spanwise.chunking.task import ChunkingTask
from spanwise.text.cuts import grapheme_starts, is_grapheme_boundary, trimmed
from spanwise.text.tokens import NEAR

_BLOCK: Final = 256  # characters that are searched at once on the way back from the middle


class SentenceHalf(NamedTuple):
    """A part of a sentence, and where overlap begins before and ends after it; its own edges where it has none."""

    start: int
    end: int
    before: int
    after: int
    splits_word: bool  # whether it ends in the middle of a word


class _Core(NamedTuple):
    """A part that may still be too large: its range with white space, and which of its sides are middle cuts.

    `share` is how many characters of the other side of a middle cut it repeats.
    """

    start: int
    end: int
    left: bool = False
    right: bool = False
    share: int = 0


class Halving:
    """One sentence that is too large; its characters are found once."""

    def __init__(self, task: ChunkingTask, span: Range, room: int) -> None:
        """Store what every step reads."""
        self._text, self._tokens, self._ratio = task.text, task.tokens, task.options.overlap_ratio
        self._span, self._room = span, room
        self._plain = task.text[slice(*span)].isascii()

    def parts(self) -> list[SentenceHalf]:
        """Halve until every part fits with its overlap."""
        done: list[SentenceHalf] = []
        waiting = [_Core(*self._span)]
        while waiting:
            core = waiting.pop()
            if not (span := trimmed(self._text, core.start, core.end)):
                continue
            part = self._with_overlap(core, span)
            fits = self._tokens.fits(part.before, part.after, self._room)
            halves = [] if fits else self._halves(core, span)
            waiting += reversed(halves)
            if not halves:
                done.append(part if fits else SentenceHalf(*span, *span, core.right))
        return self._within_neighbours(done)

    def _halves(self, core: _Core, span: Range) -> list[_Core]:
        """Cut a core after the word nearest to its middle, within the middle third, else in the middle."""
        size = core.end - core.start
        cut, share = self._word_cut(core), int(size * self._ratio + 1e-9)
        splits_word = cut is None
        cut = self._middle(core) if cut is None else cut
        if cut is None:
            if size < 2 or self._tokens.fits(*span, self._room + NEAR):  # with a template's last token it may be one
                return []
            cut, share = (core.start + core.end) // 2, 0  # one character that alone is too large
        return [
            core._replace(end=cut, right=splits_word, share=share),
            core._replace(start=cut, left=splits_word, share=share),
        ]

    def _word_cut(self, core: _Core) -> int | None:
        """Return the end of the word break nearest to the middle, within the middle third.

        A sentence has no sentence end inside, so none is searched for.
        """
        size = core.end - core.start
        middle, reach = core.start + size // 2, size // 2 - size // 3  # nearer than `reach`
        if size < 4:
            return None
        after = next(self._words(middle, middle + reach), None)
        low = middle - (reach if after is None else min(reach, after - middle))  # of two equally near the left one
        for high in range(middle, low, -_BLOCK):
            if before := list(self._words(max(low + 1, high - _BLOCK + 1), high + 1)):
                return before[-1]
        return after

    def _words(self, start: int, end: int) -> Iterator[int]:
        """Return the ends of the word breaks in a range."""
        ends = (found.end() for found in WORD_BREAK.finditer(self._text, start, end))
        return ends if self._plain else (end for end in ends if is_grapheme_boundary(self._text, end))

    def _middle(self, core: _Core) -> int | None:
        """Return the middle, moved to where a character begins; None inside a single one."""
        middle = (core.start + core.end) // 2
        if self._plain:
            return middle if core.start < middle else None
        starts = self._characters
        near = bisect_right(starts, middle)
        around = [start for start in starts[max(near - 1, 0) : near + 1] if core.start < start < core.end]
        return around[0] if around else None

    @cached_property
    def _characters(self) -> list[int]:
        return grapheme_starts(self._text, *self._span)

    def _with_overlap(self, core: _Core, span: Range) -> SentenceHalf:
        start, end = span
        before = start - core.share if core.left else start
        after = end + core.share if core.right else end
        if not self._plain and core.left:
            index = bisect_left(self._characters, before)
            before = min([*self._characters[index : index + 1], start])
        if not self._plain and core.right and after < self._span[1]:
            after = max(self._characters[bisect_right(self._characters, after) - 1], end)
        return SentenceHalf(start, end, before, after, core.right)

    def _within_neighbours(self, parts: list[SentenceHalf]) -> list[SentenceHalf]:
        """Take overlap only from the neighbour itself, which may have been halved more often."""
        done = [part._replace(before=part.start, after=part.end) for part in parts]
        for index, (first, second) in enumerate(pairwise(parts)):
            if second.before < first.end:
                done[index + 1] = done[index + 1]._replace(before=max(second.before, first.start))
            if first.after > second.start:
                done[index] = done[index]._replace(after=min(first.after, second.end))
        return done
