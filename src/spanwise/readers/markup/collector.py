"""The collector, which builds elements from a tree walk: what is opened and closed, and the text in between.

A block inside inline marks ends the open line of text; the marks continue after it. So however broken the nesting is,
no text is lost, and none is walked twice.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import groupby
from typing import Any, Final, Protocol

from spanwise.readers.markup.elements import (
    Cell,
    Code,
    Figure,
    Heading,
    Item,
    Items,
    Paragraph,
    Quote,
    Reference,
    Row,
    Rule,
    flat,
)
from spanwise.readers.markup.inline import BREAK, Image, Inline, Prose, bold, joined
from spanwise.readers.markup.tables import row_of, table_of


class SourcePath(Protocol):
    """The path of an element in the source."""

    def reference(self, offset: int) -> Reference:
        """Return its source reference; `offset` characters of the source's text come before it."""


@dataclass(slots=True, eq=False)
class Frame:
    """An open element: its path, its content so far, and its known properties."""

    kind: str
    path: SourcePath
    offset: int
    elements: list[Any]
    known: dict[str, Any]
    used: bool = False  # whether text with this path was written

    def reference(self) -> Reference:
        """Return the source reference of the element."""
        return self.path.reference(self.offset)


class Collector:
    """A collector of what a walker visits, in order; `offset` counts the characters of the source's text so far."""

    def __init__(self, path: SourcePath) -> None:
        self.offset = 0
        self.inline = Inline()
        self._line_offset = 0  # of the start of the open line of text
        self._frames = [Frame("flow", path, 0, [], {})]

    @property
    def elements(self) -> list[Any]:
        """The elements of the outermost level."""
        self.flush()
        return _tidy(self._frames[0].elements, ())

    def add_text(self, text: str) -> None:
        """Add text of the source."""
        if self.inline.is_empty:
            self._line_offset = self.offset
        self.inline.add_text(text)

    def image(self, source: str, alternative: str) -> None:
        """Add an image."""
        if self.inline.is_empty:
            self._line_offset = self.offset
        self.inline.image(Image(source, alternative))

    def line_break(self) -> None:
        """Begin a new line; two of them begin a new paragraph."""
        if self.inline.breaks:
            self.flush()
        else:
            self.inline.line_break()

    def flush(self) -> None:
        """End the open line of text, as a paragraph."""
        if self.inline.is_empty:
            self.inline.drop_space()
            return
        frame = self._frames[-1]
        offset = self._line_offset if frame.used else frame.offset
        frame.used = True
        frame.elements.append(Paragraph(self.inline.take(), frame.path.reference(offset)))

    def enter(self, path: SourcePath) -> None:
        """Enter an element that only groups others."""
        self.flush()
        outer = self._frames[-1]
        outer.used = True
        self._frames.append(Frame("flow", path, self.offset, outer.elements, {}))

    def begin(self, kind: str, path: SourcePath, **known: Any) -> None:
        """Enter an element that is collected as a kind of its own."""
        self.flush()
        self._frames[-1].used = True
        self._frames.append(Frame(kind, path, self.offset, [], known))

    def finish(self) -> None:
        """Leave the element entered last."""
        self.flush()
        frame = self._frames.pop()
        if frame.kind != "flow":
            frame.elements = _tidy(frame.elements, _HOLDS.get(frame.kind, ()))
            self._frames[-1].elements += _MAKERS[frame.kind](frame)

    def set_known(self, kind: str, **known: Any) -> None:
        """Set properties of the innermost open element of a kind."""
        for frame in reversed(self._frames):
            if frame.kind == kind:
                frame.known |= known
                return

    def is_in(self, kind: str) -> bool:
        """Whether the innermost element that is not just a group is of a kind."""
        return next((frame.kind == kind for frame in reversed(self._frames) if frame.kind != "flow"), False)

    def code(self, text: str, language: str, path: SourcePath) -> None:
        """Add a block of code, without empty lines around it."""
        self.flush()
        self._frames[-1].used = True
        lines = text.split("\n")
        while lines and not lines[-1].strip():
            lines.pop()
        while lines and not lines[0].strip():
            lines.pop(0)
        if lines:
            code = "\n".join(line.rstrip() for line in lines)
            self._frames[-1].elements.append(Code(code, language, path.reference(self.offset)))

    def rule(self, path: SourcePath) -> None:
        """Add a horizontal rule."""
        self.flush()
        self._frames[-1].used = True
        self._frames[-1].elements.append(Rule(path.reference(self.offset)))


_PARTS: Final = frozenset({Item, Row, Cell})
_HOLDS: Final[dict[str, tuple[type, ...]]] = {
    "list": (Item,), "definitions": (Item,), "row": (Cell,), "table": (Row, Cell)
}  # fmt: skip


