"""Footnotes and endnotes, in the order in which the text refers to them."""

from __future__ import annotations

from typing import Any, Final

from spanwise.readers.markup.elements import Element, Paragraph, Reference
from spanwise.readers.markup.inline import Prose, prefixed
from spanwise.readers.ooxml.names import W
from spanwise.readers.ooxml.numerals import numeral
from spanwise.readers.ooxml.package import Package

_FORMS: Final = {"footnote": "decimal", "endnote": "lowerRoman"}


class Notes:
    """The notes of a document; each that is referred to has a label, and its place among the others of its kind."""

    def __init__(self, package: Package) -> None:
        self._found: dict[tuple[str, str], tuple[str, Any]] = {}
        self._labels: dict[tuple[str, str], str] = {}
        self._counts = dict.fromkeys(_FORMS, 0)
        self.order: list[tuple[str, str, Any]] = []
        """The label, part and element of each note that was referred to."""
        self.roots: dict[str, Any] = {}
        """The roots of the parts that have notes."""
        for kind in _FORMS:
            part = package.one(package.main, f"{kind}s")
            root = package.xml(part) if part else None
            if root is not None:
                self.roots[part] = root
                for note in root.iterchildren(W + kind):
                    self._found.setdefault((kind, note.get(f"{W}id", "")), (part, note))

    def label(self, kind: str, key: str | None) -> str:
        """Return the label of a note that the text refers to; "" if there is no such note."""
        name = (kind, key or "")
        if name not in self._found:
            return ""
        if name not in self._labels:
            self._counts[kind] += 1
            self._labels[name] = label = numeral(self._counts[kind], _FORMS[kind])
            self.order.append((label, *self._found[name]))
        return self._labels[name]


def with_label(elements: list[Element], label: str, reference: Reference) -> list[Element]:
    """Return the content of a note with its label before the first paragraph."""
    mark = f"[^{label}]:"
    if elements and isinstance(elements[0], Paragraph):
        first = elements[0]
        return [first._replace(prose=prefixed(f"{mark} ", first.prose)), *elements[1:]]
    return [Paragraph(Prose(mark), reference), *elements] if elements else []
