"""The titles of chapters in the table of contents of a book."""

from __future__ import annotations

from collections.abc import Iterator

from spanwise.errors import UnreadableError
from spanwise.readers.container import Container
from spanwise.readers.epub.package import Package, line_of, named, part_at
from spanwise.readers.epub.pages import page_of


def titles_of(book: Container, package: Package) -> dict[str, str]:
    """Return the title of each file that the table of contents names, from the first entry for it."""
    titles: dict[str, str] = {}
    for part, entries in ((package.navigation, _in_page), (package.contents, _in_tree)):
        if part is None or part not in book:
            continue
        try:
            for address, title in entries(book, part):
                if address and title:
                    titles.setdefault(part_at(part, address), title)
        except UnreadableError:  # a book is read without its table of contents too
            continue
    return titles


def _in_page(book: Container, part: str) -> Iterator[tuple[str, str]]:
    """Yield addresses and titles of the page with the table of contents of EPUB 3."""
    page, _ = page_of(book, part)
    navs = page.css("nav")
    tables = [nav for nav in navs if "toc" in (nav.attributes.get("epub:type") or "").split()] or navs[:1]
    for link in tables[0].css("a") if tables else ():
        yield link.attributes.get("href") or "", " ".join(link.text().split())


def _in_tree(book: Container, part: str) -> Iterator[tuple[str, str]]:
    """Yield addresses and titles of the table of contents of EPUB 2."""
    root = book.xml(part, doctype=True)
    for point in named(root, "navPoint"):
        label = point.find("{*}navLabel")
        content = point.find("{*}content")
        if label is not None and content is not None:
            yield content.get("src") or "", line_of(label)
