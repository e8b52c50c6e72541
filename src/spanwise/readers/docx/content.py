"""The content of a paragraph: runs, links, changes, fields, equations, notes, and what is drawn beside the text."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from spanwise.readers.docx.drawings import draw
from spanwise.readers.docx.fields import is_contents, link_target
from spanwise.readers.docx.styles import Look, Style
from spanwise.readers.markup.elements import Element, Reference
from spanwise.readers.ooxml.equations import linear
from spanwise.readers.ooxml.names import ALTERNATES, M, R, W, child, chosen, words_of
from spanwise.readers.ooxml.package import left_out
from spanwise.readers.ooxml.runs import LINE, Run
from spanwise.readers.ooxml.symbols import symbol, without_private

if TYPE_CHECKING:
    from spanwise.readers.docx.walk import Walk

_DEEPEST: Final = 40


@dataclass(slots=True, eq=False)
class Line:
    """A paragraph while it is read; `pages` has the runs before each page break inside it."""

    reference: Reference
    style: Style = field(default_factory=Style)
    runs: list[Run] = field(default_factory=list)
    beside: list[Element] = field(default_factory=list)
    hidden: list[str] = field(default_factory=list)
    page: int | None = None
    pages: list[tuple[int, list[Run]]] = field(default_factory=list)


def read_content(walk: Walk, element: Any, line: Line, depth: int, target: str = "") -> None:
    """Read the children of a paragraph, or of an element inside one."""
    for inner in element:
        tag = inner.tag
        if tag == f"{W}r":
            _run(walk, inner, line, depth, target)
        elif tag in _SKIPPED:
            continue
        elif depth > _DEEPEST:
            walk.add_text(line, words_of(inner, f"{W}t"), _PLAIN, target)
        elif handle := _HANDLERS.get(tag):
            handle(walk, inner, line, depth + 1, target)
        elif len(inner):
            read_content(walk, inner, line, depth + 1, target)


_PLAIN: Final = Look()


def _run(walk: Walk, run: Any, line: Line, depth: int, target: str) -> None:
    look = walk.shared.styles.look(line.style, child(run, f"{W}rPr"))
    for inner in run:
        tag = inner.tag
        if tag == f"{W}t":
            walk.add_text(line, without_private(inner.text or "", look.font), look, target)
        elif text := _TEXTS.get(tag):
            walk.add_text(line, text, look, target)
        elif handle := _IN_RUNS.get(tag):
            handle(walk, inner, line, look, target, depth)


def _link(walk: Walk, element: Any, line: Line, depth: int, target: str) -> None:
    relation = walk.package.target(walk.part, element.get(f"{R}id"))
    outside = relation.target if relation and relation.is_external else ""
    read_content(walk, element, line, depth, outside or target)


def _simple_field(walk: Walk, element: Any, line: Line, depth: int, target: str) -> None:
    instruction = element.get(f"{W}instr", "")
    if is_contents(instruction) and not walk.shared.keep_all:
        walk.leave_out("navigation", words_of(element, f"{W}t"), line.reference)
    else:
        read_content(walk, element, line, depth, link_target(instruction) or target)


def _control(walk: Walk, element: Any, line: Line, depth: int, target: str) -> None:
    content = child(element, f"{W}sdtContent")
    if content is not None:
        read_content(walk, content, line, depth, target)


def _equation(walk: Walk, element: Any, line: Line, depth: int, target: str) -> None:
    walk.add_text(line, linear(element), _PLAIN, target)


def _alternates(walk: Walk, element: Any, line: Line, depth: int, target: str) -> None:
    choice = chosen(element)
    if choice is not None:
        read_content(walk, choice, line, depth, target)


def _nested_box(walk: Walk, element: Any, line: Line, depth: int, target: str) -> None:
    draw(walk, element, line, depth)


Handler = Callable[["Walk", Any, Line, int, str], None]
_SKIPPED: Final = frozenset({
    f"{W}pPr", f"{W}del", f"{W}moveFrom", f"{W}proofErr", f"{W}bookmarkStart", f"{W}bookmarkEnd", f"{W}sdtPr",
    f"{W}customXmlPr", f"{W}smartTagPr", f"{W}rPr", f"{W}commentRangeStart", f"{W}commentRangeEnd",
})  # fmt: skip
_HANDLERS: Final[dict[str, Handler]] = {
    f"{W}hyperlink": _link, f"{W}fldSimple": _simple_field, f"{W}sdt": _control, ALTERNATES: _alternates,
    f"{M}oMath": _equation, f"{M}oMathPara": _equation, f"{W}drawing": _nested_box, f"{W}pict": _nested_box,
}  # fmt: skip


# ── inside runs ──────────────────────────────────────────────────────────────────────────────────────────────────


def _break(walk: Walk, element: Any, line: Line, look: Look, target: str, depth: int) -> None:
    if element.get(f"{W}type") != "page":
        walk.add_text(line, LINE, look, target)
    elif not walk.fields.hides:
        walk.break_page(line)


def _rendered_break(walk: Walk, element: Any, line: Line, look: Look, target: str, depth: int) -> None:
    walk.see_page(line)


def _field_mark(walk: Walk, element: Any, line: Line, look: Look, target: str, depth: int) -> None:
    if text := walk.fields.mark(element):
        walk.add_shown(line, text, look, target)
    walk.end_contents(line)


def _instruction(walk: Walk, element: Any, line: Line, look: Look, target: str, depth: int) -> None:
    walk.fields.add_instruction(element.text or "")


def _symbol(walk: Walk, element: Any, line: Line, look: Look, target: str, depth: int) -> None:
    walk.add_text(line, symbol(element.get(f"{W}char"), element.get(f"{W}font")), look, target)


def _note(walk: Walk, element: Any, line: Line, look: Look, target: str, depth: int) -> None:
    kind = element.tag.rpartition("}")[2].removesuffix("Reference")
    if walk.fields.hides or look.is_hidden or walk.in_contents:
        return
    if label := walk.shared.notes.label(kind, element.get(f"{W}id")):
        line.runs.append(Run(label, is_note=True))


def _ruby(walk: Walk, element: Any, line: Line, look: Look, target: str, depth: int) -> None:
    base, reading = child(element, f"{W}rubyBase"), child(element, f"{W}rt")
    if base is not None:
        read_content(walk, base, line, depth + 1, target)
    if reading is not None and (text := words_of(reading, f"{W}t")):
        walk.add_text(line, f"({text})", look, target)


def _drawing(walk: Walk, element: Any, line: Line, look: Look, target: str, depth: int) -> None:
    if look.is_hidden:
        line.hidden.append(words_of(element, f"{W}t"))
    elif not walk.fields.hides:
        draw(walk, element, line, depth + 1)


def _alternate_drawing(walk: Walk, element: Any, line: Line, look: Look, target: str, depth: int) -> None:
    choice = chosen(element)
    for inner in () if choice is None or depth > _DEEPEST else choice:
        if inner.tag == f"{W}t":
            walk.add_text(line, inner.text or "", look, target)
        elif handle := _IN_RUNS.get(inner.tag):
            handle(walk, inner, line, look, target, depth + 1)


_TEXTS: Final = {f"{W}tab": "\t", f"{W}ptab": "\t", f"{W}cr": LINE, f"{W}noBreakHyphen": "-"}
_IN_RUNS: Final[dict[str, Callable[[Walk, Any, Line, Look, str, int], None]]] = {
    f"{W}br": _break, f"{W}lastRenderedPageBreak": _rendered_break, f"{W}fldChar": _field_mark,
    f"{W}instrText": _instruction, f"{W}sym": _symbol, f"{W}footnoteReference": _note, f"{W}endnoteReference": _note,
    f"{W}ruby": _ruby, f"{W}drawing": _drawing, f"{W}pict": _drawing, f"{W}object": _drawing,
    ALTERNATES: _alternate_drawing,
}  # fmt: skip


def leave_hidden(walk: Walk, line: Line) -> None:
    """Report the hidden text of a paragraph."""
    if text := "".join(line.hidden).strip():
        walk.shared.left_out.append(left_out("hidden text", text, line.reference))
