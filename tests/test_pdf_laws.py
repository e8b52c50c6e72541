"""Laws for every made PDF: chunk laws under every strategy, boxes that contain their text, reproducible results."""

from __future__ import annotations

import hashlib
import os
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from ctypes import c_double
from io import BytesIO
from pathlib import Path
from typing import Any

import pypdfium2
import pypdfium2.raw as raw
import pytest
from reportlab.pdfgen.canvas import Canvas

import spanwise
from growth import assert_linear
from made_pdfs import read_made
from pdf_makers import MAKERS, headings_by_size, made
from pdf_prints import PRINTS, printed
from pdf_texts import LANGUAGES
from proposing import offline
from spanwise import Block, Document
from spanwise.chunking.strategies import STRATEGIES
from spanwise.readers.pdf import read_pdf
from spanwise.readers.pdf.geometry import Box
from spanwise.readers.pdf.hyphens import Vocabulary, flowed
from spanwise.readers.pdf.lines import separator
from spanwise.readers.pdf.words import Style, Word
from spanwise.testing.document_laws import assert_document
from spanwise.testing.laws import broken_laws
from spanwise.text.tokens import tokenizer_of

LIMIT = 100
ALL = [(name, language) for name in (*MAKERS, *PRINTS) for language in LANGUAGES]
PROGRAM = "import sys; from test_pdf_laws import fingerprint; print(*map(fingerprint, sys.argv[1:]))"


def data_of(name: str, language: str) -> bytes:
    return made(name, language).data if name in MAKERS else printed(name, language).data


# ── the laws ─────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.browser
@pytest.mark.parametrize(("name", "language"), ALL)
def test_the_laws_hold_under_every_strategy(name: str, language: str, tmp_path: Path) -> None:
    document = read_made(data_of(name, language), tmp_path)
    assert_document(document)
    tokenizer = tokenizer_of("cl100k")
    strategy: Any
    for strategy in STRATEGIES:
        chunks = spanwise.chunk(document, strategy, tokenizer, max_tokens=LIMIT, **offline(strategy))
        records = [chunk.to_dict() for chunk in chunks]
        assert broken_laws(document, records, tokenizer, LIMIT) == []
        for record in records:
            assert_pages_of(document, record)


def assert_pages_of(document: Document, record: dict[str, Any]) -> None:
    """Assert that the pages of a chunk are those of its characters."""
    start, end = record["char_start"], record["char_end"] - 1
    first, last = (next(page.number for page in document.pages if page.start <= at < page.end) for at in (start, end))
    assert (record["page_start"], record["page_end"]) == (first, last)


# ── boxes ────────────────────────────────────────────────────────────────────────────────────────────────────────


def letters(text: str) -> Counter[str]:
    return Counter(letter for letter in text if letter.isalnum())


def visible_letters(document: Document, block: Block) -> Counter[str]:
    """Return the letters of a block on the page: for a figure, those of its caption."""
    return letters(re.sub(r"<[^<>]*>", "", document.text[block.start : block.end]))


def boxes_of(block: Block) -> list[list[float]]:
    reference = block.source_ref or {}
    assert reference["page"] == block.page
    return list(reference.get("boxes") or [reference["bbox"]])


def under(page: pypdfium2.PdfPage, box: list[float]) -> str:
    """Return the text inside a box of the visible page; PDFium itself rotates the page."""
    width, height = page.get_size()
    corners = list[tuple[float, float]]()
    for x, y in ((box[0], box[1]), (box[2], box[3])):
        left, bottom = c_double(), c_double()
        size = round(width * 100), round(height * 100)
        raw.FPDF_DeviceToPage(page, 0, 0, *size, 0, round(x * 100), round(y * 100), left, bottom)
        corners.append((left.value, bottom.value))
    (one, two), (three, four) = corners
    textpage = page.get_textpage()
    try:
        text = textpage.get_text_bounded(min(one, three), min(two, four), max(one, three), max(two, four))
        return str(text)
    finally:
        textpage.close()


