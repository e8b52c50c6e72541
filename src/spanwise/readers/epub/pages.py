"""The pages of a book: XHTML, parsed as the HTML that says the same."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from spanwise.documents.document import LeftOut
from spanwise.readers.container import Container
from spanwise.readers.encodings import cleaned, decoded
from spanwise.readers.html.tree import parsed

if TYPE_CHECKING:
    from selectolax.lexbor import LexborHTMLParser

_CLOSED: Final = re.compile(r"<([A-Za-z][\w:.-]*)((?:\s[^<>]*)?)/>")
_VOID: Final = frozenset({
    "area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "param", "source", "track", "wbr",
})  # fmt: skip


def page_of(book: Container, part: str) -> tuple[LexborHTMLParser, tuple[LeftOut, ...]]:
    """Return the tree of a page, and what was left out in decoding it."""
    text, guessed = decoded(book.read(part), f"{book.name}: {part}")
    clean = cleaned(text)[0]
    html = _CLOSED.sub(_opened_and_closed, clean) if "/>" in clean else clean
    return parsed(html, book.name), guessed


def _opened_and_closed(found: re.Match[str]) -> str:
    """Write an element that closes itself as HTML has it, where only a few of them do."""
    name = found[1]
    return found[0] if name.lower() in _VOID else f"<{name}{found[2]}></{name}>"
