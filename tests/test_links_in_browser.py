"""Links to a chunk's first words, verified in headless Chromium on served pages."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Page, sync_playwright

import spanwise
from browsing import launched
from landing import WIDTH, Site, missed, served
from spanwise import Chunk, Document

pytestmark = pytest.mark.browser

PAGES = {
    "repeated": """\
# Rates

The rate is fixed. Ask the desk first.

## Berlin

The rate is fixed. Ask the desk first. In Berlin it is 41.

## Łódź

The rate is fixed. Ask the desk first. In Łódź it is 35.

## Notes

The rate is fixed.

The rate is fixed.

Notes
""",
    "marks": """\
# C++ & C#, 100 % safe – really?

Un**believ**able, isn't it? *Half*way through `a-b, c & d` and [a link](https://example.com/a,b-c) it goes on.

A < B &amp;&amp; C &gt; D; 50&nbsp;% of it, and 3&nbsp;&nbsp;&nbsp;hard spaces.

"Quoted" – 'single', (round), [square], {curly}; $5/€3, a-b-c, x,y,z & 100% sure.

First line with a hard break\\
second line after it, and ![a picture](x.png) in it.

A word with a note[^1] and more words behind it.

E-mail <a@example.com>, see <https://example.com/x?a=1,2&b=3#frag-ment>.

~~gone~~ and <kbd>Ctrl</kbd>+<kbd>C</kbd><br>after the break.

[^1]: The note says what it says.
""",
    "tables": """\
# Tables

| City | Rate | Note |
|---|---:|---|
| Berlin | 41 | a-b, c |
| Łódź | 35 | **bold** and `code` |
| Berlin | 41 | again |
| Zürich | 41 | |

| City | Rate |
|---|---:|
| Berlin | 41 |
| Wien | 41 |
""",
    "lists": """\
# Lists

- one
- two
  - one, nested
  - two
    - deeper one
    - two

  what two says afterwards
- [ ] a task to do
- [x] one that is done

1. one
2. two
   1. two, again
3. one

> one
>
> - two in a quote
""",
    "code": """\
# Code

```python
def one(a, b):
    return a - b

def two(a, b):
    return a - b
```

    NAME      READY   STATUS
    pod/one   1/1     Running
    pod/two   1/1     Running

Text between.

```
NAME      READY   STATUS
pod/one   1/1     Running
```

<pre>
one   two
  three four
</pre>

<div><p>In <b>HTML</b> too</p><p>and &quot;here&quot;, 例如</p></div>
""",
    "polski": """\
# Zażółć gęślą jaźń

Żółw i gęś poszły w świat. Nikt ich nie widział, m.in. dlatego, że było późno.

Żółw i gęś poszły w świat. Wróciły o 5.30 rano – zmęczone.

- Kraków, Łódź i Gdańsk
- Kraków, Łódź i Wrocław
""",
    "deutsch": """\
# Größe und Maß

Die Übergröße z. B. „XXL“ kostet 3,50 €. Das gilt ab dem 1. Januar.

Die Übergröße z. B. „XXL“ kostet 3,50 €. Das gilt nicht in Österreich.

| Größe | Maß |
|---|---|
| Übergröße | 120 cm |
| Straße | 12–14 m |
""",
    "русский": """\
# Клинические исследования

Медицинские исследования показывают эффективность нового препарата. Испытания завершены успешно.

## Результаты

Медицинские исследования показывают эффективность нового препарата. Побочные эффекты минимальны.

- ёлка и йод
- елка и йод
""",
    "中文": """\
# 安装指南

请先阅读本页，然后再开始安装。安装需要大约十分钟，请耐心等待。完成之后重新启动计算机。

请先阅读本页，然后再开始安装。如果失败了，请联系管理员。

- 第一步：下载软件包，并检查它的签名
- 第二步：使用 Kubernetes 1.30 部署（可选）

| 名称 | 说明 |
|---|---|
| 节点 | 运行容器的机器。 |
| 节点 | 另外一台机器 |
""",
    "日本語": """\
# はじめに

このページでは、インストールの手順を説明します。まず、ソフトウェアをダウンロードしてください。

このページでは、インストールの手順を説明します。次に、設定ファイルを編集してください。「保存」を押すと終わりです。

- ノードを追加する
- ノードを**削除**する、または更新する
""",
}


@pytest.fixture(scope="module")
def page() -> Iterator[Page]:
    with sync_playwright() as playwright, launched(playwright) as browser:
        yield browser.new_page(viewport={"width": WIDTH, "height": 600})


@pytest.fixture(scope="module")
def site() -> Iterator[Site]:
    with served() as found:
        yield found


def chunked(site: Site, name: str, text: str, strategy: Any) -> tuple[Document, tuple[Chunk, ...]]:
    """Return small chunks: every leaf, item, row and sentence gets its own link."""
    document = spanwise.read_text(text, source_url=site.address(name))
    sizes: dict[str, Any] = {"min_tokens": 0} if strategy == "structure" else {}
    return document, spanwise.chunk(document, strategy, max_tokens=16, overlap_tokens=0, template="plain", **sizes)


@pytest.mark.parametrize("name", PAGES)
@pytest.mark.parametrize("strategy", ["blocks", "structure"])
def test_links_highlight_the_first_words(site: Site, page: Page, name: str, strategy: str) -> None:
    address = f"{strategy}-{sorted(PAGES).index(name)}"
    document, chunks = chunked(site, address, PAGES[name], strategy)
    wrong, links = missed(site, page, document, chunks, address)
    assert links >= 3
    assert wrong == []


def test_with_repeated_text_the_link_leads_into_the_chunk(site: Site) -> None:
    row = "| a | b |\n|---|---|\n| 1 | 2 |\n\n"
    document = spanwise.read_text(f"# A\n\n{row * 3}The end of it.\n", source_url=site.address("same"))
    *_, last = spanwise.chunk(document, "blocks", "words", max_tokens=16, overlap_tokens=0, template="plain")
    assert last.navigation["url"].split("text=")[1].startswith(("The%20end", "2-,", "1-,2,-"))


def test_text_of_another_format_is_linked_alike(site: Site, page: Page) -> None:
    """A document need not come from Markdown: its visible text is that of the page."""
    text = "# Guide\n\nFirst words. Same words.\n\nSame words. Last words."
    document = spanwise.read_text(text, source_url=site.address("html"), source_type="html")
    chunks = spanwise.chunk(document, "simple", "words", max_chars=35)
    assert [chunk.navigation["url"].split("text=")[1] for chunk in chunks] == ["Guide", "Same%20words.%20Last%20words."]
    assert missed(site, page, document, chunks, "html") == ([], 2)
