"""Styles: what a paragraph is by its style and those that it is based on, and how runs look."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Final

from spanwise.readers.ooxml.names import W, child, flag, is_on, number, twips, value
from spanwise.readers.ooxml.runs import BOLD, ITALIC, STRUCK

_HEADING: Final = re.compile(
    r"(?:heading|(?:ü|u)?berschrift|t[ií]?tulo|ttulo|titolo|titre|nag(?:ł|l)?(?:ó|o)?wek|заголовок|kop|rubrik|"
    r"overskrift|otsikko|nadpis|c(?:í|i)?msor|ba(?:ş|s)?l(?:ı|i)?k|标题|標題|見出し|제목|επικεφαλίδα|naslov|antraštė|"
    r"virsraksts|pealkiri|encabezado|cabeçalho|заглавие|titlu)\s*([1-9])\b",
    re.IGNORECASE,
)
_TITLES: Final = frozenset({
    "title", "titel", "titre", "tytuł", "título", "titolo", "название", "назва", "название документа", "标题", "表題",
    "제목", "otsikko", "tittel", "rubrik", "cím", "název", "τίτλος",
})  # fmt: skip
_SUBTITLES: Final = frozenset(
    {"subtitle", "untertitel", "sous-titre", "podtytuł", "subtítulo", "sottotitolo", "подзаголовок"}
)
_CODE: Final = frozenset({
    "source code", "sourcecode", "html preformatted", "htmlpreformatted", "preformatted text", "code", "code block",
    "source", "program listing", "programlisting", "listing",
})  # fmt: skip
_QUOTES: Final = frozenset(
    {"quote", "intense quote", "block text", "quotations", "block quotation", "zitat", "citation"}
)
_CAPTIONS: Final = frozenset(
    {"caption", "beschriftung", "légende", "legenda", "didascalia", "название объекта", "leyenda"}
)
_KINDS: Final = {
    **dict.fromkeys(_TITLES, "title"), **dict.fromkeys(_SUBTITLES, ""), **dict.fromkeys(_CODE, "code"),
    **dict.fromkeys(_QUOTES, "quote"), **dict.fromkeys(_CAPTIONS, "caption"),
}  # fmt: skip
_CODE_LETTERS: Final = frozenset({
    "verbatim char", "html code", "html typewriter", "html keyboard", "html sample", "source text", "code", "code char",
    "inline code", "teletype", "htmlcode", "verbatimchar",
})  # fmt: skip
_LEVELS: Final = range(9)
_DEEPEST_LEVEL: Final = 6
_TOGGLES: Final = {f"{W}b": BOLD, f"{W}i": ITALIC, f"{W}strike": STRUCK, f"{W}dstrike": STRUCK}
_FONTS: Final = f"{W}rFonts"
_VANISH: Final = f"{W}vanish"


@dataclass(frozen=True, slots=True)
class Style:
    """What a style says, those it is based on included; `kind` is `title`, `code`, `quote`, `caption` or nothing."""

    level: int | None = None
    kind: str = ""
    num_id: str | None = None
    num_level: int | None = None
    left: int | None = None
    breaks_page: bool = False
    marks: frozenset[str] = frozenset()
    is_hidden: bool = False
    is_code: bool = False
    num_style: str = ""


@dataclass(frozen=True, slots=True)
class Look:
    """How a run looks: its marks in order, and whether it is code or hidden; `font` is that of symbols."""

    marks: tuple[str, ...] = ()
    is_code: bool = False
    is_hidden: bool = False
    font: str | None = None


_NO_STYLE: Final = Style()
_NO_LOOK: Final = Look()
_SIGNS: Final = (BOLD, ITALIC, STRUCK)


class Styles:
    """The styles of a document, by their ids."""

    def __init__(self, root: Any) -> None:
        """Read the part with styles, if there is one."""
        self._elements: dict[str, Any] = {}
        self._resolved: dict[str, Style] = {}
        self._default = ""
        for element in () if root is None else root.iterchildren(f"{W}style"):
            key = element.get(f"{W}styleId", "")
            self._elements.setdefault(key, element)
            if element.get(f"{W}type") == "paragraph" and element.get(f"{W}default") in {"1", "true", "on"}:
                self._default = key
        defaults = child(child(child(root, f"{W}docDefaults"), f"{W}rPrDefault"), f"{W}rPr")
        self._base = replace(_NO_STYLE, is_hidden=flag(defaults, _VANISH) or False)

    def paragraph(self, properties: Any) -> Style:
        """Return what a paragraph is by its properties: its style, and what it says itself."""
        style = self.of(value(properties, f"{W}pStyle") or self._default)
        return style if properties is None else _direct(style, properties)

    def of(self, key: str) -> Style:
        """Return a style with all that it is based on; one that the file doesn't define goes by its id."""
        known = self._resolved.get(key)
        if known is not None:
            return known
        chain: list[str] = []
        seen: set[str] = set()
        while key and key not in seen and key not in self._resolved:
            seen.add(key)
            chain.append(key)
            key = value(self._elements.get(key), f"{W}basedOn") or ""
        style = self._resolved.get(key, self._base)
        for name in reversed(chain):
            style = self._resolved[name] = self._own(name, style)
        return style

    def look(self, style: Style, properties: Any) -> Look:
        """Return how a run looks in a paragraph; emphasis that its whole paragraph has is none."""
        if properties is None:
            return Look(is_hidden=True) if style.is_hidden else _NO_LOOK
        letters = self.of(key) if (key := value(properties, f"{W}rStyle")) else _NO_STYLE
        marks = letters.marks - style.marks
        is_hidden = style.is_hidden or letters.is_hidden
        font = None
        for one in properties:
            tag = one.tag
            if tag == _VANISH:
                is_hidden = is_on(one)
            elif tag == _FONTS:
                font = one.get(f"{W}ascii") or one.get(f"{W}hAnsi")
            elif sign := _TOGGLES.get(tag):
                marks = marks | {sign} if is_on(one) and sign not in style.marks else marks - {sign}
        if not (marks or is_hidden or letters.is_code or font):
            return _NO_LOOK
        return Look(tuple(sign for sign in _SIGNS if sign in marks), letters.is_code, is_hidden, font)

    def _own(self, key: str, base: Style) -> Style:
        """Return a style that is based on another."""
        element = self._elements.get(key)
        name = (value(element, f"{W}name") or key).strip().lower()
        style = base
        if heading := _HEADING.match(name):
            style = replace(style, level=min(int(heading[1]), _DEEPEST_LEVEL))
        if name in _KINDS:
            style = replace(style, kind=_KINDS[name])
        if name in _CODE_LETTERS:
            style = replace(style, is_code=True)
        properties = child(element, f"{W}pPr")
        style = _direct(style, properties)
        if value(child(properties, f"{W}numPr"), f"{W}numId"):
            style = replace(style, num_style=key)
        letters = child(element, f"{W}rPr")
        if letters is None:
            return style
        marks = style.marks
        for one in letters:
            if sign := _TOGGLES.get(one.tag):
                marks = marks | {sign} if is_on(one) else marks - {sign}
        hidden = flag(letters, _VANISH)
        return replace(style, marks=marks, is_hidden=style.is_hidden if hidden is None else hidden)


