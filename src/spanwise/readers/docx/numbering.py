"""Numbering: the label that Word shows before a paragraph, counted as Word counts."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from spanwise.readers.docx.styles import Styles, left_of
from spanwise.readers.ooxml.drafts import Label
from spanwise.readers.ooxml.names import W, child, flag, number, value
from spanwise.readers.ooxml.numerals import numeral

_LEVELS: Final = 9
_PLACE: Final = re.compile(r"%([1-9])")
_SIMPLE: Final = re.compile(r"%[1-9]([.)]?)\s*")
_LAST_NUMBER: Final = 999_999_999


class Level(NamedTuple):
    """A level of a numbering: how it counts, and the pattern of its label."""

    start: int = 1
    form: str = "decimal"
    pattern: str = ""
    restart: int | None = None
    is_legal: bool = False
    left: int | None = None
    style: str | None = None


@dataclass(slots=True)
class _Counts:
    """How far a list has counted, by level; the lists of one definition count together."""

    numbers: list[int | None]


class Numbering:
    """The numberings of a document, and how far each has counted."""

    def __init__(self, root: Any, styles: Styles) -> None:
        """Read the part with numberings, if there is one."""
        self._styles = styles
        self._abstract = _by_id(root, "abstractNum", "abstractNumId")
        self._nums = _by_id(root, "num", "numId")
        self._levels: dict[str, dict[int, Level]] = {}
        self._known: dict[str, tuple[str, dict[int, Level], dict[int, int]]] = {}
        self._counts: dict[str, _Counts] = {}
        self._restarted: set[tuple[str, int]] = set()

    def label(self, num_id: str, level: int | None, num_style: str) -> Label | None:
        """Count a paragraph and return its label; None if the numbering is none, or not defined."""
        if num_id == "0" or num_id not in self._nums:
            return None
        abstract, levels, starts = self._numbering(num_id)
        if level is None:
            level = next((index for index, one in levels.items() if one.style == num_style), 0)
        level = min(max(level, 0), _LEVELS - 1)
        one = levels.get(level)
        if one is None:
            return None
        counts = self._counts.setdefault(abstract, _Counts([None] * _LEVELS)).numbers
        self._count(counts, levels, level, (num_id, starts))
        if one.form == "none" and not one.pattern.strip():
            return None
        if one.form == "bullet":
            return Label(abstract, level, one.left)
        return _label(Label(abstract, level, one.left), one, levels, counts)

    def _count(
        self, counts: list[int | None], levels: Mapping[int, Level], level: int, num: tuple[str, Mapping[int, int]]
    ) -> None:
        num_id, starts = num
        start = starts.get(level)
        if start is not None and (num_id, level) not in self._restarted:
            self._restarted.add((num_id, level))
            counts[level] = start
        else:
            reached = counts[level]
            counts[level] = levels[level].start if reached is None else reached + 1
        for above in range(level):
            if counts[above] is None:
                counts[above] = levels[above].start if above in levels else 1
        for below in range(level + 1, _LEVELS):
            restart = levels[below].restart if below in levels else None
            if restart is None or level < restart:
                counts[below] = None

    def _numbering(self, num_id: str) -> tuple[str, dict[int, Level], dict[int, int]]:
        """Return the definition of a numbering, its levels, and where some of them start anew."""
        known = self._known.get(num_id)
        if known is not None:
            return known
        abstract = self._definition(value(self._nums[num_id], f"{W}abstractNumId") or "")
        levels, starts = dict(self._levels_of(abstract)), dict[int, int]()
        for override in self._nums[num_id].iterchildren(f"{W}lvlOverride"):
            index = number(override.get(f"{W}ilvl")) or 0
            if (start := number(value(override, f"{W}startOverride"))) is not None:
                starts[index] = start
            if (own := child(override, f"{W}lvl")) is not None:
                levels[index] = _level(own)
                starts.setdefault(index, levels[index].start)
        known = self._known[num_id] = (abstract, levels, starts)
        return known

    def _definition(self, abstract: str) -> str:
        """Return the definition that another stands for by the name of a style; itself if it stands for none."""
        linked = value(self._abstract.get(abstract), f"{W}numStyleLink")
        if linked is None:
            return abstract
        num = self._nums.get(self._styles.of(linked).num_id or "")
        meant = value(num, f"{W}abstractNumId")
        return meant if meant in self._abstract else abstract

    def _levels_of(self, abstract: str) -> dict[int, Level]:
        known = self._levels.get(abstract)
        if known is None:
            element = self._abstract.get(abstract)
            found = () if element is None else element.iterchildren(f"{W}lvl")
            known = self._levels[abstract] = {number(one.get(f"{W}ilvl")) or 0: _level(one) for one in found}
        return known


def _by_id(root: Any, name: str, key: str) -> dict[str, Any]:
    found = () if root is None else root.iterchildren(W + name)
    return {element.get(W + key, ""): element for element in found}


def _level(element: Any) -> Level:
    start = number(value(element, f"{W}start"))
    indent = child(child(element, f"{W}pPr"), f"{W}ind")
    return Level(
        0 if start is None else start,
        value(element, f"{W}numFmt") or _special_form(element) or "decimal",
        value(element, f"{W}lvlText") or "",
        number(value(element, f"{W}lvlRestart")),
        flag(element, f"{W}isLgl") or False,
        left_of(indent),
        value(element, f"{W}pStyle"),
    )


def _special_form(element: Any) -> str | None:
    """Return the form of a number that newer versions of Word state beside one for older versions."""
    return next((found for one in element.iter(f"{W}numFmt") if (found := one.get(f"{W}val"))), None)


def _label(label: Label, level: Level, levels: Mapping[int, Level], counts: list[int | None]) -> Label:
    """Return a label with its number or text."""
    reached = counts[label.level] or 0

    def shown(place: re.Match[str]) -> str:
        index = int(place[1]) - 1
        form = levels[index].form if index in levels else "decimal"
        plain = level.is_legal or form in {"bullet", "none"}
        return numeral(counts[index] or 0, "decimal" if plain else form)

    label = label._replace(text=" ".join(_PLACE.sub(shown, level.pattern).split()))
    simple = _SIMPLE.fullmatch(level.pattern)
    if simple and level.form == "decimal" and 0 <= reached <= _LAST_NUMBER and int(level.pattern[1]) == label.level + 1:
        return label._replace(number=reached, closing=simple[1] or ".")
    return label
