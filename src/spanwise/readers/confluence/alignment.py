"""Where the stored text stands in the rendered page: both are walked, and what says the same is the same."""

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
    words_in,
)

_LONGEST_KEY: Final = 400


def placed(stored: Sequence[Element], shown: Sequence[Element]) -> list[Element]:
    """Give stored elements the places that they have in the rendered page; each takes the next one like it."""
    return _Finder(shown).elements(stored)


class _Finder:
    """The rendered elements by what they say, in order, and how far they have been used."""

    def __init__(self, shown: Sequence[Element]) -> None:
        self._places: dict[tuple[str, str], list[tuple[int, Reference]]] = defaultdict(list)
        self._used: dict[tuple[str, str], int] = {}
        self._reached = -1
        for order, (kind, words, reference) in enumerate(_said(shown)):
            self._places[kind, words].append((order, reference))

    def elements(self, stored: Sequence[Element]) -> list[Element]:
        return [self._element(element) for element in stored]

    def _element(self, element: Element) -> Element:
        found: Any = element._replace(reference=self._place(_kind(element), _key([element]), element.reference))
        if isinstance(found, Items):
            return found._replace(items=tuple(self._item(item) for item in found.items))
        if isinstance(found, Table):
            captions = tuple(self._caption(caption) for caption in found.captions)
            return found._replace(rows=tuple(self._row(row) for row in found.rows), captions=captions)
        if isinstance(found, Quote):
            return found._replace(elements=tuple(self.elements(found.elements)))
        return found  # type: ignore[no-any-return]

    def _item(self, item: Item) -> Item:
        place = self._place("Item", _key(item.elements), item.reference)
        return item._replace(elements=tuple(self.elements(item.elements)), reference=place)

    def _caption(self, caption: Paragraph) -> Paragraph:
        return caption._replace(reference=self._place("Paragraph", _key([caption]), caption.reference))

    def _row(self, row: Row) -> Row:
        return row._replace(reference=self._place("Row", _row_key(row), row.reference))

    def _place(self, kind: str, words: str, own: Reference) -> Reference:
        """Find the first place not yet passed that says the same; what is found nowhere keeps its own."""
        for key in ((kind, words), ("", words)):
            places, used = self._places.get(key, ()), self._used.get(key, 0)
            while used < len(places) and places[used][0] <= self._reached and kind not in {"Items", "Quote", "Table"}:
                used += 1
            if used < len(places):
                self._used[key] = used + 1
                order, place = places[used]
                self._reached = max(self._reached, order)
                stored = {"storage_xpath": own["storage_xpath"]} if "storage_xpath" in own else {}
                return {**place, **stored}
        return own


def _said(elements: Sequence[Element]) -> Iterator[tuple[str, str, Reference]]:
    """Give what every element says, the outer before the inner, in order."""
    for element in elements:
        yield _kind(element), _key([element]), element.reference
        if isinstance(element, Items):
            for item in element.items:
                yield "Item", _key(item.elements), item.reference
                yield from _said(item.elements)
        elif isinstance(element, Table):
            yield from _said(element.captions)
            for row in element.rows:
                yield "Row", _row_key(row), row.reference
        elif isinstance(element, Quote):
            yield from _said(element.elements)


def _kind(element: Element) -> str:
    return type(element).__name__


def _row_key(row: Row) -> str:
    return _letters(" ".join(words_in(cell.elements) for cell in row.cells))


def _key(elements: Sequence[Element]) -> str:
    return _letters(flat(elements, " ").shown)


def _letters(words: str) -> str:
    """Keep letters and digits only: spaces and marks may differ between the two."""
    return "".join(letter for letter in words if letter.isalnum())[:_LONGEST_KEY]
