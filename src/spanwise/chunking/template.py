"""Templates: title and headings before the text for the embedder, in at most half of the limit."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from spanwise.text.cuts import grapheme_break, word_break
from spanwise.text.tokens import FullTokenizer, counted_lines

_ALL: Final = 1 << 30  # headings of a path
_LONGEST_TOKEN: Final = 16  # characters; longer tokens are runs of one character


class Template:
    """The prefixes of one document's chunks; chunks under the same headings share one, which is counted once.

    `known` has the prefixes that were counted so far, with their tokens.
    """

    def __init__(self, options: Any, title: str | None, tokenizer: FullTokenizer, limit: int) -> None:
        """Store what the prefixes depend on."""
        self._name: str = options.template
        self._levels: int = {"tags": options.max_heading_levels, "path": _ALL}.get(options.template, 1)
        self._tokenizer = tokenizer
        self._half = limit // 2 - tokenizer.added
        self._longest = min(limit, 1 << 16) * _LONGEST_TOKEN
        self._title = title or ""
        if self._name == "tags":  # a strategy without options for its tags gets both
            self._title = self._title if getattr(options, "include_page_tag", True) else ""
            self._levels = self._levels if getattr(options, "include_section_tag", True) else 0
        self.known: dict[tuple[str, ...], tuple[str, int]] = {}
        self._counted: dict[str, int] = {}

    def count_at_once(self, paths: Sequence[tuple[str, ...]]) -> None:
        """Count the prefixes of many paths in one pass, if they are lines; keep those that surely aren't shortened."""
        if self._name not in {"breadcrumb", "path"}:
            return
        title, levels, half = " ".join(self._title.split()), self._levels, self._half // 2
        lines = [_written(self._name, title, path[-levels:]) for path in paths]
        if max(map(len, lines), default=0) > self._longest:
            return
        for path, line, count in zip(paths, lines, counted_lines(lines, self._tokenizer), strict=False):
            if count <= half:  # a part may have more tokens than the whole, but not twice as many
                self.known[path] = line, count
                self._counted[line] = count

    def prefix(self, path: tuple[str, ...]) -> tuple[str, int]:
        """Return the prefix of a chunk under these headings, and its tokens."""
        if path not in self.known:
            self.known[path] = self._fitted(path)
        return self.known[path]

    def tokens(self, prefix: str) -> int:
        """Return the tokens of a prefix, counted once."""
        if prefix not in self._counted:
            self._counted[prefix] = self._tokenizer.count(prefix) - self._tokenizer.added
        return self._counted[prefix]

    def _fitted(self, path: tuple[str, ...]) -> tuple[str, int]:
        """Return a prefix of at most half of the limit: outer headings are dropped first, then words of the title."""
        half, longest = self._half, self._longest
        title = " ".join(self._title[:longest].split())
        headings = path[max(len(path) - self._levels, 0) :]
        too_long = [index for index, name in enumerate(headings, 1) if len(name) > longest]
        headings = headings[max(too_long, default=0) :]  # a heading that is too long is dropped, and those above it
        while len(headings) > 1 and self._counted_prefix(title, headings)[1] > half:
            headings = headings[1:]
        if headings and self._counted_prefix("", headings)[1] > half:
            headings = ()
        low = high = len(title)
        if self._counted_prefix(title, headings)[1] > half:
            low = 0
        while low < high:  # the longest beginning of the title that fits
            middle = (low + high + 1) // 2
            fits = self._counted_prefix(_shortened(title, middle), headings)[1] <= half
            low, high = (middle, high) if fits else (low, middle - 1)
        found = self._counted_prefix(_shortened(title, low), headings)
        return found if found[1] <= half else ("", 0)

    def _counted_prefix(self, title: str, headings: Sequence[str]) -> tuple[str, int]:
        prefix = _written(self._name, title, headings)
        return prefix, self._tokenizer.count(prefix) - self._tokenizer.added if prefix else 0


def _shortened(title: str, length: int) -> str:
    """Shorten a title at a word, or, where words aren't spaced, at a character."""
    if length >= len(title):
        return title
    cut = word_break(title, 0, length) if length else None
    return title[: cut or grapheme_break(title, 0, length) or 0].rstrip() if length else ""


def _written(template: str, title: str, headings: Sequence[str]) -> str:
    if template in {"breadcrumb", "path"}:
        headings = headings if all(headings) else [*filter(None, headings)]
        line = " > ".join(headings)
        if title and (not headings or title != headings[0]):  # a title is often the first heading
            line = f"{title} > {line}" if line else title
        return f"{line}\n" if line else ""
    lines = [f"[PAGE] {title}"] if title else []
    lines += [f"[SECTION] {' > '.join(headings)}"] if headings else []
    return "\n".join([*lines, "[TEXT] "]) if lines else ""
