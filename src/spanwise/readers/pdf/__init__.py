"""PDF: pages of positioned characters to Markdown text with headings, lists, tables, code and figures.

PDFium returns the characters in the order in which the file writes them, and that order is kept. The rest is derived
here: `words` and `drawings` read what is on a page, `page_contents` finds its lines, tables and pictures, `layout`
groups lines into elements, `furniture` and `headings` look at all pages at once, `writer` writes the text.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any, Final

from spanwise.documents.document import LeftOut, Link, Page
from spanwise.errors import UnreadableError
from spanwise.readers.builder import Builder, ReadResult
from spanwise.readers.pdf.figures import save_figures, with_captions
from spanwise.readers.pdf.furniture import furniture_of, repeated_pictures
from spanwise.readers.pdf.geometry import Box
from spanwise.readers.pdf.headings import Entry, set_headings
from spanwise.readers.pdf.hyphens import Vocabulary
from spanwise.readers.pdf.layout import Element, Habits, elements_of
from spanwise.readers.pdf.metadata import metadata_of, outline_of
from spanwise.readers.pdf.page_contents import Contents, contents_of, empty_contents
from spanwise.readers.pdf.pdfium import SAVE_AGAIN, opened
from spanwise.readers.pdf.tables import Table
from spanwise.readers.pdf.writer import MarkdownWriter, WrittenBlock

if TYPE_CHECKING:
    import pypdfium2

_BETWEEN: Final = "\n\n"


def read_pdf(
    data: bytes, name: str, password: str | None = None, figures: str | os.PathLike[str] | None = None
) -> ReadResult:
    """Read a PDF file; write its figures to the folder `figures` if one is given."""
    with opened(data, name, password) as document:
        pages, broken = _pages(document)
        metadata, outline = metadata_of(document), outline_of(document)
        result = _read(name, pages, broken, metadata, outline, _figure_prefix(data, name, figures))
        if figures is not None:
            save_figures(document, result.blocks, Path(figures))
    return result


def _figure_prefix(data: bytes, name: str, folder: str | os.PathLike[str] | None) -> str:
    """Return the start of all figure names; in a folder, a hash keeps those of two files with one name apart."""
    stem = "figure" if name == "-" else PurePosixPath(name).stem
    if folder is None:
        return stem
    return f"{Path(folder).as_posix()}/{stem}-{hashlib.sha256(data).hexdigest()[:8]}"


def _read(
    name: str,
    pages: list[Contents],
    broken: list[LeftOut],
    metadata: dict[str, Any],
    outline: list[Entry],
    figure_prefix: str,
) -> ReadResult:
    if not any(page.lines or any(isinstance(item, Table) for item in page.items) for page in pages):
        raise _no_text_error(name, pages, broken)
    habits = Habits(pages)
    furniture, repeated = furniture_of(pages, habits.size), repeated_pictures(pages)
    skipped = {id(item.line) for item in furniture} | {id(picture) for _, picture in repeated}
    elements = [with_captions(elements_of(page, skipped, habits)) for page in pages]
    set_headings(elements, habits, outline)
    written = _write_pages(pages, elements, figure_prefix)
    left_out = [
        *(_left_out(pages[item.page - 1], item.line.box, item.reason, item.line.text) for item in furniture),
        *broken,
        *_pages_without_text(pages),
        *_hidden_text(pages),
        *(_left_out(page, picture.box, "picture on many pages") for page, picture in repeated),
    ]
    return _joined(written, [page.links for page in pages], metadata, tuple(left_out))


def _pages(document: pypdfium2.PdfDocument) -> tuple[list[Contents], list[LeftOut]]:
    """Read all pages; one that can't be read is empty and reported as left out."""
    import pypdfium2

    pages: list[Contents] = []
    broken: list[LeftOut] = []
    for index in range(len(document)):
        try:
            page = document[index]
        except pypdfium2.PdfiumError:
            broken.append(LeftOut(f"page {index + 1} is damaged and can't be read", "", {"page": index + 1}))
            pages.append(empty_contents(index + 1))
            continue
        with closing(page):
            pages.append(contents_of(document, page, index + 1))
    return pages, broken


