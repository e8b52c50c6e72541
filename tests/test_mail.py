"""Messages: header, body, quotes, attachments; what is broken or made to exhaust a reader."""

from __future__ import annotations

import base64
from email.message import EmailMessage
from pathlib import Path
from typing import Any

import pytest

import spanwise
from growth import assert_linear
from made_zips import bomb
from reading_checks import ALL_STRATEGIES, assert_damage_is_an_error, assert_laws, read
from spanwise import Document, UnreadableError

HEADER = {"From": "Ann Łoś <ann@example.org>", "To": "Bob <bob@example.org>", "Subject": "Plan"}


def message(text: str = "", html: str = "", **fields: str) -> EmailMessage:
    made = EmailMessage()
    for name, value in {**HEADER, **fields}.items():
        made[name.replace("_", "-")] = value
    if text or not html:
        made.set_content(text)
    if html:
        made.add_alternative(html, subtype="html") if text else made.set_content(html, subtype="html")
    return made


def raw(body: str, **fields: str) -> Document:
    lines = [f"{name.replace('_', '-')}: {value}" for name, value in {"From": "a@b.c", **fields}.items()]
    return read(("\r\n".join(lines) + "\r\n\r\n" + body.replace("\n", "\r\n")).encode(), "eml")


def of(made: EmailMessage) -> Document:
    return read(made.as_bytes(), "eml")


def outline(document: Document) -> list[tuple[str, Any]]:
    return [(block.kind, block.source_ref) for block in document.blocks]


def test_the_header_is_metadata() -> None:
    date, title = (
        "Mon, 03 Mar 2025 10:00:00 +0100",
        "Żółw i przyjaciele: bardzo długi temat, którego nie da się zmieścić",
    )
    document = of(message("Hello.", Date=date, Subject=title, Cc="c@example.org", Message_ID="<1@x>"))
    found = document.metadata
    assert (found.title, found.author, found.updated_at) == (title, "Ann Łoś", "2025-03-03T10:00:00+01:00")
    assert found.extra == {
        "from": "Ann Łoś <ann@example.org>", "to": "Bob <bob@example.org>", "cc": "c@example.org",
        "message-id": "<1@x>",
    }  # fmt: skip
    assert (document.text, found.source_type) == ("Hello.", "eml")


@pytest.mark.parametrize(
    ("stated", "shown"),
    [
        ("=?utf-8?b?xbzDs8WC?= =?utf-8?q?_w?=", "żół w"),
        ("=?utf-8?b?xbw=?=\r\n =?UTF-8?B?w7M=?= x", "żó x"),
        ("=?utf-8?b?xQ==?= =?utf-8?b?vA==?=", "ż"),  # a character in two words
        ("=?iso-8859-2?Q?=B1?= a", "ą a"),
        ("=?no-such?q?a=20b?=", "a b"),
        ("=?utf-8?b?!!!?= a", "a"),
        ("=?utf-8?q?never closed", "=?utf-8?q?never closed"),
        ("a =?punycode?q?aaa?= b", "a aaa b"),
        ("żó", "żó"),
    ],
)
def test_encoded_words(stated: str, shown: str) -> None:
    assert raw("x", Subject=stated).metadata.title == shown


@pytest.mark.parametrize("date", ["never", "Mon, 99 Foo 2025", "", "99999999999999", "Mon, 3 Mar 99999 10:00:00 +9999"])
def test_a_broken_date_is_none(date: str) -> None:
    assert raw("x", Date=date).metadata.updated_at is None


def test_a_date_may_be_iso() -> None:
    assert raw("x", Date="2025-03-03T10:00:00Z").metadata.updated_at == "2025-03-03T10:00:00Z"


def test_html_is_better_than_plain_text() -> None:
    page = (
        '<h1>Plan</h1><p>Hi <b>Bob</b><img src="cid:1">,</p><img width="1" src="https://x.org/t.gif"><ul><li>one</ul>'
    )
    document = of(message("Hi Bob,", page))
    assert document.text == "# Plan\n\nHi **Bob**,\n\n- one"
    assert [block.source_ref["xpath"] for block in document.blocks if block.source_ref] == [
        "/html/body/h1[1]", "/html/body/p[1]", "/html/body/ul[1]",
    ]  # fmt: skip
    assert of(message("Hi Bob,", '<style>p {}</style><p> <img src="cid:1"> &nbsp;</p>')).text == "Hi Bob,"


