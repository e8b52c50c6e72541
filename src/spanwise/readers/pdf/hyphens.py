"""Lines to flowing text: what a line end cut apart is joined again, real hyphens stay."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Final

from spanwise.readers.pdf.lines import Line, glue, joined
from spanwise.readers.pdf.words import Word

_LETTERS: Final = re.compile(r"[^\W\d_]+(?:-[^\W\d_]+)*")
_LAST: Final = re.compile(r"[^\W\d_]+(?:-[^\W\d_]+)*\Z")
_HYPHENS: Final = "-‐\xad"
_UNSPACED: Final = re.compile(r"[^\W\d_][—/]\Z")  # a line may end after them, but no space belongs there

_EVEN: Final = 1.2  # points: lines that end so close together are justified
_SUSPENDED: Final = re.compile(  # after these the hyphen stands for what the second word has too
    r"(?:und|oder|bzw|sowie|bis|and|or|to|i|oraz|lub|и|или)\b", re.IGNORECASE
)


class Vocabulary:
    """The words of a document, by which a hyphen at a line end is judged."""

    def __init__(self) -> None:
        """Begin without words."""
        self._words: set[str] = set()
        self._hyphenated: set[str] = set()
        self._cut: list[tuple[str, str]] = []  # what stands before and after hyphens at line ends
        self._hyphenates = False

    def learn(self, lines: Sequence[Line]) -> None:
        """Take in the lines of a page, but no word that is cut at its start or its end."""
        before: str | None = None
        even = pairs = 0
        last: Line | None = None
        for line in lines:
            words = line.words
            if before is not None:
                self._cut.append((before, words[0].text))
            cut = words[-1].broken or (words[-1].text[-1] in _HYPHENS and len(words[-1].text) > 1)
            self._take(joined(words[before is not None : len(words) - cut]))
            before = words[-1].text.rstrip(_HYPHENS) if cut else None
            if last and abs(last.box.left - line.box.left) < 1 and line.box.top > last.box.top:
                pairs += 1
                even += abs(last.box.right - line.box.right) < _EVEN
            last = line
        self._hyphenates = self._hyphenates or even > 0.5 * pairs > 2

    def _take(self, text: str) -> None:
        for word in _LETTERS.findall(text):
            (self._hyphenated if "-" in word else self._words).add(word.lower())
            if "-" in word:
                self._words.update(part.lower() for part in word.split("-"))

    def decide(self) -> None:
        """Judge, when all words are known, whether this document divides words at line ends."""
        soft = sum(_last(start) + _first(end) in self._words for start, end in self._cut)
        hard = sum(f"{_last(start)}-{_first(end)}" in self._hyphenated for start, end in self._cut)
        self._hyphenates = self._hyphenates or (soft > 1 and soft > hard)

    def joined(self, before: str, after: str) -> str:
        """Join two lines of which the first ends in a hyphen."""
        stem = before.rstrip(_HYPHENS)
        first, second = _LAST.search(stem), _LETTERS.match(after)
        if second and _SUSPENDED.match(after):
            return f"{before} {after}"
        if not first or not second or not after[0].islower():
            return before + after  # numbers, names, ranges: the hyphen is theirs
        start, end = first[0].lower(), second[0].lower()
        tail = start.rsplit("-", 1)[-1]
        if f"{start}-{end}" in self._hyphenated:
            return f"{stem}-{after}"
        if start + end in self._words or tail + end in self._words:
            return stem + after
        compound = tail in self._words and end in self._words and len(tail) > 2 and len(end) > 2
        return stem + after if self._hyphenates and not compound else f"{stem}-{after}"


def _last(text: str) -> str:
    found = _LAST.search(text)
    return found[0].lower() if found else text


def _first(text: str) -> str:
    found = _LETTERS.match(text)
    return found[0].lower() if found else text


def flowed(lines: Iterable[Sequence[Word]], vocabulary: Vocabulary) -> str:
    """Join lines into one, with links marked."""
    text, soft = "", False
    for words in lines:
        if not words:
            continue
        said = _within(words, vocabulary)
        if not text:
            text = said
        elif soft or (text[-1] in _HYPHENS and text[-2:-1].isalnum()):
            text = vocabulary.joined(text if text[-1] in _HYPHENS else text + "-", said)
        elif _UNSPACED.search(text):
            text += said
        else:
            text += glue(text, said) + said
        soft = words[-1].broken
    return text + "-" if soft and text[-1:] not in _HYPHENS else text


def _within(words: Sequence[Word], vocabulary: Vocabulary) -> str:
    """Write one line; a soft hyphen inside it is no hyphen at all."""
    for index, word in enumerate(words[:-1]):
        if word.broken and not words[index + 1].spaced:
            before, after = joined(words[: index + 1], marked=True), _within(words[index + 1 :], vocabulary)
            return vocabulary.joined(before if before[-1] in _HYPHENS else before + "-", after)
    text = joined(words, marked=True)
    return text[:-1] if words[-1].broken and words[-1].text[-1:] not in _HYPHENS else text
