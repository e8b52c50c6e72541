"""Confluence pages: macros and elements of the storage format, the REST API's JSON, and rendered pages."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from selectolax.lexbor import LexborHTMLParser

import spanwise
from proposing import offline
from spanwise import Block, Document, Part, UnreadableError
from spanwise.chunking.strategies import STRATEGIES
from spanwise.readers.confluence.handlers import HANDLERS
from spanwise.testing.document_laws import assert_document
from spanwise.testing.laws import broken_laws
from spanwise.text.tokens import tokenizer_of


def read(text: str, **more: Any) -> Document:
    document = spanwise.read_text(text, format="confluence", **more)
    assert_document(document)
    return document


def macro(kind: str, body: str = "", **parameters: str) -> str:
    fields = "".join(f'<ac:parameter ac:name="{key}">{value}</ac:parameter>' for key, value in parameters.items())
    return f'<ac:structured-macro ac:name="{kind}" ac:schema-version="1">{fields}{body}</ac:structured-macro>'


def rich(body: str) -> str:
    return f"<ac:rich-text-body>{body}</ac:rich-text-body>"


def plain(body: str) -> str:
    return f"<ac:plain-text-body><![CDATA[{body}]]></ac:plain-text-body>"


PAGE = '<ri:page ri:content-title="Урлоп &amp; Urlaub" ri:space-key="HR" />'
ELEMENTS = {
    macro("code", plain("if (a < b && c) {\n    x();\n}"), language="java"):
        "```java\nif (a < b && c) {\n    x();\n}\n```",
    macro("code", plain("x"), language="none", title="Listing 1"): "**Listing 1**\n\n```\nx\n```",
    macro("noformat", plain("  a\n b")): "```\n  a\n b\n```",
    macro("info", rich("<p>Пишите <strong>ясно</strong>.</p>")): "> [!info]\n> Пишите **ясно**.",
    macro("warning", rich("<p>a</p><ul><li>b</li></ul>"), title="Uwaga!"): "> [!warning] Uwaga!\n> a\n> - b",
    macro("note", rich("<p>x</p>")) + macro("tip", rich("<p>y</p>")): "> [!note]\n> x\n\n> [!tip]\n> y",
    macro("panel", rich("<p>x</p>"), title="提示", borderColor="#ccc"): "> [!panel] 提示\n> x",
    macro("expand", rich("<p>innen</p>"), title="Mehr"): "**Mehr**\n\ninnen",
    f"<p>Stan: {macro('status', title='W TOKU', colour='Green')} teraz</p>": "Stan: W TOKU teraz",
    macro("toc") + "<p>x</p>": "x",
    f"<p>{macro('anchor', **{'': 'hier'})}x</p>": "x",
    f"<p>siehe {macro('jira', key='HR-7', server='J')}</p>": "siehe HR-7",
    macro("include", **{"": f"<ac:link>{PAGE}</ac:link>"}): "[include: Урлоп & Urlaub](<HR:Урлоп & Urlaub>)",
    macro("excerpt", rich("<p>Auszug</p>")): "Auszug",
    macro("section", rich(macro("column", rich("<p>a</p>")) + macro("column", rich("<p>b</p>")))): "a\n\nb",
    macro("odd-thing", rich("<p>bleibt</p>"), colour="red"): "bleibt",
    macro("odd-thing", plain("bleibt")): "```\nbleibt\n```",
    f"<p>{macro('odd-thing', name='Wykres')}</p>": "[odd-thing: Wykres]",
    "<ac:task-list><ac:task><ac:task-id>1</ac:task-id><ac:task-status>complete</ac:task-status>"
    "<ac:task-body>a</ac:task-body></ac:task><ac:task><ac:task-status>incomplete</ac:task-status><ac:task-body>b</ac:task-body></ac:task></ac:task-list>":
        "- [x] a\n- [ ] b",
    "<ac:layout><ac:layout-section ac:type='two_equal'><ac:layout-cell><h2>L</h2></ac:layout-cell><ac:layout-cell>"
    "<p>R</p></ac:layout-cell></ac:layout-section></ac:layout>": "## L\n\nR",
    f"<p><ac:link>{PAGE}</ac:link></p>": "[Урлоп & Urlaub](<HR:Урлоп & Urlaub>)",
    f"<p><ac:link ac:anchor='dni'>{PAGE}<ac:link-body><em>tutaj</em></ac:link-body></ac:link></p>":
        "[*tutaj*](<HR:Урлоп & Urlaub#dni>)",
    "<p><ac:link><ri:page ri:content-title='Plan' /><ac:plain-text-link-body><![CDATA[a < b]]>"
    "</ac:plain-text-link-body></ac:link></p>":
        "[a < b](Plan)",
    "<p><ac:link ac:anchor='unten' /></p>": "[unten](#unten)",
    "<p>Frag <ac:link><ri:user ri:username='ewa' /></ac:link></p>": "Frag [@ewa](user:ewa)",
    "<p><ac:link><ri:user ri:account-id='557:1' /><ac:link-body>@Ewa</ac:link-body></ac:link></p>":
        "[@Ewa](user:557:1)",
    "<p><ac:link><ri:attachment ri:filename='plan 2026.pdf' /></ac:link></p>": "[plan 2026.pdf](<plan 2026.pdf>)",
    "<p><ac:image ac:alt='Mapa'><ri:attachment ri:filename='m.png' /></ac:image></p>": "![Mapa](m.png)",
    "<ac:image><ri:url ri:value='https://e.org/a.png' /><ac:caption><p>Abb. 1</p></ac:caption></ac:image>":
        '<figure><img src="https://e.org/a.png"><figcaption>Abb. 1</figcaption></figure>',
    "<p><ac:emoticon ac:name='tick' /> gut <ac:emoticon ac:name='blue-star' ac:emoji-fallback='🎉' /></p>": "✅ gut 🎉",
    "<p>bis <time datetime='2026-03-01' /></p>": "bis 2026-03-01",
    "<p>a<ac:inline-comment-marker ac:ref='1'>b</ac:inline-comment-marker>c&nbsp;d &eacute; &amp; e</p>": "abc d é & e",
    "<p><ac:placeholder>hier schreiben</ac:placeholder>x</p>": "x",
    "<table><tbody><tr><th colspan='2'><p>a</p></th></tr><tr><th>b</th><th>c</th></tr>"
    "<tr><td>1</td><td>2</td></tr></tbody></table>":
        "| a |  |\n|---|---|\n| b | c |\n| 1 | 2 |",
    "<ac:adf-extension><ac:adf-node type='panel'><ac:adf-attribute key='panel-type'>note</ac:adf-attribute>"
    "<ac:adf-content><p>neu</p></ac:adf-content></ac:adf-node><ac:adf-fallback><p>neu</p></ac:adf-fallback></ac:adf-extension>":
        "> [!note]\n> neu",
    "<p>3 < 4 & 5</p>": "3 < 4 & 5",
    "<pre>a\n b</pre>": "```\na\n b\n```",
    "": "",
}  # fmt: skip


@pytest.mark.parametrize("storage", ELEMENTS)
def test_elements_and_macros(storage: str) -> None:
    assert read(storage).text == ELEMENTS[storage]


def test_unknown_macros_are_named() -> None:
    document = read(macro("odd-thing", rich("<p>x</p>"), colour="red") + macro("toc") + macro("children"))
    assert document.metadata.extra["macros"] == ["odd-thing"]
    assert [(item.reason, item.text) for item in document.left_out] == [
        ("unknown macro", "odd-thing: red"), ("table of contents", ""), ("macro children", ""),
    ]  # fmt: skip


def test_locations_in_storage_format() -> None:
    document = read("<h1>a</h1>" + macro("info", rich("<p>b</p>")) + "<ul><li>c</li></ul>")
    assert [dict(block.source_ref or {})["storage_xpath"] for block in document.blocks] == [
        "/h1[1]", "/ac:structured-macro[1]", "/ul[1]",
    ]  # fmt: skip


# ── the REST API ─────────────────────────────────────────────────────────────────────────────────────────────────

STORAGE = (
    "<h1>Zasady</h1><p>Urlop trwa <strong>26</strong> dni.</p>"
    + macro("info", rich("<p>Pytaj HR.</p>"))
    + (
        "<ul><li>raz</li><li>dwa</li></ul><table><tbody><tr><th>a</th><th>b</th></tr><tr><td>1</td><td>2</td></tr>"
        "</tbody></table><p>raz</p>"
    )
)
VIEW = (
    '<h1 id="Zasady">Zasady</h1><p>Urlop trwa <strong>26</strong> dni.</p><div class="confluence-information-macro '
    'confluence-information-macro-information"><div class="confluence-information-macro-body"><p>Pytaj HR.</p></div>'
    '</div><ul><li>raz</li><li>dwa</li></ul><div class="table-wrap"><table><tbody><tr><th>a</th><th>b</th>'
    "</tr><tr><td>1</td><td>2</td></tr></tbody></table></div><p>raz</p>"
)
EXPORT: dict[str, Any] = {
    "id": "12345", "type": "page", "title": "Urlopy", "space": {"key": "HR"},
    "version": {"number": 7, "when": "2026-01-28T10:00:00.000Z", "by": {"displayName": "Jan Kowalski"}},
    "history": {"createdDate": "2025-01-01T08:00:00.000+01:00", "createdBy": {"displayName": "Ewa Nowak"}},
    "metadata": {"labels": {"results": [{"name": "urlop"}, {"name": "hr"}]}},
    "ancestors": [{"id": "1", "title": "Firma"}, {"id": "2", "title": "Kadry"}],
    "body": {"storage": {"value": STORAGE, "representation": "storage"}, "view": {"value": VIEW}},
    "_links": {"base": "https://wiki.example.org", "webui": "/display/HR/Urlopy"},
}  # fmt: skip
CLOUD: dict[str, Any] = {
    "id": 98, "title": "Urlaub", "version": {"number": 2, "createdAt": "2026-02-01T09:00:00Z", "authorId": "557:1"},
    "body": {"storage": {"value": STORAGE}}, "labels": {"results": [{"name": "hr"}]},
    "_links": {"base": "https://e.atlassian.net/wiki", "webui": "/spaces/HR/pages/98/Urlaub"},
}  # fmt: skip


def test_an_export_has_all_metadata() -> None:
    metadata = read(json.dumps(EXPORT)).metadata
    assert (metadata.page_id, metadata.space_key, metadata.page_version, metadata.title) == ("12345", "HR", 7, "Urlopy")
    assert (metadata.author, metadata.updated_at) == ("Ewa Nowak", "2026-01-28T10:00:00.000Z")
    assert (metadata.labels, metadata.source_url) == (("urlop", "hr"), "https://wiki.example.org/display/HR/Urlopy")
    assert metadata.extra["ancestors"] == ["Firma", "Kadry"]
    assert metadata.extra["created_at"] == "2025-01-01T08:00:00.000+01:00"
    assert metadata.extra["last_author"] == "Jan Kowalski"


def test_version_two_of_the_cloud_api() -> None:
    metadata = read(json.dumps(CLOUD)).metadata
    assert (metadata.page_id, metadata.space_key, metadata.page_version, metadata.author) == ("98", "HR", 2, "557:1")
    assert (metadata.labels, metadata.updated_at) == (("hr",), "2026-02-01T09:00:00Z")
    assert metadata.source_url == "https://e.atlassian.net/wiki/spaces/HR/pages/98/Urlaub"


def test_options_win_over_the_export() -> None:
    metadata = read(json.dumps(EXPORT), page_id="1", space_key="X", extra={"team": "hr"}).metadata
    assert (metadata.page_id, metadata.space_key, metadata.extra["team"]) == ("1", "X", "hr")
    assert metadata.extra["ancestors"] == ["Firma", "Kadry"]


def test_the_pages_above_open_the_heading_path() -> None:
    assert {block.headings_path for block in read(json.dumps(EXPORT)).blocks} == {("Firma", "Kadry", "Zasady")}


def test_text_is_stored_and_locations_are_rendered() -> None:
    document, tree = read(json.dumps(EXPORT)), LexborHTMLParser(VIEW)
    assert document.text == read(STORAGE).text
    for block in document.blocks:
        for item in [block, *block.parts]:
            assert isinstance(item, Block | Part)
            location = dict(item.source_ref or {})
            (found,) = tree.css(location["css_selector"])
            visible = found.text().replace(" ", "")
            letters = "".join(letter for letter in document.text[item.start : item.end] if letter.isalnum())
            assert visible in letters or letters in visible or "info" in letters
            assert location["storage_xpath"]
    assert dict(document.blocks[-1].source_ref or {})["xpath"] == "/html/body/p[2]"


def test_a_view_alone_is_enough() -> None:
    document = read(json.dumps({**EXPORT, "body": {"view": {"value": VIEW}}}))
    assert document.text == read(STORAGE).text
    assert dict(document.blocks[1].source_ref or {})["xpath"] == "/html/body/p[1]"


@pytest.mark.parametrize("page", [{**EXPORT, "body": {}}, {**EXPORT, "body": {"atlas_doc_format": {"value": "{}"}}}])
def test_an_export_without_a_body_is_refused(page: dict[str, Any]) -> None:
    with pytest.raises(UnreadableError, match="neither a storage nor a view body"):
        read(json.dumps(page))


def test_an_answer_with_one_page_is_that_page() -> None:
    assert read(json.dumps({"results": [EXPORT]})).metadata.page_id == "12345"
    with pytest.raises(UnreadableError, match=r"\A`confluence` holds 2 pages, not one\nhint: write each"):
        read(json.dumps({"results": [EXPORT, EXPORT]}))


def test_json_that_is_cut_off_is_refused() -> None:
    with pytest.raises(UnreadableError, match=r"(?s)JSON.*hint: "):
        read(json.dumps(EXPORT)[:-20])


# ── files ────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_files_are_recognised_by_content(tmp_path: Path) -> None:
    (tmp_path / "page.xml").write_text(macro("info", rich("<p>x</p>")), encoding="utf-8")
    (tmp_path / "page.json").write_text(json.dumps(EXPORT), encoding="utf-8")
    assert spanwise.read(tmp_path / "page.xml").text == "> [!info]\n> x"
    assert spanwise.read(tmp_path / "page.json").metadata.page_id == "12345"
    (tmp_path / "other.xml").write_text("<a/>", encoding="utf-8")
    with pytest.raises(UnreadableError, match="extension"):
        spanwise.read(tmp_path / "other.xml")
    (tmp_path / "other.json").write_text('{"a": 1}', encoding="utf-8")
    assert spanwise.read(tmp_path / "other.json").metadata.source_type == "json"
    assert spanwise.read(tmp_path / "other.xml", format="confluence").text == ""


def test_storage_format_may_be_called_html(tmp_path: Path) -> None:
    stored = f"<p>One</p>{macro('code', plain('a &lt; b'))}"
    (tmp_path / "page.html").write_text(stored, encoding="utf-8")
    document = spanwise.read(tmp_path / "page.html")
    assert (document.metadata.source_type, document.text) == ("confluence", "One\n\n```\na &lt; b\n```")
    assert spanwise.read(tmp_path / "page.html", format="html").metadata.source_type == "html"
    (tmp_path / "about.html").write_text(f"<!DOCTYPE html><body>{stored}</body>", encoding="utf-8")
    assert spanwise.read(tmp_path / "about.html").metadata.source_type == "html"


# ── rendered pages ───────────────────────────────────────────────────────────────────────────────────────────────

RENDERED = {
    '<div class="confluence-information-macro confluence-information-macro-warning"><p class="title">Achtung</p>'
    '<span class="aui-icon"></span><div class="confluence-information-macro-body"><p>heiß</p></div></div>':
        "> [!warning] Achtung\n> heiß",
    '<div class="panel"><div class="panelHeader"><b>T</b></div><div class="panelContent"><p>x</p></div></div>':
        "> [!panel] **T**\n> x",
    '<div class="code panel"><div class="codeContent panelContent"><pre class="syntaxhighlighter-pre" '
    'data-syntaxhighlighter-params="brush: java; gutter: false">int x;</pre></div></div>': "```java\nint x;\n```",
    '<div class="expand-container"><div class="expand-control"><span class="expand-control-text">Mehr</span></div>'
    '<div class="expand-content"><p>innen</p></div></div>': "**Mehr**\n\ninnen",
    '<ul class="inline-task-list"><li class="checked">a</li><li>b</li></ul>': "- [x] a\n- [ ] b",
    '<p><span class="status-macro aui-lozenge">FERTIG</span> <img class="emoticon" alt="(tick)" src="t.png"></p>':
        "FERTIG (tick)",
    '<p><a class="confluence-userlink user-mention" href="/display/~ewa">Ewa</a></p>': "[Ewa](/display/~ewa)",
    '<div class="columnLayout"><div class="cell"><div class="innerCell"><p>a</p></div></div></div>': "a",
    '<div class="toc-macro"><ul><li><a href="#a">a</a></li></ul></div><p>x</p>': "x",
}  # fmt: skip


@pytest.mark.parametrize("view", RENDERED)
def test_rendered_pages(view: str) -> None:
    page = (
        f'<html><body><div id="header">Menü</div><div id="main-content" class="wiki-content">{view}</div></body></html>'
    )
    assert read(page).text == RENDERED[view]


# ── laws and harm ────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_laws(strategy: Any) -> None:
    document = read(json.dumps({**EXPORT, "body": {"storage": {"value": "".join(ELEMENTS)}}}))
    records = [chunk.to_dict() for chunk in spanwise.chunk(document, strategy, max_tokens=60, **offline(strategy))]
    assert broken_laws(document, records, tokenizer_of("cl100k"), 60) == []


@given(st.text(alphabet="<>/ap:clinkr=\"'&;*_[]!-|`{}\n żó中", max_size=200))
def test_any_string_is_read(text: str) -> None:
    read(text)


def test_broken_markup_is_read_and_reported() -> None:
    document = read("<p>eins <b>zwei</p><p>drei</p>")
    assert all(word in document.text for word in ("eins", "zwei", "drei"))
    assert any("not well-formed" in item.reason and not item.usual for item in document.left_out)


@pytest.mark.parametrize(
    "text",
    ['<!DOCTYPE a [<!ENTITY b "c"><!ENTITY d "&b;&b;">]><p>&d;</p>', "<p>" * 100_000 + "x",
     macro("a", "<ac:rich-text-body>" * 100_000), "<p " + " ".join(f"a{i}='1'" for i in range(100_000)) + ">x</p>"],
)  # fmt: skip
def test_hostile_pages_are_refused_quickly(text: str) -> None:
    with pytest.raises(UnreadableError):
        read(text)


@pytest.mark.parametrize("name", sorted(HANDLERS))
def test_every_element_is_read_wherever_it_is(name: str) -> None:
    """The tree is not that of HTML pages, whose handlers storage format builds on."""
    for around in ("p", "h1", "li", "td", "blockquote", "pre", "a"):
        for more in ("", ' class="panel code admonition inline-task-list" href="#x" type="checkbox" alt="z"'):
            text = f"<{around}><{name}{more}><b>word</b> <text>more</text></{name}></{around}><p>after</p>"
            assert "after" in read(text).text


def test_nested_macros_are_read() -> None:
    inside = "<p>x</p>"
    for _ in range(200):
        inside = macro("info", rich(inside))
    assert "x" in read(inside).text
