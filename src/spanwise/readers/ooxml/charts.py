"""Charts as tables of the values that the file has kept of them: a row a category, a column a series."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

from spanwise.readers.markup.elements import Cell, Element, Paragraph, Reference, Row, Table
from spanwise.readers.markup.inline import Inline, Prose
from spanwise.readers.ooxml.names import A, C, child, number

_PERCENT: Final = re.compile(r"0(?:\.(0+))?%")
_PLOTS: Final = re.compile(r"\{[^{}]*\}\w+Chart\Z")


class Series(NamedTuple):
    """A series: its name, and its categories and values by their indices."""

    name: str
    categories: Mapping[int, str]
    values: Mapping[int, str]


def chart_elements(root: Any, reference: Reference) -> list[Element]:
    """Return the table of a chart under its title; series with categories of their own have a table of their own."""
    chart = child(root, f"{C}chart")
    area = child(chart, f"{C}plotArea")
    plots = [] if area is None else [one for one in area if _PLOTS.match(str(one.tag))]
    series = [_series(one) for plot in plots for one in plot.iterchildren(f"{C}ser")]
    groups: list[list[Series]] = []
    for one in series:
        if groups and _agree(groups[-1][0].categories, one.categories):
            groups[-1].append(one)
        else:
            groups.append([one])
    title = _paragraph(_title(child(chart, f"{C}title")), reference)
    tables = [table for group in groups if (table := _table(group, reference))]
    if not tables:
        return [title] if title else []
    return [tables[0]._replace(captions=(title,) if title else ()), *tables[1:]]


def _agree(one: Mapping[int, str], other: Mapping[int, str]) -> bool:
    """Whether two series have the same categories; one that has none takes those of the other."""
    return one == other or not other


def _series(element: Any) -> Series:
    name = " ".join(_points(child(element, f"{C}tx")).values()) or _text_of(child(element, f"{C}tx"), f"{C}v")
    categories = child(element, f"{C}cat")
    values = child(element, f"{C}val")
    if values is None:
        categories, values = child(element, f"{C}xVal"), child(element, f"{C}yVal")
    return Series(name, _points(categories), _points(values))


def _points(element: Any) -> dict[int, str]:
    """Return the kept values by their indices; categories of several levels are put together, the outermost first."""
    found: dict[int, str] = {}
    if element is None:
        return found
    levels = list(element.iter(f"{C}lvl"))
    for cache in levels or element.iter(f"{C}strCache", f"{C}numCache", f"{C}strLit", f"{C}numLit"):
        usual = child(cache, f"{C}formatCode")
        for point in cache.iterchildren(f"{C}pt"):
            index = number(point.get("idx"))
            text = " ".join((value_of(point) or "").split())
            if index is None or not text:
                continue
            form = point.get("formatCode") or (usual.text if usual is not None else None)
            text = _shown(text, form or "")
            found[index] = f"{text} {found[index]}" if levels and index in found else text
    return found


def value_of(point: Any) -> str | None:
    """Return the text of the value of a point."""
    found = child(point, f"{C}v")
    return None if found is None else found.text


def _shown(text: str, form: str) -> str:
    """Return a number as a person writes it: whole without a point, and as a percentage if it is formatted as one."""
    try:
        known = float(text)
    except ValueError:
        return text
    if abs(known) > 1e15 or known != known:
        return text
    if percent := _PERCENT.search(form):
        return f"{known * 100:.{min(len(percent[1] or ''), 9)}f}%"
    return str(int(known)) if known == int(known) else f"{known:.12g}" if "." in text else text


def _table(group: Sequence[Series], reference: Reference) -> Table | None:
    indices = sorted({index for one in group for index in (*one.categories, *one.values)})
    if not indices:
        return None
    has_categories = any(one.categories for one in group)
    rows = []
    for index in indices:
        categories = next((one.categories for one in group if one.categories), {})
        cells = [categories.get(index, "")] if has_categories else []
        rows.append([*cells, *(one.values.get(index, "") for one in group)])
    head = [*([""] if has_categories else []), *(one.name for one in group)]
    made = [_row(row, reference, head=False) for row in rows]
    return Table((*([_row(head, reference, head=True)] if any(head) else []), *made), reference)


def _row(texts: Sequence[str], reference: Reference, *, head: bool) -> Row:
    return Row(tuple(_cell(text, reference) for text in texts), reference, head)


def _cell(text: str, reference: Reference) -> Cell:
    paragraph = _paragraph(text, reference)
    return Cell((paragraph,) if paragraph else ())


def _paragraph(text: str, reference: Reference) -> Paragraph | None:
    inline = Inline()
    inline.add_text(text)
    prose: Prose = inline.take()
    return Paragraph(prose, reference) if prose.text else None


def _title(element: Any) -> str:
    return _text_of(element, f"{A}t") or _text_of(element, f"{C}v")


def _text_of(element: Any, name: str) -> str:
    return "" if element is None else " ".join("".join(one.text or "" for one in element.iter(name)).split())
