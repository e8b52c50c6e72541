"""Web and Confluence pages in headless Chromium: every link highlights its text, every path finds its element."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Page, sync_playwright

import spanwise
from browsing import launched
from landing import SAME_ELEMENT, WIDTH, Site, misled, served
from spanwise import Block, Chunk, Document, Part

pytestmark = pytest.mark.browser

MENU = """<header><a href="/">Home</a> Rates for Berlin</header><nav><ul><li><a href="#1">Rates for Berlin</a></li>
<li><a href="#2">Rates for Łódź</a></li><li>The rate is fixed</li><li>安装指南</li><li>はじめに</li></ul></nav>"""
CONTENTS = "".join(f"<li><a href='#s{n}'>{n}. Setting up part {n % 3}</a></li>" for n in range(1, 6))

PAGES = {
    "repeated": f"""{MENU}<main><h1>Rates for Berlin</h1><p>The rate is fixed. Ask the desk first.</p>
<h2>Rates for Łódź</h2><p>The rate is fixed. Ask the desk first. In Łódź it is 35.</p>
<h3>The rate is fixed</h3><p>Yes.</p><h3>Ask the desk first</h3><p>Yes.</p><p>No, never.</p></main>
<footer>The rate is fixed. Yes. No, never.</footer>""",
    "contents": f"<div class=toc><ul>{CONTENTS}</ul></div><div>"
    + "".join(
        f"<h2 id=s{n}>{n}. Setting up part {n % 3}</h2><p>Before you start, see that the service runs. Go on with part"
        f" {n % 3}.</p><p>See also <a href='#s1'>part 1</a>.</p>"
        for n in range(1, 6)
    )
    + "</div>",
    "inline": """<main><h1>C++ &amp; C#, 100&nbsp;% safe – really?<a class=headerlink href="#x">¶</a></h1>
<p>Un<b>believ</b>able, isn’t it? <i>Half</i>way through <code>a-b, c &amp; d</code> and
<a href=x>a link</a> it goes on.
</p><p><a href="#a">Linked</a><span> words</span> with H<sub>2</sub>O<sup><a href="#n">[1]</a></sup>, “curly” too.</p>
<p><q>Generated quotes</q> at the start; then <kbd>Ctrl</kbd>+<kbd>C</kbd>.</p>
<p>A &lt; B &amp;&amp; C &gt; D; 50&nbsp;% of it, 3&nbsp;&nbsp;&nbsp;hard spaces &#8212; dashes&hellip;</p>
<p>Soft&shy;hyphen&shy;ated and zero\u200bwidth, a super<wbr>long<wbr>word.</p>
<p>First line<br>second line<br/>third line, with <img src="x.png" alt="a picture"> in it.</p>
<p>*stars* _under_ [brackets](not a link) `ticks` ~~tilde~~ &lt;b&gt;tags&lt;/b&gt; \\back # hash | bar</p>
<p>Word<!-- x -->joined<script>var x = "joined";</script> and <span style="display:none">hidden</span>shown.
</p></main>""",
    "tables": """<main><h1>Tables</h1><table><caption>Rates per city</caption><thead><tr><th>City</th><th>Rate</th></tr>
</thead><tbody><tr><td>Berlin</td><td>41</td></tr><tr><td>Łódź</td><td><b>35</b> and <code>more</code></td></tr>
<tr><td>Berlin</td><td>41, again</td></tr></tbody></table>
<table><tr><th>City</th><th>Rate</th></tr><tr><td>Berlin</td><td>41</td></tr><tr><td>Wien</td><td>41</td></tr></table>
<table><tr><th>Nested</th><th>Table</th></tr><tr><td><ul><li>first in cell</li><li>second</li></ul></td>
<td><pre>code line\nsecond line</pre></td></tr><tr><td>outer <table><tr><td>inner one</td><td>inner two</td>
</tr></table>
</td><td>x | y</td></tr></table></main>""",
    "lists": """<main><h1>Lists</h1><ul><li>one</li><li>two<ul><li>one, nested</li><li>two<ul>
