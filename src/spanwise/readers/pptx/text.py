"""The text of a shape: paragraphs with their bullets and numbers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from spanwise.readers.markup.elements import Element, Paragraph, Reference
from spanwise.readers.ooxml.drafts import Draft, Entry, Label, grouped
from spanwise.readers.ooxml.equations import linear
from spanwise.readers.ooxml.names import A14, ALTERNATES, A, M, R, child, chosen, number
from spanwise.readers.ooxml.numerals import numeral
from spanwise.readers.ooxml.runs import BOLD, ITALIC, LINE, STRUCK, Run, prose_of
from spanwise.readers.ooxml.symbols import without_private
from spanwise.readers.pptx.masters import Bullet

_LEVELS: Final = 9
_FORMS: Final = {
    "arabic": "decimal", "alphaLc": "lowerLetter", "alphaUc": "upperLetter", "romanLc": "lowerRoman",
    "romanUc": "upperRoman", "circleNum": "decimalEnclosedCircle", "ea1Chs": "chineseCounting",
    "ea1Cht": "chineseCounting", "ea1Jpn": "japaneseCounting",
}  # fmt: skip
_ENDS: Final = {"Period": ("", "."), "ParenR": ("", ")"), "ParenBoth": ("(", ")"), "Minus": ("- ", " -")}
_ON: Final = frozenset({"1", "true", "on"})

Addresses = Callable[[str | None], str]
"""Returns the address outside that an id of a relation stands for, or ""."""


def text_elements(
    body: Any, bullet_of: Callable[[list[Any], int], Bullet], addresses: Addresses, reference: Reference
) -> list[Element]:
    """Return the paragraphs and lists of a text; `bullet_of` takes what a paragraph states, and its level."""
    styles = child(body, f"{A}lstStyle")
    counts: list[int | None] = [None] * _LEVELS
    drafts: list[Draft] = []
    for paragraph in body.iterchildren(f"{A}p"):
        runs = runs_of(paragraph, addresses)
        if not any(run.text.strip() for run in runs):
            continue
        properties = child(paragraph, f"{A}pPr")
        level = min(max(number(properties.get("lvl")) or 0, 0), _LEVELS - 1) if properties is not None else 0
        bullet = bullet_of([properties, child(styles, f"{A}lvl{level + 1}pPr")], level)
        counts[level + 1 :] = [None] * (_LEVELS - level - 1)
        if bullet.kind == "none":
            counts[level] = None
            drafts.append(Draft(1, "block", Paragraph(prose_of(runs), reference)))
            continue
        label = _label(bullet, level, counts)
        if label.text and label.number is None:
            runs = [Run(label.text + " "), *runs]
        entry = Entry(label, None, (Paragraph(prose_of(runs), reference),), reference)
        drafts.append(Draft(1, "item", entry))
    return [one.element for one in grouped(drafts)]


def _label(bullet: Bullet, level: int, counts: list[int | None]) -> Label:
    if bullet.kind != "auto":
        counts[level] = None
        return Label("", level, None)
    reached = counts[level]
    counts[level] = count = bullet.start if reached is None else reached + 1
    ending = next((name for name in _ENDS if bullet.form.endswith(name)), "")
    before, after = _ENDS.get(ending, ("", ""))
    form = _FORMS.get(bullet.form.removesuffix(ending), "decimal")
    label = Label("", level, None, text=f"{before}{numeral(count, form)}{after}")
    if form == "decimal" and not before and count >= 0:
        return label._replace(number=count, closing=after or ".")
    return label


def runs_of(paragraph: Any, addresses: Addresses) -> list[Run]:
    """Return the runs of a paragraph."""
    runs: list[Run] = []
    for one in paragraph:
        tag = one.tag
        if tag in {f"{A}r", f"{A}fld"}:
            runs.append(_run(one, addresses))
        elif tag == f"{A}br":
            runs.append(Run(LINE))
        elif tag == ALTERNATES:
            choice = chosen(one)
            runs += runs_of(choice, addresses) if choice is not None else ()
        elif tag in {f"{A14}m", f"{M}oMath", f"{M}oMathPara"}:
            runs.append(Run(linear(one)))
    return runs


def _run(run: Any, addresses: Addresses) -> Run:
    properties = child(run, f"{A}rPr")
    text = child(run, f"{A}t")
    content = (text.text or "") if text is not None else ""
    if properties is None:
        return Run(without_private(content, None))
    font = child(properties, f"{A}sym")
    marks = [BOLD] if properties.get("b", "0") in _ON else []
    marks += [ITALIC] if properties.get("i", "0") in _ON else []
    marks += [STRUCK] if properties.get("strike", "noStrike") != "noStrike" else []
    link = child(properties, f"{A}hlinkClick")
    target = addresses(link.get(f"{R}id")) if link is not None else ""
    face = None if font is None else font.get("typeface")
    return Run(without_private(content, face).replace(LINE, " "), tuple(marks), target=target)
