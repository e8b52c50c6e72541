"""The page of `spanwise inspect` in a browser: it shows exactly what the records contain."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, sync_playwright

import spanwise
from browsing import CONTRAST, CORES, DETAILS, MARKED, WHOLE_TEXT, html_of, launched, positions, records_of, visited
from conftest import DEMO
from pdf_with_boxes import report
from spanwise.chunking.strategies import STRATEGIES
from spanwise.documents.document import Block, Document, LeftOut, Metadata
from spanwise.inspection import Inspection, page_of

pytestmark = pytest.mark.browser

ROWS = "\n".join(f"| Łódź {number} | 日本 {number} 😀 |" for number in range(30))
CODE = "\n".join(f"value_{number} = '{number}'  # 👩‍👩‍👧 <b>&amp;" for number in range(30))
MIXED = f"""\
---
title: Mixed 😀
---

# Wörter

{"Ein Satz mit Emoji 👩🏽‍🚀 und mehr. Noch einer, z. B. hier. Und ein dritter! " * 12}

<!-- nobody sees this -->

## 表

| Stadt | 国 |
|---|---|
{ROWS}

```python
{CODE}
```

<figure><img src="a.png"><figcaption>{"Eine sehr lange Abbildung 図. " * 40}</figcaption></figure>

{"今日は天気がいい。明日は雨が降るでしょう。" * 20}

- one
  - two 🎉

שלום עולם. مرحبا بالعالم.

---

