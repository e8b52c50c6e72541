"""`spanwise inspect` without a browser: output files, errors, and page images."""

from __future__ import annotations

import hashlib
import re
import struct
import sys
import zlib
from base64 import b64encode
from itertools import pairwise
from pathlib import Path

import pytest
from reportlab.pdfgen.canvas import Canvas

import spanwise
from browsing import html_of
from command import files, ran, records
from pdf_with_boxes import report
from spanwise.cli import main
from spanwise.documents.document import Document
from spanwise.errors import MissingExtraError, UnreadableError
from spanwise.inspection import build
from spanwise.inspection.sheets import sheets_of
from spanwise.inspection.values import Inspection
from spanwise.readers.pdf.page_images import page_images

PAGE = "# Travel\n\nTrips are booked in the portal. 😀\n\n## Rates\n\nThey rise.\n"

Captured = pytest.CaptureFixture[str]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the working folder, with a document."""
    monkeypatch.chdir(tmp_path)
    return files(tmp_path, {"docs/a.md": PAGE})


def refused(capsys: Captured, *arguments: str) -> str:
    """Run a command that must fail and return its error message."""
    assert main(["inspect", *arguments]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    return captured.err


# ------------------------------------------------------------------------------------------------------ the command


def test_the_page_is_written_to_the_current_folder(folder: Path, capsys: Captured) -> None:
    assert main(["inspect", "docs/a.md"]) == 0
    assert capsys.readouterr().err == "a.md.chunks.html: 2 chunks, 12 kB\n".replace("12", _size("a.md.chunks.html"))
    assert (folder / "a.md.chunks.html").read_text("utf-8").startswith("<!doctype html>")


def _size(name: str) -> str:
    return f"{Path(name).stat().st_size // 1000:,}"


@pytest.mark.process
def test_the_page_can_go_to_stdout(folder: Path) -> None:
    main(["inspect", "docs/a.md", "--html", "page.html", "-q"])
    done = ran("inspect", "docs/a.md", "--html", "-", cwd=folder)
    assert done.out == (folder / "page.html").read_bytes()
    assert done.err.startswith("stdout: 2 chunks, ")


@pytest.mark.process
def test_what_is_piped_in_needs_a_name(folder: Path) -> None:
    assert ran("inspect", "-", "--html", "page.html", "-q", cwd=folder, piped=PAGE.encode()) == (0, b"", "")
    done = ran("inspect", "-", cwd=folder, piped=PAGE.encode())
    assert done.code == 2
    assert done.err == (
        "error: `--html` must be given for what is piped in\nhint: try --html page.html, or --html - for stdout\n"
    )


def test_ids_are_those_that_chunk_gives(folder: Path, capsys: Captured) -> None:
    files(folder, {"spanwise.toml": 'strategy = "fixed"\nmeta = {tenant_id = "acme"}\n'})
    main(["chunk", "docs/a.md"])
    found = records(capsys.readouterr().out)
    main(["inspect", "docs/a.md", "--html", "page.html", "--meta", "title=Trips"])
    page = (folder / "page.html").read_text("utf-8")
    assert found
    assert all(record["chunk_id"] in page and record["content_id"] in page for record in found)
    assert "<title>Trips · 1 chunk</title>" in page
    assert "<b>fixed</b>" in page


def test_the_document_is_not_overwritten(folder: Path, capsys: Captured) -> None:
    message = refused(capsys, "docs/a.md", "--html", "docs/../docs/a.md")
    assert message.startswith("error: `--html` is one of the documents")
    assert (folder / "docs/a.md").read_text() == PAGE


def test_a_folder_is_no_page(folder: Path, capsys: Captured) -> None:
    assert refused(capsys, "docs/a.md", "--html", "docs") == (
        "error: `--html` names a folder: 'docs'\nhint: name a file in it, such as docs/page.html\n"
    )


def test_an_unwritable_output_has_its_exit_code(folder: Path, capsys: Captured) -> None:
    assert main(["inspect", "docs/a.md", "--html", "none/page.html"]) == 3
    assert "none/page.html can't be written" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["docs/none.md"], "can't be opened"),
        (["docs/a.md", "--max-tokens", "5"], "`max_tokens` must be at least 16: 5"),
        (["docs/a.md", "--strategy", "fixed", "--mix-code"], "is not an option of the strategy fixed"),
        (["docs/a.md", "--tokenizer", "none.json"], "none.json"),
        (["docs/a.md", "--meta", "title"], "must be a name and a value"),
    ],
)
def test_errors_are_reported_and_nothing_is_written(
    arguments: list[str], words: str, folder: Path, capsys: Captured
) -> None:
    assert words in refused(capsys, *arguments)
    assert list(folder.glob("*.html")) == []


def test_doubts_of_the_reader_are_a_warning_and_on_the_page(folder: Path, capsys: Captured) -> None:
    files(folder, {"odd.md": "Straße und Grüße aus Köln. Die Bücher sind für alle da.".encode("cp1252")})
    main(["inspect", "odd.md"])
    warning = capsys.readouterr().err.splitlines()[0]
    assert warning.startswith("warning: odd.md: the encoding is not said anywhere")
    assert warning.removeprefix("warning: odd.md: ") in (folder / "odd.md.chunks.html").read_text("utf-8")


def test_the_same_document_gives_the_same_page(folder: Path) -> None:
    for name in ("one.html", "two.html"):
        main(["inspect", "docs/a.md", "--html", name, "-q"])
    assert (folder / "one.html").read_bytes() == (folder / "two.html").read_bytes()


def test_a_pdf_gets_pictures_unless_they_are_not_wanted(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No PDF reader is needed: a prepared document takes the place of its result."""
    document = report(folder / "report.pdf", 2)
    monkeypatch.setattr(build, "read_job", lambda job: (Path(job.item.name).read_bytes(), document))
    counts = []
    for more in ([], ["--no-pictures"], ["--pictures-up-to", "1"]):
        assert main(["inspect", "report.pdf", "--html", "page.html", *more]) == 0
        page = (folder / "page.html").read_text("utf-8")
        counts.append((page.count('src="data:image/png;base64,'), page.count("--pictures-up-to")))
    assert counts == [(2, 0), (0, 0), (1, 1)]


