"""PDFs that can't be read, or only in part: errors are specific, and other files are still read."""

from __future__ import annotations

import random
import re
from pathlib import Path

import pytest
from reportlab.lib.pdfencrypt import StandardEncryption

import spanwise
from command import files, ran
from command import records as records_of
from made_pdfs import HEIGHT, LEFT, SIZE, WIDTH, Made, Sheet, blocks_of, read_made
from pdf_makers import made
from pdf_prints import printed
from pdf_texts import LANGUAGES, TEXTS
from spanwise import Document, SpanwiseError, UnreadableError
from spanwise.testing.document_laws import assert_document
from spanwise.testing.laws import broken_laws
from spanwise.text.tokens import tokenizer_of

SECRET = "swordfish"
TEXT_BODY = TEXTS["en"].body
BASES = ["headings_by_size", "bullets_drawn", "table_with_its_head_on_both_pages", "linked", "pictured"]
NUMBER = re.compile(rb"\b\d+(?:\.\d+)?\b")
NUMBERS = (b"0", b"-1", b"7", b"0.00001", b"32768", b"-99999", b"99999999999", b"1" * 40)
NOT_WHOLE = re.compile(r"cut off|damaged|missing")


def encrypted(user: str = SECRET, strength: int = 128, language: str = "en") -> Made:
    guard = StandardEncryption(user, ownerPassword="owner", strength=strength)
    sheet = Sheet(language, encrypt=guard)
    sheet.paragraph(TEXTS[language].body[0])
    return sheet.done()


def pages(*kinds: str) -> bytes:
    """Return a PDF with pages of text, of an image (as of a scan) or empty ones."""
    sheet = Sheet()
    for number, kind in enumerate(kinds):
        if number:
            sheet.turn_page()
        if kind == "text":
            sheet.paragraph(TEXT_BODY[number % 3])
        elif kind == "scan":
            sheet.picture(0, 0, WIDTH, HEIGHT)
        else:
            sheet.rule(LEFT, 2 * HEIGHT, 1)  # reportlab drops an empty last page
    return sheet.done().data


def refused(data: bytes, folder: Path, message: str, **given: str) -> UnreadableError:
    with pytest.raises(UnreadableError, match=message) as caught:
        read_made(data, folder, **given)
    assert caught.value.subject.endswith("a.pdf")
    assert caught.value.hint
    return caught.value


def outcome(data: bytes, folder: Path) -> Document | SpanwiseError:
    try:
        return read_made(data, folder)
    except SpanwiseError as error:
        return error


def notes(document: Document) -> list[str]:
    return [item.reason for item in document.left_out]


# ── encrypted ────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("strength", [40, 128])
def test_a_password_is_asked_for(strength: int, tmp_path: Path) -> None:
    error = refused(encrypted(strength=strength).data, tmp_path, "is encrypted and needs a password")
    assert error.hint
    assert "password" in error.hint


def test_a_wrong_password_is_refused(tmp_path: Path) -> None:
    error = refused(encrypted().data, tmp_path, "is encrypted, and the password doesn't open it", password="salmon")
    assert "salmon" not in str(error)


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("password", [SECRET, "owner"])
def test_the_right_password_opens_it(password: str, language: str, tmp_path: Path) -> None:
    guarded = encrypted(language=language)
    document = read_made(guarded.data, tmp_path, password=password)
    assert blocks_of(document) == guarded.blocks
    assert SECRET not in repr(document)


def test_a_file_that_is_only_guarded_against_changes_needs_no_password(tmp_path: Path) -> None:
    guarded = encrypted(user="")
    assert blocks_of(read_made(guarded.data, tmp_path)) == guarded.blocks


def test_a_password_for_a_file_without_one_does_no_harm(tmp_path: Path) -> None:
    plain = made("paragraphs", "en")
    assert blocks_of(read_made(plain.data, tmp_path, password=SECRET)) == plain.blocks


# ── empty, not a PDF, cut off, damaged ───────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("data", [b"", b"\n \n"])
def test_an_empty_file_is_refused(data: bytes, tmp_path: Path) -> None:
    refused(data, tmp_path, "is empty")


@pytest.mark.parametrize("data", [b"Just text.", b"PK\x03\x04" + bytes(200), b"<!doctype html><p>Not found"])
def test_what_is_no_pdf_is_refused(data: bytes, tmp_path: Path) -> None:
    assert refused(data, tmp_path, "is not a PDF").hint


