"""Visible text on one line: up to a limit, white space collapsed, an edge where an element ends."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any, Final

EDGE: Final = "\x1e"
"""Separates two elements of the rendered page: a text to search for may not cross it."""

_INLINE: Final = frozenset({"Emphasis", "Strong", "Strikethrough", "Link"})
_TEXT: Final = r"[^\\`*_\[\]<>&|~!\n]"
_CODE: Final = r"(?<!`)`[^`\s](?:[^`\n]*[^`\s])?`(?!`)"
_LINK: Final = rf"\[(?:(?!\^){_TEXT})*\]\([^()\\<>&\s]*\)"
_LINE: Final = rf"(?=[^\W\d_]|`|\[)(?>(?:{_TEXT}++|{_CODE}|{_LINK})*)"
_PLAIN: Final = re.compile(rf"(?>{_LINE}(?:(?<! )\n{_LINE})*)")
"""Lines of one paragraph that all Markdown parsers read alike: plain text, code and links, and no hard break."""
_MARKS: Final = re.compile(r"`([^`]+)`|\[([^\[\]]*)\]\([^()]*\)")


def collapsed(text: str, limit: int) -> str:
    """Collapse white space, and return the first `limit` characters; edges stay, one between two runs of text."""
    _check_limit(limit)
    visible = _joined(text[: limit * 2])  # mostly that is enough
    if len(visible) < limit and len(text) > limit * 2:
        visible = _joined(text)
    return visible[:limit].rstrip()


def _check_limit(limit: int) -> None:
    if limit < 0:
        raise ValueError("a line has no negative length")


def _joined(text: str) -> str:
    if EDGE not in text:
        return " ".join(text.split())
    return EDGE.join([" ".join(words) for run in text.split(EDGE) if (words := run.split())])


def words_of(events: Iterable[Any], limit: int, described: bool) -> str:
    """Return the first `limit` visible characters of the events of the Markdown parser, with edges between elements.

    The description of a picture is not visible; it is included only if `described` is set.
    """
    _check_limit(limit)
    if limit == 0:
        return ""
    found: list[str] = []
    value: Any
    pictures, missing = 0, limit  # at least as many characters are still missing
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
        elif name != "InlineHtml" or value.startswith("<br"):  # <br> ends a line of a cell
            found.append(" " if name == "SoftBreak" else EDGE)
    return collapsed("".join(found), limit)


def plain_words(text: str, limit: int) -> str | None:
    """Return the first visible characters of Markdown that is so plain that no parser is needed, else None.

    Either all of the text must be plain, or its first `limit` visible characters.
    """
    _check_limit(limit)
    plain = _PLAIN.match(text, 0, min(limit * 4, len(text)))
    if plain is None:
        return None
    source = plain[0]
    visible = collapsed(_MARKS.sub(_unmarked, source) if "`" in source or "[" in source else source, limit + 1)
    return visible[:limit].rstrip() if plain.end() == len(text) or len(visible) > limit else None


def _unmarked(mark: re.Match[str]) -> str:
    return mark[1] or mark[2] or ""
