"""MSG files of Outlook: properties, bodies in three forms, attachments; and what is broken."""

from __future__ import annotations

import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

import spanwise
from made_msg import Storage, ole_of, storage_of
from reading_checks import ALL_STRATEGIES, assert_damage_is_an_error, assert_laws, read
from spanwise import Document, MissingExtraError, UnreadableError
from spanwise.readers.mail.rtf import inflated, text_of

SENT = datetime(2025, 3, 3, 9, 0, tzinfo=UTC)
HEADER: dict[int, str | bytes] = {
    0x0037: "Żółw – plan", 0x0C1A: "Ann Łoś", 0x5D01: "ann@example.org", 0x0E04: "Bob; Eve", 0x1035: "<1@x>",
}  # fmt: skip


def stored(rtf: str) -> bytes:
    """Return RTF as an uncompressed body."""
    data = rtf.encode("latin-1")
    return (len(data) + 12).to_bytes(4, "little") + len(data).to_bytes(4, "little") + b"MELA\0\0\0\0" + data


def attached(name: str, data: bytes, **more: Any) -> Storage:
    return storage_of({0x3707: name, 0x3701: data, **more.get("texts", {})}, more.get("numbers"), header=8)


def message(*attachments: Storage, header: int = 32, page: int = 1252, **bodies: str | bytes) -> Storage:
    tags = {"text": 0x1000, "html": 0x1013, "rtf": 0x1009}
    texts = HEADER | {tags[name]: body for name, body in bodies.items()}
    made = storage_of(texts, {0x0039: SENT, 0x3FDE: page}, header)
    return made | {f"__attach_version1.0_#{at:08X}": one for at, one in enumerate(attachments)}


def of(made: Storage) -> Document:
    return read(ole_of(made), "msg")


def test_header_and_plain_body() -> None:
    document = of(message(text="Hi Bob,\r\n\r\nsee *this*.\r\n> old\r\n"))
    assert document.text == "Hi Bob,\n\nsee \\*this\\*.\n\n> old"
    found = document.metadata
    assert (found.title, found.author, found.updated_at) == ("Żółw – plan", "Ann Łoś", "2025-03-03T09:00:00+00:00")
    assert found.extra == {"from": "Ann Łoś <ann@example.org>", "to": "Bob; Eve", "message-id": "<1@x>"}
    assert found.source_type == "msg"


def test_who_sent_it() -> None:
    made = storage_of({0x0042: "Ann", 0x0065: "ann@example.org", 0x1000: "x"})
    assert (of(made).metadata.author, of(made).metadata.extra["from"]) == ("Ann", "Ann <ann@example.org>")
    stated = storage_of({0x007D: "From: Eve <eve@example.org>\nTo: Bob <bob@example.org>\n\n", 0x1000: "x"})
    assert of(stated).metadata.author == "Eve"
    assert of(stated).metadata.extra == {"from": "Eve <eve@example.org>", "to": "Bob <bob@example.org>"}


def test_the_html_body_is_best() -> None:
    page = "<p>Grüße, <b>Ann</b></p><blockquote>old</blockquote>"
    assert of(message(text="plain", html=page.encode("cp1252"))).text == "Grüße, **Ann**\n\n> old"
    assert of(message(text="plain", html="<p>zażółć</p>".encode("cp1250"), page=1250)).text == "zażółć"
    assert of(message(text="plain", html="<p>zażółć</p>".encode(), page=65001)).text == "zażółć"
    assert of(message(html="<p>" + "long text " * 2000)).text.startswith("long text")


def test_narrow_text_in_a_code_page() -> None:
    made = message(page=1251)
    made["__substg1.0_1000001E"] = "привет".encode("cp1251")
    assert of(made).text == "привет"


RTF_HTML = (
    r"{\rtf1\ansi\ansicpg1252\fromhtml1 {\fonttbl{\f0\fswiss Arial;}{\f1\fcharset238 Arial CE;}}{\colortbl;}"
    r"{\*\generator x;}{\*\htmltag64 <html><body>}\htmlrtf \pard \htmlrtf0 {\*\htmltag84 <p>}Gr\'fc\'dfe "
    r"{\f1\'bf\'f3\'b3w} \u8364?5 \{a\} \htmlrtf {\b \htmlrtf0"
    r"{\*\htmltag84 <b>}bold{\*\htmltag92 </b>}\htmlrtf }\htmlrtf0 "
    r"{\*\htmltag92 </p>}{\*\mhtmltag84 <p>}{\*\htmltag84 <p>}two\line lines{\*\htmltag0 <br>\par x</p>}}"
)


def test_rtf_made_of_html_becomes_that_html() -> None:
    assert text_of(RTF_HTML.encode()) == (
        "<html><body><p>Grüße żółw €5 {a} <b>bold</b></p><p>two\nlines<br>\nx</p>", True
    )  # fmt: skip
    assert of(message(text="plain", rtf=stored(RTF_HTML))).text == "Grüße żółw €5 {a} **bold**\n\ntwo lines  \nx"


