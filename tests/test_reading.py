"""From bytes and strings to documents: encodings, line ends, errors, ids, metadata, pages."""

from __future__ import annotations

import codecs
import os
import pickle
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import spanwise
from spanwise import Document, Metadata, OptionError, SpanwiseError, UnreadableError
from spanwise.testing.document_laws import assert_document

DEMO = Path(spanwise.__file__).parent / "cli" / "demo" / "documents"
JAPANESE = (
    "この手順書は、保守の依頼を受けてから報告書に署名をもらうまでの流れを説明します。電源を切って、ケーブルを抜き、"
    "ふたを開けてください。温度は二十度から二十五度の間で測定します。\n\n担当者は結果を記録し、上司に報告しなければなりません。"
)


def written(folder: Path, data: bytes, name: str = "a.txt") -> Path:
    path = folder / name
    path.write_bytes(data)
    return path


def paragraphs(document: Document) -> list[str]:
    assert_document(document)
    return [document.text[block.start : block.end] for block in document.blocks]


# ── plain text ───────────────────────────────────────────────────────────────────────────────────────────────────


def test_plain_text_has_paragraphs_and_no_markup() -> None:
    document = spanwise.read_text("# Żółw\n- gęś\n\n\n | a |\n|---|\n \t\n    jaźń  \n", format="text")
    assert paragraphs(document) == ["# Żółw\n- gęś", "| a |\n|---|", "jaźń"]
    assert {block.kind for block in document.blocks} == {"paragraph"}
    assert {block.headings_path for block in document.blocks} == {()}
    assert document.metadata.title is None


@pytest.mark.parametrize("text", ["", "\n", " \t\u00a0\n\n"])
def test_nothing_visible_is_no_block(text: str) -> None:
    document = spanwise.read_text(text, format="text")
    assert document.blocks == ()
    assert document.text == text
    assert spanwise.chunk(document) == ()


def test_plain_text_has_figures() -> None:
    document = spanwise.read_text("Żółw <figure>ż\n\nb</figure> gęś <figure>", format="text")
    assert [(block.kind, document.text[block.start : block.end]) for block in document.blocks] == [
        ("paragraph", "Żółw"), ("figure", "<figure>ż\n\nb</figure>"), ("paragraph", "gęś <figure>"),
    ]  # fmt: skip


@given(st.text())
def test_any_string_is_plain_text(text: str) -> None:
    assert_document(spanwise.read_text(text, format="text"))


def test_front_matter_and_definitions_are_text_in_plain_text() -> None:
    assert paragraphs(spanwise.read_text("---\na: b\n---\n\n[a]: /b", format="text")) == ["---\na: b\n---", "[a]: /b"]


# ── files ────────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("name", "kind"),
    [("a.md", "heading"), ("a.MARKDOWN", "heading"), ("a.txt", "paragraph"), ("a.log", "paragraph"),
     ("README", "paragraph")],
)  # fmt: skip
def test_the_extension_determines_the_format(tmp_path: Path, name: str, kind: str) -> None:
    document = spanwise.read(written(tmp_path, "# Żółw".encode(), name))
    assert document.blocks[0].kind == kind
    assert document.metadata.source_type == ("markdown" if kind == "heading" else "text")
    assert document.metadata.file_path == (tmp_path / name).as_posix()


def test_format_overrules_the_extension(tmp_path: Path) -> None:
    path = written(tmp_path, b"# A", "a.rst")
    assert spanwise.read(path, format="markdown").blocks[0].kind == "heading"
    assert spanwise.read(str(path), format="text").blocks[0].kind == "paragraph"


def test_a_file_with_a_name_that_is_not_utf_8_is_read(tmp_path: Path) -> None:
    path = tmp_path / os.fsdecode(b"caf\xe9.md")
    path.write_bytes("# Żółw\n\nTekst".encode())
    document = spanwise.read(path)
    records = [chunk.to_dict() for chunk in spanwise.chunk(document)]
    assert records[0]["normalized_text"] == "Tekst"