def opened(data: bytes) -> Iterator[pypdfium2.PdfPage]:
    document = pypdfium2.PdfDocument(data)
    try:
        for page in document:
            yield page
            page.close()
    finally:
        document.close()


def assert_boxes(document: Document, data: bytes) -> None:
    for number, page in enumerate(opened(data), 1):
        width, height = page.get_size()
        for block in document.blocks:
            if block.page != number:
                continue
            held = Counter[str]()
            for left, top, right, bottom in boxes_of(block):
                assert 0 <= left < right <= width + 0.1
                assert 0 <= top < bottom <= height + 0.1
                held += letters(under(page, [left - 1, top - 1, right + 1, bottom + 1]))
            assert not visible_letters(document, block) - held, document.text[block.start : block.end]
            extra = held - visible_letters(document, block)
            assert block.kind in {"figure", "table"} or extra.total() <= 0.05 * held.total(), (block, extra)


@pytest.mark.browser
@pytest.mark.parametrize(("name", "language"), ALL)
def test_boxes_lie_on_the_page_and_hold_their_text(name: str, language: str, tmp_path: Path) -> None:
    data = data_of(name, language)
    assert_boxes(read_made(data, tmp_path), data)


@pytest.mark.parametrize("quarter", range(4))
@pytest.mark.parametrize("rotation", range(4))
def test_boxes_of_turned_pages_hold_their_text(rotation: int, quarter: int, tmp_path: Path) -> None:
    data = headings_by_size("ru", rotation=rotation, quarter=quarter).data
    assert_boxes(read_made(data, tmp_path), data)


# ── the same everywhere ──────────────────────────────────────────────────────────────────────────────────────────


def fingerprint(path: str) -> str:
    """Return one hash of everything read from a file, and its chunks."""
    document = spanwise.read(path)
    records = [chunk.to_dict() for chunk in spanwise.chunk(document, max_tokens=LIMIT)]
    contents = repr((document.text, document.blocks, document.left_out, document.metadata, records))
    return hashlib.sha256(contents.encode()).hexdigest()


@pytest.mark.browser
@pytest.mark.process
def test_another_process_reads_the_same(tmp_path: Path) -> None:
    paths = []
    for name, language in ALL:
        path = tmp_path / f"{name}.{language}.pdf"
        path.write_bytes(data_of(name, language))
        paths.append(str(path))
    others = {
        "PYTHONHASHSEED": "7",
        "PYTHONPATH": os.pathsep.join([str(Path(__file__).parent), os.environ.get("PYTHONPATH", "")]),
    }
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, *reversed(paths)], capture_output=True, check=True, env=os.environ | others
    ).stdout.decode()
    assert done.split() == [fingerprint(path) for path in reversed(paths)]


def test_a_drawn_pdf_is_made_the_same_twice() -> None:
    twice = [hashlib.sha256(headings_by_size("pl").data).hexdigest() for _ in range(2)]
    assert twice[0] == twice[1]


# ── the amount of work ───────────────────────────────────────────────────────────────────────────────────────────


def scattered(size: int) -> bytes:
    """Return a page with this many words, each a line of its own."""
    file = BytesIO()
    sheet = Canvas(file, pagesize=(600, 800))
    for number in range(size):
        sheet.drawString(number * 37 % 600, number * 53 % 800, f"w{number}")
    sheet.save()
    return file.getvalue()


@pytest.mark.slow
def test_a_page_of_very_many_lines_takes_linear_work() -> None:
    pages = {size: scattered(size) for size in (600, 2_400)}
    assert_linear(lambda size: read_pdf(pages[size], "many.pdf", None, None), 600)


def test_joining_lines_looks_back_a_few_characters_only(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[int] = []

    def watched(before: str, after: str) -> str:
        seen.append(len(before))
        return separator(before, after)

    monkeypatch.setattr("spanwise.readers.pdf.hyphens.separator", watched)
    word = Word("word", Box(0, 0, 9, 9), Style("", 9, False, False, 0, -1, False), spaced=True, broken=False)
    assert flowed([[word] * 10] * 300, Vocabulary()) == "word " * 2_999 + "word"
    assert len(seen) == 299
    assert max(seen) < 300
