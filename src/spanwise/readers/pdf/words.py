"""The words of a page in the order in which the file writes them, each with its box and style."""

from __future__ import annotations

import ctypes
import re
from array import array
from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Final, NamedTuple
from unicodedata import normalize

from spanwise.readers.pdf.geometry import Box, Frame, around, both
from spanwise.readers.pdf.library import address_of, calls

if TYPE_CHECKING:
    import pypdfium2

BROKEN: Final = "\x02\ufffe\xad"  # how a hyphen at the end of a line arrives
_WORD: Final = re.compile(rf"[^\s{BROKEN}\x00]+[{BROKEN}]*")
_BOLD: Final = re.compile(r"bold|black|heavy|demi|[-_]medi\b|bx\d|[-_,]bd\b", re.IGNORECASE)
_MONO: Final = re.compile(
    r"mono|courier|consol|menlo|typewriter|terminal|fixed|[cls][mf]tt|lmtt|ectt|code(?!c)", re.IGNORECASE
)
_SYMBOLS: Final = {  # what fonts of symbols put into the private area
    0xF0B7: "•", 0xF0A7: "▪", 0xF0A8: "▫", 0xF0D8: "➢", 0xF0FC: "✓", 0xF076: "❖", 0xF02D: "-", 0xF06F: "□",
    0xFB00: "ff", 0xFB01: "fi", 0xFB02: "fl", 0xFB03: "ffi", 0xFB04: "ffl", 0xFB05: "ft", 0xFB06: "st",
}  # fmt: skip
_UNUSUAL: Final = re.compile("[\uf000-\uf0ff\ufb00-\ufb06]")
_FIXED_PITCH, _FORCED_BOLD = 1, 1 << 18
_HEAVY: Final = 600
_STROKED: Final = 2  # text that is filled and stroked looks bold


class Style(NamedTuple):
    """What a run of text looks like, and what the file calls it."""

    font: str
    size: float
    bold: bool
    mono: bool
    quarter: int  # which way it runs: quarters clockwise, as the page is shown
    tag: int  # number of its marked content, -1 for none
    artifact: bool  # the file says that it is no content


class Word(NamedTuple):
    """Characters without white space, in one style."""

    text: str
    box: Box
    style: Style
    spaced: bool  # white space stands before it
    broken: bool  # it ends in a hyphen that a line end may have caused


def words_of(page: pypdfium2.PdfPage, frame: Frame) -> list[Word]:
    """Read the words of a page, in coordinates of the page as it is shown."""
    import pypdfium2.raw as raw

    textpage = page.get_textpage()
    try:
        count = max(raw.FPDFText_CountChars(textpage), 0)
        reader = _Reader(address_of(textpage), frame)
        return list(reader.words(_characters(textpage, count)))
    finally:
        textpage.close()


def main_direction(words: list[Word]) -> int:
    """Give the direction in which most of the text runs."""
    directions = Counter[int]()
    for word in words:
        directions[word.style.quarter] += len(word.text)
    return directions.most_common(1)[0][0] if directions else 0


def _characters(textpage: Any, count: int) -> str:
    """Give the page's characters, one for each that the library counts."""
    import pypdfium2.raw as raw

    buffer = (ctypes.c_ushort * (count + 1))()
    written = raw.FPDFText_GetText(textpage, 0, count, buffer) - 1
    text = bytes(buffer)[: 2 * count].decode("utf-16-le", "surrogatepass")
    if written == count and len(text) == count and text.isprintable() is not None and not _has_surrogates(text):
        return text
    codes = [raw.FPDFText_GetUnicode(textpage, index) for index in range(count)]
    return "".join(chr(code) if 0 < code < 0x110000 and not 0xD800 <= code < 0xE000 else "\ufffd" for code in codes)


