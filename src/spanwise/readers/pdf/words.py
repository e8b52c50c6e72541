"""The words of a page in the order in which the file writes them, each with its box and style."""

from __future__ import annotations

import ctypes
import re
from array import array
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import closing
from statistics import fmean, stdev
from typing import TYPE_CHECKING, Any, Final, NamedTuple
from unicodedata import normalize

from spanwise.native import is_text
from spanwise.readers.pdf.geometry import Box, Frame, around
from spanwise.readers.pdf.pdfium import address_of, calls

if TYPE_CHECKING:
    import pypdfium2

BROKEN: Final = "\x02\ufffe\xad"  # what PDFium returns for a hyphen at the end of a line
_WORD: Final = re.compile(rf"[^\s{BROKEN}\x00]+[{BROKEN}]*")
_BOLD: Final = re.compile(r"bold|black|heavy|demi|[-_]medi\b|bx\d|[-_,]bd\b", re.IGNORECASE)
_MONO: Final = re.compile(
    r"mono|courier|consol|menlo|typewriter|terminal|fixed|[cls][mf]tt|lmtt|ectt|code(?!c)", re.IGNORECASE
)
_SYMBOLS: Final = {  # what symbol fonts put into the private use area; and ligatures
    0xF0B7: "•", 0xF0A7: "▪", 0xF0A8: "▫", 0xF0D8: "➢", 0xF0FC: "✓", 0xF076: "❖", 0xF02D: "-", 0xF06F: "□",
    0xFB00: "ff", 0xFB01: "fi", 0xFB02: "fl", 0xFB03: "ffi", 0xFB04: "ffl", 0xFB05: "ft", 0xFB06: "st",
}  # fmt: skip
_UNUSUAL: Final = re.compile("[\uf000-\uf0ff\ufb00-\ufb06]")
_MAY_HOLD_NOTE: Final = re.compile(r"[^\W\d_][\d*†‡]{1,3}[^\w\s]")  # as in `word1,`: only the note mark is small
_FIXED_PITCH, _FORCED_BOLD = 1, 1 << 18
_HEAVY: Final = 600
_SPREAD: Final = 0.06  # of the mean: how much the width per letter varies between words in a fixed-pitch font
_STROKED: Final = 2  # text that is filled and stroked looks bold


class Style(NamedTuple):
    """The appearance of a run of text, and its tag in the file."""

    font: str
    size: float
    bold: bool
    mono: bool
    quarter: int  # direction of the text: quarters clockwise, on the displayed page
    tag: int  # number of its marked content, -1 for none
    artifact: bool  # marked by the file as no content


class Word(NamedTuple):
    """Characters without white space, in one style."""

    text: str
    box: Box
    style: Style
    spaced: bool  # preceded by white space
    broken: bool  # it ends in a hyphen that a line end may have caused
    link: int = -1  # the number of the link that begins with it


def words_of(page: pypdfium2.PdfPage, frame: Frame) -> list[Word]:
    """Read the words of a page, in coordinates of the displayed page."""
    import pypdfium2.raw as raw

    with closing(page.get_textpage()) as textpage:
        count = max(raw.FPDFText_CountChars(textpage), 0)
        reader = _Reader(address_of(textpage), frame)
        return list(reader.words(_characters(textpage, count)))


def without_false_mono(words: list[Word]) -> list[Word]:
    """Clear `mono` for fonts that claim a fixed pitch but have letters of different widths."""
    widths: dict[str, list[float]] = {}
    for word in words:
        if word.style.mono and len(word.text) > 3 and word.style.quarter == 0 and word.text.isascii():
            widths.setdefault(word.style.font, []).append(word.box.width / len(word.text) / (word.style.size or 1.0))
    false = {font for font, found in widths.items() if len(found) > 2 and stdev(found) > _SPREAD * fmean(found)}
    if not false:
        return words
    styles = {word.style for word in words}
    known = {style: style._replace(mono=style.mono and style.font not in false) for style in styles}
    return [word._replace(style=known[word.style]) for word in words]


def main_direction(words: list[Word]) -> int:
    """Return the direction in which most of the text runs."""
    directions = Counter[int]()
    for word in words:
        directions[word.style.quarter] += len(word.text)
    return directions.most_common(1)[0][0] if directions else 0


def _characters(textpage: Any, count: int) -> str:
    """Return the page's characters, one for each that the library counts."""
    import pypdfium2.raw as raw

    buffer = (ctypes.c_ushort * (count + 1))()
    written = raw.FPDFText_GetText(textpage, 0, count, buffer) - 1
    text = bytes(buffer)[: 2 * count].decode("utf-16-le", "surrogatepass")
    if written == count and len(text) == count and is_text(text):
        return text
    codes = [raw.FPDFText_GetUnicode(textpage, index) for index in range(count)]
    return "".join(chr(code) if 0 < code < 0x110000 and not 0xD800 <= code < 0xE000 else "\ufffd" for code in codes)


