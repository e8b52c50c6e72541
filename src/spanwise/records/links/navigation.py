"""From a chunk back to its source: the link that opens the page at the text, and where the first block stands."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from spanwise.documents.document import Block, Document
from spanwise.native import EDGE
from spanwise.records.links.text_fragments import text_fragments
from spanwise.text.visible import shown_code, shown_html, shown_markdown, shown_plain, shown_table

_ELEMENTS: Final = {
    "paragraph": "p", "list": "li", "table": "tr", "code": "pre", "quote": "blockquote", "figure": "figure",
    "rule": "hr", "html": "div",
}  # fmt: skip
_FRAGMENT_LENGTH: Final = 100
_NOWHERE: Final[dict[str, Any]] = {}


def links_to(document: Document, cores: Sequence[tuple[int, int]]) -> list[str | None]:
    """Give for each core the address that opens the page there; other addresses than those of the web stay alone."""
    url = document.metadata.source_url
    if not url or not url.startswith(("http://", "https://")):
        return [url] * len(cores)
    mark = ":~:" if "#" in url else "#:~:"
    return [f"{url}{mark}text={words}" if words else url for words in text_fragments(document, cores)]


def navigation_of(document: Document, block: Block, core: str, url: str | None) -> dict[str, Any]:
    """Say where the first core block stands in the source, and how to get there."""
    reference = block.source_ref or _NOWHERE
    shown = _shown(document, block, core)
    offset = reference.get("text_offset", block.start)
    return {
        "url": url,
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
    kind = block.kind
    if document.metadata.source_type == "text":
        return shown_plain(core, _FRAGMENT_LENGTH)
    if kind == "code":
        return shown_code(core, _FRAGMENT_LENGTH)
    if kind in {"html", "figure"}:
        return shown_html(core, _FRAGMENT_LENGTH)
    if kind == "table" and not _begins_with_head(document, block, core):
        return shown_table(core, _FRAGMENT_LENGTH, document.link_labels)
    return shown_markdown(core, _FRAGMENT_LENGTH, document.link_labels)


def _begins_with_head(document: Document, table: Block, core: str) -> bool:
    headed = bool(table.parts) and table.parts[0].header
    return headed and document.text.startswith(core[:_FRAGMENT_LENGTH], table.start)


def _element(block: Block) -> str:
    return f"h{block.level}" if block.level else _ELEMENTS.get(block.kind, "p")