def test_tables_that_lay_out_a_message_are_no_tables() -> None:
    page = "<table><tr><td><td>Dear Bob,<p>hi.</p><td> </tr><tr><td><td>Ann</tr></table>"
    assert of(message(html=page)).text == "Dear Bob,\n\nhi.\n\nAnn"
    assert of(message(html="<table><tr><td>a<td>b</tr><tr><td><td>c</tr></table>")).blocks[0].kind == "table"


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be", "utf-8-sig"])
def test_messages_saved_as_wide_text(encoding: str) -> None:
    assert read("From: a@b.c\nSubject: Żółw\n\nżó".encode(encoding), "eml").text == "żó"


def test_plain_text_is_no_markup_and_quotes_are_quotes() -> None:
    document = of(
        message(
            "Hi,\n\n# *no* heading\n- no item\n\nBob wrote:\n> one\n>\n>> two\n> > two\n> one\n\nok\n\n-- \nAnn\nTel. 1"
        )
    )
    assert document.text == (
        "Hi,\n\n\\# \\*no\\* heading\n\\- no item\n\nBob wrote:\n\n"
        "> one\n>\n> > two\n> > two\n>\n> one\n\nok\n\n---\n\nAnn\nTel. 1"
    )
    assert outline(document) == [
        ("paragraph", {"line_start": 1, "line_end": 1}), ("paragraph", {"line_start": 3, "line_end": 4}),
        ("paragraph", {"line_start": 6, "line_end": 6}), ("quote", {"line_start": 7, "line_end": 11}),
        ("paragraph", {"line_start": 13, "line_end": 13}), ("rule", {"line_start": 15, "line_end": 15}),
        ("paragraph", {"line_start": 16, "line_end": 17}),
    ]  # fmt: skip


OUTLOOK = "-----Original Message-----\nFrom: Bob\nSent: Monday\nTo: Ann\nSubject: Plan\n\nOld."
POLISH = "Od: Bob\nWysłano: wtorek\nDo: Ann\nTemat: Plan\n\nStare.\n\nOd: Ann\nDo: Bob\nTemat: Plan\n\nNajstarsze."


def test_what_follows_the_header_of_another_message_is_quoted() -> None:
    assert of(message(f"New.\n\n{OUTLOOK}")).text.startswith("New.\n\n> \\-----Original Message-----\n> From: Bob\n")
    nested = of(message(f"Nowe.\n\n{POLISH}")).text
    assert nested.endswith("> Stare.\n>\n> > Od: Ann\n> > Do: Bob\n> > Temat: Plan\n> >\n> > Najstarsze.")
    assert ">" not in of(message("From: all of us\n\nTo: nobody")).text
    page = "<p>New.</p><div><p><b>From:</b> Bob<br><b>Sent:</b> x<br><b>To:</b> Ann<br>Subject: y</p></div><p>Old.</p>"
    assert [block.kind for block in of(message(html=page)).blocks] == ["paragraph", "quote"]
    assert of(message(html=page)).text.endswith("> Subject: y\n>\n> Old.")


def test_what_is_forwarded_is_no_quote() -> None:
    assert ">" not in of(message(f"See below.\n\n{OUTLOOK}", Subject="FW: Plan")).text
    assert ">" not in of(message(f"See.\n\n{OUTLOOK.replace('Original', 'Forwarded')}")).text
    page = (
        "<p>---------- Forwarded message ---------</p><p>From: Bob<br>Date: x<br>Subject: y<br>To: Ann</p><p>Old.</p>"
    )
    assert [block.kind for block in of(message(html=page)).blocks] == ["paragraph"] * 3


def test_flowed_text() -> None:
    kind = "text/plain; charset=utf-8; format=flowed"
    assert (
        raw("one \ntwo\n> a \n> b\nthree\n-- \nAnn", Content_Type=kind).text
        == "one two\n\n> a b\n\nthree\n\n---\n\nAnn"
    )
    assert raw("日本 \n語", Content_Type=f"{kind}; delsp=yes").text == "日本語"


