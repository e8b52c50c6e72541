"""From a chunk back to its source: the link that opens the page at the text, and where the first block stands."""

from __future__ import annotations

from typing import Any, Final
from urllib.parse import quote

from spanwise.documents import Block, Document
from spanwise.shown import EDGE, shown_code, shown_html, shown_markdown, shown_plain, shown_table

_ELEMENTS: Final = {
    "paragraph": "p", "list": "li", "table": "tr", "code": "pre", "quote": "blockquote", "figure": "figure",
    "rule": "hr", "html": "div",
}  # fmt: skip
_FRAGMENT_LENGTH: Final = 100
_LINKED_WORDS: Final = 8


def navigation_of(document: Document, block: Block, core: str) -> dict[str, Any]:
    """Say where the first core block stands in the source, and how to get there."""
    reference = block.source_ref or {}
    shown = _shown(document, block, core)
    offset = reference.get("text_offset", block.start)
    return {
        "url": _linked(document.metadata.source_url, shown),
        "xpath_start": reference.get("xpath"),
        "css_selector_start": reference.get("css_selector"),
        "text_offset_start": offset,
        "text_length": len(core),
        "highlight_metadata": {
            "text_fragment": shown.replace(EDGE, " "),
            "block_type": _element(block),
            "text_offset": offset,
        },
    }


def _shown(document: Document, block: Block, core: str) -> str:
    if document.metadata.source_type == "text":
        return shown_plain(core, _FRAGMENT_LENGTH)
    if block.kind == "code":
        return shown_code(core, _FRAGMENT_LENGTH)
    if block.kind in {"html", "figure"}:
        return shown_html(core, _FRAGMENT_LENGTH)
    if block.kind == "table" and not document.text.startswith(core[:_FRAGMENT_LENGTH], block.start):
        return shown_table(core, _FRAGMENT_LENGTH, document.link_labels)
    return shown_markdown(core, _FRAGMENT_LENGTH, document.link_labels)


def _element(block: Block) -> str:
    return f"h{block.level}" if block.level else _ELEMENTS.get(block.kind, "p")


def _linked(url: str | None, shown: str) -> str | None:
    """Add a text fragment to a web address; whole words only, because part of a word is never found."""
    if not url or not shown or not url.startswith(("http://", "https://")):
        return url
    first = shown.split(EDGE)[0]
    words = first.split(" ")
    whole = words if len(first) < _FRAGMENT_LENGTH or len(words) == 1 else words[:-1]
    fragment = quote(" ".join(whole[:_LINKED_WORDS]), safe="").replace("-", "%2D")
    return f"{url}{':~:' if '#' in url else '#:~:'}text={fragment}"
