"""What a placeholder takes from the layout and the master of its slide: bullets and its place."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, NamedTuple

from spanwise.readers.ooxml.names import A, P, child, number
from spanwise.readers.ooxml.package import Package

_BULLETS: Final = {f"{A}buChar": "char", f"{A}buBlip": "char", f"{A}buAutoNum": "auto", f"{A}buNone": "none"}
_BODIES: Final = frozenset({"body", "obj", "tbl", "chart", "dgm", "media", "clipArt", "pic", "subTitle"})
_TITLES: Final = frozenset({"title", "ctrTitle"})
_LEVELS: Final = range(1, 10)


class Placeholder(NamedTuple):
    """What makes a shape a placeholder: its type, and its index among those of its layout."""

    kind: str
    key: str

    @property
    def is_title(self) -> bool:
        """Whether it is the title of a slide."""
        return self.kind in _TITLES


class Bullet(NamedTuple):
    """A bullet, `char`, `auto` or `none`; numbers have a form and a start."""

    kind: str
    form: str = ""
    start: int = 1


class Box(NamedTuple):
    """A place on a slide."""

    left: int
    top: int
    right: int
    bottom: int


class Master:
    """A layout with its master, or a notes master, and what the presentation says for all text."""

    def __init__(self, package: Package, layout: str, defaults: Any) -> None:
        parts = [layout, package.one(layout, "slideMaster")] if layout else []
        roots = [root for part in parts if part and (root := package.xml(part)) is not None]
        self._shapes = [
            [(found, shape) for shape in root.iter(f"{P}sp") if (found := placeholder(shape))] for root in roots
        ]
        self._styles = child(roots[-1], f"{P}txStyles") if roots else None
        self._defaults = defaults
        self._known: dict[Placeholder | None, list[Any]] = {}
        self._bullets: dict[tuple[Placeholder | None, int], Bullet] = {}

    def bullet(self, place: Placeholder | None, own: Sequence[Any], level: int) -> Bullet:
        """Return the bullet of a paragraph; `own` are the properties that it and its shape state."""
        for properties in own:
            if (said := _bullet(properties)) is not None:
                return said
        key = (place, level)
        if key not in self._bullets:
            styles = [child(one, f"{A}lvl{level + 1}pPr") for one in self._inherited(place)]
            found = (said for one in styles if (said := _bullet(one)) is not None)
            self._bullets[key] = next(found, Bullet("none"))
        return self._bullets[key]

    def box(self, place: Placeholder) -> Box | None:
        """Return where the layout or the master puts a placeholder."""
        return next((box for shape in self._like(place) if (box := box_of(child(shape, f"{P}spPr")))), None)

    def _inherited(self, place: Placeholder | None) -> list[Any]:
        """Return the lists of styles that text of a placeholder takes over, the nearest first."""
        known = self._known.get(place)
        if known is None:
            known = [self._defaults]
            if place:
                bodies = [child(child(shape, f"{P}txBody"), f"{A}lstStyle") for shape in self._like(place)]
                name = "titleStyle" if place.is_title else "bodyStyle" if place.kind in _BODIES else "otherStyle"
                known = [*bodies, child(self._styles, P + name)]
            self._known[place] = known
        return known

    def _like(self, place: Placeholder) -> list[Any]:
        """Return the shapes of the layout and the master that a placeholder is like."""
        found = []
        for level, shapes in enumerate(self._shapes):
            like = (shape for one, shape in shapes if not level and one.key == place.key)
            alike = (shape for one, shape in shapes if _group(one) == _group(place))
            shape = next(like, None)
            shape = next(alike, None) if shape is None else shape
            if shape is not None:
                found.append(shape)
        return found


def placeholder(shape: Any) -> Placeholder | None:
    """Return what makes a shape a placeholder; None if it is none."""
    found = next((one for known in shape[:1] for one in known.iter(f"{P}ph")), None)
    return None if found is None else Placeholder(found.get("type", "obj"), found.get("idx", "0"))


def box_of(properties: Any) -> Box | None:
    """Return the place that the properties of a shape state."""
    place = child(properties, f"{A}xfrm")
    if place is None:
        place = child(properties, f"{P}xfrm") if properties is not None else None
    if place is None:
        return None
    offset, extent = child(place, f"{A}off"), child(place, f"{A}ext")
    if offset is None or extent is None:
        return None
    left, top = number(offset.get("x")), number(offset.get("y"))
    if left is None or top is None:
        return None
    return Box(left, top, left + (number(extent.get("cx")) or 0), top + (number(extent.get("cy")) or 0))


def _group(place: Placeholder) -> str:
    return "title" if place.is_title else "body" if place.kind in _BODIES else place.kind


def _bullet(properties: Any) -> Bullet | None:
    """Return the bullet that properties of a paragraph state."""
    for one in () if properties is None else properties:
        if kind := _BULLETS.get(one.tag):
            start = number(one.get("startAt"))
            return Bullet(kind, one.get("type", ""), 1 if start is None else start)
    return None
