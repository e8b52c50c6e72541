"""Rendered web pages in `spanwise inspect`: chunks are highlighted at their text, and no script of a page runs."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, sync_playwright

import spanwise
from browsing import CONTRAST, html_of, launched, records_of, visited
from command import files
from made_pages import HOSTILE, MIXED, RENDERED, STORED
from spanwise.chunking.strategies import STRATEGIES
from spanwise.cli import main
from spanwise.documents.document import Document
from spanwise.inspection.rendered_page import units_of

pytestmark = pytest.mark.browser

LIT = """(index) => {
  document.querySelector(`.gutter [data-chunk="${index}"] .label`).focus({ preventScroll: true });
  const frame = document.querySelector("iframe");
  const words = [];
  for (const [name, highlight] of frame.contentWindow.CSS.highlights) {
    if (!name.startsWith("current")) continue;
    for (const { startContainer, startOffset, endContainer, endOffset } of highlight) {
      const range = frame.contentDocument.createRange();
      range.setStart(startContainer, startOffset);
      range.setEnd(endContainer, endOffset);
      words.push(range.toString());
    }
  }
  return words.join("");
}"""
PAINTED = """() => {
  const frame = document.querySelector("iframe");
  const found = {};
  for (const [name, highlight] of frame.contentWindow.CSS.highlights) {
    found[name] = [...highlight].map(({ startContainer, startOffset, endContainer, endOffset }) => {
      const range = frame.contentDocument.createRange();
      range.setStart(startContainer, startOffset);
      range.setEnd(endContainer, endOffset);
      const boxes = [...range.getClientRects()].sort((one, other) => one.top - other.top);
      const { x, y, width, height } = boxes[0] ?? range.getBoundingClientRect();
      return { words: range.toString(), x, y, width, height };
    });
  }
  return found;
}"""
SETTLED = """async () => {
  for (let turn = 0; turn < 6; turn += 1) await new Promise((done) => requestAnimationFrame(done));
}"""
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


def letters(text: str) -> str:
    """Return a text without white space and soft hyphens, which may differ."""
    return "".join(text.replace("\u00ad", "").split())


def visible_letters(document: Document, record: dict[str, Any]) -> str:
    """Return the visible text of a chunk's core."""
    cores = [(piece["start"], piece["end"]) for piece in record["pieces"] if piece["role"] == "core"]
    ranges = [pair for unit in units_of(document) for pair in unit.ranges]
    parts = [(max(low, start), min(high, end)) for start, end in cores for low, high in ranges]
    visible = "".join(document.text[low:high] for low, high in sorted(parts) if low < high)
    return letters(visible.replace('"Hallo"', "Hallo"))  # the browser adds the quotation marks


def rendered(page: Page) -> Page:
    """Wait until the page is rendered."""
    page.wait_for_selector("body.looking")
    return page


def current_chunk(page: Page) -> str:
    """Return the name of the chunk in the panel."""
    return page.locator("#details h2").inner_text().split()[0]


# --------------------------------------------------------------------------------------------- where chunks are painted


@pytest.mark.parametrize("strategy", sorted(STRATEGIES))
def test_every_chunk_is_highlighted_at_its_text(strategy: str, browser: Browser, tmp_path: Path) -> None:
    document = spanwise.read_text(MIXED, format="html")
    records = records_of(document, strategy, **sized(strategy))
    with visited(browser, html_of(document, strategy, source=MIXED, **sized(strategy)), tmp_path) as page:
        rendered(page)
        for record in records:
            assert letters(page.evaluate(LIT, record["chunk_index"])) == visible_letters(document, record)
        assert page.locator(".mark").count() == len(records)
        assert page.locator(".mark.unseen").count() == 0


