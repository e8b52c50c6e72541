"""Where the values of a JSON text are: one pass over it, checked strictly, without making the values.

`NaN` and `Infinity` are taken as Python writes them; of equal keys each is a member of its own.
"""

from __future__ import annotations

import re
from array import array
from dataclasses import dataclass, field
from typing import Final

from spanwise.errors import UnreadableError

LONG: Final = 200  # characters; about the smallest chunk that is worth having
DEEPEST: Final = 1000
_SPACE: Final = r"[ \t\n\r]*+"
_STRING: Final = r'"(?>(?:[^"\\\x00-\x1f]+|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*)"'
_NUMBER: Final = r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?"
_SCALAR: Final = rf"(?>{_STRING}|{_NUMBER}|true|false|null|NaN|-?Infinity)"
_KEY: Final = rf"{_STRING}{_SPACE}:{_SPACE}"
_FLAT: Final = re.compile(
    rf"\{{{_SPACE}(?>(?:{_KEY}{_SCALAR}{_SPACE}(?:,{_SPACE}(?={_STRING})|(?=\}})))*)\}}"
    rf"|\[{_SPACE}(?>(?:{_SCALAR}{_SPACE}(?:,{_SPACE}(?!\])|(?=\])))*)\]"
)
_VALUE: Final = re.compile(_SCALAR)
_NAME: Final = re.compile(_KEY)
_FIRST_STRING: Final = re.compile(_STRING)
_GAP: Final = re.compile(_SPACE)
_NEXT: Final = re.compile(rf"{_SPACE}([,\]}}])?{_SPACE}")
_CLOSING: Final = {"{": "}", "[": "]"}


@dataclass(slots=True)
class Container:
    """An object or array longer than `LONG`: where each of its members starts, and the long containers among them."""

    start: int
    is_object: bool
    starts: array[int] = field(default_factory=lambda: array("q"))
    children: dict[int, Container] = field(default_factory=dict)
    end: int = 0


def scanned(text: str, start: int, end: int, *, only_long: bool = False) -> Container | None:
    """Check that a range is one JSON value with white space around it; return it if it is a container.

    With `only_long` it is returned only if it is longer than `LONG`.

    Raise UnreadableError with line and column if it is not JSON.
    """
    position = _GAP.match(text, start, end).end()  # type: ignore[union-attr]  # it matches anywhere
    found = _VALUE.match(text, position, end)
    if only_long and not found:
        found = _FLAT.match(text, position, min(end, position + LONG))
    root, after = (None, found.end()) if found else _container(text, position, end)
    after = _GAP.match(text, after, end).end()  # type: ignore[union-attr]
    if after < end:
        hint = "a file with one value a line is JSON Lines: say its format, jsonl"
        raise _wrong(text, after, "goes on after its value", hint)
    return root if root and (not only_long or after - position > LONG) else None


def key_at(text: str, position: int) -> str:
    """Return the key of the member of an object that starts at a position, as it is written."""
    found = _FIRST_STRING.match(text, position)
    return found[0] if found else '""'


def _container(text: str, position: int, end: int) -> tuple[Container, int]:
    """Scan an object or array from its bracket on; return it and where it ends."""
    here = _opened(text, position, end)
    open_ones = [here]
    position += 1
    while True:
        position, value_at = _member(text, position, end, here)
        if value_at is None:  # the bracket that closes it
            here.end = position
            done = open_ones.pop()
            if not open_ones:
                return done, position
            here = open_ones[-1]
            if done.end - done.start > LONG:
                here.children[len(here.starts) - 1] = done
        elif found := _VALUE.match(text, value_at, end) or _FLAT.match(text, value_at, min(end, value_at + LONG)):
            position = found.end()
        else:
            if len(open_ones) >= DEEPEST:
                raise _wrong(text, value_at, f"is nested deeper than {DEEPEST:,} levels", None)
            here = _opened(text, value_at, end)
            open_ones.append(here)
            position = value_at + 1


def _opened(text: str, position: int, end: int) -> Container:
    if position >= end:
        raise _wrong(text, position, "ends where a value should be", None)
    if text[position] not in "{[":
        raise _wrong(text, position, "has something here that is no value", _hint_at(text, position))
    return Container(position, text[position] == "{")


def _member(text: str, position: int, end: int, here: Container) -> tuple[int, int | None]:
    """Go to the next member of a container; return where it and its value start, or the end and None at the last."""
    closing = "}" if here.is_object else "]"
    gap = _NEXT.match(text, position, end)
    assert gap  # it matches anywhere
    mark, after = gap[1], gap.end()
    if mark and mark != "," and mark == closing:
        return gap.end(1), None
    if (mark is None) == bool(here.starts) or (mark and mark != ","):
        wanted = f"`,` or `{closing}`" if here.starts else f"a member or `{closing}`"
        at = gap.start(1) if mark else after
        missing = "ends" if at >= end else "has something else"
        raise _wrong(text, at, f"{missing} where {wanted} should be", None)
    here.starts.append(after)
    if not here.is_object:
        return after, after
    name = _NAME.match(text, after, end)
    if name is None:
        missing = "ends" if after >= end else "has something else"
        raise _wrong(text, after, f"{missing} where a key in quotes and `:` should be", _hint_at(text, after))
    return after, name.end()


def _hint_at(text: str, position: int) -> str | None:
    if text.startswith(("//", "/*", "#"), position):
        return "JSON has no comments"
    if text.startswith("'", position):
        return "JSON has double quotes"
    if text[position : position + 1] in {"}", "]"}:
        return "JSON has no comma before a closing bracket"
    if text.startswith('"', position):
        return "a string must end with a quote, and hold no line end and no unknown escape"
    return None


def _wrong(text: str, position: int, rule: str, hint: str | None) -> UnreadableError:
    line, column = text.count("\n", 0, position) + 1, position - text.rfind("\n", 0, position)
    return UnreadableError("text", f"is not JSON: line {line}, column {column} {rule}", hint=hint)
