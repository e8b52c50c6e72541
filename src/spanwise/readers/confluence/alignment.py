"""Alignment of stored elements with the rendered page: both are walked, and equal texts are the same element."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import Any, Final

from spanwise.readers.markup.elements import (
    Element,
    Item,
    Items,
    Paragraph,
    Quote,
    Reference,
    Row,
    Table,
    flat,
)

_LONGEST_KEY: Final = 400


def aligned(stored: Sequence[Element], rendered: Sequence[Element]) -> list[Element]:
    """Return stored elements with references to the rendered page; each takes the next element equal to it."""
    return _Finder(rendered).elements(stored)


class _Finder:
    """The rendered elements by kind and text, in order, and how far they have been used."""

    def __init__(self, rendered: Sequence[Element]) -> None:
        self._rendered: dict[tuple[str, str], list[tuple[int, Reference]]] = defaultdict(list)
        self._used: dict[tuple[str, str], int] = {}
        self._reached = -1
        for order, (kind, text, reference) in enumerate(_texts(rendered)):
            self._rendered[kind, text].append((order, reference))

    def elements(self, stored: Sequence[Element]) -> list[Element]:
        return [self._element(element) for element in stored]

    def _element(self, element: Element) -> Element:
        found: Any = element._replace(reference=self._find(type(element).__name__, _key([element]), element.reference))
        if isinstance(found, Items):
            return found._replace(items=tuple(self._item(item) for item in found.items))
        if isinstance(found, Table):
            captions = tuple(self._caption(caption) for caption in found.captions)
            return found._replace(rows=tuple(self._row(row) for row in found.rows), captions=captions)
        if isinstance(found, Quote):
            return found._replace(elements=tuple(self.elements(found.elements)))
        return found  # type: ignore[no-any-return]

    def _item(self, item: Item) -> Item:
        reference = self._find("Item", _key(item.elements), item.reference)
        return item._replace(elements=tuple(self.elements(item.elements)), reference=reference)

    def _caption(self, caption: Paragraph) -> Paragraph:
        return caption._replace(reference=self._find("Paragraph", _key([caption]), caption.reference))

    def _row(self, row: Row) -> Row:
        return row._replace(reference=self._find("Row", _row_key(row), row.reference))

    def _find(self, kind: str, text: str, reference: Reference) -> Reference:
        """Return the reference of the first rendered element with the same text not yet passed, else the stored one."""
        for key in ((kind, text), ("", text)):
            matches, used = self._rendered.get(key, ()), self._used.get(key, 0)
            while used < len(matches) and matches[used][0] <= self._reached and kind not in {"Items", "Quote", "Table"}:
                used += 1
            if used < len(matches):
                self._used[key] = used + 1
                order, match = matches[used]
                self._reached = max(self._reached, order)
                stored = {"storage_xpath": reference["storage_xpath"]} if "storage_xpath" in reference else {}
                return {**match, **stored}
        return reference


def _texts(elements: Sequence[Element]) -> Iterator[tuple[str, str, Reference]]:
    """Yield kind, text and reference of each element, in order, the outer before the inner."""
    for element in elements:
        yield type(element).__name__, _key([element]), element.reference
        if isinstance(element, Items):
            for item in element.items:
                yield "Item", _key(item.elements), item.reference
                yield from _texts(item.elements)
        elif isinstance(element, Table):
            yield from _texts(element.captions)
            for row in element.rows:
                yield "Row", _row_key(row), row.reference
        elif isinstance(element, Quote):
            yield from _texts(element.elements)


def _row_key(row: Row) -> str:
    return _key([element for cell in row.cells for element in cell.elements])


def _key(elements: Sequence[Element]) -> str:
    """Return the letters and digits of the visible text: spaces and marks may differ between the two."""
    return "".join(letter for letter in flat(elements, " ").visible if letter.isalnum())[:_LONGEST_KEY]
