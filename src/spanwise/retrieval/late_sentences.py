"""Late sentences: the best passages are cut into sentences when a question is asked, and these are ranked.

A sentence alone has few words of a question; its neighbours and its headings have more. So its term frequencies are a
weighted sum over windows around it, and BM25 ranks that sum. Nothing of this is in the index.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from spanwise.retrieval.function_words import FUNCTION_WORDS
from spanwise.retrieval.passages import Passage, PassageUnit
from spanwise.retrieval.query import FUNCTION_WORD, Query, Word
from spanwise.text.cuts import forced_cuts
from spanwise.text.sentences import sentence_starts
from spanwise.text.terms import document_terms, term_positions
from spanwise.text.tokens import FullTokenizer, TokenMap

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Numbers = NDArray[np.float64]

Similarity = Callable[[Sequence[str]], Sequence[float]]
"""Returns the cosine of the question and each text."""

PASSAGES: Final = 20  # chunks that sentences are taken from
LONGEST: Final = 64  # tokens of a sentence; a longer one is divided
_K1: Final = 2.0
_B: Final = 0.6
_PASSAGE: Final = 0.3  # weight of the passage's score beside that of the sentence
_VECTOR: Final = 0.3  # weight of the cosine
_EMBEDDED: Final = 80  # best sentences by words whose cosine is looked up
_TELLING: Final = 0.05  # of the heaviest word's weight: a word below it is not looked up
_RARE_HERE: Final = 0.3  # share of a word's weight that depends on these sentences, not on the whole index


class Window(NamedTuple):
    """So many tokens before and after a sentence, and what a word in it counts."""

    name: str
    before: int
    after: int
    weight: float


WINDOWS: Final = (
    Window("sentence", 0, 0, 3.0),
    Window("near", 40, 30, 1.0),
    Window("around", 120, 80, 0.7),
    Window("far", 300, 200, 0.3),
)
_HEADINGS: Final = 6.0  # what a word of the title or a heading counts

_LINE: Final = re.compile(r"[^\S\n]*+\n\s*+")
_HEADING: Final = re.compile(r"#{1,6}[^\S\n]")
_VISIBLE_WORD: Final = re.compile(r"\w")
_DIVIDERS: Final = tuple(map(re.compile, (r"[;；]\s*+", r"[,，、]\s*+")))
_WRAPPED: Final = range(40, 161)  # characters of a wrapped line; others were ended on purpose
_ENDS_LINE: Final = re.compile(r"[.!?:;。！？：；…|>\]})`*_~-]")
_GOES_ON: Final = re.compile(r"(?!\d+[.)]\s)[\w(\"'„“«]")


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence of a passage, with its score."""

    passage: Passage
    unit: PassageUnit
    """The chunk that it stands in."""
    start: int
    end: int
    """Its range in the text of the passage."""
    words: float
    """BM25 of its windows, as a share of the best sentence's."""
    from_passage: float
    matched: Callable[[], dict[str, dict[str, float]]]
    """Returns what each word added, and how often each window has it."""
    vector: float = 0.0
    cosine: float | None = None

    @property
    def text(self) -> str:
        """Its text."""
        return self.passage.text[self.start : self.end]

    @property
    def score(self) -> float:
        """The sum of its parts."""
        return self.words + self.from_passage + self.vector


def ranked_sentences(
    passages: Sequence[Passage],
    query: Query,
    tokenizer: FullTokenizer,
    similarity: Similarity | None = None,
    longest: int = LONGEST,
) -> list[Sentence]:
    """Return all sentences of some passages, the best first; one over `longest` tokens is divided."""
    views = [_View(passage, query, tokenizer, longest) for passage in passages]
    views = [view for view in views if view.ranges]
    if not views:
        return []
    words = query.words
    frequencies = np.concatenate([view.frequencies for view in views])  # sentence, window, word
    lengths = np.concatenate([view.lengths for view in views])
    weights = _weights(words, np.count_nonzero(frequencies[:, 0, :], axis=0), len(frequencies))
    factors = np.array([*(window.weight for window in WINDOWS), _HEADINGS])
    times = np.einsum("swt,w->st", frequencies, factors)
    damping = _K1 * (1 - _B + _B * lengths / max(float(lengths.mean()), 1.0))
    gains = weights * times * (_K1 + 1) / (times + damping[:, None])
    sums = gains.sum(axis=1)
    best = float(sums.max(initial=0.0)) or 1.0
    most = max((unit.score for passage in passages for unit in passage.units), default=0.0) or 1.0
    found: list[Sentence] = []
    for view in views:
        for start, end in view.ranges:
            row = len(found)
            unit = view.unit_at(start)
            explain = _Matched(words, frequencies[row], gains[row])
            score = round(float(sums[row]) / best, 9)  # so that ties are ties on every machine
            found.append(Sentence(view.passage, unit, start, end, score, _PASSAGE * unit.score / most, explain))
    ordered = sorted(found, key=_order)
    return ordered if similarity is None else _with_vectors(ordered, similarity)


