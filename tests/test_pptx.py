"""PPTX: a page a slide; what becomes of each thing that PowerPoint knows, on presentations made for it."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

import spanwise
from made_office import ap, core, frame, part, pptx, relations, slide_table, sp, strict
from made_zips import zip_of
from spanwise import Document
from spanwise.errors import UnreadableError
from spanwise.readers.pptx import read_pptx
from spanwise.testing.document_laws import assert_document

NONE = "<a:buNone/>"


def read(data: bytes, tmp_path: Path, name: str = "made.pptx", **more: Any) -> Document:
    path = tmp_path / name
    path.write_bytes(data)
    document = spanwise.read(path, **more)
    assert_document(document)
    return document


def text_of(shapes: str, *more: Any, **known: Any) -> str:
    return read_pptx(pptx([shapes], *more, **known), "made.pptx").text


def left_out(document: Document) -> list[tuple[str, str, Any]]:
    return [(one.reason, one.text, one.source_ref) for one in document.left_out]


def test_a_page_is_a_slide_in_the_order_of_the_presentation(tmp_path: Path) -> None:
    slides = [sp("First", "title") + sp("a\nb", key="1"), sp("Second", "ctrTitle"), sp("loose"), ""]
    document = read(pptx(slides, properties=core("Deck", "Ann", "2026-01-28T10:00:00Z")), tmp_path)
    assert document.text == "# First\n\n- a\n- b\n\n# Second\n\nloose"
    assert [(block.page, block.headings_path) for block in document.blocks] == [
        (1, ("First",)), (1, ("First",)), (2, ("Second",)), (3, ()),
    ]  # fmt: skip
    pages = [document.text[page.start : page.end] for page in document.pages]
    assert pages == ["# First\n\n- a\n- b", "# Second", "loose", ""]
    references = [block.source_ref for block in document.blocks]
    assert references == [
        {"slide": 1, "shape": 1}, {"slide": 1, "shape": 2}, {"slide": 2, "shape": 1}, {"slide": 3, "shape": 1},
    ]  # fmt: skip
    assert [one.source_ref for one in document.blocks[1].parts] == [{"slide": 1, "shape": 2}] * 2
    known = document.metadata
    assert (known.title, known.author, known.updated_at) == ("Deck", "Ann", "2026-01-28T10:00:00Z")


def test_without_a_title_of_its_own_a_deck_has_that_of_its_first_slide(tmp_path: Path) -> None:
    properties = core("PowerPoint Presentation")
    assert read(pptx([sp("Hello", "ctrTitle")], properties=properties), tmp_path).metadata.title == "Hello"


NUMBERS = '<a:buAutoNum type="arabicPeriod"/>'


@pytest.mark.parametrize(
    ("paragraphs", "text"),
    [
        (ap("a") + ap("b", 1) + ap("c"), "- a\n  - b\n- c"),
        (ap("a", 0, NONE) + ap("b"), "a\n\n- b"),
        (ap("a", 3), "a"),
        (ap("a", 0, NUMBERS) + ap("b", 0, NUMBERS), "1. a\n2. b"),
        (ap("a", 0, NUMBERS) + ap("b", 1) + ap("c", 0, NUMBERS), "1. a\n   - b\n2. c"),
        (ap("a", 0, '<a:buAutoNum type="arabicParenR" startAt="4"/>'), "4) a"),
        (ap("a", 0, '<a:buAutoNum type="alphaLcParenBoth" startAt="3"/>'), "- (c) a"),
        (ap("a", 0, '<a:buAutoNum type="romanUcPeriod" startAt="4"/>'), "- IV. a"),
        (ap("a", 0, NUMBERS) + ap("so", 0, NONE) + ap("b", 0, NUMBERS), "1. a\n\nso\n\n1. b"),
    ],
)
def test_bullets_come_from_the_paragraph_the_layout_and_the_master(paragraphs: str, text: str) -> None:
    assert text_of(sp(paragraphs, key="1")) == text
    styled = f'<a:lstStyle><a:lvl1pPr><a:buChar char="-"/></a:lvl1pPr></a:lstStyle>{ap("x")}'
    assert text_of(sp(styled)) == "- x"


def test_runs_have_emphasis_links_breaks_and_fields() -> None:
    runs = (
        '<a:p><a:r><a:rPr b="1"/><a:t>Bold</a:t></a:r><a:r><a:t> and </a:t></a:r>'
        '<a:r><a:rPr><a:hlinkClick r:id="rL"/></a:rPr><a:t>link</a:t></a:r><a:br/><a:fld><a:t>7</a:t></a:fld>'
        "<mc:AlternateContent><mc:Choice Requires='a14'><a14:m><m:oMath><m:r><m:t>x</m:t></m:r></m:oMath></a14:m>"
        "</mc:Choice><mc:Fallback><a:r><a:t>no</a:t></a:r></mc:Fallback></mc:AlternateContent></a:p>"
    )
    related = {1: [("rL", "hyperlink", "https://example.org/", "External")]}
    assert text_of(sp(runs), related=related) == "**Bold** and [link](https://example.org/)  \n7x"


def test_shapes_are_read_from_the_top_and_side_by_side_from_the_left() -> None:
    shapes = (
        sp("bottom", place=(0, 900, 900, 50)) + sp("right", place=(500, 210, 300, 400))
        + sp("left below", place=(0, 450, 300, 100)) + sp("left", place=(0, 200, 300, 200)) + sp("Top", "title")
    )  # fmt: skip
    assert text_of(shapes) == "# Top\n\nleft\n\nleft below\n\nright\n\nbottom"


def test_placeholders_alone_stand_in_the_order_of_their_layout() -> None:
    shapes = "".join(
        sp(text, "body", key, place)
        for text, key, place in (
            ("Before", "2", (0, 0, 400, 50)), ("x", "3", (0, 60, 400, 400)), ("After", "4", (500, 0, 400, 50)),
            ("y", "5", (500, 60, 400, 400)),
        )
    )  # fmt: skip
    assert re.sub(r"[-*] ", "", text_of(shapes)) == "Before\n\nx\n\nAfter\n\ny"


def test_groups_are_read_inside(tmp_path: Path) -> None:
    inner = sp("two", place=(0, 60, 10, 10)) + sp("one", place=(0, 10, 10, 10))
    group = "<p:grpSp><p:nvGrpSpPr/><p:grpSpPr/>{}</p:grpSp>"
    document = read(pptx([sp("T", "title") + group.format(group.format(inner))]), tmp_path)
    assert document.text == "# T\n\none\n\ntwo"
    assert document.blocks[1].source_ref == {"slide": 1, "shape": 2}
    assert "inmost" in text_of(group.replace("{}", "", 0).format(sp("inmost")))
    assert "inmost" in text_of("<p:grpSp>" * 500 + sp("inmost") + "</p:grpSp>" * 500)


def test_tables_have_their_head_and_merged_cells(tmp_path: Path) -> None:
    rows = [
        ['gridSpan="2"|Both', 'hMerge="1"|', "c"], ['rowSpan="2"|d', "e\nf", "g"], ['vMerge="1"|', "h", "i"],
    ]  # fmt: skip
    document = read(pptx([frame(slide_table(*rows))]), tmp_path)
    assert document.text.split("\n") == [
        "| Both |  | c |", "|---|---|---|", "| d | e <br> f | g |", "|  | h | i |",
    ]  # fmt: skip
    assert [one.source_ref for one in document.blocks[0].parts] == [{"slide": 1, "shape": 1}] * 3
    assert text_of(frame(slide_table(["a"], ["b"], first_row=False))) == "|  |\n|---|\n| a |\n| b |"


CHART = part(
    "c:chartSpace",
    "<c:chart><c:title><a:p><a:r><a:t>Ducks</a:t></a:r></a:p></c:title><c:plotArea><c:barChart>"
    + "".join(
        f"<c:ser><c:tx><c:strRef><c:strCache><c:pt idx='0'><c:v>{name}</c:v></c:pt></c:strCache></c:strRef></c:tx>"
        "<c:cat><c:strRef><c:strCache><c:pt idx='0'><c:v>Q1</c:v></c:pt><c:pt idx='1'><c:v>Q2</c:v></c:pt></c:strCache>"
        f"</c:strRef></c:cat><c:val><c:numRef><c:numCache><c:formatCode>{form}</c:formatCode><c:pt idx='0'>"
        f"<c:v>{first}</c:v></c:pt><c:pt idx='1'><c:v>12.0</c:v></c:pt></c:numCache></c:numRef></c:val></c:ser>"
        for name, form, first in (("Wild", "General", "4.5"), ("Tame", "0%", "0.25"))
    )
    + "</c:barChart></c:plotArea></c:chart>",
)


def test_charts_are_tables_of_their_data_and_are_read_once(tmp_path: Path) -> None:
    shown = frame('<c:chart r:id="rC"/>')
    related = {1: [("rC", "chart", "../charts/chart1.xml")]}
    document = read(pptx([shown + shown], {"ppt/charts/chart1.xml": CHART}, related), tmp_path)
    assert document.text == "Ducks\n\n|  | Wild | Tame |\n|---|---|---|\n| Q1 | 4.5 | 25% |\n| Q2 | 12 | 1200% |"


def test_points_of_a_scatter_chart_have_a_table_for_each_series() -> None:
    def series(name: str, *points: tuple[int, int]) -> str:
        axes = "".join(
            f"<c:{axis}><c:numRef><c:numCache>"
            + "".join(f"<c:pt idx='{at}'><c:v>{point[side]}</c:v></c:pt>" for at, point in enumerate(points))
            + f"</c:numCache></c:numRef></c:{axis}>"
            for side, axis in enumerate(("xVal", "yVal"))
        )
        return f"<c:ser><c:tx><c:v>{name}</c:v></c:tx>{axes}</c:ser>"

    inner = series("a", (1, 2), (3, 4)) + series("b", (5, 6))
    plot = f"<c:plotArea><c:scatterChart>{inner}</c:scatterChart></c:plotArea>"
    parts = {"ppt/charts/c.xml": part("c:chartSpace", f"<c:chart>{plot}</c:chart>")}
    made = text_of(frame('<c:chart r:id="rC"/>'), parts, {1: [("rC", "chart", "../charts/c.xml")]})
    assert made == "|  | a |\n|---|---|\n| 1 | 2 |\n| 3 | 4 |\n\n|  | b |\n|---|---|\n| 5 | 6 |"


def test_diagrams_are_nested_lists() -> None:
    points = "".join(
        f'<dgm:pt modelId="{key}" {kind}><dgm:t><a:p><a:r><a:t>{text}</a:t></a:r></a:p></dgm:t></dgm:pt>'
        for key, text, kind in (
            ("0", "", 'type="doc"'), ("1", "Root", ""), ("2", "Second", ""), ("3", "Under", ""),
            ("4", "no", 'type="pres"'),
        )
    )  # fmt: skip
    links = "".join(
        f'<dgm:cxn srcId="{source}" destId="{target}" srcOrd="{order}"/>'
        for source, target, order in (("0", "2", 1), ("0", "1", 0), ("1", "3", 0), ("3", "1", 0))
    )
    data = part("dgm:dataModel", f"<dgm:ptLst>{points}</dgm:ptLst><dgm:cxnLst>{links}</dgm:cxnLst>")
    related = {1: [("rD", "diagramData", "../diagrams/data1.xml")]}
    made = text_of(frame('<dgm:relIds r:dm="rD"/>'), {"ppt/diagrams/data1.xml": data}, related)
    assert made == "- Root\n  - Under\n- Second"


def test_pictures_films_and_shapes_are_figures_with_their_alternative_text(tmp_path: Path) -> None:
    known = '<p:nvPicPr><p:cNvPr id="3" descr="A duck"/></p:nvPicPr>'
    picture = f'<p:pic>{known}<p:blipFill><a:blip r:embed="rP"/></p:blipFill></p:pic>'
    arrow = '<p:cxnSp><p:nvCxnSpPr><p:cNvPr id="4" descr="from a to b"/></p:nvCxnSpPr></p:cxnSp>'
    thing = frame('<p:oleObj r:id="rO" progId="Excel"><p:pic><p:nvPicPr/></p:pic></p:oleObj>')
    related = {1: [("rP", "image", "../media/duck.png"), ("rO", "package", "../embeddings/a.xlsx")]}
    document = read(pptx([picture + arrow + thing], related=related), tmp_path)
    assert document.text == (
        '<figure><img src="ppt/media/duck.png" alt="A duck"></figure>\n\n'
        '<figure><img src="" alt="from a to b"></figure>\n\n<figure><img src=""></figure>'
    )
    assert {block.kind for block in document.blocks} == {"figure"}
    assert left_out(document) == [("attachment", "ppt/embeddings/a.xlsx", {"slide": 1, "shape": 3})]


def test_notes_come_last_on_their_slide(tmp_path: Path) -> None:
    inner = sp("Say hello.\nThen go on.", "body", "1") + sp("9", "sldNum") + sp("", "sldImg")
    notes = part("p:notes", f"<p:cSld><p:spTree>{inner}</p:spTree></p:cSld>")
    related = {1: [("rN", "notesSlide", "../notesSlides/notesSlide1.xml")]}
    slides = [sp("One", "title") + sp("text"), sp("Two", "title")]
    document = read(pptx(slides, {"ppt/notesSlides/notesSlide1.xml": notes}, related), tmp_path)
    assert document.text == "# One\n\ntext\n\nSay hello.\n\nThen go on.\n\n# Two"
    assert [block.page for block in document.blocks] == [1, 1, 1, 1, 2]
    assert document.blocks[2].source_ref == {
        "slide": 1, "shape": 1, "part": "ppt/notesSlides/notesSlide1.xml",
    }  # fmt: skip


def test_what_is_left_out_is_named(tmp_path: Path) -> None:
    comments = part("p:cmLst", "<p:cm><p:text>Too long?</p:text></p:cm><p:cm><p:text>No.</p:text></p:cm>")
    slides: list[str | tuple[str, str]] = [
        sp("Shown", "title") + sp("Company", "ftr", "9") + sp("3", "sldNum", "8") + sp("off", known='hidden="1"'),
        (sp("Not shown", "title") + sp("secret"), 'show="0"'),
        sp("Last", "title"),
    ]
    related = {1: [("rC", "comments", "../comments/comment1.xml")]}
    parts: dict[str, str | bytes] = {"ppt/comments/comment1.xml": comments, "ppt/vbaProject.bin": b"\x00"}
    document = read(pptx(slides, parts, related), tmp_path, "made.pptm")
    assert document.text == "# Shown\n\n# Last"
    assert [page.end - page.start for page in document.pages] == [7, 0, 6]
    assert left_out(document) == [
        ("comment", "Too long?", {"slide": 1}),
        ("comment", "No.", {"slide": 1}),
        ("page footer", "Company", {"slide": 1, "shape": 2}),
        ("page footer", "3", {"slide": 1, "shape": 3}),
        ("hidden text", "off", {"slide": 1, "shape": 4}),
        ("hidden slide", "Not shown secret", {"slide": 2}),
        ("macro", "ppt/vbaProject.bin", {"part": "ppt/vbaProject.bin"}),
    ]


def test_strict_files_and_missing_slides(tmp_path: Path) -> None:
    ids = "".join(f'<p:sldId r:id="{key}"/>' for key in ("gone", "s", "s"))
    files = {
        "_rels/.rels": relations([("r", "officeDocument", "ppt/presentation.xml")]),
        "ppt/presentation.xml": part("p:presentation", f"<p:sldIdLst>{ids}</p:sldIdLst>"),
        "ppt/_rels/presentation.xml.rels": relations([("s", "slide", "slides/slide1.xml")]),
        "ppt/slides/slide1.xml": part("p:sld", f"<p:cSld><p:spTree>{sp('Strict', 'title')}</p:spTree></p:cSld>"),
    }
    assert all("purl.oclc.org/ooxml" in text for text in strict(files).values())
    document = read(zip_of(strict(files)), tmp_path)
    assert document.text == "# Strict"
    assert len(document.pages) == 3
    assert document.blocks[0].page == 2


def test_files_that_are_no_presentations(tmp_path: Path) -> None:
    for data, message in (
        (b"x", "is no readable zip file"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + "EncryptedPackage".encode("utf-16-le"), "is encrypted with a password"),
        (zip_of({"word/document.xml": "<x/>"}), "has no part ppt/presentation.xml"),
    ):
        with pytest.raises(UnreadableError, match=message):
            read(data, tmp_path)