def test_highlights_match_the_page(browser: Browser, tmp_path: Path) -> None:
    """Each paragraph is a chunk here, so the page itself gives the expected text."""
    paragraphs = [
        f"Paragraph {number} says <b>something</b> of its <i>own</i> {'again ' * (number % 5)}" for number in range(60)
    ]
    html = "<main>" + "".join(f"<h2>Of this</h2><p>{text}</p>" for text in paragraphs) + "</main>"
    document = spanwise.read_text(html, format="html")
    options: dict[str, Any] = {"min_tokens": 0, "target_tokens": 16, "max_tokens": 40}
    records = records_of(document, **options)
    assert len(records) == 60
    with visited(browser, html_of(document, source=html, **options), tmp_path) as page:
        rendered(page)
        plain = page.frames[1].locator("p").all_text_contents()
        assert [letters(page.evaluate(LIT, index)) for index in range(60)] == [letters(text) for text in plain]


def test_text_added_by_the_reader_is_not_highlighted(browser: Browser, tmp_path: Path) -> None:
    panel = '<div class="confluence-information-macro confluence-information-macro-tip"><p class="title">Tip</p><div>'
    html = f"<main><p>Before.</p>{panel}<p>Multiple tips to read, he said <q>now</q>, and more.</p></div></div></main>"
    document = spanwise.read_text(html, format="html")
    assert '> [!tip] Tip\n> Multiple tips to read, he said "now", and more.' in document.text
    with visited(browser, html_of(document, source=html), tmp_path) as page:
        rendered(page)
        assert letters(page.evaluate(LIT, 0)) == letters("Before. Tip Multiple tips to read, he said now, and more.")


def test_colours_and_overlaps_match_the_text_view(browser: Browser, tmp_path: Path) -> None:
    document = spanwise.read_text(MIXED, format="html")
    options = {**SMALL, "overlap_tokens": 15}
    records = records_of(document, **options)
    with visited(browser, html_of(document, source=MIXED, **options), tmp_path) as page:
        rendered(page)
        painted = page.evaluate(PAINTED)
        for colour in range(6):
            mine = "".join(visible_letters(document, record) for record in records[colour::6])
            assert letters("".join(item["words"] for item in painted[f"k{colour}"])) == mine
        assert "Łódź" not in "".join(item["words"] for item in painted["repeated"])
        assert "Stadt" in "".join(item["words"] for item in painted["repeated"])
        assert painted["overlap"]


def test_repeated_text_is_highlighted_separately(browser: Browser, tmp_path: Path) -> None:
    html = "<main>" + "<section><h2>Same</h2><p>The same words.</p></section>" * 30 + "</main>"
    document = spanwise.read_text(html, format="html")
    options: dict[str, Any] = {"min_tokens": 0, "target_tokens": 16, "max_tokens": 16}
    with visited(browser, html_of(document, source=html, **options), tmp_path) as page:
        rendered(page)
        painted = page.evaluate(PAINTED)
        positions = sorted(item["y"] for name in painted for item in painted[name] if name[0] == "k")
        tops = page.frames[1].locator("p").evaluate_all("(all) => all.map((each) => each.getBoundingClientRect().top)")
        assert len(positions) == 30
        assert all(abs(position - top) < 8 for position, top in zip(positions, tops, strict=True))


def test_marks_stand_beside_what_they_name_also_after_a_resize(browser: Browser, tmp_path: Path) -> None:
    document = spanwise.read_text(MIXED, format="html")
    with visited(browser, html_of(document, source=MIXED, **SMALL), tmp_path) as page:
        rendered(page)
        for width in (1280, 800):
            page.set_viewport_size({"width": width, "height": 900})
            page.evaluate(SETTLED)
            for index in (0, 3, 7):
                page.evaluate(LIT, index)
                painted = page.evaluate(PAINTED)
                first = min(item["y"] for name in painted for item in painted[name] if name.startswith("current"))
                frame, mark = (
                    page.locator("iframe").bounding_box(),
                    page.locator(f".mark >> nth={index}").bounding_box(),
                )
                assert frame is not None
                assert mark is not None
                assert mark["y"] == pytest.approx(frame["y"] + first, abs=2)


# ------------------------------------------------------------------------------------------------ pointing, keys, views


