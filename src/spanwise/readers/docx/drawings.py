"""What is drawn beside the text: pictures as figures, text boxes, charts, diagrams, and embedded files."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from spanwise.readers.markup.elements import Element, Figure, Reference, Rule
from spanwise.readers.markup.inline import Image, Prose
from spanwise.readers.ooxml.charts import chart_elements
from spanwise.readers.ooxml.diagrams import diagram_elements
from spanwise.readers.ooxml.names import ALTERNATES, DGM, PIC, WP, A, C, O, R, V, W, child, chosen
from spanwise.readers.ooxml.package import left_out

if TYPE_CHECKING:
    from spanwise.readers.docx.content import Line
    from spanwise.readers.docx.walk import Walk

_ON: Final = frozenset({"t", "true", "1"})
_DRAWN: Final = (f"{WP}inline", f"{WP}anchor")


def draw(walk: Walk, drawing: Any, line: Line, depth: int) -> None:
    """Collect what a drawing holds, in its order; one that is only shapes is its alternative text."""
    before = len(line.beside)
    waiting = [drawing]
    while waiting:
        element = waiting.pop()
        tag = element.tag
        if tag == f"{W}txbxContent":
            line.beside += (one.element for one in walk.flow(element, depth + 1))
        elif tag == f"{PIC}pic":
            line.beside.append(_picture(walk, element, drawing, line.reference))
        elif tag == f"{V}imagedata":
            line.beside.append(_old_picture(walk, element, line.reference))
        elif tag in _REFERRING:
            line.beside += _referred(walk, element, line.reference)
        elif tag == f"{V}rect" and element.get(f"{O}hr") in _ON:
            line.beside.append(Rule(line.reference))
        elif tag == f"{O}OLEObject":
            _leave_object(walk, element, line.reference)
        else:
            if tag == f"{V}textpath" and element.get("string"):
                walk.add_shown(line, element.get("string") + " ")
            inner = [chosen(element)] if tag == ALTERNATES else list(element)
            waiting += (one for one in reversed(inner) if one is not None)
    if len(line.beside) == before and (text := _alternative(drawing)):
        line.beside.append(Figure((Image("", text),), Prose(), line.reference))


def _picture(walk: Walk, picture: Any, drawing: Any, reference: Reference) -> Element:
    blip = next(picture.iter(f"{A}blip"), None)
    key = None if blip is None else blip.get(f"{R}embed") or blip.get(f"{R}link")
    known = child(child(picture, f"{PIC}nvPicPr"), f"{PIC}cNvPr")
    return _figure(walk, key, _described(known) or _alternative(drawing), reference)


def _old_picture(walk: Walk, data: Any, reference: Reference) -> Element:
    shape = data.getparent()
    text = (shape.get("alt") if shape is not None else "") or data.get(f"{O}title") or ""
    return _figure(walk, data.get(f"{R}id"), text, reference)


def _figure(walk: Walk, key: str | None, text: str, reference: Reference) -> Figure:
    relation = walk.package.target(walk.part, key)
    return Figure((Image(relation.target if relation else "", text),), Prose(), reference)


def _alternative(drawing: Any) -> str:
    """Return the alternative text of a whole drawing."""
    around = next((one for one in drawing.iterchildren(*_DRAWN)), None)
    return _described(child(around, f"{WP}docPr"))


def _described(known: Any) -> str:
    return "" if known is None else known.get("descr") or known.get("title") or ""


def _referred(walk: Walk, element: Any, reference: Reference) -> list[Element]:
    """Return the chart or diagram that a drawing refers to; each is read once, however often it is shown."""
    key, elements = _REFERRING[element.tag]
    relation = walk.package.target(walk.part, element.get(key))
    if relation is None or relation.is_external or relation.target in walk.shared.drawn:
        return []
    walk.shared.drawn.add(relation.target)
    root = walk.package.xml(relation.target)
    return [] if root is None else elements(root, reference)


def _leave_object(walk: Walk, element: Any, reference: Reference) -> None:
    relation = walk.package.target(walk.part, element.get(f"{R}id"))
    name = relation.target if relation else element.get("ProgID", "")
    walk.shared.left_out.append(left_out("attachment", name, reference))


_REFERRING: Final = {
    f"{C}chart": (f"{R}id", chart_elements), f"{DGM}relIds": (f"{R}dm", diagram_elements),
}  # fmt: skip