# ── encodings ────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("mark", "encoding"),
    [
        (codecs.BOM_UTF8, "utf-8"), (codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be"),
        (codecs.BOM_UTF32_LE, "utf-32-le"), (codecs.BOM_UTF32_BE, "utf-32-be"), (b"", "utf-8"),
    ],
)  # fmt: skip
def test_byte_order_marks(tmp_path: Path, mark: bytes, encoding: str) -> None:
    document = spanwise.read(written(tmp_path, mark + "# Żółw 🐢\r\n\r\n猫".encode(encoding), "a.md"))
    assert document.text == "# Żółw 🐢\n\n猫"
    assert document.blocks[0].headings_path == ("Żółw 🐢",)


def test_a_byte_order_mark_in_a_string_is_removed() -> None:
    document = spanwise.read_text("\ufeff# Żółw")
    assert document.text == "# Żółw"
    assert document.blocks[0].kind == "heading"


def test_a_byte_order_mark_in_the_middle_stays() -> None:
    assert spanwise.read_text("a\ufeffb").text == "a\ufeffb"


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be", "utf-32-le"])
def test_a_cut_off_file_is_refused_with_its_encoding(tmp_path: Path, encoding: str) -> None:
    data = "\ufeffżółw".encode(encoding)[:-1]
    with pytest.raises(UnreadableError, match=r"utf-\d\d.*byte \d+") as caught:
        spanwise.read(written(tmp_path, data))
    assert "a.txt" in caught.value.subject
    assert caught.value.hint


@pytest.mark.parametrize(
    ("head", "encoding"),
    [
        ("<!-- charset: iso-8859-2 -->", "iso-8859-2"), ('<meta charset="windows-1251">', "cp1251"),
        ("# -*- coding: cp1250 -*-", "cp1250"), ('<?xml version="1.0" encoding="koi8-r"?>', "koi8-r"),
    ],
)  # fmt: skip
def test_a_declared_charset_is_believed(tmp_path: Path, head: str, encoding: str) -> None:
    word = "жук" if encoding in {"cp1251", "koi8-r"} else "żółć"
    text = f"{head}\n\n{word}"
    assert spanwise.read(written(tmp_path, text.encode(encoding))).text == text


def test_utf_8_is_believed_before_a_declared_charset(tmp_path: Path) -> None:
    text = "<!-- charset: iso-8859-2 -->\n\nżółć"
    assert spanwise.read(written(tmp_path, text.encode())).text == text


@pytest.mark.parametrize("charset", ["no-such-charset", "utf-8", "ascii"])
def test_a_charset_that_can_t_be_right_is_not_believed(tmp_path: Path, charset: str) -> None:
    text = f"<!-- charset: {charset} -->\n" + (DEMO / "handbook.pl.md").read_text(encoding="utf-8")
    data = text.encode("cp1250", "ignore")
    assert spanwise.read(written(tmp_path, data)).text == data.decode("cp1250")


@pytest.mark.parametrize(
    "charset", ["rot13", "base64", "hex", "zlib", "undefined", "idna", "unicode_escape", "punycode"]
)
def test_a_codec_that_is_no_charset_is_not_used(tmp_path: Path, charset: str) -> None:
    text = f"<!-- charset: {charset} -->\n" + (DEMO / "handbook.pl.md").read_text(encoding="utf-8")
    data = text.encode("cp1250", "ignore")
    assert "zgłosze" in spanwise.read(written(tmp_path, data)).text


@pytest.mark.parametrize(
    ("language", "encoding"),
    [("pl", "iso-8859-2"), ("pl", "cp1250"), ("ru", "cp1251"), ("ru", "koi8-r"), ("zh", "gbk"), ("de", "cp1252")],
)
def test_an_encoding_is_guessed(tmp_path: Path, language: str, encoding: str) -> None:
    data = (DEMO / f"handbook.{language}.md").read_text(encoding="utf-8").encode(encoding, "ignore")
    assert spanwise.read(written(tmp_path, data)).text == data.decode(encoding)