def test_pointing_at_the_page_shows_a_chunk_and_a_click_holds_it(browser: Browser, tmp_path: Path) -> None:
    document = spanwise.read_text(MIXED, format="html")
    with visited(browser, html_of(document, source=MIXED, **SMALL), tmp_path) as page:
        rendered(page)
        page.evaluate(LIT, 2)
        page.keyboard.press("Escape")
        spot = page.evaluate(PAINTED)["k2"][0]
        page.evaluate(
            "(y) => scrollTo(0, y + document.querySelector('iframe').getBoundingClientRect().top - 300)", spot["y"]
        )
        frame = page.locator("iframe").bounding_box()
        assert frame is not None
        point = frame["x"] + spot["x"] + 5, frame["y"] + spot["y"] + 5
        page.mouse.move(point[0], point[1] - 1)
        page.mouse.move(*point)
        assert current_chunk(page) == "#2"
        page.mouse.move(5, 5)
        assert page.locator("#details h2").count() == 0
        page.mouse.click(*point)
        page.mouse.move(5, 5)
        assert current_chunk(page) == "#2"
        assert page.locator(".mark.current").get_attribute("data-chunk") == "2"


def test_keys_bars_and_permalinks_lead_through_the_page(browser: Browser, tmp_path: Path) -> None:
    document = spanwise.read_text(MIXED, format="html")
    with visited(browser, html_of(document, source=MIXED, **SMALL), tmp_path) as page:
        rendered(page)
        walked = []
        for key in ("j", "j", "ArrowDown", "k", "Tab"):
            page.keyboard.press(key)
            walked.append(current_chunk(page))
            box = page.locator(".mark.current").bounding_box()
            assert box is not None
            assert 0 <= box["y"] < 720
        assert walked == ["#0", "#1", "#2", "#1", "#2"]
        page.locator(".plot a").nth(4).click()
        assert current_chunk(page) == "#4"
        page.goto(f"{page.url.partition('#')[0]}#chunk-6")
        page.reload()
        rendered(page)
        assert current_chunk(page) == "#6"


def test_views_can_be_switched(browser: Browser, tmp_path: Path) -> None:
    document = spanwise.read_text(MIXED, format="html")
    with visited(browser, html_of(document, source=MIXED, **SMALL), tmp_path) as page:
        rendered(page)
        assert not page.locator(".text").is_visible()
        page.locator(".mark .label").nth(3).click()
        page.get_by_role("button", name="As text").click()
        assert not page.locator("iframe").is_visible()
        assert page.locator("#chunk-3 .label").is_visible()
        assert current_chunk(page) == "#3"
        page.keyboard.press("j")
        assert page.evaluate("document.activeElement.closest('.core').id") == "chunk-4"
        page.get_by_role("button", name="As it looks").click()
        assert page.locator(".mark.current").get_attribute("data-chunk") == "4"
        assert page.locator("iframe").is_visible()


def test_without_scripts_and_on_paper_there_is_the_text(browser: Browser, tmp_path: Path) -> None:
    html = html_of(spanwise.read_text(MIXED, format="html"), source=MIXED, **SMALL)
    with visited(browser, html, tmp_path, java_script_enabled=False) as page:
        assert page.locator(".text").is_visible()
        assert not page.locator("iframe").is_visible()
        assert not page.locator(".views").is_visible()
    with visited(browser, html, tmp_path) as page:
        rendered(page).emulate_media(media="print")
        assert page.locator(".text").is_visible()
        assert not page.locator("iframe").is_visible()


@pytest.mark.parametrize("width", [320, 800])
def test_a_wide_page_is_scaled_down(width: int, browser: Browser, tmp_path: Path) -> None:
    html = '<main><div style="width: 1500px"><p>Words that stand here.</p></div></main>'
    document = spanwise.read_text(html, format="html")
    with visited(browser, html_of(document, source=html), tmp_path, viewport={"width": width, "height": 700}) as page:
        rendered(page)
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        box = page.locator("iframe").bounding_box()
        assert box is not None
        assert box["width"] < width
        assert page.evaluate("document.querySelector('iframe').offsetWidth") > box["width"] * 1.5


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_around_the_page_has_enough_contrast(scheme: Any, browser: Browser, tmp_path: Path) -> None:
    html = html_of(spanwise.read_text(MIXED, format="html"), source=MIXED, **SMALL)
    with visited(browser, html, tmp_path, color_scheme=scheme) as page:
        rendered(page)
        page.evaluate(LIT, 1)
        assert page.evaluate(CONTRAST) == []


