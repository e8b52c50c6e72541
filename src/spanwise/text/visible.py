"""Visible text: what a rendered page shows of Markdown, HTML, code or plain text, with edges between elements."""

from __future__ import annotations

import html
import re
from collections.abc import Collection
from functools import cache
from typing import TYPE_CHECKING, Any, Final

from spanwise.native import EDGE, collapsed, plain_words, words_of

if TYPE_CHECKING:
    import pyromark

BLOCK_TAG: Final = re.compile(
    r"</?(?:p|div|li|ul|ol|tr|td|th|table|h[1-6]|br|figure|figcaption|pre|blockquote|section|article|dt|dd)\b[^<>]*>",
    re.IGNORECASE,
)
_FOOTNOTE: Final = re.compile(r"\[\^[^\]\s]+\]:?")
_ANCHOR: Final = re.compile(r"^([ \t]{0,3}#{1,6}[ \t].*?)[ \t]*\{#[^{}`\n]*\}[ \t]*$", re.MULTILINE)
_TAG: Final = re.compile(r"<!--.*?-->|<[^<>]*>", re.DOTALL)
_FENCE: Final = re.compile(r"[ \t]*(?:`{3,}|~{3,})[^\n]*(?:\n|\Z)", re.MULTILINE)
_CODE_SPAN: Final = re.compile(r"(`+[^`]*`+|`)")
_HIGHLIGHT: Final = re.compile(r"==(?=\S)([^=\n]+)(?<=\S)==")
_NOTE_COMMENT: Final = re.compile(r"%%[^%]*%%")
_TRAILING_ID: Final = re.compile(r"\^(?<=[ \t]\^)[A-Za-z0-9-]+[ \t]*$", re.MULTILINE)
BOX: Final = re.compile(r"[ \t]*(?:>[ \t]*)+\[!\w[\w -]*\][+-]?[ \t]*")
"""The start of a box, such as `> [!tip]`: a rendered page shows an icon or nothing instead."""
_BAR: Final = re.compile(r"(?<!\\)\|")


def visible_markdown(text: str, limit: int, labels: Collection[str]) -> str:
    """Return the first `limit` visible characters of Markdown; `labels` are those of link reference definitions."""
    if text.startswith((">", " ")) and (mark := BOX.match(text)):
        text = "> " + text[mark.end() :]
    piece = text[: limit * 8 + 400]
    if "==" in piece or "%%" in piece or "^" in piece:
        piece = without_note_marks(piece)
    if (visible := plain_words(piece, limit)) is not None:
        return visible
    piece = _FOOTNOTE.sub("", piece) if "[^" in piece else piece
    piece = _ANCHOR.sub(r"\1", piece) if "{#" in piece else piece
    visible = _parsed(piece, limit, labels, described=False)
    if visible or "![" not in piece:
        return visible
    return _parsed(piece, limit, labels, described=True)  # nothing but pictures


def _parsed(text: str, limit: int, labels: Collection[str], *, described: bool) -> str:
    """Return the first visible characters of Markdown by parsing it; `described` adds the descriptions of pictures."""
    import pyromark

    def target(link: Any) -> tuple[str, str] | None:
        return ("#", "") if link["reference"].casefold() in labels else None

    events = pyromark.events(text, options=markdown_options(), broken_link_callback=target if labels else None)
    return words_of(events, limit, described)


def without_note_marks(text: str) -> str:
    """Remove what a rendered note doesn't show: marks of highlights, comments, block ids; code keeps them."""
    if "`" in text:
        pieces = _CODE_SPAN.split(text)
        pieces[::2] = [without_note_marks(piece) for piece in pieces[::2]]
        return "".join(pieces)
    text = _NOTE_COMMENT.sub("", text) if "%%" in text else text
    text = _HIGHLIGHT.sub(r"\1", text) if "==" in text else text
    return _TRAILING_ID.sub("", text) if "^" in text else text


@cache
def markdown_options() -> pyromark.Options:
    """Return the parser's options for everything that a rendered page shows in another way than plain text."""
    import pyromark

    flags = pyromark.Options
    return flags.ENABLE_TABLES | flags.ENABLE_STRIKETHROUGH | flags.ENABLE_TASKLISTS | flags.ENABLE_WIKILINKS


def visible_table(text: str, limit: int, labels: Collection[str]) -> str:
    """Return the visible text of table rows without a head."""
    return visible_markdown(_BAR.sub("\n\n", text[: limit * 8 + 400]), limit, labels)


def visible_code(text: str, limit: int) -> str:
    """Return the visible text of code: everything but the fences."""
    piece = text[: limit * 8 + 400]
    opening = _FENCE.match(piece)
    body = piece[opening.end() :] if opening else piece
    lines = body.splitlines()
    return visible_plain("\n".join(lines[:-1] if lines and _FENCE.match(lines[-1]) else lines), limit)


def visible_html(text: str, limit: int) -> str:
    """Return the visible text of HTML: the text between the tags."""
    piece = BLOCK_TAG.sub(EDGE, text[: limit * 8 + 4000])
    return collapsed(html.unescape(_TAG.sub("", piece.replace("\n", " "))), limit)


def visible_plain(text: str, limit: int) -> str:
    """Return the first characters of a text that is rendered line by line."""
    return collapsed(text[: limit * 8 + 400].replace("\n", EDGE), limit)
