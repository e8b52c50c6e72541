"""The PPTX reader: a page a slide, with its title as heading, what stands on it in reading order, and its notes.

`slide` walks over the shapes, `text` through their paragraphs; `masters` knows what a placeholder takes from its
layout, and `order` the order in which people read.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from spanwise.documents.document import LeftOut
from spanwise.readers.builder import ReadResult
from spanwise.readers.markup.elements import Element
from spanwise.readers.markup.writer import paged_result
from spanwise.readers.ooxml.names import A, P, R, child, words_of
from spanwise.readers.ooxml.package import Package, left_out
from spanwise.readers.pptx.masters import Master
from spanwise.readers.pptx.slide import Slide, is_hidden

_USUAL: Final = "ppt/presentation.xml"


def read_pptx(data: bytes, name: str) -> ReadResult:
    """Read a presentation."""
    reader = _Reader(Package(data, name, _USUAL))
    pages = [reader.page(part, number) for number, part in enumerate(reader.parts(), 1)]
    found = reader.package.metadata()
    if "title" not in found and reader.title:
        found["title"] = reader.title
    return paged_result(pages, found, [*reader.left_out, *reader.package.macros()], apart=True)


class _Reader:
    """What the slides of a presentation share."""

    def __init__(self, package: Package) -> None:
        self.package = package
        self.left_out: list[LeftOut] = []
        self.title = ""
        self._root = package.xml(package.main)
        self._defaults = child(self._root, f"{P}defaultTextStyle")
        self._masters: dict[str, Master] = {}
        self._drawn: set[str] = set()

    def parts(self) -> Iterator[str]:
        """Yield the names of the slides in the order of the presentation; "" for one that is missing."""
        seen: set[str] = set()
        for one in self._root.iterfind(f"{P}sldIdLst/{P}sldId"):
            relation = self.package.target(self.package.main, one.get(f"{R}id"))
            part = relation.target if relation and relation.target in self.package.container else ""
            yield "" if part in seen else part
            seen.add(part)

    def page(self, part: str, number: int) -> list[Element]:
        """Return the elements of a slide, its notes last; of a hidden one none."""
        root = self.package.xml(part) if part else None
        if root is None:
            return []
        self._leave_comments(part, number)
        if is_hidden(root):
            self.left_out.append(left_out("hidden slide", words_of(root, f"{A}t"), {"slide": number}))
            return []
        slide = self._slide(part, number, "slideLayout")
        elements = slide.elements(root)
        self.title = self.title or slide.title
        self.left_out += slide.left_out
        for notes in self.package.related(part, "notesSlide")[:1]:
            elements += self._slide(notes, number, "notesMaster").notes(self.package.xml(notes))
        return elements

    def _slide(self, part: str, number: int, kind: str) -> Slide:
        layout = self.package.one(part, kind)
        if layout not in self._masters:
            self._masters[layout] = Master(self.package, layout, self._defaults)
        return Slide(self.package, part, number, self._masters[layout], self._drawn)

    def _leave_comments(self, part: str, number: int) -> None:
        """Report the comments on a slide, each by itself; those of newer versions are in a format of their own."""
        for comments in self.package.related(part, "comments"):
            root = self.package.xml(comments)
            for comment in root:
                text = words_of(comment, f"{P}text") or words_of(comment, f"{A}t")
                self.left_out.append(left_out("comment", text, {"slide": number}))
