"""The reader of text that is already divided into pages."""

from __future__ import annotations

from collections.abc import Iterable

from spanwise.documents.document import LeftOut, Link, Page
from spanwise.errors import OptionError, UnreadableError
from spanwise.readers.builder import Builder, ReadResult
from spanwise.readers.encodings import cleaned
from spanwise.readers.markdown.notes import annotated
from spanwise.readers.markdown.reader import Extras, add_markdown, found_in
from spanwise.readers.plain import add_plain

_BETWEEN = "\n\n"


def read_paged(pages: Iterable[str], format: str) -> ReadResult:
    """Join pages with an empty line and read each on its own, so that no block crosses a page."""
    if isinstance(pages, str) or not isinstance(pages, Iterable):
        raise OptionError("pages", "must be a list of strings, one a page", value=pages, hint="try [text]")
    if format not in ("text", "markdown"):
        raise OptionError("format", "of pages must be `text` or `markdown`", value=format)
    texts, prose = list[str](), list[str]()  # original, and with code blanked
    found_pages: list[Page] = []
    links: list[Link] = []
    link_starts: list[int] = []
    left_out: list[LeftOut] = []
    builder = Builder("")
    start = 0
    for number, raw in enumerate(pages, 1):
        if not isinstance(raw, str):
            raise UnreadableError(f"page {number}", "must be a string", value=raw)
        text, replaced = cleaned(raw, start)
        left_out += replaced
        builder.begin_page(number, text, start)
        page_prose = text
        if format == "text":
            add_plain(builder, text)
        else:
            extras = add_markdown(builder, text, at_start=number == 1)
            links += extras.links
            link_starts += [start + position for position in extras.link_starts]
            page_prose = extras.prose
        texts.append(text)
        prose.append(page_prose)
        found_pages.append(Page(number, start, start + len(text)))
        start += len(text) + len(_BETWEEN)
    joined = _BETWEEN.join(texts)
    extras = Extras(links, link_starts, _BETWEEN.join(prose), True)
    blocks = annotated(extras.prose, builder.blocks) if format == "markdown" else builder.blocks
    found = found_in(joined, blocks, extras) if format == "markdown" else {}
    return ReadResult(joined, tuple(blocks), found, tuple(found_pages), tuple(left_out), tuple(link_starts))
