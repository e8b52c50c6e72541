"""The element trees of `spanwise inspect`: only passive elements, in the order of the page."""

from __future__ import annotations

import hashlib
import re
from base64 import b64encode
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import spanwise
from browsing import html_of
from spanwise.inspection.rendered_page import units_of
from spanwise.inspection.safe_tree import harmless, tree_of

PIECES = [
    "<p>", "</p>", "<div class=a onclick='x()'>", "</div>", "words ", "&lt;b&gt;", "<script>x()</script>", "<b>",
    "</b>", "<style>a { color: red }</style>", "<table>", "<tr>", "<td>", "</table>", "<ul><li>", "</ul>",
    "<svg viewBox='0 0 1 1'>", "<path d='M0' onload=x()>", "</svg>", "<math><mi>x", "</math>",
    "<a href='javascript:x()'>", "</a>", "<template><p>t", "</template>", "<iframe src=x></iframe>",
    "<img src='data:image/png;base64,AA' name=body onerror=x()>", "<form name=x>", "<input id=append>", "</form>",
    "<!-- no -->", "<a[b c\"d=1>", "<noscript><img src=x></noscript>", "<pre>\n a", "</pre>",
    "<body onload=x() lang=de>", "<plaintext>",
]  # fmt: skip
ACTING = {"script", "style", "iframe", "template", "noscript", "object", "embed", "link", "meta", "base"}


def opened(steps: list[Any]) -> list[list[Any]]:
    """Return the elements of a tree."""
    return [step for step in steps if isinstance(step, list)]


@given(st.lists(st.sampled_from(PIECES), max_size=40).map("".join))
def test_a_tree_is_complete_and_passive(html: str) -> None:
    tree = tree_of(html)
    depth = 0
    for step in tree.steps:
        depth += 1 if isinstance(step, list) else -step if isinstance(step, int) else 0
        assert depth >= 0
    assert depth == 0
    elements = opened(tree.steps)
    assert len(elements) == len(tree.numbers)
    for name, attributes, world in elements:
        assert name not in ACTING
        assert world in {0, 1, 2}
        assert not {"onclick", "onload", "onerror", "name", "action"} & set(attributes)
        assert attributes.get("href", "#") == "#"
        assert attributes.get("src", "data:image/").startswith("data:image/")
        assert "id" not in attributes or name not in {"input", "form", "img"}


@given(st.lists(st.sampled_from(PIECES), max_size=30).map("".join))
def test_every_block_is_in_an_element_of_the_tree(html: str) -> None:
    document, tree = spanwise.read_text(html, format="html"), tree_of(html)
    elements = opened(tree.steps)
    for unit in units_of(document):
        name = unit.path.rpartition("/")[2].partition("[")[0]
        assert name == "*" or elements[tree.numbers[unit.path]][0] == name


@given(st.lists(st.sampled_from(PIECES), max_size=30).map("".join))
def test_units_hold_each_visible_character_once(html: str) -> None:
    document = spanwise.read_text(html, format="html")
    ranges = [pair for unit in units_of(document) for pair in unit.ranges]
    assert all(low < high for low, high in ranges)
    assert all(before[1] <= after[0] for before, after in pairwise(ranges))


def test_a_rendered_page_does_not_weaken_the_policy() -> None:
    html = "<style>p { color: red }</style><main><p style='top: 0'>Words.</p></main>"
    page = html_of(spanwise.read_text(html, format="html"), source=html)
    policies = re.findall(r"Content-Security-Policy&?q?u?o?t?;?\"? content=(?:\"|&quot;)(.*?)(?:\"|&quot;)", page)
    assert len(policies) == 2  # of the page and of its frame
    assert not any("unsafe" in policy or "http" in policy for policy in policies)
    assert policies[0].startswith("default-src 'none'; img-src data:; style-src 'sha256-")
    assert re.findall(r'<iframe sandbox="([^"]*)"', page) == ["allow-same-origin"]
    for script in re.findall(r"<script>(.*?)</script>", page, re.DOTALL):
        assert b64encode(hashlib.sha256(script.encode()).digest()).decode() in policies[0]
    assert " style=" not in page.partition('id="looks"')[0]


@pytest.mark.parametrize(
    ("css", "kept"),
    [
        ("a { background: red url(https://x.y/z.png) }", "a { background: red url(data:,) }"),
        ("a { background: URL( 'a.png' ) no-repeat }", "a { background: url(data:,) no-repeat }"),
        ("a { background: url(data:image/png;base64,AA) }", "a { background: url(data:image/png;base64,AA) }"),
        ("a { fill: url(#gradient) }", "a { fill: url(#gradient) }"),
        ("@import url(x.css) screen; a { top: 0 }", " a { top: 0 }"),
        ("@font-face { src: url(x) } a { top: 0 }", " a { top: 0 }"),
        ("a { content: 'url' }", "a { content: 'url' }"),
    ],
)
def test_a_style_sheet_loads_nothing(css: str, kept: str) -> None:
    assert harmless(css) == kept


@pytest.mark.slow
def test_a_style_sheet_made_to_be_slow_is_not() -> None:
    assert harmless("url(" * 50_000)
    assert harmless("@import" * 50_000)


def test_a_page_without_its_style_is_unstyled() -> None:
    assert tree_of("<p>x").unstyled
    assert tree_of("<link rel=stylesheet href=x><style>a { top: 0 }</style><p>x").unstyled
    assert not tree_of("<style media=print>a { top: 0 }</style><p>x").unstyled
    assert tree_of("<style media=print>a { top: 0 }</style><p>x").sheets == [("a { top: 0 }", "print")]
