"""The tags of a page: the structure of its text as stated by the program that wrote the file."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from spanwise.readers.pdf.pdfium import address_of, string_of

if TYPE_CHECKING:
    import pypdfium2

_HEADING: Final = re.compile(r"H([1-6])\Z")
_DEEPEST: Final = 64
_MOST: Final = 100_000
_PARAGRAPHS: Final = frozenset({"P", "Caption", "Note", "FENote", "BlockQuote", "BibEntry", "TOCI", "Index"})
_CELLS: Final = frozenset({"TD", "TH"})


class Cell(NamedTuple):
    """A cell of a table; elements are identified by their address, which is valid for one page."""

    table: int
    row: int
    column: int
    header: bool
    columns: int = 1
    rows: int = 1


class Tag(NamedTuple):
    """The structure that the file states for a run of text."""

    kind: str = ""  # heading, paragraph, caption, note, code, figure, formula, or empty
    element: int = 0  # the innermost element that is a block
    level: int = 0  # of a heading; 0 where it isn't stated
    items: tuple[int, ...] = ()  # the list items that contain it, outermost first
    label: bool = False  # it is an item's number or bullet
    cell: Cell | None = None


def tags_of(page: pypdfium2.PdfPage) -> dict[int, Tag]:
    """Return the tags of a page by the ids of marked content; empty for a page without tags."""
    import pypdfium2.raw as raw

    tree = raw.FPDF_StructTree_GetForPage(page)
    if not tree:
        return {}
    walk = _Walk()
    try:
        for index in range(max(raw.FPDF_StructTree_CountChildren(tree), 0)):
            element = raw.FPDF_StructTree_GetChildAtIndex(tree, index)
            if element:
                walk.element(element, Tag(), 0)
    finally:
        raw.FPDF_StructTree_Close(tree)
    return walk.found


class _Walk:
    def __init__(self) -> None:
        self.found: dict[int, Tag] = {}
        self._elements_left = _MOST
        self._rows: dict[int, int] = {}  # number of rows seen of each table

    def element(self, element: Any, above: Tag, depth: int, cell: Cell | None = None) -> None:
        import pypdfium2.raw as raw

        self._elements_left -= 1
        if self._elements_left < 0 or depth > _DEEPEST:
            return
        name = string_of(raw.FPDF_StructElement_GetType, element)
        tag = _tag(name, address_of(element), above)
        if cell:
            tag = tag._replace(cell=cell, items=(), kind="", label=False)
        if name == "TR" and above.cell is None and tag.cell is None:
            self._row(element, tag, depth)
            return
        for index, child in self._children(element):
            if child is None:
                number = raw.FPDF_StructElement_GetChildMarkedContentID(element, index)
                if number >= 0:
                    self.found[number] = tag
            else:
                self.element(child, tag, depth + 1)

    def _row(self, row: Any, above: Tag, depth: int) -> None:
        """Walk through a row and number its cells."""
        import pypdfium2.raw as raw

        table = _table_of(row)
        number = self._rows.get(table, 0)
        self._rows[table] = number + 1
        column = 0
        for _, child in self._children(row):
            if child is None:
                continue
            name = string_of(raw.FPDF_StructElement_GetType, child)
            if name in _CELLS:
                columns, rows = _spans(child)
                self.element(child, above, depth + 1, Cell(table, number, column, name == "TH", columns, rows))
                column += 1

    def _children(self, element: Any) -> Iterator[tuple[int, Any]]:
        import pypdfium2.raw as raw

        for index in range(max(raw.FPDF_StructElement_CountChildren(element), 0)):
            yield index, raw.FPDF_StructElement_GetChildAtIndex(element, index) or None


def _tag(name: str, element: int, above: Tag) -> Tag:
    if found := _HEADING.match(name):
        return above._replace(kind="heading", element=element, level=int(found[1]))
    if name in {"H", "Title"}:
        return above._replace(kind="heading", element=element, level=1 if name == "Title" else 0)
    if name in {"Caption", "Code", "Figure", "Formula"}:
        return above._replace(kind=name.lower(), element=element)
    if name in {"Note", "FENote"}:
        return above._replace(kind="note", element=element)
    if name in _PARAGRAPHS:
        return above if above.kind in {"heading", "note"} else above._replace(kind="paragraph", element=element)
    if name == "LI":
        return above._replace(items=(*above.items, element), element=element, kind="paragraph")
    if name == "Lbl":
        return above._replace(label=bool(above.items))
    if name in {"LBody", "Div", "Sect", "Part", "Art", "Document", "NonStruct", "L"}:
        return above._replace(label=False, element=above.element or element)
    return above


def _table_of(row: Any) -> int:
    import pypdfium2.raw as raw

    element = row
    for _ in range(4):
        element = raw.FPDF_StructElement_GetParent(element)
        if not element or string_of(raw.FPDF_StructElement_GetType, element) == "Table":
            break
    return address_of(element) if element else 0


def _spans(cell: Any) -> tuple[int, int]:
    """Return how many columns and rows a cell spans."""
    import ctypes

    import pypdfium2.raw as raw

    spans = {"ColSpan": 1, "RowSpan": 1}
    for index in range(min(max(raw.FPDF_StructElement_GetAttributeCount(cell), 0), 16)):
        attribute = raw.FPDF_StructElement_GetAttributeAtIndex(cell, index)
        for name in spans:
            value = raw.FPDF_StructElement_Attr_GetValue(attribute, name.encode()) if attribute else None
            number = ctypes.c_float()
            if value and raw.FPDF_StructElement_Attr_GetNumberValue(value, number):
                spans[name] = min(max(int(number.value), 1), 100)
    return spans["ColSpan"], spans["RowSpan"]
