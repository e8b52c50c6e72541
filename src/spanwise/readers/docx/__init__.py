"""The DOCX reader: Word's documents, macros and templates to Markdown with a source reference for every paragraph.

`walk` goes through the body once, `content` through each paragraph; `styles` and `numbering` say what a paragraph is,
`drafts` puts neighbours together as lists and code, `tables`, `drawings`, `notes` and `fields` do what they are named
after.
"""

from __future__ import annotations

from typing import Any, Final

from spanwise.readers.builder import ReadResult
from spanwise.readers.docx.notes import Notes, with_label
from spanwise.readers.docx.numbering import Numbering
from spanwise.readers.docx.styles import Styles
from spanwise.readers.docx.walk import Shared, Walk
from spanwise.readers.markup.elements import Element, Heading
from spanwise.readers.markup.writer import paged_result, read_result
from spanwise.readers.ooxml.drafts import PagedElement
from spanwise.readers.ooxml.names import W, words_of
from spanwise.readers.ooxml.package import Package, left_out

_USUAL: Final = "word/document.xml"
_FURNITURE: Final = {"header": "page header", "footer": "page footer"}


def read_docx(data: bytes, name: str, *, keep_all: bool = False) -> ReadResult:
    """Read a document; with `keep_all` also its tables of contents."""
    elements, shared = elements_of(data, name, keep_all=keep_all)
    found = shared.package.metadata()
    if shared.title:
        found["title"] = shared.title
    if "title" not in found:
        titles = (one.element.prose.visible for one in elements if isinstance(one.element, Heading))
        if title := next(titles, ""):
            found["title"] = title
    last = elements[-1].page if elements else 1
    if last == 1:
        return read_result([one.element for one in elements], found, shared.left_out)
    pages: list[list[Element]] = [[] for _ in range(last)]
    for page, element in elements:
        pages[page - 1].append(element)
    return paged_result(pages, found, shared.left_out)


def elements_of(data: bytes, name: str, *, keep_all: bool, imports: int = 0) -> tuple[list[PagedElement], Shared]:
    """Return the elements of a document with their pages, and what was found beside them."""
    package = Package(data, name, _USUAL)
    main = package.main
    styles = Styles(_related(package, "styles"))
    numbering = Numbering(_related(package, "numbering"), styles)
    shared = Shared(package, styles, numbering, Notes(package), keep_all, imports)
    root = package.xml(main)
    walk = Walk(shared, main, root)
    elements = _in_order(walk.flow(root))
    elements += _notes(shared, elements[-1].page if elements else 1)
    shared.left_out += _furniture(package)
    shared.left_out += _comments(package)
    shared.left_out += package.macros()
    return elements, shared


def _related(package: Package, kind: str) -> Any:
    part = package.one(package.main, kind)
    return package.xml(part) if part else None


def _in_order(elements: list[PagedElement]) -> list[PagedElement]:
    """Return the elements with pages that never go back."""
    reached, ordered = 1, list[PagedElement]()
    for one in elements:
        reached = max(reached, one.page)
        ordered.append(one if one.page == reached else one._replace(page=reached))
    return ordered


def _notes(shared: Shared, page: int) -> list[PagedElement]:
    """Return the notes that the text refers to; one may refer to another."""
    walks = {part: Walk(shared, part, root) for part, root in shared.notes.roots.items()}
    found: list[PagedElement] = []
    index = 0
    while index < len(shared.notes.order):
        label, part, note = shared.notes.order[index]
        walk = walks[part]
        content = [one.element for one in walk.flow(note)]
        found += (PagedElement(page, one) for one in with_label(content, label, walk.reference(note)))
        index += 1
    return found


def _furniture(package: Package) -> list[Any]:
    """Return the headers and footers of pages."""
    return [
        left_out(reason, text, {"part": part})
        for kind, reason in _FURNITURE.items()
        for part in package.related(package.main, kind)
        if (root := package.xml(part)) is not None and (text := words_of(root, f"{W}t"))
    ]


def _comments(package: Package) -> list[Any]:
    """Return the comments, each by itself."""
    found = []
    for part in package.related(package.main, "comments"):
        root = package.xml(part)
        numbers = {paragraph: index for index, paragraph in enumerate(root.iter(f"{W}p"), 1)}
        for comment in root.iterchildren(f"{W}comment"):
            first = next(comment.iter(f"{W}p"), None)
            number = {} if first is None else {"paragraph": numbers[first]}
            found.append(left_out("comment", words_of(comment, f"{W}t"), {"part": part, **number}))
    return found
