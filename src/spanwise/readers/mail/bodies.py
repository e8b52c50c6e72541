"""The body of a message: HTML as a page, plain text as paragraphs; in both, what is quoted from others as quotes."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, Final, NamedTuple

from spanwise.readers.builder import ReadResult
from spanwise.readers.html.tree import Path, parsed
from spanwise.readers.html.walk import Walk
from spanwise.readers.joining import plain_prose
from spanwise.readers.markup.collector import Collector
from spanwise.readers.markup.elements import Element, Paragraph, Quote, Rule, Table
from spanwise.readers.markup.writer import read_result

_DEEPEST: Final = 12  # deeper quotes stand beside each other
_QUOTED: Final = re.compile(r" ?(?:> ?)+")
_FROM: Final = "From|Von|De|Da|Od|От|Van|Fra|Från|Lähettäjä|Feladó|发件人|差出人|보낸 사람"
_OTHERS: Final = (
    "Sent|Date|To|Cc|Subject|Gesendet|Datum|An|Betreff|Envoyé|Date|À|Objet|Enviado|Fecha|Para|Asunto|Inviato|Data|A|"
    "Oggetto|Wysłano|Wysłane|Do|DW|Temat|Отправлено|Дата|Кому|Копия|Тема|Verzonden|Aan|Onderwerp|Sendt|Til|Emne|"
    "Skickat|Till|Ämne|Lähetetty|Aihe|Elküldve|Címzett|Tárgy|"
    "发送时间|收件人|主题|送信日時|宛先|件名|보낸 날짜|받는 사람|제목"
)
_FROM_LINE: Final = re.compile(rf"\*{{0,2}}(?:{_FROM})\s?:\*{{0,2}}\s*\S", re.IGNORECASE)
_OTHER_LINE: Final = re.compile(rf"\*{{0,2}}(?:{_OTHERS})\s?:", re.IGNORECASE)
_OTHER_LABEL: Final = re.compile(rf"(?<!\w)(?:{_OTHERS})\s?:", re.IGNORECASE)
_ENOUGH: Final = 2  # of the other fields
_LINES_OF_HEADER: Final = 7
_LONGEST_HEADER: Final = 4000
_MARKER: Final = re.compile(r"[-_*\s]{2,}[^-_]{0,60}[-_*\s]{2,}|_{10,}")
_FORWARDING: Final = re.compile(r"\s*(?:fwd?|wg|tr|pd|rv|enc|i|vs|vb|doorst)\s*:", re.IGNORECASE)
_FORWARDED: Final = re.compile(
    r"forwarded|weitergeleitet|transféré|reenviado|inoltrat|przekazana|пересыла|пересланн|doorgestuurd|转发",
    re.IGNORECASE,
)
_OWN_PICTURE: Final = re.compile(r"""<img\b[^<>]*?\bsrc\s*=\s*["']?cid:[^<>]*>""", re.IGNORECASE)
_TAG: Final = re.compile(r"<(?:style|script|title)\b[^<>]*>[^<]*|<[^<>]*>|&nbsp;|\s+", re.IGNORECASE)


class Body(NamedTuple):
    """A body: HTML or plain text, whose lines may be `flowed`, and then `joined` without a space."""

    text: str
    is_html: bool = False
    flowed: bool = False
    joined: bool = False

    @property
    def has_text(self) -> bool:
        """Whether it shows anything but pictures."""
        return bool(_TAG.sub("", self.text) if self.is_html else self.text.strip())


class _Line(NamedTuple):
    """A line of plain text: how often it is quoted, what it says, its number from 1."""

    depth: int
    text: str
    number: int


def body_result(body: Body, subject: str, name: str) -> ReadResult:
    """Return a body as a result; of a message that forwards another one, that one is no quote."""
    forwards = _FORWARDING.match(subject) is not None
    if not body.is_html:
        return read_result(_plain_elements(body, forwards=forwards), {}, ())
    page = parsed(_OWN_PICTURE.sub("", body.text), name)
    path = Path(Path(None, "html", 1), "body", 1)
    walk = Walk(Collector(path), keep_all=False)
    if page.body is not None:
        walk.children(page.body, path, 0)
    elements = [inner for element in walk.collector.elements for inner in _without_layout(element)]
    return read_result(_with_replies(elements, forwards=forwards), {}, walk.left_out)


def _without_layout(element: Any) -> list[Any]:
    """Return what a table holds that only lays out a message: it has one filled cell a row."""
    if not isinstance(element, Table) or any(row.head for row in element.rows):
        return [element]
    filled = [[cell for cell in row.cells if cell.elements] for row in element.rows]
    if any(len(cells) > 1 or any(cell.head for cell in cells) for cells in filled):
        return [element]
    return [inner for cells in filled for cell in cells for inner in cell.elements]


