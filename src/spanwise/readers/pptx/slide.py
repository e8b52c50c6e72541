"""The walk over a slide: its title first, then what stands on it in reading order."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Final

from spanwise.documents.document import LeftOut
from spanwise.readers.markup.elements import Cell, Element, Figure, Heading, Paragraph, Reference, Row, Table
from spanwise.readers.markup.inline import Image, Prose
from spanwise.readers.ooxml.charts import chart_elements
from spanwise.readers.ooxml.diagrams import diagram_elements
from spanwise.readers.ooxml.names import ALTERNATES, DGM, A, C, P, R, child, chosen, words_of
from spanwise.readers.ooxml.package import Package, left_out
from spanwise.readers.ooxml.runs import LINE, Run, prose_of
from spanwise.readers.pptx.masters import Bullet, Master, Placeholder, box_of, placeholder
from spanwise.readers.pptx.order import Placed, in_reading_order
from spanwise.readers.pptx.text import runs_of, text_elements

_DEEPEST: Final = 20
_FURNITURE: Final = {"hdr": "page header", "ftr": "page footer", "dt": "page footer", "sldNum": "page footer"}
_SHAPES: Final = frozenset({f"{P}sp", f"{P}pic", f"{P}graphicFrame", f"{P}grpSp", f"{P}cxnSp"})
_WIDEST: Final = 1000
_ON: Final = frozenset({"1", "true", "on"})


class Slide:
    """A walk over the shapes of a slide, or of its notes."""

    def __init__(self, package: Package, part: str, page: int, master: Master, drawn: set[str]) -> None:
        """Create a walk; `drawn` has the charts and diagrams that were read already."""
        self._package, self._part, self._page, self._master, self._drawn = package, part, page, master, drawn
        self._is_notes = False
        self.left_out: list[LeftOut] = []
        self.title = ""

    def elements(self, root: Any) -> list[Element]:
        """Return the elements of a slide, its title first."""
        shapes = list(self._placed(_tree(root)))
        titles = [one for one in shapes if self._is_title(one.shape)][:1]
        others = [one for one in shapes if one not in titles]
        found = [element for one in titles for element in self._title(one)]
        return found + self._read(others, None, 0)

    def notes(self, root: Any) -> list[Element]:
        """Return the text of the notes of a slide, without the picture of the slide and what all pages repeat."""
        self._is_notes = True
        shapes = [one for one in self._placed(_tree(root)) if _kind(one.shape) in {"body", None}]
        return self._read([one for one in shapes if child(one.shape, f"{P}txBody") is not None], None, 0)

    def _placed(self, tree: Any) -> Iterator[Placed]:
        """Yield the shapes of a tree with their numbers and places."""
        for index, shape in enumerate(_shapes(tree), 1):
            place = placeholder(shape)
            properties = child(shape, f"{P}grpSpPr" if shape.tag == f"{P}grpSp" else f"{P}spPr")
            box = box_of(shape if shape.tag == f"{P}graphicFrame" else properties)
            if box is None and place is not None:
                box = self._master.box(place)
            yield Placed(shape, index, box, place is not None)

    def _is_title(self, shape: Any) -> bool:
        place = placeholder(shape)
        return place is not None and place.is_title and bool(words_of(shape, f"{A}t"))

    def _reference(self, index: int) -> Reference:
        reference = {"slide": self._page, "shape": index}
        return {**reference, "part": self._part} if self._is_notes else reference

    def _address(self, key: str | None) -> str:
        relation = self._package.target(self._part, key)
        return relation.target if relation and relation.is_external else ""

    def _title(self, placed: Placed) -> list[Element]:
        body = child(placed.shape, f"{P}txBody")
        paragraphs = () if body is None else body.iterchildren(f"{A}p")
        runs: list[Run] = []
        for paragraph in paragraphs:
            found = [run._replace(text=run.text.replace(LINE, " ")) for run in runs_of(paragraph, self._address)]
            runs += [Run(" "), *found] if runs else found
        prose = prose_of(runs, marked=False)
        self.title = prose.visible
        return [Heading(1, prose, self._reference(placed.number))] if prose.text else []

    def _read(self, shapes: list[Placed], index: int | None, depth: int) -> list[Element]:
        """Read shapes in reading order; `index` is the number of the group that they are in."""
        found: list[Element] = []
        for one in in_reading_order(shapes):
            reference = self._reference(one.number if index is None else index)
            reason = _FURNITURE.get(_kind(one.shape) or "")
            reason = reason or ("hidden text" if _is_hidden(one.shape) else None)
            if reason:
                if text := words_of(one.shape, f"{A}t"):
                    self.left_out.append(left_out(reason, text, reference))
            elif one.shape.tag == f"{P}grpSp":
                found += self._group(one, reference, depth)
            else:
                found += _READERS[one.shape.tag](self, one.shape, reference)
        return found

    def _group(self, group: Placed, reference: Reference, depth: int) -> list[Element]:
        if depth > _DEEPEST:
            prose = prose_of([Run(words_of(group.shape, f"{A}t"))])
            return [Paragraph(prose, reference)] if prose.text else []
        inner = self._read(list(self._placed(group.shape)), reference["shape"], depth + 1)
        text = _alternative(group.shape)
        return inner or ([Figure((Image("", text),), Prose(), reference)] if text else [])

    def shape(self, shape: Any, reference: Reference) -> list[Element]:
        """Return the text of a shape; of one without text its alternative text."""
        body = child(shape, f"{P}txBody")
        place = placeholder(shape)
        found = [] if body is None else self.text(body, place, reference)
        text = "" if found or place else _alternative(shape)
        return found or ([Figure((Image("", text),), Prose(), reference)] if text else [])

    def text(self, body: Any, place: Placeholder | None, reference: Reference) -> list[Element]:
        """Return the paragraphs and lists of a text."""

        def bullet_of(own: list[Any], level: int) -> Bullet:
            return self._master.bullet(place, own, level)

        return text_elements(body, bullet_of, self._address, reference)

    def picture(self, shape: Any, reference: Reference) -> list[Element]:
        """Return a picture, a film or a sound as a figure."""
        blip = next(shape.iter(f"{A}blip"), None)
        key = None if blip is None else blip.get(f"{R}embed") or blip.get(f"{R}link")
        relation = self._package.target(self._part, key)
        return [Figure((Image(relation.target if relation else "", _alternative(shape)),), Prose(), reference)]

    def frame(self, shape: Any, reference: Reference) -> list[Element]:
        """Return a table, a chart or a diagram; of another frame its picture."""
        data = next(shape.iter(f"{A}graphicData"), None)
        found: list[Element] = []
        waiting = [] if data is None else list(data)[::-1]
        while waiting:
            element = waiting.pop()
            if element.tag == f"{A}tbl":
                found += self._table(element, reference)
            elif element.tag in _REFERRING:
                found += self._referred(element, reference)
            elif element.tag == f"{P}pic":
                found += self.picture(element, reference)
            else:
                if element.tag == f"{P}oleObj":
                    self._leave_object(element, reference)
                inner = [chosen(element)] if element.tag == ALTERNATES else list(element)
                waiting += (one for one in reversed(inner) if one is not None)
        text = "" if found else _alternative(shape)
        return found or ([Figure((Image("", text),), Prose(), reference)] if text else [])

    def _leave_object(self, element: Any, reference: Reference) -> None:
        relation = self._package.target(self._part, element.get(f"{R}id"))
        name = relation.target if relation else element.get("progId", "")
        self.left_out.append(left_out("attachment", name, reference))

    def _referred(self, element: Any, reference: Reference) -> list[Element]:
        key, elements = _REFERRING[element.tag]
        relation = self._package.target(self._part, element.get(key))
        if relation is None or relation.is_external or relation.target in self._drawn:
            return []
        self._drawn.add(relation.target)
        root = self._package.xml(relation.target)
        return [] if root is None else elements(root, reference)

    def _table(self, table: Any, reference: Reference) -> list[Element]:
        properties = child(table, f"{A}tblPr")
        has_head = properties is not None and properties.get("firstRow", "0") in _ON
        rows = [
            Row(tuple(self._cell(cell, reference) for cell in row.iterchildren(f"{A}tc")), reference)
            for row in table.iterchildren(f"{A}tr")
        ]
        rows = [row for row in rows if row.cells]
        if not any(cell.elements for row in rows for cell in row.cells):
            return []
        head = int(has_head and len(rows) > 1)
        return [Table(tuple(row._replace(head=index < head) for index, row in enumerate(rows)), reference)]

    def _cell(self, cell: Any, reference: Reference) -> Cell:
        """Return a cell; the cells that one spans are in the file too, and are left empty."""
        body = child(cell, f"{A}txBody")
        is_part = any(cell.get(name, "0") in _ON for name in ("hMerge", "vMerge"))
        return Cell(() if body is None or is_part else tuple(self.text(body, None, reference)))


_REFERRING: Final = {
    f"{C}chart": (f"{R}id", chart_elements), f"{DGM}relIds": (f"{R}dm", diagram_elements),
}  # fmt: skip
_READERS: Final[dict[str, Callable[[Slide, Any, Reference], list[Element]]]] = {
    f"{P}sp": Slide.shape, f"{P}cxnSp": Slide.shape, f"{P}pic": Slide.picture, f"{P}graphicFrame": Slide.frame,
}  # fmt: skip


def is_hidden(root: Any) -> bool:
    """Whether a slide is not shown."""
    return root.get("show", "1") in {"0", "false", "off"}


def _tree(root: Any) -> Any:
    tree = child(child(root, f"{P}cSld"), f"{P}spTree")
    return () if tree is None else tree


def _shapes(tree: Any) -> Iterator[Any]:
    for one in tree:
        if one.tag == ALTERNATES:
            choice = chosen(one)
            yield from (inner for inner in (() if choice is None else choice) if inner.tag in _SHAPES)
        elif one.tag in _SHAPES:
            yield one


def _kind(shape: Any) -> str | None:
    place = placeholder(shape)
    return place.kind if place else None


def _known(shape: Any) -> Any:
    """Return what a shape states about itself: its name, alternative text, and whether it is shown."""
    return next((one for known in shape[:1] for one in known.iterchildren(f"{P}cNvPr")), None)


def _is_hidden(shape: Any) -> bool:
    known = _known(shape)
    return known is not None and known.get("hidden", "0") in _ON


def _alternative(shape: Any) -> str:
    known = _known(shape)
    return "" if known is None else known.get("descr") or known.get("title") or ""
