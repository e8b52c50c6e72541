"""HTML: a page or a piece of one to Markdown text, in which every block knows its element.

selectolax builds the tree that browsers build (`tree`), `main_content` finds where the page says what it has to say,
`walk` goes through it once and hands every element to the collector, `chrome` and `widgets` know what classes mean.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from spanwise.readers.builder import ReadResult
from spanwise.readers.html.main_content import main_of, title_beside
from spanwise.readers.html.metadata import said_of
from spanwise.readers.html.tree import Path, parsed
from spanwise.readers.html.visible import shown_in
from spanwise.readers.html.walk import Walk
from spanwise.readers.markup.collector import Collector
from spanwise.readers.markup.elements import Element, Heading, Items
from spanwise.readers.markup.writer import reading_of

if TYPE_CHECKING:
    from selectolax.lexbor import LexborHTMLParser, LexborNode

    from spanwise.documents.document import LeftOut


_DEEPEST_MAIN: Final = 100


def read_html(text: str, *, keep_all: bool = False) -> ReadResult:
    """Read a page; with `keep_all` also what is not its main content."""
    page = parsed(text)
    elements, left_out = elements_of(page, keep_all=keep_all)
    found = said_of(page)
    if "title" not in found:
        titles = (element.prose.shown for element in elements if isinstance(element, Heading) and element.level == 1)
        if title := next(titles, ""):
            found["title"] = title
    return reading_of(elements, found, left_out)._replace(shown=shown_in(page))


def elements_of(page: LexborHTMLParser, *, keep_all: bool) -> tuple[list[Element], list[LeftOut]]:
    """Give the elements of the main content, and what was left out; of a page that is only a menu, all of it."""
    elements, left_out = _walked(page, keep_all=keep_all)
    only_lists = bool(elements) and all(isinstance(element, Items) for element in elements)
    if only_lists and not keep_all and any(item.reason == "navigation" for item in left_out):
        return _walked(page, keep_all=True)
    return elements, left_out


def _walked(page: LexborHTMLParser, *, keep_all: bool) -> tuple[list[Element], list[LeftOut]]:
    body = page.body
    if body is None:
        return [], []
    place = Path(Path(None, "html", 1), "body", 1)
    walk = Walk(Collector(place), keep_all=keep_all)
    main = body if keep_all else main_of(page)
    way = _way(main, body)
    if main is None or not 0 < len(way) <= _DEEPEST_MAIN:
        walk.children(body, place, 0)
    else:
        title = title_beside(page, main)
        beside = _way(title, body)
        kept = {main.mem_id, title.mem_id} if title is not None and len(beside) <= _DEEPEST_MAIN else {main.mem_id}
        walk.towards(body, place, {*way, *beside}, kept)
    return walk.collector.elements, walk.left_out


def _way(node: LexborNode | None, body: LexborNode) -> list[int]:
    """Give the elements from one up to the body, which is none of them."""
    way: list[int] = []
    while node is not None and node.mem_id != body.mem_id:
        way.append(node.mem_id)
        node = node.parent
    return way