def _with_replies(elements: list[Any], *, forwards: bool) -> list[Any]:
    """Put what follows the header of another message into a quote; inside of it again."""
    starts = [index for index, element in enumerate(elements) if _is_header(element)]
    if starts and (forwards or _is_forwarded(elements, starts[0])):
        del starts[0]
    reached, inner = len(elements), list[Any]()
    for index in reversed(starts[:_DEEPEST]):
        quoted = [*elements[index:reached], *inner]
        inner = [Quote(tuple(quoted), elements[index].reference)]
        reached = index
    return [*elements[:reached], *inner]


def _is_header(element: Element) -> bool:
    if not isinstance(element, Paragraph):
        return False
    text = element.prose.visible[:_LONGEST_HEADER]
    return _FROM_LINE.match(text) is not None and len(set(_OTHER_LABEL.findall(text))) >= _ENOUGH


def _is_forwarded(elements: Sequence[Any], index: int) -> bool:
    before = elements[index - 1] if index else None
    return isinstance(before, Paragraph) and _FORWARDED.search(before.prose.visible[:200]) is not None


def _plain_elements(body: Body, *, forwards: bool) -> list[Any]:
    lines = _replied(_lines(body), forwards=forwards)
    return _nested(lines, 0)


def _lines(body: Body) -> list[_Line]:
    """Return the lines with their quoting; those of flowed text that belong together as one."""
    lines: list[_Line] = []
    flows = False
    for number, raw in enumerate(body.text.split("\n"), 1):
        marks = _QUOTED.match(raw)
        depth = min(marks[0].count(">"), _DEEPEST) if marks else 0
        text = raw[marks.end() :] if marks else raw
        if flows and lines[-1].depth == depth and text.strip() and text != "-- ":
            before = lines[-1].text
            lines[-1] = lines[-1]._replace(text=(before[:-1] if body.joined else before) + text)
        else:
            lines.append(_Line(depth, text, number))
        flows = body.flowed and text.endswith(" ") and text != "-- "
    return lines


def _replied(lines: list[_Line], *, forwards: bool) -> list[_Line]:
    """Return the lines with everything from the header of another message on quoted once more."""
    found: list[_Line] = []
    extra, is_forward, ends = 0, forwards, 0
    for index, line in enumerate(lines):
        if index >= ends and _FROM_LINE.match(line.text.lstrip()) and _has_header(lines, index):
            marked = found and _MARKER.fullmatch(found[-1].text.strip()[:100])
            is_forward = is_forward or bool(marked and _FORWARDED.search(found[-1].text))
            if not is_forward:
                extra += 1
                if marked:
                    found[-1] = found[-1]._replace(depth=min(found[-1].depth + 1, _DEEPEST))
            is_forward, ends = False, index + _LINES_OF_HEADER
        found.append(line._replace(depth=min(line.depth + extra, _DEEPEST)) if extra else line)
    return found


def _has_header(lines: Sequence[_Line], index: int) -> bool:
    depth, count = lines[index].depth, 0
    for line in lines[index + 1 : index + _LINES_OF_HEADER]:
        if line.depth != depth or not line.text.strip():
            break
        count += _OTHER_LINE.match(line.text.lstrip()) is not None
    return count >= _ENOUGH


def _nested(lines: Sequence[_Line], depth: int) -> list[Any]:
    """Return lines as paragraphs, with those that are quoted more deeply in quotes between them."""
    elements: list[Any] = []
    start, paragraph = 0, list[_Line]()
    while start < len(lines):
        line = lines[start]
        if line.depth > depth:
            _end(elements, paragraph)
            end = next((index for index in range(start, len(lines)) if lines[index].depth <= depth), len(lines))
            quoted = _nested(lines[start:end], depth + 1)
            if quoted:
                elements.append(Quote(tuple(quoted), _place(lines[start:end])))
            start = end
            continue
        if line.text.rstrip() == "--":  # what follows is the signature
            _end(elements, paragraph)
            elements.append(Rule(_place([line])))
        elif line.text.strip():
            paragraph.append(line)
        else:
            _end(elements, paragraph)
        start += 1
    _end(elements, paragraph)
    return elements


def _end(elements: list[Any], paragraph: list[_Line]) -> None:
    """Add the paragraph of the collected lines, and begin a new one."""
    if paragraph and (prose := plain_prose([line.text for line in paragraph])):
        elements.append(Paragraph(prose, _place(paragraph)))
    paragraph.clear()


def _place(lines: Sequence[_Line]) -> dict[str, Any]:
    return {"line_start": lines[0].number, "line_end": lines[-1].number}
