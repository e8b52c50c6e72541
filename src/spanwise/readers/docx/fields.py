"""Fields: their instructions are no text, their results are; some link, and a table of contents is navigation."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any, Final

from spanwise.readers.ooxml.names import W, child, flag, number, value

_LINK: Final = re.compile(r'\s*HYPERLINK\s+(?!\\)(?:"([^"]*)"|(\S+))', re.IGNORECASE)
_CONTENTS: Final = re.compile(r"\s*TOC\b", re.IGNORECASE)
_CHAR: Final = f"{W}fldChar"
_TYPE: Final = f"{W}fldCharType"
_LONGEST: Final = 100_000


@dataclass(slots=True)
class Field:
    """An open field; `target` is that of the innermost link around its result."""

    end: Any
    instruction: list[str] = field(default_factory=list)
    in_result: bool = False
    target: str = ""
    is_contents: bool = False


class Fields:
    """The open fields of a part; one without an end is none, so that it hides nothing."""

    def __init__(self, root: Any) -> None:
        self._end_of: dict[Any, Any] = {}
        self._open: list[Field] = []
        self._unfinished = 0  # number of open fields whose result has not begun
        begun: list[Any] = []
        for element in root.iter(_CHAR):
            if element.get(_TYPE) == "begin":
                begun.append(element)
            elif element.get(_TYPE) == "end" and begun:
                self._end_of[begun.pop()] = element

    @property
    def hides(self) -> bool:
        """Whether text is an instruction."""
        return self._unfinished > 0

    @property
    def target(self) -> str:
        """The target of the link that text belongs to."""
        return self._open[-1].target if self._open else ""

    @property
    def is_contents(self) -> bool:
        """Whether text belongs to a table of contents."""
        return bool(self._open) and self._open[-1].is_contents

    def add_instruction(self, text: str) -> None:
        """Add a part of the instruction of the innermost field."""
        if self._open and not self._open[-1].in_result:
            self._open[-1].instruction.append(text)

    def mark(self, element: Any) -> str:
        """Begin or end a field, or begin its result; return the text of a form field without a result."""
        kind = element.get(_TYPE)
        if kind == "begin" and element in self._end_of:
            outer = self._open[-1] if self._open else Field(None)
            inner = Field(self._end_of[element], target=outer.target, is_contents=outer.is_contents)
            self._open.append(inner)
            self._unfinished += 1
            return _form_text(child(element, f"{W}ffData"))
        if kind == "separate" and self._open and not self._open[-1].in_result:
            self._begin_result(self._open[-1])
        elif kind == "end" and any(one.end is element for one in self._open[-1:]):
            self._unfinished -= not self._open.pop().in_result
        elif kind == "end":
            self._end_outer(element)
        return ""

    def _begin_result(self, inner: Field) -> None:
        inner.in_result = True
        self._unfinished -= 1
        instruction = "".join(inner.instruction)[:_LONGEST]
        inner.target = link_target(instruction) or inner.target
        inner.is_contents = inner.is_contents or is_contents(instruction)

    def _end_outer(self, element: Any) -> None:
        """End a field and those inside it whose ends were deleted."""
        ends = [one.end for one in self._open[-8:]]
        if element in ends:
            while self._open and self._open[-1].end is not element:
                self._unfinished -= not self._open.pop().in_result
            self._unfinished -= not self._open.pop().in_result


def link_target(instruction: str) -> str:
    """Return the address that a field links to; "" if it links to none outside."""
    found = _LINK.match(instruction)
    return (found[1] or found[2] or "").strip() if found else ""


def is_contents(instruction: str) -> bool:
    """Whether a field is a table of contents."""
    return bool(_CONTENTS.match(instruction))


def _form_text(form: Any) -> str:
    """Return what a form field shows that has no result: a box, or the chosen entry of a list."""
    if (box := child(form, f"{W}checkBox")) is not None:
        checked = flag(box, f"{W}checked")
        return "☒" if (flag(box, f"{W}default") if checked is None else checked) else "☐"
    if (entries := child(form, f"{W}ddList")) is not None:
        index = number(value(entries, f"{W}result")) or 0
        texts = [one.get(f"{W}val", "") for one in entries.iterchildren(f"{W}listEntry")]
        return texts[index] if 0 <= index < len(texts) else ""
    return ""
