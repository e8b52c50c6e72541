"""Limits on the result of a search: the number of passages and of tokens."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Final, NamedTuple

from spanwise.retrieval.passages import Gathering, Passage, PassageUnit, joined
from spanwise.text.cuts import forced_cuts
from spanwise.text.sentences import sentence_starts
from spanwise.text.tokens import NEAR, FullTokenizer, TokenMap

if TYPE_CHECKING:
    from spanwise.retrieval.late_sentences import Sentence

_WORTH_JOINING: Final = 0.5  # of the score of the adjacent passage
_SHORTEST: Final = 8  # tokens; no sentence worth reading is shorter
_WORTH_READING: Final = 24  # tokens; a shorter part of a passage is of no use

Marker = Callable[[Passage], Sequence[tuple[int, int]]]
"""Returns the ranges of a passage that match words of the query."""


class CutPassage(NamedTuple):
    """A passage, and the range of its text that is returned."""

    passage: Passage
    start: int
    end: int


def gathered(units: Iterable[PassageUnit], limit: int, *, worth_joining: float = _WORTH_JOINING) -> list[CutPassage]:
    """Join units to passages, best first, until one would start a passage too many.

    A neighbour that is much worse than the passage beside it is skipped: it would only make it longer.
    """
    gathering = Gathering()
    for unit in units:
        neighbours = gathering.neighbours(unit)
        if not neighbours and len(gathering) >= limit:
            break
        if all(unit.score >= worth_joining * one.best.score for one in neighbours):
            gathering.add(joined(unit, neighbours), neighbours)
    return _whole(gathering)


def within_budget(
    units: Iterable[PassageUnit], limit: int, budget: int, tokenizer: FullTokenizer, marks: Marker
) -> list[CutPassage]:
    """Join units to passages, best first, within a budget of tokens; the first new passage that doesn't fit is cut.

    A unit that would make an existing passage too long for the budget is skipped: half of it would be of no use.
    """
    gathering = Gathering()
    sizes: dict[tuple[str, bool, int], int] = {}
    room = budget
    for unit in units:
        neighbours = gathering.neighbours(unit)
        if not neighbours and len(gathering) >= limit:
            break
        passage = joined(unit, neighbours)
        size = tokenizer.count(passage.text)
        freed = sum(sizes[one.units[0].location] for one in neighbours)
        if size <= room + freed:
            gathering.add(passage, neighbours)
            sizes[passage.units[0].location] = size
            room += freed - size
        elif not neighbours:
            is_useful = room >= _WORTH_READING or not len(gathering)
            cut = cut_to(passage, room, tokenizer, marks(passage)) if is_useful else None
            return [*_whole(gathering), *filter(None, [cut])]
    return _whole(gathering)


class Answer(NamedTuple):
    """The sentences of a passage that are returned, as ranges of its text in order; the best of them is `best`."""

    passage: Passage
    ranges: tuple[tuple[int, int], ...]
    best: Sentence


def answers_within(
    sentences: Sequence[Sentence], limit: int, budget: int | None, tokenizer: FullTokenizer, share: float = 0.0
) -> list[Answer]:
    """Return the best sentences, joined by passage, within a budget of tokens and from at most `limit` passages.

    Those below a `share` of the best score are left out. One that doesn't fit is passed over: a shorter one may.
    """
    least = share * max((one.score for one in sentences), default=0.0)
    room = budget if budget is not None else 0
    chosen: dict[int, _Chosen] = {}
    for sentence in sentences:
        if sentence.score < least or (budget is not None and room < _SHORTEST):
            break
        known = chosen.get(id(sentence.passage))
        if known is None and len(chosen) >= limit:
            continue
        taken = (known or _Chosen(sentence, (), 0)).with_sentence(sentence, tokenizer)
        more = taken.tokens - (known.tokens if known else 0)
        if budget is None or more <= room:
            chosen[id(sentence.passage)] = taken
            room -= more
    return [Answer(one.best.passage, one.ranges, one.best) for one in chosen.values()]


class _Chosen(NamedTuple):
    """The sentences of one passage that are taken so far, and the tokens of their ranges in the source."""

    best: Sentence
    ranges: tuple[tuple[int, int], ...]
    tokens: int

    def with_sentence(self, sentence: Sentence, tokenizer: FullTokenizer) -> _Chosen:
        """Return it with one more; sentences with nothing but white space between them are joined."""
        text, joined = self.best.passage.text, list[tuple[int, int]]()
        for start, end in sorted((*self.ranges, (sentence.start, sentence.end))):
            if joined and not text[joined[-1][1] : start].strip():
                joined[-1] = joined[-1][0], end
            else:
                joined.append((start, end))
        kept = set(self.ranges)
        gone = sum(_size(self.best.passage, one, tokenizer) for one in kept.difference(joined))
        new = sum(_size(self.best.passage, one, tokenizer) for one in joined if one not in kept)
        return _Chosen(self.best, tuple(joined), self.tokens - gone + new)


def _size(passage: Passage, part: tuple[int, int], tokenizer: FullTokenizer) -> int:
    """Count the tokens of a part in the source, and one for what separates it from the next."""
    ranges = passage.source_ranges(*part)
    return sum(tokenizer.count(passage.text[one.at : one.until]) + 1 for one in ranges)


def _whole(gathering: Gathering) -> list[CutPassage]:
    return [CutPassage(passage, 0, len(passage.text)) for passage in gathering.passages()]


def cut_to(
    passage: Passage, most: int, tokenizer: FullTokenizer, marks: Sequence[tuple[int, int]]
) -> CutPassage | None:
    """Return the part of a passage that fits: whole sentences, or words of one that is too long; else None."""
    text, language = passage.text, passage.units[0].found.source.language
    tokens = TokenMap(text, tokenizer)
    edges = [0, *sentence_starts(text, 0, len(text), language), len(text)]
    for room in (most, most - NEAR, most // 2):  # the map estimates, an exact count decides
        start, end = _sentences_within(tokens, edges, room, marks) or _words_within(
            tokens, _sentence_with(edges, marks), room, marks
        )
        part = text[start:end].rstrip()
        if part and tokenizer.count(part) <= most:
            return CutPassage(passage, start, start + len(part))
    return None


def _sentences_within(
    tokens: TokenMap, edges: Sequence[int], most: int, marks: Sequence[tuple[int, int]]
) -> tuple[int, int] | None:
    """Return the whole sentences that fit and contain the most of the query's words, the first of equals.

    Return None if none fit, or if only longer ones contain such words.
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
    """Return the first sentence with a word of the query, else the first."""
    first = marks[0][0] if marks else 0
    return next((start, end) for start, end in pairwise(edges) if first < end)


def _skip_blanks(text: str, start: int) -> int:
    """Return the first offset from `start` on that is no blank."""
    return start + len(text[start:]) - len(text[start:].lstrip())


def _words_within(
    tokens: TokenMap, sentence: tuple[int, int], most: int, marks: Sequence[tuple[int, int]]
) -> tuple[int, int]:
    """Return the part of a sentence that is too long, cut at words, with the most of the query's words.

    The part is empty if there is no room.
    """
    start, end = sentence
    room = most - tokens.tokenizer.added
    if room <= 0:
        return start, start
    edges = [start, *forced_cuts(tokens, start, end, room, room), end]
    parts = [(_skip_blanks(tokens.text, first), last) for first, last in pairwise(edges)]
    return max(parts, key=lambda part: sum(part[0] <= mark < part[1] for mark, _ in marks))
