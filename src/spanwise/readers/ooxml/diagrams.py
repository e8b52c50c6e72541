"""Diagrams (SmartArt) as nested lists of their texts."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

from spanwise.readers.markup.elements import Element, Item, Items, Paragraph, Reference
from spanwise.readers.markup.inline import Inline
from spanwise.readers.ooxml.names import DGM, A, child, number

_DEEPEST: Final = 12
_TYPES: Final = frozenset({"node", "asst", "doc", None})


def diagram_elements(root: Any, reference: Reference) -> list[Element]:
    """Return the texts of a diagram as a list, nested as its points are; points without text give their place up."""
    points = {one.get("modelId"): one for one in root.iter(f"{DGM}pt") if one.get("type") in _TYPES}
    below: dict[str, list[tuple[int, str]]] = {}
    inner: set[str] = set()
    for link in root.iter(f"{DGM}cxn"):
        source, target = link.get("srcId"), link.get("destId")
        if link.get("type", "parOf") == "parOf" and source in points and target in points:
            below.setdefault(source, []).append((number(link.get("srcOrd")) or 0, target))
            inner.add(target)
    seen: set[str] = set()
    items = _items((key for key in points if key not in inner), points, below, seen, reference)
    items += _items((key for key in points if key not in seen), points, below, seen, reference)  # those in circles
    return [Items(tuple(items), reference)] if items else []


def _items(
    keys: Iterable[str],
    points: dict[str, Any],
    below: dict[str, list[tuple[int, str]]],
    seen: set[str],
    reference: Reference,
    depth: int = 0,
) -> list[Item]:
    found: list[Item] = []
    for key in keys:
        if key in seen:
            continue
        seen.add(key)
        under = (target for _, target in sorted(below.get(key, ())))
        nested = _items(under, points, below, seen, reference, depth + 1) if depth < _DEEPEST else []
        paragraphs = _paragraphs(points[key], reference)
        if paragraphs:
            more = (Items(tuple(nested), reference),) if nested else ()
            found.append(Item((*paragraphs, *more), reference))
        else:
            found += nested
    return found


def _paragraphs(point: Any, reference: Reference) -> list[Paragraph]:
    texts = child(point, f"{DGM}t")
    found = []
    for paragraph in () if texts is None else texts.iterchildren(f"{A}p"):
        inline = Inline()
        for text in paragraph.iter(f"{A}t"):
            inline.add_text(text.text or "")
        if not inline.is_empty:
            found.append(Paragraph(inline.take(), reference))
    return found
