"""HTML to Markdown: the result of every element, what is left out, and the source element of every block."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import sync_playwright
from selectolax.lexbor import LexborHTMLParser

import spanwise
from browsing import launched
from growth import assert_linear
from proposing import offline
from spanwise import Document, OptionError, Part, UnreadableError
from spanwise.chunking.strategies import STRATEGIES
from spanwise.testing.document_laws import assert_document
from spanwise.testing.laws import broken_laws
from spanwise.text.tokens import tokenizer_of

PAGE = """<!DOCTYPE html>
<html lang="de"><head><meta charset="utf-8"><title>Reisekosten – Handbuch</title>
<meta name="author" content="Team Personal"><meta property="article:modified_time" content="2026-01-28T10:00:00Z">
<link rel="canonical" href="https://example.org/reisekosten"></head>
<body><a class="skip-link" href="#main">Zum Inhalt</a>
<header><a href="/">Startseite</a></header><nav><ul><li><a href="/a">A</a></li></ul></nav>
<div class="cookie-banner">Wir verwenden Cookies. <button>OK</button></div>
<div id="breadcrumbs" class="breadcrumb"><a href="/">Start</a> › Reisen</div>
<main><h1>Reisekosten <a class="headerlink" href="#r">¶</a></h1>
<p>Reisen bucht <b>jede</b> Abteilung im <a href="https://example.org/portal">Portal</a>.<script>track()</script></p>
<ul><li>Hotels<ul><li>bis 160&nbsp;€</li><li>mit Beleg</li></ul></li><li>Züge</li></ul>
<table><caption>Sätze</caption><tr><th>Stadt</th><th>Satz</th></tr><tr><td>Łódź</td><td>38</td></tr>
<tr><td>Москва</td><td>41</td></tr></table>
<pre><code class="language-python">x = 1
if x:
    print("|")</code></pre>