@pytest.mark.parametrize("encoding", ["cp932", "euc-jp"])
def test_japanese_is_guessed(tmp_path: Path, encoding: str) -> None:
    text = JAPANESE * 3
    assert spanwise.read(written(tmp_path, text.encode(encoding))).text == text


@pytest.mark.parametrize(
    "data",
    [
        b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\x00\x00\x00\x10\x00\x00\x00\x10\x08\x06", b"\x00" * 100,
        b"PK\x03\x04\x14\x00\x00\x00\x08\x00\xb7\xff", b"MZ\x90\x00\x03\x00\x00\x00\x04\x00", bytes(range(256)) * 8,
        "żółw i gęś, tekst bez znacznika".encode("utf-16-le"),
    ],
)  # fmt: skip
def test_binary_files_are_refused(tmp_path: Path, data: bytes) -> None:
    with pytest.raises(UnreadableError, match=r"(?s)binary.*hint: "):
        spanwise.read(written(tmp_path, data))


def test_a_single_nul_in_a_text_is_replaced_and_reported(tmp_path: Path) -> None:
    document = spanwise.read(written(tmp_path, ("żółw " * 1000 + "\x00 koniec").encode()))
    assert document.text.endswith("\ufffd koniec")
    assert len(document.left_out) == 1


def test_an_empty_file_is_an_empty_document(tmp_path: Path) -> None:
    document = spanwise.read(written(tmp_path, b""))
    assert (document.text, document.blocks) == ("", ())


# ── line ends and forbidden characters ───────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("text", "expected"),
    [("ż\r\nb\r\n", "ż\nb\n"), ("ż\rb\r", "ż\nb\n"), ("ż\r\n\rb\n\r\n", "ż\n\nb\n\n"),
     ("ż\u2028b\x0bc", "ż\u2028b\x0bc")],
)  # fmt: skip
@pytest.mark.parametrize("form", ["markdown", "text"])
def test_line_ends(tmp_path: Path, text: str, expected: str, form: str) -> None:
    assert spanwise.read_text(text, format=form).text == expected
    assert spanwise.read(written(tmp_path, text.encode()), format=form).text == expected
    assert spanwise.read_pages([text]).text == expected


@pytest.mark.parametrize("form", ["markdown", "text"])
def test_nul_and_lone_surrogates_are_replaced_visibly_and_reported(form: str) -> None:
    document = spanwise.read_text("\ufeffż\x00a\r\n\ud800b\udfff 🐢", format=form)
    assert document.text == "ż\ufffda\n\ufffdb\ufffd 🐢"
    (report,) = document.left_out
    assert "3" in report.reason
    assert "U+FFFD" in report.reason
    assert report.source_ref == {"characters": [1, 4, 6]}


def test_replacements_keep_every_position() -> None:
    text = "a\x00" * 5000
    document = spanwise.read_text(text)
    assert len(document.text) == len(text)
    assert "5000" in document.left_out[0].reason


def test_clean_text_reports_nothing() -> None:
    assert spanwise.read_text("żółw \ufffd 🐢").left_out == ()


def test_replacements_on_pages_are_reported_where_they_stand_in_the_document() -> None:
    document = spanwise.read_pages(["żółw", "a\x00b", "\ud800"])
    positions = [position for report in document.left_out for position in (report.source_ref or {})["characters"]]
    named = [(report.source_ref or {}).get("page") for report in document.left_out]
    assert named == [2, 3] or [document.text[position] for position in positions] == ["\ufffd", "\ufffd"]


# ── errors ───────────────────────────────────────────────────────────────────────────────────────────────────────


