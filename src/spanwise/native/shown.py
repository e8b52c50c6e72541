"""What a page shows, on one line: no more than is wanted, white space collapsed, an edge where an element ends."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any, Final

EDGE: Final = "\x1e"
"""Stands where one element of the page ends and the next begins: nothing that is searched for may cross it."""

_INLINE: Final = frozenset({"Emphasis", "Strong", "Strikethrough", "Link"})
_WORDS: Final = r"[^\\`*_\[\]<>&|~!\n]"
_CODE: Final = r"(?<!`)`[^`\s](?:[^`\n]*[^`\s])?`(?!`)"
_LINK: Final = rf"\[(?:(?!\^){_WORDS})*\]\([^()\\<>&\s]*\)"
_PLAIN: Final = re.compile(rf"(?:(?:\A|(?<! )\n)(?=[^\W\d_]|`|\[)(?:{_WORDS}++|{_CODE}|{_LINK})*+)++")
"""Lines of one paragraph that any reader of Markdown takes alike: words, code and links, and no hard break."""
_MARKS: Final = re.compile(r"`([^`]+)`|\[([^\[\]]*)\]\([^()]*\)")


def collapsed(text: str, limit: int) -> str:
    """Collapse white space, and give the first `limit` characters; edges stay, one between two stretches."""
    shown = _joined(text[: limit * 2])  # mostly that is enough
    if len(shown) < limit and len(text) > limit * 2:
        shown = _joined(text)
    return shown[:limit].rstrip()


def _joined(text: str) -> str:
    if EDGE not in text:
        return " ".join(text.split())
    return EDGE.join([" ".join(words) for stretch in text.split(EDGE) if (words := stretch.split())])


def words_of(events: Iterable[Any], limit: int, described: bool) -> str:
    """Give the words in the events of the Markdown parser, with an edge between elements, until there are enough.

    What describes a picture is not shown; it counts only if it is asked for.
    """
    found: list[str] = []
    value: Any
    pictures, missing = 0, limit  # at least as many characters are still wanted
    for event in events:
        name, value = (event, None) if event.__class__ is str else next(iter(event.items()))
        if name == "Start" or name == "End":
            tag = value if value.__class__ is str else next(iter(value))
            if tag == "Image":
                pictures += 1 if name == "Start" else -1
            elif tag not in _INLINE:
                found.append(EDGE)
        elif value and (name == "Text" or name == "Code"):
            if pictures and not described:
                continue
            found.append(value)
            missing -= len(value)
            if missing <= 0 and (missing := limit - len(_joined("".join(found)))) <= 0:
                break
        elif name != "InlineHtml" or value.startswith("<br"):  # in a cell it is the end of a line
            found.append(" " if name == "SoftBreak" else EDGE)
    return collapsed("".join(found), limit)


def plain_words(text: str, limit: int) -> str | None:
    """Give the first words of Markdown as `collapsed` does, if they are so plain that no parser is needed; else None.

    That is so where either all of the text is plain, or enough of it.
    """
    plain = _PLAIN.match(text, 0, limit * 4)
    if plain is None:
        return None
    words = plain[0]
    shown = collapsed(_MARKS.sub(_unmarked, words) if "`" in words or "[" in words else words, limit + 1)
    return shown[:limit].rstrip() if plain.end() == len(text) or len(shown) > limit else None


def _unmarked(mark: re.Match[str]) -> str:
    return mark[1] or mark[2] or ""