def _no_text_error(name: str, pages: Sequence[Contents], broken: Sequence[LeftOut]) -> UnreadableError:
    if broken and len(broken) == len(pages):
        return UnreadableError(name, "is damaged: none of its pages can be read", hint=SAVE_AGAIN)
    pictured = sum(page.pictured or bool(page.items) for page in pages)
    if pictured:
        which = (
            "its only page is a picture" if len(pages) == 1 else f"{pictured} of its {len(pages)} pages are pictures"
        )
        rule = f"has no text: {which}, as of a scan"
        return UnreadableError(name, rule, hint="recognise the text first, for example with ocrmypdf")
    empty = "its only page is empty" if len(pages) == 1 else f"its {len(pages)} pages are empty"
    return UnreadableError(name, f"has no text: {empty}", hint="leave it out")


def _write_pages(
    pages: Sequence[Contents], elements: Sequence[Sequence[Element]], figure_prefix: str
) -> list[tuple[int, list[WrittenBlock]]]:
    vocabulary = Vocabulary()
    for page in pages:
        vocabulary.learn(page.lines)
    vocabulary.decide()
    done = []
    last: Table | None = None
    for page, page_elements in zip(pages, elements, strict=True):
        writer = MarkdownWriter(
            page.number, page.frame, vocabulary, lambda number, count: f"{figure_prefix}-p{number}-{count}.png"
        )
        first = page_elements[0].table if page_elements else None
        headless = first is not None and last is not None and _continues(last, first)
        done.append((page.number, list(writer.blocks(page_elements, headless=headless))))
        last = page_elements[-1].table if page_elements else None
    return done


def _continues(before: Table, table: Table) -> bool:
    """Whether a table continues the one at the end of the page before, without repeating its header."""
    if len(before.rows[0]) != len(table.rows[0]) or table.rows[0] == before.rows[0] or table.headed:
        return False
    return len(before.columns) == len(table.columns) and all(
        abs(one - other) < 6 for one, other in zip(before.columns, table.columns, strict=True)
    )


def _left_out(page: Contents, box: Box, reason: str, text: str = "") -> LeftOut:
    reference = {"page": page.number, "bbox": [round(value, 1) for value in page.frame.from_upright(box)]}
    return LeftOut(reason, text, reference, usual=True)


def _pages_without_text(pages: Sequence[Contents]) -> list[LeftOut]:
    """Return the pages that are pictures without text."""
    return [
        LeftOut(f"page {page.number} is a picture without text, as of a scan", "", {"page": page.number})
        for page in pages
        if not page.lines and not any(isinstance(item, Table) for item in page.items) and (page.pictured or page.items)
    ]


def _hidden_text(pages: Sequence[Contents]) -> list[LeftOut]:
    """Return the text outside the visible area of the pages."""
    return [
        LeftOut("text outside of the page", page.hidden, {"page": page.number}, usual=True)
        for page in pages
        if page.hidden
    ]


def _joined(
    pages: Sequence[tuple[int, list[WrittenBlock]]],
    links: Sequence[Sequence[Link]],
    metadata: dict[str, Any],
    left_out: tuple[LeftOut, ...],
) -> ReadResult:
    """Join the pages into one text with blocks, pages and links."""
    builder = Builder("")
    texts: list[str] = []
    ranges: list[Page] = []
    kept_links: list[Link] = []
    starts: list[int] = []
    start = 0
    for (number, blocks), page_links in zip(pages, links, strict=True):
        text = _BETWEEN.join(block.text for block in blocks)
        builder.begin_page(number, text, start)
        reached = 0
        for block in blocks:
            builder.add(
                block.kind, reached, reached + len(block.text), block.level, block.title, block.parts, block.source_ref
            )
            for offset, link in block.links:
                kept_links.append(page_links[link])
                starts.append(start + reached + offset)
            reached += len(block.text) + len(_BETWEEN)
        builder.finish()
        texts.append(text)
        ranges.append(Page(number, start, start + len(text)))
        start += len(text) + len(_BETWEEN)
    if "title" not in metadata:
        names = (block.headings_path[-1] for block in builder.blocks if block.level and block.headings_path)
        if title := next(names, None):
            metadata["title"] = title
    if kept_links:
        metadata["links"] = tuple(kept_links)
    return ReadResult(_BETWEEN.join(texts), tuple(builder.blocks), metadata, tuple(ranges), left_out, tuple(starts))