def refused(caught: pytest.ExceptionInfo[BaseException], *, hint: bool = True) -> str:
    """Assert that an error is one of ours with a message and a hint; return the message."""
    error = caught.value
    assert isinstance(error, SpanwiseError)
    assert isinstance(error, ValueError)
    assert error.subject
    assert error.rule
    assert not hint or (error.hint and f"hint: {error.hint}" in str(error))
    return str(error)


def test_an_unknown_extension_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UnreadableError) as caught:
        spanwise.read(written(tmp_path, b"x", "a.xyz"))
    message = refused(caught)
    assert "a.xyz" in message
    assert ".md" in message
    assert "say its format: markdown or text" in message


def test_a_missing_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UnreadableError, match="No such file") as caught:
        spanwise.read(tmp_path / "missing.md")
    assert "missing.md" in refused(caught, hint=False)


@pytest.mark.parametrize("form", [None, "text"])
def test_a_folder_is_refused(tmp_path: Path, form: str | None) -> None:
    with pytest.raises(UnreadableError, match="directory") as caught:
        spanwise.read(tmp_path, format=form)
    refused(caught, hint=False)


@pytest.mark.parametrize("path", [None, 5, b"a.md", ["a.md"], "a\x00.md", "x" * 5000 + ".md"])
def test_non_paths_are_refused(path: Any) -> None:
    with pytest.raises(SpanwiseError) as caught:
        spanwise.read(path)
    refused(caught, hint=False)


@pytest.mark.parametrize("text", [None, 5, b"bytes", ["a"], Path("a")])
def test_text_that_is_no_string_is_refused(text: Any) -> None:
    with pytest.raises(UnreadableError) as caught:
        spanwise.read_text(text)
    assert "spanwise.read(path)" in refused(caught)


@pytest.mark.parametrize("form", ["markdwon", "", "pdf", None, 5])
def test_an_unknown_format_is_refused(form: Any) -> None:
    with pytest.raises(OptionError) as caught:
        spanwise.read_text("x", format=form)
    assert caught.value.subject == "format"
    refused(caught)


def test_a_format_of_another_type_is_refused() -> None:
    with pytest.raises(OptionError):
        spanwise.read_text("x", format=["markdown"])  # type: ignore[arg-type]


def test_a_misspelt_format_gets_the_right_one_as_a_hint() -> None:
    with pytest.raises(OptionError, match="did you mean `markdown`"):
        spanwise.read_text("x", format="markdwon")


@pytest.mark.parametrize("pages", ["one string", None, 5, [b"a"], ["a", None], [["a"]]])
def test_non_lists_of_pages_are_refused(pages: Any) -> None:
    with pytest.raises(SpanwiseError) as caught:
        spanwise.read_pages(pages)
    refused(caught, hint=False)


@pytest.mark.parametrize("form", ["html", "mardown", None])
def test_pages_of_an_unknown_format_are_refused(form: Any) -> None:
    with pytest.raises(OptionError) as caught:
        spanwise.read_pages(["a"], format=form)
    assert caught.value.subject == "format"


# ── ids ──────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_an_id_is_given_or_derived() -> None:
    assert spanwise.read_text("a", document_id="mine").document_id == "mine"
    assert spanwise.read_text("a", document_id="").document_id
    assert spanwise.read_text("a").document_id


def test_ids_come_from_tenant_and_source() -> None:
    base = spanwise.read_text("a", source_url="https://a.example", tenant_id="t").document_id
    assert spanwise.read_text("b", source_url="https://a.example", tenant_id="t", title="x").document_id == base
    assert spanwise.read_text("a", source_url="https://a.example", tenant_id="u").document_id != base
    assert spanwise.read_text("a", source_url="https://a.example").document_id != base
    assert spanwise.read_text("a", source_url="https://b.example", tenant_id="t").document_id != base


