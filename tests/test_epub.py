"""Books: chapters in order, titles from the table of contents, metadata; what is protected, broken or hostile."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

import spanwise
from growth import assert_linear
from made_zips import bomb, zip_of
from reading_checks import ALL_STRATEGIES, assert_damage_is_an_error, assert_laws, read
from spanwise import Document, UnreadableError

CONTAINER = (
    '<?xml version="1.0"?><container xmlns="urn:oasis:names:tc:opendocument:xmlns:container" version="1.0"><rootfiles>'
    '<rootfile full-path="OEBPS/book.opf" media-type="application/oebps-package+xml"/></rootfiles></container>'
)
METADATA = (
    "<dc:title>Tea &amp; water</dc:title><dc:creator>Ann Łoś</dc:creator><dc:creator>Bob</dc:creator>"
    "<dc:language>en</dc:language><dc:subject>tea</dc:subject><dc:date>2020</dc:date><dc:identifier>urn:1</dc:identifier>"
    '<meta property="dcterms:modified">2025-03-03T10:00:00Z</meta>'
)


def page(body: str, head: str = "<title/>") -> str:
    doctype = '<?xml version="1.0" encoding="utf-8"?>\n<!DOCTYPE html>\n'
    return f'{doctype}<html xmlns="http://www.w3.org/1999/xhtml"><head>{head}</head><body>{body}</body></html>'


def book_parts(
    chapters: Mapping[str, str], nav: str = "", ncx: str = "", order: list[str] | None = None
) -> dict[str, str | bytes]:
    """Return the parts of a book with chapters by file name."""
    items = [f'<item id="c{at}" href="{name}" media-type="application/xhtml+xml"/>' for at, name in enumerate(chapters)]
    items.append('<item id="nav" href="nav.xhtml" properties="nav" media-type="application/xhtml+xml"/>' if nav else "")
    items.append('<item id="ncx" href="toc.ncx" media-type="application/x-dtbncx+xml"/>' if ncx else "")
    refs = "".join(f'<itemref idref="{name}"/>' for name in order or [f"c{at}" for at in range(len(chapters))])
    package = (
        '<?xml version="1.0"?><package xmlns="http://www.idpf.org/2007/opf" xmlns:dc="http://purl.org/dc/elements/1.1/">'
        f'<metadata>{METADATA}</metadata><manifest>{"".join(items)}</manifest><spine toc="ncx">{refs}</spine></package>'
    )
    parts: dict[str, str | bytes] = {"mimetype": "application/epub+zip", "META-INF/container.xml": CONTAINER}
    parts["OEBPS/book.opf"] = package
    parts |= {f"OEBPS/{name.replace('%20', ' ')}": text for name, text in chapters.items()}
    return parts | ({"OEBPS/nav.xhtml": page(nav)} if nav else {}) | ({"OEBPS/toc.ncx": ncx} if ncx else {})


def of(parts: Mapping[str, str | bytes]) -> Document:
    return read(zip_of(parts), "epub")


TWO = {
    "b.xhtml": page(
        "<h1>First</h1><p>One<br/>two <i>three</i>.</p><a id='x'/><h2>Inner</h2><ul><li>a</li><li>b</li></ul>"
    ),
    "a%20b.xhtml": page("<div/><section><h1>Second</h1><p>More: <a href='b.xhtml#x'>back</a>.</p></section>"),
}


def test_chapters_are_sections_in_the_order_of_the_spine() -> None:
    document = of(book_parts(TWO))
    assert document.text == (
        "# First\n\nOne  \ntwo *three*.\n\n## Inner\n\n- a\n- b\n\n# Second\n\nMore: [back](b.xhtml#x)."
    )
    assert [(block.kind, block.headings_path) for block in document.blocks] == [
        ("heading", ("First",)), ("paragraph", ("First",)), ("heading", ("First", "Inner")),
        ("list", ("First", "Inner")),
        ("heading", ("Second",)), ("paragraph", ("Second",)),
    ]  # fmt: skip
    assert document.blocks[1].source_ref == {"file": "OEBPS/b.xhtml", "xpath": "/html/body/p[1]"}
    assert document.blocks[3].parts[1].source_ref == {"file": "OEBPS/b.xhtml", "xpath": "/html/body/ul[1]/li[2]"}
    assert document.blocks[5].source_ref == {"file": "OEBPS/a b.xhtml", "xpath": "/html/body/section[1]/p[1]"}
    assert of(book_parts(TWO, order=["c1", "c0", "c1", "none"])).text.startswith("# Second\n\nMore")


def test_metadata() -> None:
    found = of(book_parts(TWO)).metadata
    assert (found.title, found.author, found.language) == ("Tea & water", "Ann Łoś, Bob", "en")
    assert (found.updated_at, found.labels, found.source_type) == ("2025-03-03T10:00:00Z", ("tea",), "epub")
    assert found.extra == {"identifier": "urn:1"}
    assert [link.target for link in found.links] == ["b.xhtml#x"]


PLAIN = {
    "a.xhtml": page("<p>Alpha.</p>"),
    "b.xhtml": page("<p>Beta.</p><p>1</p><p>2</p><h2>Late</h2>"),
    "c.xhtml": page("<p>C.</p>"),
}
NAV = (
    '<nav epub:type="landmarks"><a href="a.xhtml">Start</a></nav><nav epub:type="toc"><ol><li>'
    '<a href="a.xhtml">The *A*</a>'
    '<ol><li><a href="a.xhtml#2">Sub</a></li></ol></li><li><a href="b.xhtml#1">The B</a></li></ol></nav>'
)
NCX = (
    '<!DOCTYPE ncx PUBLIC "-//NISO//DTD ncx 2005-1//EN" "http://www.daisy.org/z3986/2005/ncx-2005-1.dtd">'
    '<ncx xmlns="http://www.daisy.org/z3986/2005/ncx/"><navMap>'
    "<navPoint><navLabel><text>The *A*</text></navLabel><content src='a.xhtml'/>"
    "<navPoint><navLabel><text>The B</text></navLabel><content src='b.xhtml#1'/></navPoint></navPoint></navMap></ncx>"
)


@pytest.mark.parametrize(("nav", "ncx"), [(NAV, ""), ("", NCX), (NAV, "<broken")])
def test_titles_come_from_the_table_of_contents(nav: str, ncx: str) -> None:
    document = of(book_parts(PLAIN, nav, ncx))
    assert document.text == "# The \\*A\\*\n\nAlpha.\n\n# The B\n\nBeta.\n\n1\n\n2\n\n## Late\n\nC."
    assert document.blocks[0].source_ref == {"file": "OEBPS/a.xhtml"}
    assert document.blocks[-1].headings_path == ("The B", "Late")


def test_the_table_of_contents_is_left_out() -> None:
    document = of(book_parts(TWO, NAV, order=["nav", "c0"]))
    assert document.text.startswith("# First")
    assert [(item.reason, item.source_ref, item.usual) for item in document.left_out] == [
        ("navigation", {"file": "OEBPS/nav.xhtml"}, True)
    ]


def test_a_missing_chapter_is_named() -> None:
    parts = book_parts(TWO)
    del parts["OEBPS/b.xhtml"]
    document = of(parts)
    assert document.text.startswith("# Second")
    assert [(item.reason, item.text) for item in document.left_out] == [("a chapter that is missing", "OEBPS/b.xhtml")]


def test_a_book_without_a_container_is_found() -> None:
    parts = book_parts(TWO)
    del parts["META-INF/container.xml"]
    assert of(parts).text == of(book_parts(TWO)).text


def encrypted(method: str, name: str) -> dict[str, str | bytes]:
    said = (
        f'<encryption xmlns="urn:x" xmlns:e="urn:y"><e:EncryptedData><e:EncryptionMethod Algorithm="{method}"/>'
        f'<e:CipherData><e:CipherReference URI="{name}"/></e:CipherData></e:EncryptedData></encryption>'
    )
    return {**book_parts(TWO), "META-INF/encryption.xml": said}


def test_protected_books_are_refused() -> None:
    with pytest.raises(UnreadableError, match=r"encrypted chapters: OEBPS/a b\.xhtml"):
        of(encrypted("http://www.w3.org/2001/04/xmlenc#aes128-cbc", "OEBPS/a%20b.xhtml"))
    assert of(encrypted("http://www.idpf.org/2008/embedding", "OEBPS/b.xhtml")).text
    assert of(encrypted("http://www.w3.org/2001/04/xmlenc#aes128-cbc", "OEBPS/font.otf")).text


def test_what_is_no_book_is_refused() -> None:
    empty = book_parts(TWO, order=["none"])
    lost = {**book_parts(TWO), "META-INF/container.xml": CONTAINER.replace("book.opf", "no.opf")}
    laughs = {**book_parts(TWO), "OEBPS/book.opf": '<!DOCTYPE a [<!ENTITY b "c">]><package/>'}
    for data in (b"", b"no book", zip_of({"a.txt": "b"}), zip_of(empty), zip_of(lost), zip_of(laughs)):
        with pytest.raises(UnreadableError):
            read(data, "epub")
    with pytest.raises(UnreadableError, match="inflates to more"):
        read(bomb(200 << 20, "OEBPS/book.opf"), "epub")


@pytest.mark.timeout(30)
@pytest.mark.parametrize(
    "body", ["<a " * 100_000, "<![CDATA[" * 100_000, "<b/>" * 50_000, "<div>" * 2900, "&lt;" * 100_000]
)
def test_hostile_chapters_take_no_long_time(body: str) -> None:
    assert isinstance(of(book_parts({"a.xhtml": page(body)})), Document)


def test_deep_chapters_are_refused() -> None:
    with pytest.raises(UnreadableError, match="nested more than"):
        of(book_parts({"a.xhtml": page("<div>" * 100_000)}))


def test_the_work_is_linear() -> None:
    chapter = page("<h2>Part</h2><p>Some <b>text</b>.</p><ul><li>a</li></ul>")
    files = {count: zip_of(book_parts({f"{at}.xhtml": chapter for at in range(count)})) for count in (50, 200)}
    assert_linear(lambda count: read(files[count], "epub"), 50)


def test_damaged_books_are_errors() -> None:
    assert_damage_is_an_error(zip_of(book_parts({**TWO, **PLAIN}, NAV, NCX)), "epub", 60)


def test_books_in_a_folder_are_read(tmp_path: Path) -> None:
    (tmp_path / "a.epub").write_bytes(zip_of(book_parts(TWO)))
    (tmp_path / "b.epub").write_bytes(b"nothing")
    assert [outcome.error is None for outcome in spanwise.chunk_files(tmp_path)] == [True, False]


@pytest.mark.parametrize("strategy", ALL_STRATEGIES)
@pytest.mark.parametrize("limit", [16, 40, 300])
def test_laws_of_books(strategy: str, limit: int) -> None:
    long = "A sentence that goes on and on. " * 20
    table = "<table><tr><th>a</th><th>b</th></tr><tr><td>1</td><td>2</td></tr></table>"
    chapters = {
        **PLAIN,
        "d.xhtml": page(f"<h1>D</h1><p>{long}</p>{table}<pre>x = 1\n\ny</pre><ol><li>{long}</li></ol>"),
    }
    assert_laws(of(book_parts({**chapters, **TWO}, NAV)), strategy, limit)
