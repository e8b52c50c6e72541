"""The body that Outlook stores as RTF: inflated, and turned back into the HTML it was made of, or into plain text."""

from __future__ import annotations

import re
import struct
from dataclasses import dataclass, field, replace
from typing import Final

from spanwise.readers.encodings import decoded_as

_START: Final = (
    b"{\\rtf1\\ansi\\mac\\deff0\\deftab720{\\fonttbl;}{\\f0\\fnil \\froman \\fswiss \\fmodern \\fscript \\fdecor "
    b"MS Sans SerifSymbolArialTimes New RomanCourier{\\colortbl\\red0\\green0\\blue0\r\n\\par "
    b"\\pard\\plain\\f0\\fs20\\b\\i\\u\\tab\\tx"
)
"""What the window of the compression holds at the beginning."""
_WINDOW: Final = 4096
_COMPRESSED, _STORED = b"LZFu", b"MELA"
_TOKEN: Final = re.compile(
    r"\\(?:([A-Za-z]{1,32})(-?\d{1,9})? ?|'([0-9A-Fa-f]{2})|([^A-Za-z]))|([{}])|([^\\{}\r\n]+)", re.DOTALL
)
_CHARSETS: Final = {
    0: 1252, 128: 932, 129: 949, 134: 936, 136: 950, 161: 1253, 162: 1254, 163: 1258, 177: 1255, 178: 1256, 186: 1257,
    204: 1251, 222: 874, 238: 1250,
}  # fmt: skip
_SIGNS: Final = {
    "par": "\n", "line": "\n", "sect": "\n", "page": "\n", "row": "\n", "tab": "\t", "cell": "\t", "lquote": "‘",
    "rquote": "’", "ldblquote": "“", "rdblquote": "”", "bullet": "•", "endash": "–", "emdash": "—", "emspace": " ",
    "enspace": " ", "nbsp": "\xa0",
}  # fmt: skip
_SYMBOLS: Final = {"~": "\xa0", "_": "-", "\n": "\n", "\r": "\n", "{": "{", "}": "}", "\\": "\\", "-": ""}
_NO_TEXT: Final = frozenset({
    "fonttbl", "colortbl", "stylesheet", "info", "pict", "object", "header", "footer", "headerl", "headerr", "footerl",
    "footerr", "listtable", "listoverridetable", "generator", "themedata", "xmlnstbl", "fldinst", "objdata",
})  # fmt: skip


def inflated(data: bytes) -> bytes:
    """Return the RTF of a compressed body as far as it goes; nothing if it isn't one."""
    if len(data) < 16:
        return b""
    size, kind = struct.unpack_from("<I", data, 4)[0], data[8:12]
    if kind == _STORED:
        return data[16 : 16 + size]
    if kind != _COMPRESSED:
        return b""
    found = bytearray(_START)
    position, end = 16, len(data)
    while position < end:
        control = data[position]
        position += 1
        for bit in range(8):
            if position >= end:
                break
            if not control >> bit & 1:
                found.append(data[position])
                position += 1
                continue
            pair = data[position] << 8 | (data[position + 1] if position + 1 < end else 0)
            position += 2
            if not _copy(found, pair >> 4, (pair & 15) + 2):
                return bytes(found[len(_START) :])
    return bytes(found[len(_START) :])


def _copy(found: bytearray, offset: int, length: int) -> bool:
    """Append bytes from an offset of the window on; return False at the end, which is a copy of what comes next."""
    back = (len(found) - offset) % _WINDOW
    if not back:
        return False
    start = len(found) - back
    if start < 0:
        found += b"\0" * length
        return True
    for index in range(start, start + length):
        found.append(found[index])
    return True


@dataclass(frozen=True, slots=True)
class _State:
    """What holds in a group."""

    silent: bool = False  # a destination that is no text
    hidden: bool = False  # RTF beside the HTML
    tag: bool = False  # a tag of the HTML
    fonts: bool = False
    font: int = 0
    skipped: int = 1  # characters after one of Unicode, for programs that don't know it


@dataclass(slots=True)
class _Writer:
    """What was read so far; bytes wait for their neighbours, as a character may be several."""

    page: int = 1252
    pieces: list[str] = field(default_factory=list)
    waiting: bytearray = field(default_factory=bytearray)
    waiting_page: int = 1252
    pages: dict[int, int] = field(default_factory=dict)  # of fonts

    def add_bytes(self, data: bytes, font: int) -> None:
        page = self.pages.get(font, self.page)
        if page != self.waiting_page:
            self.flush()
            self.waiting_page = page
        self.waiting += data

    def add(self, text: str) -> None:
        self.flush()
        self.pieces.append(text)

    def flush(self) -> None:
        if self.waiting:
            data = bytes(self.waiting)
            text = decoded_as(data, f"cp{self.waiting_page}", "replace")
            self.pieces.append(data.decode("latin-1") if text is None else text)
            self.waiting.clear()

    def text(self) -> str:
        self.flush()
        joined = "".join(self.pieces)
        return joined.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")  # pairs come one by one


def text_of(data: bytes) -> tuple[str, bool]:
    """Return the text of RTF, and whether it is HTML."""
    rtf = data.decode("latin-1")
    is_html = "\\fromhtml" in rtf[:2000]
    writer, state, stack, skip = _Writer(), _State(), list[_State](), 0
    is_first = False  # whether the next word names the destination of a group
    for word, number, code, symbol, brace, text in _TOKEN.findall(rtf):
        if brace:
            if brace == "{":
                stack.append(state)
            elif stack:
                state = stack.pop()
            is_first, skip = brace == "{", 0
        elif symbol == "*" and is_first:
            state = replace(state, silent=True)
        elif word:
            value = int(number) if number else None
            if word == "u" and value is not None:
                if _is_shown(state, is_html):
                    writer.add(chr(value & 0xFFFF))
                skip = state.skipped
            else:
                state = _changed(state, writer, word, value, is_html)
            is_first = False
        else:
            is_first = False
            if skip:  # what stands there for programs without Unicode
                taken = min(skip, len(text) or 1)
                skip, text = skip - taken, text[taken:]
                if not text:
                    continue
            if _is_shown(state, is_html):
                _add(writer, state, code, symbol, text)
    return writer.text(), is_html


def _add(writer: _Writer, state: _State, code: str, symbol: str, text: str) -> None:
    if text:
        writer.add_bytes(text.encode("latin-1"), state.font)
    elif code:
        writer.add_bytes(bytes.fromhex(code), state.font)
    else:
        writer.add(_SYMBOLS.get(symbol, ""))


def _is_shown(state: _State, is_html: bool) -> bool:
    return not state.silent and not (is_html and state.hidden and not state.tag)


def _changed(state: _State, writer: _Writer, word: str, value: int | None, is_html: bool) -> _State:
    """Return the state after a control word; one that stands for a character is written."""
    if word == "htmltag":
        return replace(state, silent=not is_html, tag=True)
    if word == "htmlrtf":
        return replace(state, hidden=value != 0)
    if word in _NO_TEXT:
        return replace(state, silent=True, fonts=word == "fonttbl")
    if word == "f" and value is not None:
        return replace(state, font=value)
    if word == "uc" and value is not None:
        return replace(state, skipped=max(0, min(value, 8)))
    if word == "ansicpg" and value:
        writer.page = writer.waiting_page = value
    elif word == "fcharset" and state.fonts and value in _CHARSETS:
        writer.pages[state.font] = _CHARSETS[value] if value else writer.page
    elif word in _SIGNS and _is_shown(state, is_html):
        writer.add(_SIGNS[word])
    return state