def test_a_file_path_is_a_source(tmp_path: Path) -> None:
    first = spanwise.read(written(tmp_path, b"one"))
    again = spanwise.read(str(written(tmp_path, b"two")))
    assert first.document_id == again.document_id
    assert spanwise.read(written(tmp_path, b"one", "b.txt")).document_id != first.document_id


def test_without_a_source_the_text_names_the_document() -> None:
    assert spanwise.read_text("a").document_id == spanwise.read_text("a").document_id
    assert spanwise.read_text("a").document_id != spanwise.read_text("b").document_id
    assert spanwise.read_text("a", tenant_id="t").document_id != spanwise.read_text("a").document_id
    assert spanwise.read_pages(["a", "b"]).document_id == spanwise.read_pages(["a", "b"]).document_id


@pytest.mark.process
def test_ids_are_the_same_in_another_process() -> None:
    program = "import spanwise; print(spanwise.read_text('żółw', tenant_id='t').document_id)"
    environment = {**os.environ, "PYTHONHASHSEED": "7", "PYTHONUTF8": "1"}
    output = subprocess.run(
        [sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=True
    ).stdout
    assert output.strip() == spanwise.read_text("żółw", tenant_id="t").document_id


# ── metadata ─────────────────────────────────────────────────────────────────────────────────────────────────────


def test_metadata_is_kept() -> None:
    known: dict[str, Any] = {
        "document_id": "d", "tenant_id": "t", "source_type": "wiki", "source_url": "https://ż.example",
        "file_path": "a/b", "title": "Ż", "author": "Ó", "updated_at": "2026-01-28T10:00:00Z", "space_key": "S",
        "page_id": "9", "page_version": 3, "language": "pl",
    }  # fmt: skip
    metadata = spanwise.read_text("a", labels=["x", "ż"], extra={"mine": [1]}, **known).metadata
    assert {name: getattr(metadata, name) for name in known} == known
    assert metadata.labels == ("x", "ż")
    assert metadata.extra == {"mine": [1]}
    record = metadata.to_dict()
    assert record["labels"] == ["x", "ż"]
    assert record["extra"] == {"mine": [1]}


def test_every_field_of_the_contract_is_there() -> None:
    assert set(spanwise.read_text("a").metadata.to_dict()) >= {
        "document_id", "tenant_id", "source_type", "source_url", "file_path", "title", "author", "updated_at", "labels",
        "space_key", "page_id", "page_version", "links",
    }  # fmt: skip


@pytest.mark.parametrize(("typo", "meant"), [("titel", "title"), ("source_ulr", "source_url"), ("tenant", "tenant_id")])
def test_a_misspelt_field_is_refused_with_a_hint(typo: str, meant: str) -> None:
    with pytest.raises(OptionError, match=f"did you mean `{meant}`") as caught:
        spanwise.read_text("a", **dict[str, Any]({typo: "x"}))
    assert caught.value.subject == typo
    assert f'extra={{"{typo}": …}}' in str(caught.value)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("title", 5), ("document_id", 5), ("source_url", b"x"), ("updated_at", 2026), ("labels", "hr"), ("labels", [1]),
        ("labels", 5), ("page_version", "3"), ("page_version", True), ("page_version", 1.0), ("extra", 5),
        ("extra", "x"), ("links", [5]), ("links", "x"), ("tenant_id", 7), ("updated_at", "yesterday"),
        ("title", "\ud800"), ("tenant_id", "\udfff"),
    ],
)  # fmt: skip
def test_a_field_of_the_wrong_kind_is_refused(name: str, value: Any) -> None:
    with pytest.raises(OptionError) as caught:
        spanwise.read_text("a", **{name: value})
    assert caught.value.subject == name


@pytest.mark.parametrize("name", ["title", "labels", "links", "extra", "page_version"])
def test_none_means_not_known(name: str) -> None:
    nothing: dict[str, Any] = {name: None}
    assert spanwise.read_text("# A\n\n[b](c)", **nothing) == spanwise.read_text("# A\n\n[b](c)")