def test_pages_without_anything_are_refused(tmp_path: Path) -> None:
    refused(pages("blank", "blank"), tmp_path, "has no text: its 2 pages are empty")


def test_a_file_without_pages_is_refused(tmp_path: Path) -> None:
    data = (
        b"%PDF-1.4\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj\n2 0 obj<</Type/Pages/Kids[]/Count 0>>endobj\n"
        b"trailer<</Root 1 0 R/Size 3>>\n%%EOF"
    )
    refused(data, tmp_path, "has no pages|is damaged")


@pytest.mark.parametrize("share", [0.02, 0.3, 0.5, 0.7, 0.9, 0.99])
@pytest.mark.parametrize("name", ["headings_by_size", "pictured"])
def test_a_truncated_file_is_reported(name: str, share: float, tmp_path: Path) -> None:
    data = made(name, "en").data
    cut = data[: int(share * len(data))]
    got = outcome(cut, tmp_path)
    problems = [got.rule] if isinstance(got, SpanwiseError) else notes(got)
    assert any(map(NOT_WHOLE.search, problems)), problems


def test_a_file_without_its_head_is_refused(tmp_path: Path) -> None:
    refused(made("paragraphs", "en").data[1500:], tmp_path, "is not a PDF|is damaged")


def test_rubbish_after_a_head_is_refused(tmp_path: Path) -> None:
    rubbish = random.Random(1).randbytes(3000)
    assert refused(b"%PDF-1.7\n" + rubbish + b"\n%%EOF\n", tmp_path, "is damaged and can't be opened").hint


def test_a_broken_table_of_objects_is_mended(tmp_path: Path) -> None:
    whole = made("headings_by_size", "pl")
    data = re.sub(rb"startxref\s+\d+", b"startxref\n7", whole.data)
    assert blocks_of(read_made(data, tmp_path)) == whole.blocks


def test_a_damaged_page_is_reported_and_others_are_read(tmp_path: Path) -> None:
    data = pages("text", "text", "text")
    spots = [found.start() for found in re.finditer(rb"/Type /Page\b(?!s)", data)]
    broken = data[: spots[1]] + b"/Type /Pain" + data[spots[1] + 11 :]
    document = read_made(broken, tmp_path)
    assert len(document.pages) == 3
    if 2 not in {block.page for block in document.blocks}:
        assert any("page 2" in note for note in notes(document))
    assert {1, 3} <= {block.page for block in document.blocks}


# ── scans ────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_scanned_pages_are_refused_with_a_hint(tmp_path: Path) -> None:
    error = refused(pages("scan", "scan"), tmp_path, "has no text: 2 of its 2 pages are pictures")
    assert error.hint
    assert "ocr" in error.hint


def test_a_scanned_page_between_others_is_reported(tmp_path: Path) -> None:
    document = read_made(pages("text", "scan", "text"), tmp_path)
    assert_document(document)
    assert [block.page for block in document.blocks if block.kind != "figure"] == [1, 3]
    assert [(item.reason, (item.source_ref or {})["page"]) for item in document.left_out] == [
        ("page 2 is a picture without text, as of a scan", 2)
    ]


def test_a_blank_page_is_no_reason_to_warn(tmp_path: Path) -> None:
    document = read_made(pages("text", "blank", "text"), tmp_path)
    assert [block.page for block in document.blocks] == [1, 3]
    assert document.left_out == ()
    assert document.pages[1].start == document.pages[1].end


@pytest.mark.parametrize("language", LANGUAGES)
def test_recognised_text_under_a_scan_is_read(language: str, tmp_path: Path) -> None:
    sheet, texts = Sheet(language), TEXTS[language]
    for number, body in enumerate(texts.body[:2]):
        if number:
            sheet.turn_page()
        sheet.canvas._code.append("3 Tr")  # invisible text
        sheet.paragraph(body)
        sheet.canvas._code.append("0 Tr")
        sheet.picture(0, 0, WIDTH, HEIGHT)
    scanned = sheet.done()
    assert blocks_of(read_made(scanned.data, tmp_path)) == scanned.blocks


def test_text_outside_of_the_page_is_left_out_and_listed(tmp_path: Path) -> None:
    sheet = Sheet()
    sheet.paragraph(TEXT_BODY[0])
    sheet.write(WIDTH + 100, 200, "printers only")
    document = read_made(sheet.done().data, tmp_path)
    assert document.text == TEXT_BODY[0]
    assert [(item.reason, item.text) for item in document.left_out] == [("text outside of the page", "printers only")]


