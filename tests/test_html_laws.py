"""Laws for any page: no visible text is lost, the Markdown reads back as the same blocks, locations are correct."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st
from selectolax.lexbor import LexborHTMLParser

import spanwise
from spanwise import Block, Document, Part
from spanwise.records.links.visible_page import visible_runs
from spanwise.testing.document_laws import assert_document

TAGS = [
    "p",
    "div",
    "b",
    "i",
    "a",
    "code",
    "span",
    "sup",
    "ul",
    "ol",
    "li",
    "table",
    "tr",
    "td",
    "th",
    "pre",
    "blockquote",
    "h1",
    "h3",
    "dl",
    "dt",
    "dd",
    "details",
    "summary",
    "section",
    "br",
    "hr",
    "kbd",
    "del",
    "q",
    "figure",
]
WORDS = st.text(alphabet="ab żó中 *_[]()#-|`<&\n1.>~!\\:+=", max_size=12).map(
    lambda text: text.replace("&", "&amp;").replace("<", "&lt;")
)
NODES = st.recursive(
    WORDS,
    lambda inner: st.builds(
        lambda tag, nodes: f"<{tag}>{''.join(nodes)}</{tag}>" if tag not in {"br", "hr"} else f"<{tag}>",
        st.sampled_from(TAGS),
        st.lists(inner, max_size=4),
    ),
    max_leaves=12,
)
MADE = st.lists(NODES, max_size=5).map("".join)
BROKEN = st.text(alphabet="<>/ab pulitdrhe=\"'&;*_[]()#-|`\n żó中", max_size=300)
PAGES = st.one_of(MADE, BROKEN)


def letters(text: str) -> str:
    return "".join(letter for letter in text if letter.isalnum())


def read(html: str) -> Document:
    """Read a whole page; main content detection is tested elsewhere."""
    document = spanwise.read_text(html, format="html", keep_all=True)
    assert_document(document)
    return document


@given(PAGES)
def test_all_visible_text_is_kept_in_order(html: str) -> None:
    document = read(html)
    visible = "".join(letters(run.text) for run in document.visible)
    assert "".join(letters(run.text) for run in visible_runs(document)) == visible


@given(PAGES)
def test_markdown_of_any_page_reads_the_same(html: str) -> None:
    document = read(html)
    again = spanwise.read_text(document.text)
    assert [(block.kind, block.start, block.end, block.level) for block in again.blocks] == [
        (block.kind, block.start, block.end, block.level) for block in document.blocks
    ]


def parts_of(blocks: tuple[Block | Part, ...]) -> Iterator[Block | Part]:
    for block in blocks:
        yield block
        yield from parts_of(block.parts)


@given(PAGES)
def test_every_block_and_part_has_its_location(html: str) -> None:
    document, tree = read(html), LexborHTMLParser(html)
    text = tree.body.text() if tree.body else ""
    runs = [(run.positions[0], letters(run.text)) for run in visible_runs(document)]
    for block in parts_of(document.blocks):
        location = block.source_ref
        assert location is not None
        (found,) = tree.css(location["css_selector"])
        own = next((visible for start, visible in runs if block.start <= start < block.end), "")
        assert letters(found.text()).find(own) >= 0
        assert letters(text[location["text_offset"] :]).startswith(own)


TITLES = {
    # title of the page, heading outside the main content, whether it is the title
    "Trip report": ("Trip report", True),
    "Trip report | Example": ("Trip report", True),
    "Trip reports of 2024": ("Trip report", False),
    "How to travel – Example": ("Example", False),
}


@pytest.mark.parametrize("title", TITLES)
def test_the_title_beside_the_main_content_is_kept(title: str) -> None:
    heading, kept = TITLES[title]
    page = f"<title>{title}</title><header><p>x</p><h1>{heading}</h1></header><main><p>Text.</p></main>"
    document = spanwise.read_text(page, "html")
    assert document.text == (f"# {heading}\n\nText." if kept else "Text.")
    where = (document.blocks[0].source_ref or {})["xpath"]
    assert where == ("/html/body/header[1]/h1[1]" if kept else "/html/body/main[1]/p[1]")
    assert document.left_out[0].text == ("x" if kept else f"x{heading}")
    own = page.replace("<p>Text.", "<h1>Own</h1><p>Text.")
    hidden = page.replace("<header>", "<header style='display: none'>")
    assert spanwise.read_text(own, "html").text == "# Own\n\nText."
    assert spanwise.read_text(hidden, "html").text == "Text."
