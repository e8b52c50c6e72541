"""Lines to flowing text: words that a line break divided are joined again, real hyphens stay."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Final

from spanwise.readers.pdf.lines import Line, joined, separator
from spanwise.readers.pdf.words import Word

_LETTERS: Final = re.compile(r"[^\W\d_]+(?:-[^\W\d_]+)*")
_LAST: Final = re.compile(r"[^\W\d_]+(?:-[^\W\d_]+)*\Z")
_HYPHENS: Final = "-‐\xad"
_UNSPACED: Final = re.compile(r"[^\W\d_][—/]\Z")  # a line may break after these, but no space belongs there
_BACK: Final = 200  # characters: more than the longest word

_EVEN: Final = 1.2  # points: lines that end so close together are justified
_SUSPENDED: Final = re.compile(  # before these the hyphen stands for the end of the next compound
    r"(?:und|oder|bzw|sowie|bis|and|or|to|i|oraz|lub|и|или)\b", re.IGNORECASE
)


class Vocabulary:
    """The words of a document, by which a hyphen at a line end is judged."""

    def __init__(self) -> None:
        """Create an empty vocabulary."""
        self._words: set[str] = set()
        self._hyphenated: set[str] = set()
        self._cut: list[tuple[str, str]] = []  # text before and after the hyphens at line ends
        self._hyphenates = False

    def learn(self, lines: Sequence[Line]) -> None:
        """Add the words of a page, except those cut at a line start or line end."""
        before: str | None = None
        even = pairs = 0
        last: Line | None = None
        for line in lines:
            words = line.words
            if before is not None:
                self._cut.append((before, words[0].text))
            cut = words[-1].broken or (words[-1].text[-1] in _HYPHENS and len(words[-1].text) > 1)
            self._add(joined(words[before is not None : len(words) - cut]))
            before = words[-1].text.rstrip(_HYPHENS) if cut else None
            if last and abs(last.box.left - line.box.left) < 1 and line.box.top > last.box.top:
                pairs += 1
                even += abs(last.box.right - line.box.right) < _EVEN
            last = line
        self._hyphenates = self._hyphenates or even > 0.5 * pairs > 2

    def _add(self, text: str) -> None:
        for word in _LETTERS.findall(text):
            (self._hyphenated if "-" in word else self._words).add(word.lower())
            if "-" in word:
                self._words.update(part.lower() for part in word.split("-"))

    def decide(self) -> None:
        """Decide, once all words are known, whether this document divides words at line ends."""
        soft = sum(_last(start) + _first(end) in self._words for start, end in self._cut)
        hard = sum(f"{_last(start)}-{_first(end)}" in self._hyphenated for start, end in self._cut)
        self._hyphenates = self._hyphenates or (soft > 1 and soft > hard)

    def joined(self, before: str, after: str) -> str:
        """Join two lines, the first of which ends in a hyphen."""
        stem = before.rstrip(_HYPHENS)
        first, second = _LAST.search(stem), _LETTERS.match(after)
        if second and _SUSPENDED.match(after):
            return f"{before} {after}"
        if not first or not second or not after[0].islower():
            return before + after  # the hyphen belongs to a number, name or range
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
    """Join lines into one text, with links marked."""
    before: list[str] = []
    text, soft = "", False
    for words in lines:
        if not words:
            continue
        line = _line_text(words, vocabulary)
        before.append(text[:-_BACK])  # what no line end depends on is left alone, however long it gets
        text = text[-_BACK:]
        if not text:
            text = line
        elif soft or (text[-1] in _HYPHENS and text[-2:-1].isalnum()):
            text = vocabulary.joined(text if text[-1] in _HYPHENS else text + "-", line)
        elif _UNSPACED.search(text):
            text += line
        else:
            text += separator(text, line) + line
        soft = words[-1].broken
    return "".join(before) + (text + "-" if soft and text[-1:] not in _HYPHENS else text)


def _line_text(words: Sequence[Word], vocabulary: Vocabulary) -> str:
    """Return the text of one line, without soft hyphens inside it."""
    for index, word in enumerate(words[:-1]):
        if word.broken and not words[index + 1].spaced:
            before, after = joined(words[: index + 1], marked=True), _line_text(words[index + 1 :], vocabulary)
            return vocabulary.joined(before if before[-1] in _HYPHENS else before + "-", after)
    text = joined(words, marked=True)
    return text[:-1] if words[-1].broken and words[-1].text[-1:] not in _HYPHENS else text
