"""How much is handed out: so many passages, so many tokens."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import pairwise
from typing import Final, NamedTuple

from spanwise.retrieval.passages import Gathering, Passage, PassageUnit, joined
from spanwise.text.cuts import forced_cuts
from spanwise.text.sentences import sentence_starts
from spanwise.text.tokens import NEAR, Tokenizer, TokenMap

_WORTH_JOINING: Final = 0.5  # of the score of the passage beside
_WORTH_READING: Final = 24  # tokens; a shorter rest of a passage says nothing

Marker = Callable[[Passage], Sequence[tuple[int, int]]]
"""Says where words of the question stand in a passage."""


class CutPassage(NamedTuple):
    """A passage, and the part of its text that is handed out."""

    passage: Passage
    start: int
    end: int


def gathered(units: Iterable[PassageUnit], limit: int) -> list[CutPassage]:
    """Take units, best first, until one would begin a passage too many.

    A neighbour that is much worse than the passage beside it is passed over: it would only make it longer.
    """
    gathering = Gathering()
    for unit in units:
        neighbours = gathering.around(unit)
        if not neighbours and len(gathering) >= limit:
            break
        if all(unit.score >= _WORTH_JOINING * one.best.score for one in neighbours):
            gathering.add(joined(unit, neighbours), neighbours)
    return _whole(gathering)


def within_budget(
    units: Iterable[PassageUnit], limit: int, budget: int, tokenizer: Tokenizer, marks: Marker
) -> list[CutPassage]:
    """Take units, best first, as long as the texts have at most so many tokens; the first that doesn't fit is cut.

    A unit that would make a passage longer than there is room is passed over: half of it would help nobody.
    """
    gathering = Gathering()
    prices: dict[tuple[str, bool, int], int] = {}
    room = budget
    for unit in units:
        neighbours = gathering.around(unit)
        if not neighbours and len(gathering) >= limit:
            break
        passage = joined(unit, neighbours)
        price = tokenizer.count(passage.text)
        freed = sum(prices[one.units[0].place] for one in neighbours)
        if price <= room + freed:
            gathering.add(passage, neighbours)
            prices[passage.units[0].place] = price
            room += freed - price
        elif not neighbours:
            worth = room >= _WORTH_READING or not len(gathering)
            cut = cut_to(passage, room, tokenizer, marks(passage)) if worth else None
            return [*_whole(gathering), *filter(None, [cut])]
    return _whole(gathering)


def _whole(gathering: Gathering) -> list[CutPassage]:
    return [CutPassage(passage, 0, len(passage.text)) for passage in gathering.passages()]


def cut_to(passage: Passage, most: int, tokenizer: Tokenizer, marks: Sequence[tuple[int, int]]) -> CutPassage | None:
    """Give the part of a passage that fits: whole sentences, or words of one that is too long; else nothing."""
    text, language = passage.text, passage.units[0].found.source.language
    tokens = TokenMap(text, tokenizer)
    edges = [0, *sentence_starts(text, 0, len(text), language), len(text)]
    for room in (most, most - NEAR, most // 2):  # the map steers, an exact count decides
        start, end = _sentences_within(tokens, edges, room, marks) or _words_within(
            tokens, _sentence_with(edges, marks), room, marks
        )
        words = text[start:end].rstrip()
        if words and tokenizer.count(words) <= most:
            return CutPassage(passage, start, start + len(words))
    return None


def _sentences_within(
    tokens: TokenMap, edges: Sequence[int], most: int, marks: Sequence[tuple[int, int]]
) -> tuple[int, int] | None:
    """Give the whole sentences that fit and hold the most of the question's words, the first of equals.

    Sentences that hold none of them are no answer where a longer one does.
    """
    best: tuple[int, int] | None = None
    most_marks, last = 0 if marks else -1, 0
    for first, start in enumerate(edges[:-1]):
        last = max(last, first)
        while last + 1 < len(edges) and _fits(tokens, start, edges[last + 1], most):
            last += 1
        inside = sum(start <= mark < edges[last] for mark, _ in marks)
        if last > first and inside > most_marks:
            best, most_marks = (start, edges[last]), inside
    return best


def _fits(tokens: TokenMap, start: int, end: int, most: int) -> bool:
    text = tokens.text[start:end].rstrip()
    return tokens.fits(start, start + len(text), most - tokens.tokenizer.added)


def _sentence_with(edges: Sequence[int], marks: Sequence[tuple[int, int]]) -> tuple[int, int]:
    """Give the first sentence with a word of the question, else the first."""
    first = marks[0][0] if marks else 0
    return next((start, end) for start, end in pairwise(edges) if first < end)


def _visible(text: str, start: int) -> int:
    """Give the first place from here on that is no blank."""
    return start + len(text[start:]) - len(text[start:].lstrip())


def _words_within(
    tokens: TokenMap, sentence: tuple[int, int], most: int, marks: Sequence[tuple[int, int]]
) -> tuple[int, int]:
    """Give the part of a sentence that is too long, cut at words, with the most of the question's words.

    Nothing of it where there is no room.
    """
    start, end = sentence
    room = most - tokens.tokenizer.added
    if room <= 0:
        return start, start
    edges = [start, *forced_cuts(tokens, start, end, room, room), end]
    parts = [(_visible(tokens.text, first), last) for first, last in pairwise(edges)]
    return max(parts, key=lambda part: sum(part[0] <= mark < part[1] for mark, _ in marks))
