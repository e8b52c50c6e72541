"""The metadata in the head of a page: title, author, language, URL, dates."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from spanwise.documents.document import is_iso

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


def metadata_of(page: LexborHTMLParser) -> dict[str, Any]:
    """Return the metadata in the head of a page."""
    found: dict[str, Any] = {}
    meta = _meta(page)
    title = page.css_first("head title") or page.css_first("title")
    if text := " ".join((title.text() if title else "").split()) or meta.get("og:title") or "":
        found["title"] = text
    if author := next((author for name in _AUTHOR if (author := meta.get(name))), None):
        found["author"] = author
    if date := next((date for name in _DATES if is_iso(date := meta.get(name, ""))), ""):
        found["updated_at"] = date
    html = page.css_first("html")
    if language := (html.attributes.get("lang") or "").strip() if html else "":
        found["language"] = language
    canonical = page.css_first('link[rel="canonical"]')
    address = ((canonical.attributes.get("href") if canonical else "") or meta.get("og:url") or "").strip()
    if address.startswith(("http://", "https://")):
        found["source_url"] = address
    found |= {field: meta[name] for name, field in _NUMBERED.items() if meta.get(name)}
    version = meta.get("ajs-page-version", "")
    if version.isascii() and version.isdigit():
        found["page_version"] = int(version)
    return found


def _meta(page: LexborHTMLParser) -> dict[str, str]:
    found: dict[str, str] = {}
    for node in page.css("meta"):
        attributes = node.attributes
        name = attributes.get("name") or attributes.get("property") or attributes.get("itemprop") or ""
        content = " ".join((attributes.get("content") or "").split())
        if name and content:
            found.setdefault(name.lower(), content)
    return found
