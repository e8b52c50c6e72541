"""Characters of symbol fonts, which files hold under private numbers, as the characters that they look like."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

_PRIVATE: Final = re.compile("[\uf020-\uf0ff]")
_SYMBOL: Final[Mapping[int, str]] = {
    **dict(zip(range(0x41, 0x5B), "ΑΒΧΔΕΦΓΗΙϑΚΛΜΝΟΠΘΡΣΤΥςΩΞΨΖ", strict=True)),
    **dict(zip(range(0x61, 0x7B), "αβχδεφγηιϕκλμνοπθρστυϖωξψζ", strict=True)),
    **dict(zip(range(0xA1, 0xC0), "ϒ′≤⁄∞ƒ♣♦♥♠↔←↑→↓°±″≥×∝∂•÷≠≡≈…⏐⎯↵", strict=True)),
    **dict(zip(range(0xC0, 0xE1), "ℵℑℜ℘⊗⊕∅∩∪⊃⊇⊄⊂⊆∈∉∠∇®©™∏√⋅¬∧∨⇔⇐⇑⇒⇓◊", strict=True)),
    **dict(zip(range(0xE1, 0xF0), "〈®©™∑⎛⎜⎝⎡⎢⎣⎧⎨⎩⎪", strict=True)),
    **dict(zip(range(0xF1, 0xFF), "〉∫⌠⎮⌡⎞⎟⎠⎤⎥⎦⎫⎬⎭", strict=True)),
    0x22: "∀", 0x24: "∃", 0x27: "∋", 0x2A: "∗", 0x2D: "−", 0x40: "≅", 0x5C: "∴", 0x5E: "⊥", 0x7E: "∼",
}  # fmt: skip
_WINGDINGS: Final[Mapping[int, str]] = {
    0x22: "✂", 0x28: "☎", 0x2A: "✉", 0x46: "☞", 0x4A: "☺", 0x4B: "😐", 0x4C: "☹", 0x6C: "●", 0x6E: "■", 0x6F: "□",
    0x70: "□", 0x71: "❑", 0x72: "❒", 0x73: "⬧", 0x74: "⧫", 0x75: "◆", 0x76: "❖", 0x77: "⬥", 0x78: "☒", 0x9E: "·",
    0x9F: "•", 0xA0: "▪", 0xA1: "○", 0xA4: "◉", 0xA5: "◎", 0xA7: "▪", 0xA8: "□", 0xAB: "★", 0xD8: "➢", 0xDF: "←",
    0xE0: "→", 0xE1: "↑", 0xE2: "↓", 0xE8: "➔", 0xEF: "⇦", 0xF0: "⇨", 0xF1: "⇧", 0xF2: "⇩", 0xF3: "⬄", 0xF4: "⇳",
    0xFB: "✗", 0xFC: "✓", 0xFD: "☒", 0xFE: "☑",
}  # fmt: skip
_WINGDINGS_2: Final[Mapping[int, str]] = {0x4F: "✗", 0x50: "✓", 0x51: "☒", 0x52: "☑", 0x53: "☒", 0x54: "☒", 0xA3: "□"}
_FONTS: Final = {"wingdings": _WINGDINGS, "wingdings 2": _WINGDINGS_2}


def symbol(code: str | None, font: str | None) -> str:
    """Return the character of a symbol font by its number in hexadecimal; "" if that is none."""
    try:
        number = int(code or "", 16)
    except ValueError:
        return ""
    if 0xF000 <= number <= 0xF0FF:
        return _in_font(number - 0xF000, font)
    return chr(number) if 0x20 <= number < 0xD800 or 0xE000 <= number < 0xFFFE else ""


def without_private(text: str, font: str | None) -> str:
    """Return a text with the private characters of a symbol font as those that they look like."""
    if text.isascii() or not _PRIVATE.search(text):
        return text
    return _PRIVATE.sub(lambda found: _in_font(ord(found[0]) - 0xF000, font), text)


def _in_font(code: int, font: str | None) -> str:
    """Return the character that a symbol font shows for a code; what isn't known is a small square."""
    table = _FONTS.get((font or "").lower(), _SYMBOL)
    known = table.get(code)
    if known is not None:
        return known
    return chr(code) if table is _SYMBOL and 0x20 <= code < 0x7F else "▪"