@pytest.mark.parametrize(
    ("charset", "data", "text"),
    [
        ("iso-8859-2", "zażółć".encode("iso-8859-2"), "zażółć"),
        ("iso-8859-1", "it’s 5 €".encode("cp1252"), "it’s 5 €"),
        ('"koi8-r"', "привет".encode("koi8-r"), "привет"),
        ("utf-8", "żó".encode(), "żó"),
        ("no-such-charset", "żó".encode(), "żó"),
        ("", "żó".encode(), "żó"),
        ("shift_jis", "日本語".encode("shift_jis"), "日本語"),
    ],
)
@pytest.mark.parametrize("encoding", ["base64", "8bit"])
def test_charsets(charset: str, data: bytes, text: str, encoding: str) -> None:
    body = base64.encodebytes(data) if encoding == "base64" else data
    header = f"From: a@b.c\nContent-Type: text/plain; charset={charset}\nContent-Transfer-Encoding: {encoding}\n\n"
    assert read(header.encode() + body, "eml").text == text


def test_quoted_printable_and_uuencode() -> None:
    assert raw("caf=C3=A9 =\nau lait=20", Content_Transfer_Encoding="quoted-printable").text == "café au lait"
    assert raw("begin 644 a\n#0V%T\n`\nend", Content_Transfer_Encoding="x-uuencode").text == "Cat"


def test_attachments_are_read_and_named() -> None:
    made = message("See the files.")
    made.add_attachment("Name,Sum\nAnn,1\nBob,2\n", subtype="csv", filename="Zażółć sums.csv")
    made.add_attachment(
        "---\na: b\n---\n\n# Tea\n\n[Boil](https://example.org) it.", subtype="plain", filename="tea.md"
    )
    made.add_attachment("*as is*", subtype="plain", filename="note.txt")
    made.add_attachment(
        b"GIF89a", maintype="image", subtype="gif", filename="logo.gif", cid="<1>", disposition="inline"
    )
    made.add_attachment(b"\0\1", maintype="application", subtype="octet-stream", filename="tool.exe")
    made.add_attachment(b"%PDF-1.4 broken", maintype="application", subtype="pdf", filename="../x/a.pdf")
    made.add_attachment(bomb(200 << 20, "xl/workbook.xml"), maintype="application", subtype="x", filename="bomb.xlsx")
    document = of(made)
    assert document.text == (
        "See the files.\n\n# Zażółć sums.csv\n\n| Name | Sum |\n|---|---|\n| Ann | 1 |\n| Bob | 2 |\n\n"
        "# tea.md\n\n# Tea\n\n[Boil](https://example.org) it.\n\n# note.txt\n\n\\*as is\\*"
    )
    table = document.blocks[2]
    assert table.source_ref == {"member": "Zażółć sums.csv", "range": "A1:B3"}
    assert table.parts[1].source_ref == {"member": "Zażółć sums.csv", "range": "A2:B2"}
    assert document.text[table.parts[1].start : table.parts[1].end] == "| Ann | 1 |"
    assert document.blocks[5].headings_path == ("tea.md", "Tea")
    assert document.text[document.link_starts[0] :].startswith("[Boil]")
    assert [(item.reason, item.text.partition(":")[0], item.usual) for item in document.left_out] == [
        ("attachment", "logo.gif", True), ("attachment", "tool.exe", False), ("attachment", "a.pdf", False),
        ("attachment", "bomb.xlsx", False),
    ]  # fmt: skip


def test_names_of_attachments() -> None:
    part = "--b\nContent-Type: text/plain{}\nContent-Disposition: attachment{}\n\nx\n"
    for kind, disposition, name in (
        ("", "; filename*=utf-8''%C5%BC%20a.txt", "ż a.txt"), ("", "; filename*0=\"a\"; filename*1=b.txt", "ab.txt"),
        ("", '; filename="=?utf-8?q?=C5=BC.txt?="', "ż.txt"),
        ('; name="q\\"x.txt"', "", 'q"x.txt'), ("", "", "attachment.txt"),
        ("", "; filename=C:\\\\a\\\\b.txt", "b.txt"), ("; name=doc", "", "doc.txt"),
    ):  # fmt: skip
        document = raw(
            f"--b\n\nbody\n{part.format(kind, disposition)}--b--", Content_Type="multipart/mixed; boundary=b"
        )
        assert document.blocks[1].source_ref == {"member": name}
        assert document.blocks[1].headings_path == (name,)