class _Matched:
    """What each word of the question added to a sentence, and how often each window has it."""

    def __init__(self, words: Sequence[Word], frequencies: Numbers, gains: Numbers) -> None:
        self._words, self._frequencies, self._gains = words, frequencies, gains

    def __call__(self) -> dict[str, dict[str, float]]:
        names = [*(window.name for window in WINDOWS), "headings"]
        found: dict[str, dict[str, float]] = {}
        for number, word in enumerate(self._words):
            if self._gains[number] > 0:
                counts = zip(names, self._frequencies[:, number], strict=True)
                times = {name: float(count) for name, count in counts if count}
                found[word.text] = {"points": float(self._gains[number]), **times}
        return found


def _weights(words: Sequence[Word], occurrences: NDArray[np.intp], sentences: int) -> Numbers:
    """Return the weight of each word: mostly by its rarity in the index, in part by that among these sentences."""
    own = np.array([word.weight for word in words])
    here = np.log1p((sentences - occurrences + 0.5) / (occurrences + 0.5))
    here = here * np.array([FUNCTION_WORD if word.text in FUNCTION_WORDS else 1.0 for word in words])
    return np.asarray((1 - _RARE_HERE) * own + _RARE_HERE * here)


def _with_vectors(ordered: list[Sentence], similarity: Similarity) -> list[Sentence]:
    """Add the cosine to the best sentences by words; the others follow them."""
    best, rest = ordered[:_EMBEDDED], ordered[_EMBEDDED:]
    cosines = similarity([one.text for one in best])
    scored = [
        replace(one, vector=_VECTOR * round(max(float(cosine), 0.0), 6), cosine=float(cosine))
        for one, cosine in zip(best, cosines, strict=True)
    ]
    return [*sorted(scored, key=_order), *rest]


def _order(sentence: Sentence) -> tuple[float, str, int, int]:
    found = sentence.unit.found
    return -sentence.score, found.document_id, found.position, sentence.start


class _View:
    """A passage cut into sentences, with how often each window of each has each word of a question."""

    def __init__(self, passage: Passage, query: Query, tokenizer: FullTokenizer, longest: int) -> None:
        self.passage, self._query = passage, query
        self._tokens = TokenMap(passage.text, tokenizer)
        self.ranges = sentence_ranges(self._tokens, self._language, longest)

    @property
    def _language(self) -> str:
        return self.passage.units[0].found.source.language

    @cached_property
    def _unit_starts(self) -> list[int]:
        starts, reached = [], 0
        for index, unit in enumerate(self.passage.units):
            reached += len(unit.found.text_before) if index else 0
            starts.append(reached)
            reached += len(unit.found.record["normalized_text"])
        return starts

    def _unit_number(self, position: int) -> int:
        return max(bisect_right(self._unit_starts, position) - 1, 0)

    def unit_at(self, position: int) -> PassageUnit:
        """Return the chunk that a position of the text belongs to."""
        return self.passage.units[self._unit_number(position)]

    @cached_property
    def _edges(self) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        starts, ends = self._tokens.at_edges(self.ranges)
        first = np.array(starts, dtype=np.intp)
        return first, np.maximum(np.array(ends, dtype=np.intp), first + 1)

    @cached_property
    def _headings(self) -> tuple[Numbers, Numbers]:
        """For each chunk how often its title and headings have each word, and how many terms they have."""
        rows, lengths = [], []
        for unit in self.passage.units:
            source, record = unit.found.source, unit.found.record
            title, path = source.metadata.get("title") or "", record["headings_path"]
            above = path if path[:1] == [title] else [title, *path]  # a title is often the first heading
            terms = document_terms("\n".join(above), source.language)
            lengths.append(len(terms))
            rows.append(_counted(self._query, terms))
        return np.array(rows, dtype=np.float64), np.array(lengths, dtype=np.float64)

    @cached_property
    def _units(self) -> NDArray[np.intp]:
        return np.array([self._unit_number(start) for start, _ in self.ranges], dtype=np.intp)

    @cached_property
    def _reaches(self) -> list[tuple[NDArray[np.intp], NDArray[np.intp]]]:
        first, last = self._edges
        total = self._tokens.at(len(self.passage.text))
        return [(np.maximum(first - one.before, 0), np.minimum(last + one.after, total)) for one in WINDOWS]

    @cached_property
    def frequencies(self) -> Numbers:
        """How often each window of each sentence has each word; the last window is the headings."""
        query = self._query
        found = np.zeros((len(self.ranges), len(WINDOWS) + 1, len(query.words)))
        for number, positions in self._positions().items():
            for window, (low, high) in enumerate(self._reaches):
                found[:, window, number] = np.searchsorted(positions, high) - np.searchsorted(positions, low)
        found[:, -1, :] = self._headings[0][self._units]
        return found

    @cached_property
    def lengths(self) -> Numbers:
        """The length of each sentence: the same weighted sum over its windows and headings."""
        sums = sum(window.weight * (high - low) for window, (low, high) in zip(WINDOWS, self._reaches, strict=True))
        return np.asarray(sums + _HEADINGS * self._headings[1][self._units], dtype=np.float64)

    @cached_property
    def _telling(self) -> frozenset[str]:
        """The terms of words that weigh something: those that stand everywhere would only cost time."""
        least = _TELLING * max((word.weight for word in self._query.words), default=0.0)
        return frozenset(
            term for term, words in self._query.by_term.items() if any(one.weight >= least for one in words)
        )

    def _positions(self) -> dict[int, NDArray[np.intp]]:
        """Return for each word of the question, by its number, the tokens at which it stands."""
        query = self._query
        found: dict[int, list[int]] = {}
        places = term_positions(self.passage.text, self._language, self._telling)
        tokens = self._tokens.at_each([position for position, _ in places])
        for token, (_, term) in zip(tokens, places, strict=True):
            for word in query.by_term[term]:
                found.setdefault(query.positions[word], []).append(token)
        return {number: np.array(positions, dtype=np.intp) for number, positions in found.items()}


