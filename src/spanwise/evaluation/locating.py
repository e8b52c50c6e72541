"""Where an answer's text stands in a document: exactly, but for white space, or by its best alignment.

An alignment compares words: the stretch of the document that shares most words with the answer, in order. Its score is
twice the words in common, divided by the words of both. Time is linear in the length of the document.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from itertools import accumulate
from typing import Final, NamedTuple

from spanwise.evaluation.ranges import Range

WELL_ENOUGH: Final = 0.8
"""The score that an alignment must have to count."""
_WORD: Final = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff]|[^\W\u3040-\u30ff\u3400-\u9fff]+")
_SOLID: Final = re.compile(r"\S+")
_MOST_WORDS: Final = 2_000  # of an answer that are aligned


class Location(NamedTuple):
    """Where a text stands: its range, `exact` or `aligned`, the score, and how often it stands there exactly."""

    range: Range
    how: str
    score: float
    times: int = 1


class TextIndex:
    """A document's text, prepared for looking up several answers."""

    def __init__(self, text: str) -> None:
        self.text = text
        self._words: list[Range] | None = None
        self._folded: list[str] = []
        self._squeezed: str | None = None
        self._starts: list[int] = []  # of runs without white space, in the squeezed text
        self._origins: list[int] = []  # and in the text

    def locate(self, wanted: str) -> Location | None:
        """Return where a text stands: the first of its exact places, else its best alignment, however bad.

        Return None if no word of it is in the document.
        """
        return self._exact(wanted.strip()) or self._without_space(wanted) or self._aligned(wanted)

    def _exact(self, wanted: str) -> Location | None:
        start = self.text.find(wanted) if wanted else -1
        if start < 0:
            return None
        return Location((start, start + len(wanted)), "exact", 1.0, self.text.count(wanted))

    def _without_space(self, wanted: str) -> Location | None:
        """Look a text up without any white space, as where lines are broken in other places."""
        if self._squeezed is None:
            runs = list(_SOLID.finditer(self.text))
            self._squeezed = "".join(run[0] for run in runs)
            self._origins = [run.start() for run in runs]
            self._starts = [0, *accumulate(len(run[0]) for run in runs)][: len(runs)]
        solid = "".join(wanted.split())
        start = self._squeezed.find(solid) if solid else -1
        if start < 0:
            return None
        last = self._origin(start + len(solid) - 1)
        return Location((self._origin(start), last + 1), "exact", 1.0, self._squeezed.count(solid))

    def _origin(self, position: int) -> int:
        from bisect import bisect_right

        run = bisect_right(self._starts, position) - 1
        return self._origins[run] + position - self._starts[run]

    def _aligned(self, wanted: str) -> Location | None:
        if self._words is None:
            self._words = [found.span() for found in _WORD.finditer(self.text)]
            self._folded = [self.text[start:end].casefold() for start, end in self._words]
        answer = [found[0].casefold() for found in _WORD.finditer(wanted)][:_MOST_WORDS]
        if (at := _densest(self._folded, answer)) is None:
            return None
        low, high = max(at - len(answer), 0), min(at + 2 * len(answer), len(self._folded))
        first, last, shared = _tightest(self._folded[low:high], answer)
        score = 2 * shared / (len(answer) + last - first) if shared else 0.0
        return Location((self._words[low + first][0], self._words[low + last - 1][1]), "aligned", score)


def _densest(words: Sequence[str], answer: Sequence[str]) -> int | None:
    """Return where the window as long as the answer begins that has most words of it, the first of equals."""
    wanted, inside = Counter(answer), Counter[str]()
    best, most, shared = None, 0, 0
    for index, word in enumerate(words):
        if word in wanted:
            inside[word] += 1
            shared += inside[word] <= wanted[word]
        if index >= len(answer) and (gone := words[index - len(answer)]) in wanted:
            shared -= inside[gone] <= wanted[gone]
            inside[gone] -= 1
        if shared > most:
            best, most = max(index - len(answer) + 1, 0), shared
    return best


def _tightest(words: Sequence[str], answer: Sequence[str]) -> tuple[int, int, int]:
    """Return the shortest stretch that has the longest common subsequence with an answer, and its length."""
    end, shared = _first_end(words, answer)
    back, _ = _first_end(list(reversed(words[:end])), list(reversed(answer)))
    return end - back, end, shared


def _first_end(words: Sequence[str], answer: Sequence[str]) -> tuple[int, int]:
    """Return where the longest common subsequence first ends, and its length; the bits of one number are a row."""
    places: dict[str, int] = {}
    for index, word in enumerate(answer):
        places[word] = places.get(word, 0) | 1 << index
    full = (1 << len(answer)) - 1
    row, reached, most = full, 0, 0
    for index, word in enumerate(words, 1):
        hits = row & places.get(word, 0)
        row = ((row + hits) | (row - hits)) & full
        if (shared := len(answer) - row.bit_count()) > most:
            reached, most = index, shared
    return reached, most
