"""What a walk finds, one draft a paragraph, and how drafts become elements: lists, code, quotes and captions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

from spanwise.readers.markup.elements import Code, Element, Figure, Item, Items, Paragraph, Quote, Reference, Table

_DEEPEST: Final = 12
_INDENTED: Final = 60  # twentieths of a point: less is not meant


class Label(NamedTuple):
    """What stands before a numbered paragraph: its text, and the number if that is all of it; bullets have neither."""

    list_id: str
    level: int
    left: int | None
    number: int | None = None
    closing: str = "."
    text: str = ""


class Entry(NamedTuple):
    """An item of a list: its label, its indentation, and its content."""

    label: Label
    left: int | None
    elements: tuple[Element, ...]
    reference: Reference


class Draft(NamedTuple):
    """A paragraph or block before its neighbours are known.

    `kind` is `block`, `item`, `code`, `quote`, `caption` or `indented`; the last may belong to an item.
    """

    page: int
    kind: str
    element: Any
    left: int | None = None


class PagedElement(NamedTuple):
    """An element and the page that it begins on."""

    page: int
    element: Element


@dataclass(slots=True)
class _Node:
    entry: Entry
    children: list[_Node] = field(default_factory=list)
    more: list[Element] = field(default_factory=list)


def grouped(drafts: Sequence[Draft]) -> list[PagedElement]:
    """Return drafts as elements: neighbours that belong together are one."""
    found: list[PagedElement] = []
    index = 0
    while index < len(drafts):
        draft = drafts[index]
        end = _end_of_group(drafts, index)
        group = drafts[index:end]
        match draft.kind:
            case "item":
                found += (PagedElement(draft.page, items) for items in _lists(group))
            case "code":
                found += (PagedElement(draft.page, code) for code in _code(group))
            case "quote":
                quote = Quote(tuple(one.element for one in group), draft.element.reference)
                found.append(PagedElement(draft.page, quote))
            case "caption" if _is_of_figure(found, drafts, index):
                figure = found[-1].element
                assert isinstance(figure, Figure)
                found[-1] = found[-1]._replace(element=figure._replace(caption=draft.element.prose))
            case _:
                found.append(PagedElement(draft.page, draft.element))
        index = end
    return found


def _end_of_group(drafts: Sequence[Draft], start: int) -> int:
    """Return the index after the drafts that are one with the first: items with what is indented below them."""
    kind, end = drafts[start].kind, start + 1
    if kind not in {"item", "code", "quote"}:
        return end
    left = _left_of(drafts[start])
    while end < len(drafts):
        draft = drafts[end]
        if draft.kind == kind:
            left = _left_of(draft)
        elif kind != "item" or draft.kind != "indented" or not left or (draft.left or 0) + _INDENTED < left:
            break
        end += 1
    return end


def _left_of(draft: Draft) -> int | None:
    return draft.element.left if isinstance(draft.element, Entry) else None


def _is_of_figure(found: Sequence[PagedElement], drafts: Sequence[Draft], index: int) -> bool:
    """Whether a caption belongs to the figure before it, and not to a table below."""
    last = found[-1].element if found else None
    if not isinstance(last, Figure) or last.caption.text:
        return False
    return index + 1 == len(drafts) or not isinstance(drafts[index + 1].element, Table)


def _code(drafts: Sequence[Draft]) -> list[Code]:
    """Return paragraphs of code as one block, without empty lines around it."""
    lines = [(line.rstrip(), one.element[1]) for one in drafts for line in one.element[0].split("\n")]
    while lines and not lines[-1][0]:
        lines.pop()
    first = next((index for index, (line, _) in enumerate(lines) if line), len(lines))
    lines = lines[first:]
    return [Code("\n".join(line for line, _ in lines), "", lines[0][1])] if lines else []


def _lists(drafts: Sequence[Draft]) -> list[Items]:
    """Return items as lists, nested as their levels or indentations say."""
    roots: list[_Node] = []
    stack: list[_Node] = []
    for draft in drafts:
        if draft.kind != "item":
            stack[-1].more.append(draft.element)
            continue
        entry: Entry = draft.element
        while stack and (len(stack) > _DEEPEST or not _is_under(entry, stack[-1].entry)):
            stack.pop()
        node = _Node(entry)
        (stack[-1].children if stack else roots).append(node)
        stack.append(node)
    return _items(roots)


def _is_under(entry: Entry, above: Entry) -> bool:
    """Whether an item is nested in another; two lists are compared by their indentations."""
    if entry.label.list_id == above.label.list_id or entry.left is None or above.left is None:
        return entry.label.level > above.label.level
    return entry.left > above.left + _INDENTED


def _items(nodes: Sequence[_Node]) -> list[Items]:
    """Return sibling items as lists: numbers that don't follow each other begin another one."""
    lists: list[list[_Node]] = []
    for node in nodes:
        if lists and _continues(lists[-1][-1].entry.label, node.entry.label):
            lists[-1].append(node)
        else:
            lists.append([node])
    made = []
    for siblings in lists:
        label = siblings[0].entry.label
        items = tuple(
            Item((*node.entry.elements, *node.more, *_items(node.children)), node.entry.reference) for node in siblings
        )
        made.append(Items(items, items[0].reference, label.number, label.closing))
    return made


def _continues(before: Label, label: Label) -> bool:
    if before.number is None or label.number is None:
        return before.number is label.number
    return label.number == before.number + 1 and label.closing == before.closing


def paragraph_draft(page: int, kind: str, paragraph: Paragraph, left: int | None) -> Draft:
    """Return the draft of a paragraph of text."""
    if kind in {"quote", "caption"}:
        return Draft(page, kind, paragraph)
    return Draft(page, "indented" if left and left > _INDENTED else "block", paragraph, left)
