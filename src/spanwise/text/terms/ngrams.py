"""Terms of scripts without spaces between words: every pair of neighbours is a term, and so is every character.

No word boundaries are needed: `東京` is found in `東京都` by the pair of its characters. A single character is found
too, which pairs alone couldn't do. Katakana, Hangul and the scripts of South-East Asia spell by sound, where single
characters mean nothing; they have pairs, and the whole run if it is longer than a pair.
"""

from __future__ import annotations

import operator
import re
from typing import Final, NamedTuple

from spanwise.text.terms.words import HAN, HIRAGANA, KATAKANA

_PROLONGED: Final = "ー"
_SHORTEST_SHORTENED: Final = 4

_MEANINGFUL: Final = re.compile(f"[{HAN}]")
_BY_CHARACTER: Final = re.compile(f"[{HAN}{HIRAGANA}]")
_KATAKANA: Final = re.compile(f"[{KATAKANA}]")
_PARTICLES: Final = re.compile(f"[{HIRAGANA}]+")
_LONGEST_WHOLE: Final = 24


class Gram(NamedTuple):
    """A term of a run, and its range in the run."""

    text: str
    start: int
    end: int


def grams_of(run: str) -> list[str]:
    """Return the terms of a run of a document."""
    spelled = _spelled(run)
    pairs = list(map(operator.add, spelled, spelled[1:]))
    if len(spelled) == 1:
        return [spelled]
    if _BY_CHARACTER.match(run):
        return [*(_MEANINGFUL.findall(run) if _PARTICLES.search(run) else run), *pairs]
    return [*pairs, spelled] if 2 < len(spelled) <= _LONGEST_WHOLE else pairs


def gram_ranges(run: str) -> list[Gram]:
    """Return the terms of a run of a document with their ranges."""
    spelled = _spelled(run)
    indices = range(len(spelled))
    singles = [Gram(spelled[index], index, index + 1) for index in indices]
    pairs = [Gram(spelled[index : index + 2], index, index + 2) for index in indices[:-1]]
    return [*singles, *pairs, Gram(spelled, 0, len(run))]


def query_grams(run: str) -> list[str]:
    """Return the terms of a run of a query, each of which counts as a word of its own.

    Pairs of hiragana alone are endings and particles, found in any text; they count only if there are no others.
    """
    terms = list(dict.fromkeys(grams_of(run)))
    distinctive = [term for term in terms if not _PARTICLES.fullmatch(term)]
    return distinctive or terms


def _spelled(run: str) -> str:
    """Return a run without the sign for a long vowel at its end: `サーバー` and `サーバ` are one word."""
    if len(run) >= _SHORTEST_SHORTENED and run[-1] == _PROLONGED and _KATAKANA.match(run):
        return run[:-1]
    return run