def test_messages_in_messages() -> None:
    inner = message("Inner.\n\n> quoted", Subject="Inside", Date="Mon, 03 Mar 2025 10:00:00 +0100")
    inner.add_attachment("notes", subtype="plain", filename="n.txt")
    middle = message("Middle.", Subject="Between")
    middle.add_attachment(inner)
    outer = message("Outer.")
    outer.add_attachment(middle)
    document = of(outer)
    assert [(block.kind, block.headings_path) for block in document.blocks] == [
        ("paragraph", ()), ("heading", ("Between",)), ("paragraph", ("Between",)), ("paragraph", ("Between",)),
        ("heading", ("Between", "Inside")), ("paragraph", ("Between", "Inside")), ("paragraph", ("Between", "Inside")),
        ("quote", ("Between", "Inside")), ("heading", ("Between", "Inside", "n.txt")),
        ("paragraph", ("Between", "Inside", "n.txt")),
    ]  # fmt: skip
    assert document.text.count("Date: Mon, 03 Mar 2025 10:00:00 +0100") == 1
    assert document.blocks[-1].source_ref == {"member": "Between!/Inside!/n.txt", "line_start": 1, "line_end": 1}
    assert document.metadata.title == "Plan"


def test_messages_in_too_many_messages_are_left_out() -> None:
    made = message("0")
    for depth in range(1, 12):
        outer = message(f"level {depth}", Subject=f"Level {depth}")
        outer.add_attachment(made)
        made = outer
    document = of(made)
    assert document.text.count("level ") == 7
    assert [item.text for item in document.left_out] == ["Level 4: is a message in more than 6 others"]


def test_signed_messages_and_reports() -> None:
    signed = "--b\n\nText.\n--b\nContent-Type: application/pgp-signature; name=s.asc\n\nxyz\n--b--"
    document = raw(signed, Content_Type='multipart/signed; boundary="b"')
    assert (document.text, [item.text for item in document.left_out]) == ("Text.", ["s.asc"])
    report = "--b\n\nNot delivered.\n--b\nContent-Type: message/delivery-status\n\nStatus: 5.0.0\n--b--"
    assert raw(report, Content_Type="multipart/report; boundary=b").text == "Not delivered.\n\nStatus: 5.0.0"


def test_broken_structure_loses_nothing() -> None:
    open_end = "before\n--b\n\none\n--b\nContent-Type: text/html\n\n<p>two"
    assert raw(open_end, Content_Type="multipart/mixed; boundary=b").text == "one\n\ntwo"
    assert raw("--b\n\none\n--b--\nafter", Content_Type="multipart/mixed").text == "one"
    assert raw("no parts at all", Content_Type="multipart/mixed; boundary=b").text == "no parts at all"
    assert read(b"\nFrom a@b Mon\nFrom: a@b.c\nno field here\nmore", "eml").text == "no field here\nmore"
    assert read(b"From: a@b.c\nSubject: s", "eml").text == ""


@pytest.mark.parametrize(
    "data", [b"", b"hello", b"\x00" * 500, b"a: b\n\nno field of a message", b"<html></html>", b":" * 9999]
)
def test_what_is_no_message_is_refused(data: bytes) -> None:
    with pytest.raises(UnreadableError, match="no message"):
        read(data, "eml")


def nested(depth: int) -> bytes:
    opened = b"".join(b"--b%d\nContent-Type: multipart/mixed; boundary=b%d\n\n" % (at, at + 1) for at in range(depth))
    return b"From: a@b.c\nContent-Type: multipart/mixed; boundary=b0\n\n" + opened + b"--b%d\n\ntext\n" % depth


