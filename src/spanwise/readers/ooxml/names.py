"""The namespaces of Open XML, as lxml writes them before a name; those of Strict files are made these when read."""

from __future__ import annotations

from typing import Any, Final

_SCHEMAS: Final = "{http://schemas.openxmlformats.org/"
W: Final = f"{_SCHEMAS}wordprocessingml/2006/main}}"
A: Final = f"{_SCHEMAS}drawingml/2006/main}}"
P: Final = f"{_SCHEMAS}presentationml/2006/main}}"
R: Final = f"{_SCHEMAS}officeDocument/2006/relationships}}"
M: Final = f"{_SCHEMAS}officeDocument/2006/math}}"
C: Final = f"{_SCHEMAS}drawingml/2006/chart}}"
DGM: Final = f"{_SCHEMAS}drawingml/2006/diagram}}"
PIC: Final = f"{_SCHEMAS}drawingml/2006/picture}}"
WP: Final = f"{_SCHEMAS}drawingml/2006/wordprocessingDrawing}}"
MC: Final = f"{_SCHEMAS}markup-compatibility/2006}}"
V: Final = "{urn:schemas-microsoft-com:vml}"
O: Final = "{urn:schemas-microsoft-com:office:office}"  # noqa: E741 - its usual prefix
A14: Final = "{http://schemas.microsoft.com/office/drawing/2010/main}"

ALTERNATES: Final = f"{MC}AlternateContent"
_OFF: Final = frozenset({"0", "false", "off"})
_UNITS: Final = {"pt": 20.0, "in": 1440.0, "cm": 567.0, "mm": 56.7, "pc": 240.0, "pi": 240.0}


def chosen(alternates: Any) -> Any:
    """Return the one of several ways to say the same that is read: the first choice, else the fallback; else None."""
    return next(iter(alternates.iterchildren(f"{MC}Choice", f"{MC}Fallback")), None)


def child(element: Any, name: str) -> Any:
    """Return the first child of a name; None without one, or without an element."""
    return None if element is None else element.find(name)


def value(element: Any, name: str, attribute: str = f"{W}val") -> str | None:
    """Return an attribute of the first child of a name."""
    found = child(element, name)
    return None if found is None else found.get(attribute)


def flag(element: Any, name: str) -> bool | None:
    """Return whether a property is switched on, by a child of a name; None if nothing is said."""
    found = child(element, name)
    return None if found is None else is_on(found)


def is_on(element: Any) -> bool:
    """Whether an element switches a property on."""
    return element.get(f"{W}val", "1").lower() not in _OFF


def number(text: str | None) -> int | None:
    """Return a whole number that a file states; None if it is none."""
    try:
        found = int(text) if text else None
    except ValueError:
        return None
    return found if found is not None and abs(found) < 1 << 31 else None


def twips(text: str | None) -> int | None:
    """Return a length in twentieths of a point; Strict files state it with a unit."""
    if text and text[-2:] in _UNITS:
        try:
            return int(float(text[:-2]) * _UNITS[text[-2:]])
        except (ValueError, OverflowError):
            return None
    return number(text)


def words_of(element: Any, name: str) -> str:
    """Return the text of all elements of a name inside another, with one space between paragraphs."""
    found = (one.text or "" if one.tag == name else " " for one in element.iter(name, f"{W}p", f"{A}p"))
    return " ".join("".join(found).split())
