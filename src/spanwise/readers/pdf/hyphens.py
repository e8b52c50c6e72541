"""Lines to flowing text: what a line end cut apart is joined again, real hyphens stay."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Final

from spanwise.readers.pdf.lines import joined
from spanwise.readers.pdf.words import Word

_LETTERS: Final = re.compile(r"[^\W\d_]+(?:-[^\W\d_]+)*")
_LAST: Final = re.compile(r"[^\W\d_]+(?:-[^\W\d_]+)*\Z")
_HYPHENS: Final = "-‐\xad"
_WIDE: Final = re.compile(
    "[\u2e80-\u303f\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uff00-\uffef]"
)

_UNSPACED: Final = re.compile(r"[^\W\d_][—/]\Z")  # a line may end after them, but no space belongs there


class Vocabulary:
    """The words of a document, by which a hyphen at a line end is judged."""

    def __init__(self) -> None:
        """Begin without words."""
        self._words: set[str] = set()
        self._hyphenated: set[str] = set()

    def learn(self, words: Sequence[Word], *, cut: bool) -> bool:
        """Take in a line, but no word that is cut at its start or its end; say whether it is at its end."""
        ends_cut = words[-1].broken or words[-1].text[-1] in _HYPHENS
        text = joined(words[int(cut) : len(words) - ends_cut])
        for word in _LETTERS.findall(text):
            (self._hyphenated if "-" in word else self._words).add(word.lower())
            if "-" in word:
                self._words.update(part.lower() for part in word.split("-"))
        return ends_cut

    def joined(self, before: str, after: str) -> str:
        """Join two lines of which the first ends in a hyphen."""
        stem = before.rstrip(_HYPHENS)
        first, second = _LAST.search(stem), _LETTERS.match(after)
        if not first or not second or not after[0].islower():
            return before + after  # numbers, names, ranges: the hyphen is theirs
        start, end = first[0].lower(), second[0].lower()
        tail = start.rsplit("-", 1)[-1]
        if f"{start}-{end}" in self._hyphenated:
            return f"{stem}-{after}"
        if start + end in self._words or tail + end in self._words:
            return stem + after
        if tail in self._words and end in self._words and len(tail) > 2 and len(end) > 2:
            return f"{stem}-{after}"
        return stem + after


def flowed(lines: Iterable[Sequence[Word]], vocabulary: Vocabulary) -> str:
    """Join lines into one."""
    text, soft = "", False
    for words in lines:
        if not words:
            continue
        said = _within(words, vocabulary)
        if not text:
            text = said
        elif soft or (text[-1] in _HYPHENS and text[-2:-1].isalpha()):
            text = vocabulary.joined(text if text[-1] in _HYPHENS else text + "-", said)
        elif (_WIDE.match(text[-1]) and _WIDE.match(said[0])) or _UNSPACED.search(text):
            text += said
        else:
            text = f"{text} {said}"
        soft = words[-1].broken
    return text + "-" if soft and text[-1:] not in _HYPHENS else text


def _within(words: Sequence[Word], vocabulary: Vocabulary) -> str:
    """Write one line; a soft hyphen inside it is no hyphen at all."""
    for index, word in enumerate(words[:-1]):
        if word.broken and not words[index + 1].spaced:
            before, after = joined(words[: index + 1]), _within(words[index + 1 :], vocabulary)
            return vocabulary.joined(before if before[-1] in _HYPHENS else before + "-", after)
    text = joined(words)
    return text[:-1] if words[-1].broken and words[-1].text[-1:] not in _HYPHENS else text
