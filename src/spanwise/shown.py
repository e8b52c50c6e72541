"""Text as a page shows it: without the marks of Markdown or HTML, with its edges marked."""

from __future__ import annotations

import html
import re
from collections.abc import Collection, Iterator
from functools import cache
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    import pyromark

EDGE: Final = "\x1e"
"""Stands where one element of the page ends and the next begins: nothing that is searched for may cross it."""
BLOCK_TAG: Final = re.compile(
    r"</?(?:p|div|li|ul|ol|tr|td|th|table|h[1-6]|br|figure|figcaption|pre|blockquote|section|article|dt|dd)\b[^<>]*>",
    re.IGNORECASE,
)
_INLINE: Final = ("Emphasis", "Strong", "Strikethrough", "Link")
_FOOTNOTE: Final = re.compile(r"\[\^[^\]\s]+\]:?")
_ANCHOR: Final = re.compile(r"^([ \t]{0,3}#{1,6}[ \t].*?)[ \t]*\{#[^{}`\n]*\}[ \t]*$", re.MULTILINE)
_TAG: Final = re.compile(r"<!--.*?-->|<[^<>]*>", re.DOTALL)
_FENCE: Final = re.compile(r"[ \t]*(?:`{3,}|~{3,})[^\n]*(?:\n|\Z)", re.MULTILINE)
_WORDS: Final = r"[^\\`*_\[\]<>&|~!\n]"
_CODE: Final = r"(?<!`)`[^`\s](?:[^`\n]*[^`\s])?`(?!`)"
_LINK: Final = rf"\[(?:(?!\^){_WORDS})*\]\([^()\\<>&\s]*\)"
_PLAIN: Final = re.compile(rf"(?:(?:\A|(?<! )\n)(?=[^\W\d_]|`|\[)(?:{_WORDS}++|{_CODE}|{_LINK})*+)++")
"""Lines of one paragraph that any reader of Markdown takes alike: words, code and links, and no hard break."""
_MARKS: Final = re.compile(r"`([^`]+)`|\[([^\[\]]*)\]\([^()]*\)")
_CODE_SPAN: Final = re.compile(r"(`+[^`]*`+|`)")
_HIGHLIGHT: Final = re.compile(r"==(?=\S)([^=\n]+)(?<=\S)==")
_NOTE_COMMENT: Final = re.compile(r"%%[^%]*%%")
_TRAILING_ID: Final = re.compile(r"\^(?<=[ \t]\^)[A-Za-z0-9-]+[ \t]*$", re.MULTILINE)
BOX: Final = re.compile(r"[ \t]*(?:>[ \t]*)+\[!\w[\w -]*\][+-]?[ \t]*")
"""What begins a box, such as `> [!tip]`: a page shows a sign or nothing in its place."""
_BAR: Final = re.compile(r"(?<!\\)\|")


def shown_markdown(text: str, limit: int, labels: Collection[str]) -> str:
    """Give the first `limit` characters that a page shows of Markdown; `labels` are those that links may refer to."""
    if text.startswith((">", " ")) and (mark := BOX.match(text)):
        text = "> " + text[mark.end() :]
    if "==" in text or "%%" in text or "^" in text:
        text = without_note_marks(text[: limit * 8 + 400])
    if plain := _PLAIN.match(text, 0, limit * 4):
        words = plain[0].replace("\n", " ")
        marked = "`" in words or "[" in words
        shown = _collapsed(_MARKS.sub(_unmarked, words) if marked else words, limit + 1)
        if plain.end() == len(text) or len(shown) > limit:
            return shown[:limit].rstrip()
    piece = text[: limit * 8 + 400]
    piece = _FOOTNOTE.sub("", piece) if "[^" in piece else piece
    piece = _ANCHOR.sub(r"\1", piece) if "{#" in piece else piece
    shown = _collapsed("".join(_words(piece, limit, labels)), limit)
    if shown or "![" not in piece:
        return shown
    return _collapsed("".join(_words(piece, limit, labels, described=True)), limit)  # pictures alone


def _words(text: str, limit: int, labels: Collection[str], described: bool = False) -> Iterator[str]:
    """Give the words of Markdown, and an edge between elements, until there are enough.

    What describes a picture is not shown; it counts only if it is asked for.
    """
    import pyromark

    def target(link: Any) -> tuple[str, str] | None:
        return ("#", "") if link["reference"].casefold() in labels else None

    event: Any
    visible = pictures = 0
    for event in pyromark.events(text, options=_options(), broken_link_callback=target if labels else None):
        if event.__class__ is str:
            yield " " if event == "SoftBreak" else EDGE
        elif _is_picture(event):
            pictures += 1 if "Start" in event else -1
        elif word := event.get("Text") or event.get("Code"):
            if pictures and not described:
                continue
            yield word
            visible += len("".join(word.split()))
            if visible > limit:
                return
        elif (event.get("Start") or event.get("End")) not in _INLINE and not _is_inline(event):
            yield EDGE


def without_note_marks(text: str) -> str:
    """Take away what a page of notes doesn't show: marks of highlights, comments, block ids; code keeps them."""
    if "`" in text:
        stretches = _CODE_SPAN.split(text)
        stretches[::2] = [without_note_marks(words) for words in stretches[::2]]
        return "".join(stretches)
    text = _NOTE_COMMENT.sub("", text) if "%%" in text else text
    text = _HIGHLIGHT.sub(r"\1", text) if "==" in text else text
    return _TRAILING_ID.sub("", text) if "^" in text else text


def _unmarked(mark: re.Match[str]) -> str:
    return mark[1] or mark[2] or ""


@cache
def _options() -> pyromark.Options:
    import pyromark

    flags = pyromark.Options
    return flags.ENABLE_TABLES | flags.ENABLE_STRIKETHROUGH | flags.ENABLE_TASKLISTS | flags.ENABLE_WIKILINKS


def shown_table(text: str, limit: int, labels: Collection[str]) -> str:
    """Give what a page shows of rows that have no head."""
    return shown_markdown(_BAR.sub("\n\n", text[: limit * 8 + 400]), limit, labels)


def shown_code(text: str, limit: int) -> str:
    """Give what a page shows of code: everything but the fences."""
    piece = text[: limit * 8 + 400]
    opening = _FENCE.match(piece)
    body = piece[opening.end() :] if opening else piece
    lines = body.splitlines()
    return shown_plain("\n".join(lines[:-1] if lines and _FENCE.match(lines[-1]) else lines), limit)


def shown_html(text: str, limit: int) -> str:
    """Give what a page shows of HTML: the text between the tags."""
    piece = BLOCK_TAG.sub(EDGE, text[: limit * 8 + 4000])
    return _collapsed(html.unescape(_TAG.sub("", piece.replace("\n", " "))), limit)


def shown_plain(text: str, limit: int) -> str:
    """Give the first characters of a text in which a line is a line."""
    return _collapsed(text[: limit * 8 + 400].replace("\n", EDGE), limit)


def _collapsed(text: str, limit: int) -> str:
    """Collapse white space; edges stay, one between two stretches."""
    stretches = (" ".join(stretch.split()) for stretch in text.split(EDGE))
    return EDGE.join(filter(None, stretches))[:limit].rstrip()


def _is_picture(event: Any) -> bool:
    tag = event.get("Start") or event.get("End")
    return tag == "Image" or (tag.__class__ is dict and "Image" in tag)


def _is_inline(event: Any) -> bool:
    tag = event.get("Start") or event.get("End")
    if "InlineHtml" in event:
        return not event["InlineHtml"].startswith("<br")  # in a cell it is the end of a line
    return tag.__class__ is dict and "Link" in tag