# ── many files ───────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.process
def test_a_batch_goes_on_and_names_every_file_that_fails(tmp_path: Path) -> None:
    good = made("paragraphs", "pl").data
    folder = files(tmp_path / "in", {
        "a.pdf": good, "b.pdf": b"", "c.pdf": encrypted().data, "d.pdf": pages("scan"), "e.pdf": b"no",
        "f.pdf": pages("text", "scan"), "g.pdf": good, "h.pdf": good[:200],
    })  # fmt: skip
    done = ran("chunk", folder.name, "--jobs", "2", cwd=tmp_path)
    read = {record["metadata"]["file_path"] for record in records_of(done.out)}
    assert read == {"in/a.pdf", "in/f.pdf", "in/g.pdf"}
    assert done.code == 1
    for name, message in {
        "b.pdf": "is empty", "c.pdf": "needs a password", "d.pdf": "is a picture", "e.pdf": "is not a PDF",
        "f.pdf": "page 2 is a picture", "h.pdf": "cut off",
    }.items():  # fmt: skip
        assert re.search(rf"in/{name}.*{message}", done.err), (name, done.err)


@pytest.mark.process
def test_the_command_line_takes_a_password(tmp_path: Path) -> None:
    files(tmp_path, {"c.pdf": encrypted().data})
    done = ran("chunk", "c.pdf", "--password", SECRET, cwd=tmp_path)
    assert done.code == 0, done.err
    assert [record["normalized_text"] for record in records_of(done.out)] == [TEXT_BODY[0]]
    assert SECRET not in done.out.decode() + done.err


# ── hostile ──────────────────────────────────────────────────────────────────────────────────────────────────────


def harmed(data: bytes, chance: random.Random) -> bytes:
    """Return a file with flipped bits, a range removed or repeated, changed numbers, or cut off."""
    broken = bytearray(data)
    kind = chance.randrange(5)
    start = chance.randrange(len(data))
    if kind == 0:
        for _ in range(chance.choice((1, 10, 100))):
            broken[chance.randrange(len(broken))] ^= 1 << chance.randrange(8)
    elif kind == 1:
        del broken[start : start + chance.randrange(1, 2000)]
    elif kind == 2:
        broken[start:start] = data[start : start + chance.randrange(1, 2000)]
    elif kind == 3:
        del broken[start:]
    else:
        rare = chance.choice((2, 20, 200))
        return NUMBER.sub(lambda found: found[0] if chance.randrange(rare) else chance.choice(NUMBERS), data)
    return bytes(broken)


@pytest.mark.browser
@pytest.mark.timeout(60)
@pytest.mark.parametrize("seed", range(60))
def test_a_harmed_file_is_read_or_refused(seed: int, tmp_path: Path) -> None:
    chance = random.Random(seed)
    language = chance.choice(LANGUAGES)
    whole = printed("handbook", language) if seed % 6 == 5 else made(BASES[seed % 5], language)
    got = outcome(harmed(whole.data, chance), tmp_path)
    if isinstance(got, SpanwiseError):
        assert got.rule
    else:
        assert_document(got)
        records = [chunk.to_dict() for chunk in spanwise.chunk(got, max_tokens=100)]
        assert broken_laws(got, records, tokenizer_of("cl100k"), 100) == []


def test_numbers_that_make_no_sense_are_survived(tmp_path: Path) -> None:
    sheet = Sheet()
    sheet.write(1e7, -1e7, "far away")
    sheet.write(LEFT, 100, "tiny", 0.001)
    sheet.write(LEFT, 200, "huge", 100_000)
    sheet.write(LEFT, 300, TEXT_BODY[0][:59], SIZE)
    document = read_made(sheet.done().data, tmp_path)
    assert_document(document)
    assert TEXT_BODY[0][:59] in document.text


@pytest.mark.parametrize("size", [0.02, 0.05, 0.1, 0.5])
def test_letters_too_small_to_see_are_survived(size: float, tmp_path: Path) -> None:
    sheet = Sheet()
    sheet.paragraph(TEXT_BODY[0])
    sheet.write(LEFT + 0.5, 400, "tiny", size)
    document = read_made(sheet.done().data, tmp_path)
    assert_document(document)
    assert document.text.startswith(TEXT_BODY[0])