<blockquote><p>Sparsam reisen.</p><p>Immer.</p></blockquote>
<figure><img src="karte.png" alt="Karte"><figcaption>Abb. 1: Karte &amp; Weg</figcaption></figure>
<details><summary>Mehr</summary><p>Noch mehr Text.</p></details><hr>
<dl><dt>Beleg</dt><dd>Rechnung oder Quittung</dd></dl>
<aside>北京的酒店很贵。</aside><p hidden>geheim</p><div style="display: none">weg</div>
</main><footer>Impressum</footer><script>end()</script></body></html>"""


def read(html: str, **more: Any) -> Document:
    document = spanwise.read_text(html, format="html", **more)
    assert_document(document)
    return document


def kinds(document: Document) -> list[tuple[str, str]]:
    return [(block.kind, document.text[block.start : block.end]) for block in document.blocks]


def locations(document: Document) -> Iterator[tuple[str, dict[str, Any]]]:
    """Return every block and part with its source location."""

    def parts(inner: tuple[Part, ...]) -> Iterator[tuple[str, dict[str, Any]]]:
        for part in inner:
            yield document.text[part.start : part.end], dict(part.source_ref or {})
            yield from parts(part.parts)

    for block in document.blocks:
        yield document.text[block.start : block.end], dict(block.source_ref or {})
        yield from parts(block.parts)


# ── a page ───────────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_whole_page() -> None:
    document = read(PAGE)
    assert kinds(document) == [
        ("heading", "# Reisekosten"),
        ("paragraph", "Reisen bucht **jede** Abteilung im [Portal](https://example.org/portal)."),
        ("list", "- Hotels\n  - bis 160 €\n  - mit Beleg\n- Züge"),
        ("paragraph", "Sätze"),
        ("table", "| Stadt | Satz |\n|---|---|\n| Łódź | 38 |\n| Москва | 41 |"),
        ("code", '```python\nx = 1\nif x:\n    print("|")\n```'),
        ("quote", "> Sparsam reisen.\n>\n> Immer."),
        (
            "figure",
            '<figure><img src="karte.png" alt="Karte"><figcaption>Abb. 1: Karte &amp; Weg</figcaption></figure>',
        ),
        ("paragraph", "**Mehr**"),
        ("paragraph", "Noch mehr Text."),
        ("rule", "---"),
        ("list", "- **Beleg**  \n  Rechnung oder Quittung"),
        ("paragraph", "北京的酒店很贵。"),
    ]
    assert {block.headings_path for block in document.blocks} == {("Reisekosten",)}


def test_metadata_of_a_page() -> None:
    metadata = read(PAGE).metadata
    assert (metadata.title, metadata.author, metadata.language) == ("Reisekosten – Handbuch", "Team Personal", "de")
    assert (metadata.source_url, metadata.updated_at) == ("https://example.org/reisekosten", "2026-01-28T10:00:00Z")
    assert read(PAGE, source_url="https://other.example").metadata.source_url == "https://other.example"


def test_links_have_their_offset() -> None:
    document = read(PAGE)
    assert [link.target for link in document.metadata.links] == ["https://example.org/portal"]
    assert document.text[document.link_starts[0] :].startswith("[Portal](")


def test_what_is_left_out_is_listed() -> None:
    left = {(item.reason, item.text) for item in read(PAGE).left_out}
    assert left >= {
        ("skip link", "Zum Inhalt"), ("header", "Startseite"), ("navigation", "A"), ("footer", "Impressum"),
        ("cookie banner", "Wir verwenden Cookies. OK"), ("breadcrumbs", "Start › Reisen"), ("edit link", "¶"),
        ("script", "track()"), ("script", "end()"), ("hidden", "geheim"), ("hidden", "weg"),
    }  # fmt: skip
    assert all(item.usual and item.source_ref for item in read(PAGE).left_out)


def test_everything_is_kept_on_request() -> None:
    text = read(PAGE, keep_all=True).text
    assert all(part in text for part in ("Zum Inhalt", "Startseite", "Wir verwenden Cookies", "Impressum", "geheim"))
    assert "track()" not in text


def test_parts_are_rows_and_nested_items() -> None:
    document = read(PAGE)
    listed, table = document.blocks[2], document.blocks[4]
    texts = [document.text[part.start : part.end] for part in listed.parts]
    assert texts == ["- Hotels\n  - bis 160 €\n  - mit Beleg", "- Züge"]
    assert [document.text[part.start : part.end] for part in listed.parts[0].parts] == ["- bis 160 €", "- mit Beleg"]
    assert [part.header for part in table.parts] == [True, False, False]


# ── elements ─────────────────────────────────────────────────────────────────────────────────────────────────────

ELEMENTS = {
    "<p>Zażółć<br>gęślą <i>jaźń</i></p>": "Zażółć  \ngęślą *jaźń*",
    "<p>one<br><br>two</p>": "one\n\ntwo",
    "<p>a<b> bold </b>b</p>": "a **bold** b",
    "<p><b>a</b><b>b</b></p>": "**ab**",
    "<p><b><b>a</b></b></p>": "**a**",
    "<p><em></em>x</p>": "x",
    "<p>x<sub>2</sub> &lt;b&gt; &amp;amp; &copy;</p>": "x2 \\<b> \\&amp; ©",
    "<p>a&nbsp;b\u200bc\u00add</p>": "a bcd",
    "<p><code>a`b</code> <kbd>Strg</kbd></p>": "`` a`b `` `Strg`",
    "<p><code><a href='x'>f()</a>.g</code></p>": "[`f()`](x)`.g`",
    "<p><del>alt</del> <q>neu</q></p>": '~~alt~~ "neu"',
    "<p>Hi!<a href='x y'>du</a></p>": "Hi\\![du](<x y>)",
    "<p><a href='javascript:x()'>tun</a> <a>da</a></p>": "tun da",
    "<p><a href='/w_(x)'>w</a></p>": "[w](/w_(x))",
    "<p># kein Titel</p>": "\\# kein Titel",
    "<p>1. kein Punkt</p>": "1\\. kein Punkt",
    "<p>- kein Strich</p>": "\\- kein Strich",
    "<p>a * b_c _d_ *e*</p>": "a * b_c \\_d\\_ \\*e\\*",
    "<h2>C <code>#</code></h2>": "## C `#`",
    "<h2>F #</h2>": "## F \\#",
    "<h3><a href='#a'>#</a>Раздел</h3>": "### Раздел",
    "<h1></h1><p>x</p>": "x",
    "<ol start=3><li>a<li>b</ol>": "3. a\n4. b",
    "<ul><li><p>a</p><p>b</p></li></ul>": "- a\n\n  b",
    "<ul><li>a</li></ul><ul><li>b</li></ul>": "- a\n\n* b",
    "<ul><li><input type=checkbox checked> done<li><input type=checkbox> open</ul>": "- [x] done\n- [ ] open",
    "<li>a<li>b": "- a\n- b",
    "<ul><li>a<pre>x\ny</pre></ul>": "- a\n\n  ```\n  x\n  y\n  ```",
    "<blockquote>a<ul><li>b</ul></blockquote>": "> a\n> - b",
    "<div>lose<p>fest</p>wieder lose</div>": "lose\n\nfest\n\nwieder lose",
    "<p><b>a<div>b</div>c</b></p>": "**a**\n\n**b**\n\n**c**",
    "<a href='u'><div>a</div><div>b</div></a>": "[a](u)\n\n[b](u)",
    "<pre>\n\n  a\n\tb\n</pre>": "```\n  a\n\tb\n```",
    "<pre>a<br>b</pre>": "```\na\nb\n```",
    "<pre>```\nx</pre>": "````\n```\nx\n````",
    "<div class='highlight-rust'><pre>let x;</pre></div>": "```rust\nlet x;\n```",
    "<img src=a.png alt='Bild'>": "![Bild](a.png)",
    "<img src='data:image/png;base64,AA' alt=''>": "",
    "<figure><table><tr><th>a</table><figcaption>c</figcaption></figure>": "| a |\n|---|\n\nc",
    "<ruby>漢<rp>(</rp><rt>かん</rt><rp>)</rp></ruby>": "漢(かん)",
    "<svg><title>t</title><text>Łódź</text></svg>": "Łódź",
    "<dl><dt>a<dt>b<dd>c<dd><ul><li>d</ul></dl>": "- **a**\n- **b**  \n  c\n  - d",
    "<div class='admonition tip'><p class='admonition-title'>Совет</p><p>Да.</p></div>": "> [!tip] Совет\n> Да.",
    "<p>x</p><!-- no --><style>p{}</style><template>t</template>": "x",
    "<h2>a<table><tr><th>b<td></table></h2>": "## a b",
    "": "",
}  # fmt: skip


@pytest.mark.parametrize("html", ELEMENTS)
def test_elements(html: str) -> None:
    assert read(html).text == ELEMENTS[html]


TABLES = {
    "<tr><td>a<td>b<tr><td>c<td>d": "|  |  |\n|---|---|\n| a | b |\n| c | d |",
    "<thead><tr><th>a<th>b</thead><tr><td>c<td>d": "| a | b |\n|---|---|\n| c | d |",
    "<tr><td><b>a</b><td><b>b</b><tr><td>c<td>d": "| **a** | **b** |\n|---|---|\n| c | d |",
    "<tr><th colspan=2>a<th rowspan=2>z<tr><th>b<th>c<tr><td>1<td>2<td>3":
        "| a |  | z |\n|---|---|---|\n| b | c |  |\n| 1 | 2 | 3 |",
    "<tr><th>a<th>b<tr><td rowspan=2>x<td>1<tr><td>2": "| a | b |\n|---|---|\n| x | 1 |\n|  | 2 |",
    "<tr><th>a<th>b<tr><td><p>x<p>y<td><ul><li>1<li>2</ul>": "| a | b |\n|---|---|\n| x <br> y | - 1 <br> - 2 |",
    "<tr><th>a|b<tr><td><code>c|d</code>": "| a\\|b |\n|---|\n| `c\\|d` |",
    "<tr><th>a<tr><td><pre>x\ny</pre>": "| a |\n|---|\n| `x` <br> `y` |",
    "<tr><th>a<tr><td><table><tr><th>b<tr><td>c</table>": "| a |\n|---|\n| b <br> c |",
    "<tr><td><h2>Layout</h2><td>Spalte": "## Layout\n\nSpalte",
    "<tr><td>nur<tr><td>Zeilen": "nur\n\nZeilen",
}  # fmt: skip


@pytest.mark.parametrize("rows", TABLES)
def test_tables(rows: str) -> None:
    assert read(f"<table>{rows}</table>").text == TABLES[rows]


def test_rows_of_a_head_are_one_part() -> None:
    document = read("<table><tr><th colspan=2>a<tr><th>b<th>c<tr><td>1<td>2</table>")
    head, row = document.blocks[0].parts
    assert document.text[head.start : head.end] == "| a |  |\n|---|---|\n| b | c |"
    assert (head.header, row.header) == (True, False)


@pytest.mark.parametrize("html", [*ELEMENTS, PAGE])
def test_the_markdown_is_read_as_the_same_blocks(html: str) -> None:
    document = read(html)
    again = spanwise.read_text(document.text)
    assert kinds(again) == kinds(document)
    assert [link.target for link in again.metadata.links] == [link.target for link in document.metadata.links]


# ── the main content ─────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    "body",
    [
        "<div>menu <a href=a>a</a></div><main><p>Text.</p></main><div>after</div>",
        "<div><a href=a>menu</a></div><div role=main><p>Text.</p></div>",
        "<div><a href=a>menu</a></div><div id=main-content class=wiki-content><p>Text.</p></div>",
        "<header>x</header><article><p>Text.</p></article><footer>y</footer>",
        "<div><div><a href=a>menu</a> <a href=b>more</a></div><div><p>Text.</p></div></div>",
        "<nav>a</nav><p>Text.</p><div class='share-buttons'>teilen</div>",
    ],
)
def test_the_main_content_is_found(body: str) -> None:
    document = read(f"<body>{body}</body>")
    assert document.text == "Text."
    assert document.left_out


@pytest.mark.parametrize(
    "body",
    ["<h1>Titel</h1><div><p>Text.</p></div>", "<p>Intro.</p><article><p>Text.</p></article><p>Outro.</p>",
     "<main></main><p>Text.</p>", "<div class='cookie-consent-page'><main><p>Text.</p></main></div>"],
)  # fmt: skip
def test_content_outside_is_not_lost(body: str) -> None:
    assert "Text." in read(f"<body>{body}</body>").text
    assert "Titel" not in body or "Titel" in read(f"<body>{body}</body>").text
    assert "Intro" not in body or "Intro." in read(f"<body>{body}</body>").text


# ── places ───────────────────────────────────────────────────────────────────────────────────────────────────────


def test_paths_are_those_of_the_tree_that_browsers_build() -> None:
    document = read("<table><tr><td>a<td>b</table><p>x<p>y<div>z</div>")
    assert [block.source_ref for block in document.blocks] == [
        {"xpath": "/html/body/table[1]", "css_selector": "body > table:nth-of-type(1)", "text_offset": 0},
        {"xpath": "/html/body/p[1]", "css_selector": "body > p:nth-of-type(1)", "text_offset": 2},
        {"xpath": "/html/body/p[2]", "css_selector": "body > p:nth-of-type(2)", "text_offset": 3},
        {"xpath": "/html/body/div[1]", "css_selector": "body > div:nth-of-type(1)", "text_offset": 4},
    ]
    row = document.blocks[0].parts[1].source_ref
    assert row is not None
    assert row["xpath"] == "/html/body/table[1]/tbody[1]/tr[1]"


@pytest.mark.parametrize("html", [PAGE, *ELEMENTS, "<ix:a><p>x</p></ix:a><st1:b.c><p>y</p></st1:b.c>"])
@pytest.mark.parametrize("keep_all", [False, True])
def test_selectors_find_the_element_again(html: str, keep_all: bool) -> None:
    tree, document = LexborHTMLParser(html), read(html, keep_all=keep_all)
    text = tree.body.text() if tree.body else ""
    for content, location in locations(document):
        (found,) = tree.css(location["css_selector"])
        own = found.text()
        assert own in text
        assert content
        if own.strip() and text.count(own) == 1:
            assert text.index(own) <= location["text_offset"] < text.index(own) + len(own)


@pytest.mark.browser
def test_a_browser_finds_the_same_elements() -> None:
    with sync_playwright() as playwright, launched(playwright) as browser:
        page = browser.new_context(java_script_enabled=True, offline=True).new_page()
        for html in (PAGE, *ELEMENTS, "<ix:a><p>x</p></ix:a>", "<table><tr><td>a<table><td>b", "<p><b>a<p>b</b><li>c"):
            page.set_content(html)
            for _, location in locations(read(html, keep_all=True)):
                found = page.evaluate(
                    """([xpath, css]) => {
                        const ways = document.evaluate(xpath, document, null, 7, null);
                        const chosen = document.querySelectorAll(css);
                        return ways.snapshotLength === 1 && chosen.length === 1 && ways.snapshotItem(0) === chosen[0];
                    }""",
                    [location["xpath"], location["css_selector"]],
                )
                assert found, (html, location)


def test_chunks_lead_back_to_the_page() -> None:
    document = read(PAGE)
    record = spanwise.chunk(document, "structure")[0].to_dict()
    assert record["navigation"]["xpath_start"] == "/html/body/main[1]/p[1]"
    assert record["navigation"]["url"].startswith("https://example.org/reisekosten#:~:text=Reisen%20bucht%20jede")


# ── files, laws, harm ────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("name", ["a.html", "a.HTM", "a.xhtml"])
def test_files(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    path.write_bytes('<meta charset="iso-8859-2"><p>Zażółć</p>'.encode("iso-8859-2"))
    document = spanwise.read(path)
    assert (document.text, document.metadata.source_type) == ("Zażółć", "html")


def test_two_files_of_one_address_have_two_ids(tmp_path: Path) -> None:
    for name in ("a.html", "b.html"):
        (tmp_path / name).write_text(PAGE, encoding="utf-8")
    ids = {spanwise.read(tmp_path / name).document_id for name in ("a.html", "b.html")}
    assert len(ids) == 2


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_laws(strategy: Any) -> None:
    document = read(PAGE * 3)
    records = [chunk.to_dict() for chunk in spanwise.chunk(document, strategy, max_tokens=60, **offline(strategy))]
    assert broken_laws(document, records, tokenizer_of("cl100k"), 60) == []


def test_a_page_that_is_only_a_menu_is_read_whole() -> None:
    menu = "<ul><li>A<ul role=menu><li>B</li></ul></li></ul>"
    assert read(menu).text == "- A\n  - B"
    assert read(f"<p>x</p>{menu}").text == "x\n\n- A"


def test_scripts_in_code_are_no_code() -> None:
    assert read("<pre>a<script>b</script> c</pre>").text == "```\na c\n```"


def test_a_quotation_keeps_its_caption() -> None:
    assert read("<blockquote><p>a</p><figcaption>b</figcaption></blockquote>").text == "> a\n>\n> b"


def test_boxes_of_an_article_are_kept() -> None:
    html = "<main><p>x</p><div role=navigation class='navbox'>y</div><div role=navigation>z</div></main>"
    assert read(html).text == "x\n\ny"


def test_the_document_has_all_visible_text() -> None:
    runs = read(PAGE).visible
    texts = [run.text for run in runs]
    assert texts[:5] == ["Zum Inhalt", "Startseite", "A", "Wir verwenden Cookies.", "OK"]
    assert "Impressum" in texts
    assert not {"track()", "geheim", "weg"} & set(texts)
    text = LexborHTMLParser(PAGE).body.text()  # type: ignore[union-attr]
    assert all(text[run.offset :].startswith(run.text.split()[0]) for run in runs)


def test_a_link_does_not_search_across_a_script() -> None:
    page = "<main><p>Read on<script>x()</script> and see.</p><p>A wo<script>x()</script>rd.</p></main>"
    assert [run.text for run in read(page).visible] == ["Read on", "and see.", "A word."]


@pytest.mark.timeout(30)
@pytest.mark.parametrize("tag", ["div", "b", "ul><li", "blockquote", "table><tr><td", "span", "svg><g"])
def test_deep_nesting_is_refused_quickly(tag: str) -> None:
    with pytest.raises(UnreadableError, match=r"(?s)deep.*hint: "):
        spanwise.read_text(f"<{tag}>" * 100_000 + "x", format="html")  # the parser would take minutes


@pytest.mark.parametrize("tag", ["div", "b", "ul><li", "blockquote", "table><tr><td", "span", "dl><dd", "section"])
def test_moderate_nesting_is_read(tag: str) -> None:
    assert "x" in read(f"<{tag}>" * 900 + "x").text


@pytest.mark.parametrize(
    "around", ["{}<main><p>Text.</p></main>", "<main>{}<p>Text.</p></main>", "<div>{}</div><p>Text."]
)
def test_instructions_of_programs_are_no_elements(around: str) -> None:
    """A page may hold what a server didn't process; its node has no name."""
    page = f"<body><nav>Home</nav>{around.format('<?php echo 1 ?>')}"
    assert spanwise.read_text(page, format="html").text == "Text."