def test_a_document_with_pages_that_is_no_pdf_has_no_pictures(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    document = spanwise.read_pages(["One.", "Two."])
    monkeypatch.setattr(build, "read_job", lambda job: (Path(job.item.name).read_bytes(), document))
    assert main(["inspect", "docs/a.md", "--html", "page.html"]) == 0
    assert "<img" not in (folder / "page.html").read_text("utf-8")


# --------------------------------------------------------------------------------------------------------- the page


def test_only_the_page_s_own_style_and_script_may_run() -> None:
    page = html_of(spanwise.read_text(PAGE))
    policy = re.search(r'Content-Security-Policy" content="([^"]+)"', page)
    assert policy
    for kind, pattern in (("style", r"<style>(.*?)</style>"), ("script", r"<script>(.*?)</script>")):
        found = re.search(pattern, page, re.DOTALL)
        assert found
        digest = b64encode(hashlib.sha256(found[1].encode()).digest()).decode()
        assert f"{kind}-src 'sha256-{digest}'" in policy[1]
    assert policy[1].startswith("default-src 'none'; img-src data:; ")
    assert " style=" not in page
    assert not re.search(r"https?://", page)


def test_sheets_leave_nothing_out() -> None:
    document = spanwise.read_pages(["One two.", "", "Three.\n\nFour."])
    chunks = [chunk.to_dict() for chunk in spanwise.chunk(document, "simple", max_chars=5)]
    sheets = list(sheets_of(Inspection(document, chunks, "simple", "cl100k")))
    parts = [part for sheet in sheets for chunk_slice in sheet.slices for part in chunk_slice.parts]
    assert "".join(document.text[part.start : part.end] for part in parts) == document.text
    assert all(before.end == after.start for before, after in pairwise(parts))
    opened = [chunk_slice.chunk for sheet in sheets for chunk_slice in sheet.slices if chunk_slice.opening]
    assert opened == list(range(len(chunks)))


def test_a_page_grows_linearly() -> None:
    sizes = [len(html_of(spanwise.read_text("A sentence of six words. " * count), "fixed")) for count in (2000, 8000)]
    assert sizes[1] - sizes[0] < 3 * 6000 * len("A sentence of six words. ")


# --------------------------------------------------------------------------------------------------------- pictures


def unpacked(png: bytes) -> tuple[int, int, int, int, bytes]:
    """Return width, height, bit depth, colour type and rows of a PNG."""
    assert png.startswith(b"\x89PNG\r\n\x1a\n")
    width, height, depth, kind = struct.unpack(">IIBB", png[16:26])
    index = png.index(b"IDAT")
    (length,) = struct.unpack(">I", png[index - 4 : index])
    return width, height, depth, kind, zlib.decompress(png[index + 4 : index + 4 + length])


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Document]:
    """Return a PDF of three pages, the second with colours."""
    path = tmp_path_factory.mktemp("pictures") / "report.pdf"
    return path, report(path)


