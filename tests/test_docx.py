"""DOCX: what becomes of each thing that Word knows, on documents made for it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import spanwise
from made_office import cell as tc
from made_office import (
    core,
    docx,
    field,
    item,
    p,
    part,
    picture,
    run,
    strict,
    table,
)
from made_zips import bomb, zip_of
from spanwise import Document
from spanwise.errors import UnreadableError
from spanwise.readers.docx import read_docx
from spanwise.testing.document_laws import assert_document


def read(data: bytes, tmp_path: Path, name: str = "made.docx", **more: Any) -> Document:
    path = tmp_path / name
    path.write_bytes(data)
    document = spanwise.read(path, **more)
    assert_document(document)
    return document


def text_of(body: str, *more: Any, **known: Any) -> str:
    return read_docx(docx(body, *more, **known), "made.docx").text


def left_out(document: Document) -> list[tuple[str, str, Any]]:
    return [(one.reason, one.text, one.source_ref) for one in document.left_out]


# ── headings ─────────────────────────────────────────────────────────────────────────────────────────────────────


def test_headings_come_from_styles_what_they_are_based_on_and_outline_levels(tmp_path: Path) -> None:
    body = (
        p("My Title", "Tytu") + p("One", "Nagwek1") + p("Text.") + p("Two", "Moj") + p("Three", "berschrift3")
        + p("Deep", properties='<w:outlineLvl w:val="8"/>') + p("No heading", "Body9") + p("", "Nagwek1")
        + p("By id", "Heading4")
    )  # fmt: skip
    document = read(docx(body), tmp_path)
    levels = [(block.level, block.headings_path) for block in document.blocks if block.kind == "heading"]
    assert levels == [
        (1, ("My Title",)),
        (1, ("One",)),
        (2, ("One", "Two")),
        (3, ("One", "Two", "Three")),
        (6, ("One", "Two", "Three", "Deep")),
        (4, ("One", "Two", "Three", "By id")),
    ]
    assert "# My Title\n\n# One\n\nText.\n\n## Two" in document.text
    assert document.metadata.title == "My Title"
    assert [block.source_ref for block in document.blocks[:3]] == [{"paragraph": number} for number in (1, 2, 3)]


def test_a_title_is_the_one_of_the_properties_if_no_paragraph_is_one(tmp_path: Path) -> None:
    properties = core("Annual Report", "Ann Lee", "2026-01-28T10:00:00Z")
    document = read(docx(p("One", "Nagwek1"), properties=properties), tmp_path)
    known = document.metadata
    assert (known.title, known.author, known.updated_at) == ("Annual Report", "Ann Lee", "2026-01-28T10:00:00Z")
    assert known.source_type == "docx"
    odd = core("Microsoft Word - draft.doc", "", "yesterday")
    document = read(docx(p("x") + p("One", "Nagwek1"), properties=odd), tmp_path)
    assert (document.metadata.title, document.metadata.author, document.metadata.updated_at) == ("One", None, None)


# ── lists ────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_lists_are_nested_by_their_levels(tmp_path: Path) -> None:
    body = item("a", 1) + item("b", 1, 1) + item("c", 1, 2) + item("d", 1) + p("between") + item("e", 1)
    document = read(docx(body), tmp_path)
    assert document.text == "- a\n  - b\n    - c\n- d\n\nbetween\n\n- e"
    parts = document.blocks[0].parts
    assert [(one.start, one.end, one.source_ref) for one in parts] == [
        (0, 17, {"paragraph": 1}),
        (18, 21, {"paragraph": 4}),
    ]
    assert parts[0].parts[0].parts[0].source_ref == {"paragraph": 3}


@pytest.mark.parametrize(
    ("body", "text"),
    [
        (item("a", 2) + item("b", 2) + p("x") + item("c", 2), "1. a\n2. b\n\nx\n\n3. c"),
        (item("a", 2) + item("b", 2, 1) + item("c", 2, 1) + item("d", 2), "1. a\n   - (a) b\n   - (b) c\n2. d"),
        (item("a", 2, 1) + item("b", 2, 2) + item("c", 2, 2), "- (a) a\n  - I. b\n  - II. c"),
        (item("a", 2) + item("b", 5) + item("c", 5), "1. a\n\n7) b\n8) c"),
        (item("a", 4) + item("b", 4), "1) a\n2) b"),
        (p("a", "Numbered") + p("b", "Numbered2") + p("c", "Numbered2"), "1. a\n   - 1.1 b\n   - 1.2 c"),
        (item("a", 99) + item("b", 0), "a\n\nb"),
        (item("a", 2) + item("", 2) + item("c", 2), "1. a\n\n3) c"),
        (item("a", 1) + p("more", properties='<w:ind w:left="720"/>') + item("b", 1), "- a\n\n  more\n- b"),
        (item("a", 1) + p("not", properties='<w:ind w:left="100"/>') + item("b", 1), "- a\n\nnot\n\n- b"),
    ],
)  # fmt: skip
def test_numbers_are_those_of_the_page(body: str, text: str) -> None:
    assert text_of(body) == text


def test_two_lists_are_nested_by_their_indentations() -> None:
    deeper = '<w:ind w:left="1440"/>'
    body = (
        item("a", 2) + p("b", properties='<w:numPr><w:ilvl w:val="0"/><w:numId w:val="1"/></w:numPr>' + deeper)
        + item("c", 2)
    )  # fmt: skip
    assert text_of(body) == "1. a\n   - b\n2. c"


def test_numbered_headings_show_their_numbers(tmp_path: Path) -> None:
    numbered = '<w:numPr><w:ilvl w:val="0"/><w:numId w:val="3"/></w:numPr>'
    deeper = '<w:numPr><w:ilvl w:val="1"/><w:numId w:val="3"/></w:numPr>'
    body = p("Scope", "Nagwek1", numbered) + p("Terms", "Nagwek2", deeper) + p("x") + p("End", "Nagwek1", numbered)
    document = read(docx(body), tmp_path)
    assert document.text == "# 1. Scope\n\n## 1.1 Terms\n\nx\n\n# 2. End"
    assert document.blocks[2].headings_path == ("1. Scope", "1.1 Terms")


# ── tables ───────────────────────────────────────────────────────────────────────────────────────────────────────


def test_all_header_rows_are_one_part(tmp_path: Path) -> None:
    head = "<w:tr><w:trPr><w:tblHeader/></w:trPr>{}</w:tr>"
    first = tc("<w:p/>") + tc(p("2026"), '<w:gridSpan w:val="2"/>')
    second = tc("Region") + tc("Q1") + tc("Q2")
    body = f"<w:tbl>{head.format(first)}{head.format(second)}<w:tr>{tc('North')}{tc('1')}{tc('2')}</w:tr></w:tbl>"
    document = read(docx(p("x") + body), tmp_path)
    block = document.blocks[1]
    rows = [document.text[one.start : one.end] for one in block.parts]
    assert rows == ["|  | 2026 |  |\n|---|---|---|\n| Region | Q1 | Q2 |", "| North | 1 | 2 |"]
    assert [one.header for one in block.parts] == [True, False]
    assert [one.source_ref for one in block.parts] == [{"paragraph": 2}, {"paragraph": 7}]


@pytest.mark.parametrize(
    ("look", "first"),
    [
        ('<w:tblLook w:val="04A0"/>', "| a | b |\n|---|---|\n| c | d |"),
        ('<w:tblLook w:firstRow="1"/>', "| a | b |\n|---|---|\n| c | d |"),
        ('<w:tblLook w:val="0480"/>', "|  |  |\n|---|---|\n| a | b |\n| c | d |"),
        ("", "|  |  |\n|---|---|\n| a | b |\n| c | d |"),
    ],
)
def test_the_first_row_is_the_head_if_the_look_of_the_table_has_one(look: str, first: str) -> None:
    assert text_of(table(["a", "b"], ["c", "d"], properties=look)) == first


def test_merged_cells_have_their_text_at_the_first_place() -> None:
    down, on = '<w:vMerge w:val="restart"/>', "<w:vMerge/>"
    rows = (
        [tc("a", down), "b", "c"], [tc("ignored", on), tc("d", '<w:gridSpan w:val="2"/>')], ["e", "f", "g"]
    )  # fmt: skip
    made = text_of(table(*rows))
    assert made.split("\n")[2:] == ["| a | b | c |", "|  | d |  |", "| e | f | g |"]


def test_cells_hold_lines_lists_and_tables() -> None:
    inner = table(["x", "y"], ["z", "1"])
    made = text_of(table([p("one") + p("two") + item("i", 1), inner + p("after")], ["3", "4"]))
    assert made.split("\n")[2] == "| one <br> two <br> - i | x y <br> z 1 <br> after |"


def test_a_line_break_in_a_cell_is_a_tag_and_a_bar_is_escaped() -> None:
    made = text_of(table(["<w:p><w:r><w:t>a|b</w:t><w:br/><w:t>c</w:t></w:r></w:p>", "d"], ["e", ""]))
    assert made.split("\n")[2:] == ["| a\\|b <br> c | d |", "| e |  |"]


def test_a_table_of_one_cell_is_a_frame() -> None:
    assert text_of(table([p("Note", "Nagwek1") + p("text")])) == "# Note\n\ntext"
    assert text_of(table(["", ""])) == ""


def test_rows_and_cells_in_content_controls_and_deleted_rows() -> None:
    row = f"<w:tr>{tc('a')}<w:sdt><w:sdtContent>{tc('b')}</w:sdtContent></w:sdt></w:tr>"
    gone = f"<w:tr><w:trPr><w:del w:id='1'/></w:trPr>{tc('no')}{tc('no')}</w:tr>"
    before = f"<w:tr><w:trPr><w:gridBefore w:val='1'/></w:trPr>{tc('c')}</w:tr>"
    body = f"<w:tbl>{row}{gone}<w:sdt><w:sdtContent>{before}</w:sdtContent></w:sdt></w:tbl>"
    assert text_of(body).split("\n")[2:] == ["| a | b |", "|  | c |"]


# ── inside paragraphs ────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("content", "text"),
    [
        (run("Hel") + run("lo", "<w:b/>") + run(" there", "<w:b/>"), "Hel**lo there**"),
        (run("a ") + run("b", '<w:rStyle w:val="Strong"/>') + run(" c", "<w:i/>"), "a **b** *c*"),
        (run("old", "<w:strike/>") + run(" new", '<w:b w:val="0"/>'), "~~old~~ new"),
        (run("Note:", "<w:b/>") + run("x"), "Note:x"),
        (run("code()", '<w:rStyle w:val="VerbatimChar"/>') + run(" runs"), "`code()` runs"),
        ("<w:r><w:t>a</w:t><w:tab/><w:t>b</w:t><w:noBreakHyphen/><w:t>c</w:t></w:r>", "a b-c"),
        ("<w:r><w:t>hy</w:t><w:softHyphen/><w:t>phen</w:t></w:r>", "hyphen"),
        ("<w:r><w:t>a</w:t><w:br/><w:t>b</w:t><w:cr/><w:t>c</w:t></w:r>", "a  \nb  \nc"),
        ('<w:r><w:sym w:font="Wingdings" w:char="F0FC"/><w:sym w:font="Symbol" w:char="F061"/></w:r>', "✓α"),
        ("<w:ins><w:r><w:t>in</w:t></w:r></w:ins><w:del><w:r><w:delText>out</w:delText></w:r></w:del>", "in"),
        ("<w:moveFrom><w:r><w:t>no</w:t></w:r></w:moveFrom><w:moveTo><w:r><w:t>yes</w:t></w:r></w:moveTo>", "yes"),
        ("<w:sdt><w:sdtContent><w:r><w:t>chosen</w:t></w:r></w:sdtContent></w:sdt>", "chosen"),
        ("<w:smartTag><w:customXml><w:r><w:t>deep</w:t></w:r></w:customXml></w:smartTag>", "deep"),
        ('<w:hyperlink r:id="rLink"><w:r><w:t>here</w:t></w:r></w:hyperlink>', "[here](https://example.org/a)"),
        ('<w:hyperlink w:anchor="_Toc1"><w:r><w:t>there</w:t></w:r></w:hyperlink>', "there"),
        (field('HYPERLINK "https://example.org/b" \\o "tip"', run("b")), "[b](https://example.org/b)"),
        (field('HYPERLINK \\l "_Ref1"', run("above")), "above"),
        (field(" PAGE ", run("7")), "7"),
        ('<w:fldSimple w:instr="SEQ Figure"><w:r><w:t>3</w:t></w:r></w:fldSimple>', "3"),
        (field("IF " + field("DATE", run("x")), run("result")), "result"),
        ('<w:r><w:fldChar w:fldCharType="begin"/></w:r>' + run("never ended"), "never ended"),
        (
            "<w:r><w:ruby><w:rt><w:r><w:t>とう</w:t></w:r></w:rt><w:rubyBase><w:r><w:t>東</w:t></w:r></w:rubyBase></w:ruby></w:r>",
            "東(とう)",
        ),
        (
            "<m:oMath><m:f><m:num><m:r><m:t>a+b</m:t></m:r></m:num><m:den><m:r><m:t>c</m:t></m:r></m:den></m:f>"
            "<m:sSup><m:e><m:r><m:t>x</m:t></m:r></m:e><m:sup><m:r><m:t>2</m:t></m:r></m:sup></m:sSup></m:oMath>",
            "(a+b)/cx^2",
        ),
        (run("2 * 3 &lt; 4 [x](y) _z_"), "2 * 3 < 4 \\[x](y) \\_z\\_"),
    ],
)  # fmt: skip
def test_what_stands_in_a_paragraph(content: str, text: str) -> None:
    related = [("rLink", "hyperlink", "https://example.org/a", "External")]
    assert text_of(f"<w:p>{content}</w:p>", related=related) == text


def test_links_have_their_positions(tmp_path: Path) -> None:
    link = '<w:hyperlink r:id="rLink"><w:r><w:t>here</w:t></w:r></w:hyperlink>'
    related = [("rLink", "hyperlink", "https://example.org/a", "External")]
    document = read(docx(f"<w:p>{run('See ')}{link}</w:p>", related=related), tmp_path)
    assert document.metadata.links == (spanwise.Link("https://example.org/a", "here"),)
    assert document.link_starts == (4,)


def test_a_paragraph_whose_mark_was_deleted_goes_on_in_the_next() -> None:
    gone = "<w:rPr><w:del w:id='1'/></w:rPr>"
    assert text_of(p("one ", properties=gone) + p("two") + p("three", properties=gone)) == "one two\n\nthree"
    assert text_of(p("O", properties='<w:framePr w:dropCap="drop"/>') + p("nce upon")) == "Once upon"


@pytest.mark.parametrize(
    ("math", "text"),
    [
        ("<m:rad><m:deg/><m:e>{x}</m:e></m:rad>", "√(x)"),
        ("<m:rad><m:deg><m:r><m:t>3</m:t></m:r></m:deg><m:e>{x}</m:e></m:rad>", "∛(x)"),
        ("<m:d><m:dPr><m:begChr m:val='['/><m:endChr m:val=']'/></m:dPr><m:e>{x}</m:e></m:d>", "[x]"),
        ("<m:d><m:e>{x}</m:e><m:e>{x}</m:e></m:d>", "(x|x)"),
        (
            "<m:nary><m:naryPr><m:chr m:val='∑'/></m:naryPr><m:sub>{x}</m:sub><m:sup>{x}</m:sup>"
            "<m:e>{x}</m:e></m:nary>",
            "∑_x^x x",
        ),
        ("<m:func><m:fName><m:r><m:t>sin</m:t></m:r></m:fName><m:e>{x}</m:e></m:func>", "sin x"),
        ("<m:limLow><m:e><m:r><m:t>lim</m:t></m:r></m:e><m:lim>{x}</m:lim></m:limLow>", "lim_x"),
        ("<m:acc><m:accPr><m:chr m:val='\u0303'/></m:accPr><m:e>{x}</m:e></m:acc>", "x\u0303"),
        ("<m:bar><m:barPr><m:pos m:val='top'/></m:barPr><m:e>{x}</m:e></m:bar>", "x\u0305"),
        ("<m:m><m:mr><m:e>{x}</m:e><m:e>{x}</m:e></m:mr><m:mr><m:e>{x}</m:e></m:mr></m:m>", "[x, x; x]"),
        ("<m:eqArr><m:e>{x}</m:e><m:e>{x}</m:e></m:eqArr>", "x; x"),
        ("<m:sPre><m:sub>{x}</m:sub><m:sup>{x}</m:sup><m:e>{x}</m:e></m:sPre>", "_x^x x"),
        ("<m:f><m:fPr><m:type m:val='noBar'/></m:fPr><m:num>{x}</m:num><m:den>{x}</m:den></m:f>", "(x over x)"),
        ("<m:groupChr><m:e>{x}</m:e></m:groupChr>", "x"),
    ],
)
def test_equations_are_linear_text(math: str, text: str) -> None:
    made = math.replace("{x}", "<m:r><m:t>x</m:t></m:r>")
    found = text_of(f"<w:p><m:oMathPara><m:oMath>{made}</m:oMath></m:oMathPara></w:p>")
    assert found.replace("\\", "") == text


# ── blocks of other kinds ────────────────────────────────────────────────────────────────────────────────────────


def test_code_by_style_keeps_its_lines(tmp_path: Path) -> None:
    body = (
        p("if x:", "SourceCode") + p("    y()", "SourceCode") + p("", "SourceCode") + p("end", "Mine2")
        + p("between") + p(run("<w:r><w:t>a</w:t><w:br/><w:t>b</w:t></w:r>") or "", "a")
        + "<w:p><w:pPr><w:pStyle w:val='HTML'/></w:pPr><w:r><w:t>a</w:t><w:br/><w:tab/><w:t>b</w:t></w:r></w:p>"
    )  # fmt: skip
    document = read(docx(body), tmp_path)
    code = [document.text[one.start : one.end] for one in document.blocks if one.kind == "code"]
    assert code == ["```\nif x:\n    y()\n\nend\n```", "```\na\n\tb\n```"]


def test_quotes_and_captions(tmp_path: Path) -> None:
    body = (
        p("first", "Zitat") + p("second", "Zitat") + f"<w:p>{picture('rPic', 'A duck')}</w:p>"
        + p("Figure 1: duck", "Beschriftung") + p("Table 1: ducks", "Beschriftung") + table(["a", "b"], ["c", "d"])
    )  # fmt: skip
    document = read(docx(body, related=[("rPic", "image", "media/image1.png")]), tmp_path)
    assert [block.kind for block in document.blocks] == ["quote", "figure", "paragraph", "table"]
    assert document.text.startswith(
        "> first\n>\n> second\n\n"
        '<figure><img src="word/media/image1.png" alt="A duck"><figcaption>Figure 1: duck</figcaption></figure>\n\n'
        "Table 1: ducks\n\n|"
    )


def test_a_text_box_is_read_once(tmp_path: Path) -> None:
    box = f"<w:txbxContent>{p('In the box')}</w:txbxContent>"
    drawing = (
        f"<w:r><mc:AlternateContent><mc:Choice Requires='wps'><w:drawing><wp:anchor><a:graphic><a:graphicData>"
        f"<wps:wsp><wps:txbx>{box}</wps:txbx></wps:wsp></a:graphicData></a:graphic></wp:anchor></w:drawing></mc:Choice>"
        f"<mc:Fallback><w:pict><v:shape><v:textbox>{box}</v:textbox></v:shape></w:pict></mc:Fallback>"
        "</mc:AlternateContent></w:r>"
    )
    document = read(docx(f"<w:p>{run('Beside')}{drawing}</w:p>{p('Below')}"), tmp_path)
    assert document.text == "Beside\n\nIn the box\n\nBelow"
    assert [block.source_ref for block in document.blocks] == [{"paragraph": 1}, {"paragraph": 2}, {"paragraph": 4}]


def test_old_drawings_rules_and_objects(tmp_path: Path) -> None:
    rule = '<w:p><w:r><w:pict><v:rect o:hr="t"/></w:pict></w:r></w:p>'
    shape = '<w:p><w:r><w:pict><v:shape alt="A map"><v:imagedata r:id="rPic"/></v:shape></w:pict></w:r></w:p>'
    thing = '<w:p><w:r><w:object><o:OLEObject r:id="rOle" ProgID="Excel.Sheet.12"/></w:object></w:r></w:p>'
    drawn = '<w:p><w:r><w:drawing><wp:inline><wp:docPr id="1" descr="An arrow"/></wp:inline></w:drawing></w:r></w:p>'
    related = [("rPic", "image", "media/map.png"), ("rOle", "package", "embeddings/sheet.xlsx")]
    document = read(docx(p("a") + rule + shape + thing + drawn, related=related), tmp_path)
    assert [block.kind for block in document.blocks] == ["paragraph", "rule", "figure", "figure"]
    assert '<img src="word/media/map.png" alt="A map">' in document.text
    assert '<img src="" alt="An arrow">' in document.text
    assert left_out(document) == [("attachment", "word/embeddings/sheet.xlsx", {"paragraph": 4})]


def test_notes_are_paragraphs_at_the_end(tmp_path: Path) -> None:
    refer = '<w:r><w:{0}Reference w:id="{1}"/></w:r>'
    body = (
        f"<w:p>{run('One')}{refer.format('footnote', 2)}{run('.')}</w:p>"
        f"<w:p>{run('Two')}{refer.format('endnote', 5)}{refer.format('footnote', 7)}"
        f"{refer.format('footnote', 99)}</w:p>"
    )
    note = '<w:{0} w:id="{1}">{2}</w:{0}>'
    footnotes = part(
        "footnotes", note.format("footnote", 2, p("First.") + p("More.")) + note.format("footnote", 7, p("Seventh."))
    )
    endnotes = part("endnotes", note.format("endnote", 5, p("At the end.")))
    parts = {"word/footnotes.xml": footnotes, "word/endnotes.xml": endnotes}
    related = [("f", "footnotes", "footnotes.xml"), ("e", "endnotes", "endnotes.xml")]
    document = read(docx(body, parts, related), tmp_path)
    assert document.text == ("One[^1].\n\nTwo[^i][^2]\n\n[^1]: First.\n\nMore.\n\n[^i]: At the end.\n\n[^2]: Seventh.")
    references = [block.source_ref for block in document.blocks[2:]]
    assert references[1:] == [
        {"part": "word/footnotes.xml", "paragraph": 2},
        {"part": "word/endnotes.xml", "paragraph": 1},
        {"part": "word/footnotes.xml", "paragraph": 3},
    ]
    assert {block.kind for block in document.blocks} == {"paragraph"}


# ── what is left out ─────────────────────────────────────────────────────────────────────────────────────────────


def test_what_is_left_out_is_named(tmp_path: Path) -> None:
    hidden = f"<w:p>{run('Shown')}{run(' secret', '<w:vanish/>')}</w:p>" + p("All secret", "Secret")
    comments = part(
        "comments", f"<w:comment w:id='0'>{p('Really?')}</w:comment><w:comment w:id='1'>{p('Yes')}{p('!')}</w:comment>"
    )
    parts: dict[str, str | bytes] = {
        "word/comments.xml": comments,
        "word/header1.xml": part("hdr", p("Company")), "word/footer1.xml": part("ftr", p("")),
        "word/footer2.xml": part("ftr", p("Page 1")), "word/vbaProject.bin": b"\x00",
    }  # fmt: skip
    related = [
        ("c", "comments", "comments.xml"), ("h", "header", "header1.xml"), ("f", "footer", "footer1.xml"),
        ("f2", "footer", "footer2.xml"), ("v", "vbaProject", "vbaProject.bin"),
    ]  # fmt: skip
    document = read(docx(hidden, parts, related), tmp_path, "made.docm")
    assert document.text == "Shown"
    assert left_out(document) == [
        ("hidden text", "secret", {"paragraph": 1}),
        ("hidden text", "All secret", {"paragraph": 2}),
        ("page header", "Company", {"part": "word/header1.xml"}),
        ("page footer", "Page 1", {"part": "word/footer2.xml"}),
        ("comment", "Really?", {"part": "word/comments.xml", "paragraph": 1}),
        ("comment", "Yes !", {"part": "word/comments.xml", "paragraph": 2}),
        ("macro", "word/vbaProject.bin", {"part": "word/vbaProject.bin"}),
    ]


def test_a_table_of_contents_is_navigation(tmp_path: Path) -> None:
    begin = '<w:r><w:fldChar w:fldCharType="begin"/></w:r><w:r><w:instrText> TOC \\o "1-3" </w:instrText></w:r>'
    lines = (
        f"<w:p>{begin}<w:r><w:fldChar w:fldCharType='separate'/></w:r>{run('Scope 1')}</w:p>"
        f"<w:p>{field('PAGEREF x', run('Terms 2'))}</w:p><w:p><w:r><w:fldChar w:fldCharType='end'/></w:r></w:p>"
    )
    gallery = (
        '<w:sdt><w:sdtPr><w:docPartObj><w:docPartGallery w:val="Table of Contents"/></w:docPartObj></w:sdtPr>'
        f"<w:sdtContent>{p('Contents')}{p('A 1')}</w:sdtContent></w:sdt>"
    )
    data = docx(gallery + lines + p("Text."))
    document = read(data, tmp_path)
    assert document.text == "Text."
    assert [one[:2] for one in left_out(document)] == [
        ("navigation", "Contents A 1"),
        ("navigation", "Scope 1 Terms 2"),
    ]
    kept = read(data, tmp_path, keep_all=True)
    assert kept.text == "Contents\n\nA 1\n\nScope 1\n\nTerms 2\n\nText."
    assert not kept.left_out


# ── pages ────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_pages_are_where_the_file_says_them(tmp_path: Path) -> None:
    rendered, hard = "<w:lastRenderedPageBreak/>", '<w:br w:type="page"/>'
    body = (
        p("one") + f"<w:p><w:r><w:t>two</w:t>{hard}</w:r></w:p>"
        + f"<w:p><w:r>{rendered}<w:t>three</w:t></w:r></w:p>"
        + p("four", properties="<w:pageBreakBefore/>")
        + f"<w:p><w:r><w:t>five</w:t>{hard}<w:t>six</w:t></w:r></w:p>"
        + p("seven", properties="<w:sectPr/>")
        + table(["eight", "x"], [f"<w:p><w:r>{rendered}<w:t>9</w:t></w:r></w:p>", "y"])
        + p("ten")
    )  # fmt: skip
    document = read(docx(body), tmp_path)
    pages = [(document.text[block.start : block.end].split("\n")[0], block.page) for block in document.blocks]
    assert pages == [
        ("one", 1), ("two", 1), ("three", 2), ("four", 3), ("five", 3), ("six", 4), ("seven", 4),
        ("|  |  |", 5), ("ten", 6),
    ]  # fmt: skip
    assert [page.number for page in document.pages] == [1, 2, 3, 4, 5, 6]
    assert not read(docx(p("one") + p("two")), tmp_path).pages


# ── files ────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_strict_files_are_read_as_others_are(tmp_path: Path) -> None:
    body = p("One", "Heading1", '<w:outlineLvl w:val="0"/>') + p("http://purl.oclc.org/ooxml/wordprocessingml/main")
    files = {
        "_rels/.rels": (
            '<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="r1" '
            'Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument" '
            'Target="word/doc.xml"/></Relationships>'
        ),
        "word/doc.xml": part("document", f"<w:body>{body}</w:body>"),
    }
    document = read(zip_of(strict(files)), tmp_path)
    assert document.text == "# One\n\nhttp://purl.oclc.org/ooxml/wordprocessingml/main"


def test_imported_parts_are_read_where_they_stand(tmp_path: Path) -> None:
    inner = docx(p("Inner", "Nagwek1") + table(["a", "b"], ["c", "d"]))
    parts: dict[str, str | bytes] = {
        "word/a.html": "<h2>Page</h2><ul><li>one</li></ul>", "word/b.txt": "plain\n\ntext", "word/c.docx": inner,
        "word/d.rtf": "{\\rtf1 x}",
    }  # fmt: skip
    related = [(name[0], "aFChunk", name) for name in ("a.html", "b.txt", "c.docx", "d.rtf")]
    body = p("before") + "".join(f'<w:altChunk r:id="{key}"/>' for key in "abcda") + p("after")
    document = read(docx(body, parts, related), tmp_path)
    assert document.text == (
        "before\n\n## Page\n\n- one\n\nplain\n\ntext\n\n# Inner\n\n|  |  |\n|---|---|\n| a | b |\n| c | d |\n\nafter"
    )
    references = [block.source_ref or {} for block in document.blocks]
    assert [reference.get("part") for reference in references] == [
        None, "word/a.html", "word/a.html", "word/b.txt", "word/b.txt", "word/c.docx", "word/c.docx", None,
    ]  # fmt: skip
    assert left_out(document) == [("attachment", "word/d.rtf", {})]


def test_files_that_are_no_documents(tmp_path: Path) -> None:
    encrypted = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + "EncryptedPackage".encode("utf-16-le")
    for data, message in (
        (b"", "is no readable zip file"),
        (b"PK\x03\x04 cut off", "is no readable zip file"),
        (encrypted, "is encrypted with a password"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1 old", "is no file of Office 2007 or later"),
        (zip_of({"a.txt": "x"}), "has no part word/document.xml"),
        (zip_of({"word/document.xml": "<!DOCTYPE x><w/>"}), "declares a DOCTYPE"),
        (zip_of({"word/document.xml": "<w:document>"}), "can't be read: word/document.xml"),
        (bomb(64 << 20), "inflates to more than"),
        (docx(p("x"))[:-300], "is no readable zip file"),
    ):
        with pytest.raises(UnreadableError, match=message):
            read(data, tmp_path)


def test_nothing_that_is_broken_inside_ends_in_another_error() -> None:
    circle = "".join(
        f'<w:style w:type="paragraph" w:styleId="{one}"><w:basedOn w:val="{other}"/></w:style>'
        for one, other in ("AB", "BA")
    )
    odd = (
        p("a", "A") + p("b", "missing", '<w:outlineLvl w:val="x"/>') + item("c", 2, 99) + item("d", 2, -4)
        + "<w:tbl/><w:tbl><w:tr/></w:tbl><w:sdt/><w:altChunk/>"
        + '<w:p><w:hyperlink r:id="no"><w:r><w:t>e</w:t></w:r></w:hyperlink></w:p>'
        + '<w:p><w:r><w:fldChar w:fldCharType="end"/><w:fldChar w:fldCharType="separate"/><w:fldChar/></w:r></w:p>'
        + '<w:p><w:r><w:sym w:char="zz"/><w:sym w:char="D800"/><w:sym/></w:r></w:p>'
        + table([tc("f", '<w:gridSpan w:val="99999999"/>'), "g"], [tc("h", '<w:gridSpan w:val="-3"/>'), "i"])
    )  # fmt: skip
    found = text_of(odd, {"word/styles.xml": part("styles", circle)})
    assert all(letter in found for letter in "abcdefghi")


def nested(depth: int, opening: str, closing: str) -> str:
    return opening * depth + p("inmost") + closing * depth


@pytest.mark.parametrize("depth", [20, 100, 600])
def test_nesting_without_end_loses_no_text(depth: int) -> None:
    for opening, closing in (
        ("<w:tbl><w:tr><w:tc>", "</w:tc></w:tr></w:tbl>"),
        ("<w:sdt><w:sdtContent>", "</w:sdtContent></w:sdt>"),
        ("<w:p><w:r><w:pict><w:txbxContent>", "</w:txbxContent></w:pict></w:r></w:p>"),
    ):
        if depth * opening.count("<") < 2000:
            assert "inmost" in text_of(nested(depth, opening, closing))
    links = "<w:hyperlink>" * depth + run("inmost") + "</w:hyperlink>" * depth
    assert "inmost" in text_of(f"<w:p>{links}</w:p>")


def test_deeper_nesting_than_any_parser_takes_is_refused() -> None:
    with pytest.raises(UnreadableError, match=r"can't be read: word/document\.xml"):
        text_of(nested(100_000, "<w:sdt><w:sdtContent>", "</w:sdtContent></w:sdt>"))