# --------------------------------------------------------------------------------------------------- what was left out


def test_what_the_reader_left_out_is_pale(browser: Browser, tmp_path: Path) -> None:
    html = MIXED.replace("<main>", "Loose words outside. <div>and more</div><main>")
    document = spanwise.read_text(html, format="html")
    with visited(browser, html_of(document, source=html, **SMALL), tmp_path) as page:
        rendered(page)
        frame = page.frames[1]
        pale = "(each) => { let all = 1; for (; each; each = each.parentElement) all *= getComputedStyle(each).opacity;"
        assert frame.locator("nav").evaluate(f"{pale} return all; }}") == pytest.approx(0.3)
        assert frame.locator("footer").evaluate(f"{pale} return all; }}") == pytest.approx(0.3)
        assert frame.locator("main p").first.evaluate(f"{pale} return all; }}") == 1
        assert "Loose words" in page.evaluate(PAINTED)["left-out"][0]["words"]


def test_a_chunk_that_the_page_hides_is_named_all_the_same(browser: Browser, tmp_path: Path) -> None:
    inner = "<p>Seen words.</p><div class=tab><h2>T</h2><p>Unseen words.</p></div>"
    html = f"<style>.tab {{ display: none }}</style><main>{inner}</main>"
    document = spanwise.read_text(html, format="html")
    options: dict[str, Any] = {"min_tokens": 0, "target_tokens": 16, "max_tokens": 16}
    with visited(browser, html_of(document, source=html, **options), tmp_path) as page:
        rendered(page)
        assert page.locator(".mark.unseen").count() == 1
        assert page.locator(".looks .note").inner_text().startswith("1 chunk is not to be seen on the page")
        page.keyboard.press("k")
        assert current_chunk(page) == "#1"


# ------------------------------------------------------------------------------------------------------ hostile pages


def test_a_hostile_page_can_do_nothing(browser: Browser, tmp_path: Path) -> None:
    """`visited` asserts that there are no requests and no console messages."""
    document = spanwise.read_text(HOSTILE, format="html", keep_all=True)
    with visited(browser, html_of(document, source=HOSTILE), tmp_path) as page:
        address = page.url
        rendered(page)
        page.wait_for_timeout(300)
        assert page.evaluate("window.hit") is None
        assert page.url == address
        assert len(page.frames) == 2
        frame = page.frames[1]
        assert frame.url == "about:srcdoc"
        acting = (
            "script, iframe, object, embed, link, meta, base, video, animate, [action], [formaction], [name], [target]"
        )
        assert frame.locator(acting).count() == 0
        attributes = frame.evaluate(
            "[...document.querySelectorAll('*')].flatMap((each) =>"
            " [...each.attributes].map(({ name, value }) => [name, value]))"
        )
        assert attributes
        assert not [name for name, _ in attributes if name.lower().startswith("on")]
        assert {value for name, value in attributes if "href" in name} == {"#"}
        assert not [value for _, value in attributes if "evil" in value or "script:" in value]
        text = (frame.locator("p", has_text="Words before").text_content() or "").replace("\n", " ")
        assert text == (
            'Words before </script><script>parent.hit=1</script> </iframe> "><img src=x onerror=parent.hit=1> after.'
        )
        records = records_of(document)
        assert [letters(page.evaluate(LIT, index)) for index in range(len(records))] == [
            visible_letters(document, record) for record in records
        ]


def test_a_page_stays_inside_its_frame(browser: Browser, tmp_path: Path) -> None:
    document = spanwise.read_text(HOSTILE, format="html", keep_all=True)
    with visited(browser, html_of(document, source=HOSTILE), tmp_path) as page:
        rendered(page)
        page.evaluate("scrollTo(0, 0)")
        assert page.evaluate("document.elementFromPoint(60, 50).closest('header') !== null")
        page.get_by_role("button", name="As text").click()
        assert page.locator(".text").is_visible()
        box = page.locator("#details").bounding_box()
        assert box is not None
        assert page.evaluate("document.documentElement.scrollWidth") <= 1280