@pytest.mark.parametrize(
    "stamp", ["2026-01-28", "2026-01-28T10:00:00", "2026-01-28T10:00:00Z", "2026-01-28T10:00:00+02:00"]
)
def test_updated_at_is_iso_8601(stamp: str) -> None:
    assert spanwise.read_text("a", updated_at=stamp).metadata.updated_at == stamp


def test_metadata_can_t_be_changed() -> None:
    mine = {"a": 1}
    metadata = spanwise.read_text("a", extra=mine, labels=["x"]).metadata
    with pytest.raises(AttributeError):
        metadata.title = "x"  # type: ignore[misc]
    with pytest.raises(TypeError):
        metadata.extra["b"] = 2  # type: ignore[index]
    mine["b"] = 2
    assert metadata.extra == {"a": 1}


def test_a_document_can_be_pickled() -> None:
    document = spanwise.read_text("# Ż\n\n- a\n  - b", extra={"a": 1}, labels=["x"])
    assert pickle.loads(pickle.dumps(document)) == document


# ── pages ────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_pages_are_joined_with_an_empty_line() -> None:
    document = spanwise.read_pages(["Żółw\n\nb", "gęś", "jaźń"])
    assert document.text == "Żółw\n\nb\n\ngęś\n\njaźń"
    assert [(page.number, document.text[page.start : page.end]) for page in document.pages] == [
        (1, "Żółw\n\nb"), (2, "gęś"), (3, "jaźń"),
    ]  # fmt: skip
    assert [block.page for block in document.blocks] == [1, 1, 2, 3]
    assert paragraphs(document) == ["Żółw", "b", "gęś", "jaźń"]


def test_pages_are_plain_text_by_default() -> None:
    assert [block.kind for block in spanwise.read_pages(["# A", "- b"]).blocks] == ["paragraph", "paragraph"]
    marked = spanwise.read_pages(["# A", "- b"], format="markdown")
    assert [block.kind for block in marked.blocks] == ["heading", "list"]


def test_empty_pages_have_their_number() -> None:
    document = spanwise.read_pages(["", "ż", " \n", "", "b"])
    assert [(page.number, page.end - page.start) for page in document.pages] == [(1, 0), (2, 1), (3, 2), (4, 0), (5, 1)]
    assert [block.page for block in document.blocks] == [2, 5]
    assert_document(document)


@pytest.mark.parametrize("pages", [[], [""], ["", " "]])
def test_no_pages_and_empty_pages_are_no_blocks(pages: list[str]) -> None:
    document = spanwise.read_pages(pages)
    assert document.blocks == ()
    assert len(document.pages) == len(pages)


def test_pages_may_come_from_a_generator() -> None:
    assert len(spanwise.read_pages(f"ż{number}" for number in range(3)).pages) == 3


@pytest.mark.parametrize("form", ["text", "markdown"])
def test_a_block_never_crosses_a_page(form: str) -> None:
    document = spanwise.read_pages(["Zdanie ż, które", "idzie dalej", "```\nkod", "- a", "- b"], format=form)
    assert_document(document)
    assert [block.page for block in document.blocks] == [1, 2, 3, 4, 5]


def test_a_figure_on_a_page_and_one_over_a_page_break() -> None:
    document = spanwise.read_pages(["Ż <figure>a</figure> b", "<figure>c", "d</figure>"])
    assert [(block.kind, block.page) for block in document.blocks] == [
        ("paragraph", 1), ("figure", 1), ("paragraph", 1), ("paragraph", 2), ("paragraph", 3),
    ]  # fmt: skip
    assert_document(document)


def test_headings_go_on_over_pages() -> None:
    document = spanwise.read_pages(["# Ż\n\na", "b\n\n## C", "d", "# E\n\nf"], format="markdown")
    assert [(block.page, block.headings_path) for block in document.blocks] == [
        (1, ("Ż",)), (1, ("Ż",)), (2, ("Ż",)), (2, ("Ż", "C")), (3, ("Ż", "C")), (4, ("E",)), (4, ("E",)),
    ]  # fmt: skip


