"""Text that comes already in pages."""

from __future__ import annotations

from collections.abc import Iterable

from spanwise.documents import LeftOut, Link, Page
from spanwise.errors import OptionError, UnreadableError
from spanwise.readers.blocks import Builder, Reading
from spanwise.readers.characters import cleaned
from spanwise.readers.markdown import add_markdown, found_in
from spanwise.readers.plain import add_plain

_BETWEEN = "\n\n"


def read_paged(pages: Iterable[str], form: str) -> Reading:
    """Join pages with an empty line and read each for itself, so that no block crosses a page."""
    if isinstance(pages, str) or not isinstance(pages, Iterable):
        raise OptionError("pages", "must be a list of strings, one a page", value=pages, hint="try [text]")
    if form not in ("text", "markdown"):
        raise OptionError("format", "of pages must be `text` or `markdown`", value=form)
    texts: list[str] = []
    found_pages: list[Page] = []
    links: list[Link] = []
    left_out: list[LeftOut] = []
    builder = Builder("")
    start = 0
    for number, raw in enumerate(pages, 1):
        if not isinstance(raw, str):
            raise UnreadableError(f"page {number}", "must be a string", value=raw)
        text, replaced = cleaned(raw, start)
        left_out += replaced
        builder.begin_page(number, text, start)
        if form == "text":
            add_plain(builder, text)
        else:
            links += add_markdown(builder, text, opens=number == 1)
        texts.append(text)
        found_pages.append(Page(number, start, start + len(text)))
        start += len(text) + len(_BETWEEN)
    joined = _BETWEEN.join(texts)
    found = found_in(joined, builder.blocks, links) if form == "markdown" else {}
    return Reading(joined, tuple(builder.blocks), found, tuple(found_pages), tuple(left_out))