class _Reader:
    """A reader of one page: caches the styles of its text objects, and owns the buffer that the library writes to."""

    def __init__(self, textpage: int, frame: Frame) -> None:
        self._textpage = textpage
        self._frame = frame
        self._calls = calls()
        self._corners = array("f", [0.0] * 8)
        self._address = self._corners.buffer_info()[0]
        self._styles: dict[int, Style] = {}
        self._known: dict[Style, Style] = {}  # equal styles are one object
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
                word = self._whole_word(letters, start, spaced, broken)
                if word is not None:
                    yield word
                else:
                    yield from self._split_word(letters, start, spaced=spaced, broken=broken)

    def _whole_word(self, letters: str, start: int, spaced: bool, broken: bool) -> Word | None:
        """Return a word whose first and last character agree in line and style; None for one that may be several."""
        if not letters.isalpha() and _MAY_HOLD_NOTE.search(letters):
            return None
        box_of, page, address = self._calls.box, self._textpage, self._address
        style = self._style_at(start)
        box_of(page, start, address)
        if len(letters) == 1:
            left, top, right, bottom = self._corners[:4]
        else:
            last = start + len(letters) - 1
            box_of(page, last, address + 16)
            if style is not self._style_at(last) or not _on_one_line(self._corners):
                return None
            left, top, right, bottom, other, above, far, below = self._corners
            left, top = other if other < left else left, above if above > top else top
            right, bottom = far if far > right else right, below if below < bottom else bottom
        return Word(_normalized(letters), self._frame.displayed(left, top, right, bottom), style, spaced, broken)

    def _split_word(self, letters: str, start: int, *, spaced: bool, broken: bool) -> Iterator[Word]:
        """Split a word where its style or its line changes."""
        characters = [self._box_and_style(start + index) for index in range(len(letters))]
        begin = 0
        for index in range(1, len(letters) + 1):
            if index == len(letters) or not _is_same_run(*characters[index - 1], *characters[index]):
                box = around(box for box, _ in characters[begin:index])
                done = index == len(letters)
                yield Word(_normalized(letters[begin:index]), box, characters[begin][1], spaced, broken and done)
                begin, spaced = index, False

    def _box_and_style(self, index: int) -> tuple[Box, Style]:
        self._calls.box(self._textpage, index, self._address)
        left, top, right, bottom = self._corners[:4]
        return self._frame.displayed(left, top, right, bottom), self._style_at(index)

    def _style_at(self, index: int) -> Style:
        text_object = self._calls.object(self._textpage, index)
        if text_object is None:  # a character that the library inserted
            return self._last
        style = self._styles.get(text_object)
        if style is None:
            style = self._style_of(text_object)
            style = self._styles[text_object] = self._known.setdefault(style, style)
        self._last = style
        return style

    def _style_of(self, text_object: int) -> Style:
        call, address = self._calls, self._address
        font = call.font(text_object) or 0
        if font not in self._fonts:
            self._fonts[font] = _font_of(font)
        title, bold, mono = self._fonts[font]
        call.size(text_object, address)
        size = abs(self._corners[0])
        call.matrix(text_object, address)
        a, b, c, d = self._corners[:4]
        return Style(
            title,
            round(size * ((c * c + d * d) ** 0.5 or 1.0), 1),
            bold or call.mode(text_object) == _STROKED,
            mono,
            (_quarter(a, b) + self._frame.rotation) % 4,
            call.tag(text_object),
            call.marks(text_object) > 0 and _is_artifact(text_object),
        )


def _normalized(letters: str) -> str:
    if letters.isascii():
        return letters
    if _UNUSUAL.search(letters):
        letters = _UNUSUAL.sub(lambda found: _SYMBOLS.get(ord(found[0]), found[0]), letters)
    return normalize("NFC", letters)


def _on_one_line(corners: Sequence[float]) -> bool:
    """Whether the first and last character of a word, given by their corners, can be on one line."""
    left, top, right, bottom, other, above, far, below = corners
    level = min(top, above) - max(bottom, below) > 0.5 * min(top - bottom, above - below)
    return level or min(right, far) - max(left, other) > 0.5 * min(right - left, far - other)


def _is_same_run(box: Box, style: Style, after: Box, style_after: Style) -> bool:
    if style is not style_after:
        return False
    if style.quarter % 2:
        return box.shared_width(after) > 0.5 * min(box.width, after.width)
    return box.shared_height(after) > 0.5 * min(box.height, after.height)


def _font_of(address: int) -> tuple[str, bool, bool]:
    """Return a font's name, whether it is bold, and whether it has a fixed pitch."""
    import pypdfium2.raw as raw

    font = ctypes.cast(address, raw.FPDF_FONT)
    name = ctypes.create_string_buffer(256)
    raw.FPDFFont_GetBaseFontName(font, name, 256)
    title = name.value.decode("utf-8", "replace").split("+", 1)[-1]
    flags = max(raw.FPDFFont_GetFlags(font), 0)
    bold = flags & _FORCED_BOLD or raw.FPDFFont_GetWeight(font) >= _HEAVY or _BOLD.search(title)
    return title, bool(bold), bool(flags & _FIXED_PITCH or _MONO.search(title))


def _quarter(a: float, b: float) -> int:
    """Return the direction of the text, in quarters clockwise."""
    if abs(a) >= abs(b):
        return 0 if a >= 0 else 2
    return 3 if b > 0 else 1


def _is_artifact(text_object: int) -> bool:
    import pypdfium2.raw as raw

    handle = ctypes.cast(text_object, raw.FPDF_PAGEOBJECT)
    for index in range(min(max(raw.FPDFPageObj_CountMarks(handle), 0), 8)):
        mark = raw.FPDFPageObj_GetMark(handle, index)
        buffer, length = ctypes.create_string_buffer(64), ctypes.c_ulong()
        raw.FPDFPageObjMark_GetName(mark, ctypes.cast(buffer, ctypes.POINTER(ctypes.c_ushort)), 64, length)
        if buffer.raw[: max(length.value - 2, 0)].decode("utf-16-le", "replace") == "Artifact":
            return True
    return False
