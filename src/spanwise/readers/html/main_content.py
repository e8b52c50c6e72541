"""Detection of the element that holds the main content of a page."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from spanwise.readers.html.boilerplate import UNSEEN, is_hidden, reason_to_leave
from spanwise.readers.html.widgets import handler_of

if TYPE_CHECKING:
    from selectolax.lexbor import LexborHTMLParser, LexborNode

_MARKED_MAIN: Final = (".wiki-content", "#main-content", "main", "[role=main]")
_ENOUGH: Final = 500  # characters that suffice for the main content, however long the rest of the page is
_SHARE: Final = 0.2
_ONE_ARTICLE: Final = 0.6
_REST: Final = 0.05
_STEPS: Final = 40
_DIVISIONS: Final = frozenset({"div", "section", "article", "center", "form", "font"})
_UNSEEN: Final = "script, style, template, noscript"
_NOT_ITS_TITLE: Final = frozenset({"nav", "dialog", "aside", "footer"})
_AFTER_TITLE: Final = re.compile(r"\s*(?:[^\w\s]|$)")
_HEADINGS: Final = ("h1", "h2", "h3", "h4", "h5", "h6")


def main_of(page: LexborHTMLParser) -> LexborNode | None:
    """Return the element with the main content: the one marked as such, else the one with most of the text."""
    body = page.body
    if body is None:
        return None
    for selector in _MARKED_MAIN:
        found = max(page.css(selector), key=weight, default=None)
        if found is not None and (own := _count(found)) and (weight(found) >= _ENOUGH or own >= _SHARE * weight(body)):
            return found
    articles = page.css("article")
    if len(articles) == 1 and weight(articles[0]) >= _ONE_ARTICLE * weight(body):
        return articles[0]
    return _densest(body)


def title_beside(page: LexborHTMLParser, main: LexborNode) -> LexborNode | None:
    """Return the heading with the page's title if it is outside the main content and that has none of its own."""
    if main.css_first("h1") is not None:
        return None
    named = page.css_first("head title"), page.css_first('meta[property="og:title"]')
    titles = [
        " ".join((node.text() or node.attributes.get("content") or "").split()) for node in named if node is not None
    ]
    for node in page.css("h1"):
        heading = " ".join(node.text().split())
        if heading and any(_begins(title, heading) for title in titles) and _is_visible(node):
            return node
    return None


def _begins(title: str, heading: str) -> bool:
    """Whether a title is the heading, or the heading followed by a mark and the name of the site."""
    return title.startswith(heading) and _AFTER_TITLE.match(title, len(heading)) is not None


def _is_visible(node: LexborNode) -> bool:
    around: LexborNode | None = node
    while around is not None and around.tag != "body":
        if around.tag in _NOT_ITS_TITLE or is_hidden(around.attributes):
            return False
        around = around.parent
    return around is not None


def weight(node: LexborNode) -> int:
    """Count the characters of text outside links and scripts."""
    own = _count(node)
    return own - sum(_count(inner) for inner in node.css(f"a, {_UNSEEN}")) if own else 0


def _count(node: LexborNode) -> int:
    text = node.text()
    return len(text) - text.count(" ") - text.count("\n")


def _densest(body: LexborNode) -> LexborNode:
    """Descend from the body as long as one element holds nearly all of the text."""
    node = body
    for _ in range(_STEPS):
        inner = [(weight(child), child) for child in node.iter(include_text=False) if not _is_boilerplate(child)]
        total = sum(own for own, _ in inner)
        own, heaviest = max(inner, key=lambda pair: pair[0], default=(0, node))
        others = [child for _, child in inner if child != heaviest]
        loose = sum(len(child.text_content or "") for child in node.iter(include_text=True) if child.is_text_node)
        if not total or own < (1 - _REST) * total or not _only_divides(heaviest):
            return node
        if loose > _REST * total or any(
            child.tag in _HEADINGS or child.css_first(", ".join(_HEADINGS)) for child in others
        ):
            return node
        node = heaviest
    return node


def _only_divides(node: LexborNode) -> bool:
    """Whether an element has no meaning of its own, so that its content may be taken without it."""
    return node.tag in _DIVISIONS and handler_of(node.attributes.get("class")) is None


def _is_boilerplate(node: LexborNode) -> bool:
    tag = node.tag or ""
    return tag in UNSEEN or tag in {"header", "footer", "aside"} or bool(reason_to_leave(tag, node.attributes, {}))