<li>deeper one</li></ul></li>
</ul>what two says afterwards</li><li><input type=checkbox checked> one that is done</li></ul>
<ol><li><p>one</p><p>more of one</p></li><li>two<ol><li>two, again</li></ol></li></ol>
<blockquote><p>one</p><ul><li>two in a quote</li></ul></blockquote>
<dl><dt>Term one</dt><dd>Definition of it</dd><dt>Term two</dt><dd>Another</dd></dl>
<details><summary>Show more about one</summary><p>Text that unfolds.</p></details>
<div class="admonition warning"><p class="admonition-title">Warning</p><p>Do not touch.</p></div>
<figure><img src=a.png alt="Alt words"><figcaption>Figure 1: a caption</figcaption></figure></main>""",
    "code": """<main><h1>Code</h1><pre><code class="language-python">def one(a, b):
    return a - b

def two(a, b):
    return a - b
</code></pre><p>Text between.</p><pre>NAME      READY   STATUS
pod/one   1/1     Running</pre><pre>
  leading	tab
NAME      READY   STATUS</pre><div class=highlight><table><tr><td class=linenos><pre>1
2</pre></td><td class=code><pre><span>import</span> <span>os</span>
<span># done</span></pre></td></tr></table></div></main>""",
    "hidden": """<div style="display:none">Visible heading</div><noscript>Visible heading</noscript>
<textarea>Visible heading</textarea><select><option>Visible heading</option></select>
<main><h1>Visible heading</h1><p style="visibility:hidden">Some text.</p><p>Some text.</p><button>Copy</button>
<p>Copy this text, <select><option>one</option></select> of them.</p><dialog>Dialog words</dialog><p>Dialog words</p>
</main>""",
    "languages": f"""{MENU}<main><h1>Zażółć gęślą jaźń</h1>
<p>Żółw i gęś poszły w świat, m.in. dlatego, że było późno.</p>
<p>Żółw i gęś poszły w świat. Wróciły o 5.30 rano – zmęczone.</p><h2>Клинические исследования</h2>
<p>Медицинские исследования показывают эффективность препарата.</p><ul><li>ёлка и йод</li><li>елка и йод</li></ul>
<h2>安装指南</h2><p>请先阅读本页，然后再开始安装。安装需要大约十分钟，请耐心等待。完成之后重新启动计算机。</p>
<p>请先阅读本页，然后再开始安装。如果失败了，请联系管理员。</p><p>节点可以是虚拟机或者物理机器取决于所在的集群配置每个节点
</p>
<h2>はじめに</h2><p>このページでは、手順を説明します。まず、ソフトウェアをダウンロードしてください。</p>
<p>このページでは、手順を説明します。次に、設定ファイルを編集してください。「保存」を押すと終わりです。</p>
<ul><li>ノードを<b>削除</b>する</li></ul><p><ruby>漢字<rp>(</rp><rt>かんじ</rt><rp>)</rp></ruby>の読み方です。</p>
</main>""",
}

VIEW = """<div class="toc-macro"><ul><li>Reisen</li><li>Buchen</li><li>Hotels</li></ul></div><h1>Reisen</h1>
<p>Die Rate ist fest. Fragen Sie zuerst.</p><h2>Buchen</h2>
<div class="confluence-information-macro confluence-information-macro-tip"><p class="title">Tipp</p>
<div class="confluence-information-macro-body"><p>Früh buchen, a-b, 100 % sicher.</p></div></div>
<div class="table-wrap"><table class="confluenceTable"><tbody><tr><th class="confluenceTh">Stadt</th>
<th class="confluenceTh">Satz</th></tr><tr><td class="confluenceTd">Łódź</td><td class="confluenceTd">38</td></tr>
<tr><td class="confluenceTd">Berlin</td><td class="confluenceTd"><ul><li>41 im Sommer</li></ul></td></tr>
</tbody></table></div>
<div class="code panel"><div class="codeContent panelContent"><pre class="syntaxhighlighter-pre">x = 1
y = 2</pre></div></div>
<h2>Hotels</h2><ul><li>eins</li><li>zwei<ul><li>eins, innen</li></ul></li></ul>
<ul class="inline-task-list"><li class="checked">fertig</li><li>offen</li></ul><p>Die Rate ist fest. 北京的酒店很贵。
</p>"""
STORED = """<ac:structured-macro ac:name="toc"/><h1>Reisen</h1><p>Die Rate ist fest. Fragen Sie zuerst.</p>
<h2>Buchen</h2>
<ac:structured-macro ac:name="tip"><ac:parameter ac:name="title">Tipp</ac:parameter><ac:rich-text-body>
<p>Früh buchen, a-b, 100 % sicher.</p></ac:rich-text-body></ac:structured-macro><table><tbody><tr><th>Stadt</th>
<th>Satz</th></tr><tr><td>Łódź</td><td>38</td></tr><tr><td>Berlin</td><td><ul><li>41 im Sommer</li></ul></td>
</tr></tbody>
</table><ac:structured-macro ac:name="code"><ac:plain-text-body><![CDATA[x = 1
y = 2]]></ac:plain-text-body></ac:structured-macro><h2>Hotels</h2><ul><li>eins</li><li>zwei<ul><li>eins, innen</li></ul>
</li></ul><ac:task-list><ac:task><ac:task-status>complete</ac:task-status><ac:task-body>fertig</ac:task-body></ac:task>
<ac:task><ac:task-status>incomplete</ac:task-status><ac:task-body>offen</ac:task-body></ac:task></ac:task-list>
<p>Die Rate ist fest. 北京的酒店很贵。</p>"""