def test_other_rtf_is_text_where_there_is_no_other_body() -> None:
    rtf = r"{\rtf1\ansi{\fonttbl{\f0 Arial;}}{\info{\title No}}\f0 One\par\par Two \u-10179?\u-8704?\tab x{\*\no no}}"
    assert of(message(rtf=stored(rtf))).text == "One\n\nTwo 😀\tx"
    assert of(message(text="plain", rtf=stored(rtf))).text == "plain"


@pytest.mark.parametrize(
    ("compressed", "rtf"),
    [
        (
            "2d0000002b0000004c5a4675f1c5c7a703000a007263706731323542320af32068656c090020627705b06c647d0a800fa0",
            b"{\\rtf1\\ansi\\ansicpg1252\\pard hello world}\r\n",
        ),
        ("1a0000001c0000004c5a4675e2d44b51410004205758595a0d6e7d010eb0", b"{\\rtf1 WXYZWXYZWXYZWXYZWXYZ}"),
    ],
)
def test_compressed_rtf(compressed: str, rtf: bytes) -> None:
    """The examples of the format's description."""
    assert inflated(bytes.fromhex(compressed)) == rtf
    assert rtf.startswith(inflated(bytes.fromhex(compressed)[:-4]))


def test_attachments() -> None:
    inner = message(attached("n.txt", b"notes"), header=24, text="Inner.")
    nested = storage_of({0x3001: "Inside"}, {0x3705: 5}, header=8) | {"__substg1.0_3701000D": inner}
    document = of(
        message(
            attached("sums.csv", b"Name,Sum\nAnn,1\n" + b"Bob,2\n" * 1000),
            attached("", b"Status: 5", texts={0x370E: "message/delivery-status"}),
            attached("tool.exe", b"\0\1"),
            attached("image001.png", b"x", texts={0x3712: "<1>"}),
            attached("hidden.txt", b"x", numbers={0x7FFE: 1}),
            nested,
            text="See the files.",
        )
    )
    assert document.text.startswith(
        "See the files.\n\n# sums.csv\n\n| Name | Sum |\n|---|---|\n| Ann | 1 |\n| Bob | 2 |"
    )
    assert document.blocks[2].source_ref == {"member": "sums.csv", "range": "A1:B1002"}
    assert "# attachment.txt\n\nStatus: 5" in document.text
    assert document.text.endswith("\n\nInner.\n\n# n.txt\n\nnotes")
    assert document.blocks[-1].source_ref == {"member": "Inside!/n.txt", "line_start": 1, "line_end": 1}
    assert document.blocks[-1].headings_path == ("Inside", "n.txt")
    assert [(item.text, item.usual) for item in document.left_out] == [
        ("tool.exe: no reader takes it", False), ("image001.png", True), ("hidden.txt", True),
    ]  # fmt: skip


def test_what_is_no_message_is_refused() -> None:
    whole = ole_of(message(text="x"))
    for data in (b"", b"no message", whole[:8], whole[:600], whole[:8] + bytes(4000)):
        with pytest.raises(UnreadableError):
            read(data, "msg")
    crowded = ole_of({**message(text="x"), **{f"s{at}": b"" for at in range(3100)}})
    with pytest.raises(UnreadableError, match="too many entries"):
        read(crowded, "msg")


def test_without_olefile_the_error_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "olefile", None)
    with pytest.raises(MissingExtraError, match="olefile"):
        read(ole_of(message(text="x")), "msg")


@pytest.mark.timeout(30)
@pytest.mark.parametrize(
    "rtf", ["{" * 300_000, r"\u8364" * 100_000, r"{\*\htmltag " * 100_000, "\\'" * 100_000, "x" * 900_000]
)
def test_hostile_rtf_takes_no_long_time(rtf: str) -> None:
    assert isinstance(of(message(rtf=stored(r"{\rtf1\fromhtml1 " + rtf))), Document)
    assert isinstance(inflated(stored("")[:8] + b"LZFu\0\0\0\0" + b"\xff" * 200_000), bytes)


def _rich() -> bytes:
    return ole_of(message(attached("a.csv", b"a,b\n1,2\n"), text="Hi\n> old", rtf=stored(RTF_HTML), html=b""))


def test_damaged_messages_are_errors() -> None:
    assert_damage_is_an_error(_rich(), "msg", 200)


def test_messages_in_a_folder_are_read(tmp_path: Path) -> None:
    (tmp_path / "a.msg").write_bytes(_rich())
    (tmp_path / "b.msg").write_bytes(b"nothing")
    assert [outcome.error is None for outcome in spanwise.chunk_files(tmp_path)] == [True, False]


@pytest.mark.parametrize("strategy", ALL_STRATEGIES)
@pytest.mark.parametrize("limit", [16, 40, 300])
def test_laws_of_messages(strategy: str, limit: int) -> None:
    long = "A sentence that goes on and on. " * 20
    page = f"<h2>In</h2><p>{long}</p><table><tr><td>a<td>b<tr><td>1<td>{long}</table><blockquote>{long}</blockquote>"
    assert_laws(of(message(attached("a.md", f"# A\n\n{long}\n\n- b".encode()), html=page)), strategy, limit)
