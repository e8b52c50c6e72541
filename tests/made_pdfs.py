"""PDFs made by the tests, with their expected blocks: drawn on a sheet, or printed from HTML by a browser."""

from __future__ import annotations

import io
import re
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, Final, NamedTuple

from PIL import Image
from playwright.sync_api import sync_playwright
from reportlab.lib.utils import ImageReader
from reportlab.pdfbase.cidfonts import UnicodeCIDFont
from reportlab.pdfbase.pdfmetrics import registerFont, stringWidth
from reportlab.pdfbase.ttfonts import TTFont
from reportlab.pdfgen.canvas import Canvas

import spanwise
from browsing import NO_DEJAVU, launched, skip_or_fail
from spanwise import Document, Part

WIDTH, HEIGHT = 595.0, 842.0
LEFT, TOP, COLUMN = 72.0, 90.0, 400.0  # left and top edge of the text, and its width
SIZE, LEADING = 10.0, 14.0
_FONTS: Final = Path("/usr/share/fonts/truetype/dejavu")
_NO_LINE_START: Final = "，。、；：！？）」』"
_QUARTERS: Final = {1: (0, -1, 1, 0, 0, 1), 2: (-1, 0, 0, -1, 1, 1), 3: (0, 1, -1, 0, 1, 0)}


class Expected(NamedTuple):
    """A block that the reader is expected to return."""

    kind: str
    text: str
    page: int = 1
    level: int | None = None


class Made(NamedTuple):
    """A PDF and its expected blocks."""

    data: bytes
    blocks: tuple[Expected, ...]


def read_made(data: bytes, folder: Path, **given: Any) -> Document:
    """Read a PDF as the file `a.pdf`."""
    path = folder / "a.pdf"
    path.write_bytes(data)
    return spanwise.read(path, **given)


def blocks_of(document: Document) -> tuple[Expected, ...]:
    """Return the blocks of a document as expected blocks; of a figure's name only page and number are kept."""
    texts = [re.sub(r'src="[^"]*-(p\d+-\d+)', r'src="\1', document.text[b.start : b.end]) for b in document.blocks]
    return tuple(
        Expected(block.kind, text, block.page or 0, block.level)
        for block, text in zip(document.blocks, texts, strict=True)
    )


def parts_of(document: Document, parts: Sequence[Part]) -> list[Any]:
    """Return the texts of parts; a part that has parts itself becomes a pair."""
    texts = [document.text[part.start : part.end] for part in parts]
    return [
        (text, parts_of(document, part.parts)) if part.parts else text for text, part in zip(texts, parts, strict=True)
    ]


def markdown_table(rows: Sequence[Sequence[str]], *, head: bool = True) -> str:
    """Return rows as a Markdown table; the rows that continue on the next page have no `head`."""
    lines = ["| " + " | ".join(row) + " |" for row in rows]
    return "\n".join([lines[0], "| " + " | ".join(["---"] * len(rows[0])) + " |", *lines[1:]] if head else lines)


def figure(caption: str = "", page: int = 1, count: int = 1) -> str:
    """Return the HTML of a figure."""
    inner = f"<figcaption>{caption}</figcaption>" if caption else ""
    return f'<figure><img src="p{page}-{count}.png">{inner}</figure>'


@cache
def _registered() -> None:
    if not (_FONTS / "DejaVuSans.ttf").exists():
        skip_or_fail(NO_DEJAVU)
    for name in ("DejaVuSans", "DejaVuSans-Bold", "DejaVuSansMono"):
        registerFont(TTFont(name, str(_FONTS / f"{name}.ttf")))
    registerFont(UnicodeCIDFont("STSong-Light"))


@cache
def picture() -> ImageReader:
    """Return a small image with a meaningless pattern."""
    image = Image.new("RGB", (40, 30), (200, 220, 240))
    image.putdata([(7 * n % 256, 5 * n % 256, 3 * n % 256) for n in range(1200)])
    return ImageReader(image)