def test_definitions_at_the_end_of_a_page_are_on_that_page() -> None:
    document = spanwise.read_pages(["Ż [a]\n\n[a]: /a", "[b]: /b\n\nb", "c\n\n[^1]: ż"], format="markdown")
    assert_document(document)
    assert [(block.kind, block.page) for block in document.blocks] == [
        ("paragraph", 1), ("definition", 1), ("definition", 2), ("paragraph", 2), ("paragraph", 3), ("paragraph", 3),
    ]  # fmt: skip


def test_parts_on_later_pages_point_at_their_text() -> None:
    document = spanwise.read_pages(["żółw 🐢", "- ą\n  - b\n- c", "| ż |\n|---|\n| 1 |"], format="markdown")
    assert_document(document)
    items, table = document.blocks[1], document.blocks[2]
    assert [document.text[part.start : part.end] for part in items.parts] == ["- ą\n  - b", "- c"]
    assert [document.text[part.start : part.end] for part in items.parts[0].parts] == ["- b"]
    assert [(document.text[part.start : part.end], part.header) for part in table.parts] == [
        ("| ż |\n|---|", True), ("| 1 |", False),
    ]  # fmt: skip


def test_links_of_all_pages_are_collected() -> None:
    document = spanwise.read_pages(["[ż](/a)", "b", "[c](/d)"], format="markdown")
    assert [link.target for link in document.metadata.links] == ["/a", "/d"]


def test_markdown_pages_have_a_title() -> None:
    assert spanwise.read_pages(["", "# Żółw\n\na", "# B"], format="markdown").metadata.title == "Żółw"


def test_line_ends_and_marks_are_cleaned_on_every_page() -> None:
    document = spanwise.read_pages(["\ufeffa\r\n", "\ufeffb\r", "c"])
    assert document.text == "a\n\n\nb\n\n\nc"
    assert_document(document)


@given(st.lists(st.text(max_size=40), max_size=6))
def test_any_pages_are_a_document(pages: list[str]) -> None:
    document = spanwise.read_pages(pages)
    assert_document(document)
    assert len(document.pages) == len(pages)


def test_chunks_have_their_pages() -> None:
    document = spanwise.read_pages([f"Zdanie ż numer {number}. " * 5 for number in range(1, 5)])
    chunks = spanwise.chunk(document, max_tokens=64, overlap_tokens=0)
    assert chunks[0].page_start == 1
    assert chunks[-1].page_end == 4
    assert all(chunk.page_start is not None and chunk.page_start <= (chunk.page_end or 0) for chunk in chunks)


def test_metadata_defaults() -> None:
    metadata = Metadata(document_id="d")
    assert (metadata.labels, metadata.links, dict(metadata.extra)) == ((), (), {})


def test_only_the_first_page_has_front_matter() -> None:
    document = spanwise.read_pages(["---\ntitle: A\n---\none", "---\nTotal: 5\n---\nmore text"], format="markdown")
    assert [block.kind for block in document.blocks].count("front_matter") == 1
    assert "Total: 5" in "".join(chunk.normalized_text for chunk in spanwise.chunk(document, "fixed"))


def test_a_guessed_encoding_is_reported(tmp_path: Path) -> None:
    data = (DEMO / "handbook.pl.md").read_text(encoding="utf-8").encode("cp1250", "ignore")
    (report,) = spanwise.read(written(tmp_path, data)).left_out
    assert "cp1250" in report.reason
    assert spanwise.read(written(tmp_path, "żółw".encode())).left_out == ()


def test_extra_must_be_json() -> None:
    with pytest.raises(OptionError, match="JSON"):
        spanwise.read_text("a", extra={"a": object()})