def _direct(style: Style, properties: Any) -> Style:
    """Return a style with what properties of a paragraph say besides."""
    changed: dict[str, Any] = {}
    for one in () if properties is None else properties:
        if read := _PROPERTIES.get(one.tag):
            changed |= read(one)
    return replace(style, **changed) if changed else style


def _outline(element: Any) -> dict[str, Any]:
    outline = number(element.get(f"{W}val"))
    if outline is None:
        return {}
    return {"level": min(outline + 1, _DEEPEST_LEVEL) if outline in _LEVELS else None}


def _numbering(element: Any) -> dict[str, Any]:
    num_id, level = value(element, f"{W}numId"), number(value(element, f"{W}ilvl"))
    found: dict[str, Any] = {"num_id": num_id} if num_id else {}
    return found if level is None else {**found, "num_level": level}


def _indentation(element: Any) -> dict[str, Any]:
    left = left_of(element)
    return {} if left is None else {"left": left}


def left_of(indent: Any) -> int | None:
    """Return the left indentation that an element states; None if it states none."""
    return None if indent is None else twips(indent.get(f"{W}left") or indent.get(f"{W}start"))


_PROPERTIES: Final[dict[str, Callable[[Any], dict[str, Any]]]] = {
    f"{W}outlineLvl": _outline, f"{W}numPr": _numbering, f"{W}ind": _indentation,
    f"{W}pageBreakBefore": lambda element: {"breaks_page": is_on(element)},
}  # fmt: skip
