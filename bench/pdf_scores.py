"""How much of a known text an engine returns: words in order, headings, rows of tables.

Expected text and output are both Markdown and processed alike: to HTML, and from there to words, titles and rows. Words
are letters and digits only, in lower case; a Chinese character is a word.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from html.parser import HTMLParser
from typing import NamedTuple

import pyromark

_INLINE = frozenset(
    ["a", "abbr", "b", "code", "del", "em", "i", "mark", "s", "small", "span", "strong", "sub", "sup", "u"]
)
_HEADINGS = frozenset(f"h{level}" for level in range(1, 7))
_OPTIONS = (
    pyromark.Options.ENABLE_TABLES
    | pyromark.Options.ENABLE_FOOTNOTES
    | pyromark.Options.ENABLE_STRIKETHROUGH
    | pyromark.Options.ENABLE_TASKLISTS
    | pyromark.Options.ENABLE_YAML_STYLE_METADATA_BLOCKS
)
_WORD = re.compile(r"[\u3400-\u9fff\uf900-\ufaff]|[^\s\u3400-\u9fff\uf900-\ufaff]+")
_LINE_END = re.compile(r"(?<=\w)[\xad\u2010\ufffe\x02]\s*|\xad")

Row = tuple[str, ...]


class Contents(NamedTuple):
    """The contents of a text; headings and rows are None if its format has none."""

    words: list[str]
    headings: list[str] | None = None
    rows: list[Row] | None = None


def html_of(markdown: str) -> str:
    return pyromark.html(markdown, options=_OPTIONS)


def markdown_contents(markdown: str) -> Contents:
    walker = _Walker()
    walker.feed(html_of(markdown))
    walker.close()
    return Contents(words_of("".join(walker.text)), walker.headings, walker.rows)


def words_of(text: str) -> list[str]:
    text = unicodedata.normalize("NFKC", _LINE_END.sub("", text)).casefold()
    stripped = ("".join(filter(str.isalnum, word)) for word in _WORD.findall(text))
    return [word for word in stripped if word]


def bare(text: str) -> str:
    return "".join(words_of(text))


class _Walker(HTMLParser):
    """A parser that collects text, headings and rows."""

    def __init__(self) -> None:
        super().__init__()
        self.text: list[str] = []
        self.headings: list[str] = []
        self.rows: list[Row] = []
        self._begun = 0  # index in `text` where the heading or cell begins
        self._cells: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag not in _INLINE:
            self.text.append(" ")
        if tag == "img":  # a browser prints the alternative text of a missing image
            self.text.append(f"{dict(attrs).get('alt') or ''} ")
        if tag in _HEADINGS or tag in {"td", "th"}:
            self._begun = len(self.text)
        elif tag == "tr":
            self._cells = []

    def handle_endtag(self, tag: str) -> None:
        if tag in _HEADINGS:
            self.headings.append(bare("".join(self.text[self._begun :])))
        elif tag in {"td", "th"}:
            self._cells.append(bare("".join(self.text[self._begun :])))
        elif tag in {"tr", "thead"} and any(self._cells):
            self.rows.append(tuple(self._cells))
            self._cells = []
        if tag not in _INLINE:
            self.text.append(" ")

    def handle_data(self, data: str) -> None:
        self.text.append(data)


class Tally(NamedTuple):
    """Counts that can be summed over files."""

    words: int = 0  # in the expected text
    in_order: int = 0
    added: int = 0
    headings: tuple[int, int, int] | None = None  # correct, found, expected
    rows: tuple[int, int, int] | None = None

    def plus(self, other: Tally) -> Tally:
        """Return the sum with another file's counts."""
        numbers = (self.words + other.words, self.in_order + other.in_order, self.added + other.added)
        return Tally(*numbers, _added(self.headings, other.headings), _added(self.rows, other.rows))


def compared(truth: Contents, output: Contents) -> Tally:
    kept = common(truth.words, output.words)
    added = (Counter(output.words) - Counter(truth.words)).total()
    headings = None if output.headings is None else _hits(truth.headings or [], list(filter(None, output.headings)))
    # a head repeated on each page is one row
    rows = None if output.rows is None else _hits(sorted(set(truth.rows or [])), sorted(set(output.rows)))
    return Tally(len(truth.words), kept, added, headings, rows)


def _hits(true: list[str] | list[Row], found: list[str] | list[Row]) -> tuple[int, int, int]:
    return (Counter(true) & Counter(found)).total(), len(found), len(true)


def _added(one: tuple[int, ...] | None, other: tuple[int, ...] | None) -> tuple[int, int, int] | None:
    if one is None or other is None:
        return one or other  # type: ignore[return-value]
    return tuple(map(sum, zip(one, other, strict=True)))  # type: ignore[return-value]


def common(one: list[str], other: list[str]) -> int:
    """Return the length of the longest common subsequence, computed with one bit per word of `one`."""
    masks: dict[str, int] = {}
    for index, word in enumerate(one):
        masks[word] = masks.get(word, 0) | 1 << index
    full = (1 << len(one)) - 1
    row = full
    for word in other:
        if match := masks.get(word):
            shared = row & match
            row = (row + shared | row - shared) & full
    return len(one) - row.bit_count()