def whole(body: str) -> str:
    return f"<!doctype html><html><head><meta charset=utf-8><title>t</title></head><body>{body}</body></html>"


def exported(**bodies: str) -> str:
    representations = {name: {"value": value, "representation": name} for name, value in bodies.items()}
    return json.dumps({"id": "7", "type": "page", "title": "Seite", "body": representations, "version": {"number": 2}})


SOURCES = {name: ("html", whole(body), whole(body)) for name, body in PAGES.items()} | {
    "rendered": (
        "confluence",
        whole(f"<div class=wiki-content>{VIEW}</div>"),
        whole(f"<div class=wiki-content>{VIEW}</div>"),
    ),
    "export": ("confluence", exported(view=VIEW), whole(VIEW)),
    "both": ("confluence", exported(view=VIEW, storage=STORED), whole(VIEW)),
}
"""For each page its format, its source, and the HTML that a server sends."""


@pytest.fixture(scope="module")
def page() -> Iterator[Page]:
    with sync_playwright() as playwright, launched(playwright) as browser:
        yield browser.new_page(viewport={"width": WIDTH, "height": 600})


@pytest.fixture(scope="module")
def site() -> Iterator[Site]:
    with served() as found:
        yield found


def chunked(document: Document, strategy: Any) -> tuple[Chunk, ...]:
    sizes: dict[str, Any] = {"min_tokens": 0} if strategy == "structure" else {}
    return spanwise.chunk(document, strategy, max_tokens=24, overlap_tokens=0, template="plain", **sizes)


@pytest.mark.parametrize("name", SOURCES)
@pytest.mark.parametrize("strategy", ["blocks", "structure"])
def test_links_highlight_the_first_words_of_every_chunk(site: Site, page: Page, name: str, strategy: str) -> None:
    format_, source, html = SOURCES[name]
    document = spanwise.read_text(source, format_, source_url=site.address(f"{strategy}-{name}"))
    chunks = chunked(document, strategy)
    assert chunks
    assert misled(site, page, chunks, f"{strategy}-{name}", html) == []


@pytest.mark.parametrize("name", SOURCES)
def test_every_block_and_part_is_found_by_both_paths(page: Page, name: str) -> None:
    format_, source, html = SOURCES[name]
    page.set_content(html)
    wrong = [
        location
        for location in locations(spanwise.read_text(source, format_).blocks)
        if not page.evaluate(SAME_ELEMENT, [location["xpath"], location["css_selector"]])
    ]
    assert wrong == []


def locations(blocks: tuple[Block | Part, ...]) -> Iterator[Any]:
    for block in blocks:
        assert block.source_ref is not None
        yield block.source_ref
        yield from locations(block.parts)


def test_a_wrong_link_is_detected(site: Site, page: Page) -> None:
    """A test of the helper: a page where the words occur earlier must fail."""
    document = spanwise.read_text(whole("<p>same words here"), "html", source_url=site.address("wrong"))
    served_as = whole("<h1>same words here</h1><p>same words here")
    assert len(misled(site, page, spanwise.chunk(document), "wrong", served_as)) == 1