@pytest.mark.parametrize("depth", [100, 1000, 20_000])
def test_deep_nesting_is_refused(depth: int) -> None:
    with pytest.raises(UnreadableError, match="nested more than"):
        read(nested(depth), "eml")
    assert read(nested(10), "eml").text == "text"


def test_too_many_parts_are_refused() -> None:
    data = b"From: a@b.c\nContent-Type: multipart/mixed; boundary=b\n\n" + b"--b\n\n\n" * 20_000
    with pytest.raises(UnreadableError, match="10,000 parts"):
        read(data, "eml")


HOSTILE = {
    "words": "Subject: " + "=?a?q?" * 50_000,
    "parameters": 'From: a@b.c\nContent-Type: text/plain; a="' + '; a="' * 50_000,
    "addresses": "From: " + "<(" * 100_000,
    "folds": "From: a@b.c\nSubject: x" + "\n " * 100_000,
    "fields": "From: a@b.c\n" + "a: b\n" * 100_000,
    "marks": "From: a@b.c\n\n" + ">" * 200_000,
    "quotes": "From: a@b.c\n\n" + "\n".join(">" * (at % 300) + " a" for at in range(20_000)),
    "replies": "From: a@b.c\n\n" + "From: a\nTo: b\nSubject: c\n\ntext\n\n" * 10_000,
    "pictures": "From: a@b.c\nContent-Type: text/html\n\n" + "<img " * 50_000,
    "elements": "From: a@b.c\nContent-Type: text/html\n\n" + "<div>" * 2_900 + "x",
    "replied pages": "From: a@b.c\nContent-Type: text/html\n\n" + "<p>From: a To: b Subject: c</p><p>d" * 5_000,
}


@pytest.mark.parametrize("name", HOSTILE)
@pytest.mark.timeout(30)
def test_hostile_messages_take_no_long_time(name: str) -> None:
    assert isinstance(read(HOSTILE[name].encode(), "eml"), Document)


def _large(count: int) -> bytes:
    made = message("line *a*\n> quoted\n\n" * count)
    for at in range(count // 10):
        made.add_attachment("a,b\n1,2\n", subtype="csv", filename=f"{at}.csv")
    return made.as_bytes()


def test_the_work_is_linear() -> None:
    files = {count: _large(count) for count in (100, 400)}
    assert_linear(lambda count: read(files[count], "eml"), 100)


def _rich() -> bytes:
    page = "<p>Hi <b>Bob</b></p><table><tr><td>a<td>b<tr><td>1<td>2</table><blockquote>old</blockquote>"
    made = message("Hi Bob\n> old", page)
    made.add_attachment("a,b\n1,2\n", subtype="csv", filename="a.csv")
    made.add_attachment(message(f"Text.\n\n{OUTLOOK}", Subject="Inside"))
    return made.as_bytes()


def test_damaged_messages_are_errors() -> None:
    assert_damage_is_an_error(_rich(), "eml", 100)


def test_messages_in_a_folder_are_read(tmp_path: Path) -> None:
    (tmp_path / "a.eml").write_bytes(_rich())
    (tmp_path / "b.eml").write_bytes(b"nothing")
    outcomes = list(spanwise.chunk_files(tmp_path))
    assert [outcome.error is None for outcome in outcomes] == [True, False]


@pytest.mark.parametrize("strategy", ALL_STRATEGIES)
@pytest.mark.parametrize("limit", [16, 40, 300])
def test_laws_of_messages(strategy: str, limit: int) -> None:
    long = "A sentence that goes on and on. " * 20
    made = message(f"Hi *Bob*,\n\n{long}\n> {long}\n>> deep\n\n-- \nAnn\n\n{OUTLOOK}")
    made.add_attachment("a,b\n" + "1,2\n" * 40, subtype="csv", filename="# a.csv")
    made.add_attachment(f"# Tea\n\n{long}\n\n- a\n  - b\n\n```\nopen", subtype="plain", filename="tea.md")
    made.add_attachment(message("Inner.", f"<h2>In</h2><p>{long}</p><blockquote><p>old</p></blockquote>", Subject="In"))
    assert_laws(of(made), strategy, limit)
