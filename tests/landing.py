"""Helpers that open links with text fragments in headless Chromium, on pages served locally.

A script can't read what `::target-text` highlights. So the page gives it a unique colour, and a screenshot of a chunk's
first word shows whether that word is highlighted.
"""

from __future__ import annotations

import io
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import pairwise
from typing import Any, Final

import pyromark
from PIL import Image
from playwright.sync_api import Error, Page

from spanwise import Chunk
from spanwise.documents.document import Document
from spanwise.records.links.page_words import PageTokens
from spanwise.records.links.visible_page import visible_runs

WIDTH: Final = 800
PAINT: Final = (1, 254, 3)
MARK: Final = "\ue000"  # put before the first word of each chunk to look up its position
_FLAGS: Final = pyromark.Options
OPTIONS: Final = (
    _FLAGS.ENABLE_TABLES | _FLAGS.ENABLE_STRIKETHROUGH | _FLAGS.ENABLE_TASKLISTS | _FLAGS.ENABLE_FOOTNOTES
    | _FLAGS.ENABLE_HEADING_ATTRIBUTES | _FLAGS.ENABLE_GFM
)  # fmt: skip
STYLE: Final = (
    f"::target-text{{background:rgb{PAINT};color:black}} body{{font:16px sans-serif;width:700px;padding:2000px 0}}"
    " pre{white-space:pre-wrap} td{padding:4px}"
)

WALK: Final = """
const walker = () => document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT, node =>
    ["SCRIPT", "STYLE"].includes(node.parentElement.tagName) ? NodeFilter.FILTER_REJECT : NodeFilter.FILTER_ACCEPT);
"""
MARKED_PLACES: Final = (
    "() => {"
    + WALK
    + """
    const places = [], texts = walker(); let seen = 0;
    while (texts.nextNode())
        for (const letter of texts.currentNode.data) letter === "\\ue000" ? places.push(seen) : seen += letter.length;
    return places;
}"""
)
RECTANGLE: Final = (
    "([place, length]) => {"
    + WALK
    + """
    const texts = walker(), range = document.createRange(); let seen = 0;
    while (texts.nextNode()) {
        const node = texts.currentNode;
        if (place < seen + node.length) {
            range.setStart(node, place - seen);
            range.setEnd(node, Math.min(place - seen + length, node.length));
            const box = range.getClientRects()[0];
            if (!box) return null;
            const seen_whole = box.top >= 0 && box.bottom <= innerHeight;
            return seen_whole ? {x: box.x, y: box.y, width: box.width, height: box.height} : null;
        }
        seen += node.length;
    }
    return null;
}"""
)


FIRST_WORDS: Final = """([css, all]) => {
    let words = all;
    const elements = document.querySelectorAll(css);
    if (elements.length !== 1) return [];
    const letters = [], nodes = document.createTreeWalker(elements[0], NodeFilter.SHOW_TEXT), boxes = [];
    while (nodes.nextNode())
        for (let at = 0; nodes.currentNode.parentElement.tagName !== "SCRIPT" && at < nodes.currentNode.length; at++)
            if (/[\\p{L}\\p{N}]/u.test(nodes.currentNode.data[at])) letters.push([nodes.currentNode, at]);
    const text = letters.map(([node, at]) => node.data[at]).join("");
    while (words && !text.includes(words) && !text.endsWith(words)) words = words.slice(0, -1);
    if (words.length < 12 && words !== all && !text.endsWith(words)) return [];
    for (let at = words ? text.indexOf(words) : -1; at >= 0; at = text.indexOf(words, at + 1)) {
        const range = document.createRange();
        range.setStart(...letters[at]);
        range.setEnd(letters[at][0], letters[at][1] + 1);
        const box = range.getBoundingClientRect();
        if (box.width && box.top >= 0 && box.bottom <= innerHeight && box.left >= 0 && box.right <= innerWidth)
            boxes.push({x: box.x, y: box.y, width: box.width, height: box.height});
    }
    return boxes;
}"""
SAME_ELEMENT: Final = """([xpath, css]) => {
    const ways = document.evaluate(xpath, document, null, XPathResult.ORDERED_NODE_SNAPSHOT_TYPE, null);
    const chosen = document.querySelectorAll(css);
    return ways.snapshotLength === 1 && chosen.length === 1 && ways.snapshotItem(0) === chosen[0];
}"""