def _counted(query: Query, terms: Sequence[str]) -> list[float]:
    counts = [0.0] * len(query.words)
    for term in terms:
        for word in query.by_term.get(term, ()):
            counts[query.positions[word]] += 1
    return counts


def sentence_ranges(tokens: TokenMap, language: str, longest: int = LONGEST) -> list[tuple[int, int]]:
    """Return the sentences of a text, none over `longest` tokens; headings and lines without a word are none.

    A text of nothing else is one, so that every passage has something to return.
    """
    text = tokens.text
    starts = {0, *sentence_starts(text, 0, len(text), language), *_line_starts(text)}
    found: list[tuple[int, int]] = []
    for start, end in pairwise([*sorted(starts), len(text)]):
        end = start + len(text[start:end].rstrip())
        if _VISIBLE_WORD.search(text, start, end) and not _HEADING.match(text, start):
            found += _divided(tokens, start, end, longest)
    whole = text.strip()
    return found or ([(text.index(whole), text.index(whole) + len(whole))] if whole else [])


def _line_starts(text: str) -> Iterator[int]:
    """Yield where lines begin that aren't the continuation of a wrapped line."""
    for found in _LINE.finditer(text):
        if found.end() < len(text) and not _is_wrapped(text, found):
            yield found.end()


def _is_wrapped(text: str, line_end: re.Match[str]) -> bool:
    start, end = line_end.span()
    first = text.rfind("\n", 0, start) + 1
    return (
        text.count("\n", start, end) == 1
        and not _ENDS_LINE.match(text, start - 1)
        and not text.startswith(("|", "#"), first)
        and _GOES_ON.match(text, end) is not None
        and (start - first in _WRAPPED or text[end].islower())
    )


def _divided(tokens: TokenMap, start: int, end: int, longest: int, level: int = 0) -> Iterator[tuple[int, int]]:
    """Yield the parts of a sentence that is too long: between clauses, then commas, then words."""
    if tokens.count(start, end) <= longest:
        yield start, end
        return
    if level == len(_DIVIDERS):
        cuts = forced_cuts(tokens, start, end, longest, longest)
        yield from _trimmed(tokens.text, pairwise([start, *cuts, end]))
        return
    cuts = [found.end() for found in _DIVIDERS[level].finditer(tokens.text, start, end - 1)]
    parts: list[tuple[int, int]] = []
    for low, high in _trimmed(tokens.text, pairwise([start, *cuts, end])):
        if parts and tokens.count(parts[-1][0], high) <= longest:
            parts[-1] = parts[-1][0], high
        else:
            parts.append((low, high))
    for low, high in parts:
        yield from _divided(tokens, low, high, longest, level + 1)


def _trimmed(text: str, ranges: Iterable[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    for start, end in ranges:
        part = text[start:end]
        if part.strip():
            yield start + len(part) - len(part.lstrip()), start + len(part.rstrip())