def _has_surrogates(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return True
    return False


class _Reader:
    """Reads one page: keeps the styles of its text objects, and one place in memory for boxes."""

    def __init__(self, textpage: int, frame: Frame) -> None:
        self._textpage = textpage
        self._frame = frame
        self._box_of, self._object_of = calls()
        self._corners = array("f", [0.0] * 4)
        self._address = self._corners.buffer_info()[0]
        self._styles: dict[int, Style] = {}
        self._fonts: dict[int, tuple[str, bool, bool]] = {}
        self._last = Style("", 10.0, False, False, 0, -1, False)

    def words(self, text: str) -> Iterator[Word]:
        reached = -1
        for found in _WORD.finditer(text):
            start, end = found.span()
            broken = text[end - 1] in BROKEN
            letters = text[start:end].rstrip(BROKEN)
            spaced = start > reached
            reached = end if broken else -1
            if letters:
                yield from self._styled(letters, start, spaced=spaced, broken=broken)

    def _styled(self, letters: str, start: int, *, spaced: bool, broken: bool) -> Iterator[Word]:
        """Give a word, in several where its style or its line changes."""
        last = start + len(letters) - 1
        first_box, first_style = self._placed(start)
        if last == start:
            yield Word(_tidy(letters), first_box, first_style, spaced, broken)
            return
        last_box, last_style = self._placed(last)
        if first_style == last_style and _in_line(first_box, last_box, first_style):
            yield Word(_tidy(letters), both(first_box, last_box), first_style, spaced, broken)
            return
        places = [self._placed(start + index) for index in range(len(letters))]
        begin = 0
        for index in range(1, len(letters) + 1):
            if index == len(letters) or not _goes_on(*places[index - 1], *places[index]):
                box = around(place for place, _ in places[begin:index])
                done = index == len(letters)
                yield Word(_tidy(letters[begin:index]), box, places[begin][1], spaced, broken and done)
                begin, spaced = index, False

    def _placed(self, index: int) -> tuple[Box, Style]:
        text_object = self._object_of(self._textpage, index)
        if text_object is None:  # made up by the library
            style = self._last
        else:
            found = self._styles.get(text_object)
            if found is None:
                found = self._styles[text_object] = self._style_of(text_object)
            style = self._last = found
        self._box_of(self._textpage, index, self._address)
        left, top, right, bottom = self._corners
        return self._frame.shown(left, top, right, bottom), style

    def _style_of(self, text_object: int) -> Style:
        import pypdfium2.raw as raw

        handle = ctypes.cast(text_object, raw.FPDF_PAGEOBJECT)
        font = raw.FPDFTextObj_GetFont(handle)
        name = address_of(font)
        if name not in self._fonts:
            self._fonts[name] = _font_of(font)
        title, bold, mono = self._fonts[name]
        size, matrix = ctypes.c_float(), raw.FS_MATRIX()
        raw.FPDFTextObj_GetFontSize(handle, size)
        raw.FPDFPageObj_GetMatrix(handle, matrix)
        stroked = raw.FPDFTextObj_GetTextRenderMode(handle) == _STROKED
        return Style(
            title,
            round(abs(size.value) * ((matrix.c**2 + matrix.d**2) ** 0.5 or 1.0), 1),
            bold or stroked,
            mono,
            (_quarter(matrix.a, matrix.b) + self._frame.rotation) % 4,
            raw.FPDFPageObj_GetMarkedContentID(handle),
            _is_artifact(handle),
        )


def _tidy(letters: str) -> str:
    if letters.isascii():
        return letters
    if _UNUSUAL.search(letters):
        letters = _UNUSUAL.sub(lambda found: _SYMBOLS.get(ord(found[0]), found[0]), letters)
    return normalize("NFC", letters)


def _in_line(first: Box, last: Box, style: Style) -> bool:
    """Whether the first and the last character of a word can be in one line."""
    if style.quarter % 2:
        return first.shared_width(last) > 0.5 * min(first.width, last.width)
    return first.shared_height(last) > 0.5 * min(first.height, last.height)


def _goes_on(box: Box, style: Style, next_box: Box, next_style: Style) -> bool:
    return style == next_style and _in_line(box, next_box, style)


def _font_of(font: Any) -> tuple[str, bool, bool]:
    """Give a font's name, and whether it is bold and whether all its letters are equally wide."""
    import pypdfium2.raw as raw

    name = ctypes.create_string_buffer(256)
    raw.FPDFFont_GetBaseFontName(font, name, 256)
    title = name.value.decode("utf-8", "replace").split("+", 1)[-1]
    flags = max(raw.FPDFFont_GetFlags(font), 0)
    bold = flags & _FORCED_BOLD or raw.FPDFFont_GetWeight(font) >= _HEAVY or _BOLD.search(title)
    return title, bool(bold), bool(flags & _FIXED_PITCH or _MONO.search(title))


def _quarter(a: float, b: float) -> int:
    """Give the direction of writing, in quarters clockwise."""
    if abs(a) >= abs(b):
        return 0 if a >= 0 else 2
    return 3 if b > 0 else 1


def _is_artifact(handle: Any) -> bool:
    import pypdfium2.raw as raw

    for index in range(min(max(raw.FPDFPageObj_CountMarks(handle), 0), 8)):
        mark = raw.FPDFPageObj_GetMark(handle, index)
        buffer, length = ctypes.create_string_buffer(64), ctypes.c_ulong()
        raw.FPDFPageObjMark_GetName(mark, ctypes.cast(buffer, ctypes.POINTER(ctypes.c_ushort)), 64, length)
        if buffer.raw[: max(length.value - 2, 0)].decode("utf-16-le", "replace") == "Artifact":
            return True
    return False
