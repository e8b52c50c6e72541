"""The HTML reader: a page or a fragment to Markdown text, in which every block has a reference to its element.

selectolax builds the tree that browsers build (`tree`), `main_content` finds the main content, `walk` walks it once
and passes every element to the collector, `boilerplate` and `widgets` interpret class names.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from spanwise.readers.builder import ReadResult
from spanwise.readers.html.main_content import main_of, title_beside
from spanwise.readers.html.metadata import metadata_of
from spanwise.readers.html.tree import Path, parsed
from spanwise.readers.html.visible import visible_runs
from spanwise.readers.html.walk import Walk
from spanwise.readers.markup.collector import Collector
from spanwise.readers.markup.elements import Element, Heading, Items
from spanwise.readers.markup.writer import read_result

if TYPE_CHECKING:
    from selectolax.lexbor import LexborHTMLParser, LexborNode

    from spanwise.documents.document import LeftOut


_DEEPEST_MAIN: Final = 100


def read_html(text: str, *, keep_all: bool = False) -> ReadResult:
    """Read a page; with `keep_all` also what is outside the main content."""
    page = parsed(text)
    elements, left_out = elements_of(page, keep_all=keep_all)
    found = metadata_of(page)
    if "title" not in found:
        titles = (element.prose.visible for element in elements if isinstance(element, Heading) and element.level == 1)
        if title := next(titles, ""):
            found["title"] = title
    return read_result(elements, found, left_out)._replace(visible=visible_runs(page))


def elements_of(page: LexborHTMLParser, *, keep_all: bool) -> tuple[list[Element], list[LeftOut]]:
    """Return the elements of the main content and what was left out; of a page that is only a menu, all elements."""
    elements, left_out = _walked(page, keep_all=keep_all)
    only_lists = bool(elements) and all(isinstance(element, Items) for element in elements)
    if only_lists and not keep_all and any(item.reason == "navigation" for item in left_out):
        return _walked(page, keep_all=True)
    return elements, left_out


def _walked(page: LexborHTMLParser, *, keep_all: bool) -> tuple[list[Element], list[LeftOut]]:
    body = page.body
    if body is None:
        return [], []
    path = Path(Path(None, "html", 1), "body", 1)
    walk = Walk(Collector(path), keep_all=keep_all)
    main = body if keep_all else main_of(page)
    route = _ids_up_to(main, body)
    if main is None or not 0 < len(route) <= _DEEPEST_MAIN:
        walk.children(body, path, 0)
    else:
        title = title_beside(page, main)
        title_route = _ids_up_to(title, body)
        kept = {main.mem_id, title.mem_id} if title is not None and len(title_route) <= _DEEPEST_MAIN else {main.mem_id}
        walk.towards(body, path, {*route, *title_route}, kept)
    return walk.collector.elements, walk.left_out


def _ids_up_to(node: LexborNode | None, body: LexborNode) -> list[int]:
    """Return the ids of an element and its ancestors below the body."""
    ids: list[int] = []
    while node is not None and node.mem_id != body.mem_id:
        ids.append(node.mem_id)
        node = node.parent
    return ids
