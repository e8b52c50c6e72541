"""Web pages that the bench makes itself, so that their text is known. Each has its expected text beside it as Markdown.

The demo's handbooks, in five languages, and long documents whose sentences are words of the demo in random order, the
same in every run: manuals with code and anchors, articles, pages of tables. Each is surrounded by what real pages
have: navigation, banners, footers, scripts and style sheets. None of that is part of the expected text.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from html import escape
from pathlib import Path

from corpora import DEMO
from pdf_files import Author, Block, Case, markdown_of, prose, tables
from pdf_scores import html_of

ENDINGS = (".html", ".htm", ".xhtml")
_FILES = 6  # of each kind


def made(folder: Path, size: int) -> list[Case]:
    """Make all pages; long documents have about `size` times ten paragraphs."""
    cases = [_saved(folder, "handbooks", path.stem, html_of(text), text) for path, text in _handbooks()]
    for number in range(_FILES):
        chance = random.Random(f"page {number}")
        stories = {
            "manuals": list(_with_code(chance, 10 * size)),
            "articles": list(prose(chance, 10 * size)),
            "tables": list(tables(chance, size)),
        }
        for group, story in stories.items():
            truth = "\n\n".join(map(_truth, story)) + "\n"
            body = "\n".join(_html(block, anchored=group == "manuals") for block in story)
            cases.append(_saved(folder, group, f"{group}-{number}", body, truth))
    return cases


def _handbooks() -> Iterator[tuple[Path, str]]:
    for path in sorted(DEMO.glob("*.md")):
        yield path, path.read_text(encoding="utf-8")


def _saved(folder: Path, group: str, name: str, body: str, truth: str) -> Case:
    path = folder / f"{name}.html"
    path.write_text(_page(name, body, random.Random(name)), encoding="utf-8")
    path.with_suffix(".md").write_text(truth, encoding="utf-8")
    return Case(group, path, truth)


def _with_code(chance: random.Random, length: int) -> Iterator[Block]:
    author = Author(chance)
    for index, block in enumerate(prose(chance, length)):
        yield block
        if index % 5 == 4:
            lines = [f"{author.words(1, 1)}_{number} = {author.words(1, 1)}({number})" for number in range(6)]
            yield "code", lines


def _truth(block: Block) -> str:
    kind, content = block
    return "\n".join(["```python", *content, "```"]) if kind == "code" else markdown_of(block)


def _html(block: Block, *, anchored: bool) -> str:
    kind, content = block
    if kind[0] == "h":
        anchor = '<a class="headerlink" href="#here" title="Link to this heading">¶</a>' if anchored else ""
        return f'<{kind} id="here">{escape(content)}{anchor}</{kind}>'
    if kind in {"ul", "ol"}:
        return f"<{kind}>{''.join(f'<li>{_words(item)}</li>' for item in content)}</{kind}>"
    if kind == "code":
        lines = "\n".join(_coloured(line) for line in content)
        return f'<div class="highlight-python"><div class="highlight"><pre>{lines}\n</pre></div></div>'
    if kind == "table":
        head, *rows = content
        cells = "".join(f'<th scope="col">{escape(cell)}</th>' for cell in head)
        lines = "".join(f"<tr>{''.join(f'<td>{escape(cell)}</td>' for cell in row)}</tr>\n" for row in rows)
        return f'<table class="docutils"><thead><tr>{cells}</tr></thead>\n<tbody>{lines}</tbody></table>'
    return f"<p>{_words(content)}</p>"


def _words(text: str) -> str:
    """Return a text as HTML, with a link and emphasis around some words, as on real pages."""
    words = escape(text).split(" ")
    if len(words) > 4:
        words[1] = f'<a class="reference internal" href="../guide/page.html#{words[1]}">{words[1]}</a>'
        words[3] = f"<em>{words[3]}</em>"
    return " ".join(words)


def _coloured(line: str) -> str:
    name, _, value = line.partition(" = ")
    return f'<span class="n">{escape(name)}</span> <span class="o">=</span> <span class="nf">{escape(value)}</span>'


def _page(title: str, body: str, chance: random.Random) -> str:
    """Return a whole page with what usually surrounds the text."""
    links = "".join(f'<li class="nav-item"><a href="/page/{at}">Section {at} of the site</a></li>' for at in range(60))
    related = "".join(f'<li><a href="/other/{at}">Something else to look at {at}</a></li>' for at in range(12))
    rules = "\n".join(f".c{at} {{ margin: {at}px; color: #{chance.randrange(16**6):06x}; }}" for at in range(120))
    state = ",".join(f'"k{at}":{chance.random():.6f}' for at in range(250))
    return f"""<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>{title}</title><link rel="stylesheet" href="/site.css">
<style>{rules}</style><script>window.state = {{{state}}};</script></head>
<body class="layout"><a class="skip-link" href="#main">Skip to the content</a>
<header class="site-header"><div class="logo">The site</div><nav aria-label="Main"><ul>{links}</ul></nav></header>
<div class="cookie-banner"><p>We use cookies to make the site better for everybody.</p><button>Accept</button></div>
<div class="wrapper"><aside class="sidebar"><h2>On this page</h2><ul>{related}</ul></aside>
<main id="main"><article class="content">
{body}
</article></main></div>
<footer class="site-footer"><p>Imprint, privacy and terms of the site.</p><ul>{related}</ul></footer>
<script>{state.replace(",", ";//")}</script></body></html>
"""
