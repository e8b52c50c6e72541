"""A PDF made with reportlab, and the Document that a reader would return for it: every block with its box."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

from reportlab.lib.colors import Color
from reportlab.lib.pagesizes import A4
from reportlab.pdfbase.pdfmetrics import stringWidth
from reportlab.pdfgen.canvas import Canvas

from spanwise.documents.document import Block, Document, LeftOut, Metadata, Page

_LEFT: Final = 72
_WIDTH: Final = A4[0] - 2 * _LEFT
_STYLES: Final = {"heading": ("Helvetica-Bold", 17, 24), "paragraph": ("Times-Roman", 11.5, 16)}
_RUNNING: Final = "Norvelda Instruments · Annual report"


class MadePdf:
    """A PDF under construction, with the text and boxes of the blocks drawn so far."""

    def __init__(self, path: Path) -> None:
        """Start a file."""
        self.path = path
        self._canvas = Canvas(str(path), pagesize=A4, invariant=True)
        self._text = ""
        self._blocks: list[Block] = []
        self._pages: list[Page] = []
        self._left_out: list[LeftOut] = []
        self._headings: tuple[str, ...] = ()

    def page(self, *blocks: tuple[str, str], chart: bool = False) -> None:
        """Draw a page with a running head, its blocks from top to bottom, and optionally a chart."""
        number = len(self._pages) + 1
        self._running(number)
        start, top = len(self._text) + (2 if self._pages else 0), 90.0
        for kind, text in blocks:
            top = self._block(kind, text, number, top)
        if chart:
            self._chart()
        start = min(start, len(self._text))
        self._pages.append(Page(number, start, len(self._text)))
        self._canvas.showPage()

    def finish(self, **metadata: Any) -> Document:
        """Write the file and return the document."""
        self._canvas.save()
        about = Metadata(document_id="made", source_type="pdf", file_path=self.path.name, **metadata)
        return Document(self._text, tuple(self._blocks), tuple(self._pages), about, tuple(self._left_out))

    def _running(self, number: int) -> None:
        self._canvas.setFont("Helvetica", 8)
        self._canvas.drawString(_LEFT, A4[1] - 48, _RUNNING)
        box = [_LEFT, 40, _LEFT + stringWidth(_RUNNING, "Helvetica", 8), 51]
        self._left_out.append(LeftOut("page header", _RUNNING, {"page": number, "bbox": box}))

    def _block(self, kind: str, text: str, number: int, top: float) -> float:
        font, size, leading = _STYLES[kind]
        self._canvas.setFont(font, size)
        lines = _wrapped(text, font, size)
        for index, line in enumerate(lines):
            self._canvas.drawString(_LEFT, A4[1] - top - (index + 0.8) * leading, line)
        bottom = top + len(lines) * leading
        self._text += "\n\n" if self._text else ""
        start = len(self._text)
        self._text += text
        if kind == "heading":
            self._headings = (text,)
        source = {"page": number, "bbox": [_LEFT - 2, top, _LEFT + _WIDTH + 2, bottom + 2]}
        level = 1 if kind == "heading" else None
        block = Block(kind, start, len(self._text), self._headings, level, number, source_ref=source)
        self._blocks.append(block)
        return bottom + 12

    def _chart(self) -> None:
        for index in range(24):
            self._canvas.setFillColor(Color(index / 24, 0.45, 1 - index / 24))
            self._canvas.rect(_LEFT + index * 18, 80, 14, 40 + (index * 37) % 90, stroke=0, fill=1)
        self._canvas.setFillColor(Color(0, 0, 0))


def _wrapped(text: str, font: str, size: float) -> list[str]:
    lines = [""]
    for word in text.split():
        longer = f"{lines[-1]} {word}".strip()
        if stringWidth(longer, font, size) > _WIDTH:
            lines.append(word)
        else:
            lines[-1] = longer
    return lines


def report(path: Path, pages: int = 3) -> Document:
    """Make a report: a heading on every page, paragraphs below it, a chart on the second."""
    made = MadePdf(path)
    for number in range(1, pages + 1):
        sentences = [
            f"The year's {word} grew by {number * 3 + index} percent, which nobody at the table had expected."
            for index, word in enumerate(("revenue", "order book", "head count", "scrap rate", "travel budget") * 3)
        ]
        made.page(
            ("heading", f"Chapter {number}"),
            ("paragraph", " ".join(sentences[:6])),
            ("paragraph", " ".join(sentences[6:9])),
            ("paragraph", " ".join(sentences[9:])),
            chart=number == 2,
        )
    return made.finish(title="Annual report")
