"""Text that comes already in pages."""

from __future__ import annotations

from collections.abc import Iterable

from spanwise.documents import LeftOut, Link, Page, Part
from spanwise.errors import OptionError, UnreadableError
from spanwise.readers.blocks import Reading, Seen, blocks_of
from spanwise.readers.characters import cleaned
from spanwise.readers.markdown import seen_in_markdown
from spanwise.readers.plain import seen_in_plain

_BETWEEN = "\n\n"


def read_paged(pages: Iterable[str], form: str) -> Reading:
    """Join pages with an empty line and read each for itself, so that no block crosses a page."""
    if isinstance(pages, str):
        raise OptionError("pages", "must be a list of strings, one a page", value=pages, hint="try [text]")
    if form not in {"text", "markdown"}:
        raise OptionError("format", "of pages must be `text` or `markdown`", value=form)
    texts: list[str] = []
    seen: list[Seen] = []
    found_pages: list[Page] = []
    links: list[Link] = []
    left_out: list[LeftOut] = []
    start = 0
    for number, raw in enumerate(pages, 1):
        if not isinstance(raw, str):
            raise UnreadableError(f"page {number}", "must be a string", value=raw)
        text, replaced = cleaned(raw)
        left_out += replaced
        page_seen, page_links = (seen_in_plain(text), []) if form == "text" else seen_in_markdown(text)
        seen += [_moved(block, start, number) for block in page_seen]
        links += page_links
        texts.append(text)
        found_pages.append(Page(number, start, start + len(text)))
        start += len(text) + len(_BETWEEN)
    found = {"links": tuple(links)} if links else {}
    return Reading(_BETWEEN.join(texts), blocks_of(seen), found, tuple(found_pages), tuple(left_out))


def _moved(block: Seen, by: int, page: int) -> Seen:
    parts = tuple(_moved_part(part, by) for part in block.parts)
    return block._replace(start=block.start + by, end=block.end + by, parts=parts, page=page)


def _moved_part(part: Part, by: int) -> Part:
    inner = tuple(_moved_part(child, by) for child in part.parts)
    return Part(part.start + by, part.end + by, inner, part.source_ref, part.header)