def test_pages_of_text_are_grey_and_those_with_colour_have_a_palette(made: tuple[Path, Document]) -> None:
    with page_images(made[0]) as picture:
        text, chart = picture(1), picture(2)
    assert (round(text.width), round(text.height)) == (595, 842)
    assert unpacked(text.png)[:4] == (993, 1404, 4, 0)
    assert unpacked(chart.png)[:4] == (993, 1404, 8, 3)
    assert len(unpacked(text.png)[4]) == 1404 * (1 + 497)
    assert len(text.png) < 100_000
    assert len(chart.png) < 150_000


def test_a_rotated_page_is_drawn_as_visible(tmp_path: Path) -> None:
    """Rotated by a quarter turn, what is black at the left edge of the sheet is at the top."""
    path = tmp_path / "turned.pdf"
    canvas = Canvas(str(path), pagesize=(300, 600))
    canvas.rect(0, 0, 150, 300, stroke=0, fill=1)
    canvas.setPageRotation(90)
    canvas.showPage()
    canvas.save()
    with page_images(path, dpi=72) as picture:
        drawn = picture(1)
    assert (drawn.width, drawn.height) == (300, 600)
    rows = unpacked(drawn.png)[4]  # two pixels per byte, after the filter byte
    assert [rows[row * 151 + 1 : (row + 1) * 151] for row in (0, 149, 150, 599)] == [
        b"\x00" * 150, b"\x00" * 150, b"\xff" * 150, b"\xff" * 150,
    ]  # fmt: skip


def test_a_pdf_may_come_as_bytes_and_with_a_password(made: tuple[Path, Document], tmp_path: Path) -> None:
    with page_images(made[0].read_bytes()) as picture:
        assert picture(3).png
    path = tmp_path / "closed.pdf"
    canvas = Canvas(str(path), encrypt="sesame")
    canvas.drawString(72, 700, "secret")
    canvas.showPage()
    canvas.save()
    with page_images(path, password="sesame") as picture:
        assert picture(1).png
    with pytest.raises(UnreadableError, match="can't be drawn"), page_images(path):
        pass


def test_a_page_that_is_not_there_gives_a_note(made: tuple[Path, Document]) -> None:
    with page_images(made[0]) as picture:
        assert picture(0).note == "the file has no page 0"
        assert picture(4).note == "the file has no page 4"
        assert picture(4).png == b""


def test_a_damaged_page_gives_a_note(tmp_path: Path) -> None:
    path = tmp_path / "damaged.pdf"
    canvas = Canvas(str(path), pageCompression=0)
    for text in ("one", "two"):
        canvas.drawString(72, 700, text)
        canvas.showPage()
    canvas.save()
    data = path.read_bytes()
    path.write_bytes(re.sub(rb"/Kids \[ (\d+) 0 R \d+ 0 R \]", rb"/Kids [ \1 0 R 99 0 R ]", data))
    with page_images(path) as picture:
        assert picture(1).png
        assert picture(2).png == b""
        assert picture(2).note.startswith("the page is damaged")


def test_without_pypdfium2_the_hint_says_what_to_install(
    made: tuple[Path, Document], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "pypdfium2", None)
    with pytest.raises(MissingExtraError, match=r"spanwise\[pdf\]"), page_images(made[0]):
        pass


def test_what_is_no_pdf_cannot_be_drawn(tmp_path: Path) -> None:
    path = tmp_path / "no.pdf"
    path.write_bytes(b"%PDF-1.7 but nothing else")
    with pytest.raises(UnreadableError, match="can't be drawn"), page_images(path):
        pass