class Sheet:
    """A PDF drawn step by step; `y` grows from the top of the page downwards.

    `rotation` is the page's rotation in the file, `quarter` the direction of the text on the visible page: both in
    clockwise quarter turns.
    """

    def __init__(self, language: str = "en", *, rotation: int = 0, quarter: int = 0, **options: Any) -> None:
        """Start with an empty page."""
        _registered()
        self.language = language
        self.expected: list[Expected] = []
        self.page = 1
        self.y = TOP
        self._rotation = rotation
        self._turn = (quarter - rotation) % 4
        self._buffer = io.BytesIO()
        self._size = (HEIGHT, WIDTH) if self._turn % 2 else (WIDTH, HEIGHT)
        given = self._size[::-1] if rotation % 2 else self._size  # reportlab swaps them for a rotated page
        self.canvas = Canvas(self._buffer, pagesize=given, invariant=1, pageCompression=0, **options)
        self._begin()

    def _begin(self) -> None:
        self.canvas.setPageRotation(90 * self._rotation)
        if self._turn:
            width, height = self._size
            a, b, c, d, e, f = _QUARTERS[self._turn]
            self.canvas.transform(a, b, c, d, e * width, f * height)

    def turn_page(self) -> None:
        """Start the next page."""
        self.canvas.showPage()
        self._begin()
        self.page += 1
        self.y = TOP

    def font(self, *, bold: bool = False, mono: bool = False) -> str:
        """Return the name of a font that has the letters of the language."""
        if mono:
            return "DejaVuSansMono"
        if self.language == "zh":
            return "STSong-Light"
        return "DejaVuSans-Bold" if bold else "DejaVuSans"

    def width(self, text: str, size: float = SIZE, *, bold: bool = False, mono: bool = False) -> float:
        """Return the width of a text."""
        return float(stringWidth(text, self.font(bold=bold, mono=mono), size))

    def write(
        self, x: float, y: float, text: str, size: float = SIZE, *, bold: bool = False, mono: bool = False
    ) -> None:
        """Write one line at a position."""
        self.canvas.saveState()
        line = self.canvas.beginText(x, HEIGHT - y)
        line.setFont(self.font(bold=bold, mono=mono), size)
        if bold and self.language == "zh":  # there is no bold font: the outlines are drawn too
            line.setTextRenderMode(2)
        line.textOut(text)
        self.canvas.drawText(line)
        self.canvas.restoreState()

    def wrapped(self, text: str, width: float, size: float = SIZE) -> list[str]:
        """Return a text as lines, broken between words, in Chinese between characters."""
        units = re.findall(rf".[{_NO_LINE_START}]*" if self.language == "zh" else r"\S+ ?", text)
        lines = [""]
        for unit in units:
            if lines[-1] and self.width((lines[-1] + unit).rstrip(), size) > width:
                lines.append("")
            lines[-1] += unit
        return [line.rstrip() for line in lines]

    def lines(
        self, lines: Sequence[str], *, x: float = LEFT, size: float = SIZE, bold: bool = False, mono: bool = False
    ) -> None:
        """Write lines below each other."""
        for line in lines:
            self.write(x, self.y, line, size, bold=bold, mono=mono)
            self.y += LEADING * size / SIZE

    def expect(self, kind: str, text: str, level: int | None = None) -> None:
        """Add a block that the reader should return for what was drawn."""
        self.expected.append(Expected(kind, text, self.page, level))

    def heading(self, text: str, level: int, size: float = SIZE, *, bold: bool = False) -> None:
        """Write a heading with space around it."""
        self.y += 12
        self.lines([text], size=size, bold=bold)
        self.y += 6
        self.expect("heading", "#" * level + " " + text, level)

    def paragraph(self, text: str, *, x: float = LEFT, width: float = COLUMN) -> None:
        """Write a paragraph and the space after it."""
        self.lines(self.wrapped(text, width), x=x)
        self.y += 8
        self.expect("paragraph", text)

    def item(self, mark: str, text: str, x: float, *, width: float = COLUMN) -> None:
        """Write an item with a hanging indent; without a mark, a bullet is drawn."""
        if mark:
            self.write(x, self.y, mark)
        else:
            self.canvas.circle(x + 2, HEIGHT - self.y + 3, 1.8, stroke=0, fill=1)
        self.lines(self.wrapped(text, width - (x + 18 - LEFT)), x=x + 18)

    def rule(self, x: float, y: float, width: float, height: float = 0) -> None:
        """Draw a horizontal or vertical line."""
        self.canvas.setLineWidth(0.7)
        self.canvas.line(x, HEIGHT - y, x + width, HEIGHT - y - height)

    def picture(self, x: float, y: float, width: float, height: float) -> None:
        """Draw an image; `y` is its top edge."""
        self.canvas.drawImage(picture(), x, HEIGHT - y - height, width, height)

    def done(self) -> Made:
        """Return the finished PDF and its expected blocks."""
        self.canvas.save()
        return Made(self._buffer.getvalue(), tuple(self.expected))


def printed_all(pages: Mapping[str, tuple[str, Mapping[str, Any]]]) -> dict[str, bytes]:
    """Print HTML pages to PDF in one browser, each with its own print options."""
    done: dict[str, bytes] = {}
    with sync_playwright() as player, launched(player) as browser:
        page = browser.new_page()
        for name, (html, options) in pages.items():
            page.set_content(html)
            data = page.pdf(format="A4", prefer_css_page_size=True, **options)
            done[name] = re.sub(rb"\(D:\d{14}", b"(D:20260131120000", data)  # the same bytes at every run
    return done