def test_countless_attributes_are_refused() -> None:
    with pytest.raises(UnreadableError, match=r"(?s)attributes.*hint: "):
        spanwise.read_text("<p " + " ".join(f"a{i}=1" for i in range(100_000)) + ">x", format="html")


LARGE = ("<p>", "wort "), ("<p>", "<a href=x>y</a> "), ("<p>", "x<br>"), ("", "<"), ("<ul>", "<li>x"), ("<p>", "[*")


@pytest.mark.parametrize(("start", "unit"), [case for case in LARGE if case[1] not in {"wort ", "<", "[*"}])  # in C
def test_reading_grows_with_the_page(start: str, unit: str) -> None:
    assert_linear(lambda times: spanwise.read_text(start + unit * times, "html"), 400)


@pytest.mark.slow
@pytest.mark.timeout(30)
@pytest.mark.parametrize(("start", "unit"), LARGE)
def test_large_pages_are_read(start: str, unit: str) -> None:
    spanwise.read_text(start + unit * (500_000 // len(unit)), "html")


@pytest.mark.timeout(30)
def test_cells_over_many_rows_end_with_their_table() -> None:
    assert read("<table>" + "<tr><td colspan=1000 rowspan=60000>x<td>y" * 1000).text.count("\n") == 1001


def test_pages_are_read_only_as_text_or_markdown() -> None:
    with pytest.raises(OptionError):
        spanwise.read_pages(["<p>x"], format="html")