Last line\twith a tab.
"""
HOSTILE = (
    '</script><script>window.hit = 1</script><img src="x" onerror="window.hit = 1"> <!-- ]]> </style> '
    "\u2028 \u2029 &lt; &amp;amp; <svg onload=window.hit=1> \x07\x1b[31m \ufffe {{x}} ${y} `z` </div></main></body>"
)
SMALL: dict[str, Any] = {"max_tokens": 90, "target_tokens": 70, "min_tokens": 20}


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """Start one browser for all tests of this file."""
    with sync_playwright() as playwright, launched(playwright) as found:
        yield found


def sized(strategy: str) -> dict[str, Any]:
    """Return sizes that make a strategy cut often."""
    known = set(STRATEGIES[strategy].options.__dataclass_fields__)
    return {name: value for name, value in SMALL.items() if name in known}


def details_of(page: Page, index: int) -> dict[str, Any]:
    """Focus a chunk and return what the details panel shows."""
    found: dict[str, Any] = page.evaluate(DETAILS, index)
    return found


def check_chunk(page: Page, text: str, record: dict[str, Any]) -> None:
    """Compare the details of a chunk on the page with its record, character by character."""
    found = details_of(page, record["chunk_index"])
    pieces = [[piece["role"], text[piece["start"] : piece["end"]]] for piece in record["pieces"]]
    assert found["embedded"] == record["embedding_text"]
    if record["embedding_text"].endswith(record["full_text"]):
        assert found["pieces"] == pieces
        assert found["template"] + record["full_text"] == record["embedding_text"]
    else:  # plain: of each piece what a page shows, with characters taken out
        rest = iter(pieces)  # one that shows nothing, such as a fence, isn't there
        for role, shown in found["pieces"]:
            assert any(role == name and is_taken_from(shown, source) for name, source in rest)
        assert record["embedding_text"].startswith(found["template"])
    assert found["ids"][:2] == [record["chunk_id"], record["content_id"]]
    assert f"{record['token_count']:,} " in found["said"]
    assert " › ".join(record["headings_path"]) in found["said"]
    assert f"characters {record['char_start']} to {record['char_end']}" in found["said"]
    lit = {name.replace("-", "_"): content for name, content in found["lit"].items()}
    assert lit == {role: "".join(content for name, content in pieces if name == role) for role in lit}
    if record["strategy"] == "hierarchical" and record["parent_id"] is None:  # its children are highlighted one by one
        assert "".join(found["current"].split()) == "".join(core_of(text, record).split())
    else:
        assert found["current"].split() == core_of(text, record).split()


def is_taken_from(shown: str, source: str) -> bool:
    rest = iter(source)
    return all(character in rest for character in shown)


def core_of(text: str, record: dict[str, Any]) -> str:
    """Return the core of a chunk, without joiners."""
    return "".join(text[piece["start"] : piece["end"]] for piece in record["pieces"] if piece["role"] == "core")


def check_page(page: Page, document: Document, records: list[dict[str, Any]], most: int = 12) -> None:
    """Compare a page with its document and records; of many chunks, only some in detail."""
    text = document.text
    assert page.evaluate(WHOLE_TEXT) == text
    parents = {record["parent_id"] for record in records}
    cores = {str(record["chunk_index"]): core_of(text, record) for record in records}
    painted = {str(record["chunk_index"]) for record in records if record["chunk_id"] not in parents}
    assert page.evaluate(CORES) == {index: core if index in painted else "" for index, core in cores.items()}
    assert page.locator(".plot .bar").count() == len(records)
    for role in ("overlap", "context"):
        pieces = [piece for record in records for piece in record["pieces"] if piece["role"].startswith(role)]
        expected = positions([(piece["start"], text[piece["start"] : piece["end"]]) for piece in pieces])
        assert positions(page.evaluate(MARKED, f".{role}")) == expected, role
    for record in records[:: max(len(records) // most, 1)]:
        check_chunk(page, text, record)


# ---------------------------------------------------------------------------------------- what the records say is shown


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_every_strategy_is_shown_like_its_records(strategy: str, browser: Browser, tmp_path: Path) -> None:
    document = spanwise.read_text(MIXED)
    options = sized(strategy)
    with visited(browser, html_of(document, strategy, **options), tmp_path) as page:
        check_page(page, document, records_of(document, strategy, **options))


@pytest.mark.parametrize("template", ["tags", "breadcrumb"])
@pytest.mark.parametrize("language", ["en", "zh"])
def test_handbooks_are_shown_like_their_records(language: str, template: str, browser: Browser, tmp_path: Path) -> None:
    document = spanwise.read(DEMO / f"handbook.{language}.md")
    options: dict[str, Any] = {"max_tokens": 160, "template": template}
    with visited(browser, html_of(document, **options), tmp_path) as page:
        check_page(page, document, records_of(document, **options))


def test_plain_text_is_shown_like_its_records(browser: Browser, tmp_path: Path) -> None:
    document = spanwise.read_text("\n\n  Indented line.\n\tTabbed line. 😀\n\n\nAnother\u00a0one.\n" * 9, format="text")
    with visited(browser, html_of(document, "fixed", **SMALL), tmp_path) as page:
        check_page(page, document, records_of(document, "fixed", **SMALL))


def test_pages_are_those_of_the_document_and_a_core_may_cross_them(browser: Browser, tmp_path: Path) -> None:
    pages = ["The first page ends in the middle 😀 of", "a sentence. " * 9, "", "The last page."]
    document = spanwise.read_pages(pages)
    records = records_of(document, "window", max_tokens=200)
    with visited(browser, html_of(document, "window", max_tokens=200), tmp_path) as page:
        check_page(page, document, records)
        names = page.locator(".page").evaluate_all("(found) => found.map((each) => each.getAttribute('aria-label'))")
        assert names == ["Page 1", "Page 2", "Page 3", "Page 4"]
        texts = page.locator(".page .text").evaluate_all("(found) => found.map((each) => each.textContent.trim())")
        assert texts == [content.strip() for content in pages]
        assert page.locator("#page-3 .note").inner_text() == "There is no text here."
        assert page.locator(".core[data-chunk='0']").count() == 3


def test_a_document_without_chunks_says_so(browser: Browser, tmp_path: Path) -> None:
    for text in ("# Only a heading\n", ""):
        document = spanwise.read_text(text)
        with visited(browser, html_of(document), tmp_path) as page:
            check_page(page, document, [])
            assert "There are no chunks" in page.locator("header").inner_text()
            page.keyboard.press("j")


def test_oddities_are_flagged(browser: Browser, tmp_path: Path) -> None:
    document = spanwise.read_text(MIXED)
    records = records_of(document, **SMALL)
    odd = next(record["chunk_index"] for record in records if record["oversize"])
    with visited(browser, html_of(document, **SMALL), tmp_path) as page:
        assert "oversize" in (page.locator(f"#chunk-{odd} .label").get_attribute("data-label") or "")
        details_of(page, odd)
        assert page.locator("#details .flag").all_inner_texts() == ["oversize"]
        assert page.locator(".bar.over").count() == 1


def test_text_in_no_chunk_is_marked(browser: Browser, tmp_path: Path) -> None:
    with visited(browser, html_of(spanwise.read_text(MIXED), **SMALL), tmp_path) as page:
        notes = page.locator(".out[data-note]").evaluate_all("(found) => found.map((each) => each.dataset.note)")
        assert notes == ["front matter, in no chunk", "comment, in no chunk"]
        assert page.locator(".out.heading").all_inner_texts() == ["# Wörter", "## 表"]


def test_parents_are_named_and_highlight_their_children(browser: Browser, tmp_path: Path) -> None:
    """With two levels the children are coloured, and the parent is named above them."""
    document = spanwise.read_text("# A\n\nOne.\n\n## B\n\nTwo.\n")
    children = records_of(document)
    first, last = children[0], children[-1]
    piece = first["pieces"][0] | {"end": last["char_end"], "utf16_end": last["utf16_end"]}
    whole = document.text[first["char_start"] : last["char_end"]]
    parent = first | {
        "chunk_id": "parent", "chunk_index": 0, "char_end": last["char_end"], "pieces": [piece],
        "full_text": whole, "embedding_text": whole,
    }  # fmt: skip
    moved = [child | {"chunk_index": child["chunk_index"] + 1, "parent_id": "parent"} for child in children]
    html = "".join(page_of(Inspection(document, [parent, *moved], "made", "cl100k")))
    with visited(browser, html, tmp_path) as page:
        assert page.evaluate(WHOLE_TEXT) == document.text
        assert page.evaluate(CORES) == {"0": "", "1": "One.", "2": "Two."}
        assert details_of(page, 0)["embedded"] == whole
        assert page.locator(".core.current").count() == 2
        assert page.locator("#details .facts a").all_inner_texts() == ["#1", "#2"]
        assert "parent#0" in details_of(page, 2)["said"]


# ------------------------------------------------------------------------------------------------------ text stays text


def test_hostile_text_is_only_text(browser: Browser, tmp_path: Path) -> None:
    text = f"# {HOSTILE}\n\n{HOSTILE}\n\n```{HOSTILE.replace('`', '')}\n{HOSTILE}\n```\n"
    document = spanwise.read_text(text, title=HOSTILE, file_path=HOSTILE, language='en" onclick="window.hit = 1')
    left_out = LeftOut(HOSTILE, HOSTILE, {"page": HOSTILE})
    document = Document(document.text, document.blocks, (), document.metadata, (left_out,))
    with visited(browser, html_of(document, "heading", max_tokens=200), tmp_path) as page:
        check_page(page, document, records_of(document, "heading", max_tokens=200))
        assert page.evaluate("window.hit") is None
        assert page.locator("img, .text script, .text svg").count() == 0
        assert page.locator("script").count() == 2
        assert page.locator(".left-out q").text_content() == HOSTILE


def test_foreign_styles_and_scripts_do_not_run(browser: Browser, tmp_path: Path) -> None:
    html = html_of(spanwise.read_text("One.")).replace("</main>", "<script>window.hit = 1</script></main>")
    (tmp_path / "page.html").write_text(html)
    with browser.new_context() as context:
        page = context.new_page()
        page.goto((tmp_path / "page.html").as_uri())
        assert page.evaluate("window.hit") is None


# ----------------------------------------------------------------------------------------- pointer, keyboard, permalink


def current_chunk(page: Page) -> str:
    """Return the name of the chunk in the panel."""
    return page.locator("#details h2").inner_text().split()[0]


def test_keys_walk_through_the_chunks(browser: Browser, tmp_path: Path) -> None:
    with visited(browser, html_of(spanwise.read_text(MIXED), **SMALL), tmp_path) as page:
        walked = []
        for key in ("j", "j", "ArrowDown", "k", "ArrowUp", "ArrowRight", "Tab", "Shift+Tab", "k", "k", "k"):
            page.keyboard.press(key)
            walked.append(current_chunk(page))
        assert walked == ["#0", "#1", "#2", "#1", "#0", "#1", "#2", "#1", "#0", "#0", "#0"]
        focused = page.evaluate("document.activeElement.getAttribute('aria-label')")
        assert focused.startswith("Chunk 0, ")
        assert focused.endswith("Wörter")
        page.keyboard.press("Escape")
        assert page.locator("#details h2").count() == 0
        assert page.locator(".current").count() == 0


def test_a_chunk_that_is_walked_to_comes_into_view(browser: Browser, tmp_path: Path) -> None:
    with visited(browser, html_of(spanwise.read_text(MIXED), **SMALL), tmp_path) as page:
        for _ in range(9):
            page.keyboard.press("j")
            box = page.locator(".core.current").first.bounding_box()
            assert box is not None
            assert 0 <= box["y"] < 700


def test_pointing_shows_and_a_click_holds(browser: Browser, tmp_path: Path) -> None:
    with visited(browser, html_of(spanwise.read_text(MIXED), **SMALL), tmp_path) as page:
        page.locator("#chunk-1").hover()
        assert current_chunk(page) == "#1"
        page.locator("h1").hover()
        assert page.locator("#details h2").count() == 0
        page.locator("#chunk-1").click()
        page.locator("h1").hover()
        assert current_chunk(page) == "#1"
        page.get_by_role("button", name="Next chunk").click()
        assert current_chunk(page) == "#2"
        page.locator(".plot a").nth(4).click()
        assert current_chunk(page) == "#4"
        page.get_by_role("button", name="Close").click()
        assert page.locator("#details h2").count() == 0


def test_a_permalink_opens_its_chunk(browser: Browser, tmp_path: Path) -> None:
    with visited(browser, html_of(spanwise.read_text(MIXED), **SMALL), tmp_path) as page:
        page.goto(f"{page.url}#chunk-7")
        page.reload()
        assert current_chunk(page) == "#7"
        page.locator("#chunk-8 .label").click()
        assert page.url.endswith("#chunk-8")
        assert current_chunk(page) == "#8"


# -------------------------------------------------------------------------------- without scripts, on a phone, on paper


def test_without_scripts_the_chunks_are_marked_all_the_same(browser: Browser, tmp_path: Path) -> None:
    document = spanwise.read_text(MIXED)
    html = html_of(document, **SMALL)
    with visited(browser, html, tmp_path, java_script_enabled=False) as page:
        records = records_of(document, **SMALL)
        assert page.locator(".core[id]").count() == len(records)
        content = page.locator("#chunk-0").text_content()
        assert content == records[0]["normalized_text"]
        assert page.locator("#chunk-0 .label").is_visible()
        assert page.locator(".overlap").first.is_visible()
        assert "Details need scripts" in page.locator("#details").inner_text()
        page.locator(".plot a").nth(5).click()
        assert page.url.endswith("#chunk-5")


def test_a_tap_opens_the_panel_from_below(browser: Browser, tmp_path: Path) -> None:
    html = html_of(spanwise.read_text(MIXED), **SMALL)
    with visited(browser, html, tmp_path, viewport={"width": 390, "height": 800}, has_touch=True) as page:
        assert not page.locator("#details").is_visible()
        page.locator("#chunk-1").tap()
        assert page.locator("#details").is_visible()
        assert current_chunk(page) == "#1"


def test_the_source_of_a_chunk_is_named(browser: Browser, tmp_path: Path) -> None:
    document = Document("One.", (Block("paragraph", 0, 4, source_ref={"sheet": "Q1 <b>", "cells": "A1:C9"}),),
                        metadata=Metadata(document_id="made"))  # fmt: skip
    with visited(browser, html_of(document), tmp_path) as page:
        assert "sheet Q1 <b>, cells A1:C9" in details_of(page, 0)["said"]


@pytest.mark.parametrize("width", [320, 390, 768])
def test_nothing_is_wider_than_a_phone(width: int, browser: Browser, tmp_path: Path) -> None:
    text = (
        f"# {'Long' * 60}\n\n{'x' * 900}\n\n| {'wide | ' * 60}\n|{'---|' * 60}\n\n```\n{'code ' * 90}\n```\n\n{MIXED}"
    )
    html = html_of(spanwise.read_text(text), **SMALL)
    with visited(browser, html, tmp_path, viewport={"width": width, "height": 800}) as page:
        details_of(page, 2)
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        sheet = page.locator("#details").bounding_box()
        assert sheet is not None
        assert sheet["y"] + sheet["height"] == pytest.approx(800, abs=1)
        assert sheet["height"] <= 800 * 0.53
        page.keyboard.press("Escape")
        assert not page.locator("#details").is_visible()


def test_on_paper_every_page_begins_anew_without_the_panel(browser: Browser, tmp_path: Path) -> None:
    document = spanwise.read_pages(["One. " * 20, "Two. " * 20, "Three."])
    with visited(browser, html_of(document, "fixed"), tmp_path, color_scheme="dark") as page:
        details_of(page, 0)
        data = page.pdf()
        assert data.count(b"/Type /Page\n") == 3
        page.emulate_media(media="print")
        assert not page.locator("#details").is_visible()
        style = page.locator("#chunk-0").evaluate("(each) => [getComputedStyle(each).borderTopWidth, innerWidth]")
        assert style[0] == "1px"


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_has_enough_contrast(scheme: Any, browser: Browser, tmp_path: Path) -> None:
    html = html_of(spanwise.read_text(MIXED), template="tags", **SMALL)
    with visited(browser, html, tmp_path, color_scheme=scheme) as page:
        details_of(page, 1)
        assert page.evaluate(CONTRAST) == []


# -------------------------------------------------------------------------------------------------- pages of a PDF


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Document]:
    """Make a PDF of three pages."""
    path = tmp_path_factory.mktemp("pdf") / "report.pdf"
    return path, report(path)


def test_a_page_stands_beside_its_text_with_its_boxes(
    made: tuple[Path, Document], browser: Browser, tmp_path: Path
) -> None:
    path, document = made
    with visited(browser, html_of(document, pdf=path, **SMALL), tmp_path) as page:
        check_page(page, document, records_of(document, **SMALL))
        image = page.locator("#page-1 img")
        image.scroll_into_view_if_needed()
        page.wait_for_function("document.querySelector('#page-1 img').naturalWidth > 0")
        size, drawn = image.bounding_box(), page.locator("#page-1 .frame svg").bounding_box()
        text = page.locator("#page-1 .text").bounding_box()
        assert size is not None
        assert drawn is not None
        assert text is not None
        assert list(drawn.values()) == pytest.approx(list(size.values()), abs=1)
        assert text["x"] > size["x"] + size["width"]
        boxes = page.locator("#page-1 .box").evaluate_all(
            "(found) => found.map(({ x, y, width, height }) => [x, y, width, height].map((side) => side.baseVal.value))"
        )
        expected = [block.source_ref["bbox"] for block in document.blocks if block.page == 1 and block.source_ref]
        expected += [item.source_ref["bbox"] for item in document.left_out[:1] if item.source_ref]
        for box, (left, top, right, bottom) in zip(boxes, expected, strict=True):
            assert box == pytest.approx([left, top, right - left, bottom - top], abs=0.1)
        titles = page.locator("#page-1 .box title").all_text_contents()
        assert titles[0] == "heading, in no chunk"
        assert titles[1].startswith("paragraph · #0")
        assert titles[-1] == "left out: page header"
        assert page.locator("#page-3 .note").inner_text().startswith("Only pages up to 2 have a picture")


def test_a_box_leads_to_its_chunk_and_back(made: tuple[Path, Document], browser: Browser, tmp_path: Path) -> None:
    path, document = made
    sizes: dict[str, Any] = {"max_tokens": 150, "target_tokens": 120, "min_tokens": 40}  # a chunk for each paragraph
    with visited(browser, html_of(document, pdf=path, **sizes), tmp_path) as page:
        page.locator("#page-2 .box[data-chunks]").nth(1).click()
        index = page.locator("#page-2 .box[data-chunks]").nth(1).get_attribute("data-chunks")
        assert current_chunk(page) == f"#{index}"
        assert page.locator("#page-2 .box.current").count() == 1
        page.keyboard.press("k")
        assert page.locator("#page-2 .box.current").get_attribute("data-chunks") == str(int(index or 0) - 1)


def test_on_a_phone_the_picture_stands_above_its_text(
    made: tuple[Path, Document], browser: Browser, tmp_path: Path
) -> None:
    path, document = made
    html = html_of(document, pdf=path, **SMALL)
    with visited(browser, html, tmp_path, viewport={"width": 390, "height": 800}) as page:
        picture, text = page.locator("#page-1 .picture").bounding_box(), page.locator("#page-1 .text").bounding_box()
        assert picture is not None
        assert text is not None
        assert picture["y"] + picture["height"] <= text["y"]
        assert page.evaluate("document.documentElement.scrollWidth") <= 390
