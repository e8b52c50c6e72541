"""The reader of EPUB books: chapters in the order of the spine, each read as the page it is."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from spanwise.documents.document import LeftOut, SourceRef
from spanwise.errors import UnreadableError
from spanwise.readers.builder import ReadResult
from spanwise.readers.container import Container
from spanwise.readers.epub.package import package_of
from spanwise.readers.epub.pages import page_of
from spanwise.readers.epub.titles import titles_of
from spanwise.readers.html import elements_of
from spanwise.readers.joining import JoinedResults, Refer
from spanwise.readers.markup.elements import Element, Heading
from spanwise.readers.markup.writer import read_result

_PROTECTED: Final = "it is protected against copying; only the shop's own programs open it"
_NOT_NAMED: Final = frozenset({"style sheet", "script"})


def read_epub(data: bytes, name: str) -> ReadResult:
    """Read a book; raise UnreadableError if it isn't one, is protected, or lacks all of its chapters."""
    book = Container(data, name)
    package = package_of(book)
    if protected := package.chapters_in(package.encrypted):
        raise UnreadableError(name, f"has encrypted chapters: {protected[0]}", hint=_PROTECTED)
    titles, joined = titles_of(book, package), JoinedResults()
    for part in package.spine:
        if part == package.navigation:
            joined.left_out.append(LeftOut("navigation", "the table of contents", {"file": part}, usual=True))
        elif part not in book:
            joined.left_out.append(LeftOut("a chapter that is missing", part, {"file": part}))
        else:
            _add_chapter(joined, book, part, titles)
    return joined.result(package.metadata)


def _add_chapter(joined: JoinedResults, book: Container, part: str, titles: Mapping[str, str]) -> None:
    """Add a chapter; one that begins without a heading has its title in the table of contents as one."""
    page, guessed = page_of(book, part)
    elements, left_out = elements_of(page, keep_all=True)
    refer = _within(part)
    joined.left_out += [item._replace(source_ref={"file": part}) for item in guessed]
    if elements and (title := titles.get(part)) and not _has_title(elements):
        joined.heading(title, {"file": part})
    joined.add(read_result(elements, {}, [item for item in left_out if item.reason not in _NOT_NAMED]), refer)


def _has_title(elements: list[Element]) -> bool:
    """Whether the first heading of a chapter comes before its text."""
    return any(isinstance(element, Heading) for element in elements[:3])


def _within(part: str) -> Refer:
    def refer(reference: SourceRef | None) -> SourceRef:
        known: dict[str, Any] = {"file": part}
        if reference and "xpath" in reference:
            known["xpath"] = reference["xpath"]
        return known

    return refer
