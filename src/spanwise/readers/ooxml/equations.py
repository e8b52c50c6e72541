"""Equations as linear text, as people write them in one line: `x^2`, `(a+b)/c`, `√(x)`, `∑_(i=1)^n i`."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, Final

from spanwise.readers.ooxml.names import ALTERNATES, M, W, child, chosen, value

_DEEPEST: Final = 40
_ATOM: Final = re.compile(r"\w+|.|[(\[{|][^()\[\]{}|]*[)\]}|]", re.DOTALL)
_VALUE: Final = f"{M}val"
_SKIPPED: Final = frozenset({
    f"{W}del", f"{W}moveFrom", f"{W}rPr", f"{M}rPr", f"{M}ctrlPr", f"{M}argPr", f"{M}fPr", f"{M}dPr", f"{M}naryPr",
})  # fmt: skip


def linear(element: Any, depth: int = 0) -> str:
    """Return the content of an element of an equation as one line."""
    if depth > _DEEPEST:
        return "".join(inner.text or "" for inner in element.iter(f"{M}t"))
    pieces = []
    for inner in element:
        tag = inner.tag
        if tag in _SKIPPED:
            continue
        if tag == f"{M}t":
            pieces.append(inner.text or "")
        elif tag == ALTERNATES:
            choice = chosen(inner)
            pieces.append(linear(choice, depth + 1) if choice is not None else "")
        else:
            if tag == f"{M}func" and pieces and pieces[-1][-1:].isalnum():
                pieces.append(" ")  # else the name would be one with the letter before
            pieces.append(_FORMS.get(tag, linear)(inner, depth + 1))
    return "".join(pieces)


def _of(element: Any, name: str, depth: int) -> str:
    found = child(element, M + name)
    return "" if found is None else linear(found, depth)


def _group(text: str) -> str:
    """Return a text in brackets, unless it is one sign, word or group."""
    return text if not text or _ATOM.fullmatch(text) else f"({text})"


def _fraction(element: Any, depth: int) -> str:
    above, below = _of(element, "num", depth), _of(element, "den", depth)
    if value(child(element, f"{M}fPr"), f"{M}type", _VALUE) == "noBar":
        return f"({above} over {below})"
    return f"{_group(above)}/{_group(below)}"


def _scripts(element: Any, depth: int) -> str:
    base = _of(element, "e", depth)
    below, above = _of(element, "sub", depth), _of(element, "sup", depth)
    scripts = (f"_{_group(below)}" if below else "") + (f"^{_group(above)}" if above else "")
    return f"{scripts} {base}" if element.tag == f"{M}sPre" else f"{_group(base)}{scripts}"


def _root(element: Any, depth: int) -> str:
    degree, base = _of(element, "deg", depth), _of(element, "e", depth)
    sign = {"": "√", "2": "√", "3": "∛", "4": "∜"}.get(degree.strip())
    return f"{sign}({base})" if sign else f"√({degree}&{base})"


def _brackets(element: Any, depth: int) -> str:
    known = child(element, f"{M}dPr")
    signs = [value(known, M + name, _VALUE) for name in ("begChr", "sepChr", "endChr")]
    opening, between, closing = (usual if sign is None else sign for sign, usual in zip(signs, "(|)", strict=True))
    return opening + between.join(linear(inner, depth) for inner in element.iterchildren(f"{M}e")) + closing


def _operator(element: Any, depth: int) -> str:
    sign = value(child(element, f"{M}naryPr"), f"{M}chr", _VALUE)
    below, above = _of(element, "sub", depth), _of(element, "sup", depth)
    scripts = (f"_{_group(below)}" if below else "") + (f"^{_group(above)}" if above else "")
    return f"{'∫' if sign is None else sign}{scripts} {_of(element, 'e', depth)}"


def _function(element: Any, depth: int) -> str:
    return f"{_of(element, 'fName', depth)} {_of(element, 'e', depth)}"


def _limit(element: Any, depth: int) -> str:
    sign = "_" if element.tag == f"{M}limLow" else "^"
    return f"{_of(element, 'e', depth)}{sign}{_group(_of(element, 'lim', depth))}"


def _accent(element: Any, depth: int) -> str:
    sign = value(child(element, f"{M}accPr"), f"{M}chr", _VALUE)
    return _of(element, "e", depth) + ("\u0302" if sign is None else sign)


def _bar(element: Any, depth: int) -> str:
    is_top = value(child(element, f"{M}barPr"), f"{M}pos", _VALUE) == "top"
    return _of(element, "e", depth) + ("\u0305" if is_top else "\u0332")


def _matrix(element: Any, depth: int) -> str:
    rows = (
        ", ".join(linear(cell, depth) for cell in row.iterchildren(f"{M}e")) for row in element.iterchildren(f"{M}mr")
    )
    return f"[{'; '.join(rows)}]"


def _lines(element: Any, depth: int) -> str:
    return "; ".join(linear(line, depth) for line in element.iterchildren(f"{M}e", f"{M}oMath"))


_FORMS: Final[dict[str, Callable[[Any, int], str]]] = {
    f"{M}f": _fraction, f"{M}sSup": _scripts, f"{M}sSub": _scripts, f"{M}sSubSup": _scripts, f"{M}sPre": _scripts,
    f"{M}rad": _root, f"{M}d": _brackets, f"{M}nary": _operator, f"{M}func": _function, f"{M}limLow": _limit,
    f"{M}limUpp": _limit, f"{M}acc": _accent, f"{M}bar": _bar, f"{M}m": _matrix, f"{M}eqArr": _lines,
    f"{M}oMathPara": _lines,
}  # fmt: skip
