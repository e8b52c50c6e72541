"""What a page says of itself in its head: title, author, language, address, dates."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from selectolax.lexbor import LexborHTMLParser

_AUTHOR: Final = ("author", "article:author", "dc.creator", "dcterms.creator", "byl")
_DATES: Final = (
    "article:modified_time", "og:updated_time", "last-modified", "dcterms.modified", "date.modified",
    "article:published_time", "dcterms.date", "dc.date", "date", "dcterms.created",
)  # fmt: skip
_NUMBERED: Final = {
    "ajs-page-id": "page_id", "ajs-space-key": "space_key", "confluence-space-key": "space_key",
}  # fmt: skip


def said_of(page: LexborHTMLParser) -> dict[str, Any]:
    """Give what the head of a page says."""
    found: dict[str, Any] = {}
    said = _meta(page)
    title = page.css_first("head title") or page.css_first("title")
    if words := " ".join((title.text() if title else "").split()) or said.get("og:title") or "":
        found["title"] = words
    if author := _first(said, _AUTHOR):
        found["author"] = author
    if date := next((date for name in _DATES if (date := _date(said.get(name)))), None):
        found["updated_at"] = date
    html = page.css_first("html")
    if language := (html.attributes.get("lang") or "").strip() if html else "":
        found["language"] = language
    canonical = page.css_first('link[rel="canonical"]')
    address = ((canonical.attributes.get("href") if canonical else "") or said.get("og:url") or "").strip()
    if address.startswith(("http://", "https://")):
        found["source_url"] = address
    found |= {field: said[name] for name, field in _NUMBERED.items() if said.get(name)}
    version = said.get("ajs-page-version", "")
    if version.isascii() and version.isdigit():
        found["page_version"] = int(version)
    return found


def _meta(page: LexborHTMLParser) -> dict[str, str]:
    said: dict[str, str] = {}
    for node in page.css("meta"):
        attributes = node.attributes
        name = attributes.get("name") or attributes.get("property") or attributes.get("itemprop") or ""
        content = " ".join((attributes.get("content") or "").split())
        if name and content:
            said.setdefault(name.lower(), content)
    return said


def _first(said: dict[str, str], names: Iterable[str]) -> str | None:
    return next((value for name in names if (value := said.get(name))), None)


def _date(said: str | None) -> str | None:
    try:
        datetime.fromisoformat(said or "")
    except ValueError:
        return None
    return said