def _tidy(elements: list[Any], holds: tuple[type, ...]) -> list[Any]:
    """Wrap or unwrap parts where they don't belong: items without a list, cells without a table."""
    if _PARTS.isdisjoint(set(map(type, elements)).difference(holds)):
        return elements
    tidy: list[Any] = []
    for loose, group in groupby(elements, lambda element: isinstance(element, Item) and Item not in holds):
        if loose:
            items = tuple(group)
            tidy.append(Items(items, items[0].reference))
            continue
        for element in group:
            if isinstance(element, Row) and Row not in holds:
                tidy += [inner for cell in element.cells for inner in cell.elements]
            elif isinstance(element, Cell) and Cell not in holds:
                tidy += element.elements
            else:
                tidy.append(element)
    return tidy


def _heading(frame: Frame) -> list[Any]:
    prose = flat(frame.elements, " ")
    return [Heading(frame.known["level"], prose, frame.reference())] if prose.text else []


def _item(frame: Frame) -> list[Any]:
    if not frame.elements:
        return []
    return [Item(tuple(frame.elements), frame.reference(), frame.known.get("checked"))]


def _items(frame: Frame) -> list[Any]:
    """Make a list; content between items belongs to the item before."""
    items = tuple(_item_with(item, more) for item, more in _groups(frame.elements))
    return [Items(items, frame.reference(), frame.known.get("first"))] if items else []


def _groups(elements: list[Any]) -> list[tuple[Item | None, list[Any]]]:
    """Return each item with what follows it up to the next."""
    groups: list[tuple[Item | None, list[Any]]] = []
    for element in elements:
        if isinstance(element, Item):
            groups.append((element, []))
        elif groups:
            groups[-1][1].append(element)
        else:
            groups.append((None, [element]))
    return groups


def _item_with(item: Item | None, more: list[Any]) -> Item:
    if item is None:
        return Item(tuple(more), more[0].reference)
    return item._replace(elements=(*item.elements, *more)) if more else item


def _quote(frame: Frame) -> list[Any]:
    label, title = frame.known.get("label", ""), frame.known.get("title", Prose())
    if not label and not title.text:  # no box: its caption is an attribution
        quoted = tuple(el._replace(caption=False) if isinstance(el, Paragraph) else el for el in frame.elements)
        return [Quote(quoted, frame.reference())] if quoted else []
    titles = [element for element in frame.elements if isinstance(element, Paragraph) and element.caption]
    if titles and not title.text:
        title = joined((element.prose for element in titles), " ")
    elements = tuple(element for element in frame.elements if element not in titles) if titles else frame.elements
    if not elements and not title.text:
        return []
    return [Quote(tuple(elements), frame.reference(), label, title)]


def _caption(frame: Frame) -> list[Any]:
    prose = flat(frame.elements, " ")
    return [Paragraph(prose, frame.reference(), caption=True)] if prose.text else []


def _summary(frame: Frame) -> list[Any]:
    if any(not isinstance(element, Paragraph) for element in frame.elements):
        return frame.elements
    prose = flat(frame.elements, " ")
    return [Paragraph(bold(prose), frame.reference())] if prose.text else []


def _figure(frame: Frame) -> list[Any]:
    """Make a figure of images and a caption; with anything else in it, each element keeps its kind."""
    captions = [element for element in frame.elements if isinstance(element, Paragraph) and element.caption]
    others = [element for element in frame.elements if not (isinstance(element, Paragraph) and element.caption)]
    pictured = [element.prose for element in others if isinstance(element, Paragraph) and not element.prose.has_text]
    inner = [element for element in others if isinstance(element, Figure)]
    if len(pictured) + len(inner) < len(others) or not others:
        return [*others, *(caption._replace(caption=False) for caption in captions)]
    both: list[Any] = [*pictured, *inner]
    images = [image for one in both for image in one.images]
    texts = [figure.caption for figure in inner if figure.caption.text] + [caption.prose for caption in captions]
    return [Figure(tuple(images), joined(texts, " "), frame.reference())]


def _term(frame: Frame) -> list[Any]:
    prose = flat(frame.elements, " ")
    return [Item((Paragraph(bold(prose), frame.reference()),), frame.reference(), None)] if prose.text else []


def _definitions(frame: Frame) -> list[Any]:
    """Make a list of terms, each with its description; consecutive lines become one paragraph."""
    items: list[Item] = []
    for item, described in _groups(frame.elements):
        together = [*(item.elements if item else ()), *described]
        others = (index for index, element in enumerate(together) if not isinstance(element, Paragraph))
        count = next(others, len(together))
        line = [Paragraph(joined((element.prose for element in together[:count]), BREAK), together[0].reference)]
        reference = item.reference if item else together[0].reference
        items.append(Item((*(line if count else ()), *together[count:]), reference, item.checked if item else None))
    return [Items(tuple(items), frame.reference())] if items else []


_MAKERS: Final[dict[str, Callable[[Frame], list[Any]]]] = {
    "heading": _heading, "item": _item, "list": _items, "quote": _quote, "caption": _caption, "summary": _summary,
    "figure": _figure, "term": _term, "definitions": _definitions,
    "cell": lambda frame: [Cell(tuple(frame.elements), **frame.known)],
    "row": lambda frame: row_of(frame.elements, frame.reference(), **frame.known),
    "table": lambda frame: table_of(frame.elements, frame.reference(), **frame.known),
}  # fmt: skip