def test_nothing_in_the_page_can_be_clicked_or_typed_into(browser: Browser, tmp_path: Path) -> None:
    html = '<main><p><a href="https://example.org/">A link of some words.</a></p><input value="typed"></main>'
    document = spanwise.read_text(html, format="html")
    with visited(browser, html_of(document, source=html), tmp_path) as page:
        rendered(page)
        box = page.locator("iframe").bounding_box()
        assert box is not None
        page.mouse.click(box["x"] + 40, box["y"] + 30)
        for _ in range(12):
            page.keyboard.press("Tab")
            assert page.evaluate("document.activeElement.tagName") != "IFRAME"
        assert page.frames[1].url == "about:srcdoc"


def test_sandbox_and_policy_stop_injected_content(browser: Browser, tmp_path: Path) -> None:
    """What no page can contain is inserted by hand: the other defences hold without the first one."""
    html = "<main><p>Words.</p></main>"
    (tmp_path / "page.html").write_text(html_of(spanwise.read_text(html, format="html"), source=html))
    with browser.new_context() as context:
        page = context.new_page()
        refused: list[str | None] = []
        page.on("requestfailed", lambda request: refused.append(request.failure))
        page.goto((tmp_path / "page.html").as_uri())
        rendered(page)
        page.evaluate("""() => {
          const inner = document.querySelector("iframe").contentDocument;
          const script = inner.createElement("script");
          script.textContent = "parent.hit = 1";
          inner.body.append(script);
          inner.body.insertAdjacentHTML("beforeend", `<img src=x onerror="parent.hit = 1">
            <a id=go href="javascript:parent.hit=1">x</a>
            <img src="https://evil.example/p.png"><iframe src="https://evil.example/"></iframe>
            <form action="https://evil.example/"></form><link rel=stylesheet href="https://evil.example/s.css">
            <meta http-equiv=refresh content="0;url=https://evil.example/">
            <div style="background: url(https://evil.example/b.png)">x</div>`);
          inner.querySelector("#go").click();
          inner.querySelector("form").submit();
        }""")
        page.wait_for_timeout(500)
        assert page.evaluate("window.hit") is None
        assert set(refused) == {"csp"}  # by the policy, not because no server answers


# ------------------------------------------------------------------------------------------------- files of all kinds


def exported(**bodies: str) -> str:
    body = {name: {"value": value, "representation": name} for name, value in bodies.items()}
    return json.dumps({"id": "7", "type": "page", "title": "Travel", "body": body})


def test_an_export_is_shown_by_its_rendered_body(
    browser: Browser, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    files(tmp_path, {"both.json": exported(storage=STORED, view=RENDERED), "stored.json": exported(storage=STORED),
                     "rates.html": RENDERED})  # fmt: skip
    for name in ("both.json", "stored.json", "rates.html"):
        assert main(["inspect", name, "-q"]) == 0
    assert main(["inspect", "rates.html", "-q", "--no-pictures", "--html", "plain.html"]) == 0
    assert "<iframe" not in (tmp_path / "stored.json.chunks.html").read_text("utf-8")
    assert "<iframe" not in (tmp_path / "plain.html").read_text("utf-8")
    for name in ("both.json", "rates.html"):
        with visited(browser, (tmp_path / f"{name}.chunks.html").read_text("utf-8"), tmp_path) as page:
            rendered(page)
            assert "Keepreceipts." in letters(page.evaluate(LIT, 0))


@pytest.mark.parametrize(
    "html", ["<p>", "<frameset><frame src=x></frameset>", "<main>\n</main>", "<p>x" + "<div>" * 900 + "deep</p>"]
)
def test_odd_pages_are_shown_too(html: str, browser: Browser, tmp_path: Path) -> None:
    document = spanwise.read_text(html, format="html")
    with visited(browser, html_of(document, source=html), tmp_path) as page:
        rendered(page)
        for record in records_of(document):
            assert letters(page.evaluate(LIT, record["chunk_index"])) == visible_letters(document, record)