class Site:
    """Pages served by a thread."""

    def __init__(self) -> None:
        self.pages: dict[str, str] = {}
        site = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                body = site.pages.get(self.path.partition("?")[0].lstrip("/"), "").encode()
                self.send_response(200)
                self.send_header("Content-Type", "text/html; charset=utf-8")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, format: str, *arguments: Any) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)

    def address(self, name: str) -> str:
        return f"http://127.0.0.1:{self.server.server_port}/{name}"


@contextmanager
def served() -> Iterator[Site]:
    """Serve pages for the duration of the block."""
    site = Site()
    thread = threading.Thread(target=site.server.serve_forever, daemon=True)
    thread.start()
    try:
        yield site
    finally:
        site.server.shutdown()
        site.server.server_close()
        thread.join()


def page_of(body: str) -> str:
    return f"<!doctype html><meta charset=utf-8><title>t</title><style>{STYLE}</style><body>{body}</body>"


def rendered(document: Document, text: str) -> str:
    """Return the Markdown of a document as HTML, without front matter, which no page shows."""
    first = document.blocks[0]
    return page_of(pyromark.html(text[first.end :] if first.kind == "front_matter" else text, options=OPTIONS))


def missed(site: Site, page: Page, document: Document, chunks: Sequence[Chunk], name: str) -> tuple[list[str], int]:
    """Open the link of every chunk; return those that highlight something else, and the number of links."""
    tokens, text = PageTokens(visible_runs(document)), document.text
    firsts = zip(chunks, tokens.firsts([(chunk.char_start, chunk.char_end) for chunk in chunks]), strict=True)
    visible = [(chunk, tokens.positions[first]) for chunk, first in firsts if first is not None]
    edges = [0, *(position for _, position in visible), len(text)]
    site.pages[name] = rendered(document, MARK.join(text[start:end] for start, end in pairwise(edges)))
    page.goto(site.address(name))
    targets = page.evaluate(MARKED_PLACES)
    assert len(targets) == len(visible), f"{name}: {len(targets)} of {len(visible)} places are on the page"
    site.pages[name] = rendered(document, text)
    wrong = []
    for number, ((chunk, _), target) in enumerate(zip(visible, targets, strict=True)):
        url = chunk.navigation["url"]
        if not _is_painted(page, url.replace("#", f"?{number}#", 1), target):
            wrong.append(f"{name} {number}: {url} {chunk.normalized_text[:60]!r}")
    return wrong, len(visible)


def misled(site: Site, page: Page, chunks: Sequence[Chunk], name: str, html: str) -> list[str]:
    """Open the link of every chunk of a page served unchanged; return those that highlight other text.

    The first letters of a chunk, at most twelve that its element has, are searched for there, independently of how
    links are made.
    """
    site.pages[name] = html.replace("</head>", f"<style>{STYLE}</style></head>", 1)
    wrong = []
    for number, chunk in enumerate(chunks):
        navigation = chunk.navigation
        fragment = navigation["highlight_metadata"]["text_fragment"]
        letters = "".join(character for character in fragment if character.isalnum())[:12]
        page.goto(navigation["url"].replace("#", f"?{number}#", 1))
        if not letters or not _are_painted(page, navigation["css_selector_start"], letters):
            wrong.append(f"{name} {number}: {navigation['url']} {chunk.normalized_text[:60]!r}")
    return wrong


def _are_painted(page: Page, css: str, letters: str) -> bool:
    for _ in range(6):
        if any(_is_paint(page, box) for box in page.evaluate(FIRST_WORDS, [css, letters])):
            return True
        page.wait_for_timeout(30)
    return False


def _is_painted(page: Page, url: str, target: int) -> bool:
    page.goto(url)
    for _ in range(6):
        box = page.evaluate(RECTANGLE, [target, 1])
        seen = box and min(box["width"], box["height"]) >= 1 and 0 <= box["x"] < WIDTH - box["width"]
        if seen and _is_paint(page, box):
            return True
        page.wait_for_timeout(30)
    return False


def _is_paint(page: Page, box: Any) -> bool:
    picture = Image.open(io.BytesIO(_screenshot(page, box))).convert("RGB")
    return any(color == PAINT for _, color in picture.getcolors(picture.width * picture.height) or ())


def _screenshot(page: Page, box: Any, tries: int = 5) -> bytes:
    """Return a picture of a part of the page; on a busy machine Chromium now and then fails to take one."""
    for _ in range(tries - 1):
        with suppress(Error):
            return page.screenshot(clip=box)
        page.wait_for_timeout(200)
    return page.screenshot(clip=box)
