"""The link from a chunk to its text on the source page, and the location of its first block."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, Final

from spanwise.documents.document import AS_WRITTEN, Block, Document
from spanwise.native import EDGE
from spanwise.records.links.text_fragments import text_fragments
from spanwise.text.visible import visible_code, visible_html, visible_markdown, visible_plain, visible_table

_ELEMENTS: Final = {
    "paragraph": "p", "list": "li", "table": "tr", "code": "pre", "quote": "blockquote", "figure": "figure",
    "rule": "hr", "html": "div",
}  # fmt: skip
_FRAGMENT_LENGTH: Final = 100
_STEP: Final = re.compile(r"([\w:.-]+)(?:\[(\d+)\])?")
_NO_REFERENCE: Final[dict[str, Any]] = {}


def links_to(document: Document, cores: Sequence[tuple[int, int]]) -> list[str | None]:
    """Return for each core the URL that opens the page there; URLs other than http(s) stay unchanged."""
    url = document.metadata.source_url
    if not url or not url.startswith(("http://", "https://")):
        return [url] * len(cores)
    mark = ":~:" if "#" in url else "#:~:"
    return [f"{url}{mark}text={directive}" if directive else url for directive in text_fragments(document, cores)]


def navigation_of(document: Document, block: Block, core: str, url: str | None) -> dict[str, Any]:
    """Return the location of the first core block in the source, and the link to it."""
    reference = block.source_ref or _NO_REFERENCE
    visible = _visible_text(document, block, core)
    offset, stored = reference.get("text_offset", block.start), reference.get("storage_xpath")
    return {
        "url": url,
        "xpath_start": reference.get("xpath", stored),
        "css_selector_start": reference.get("css_selector", stored and _css(stored)),
        "text_offset_start": offset,
        "text_length": len(core),
        "highlight_metadata": {
            "text_fragment": visible.replace(EDGE, " "),
            "block_type": _element(block),
            "text_offset": offset,
        },
    }


def _css(xpath: str) -> str:
    """Return the CSS selector of an element of Confluence's storage format, from its XPath."""
    steps = (_STEP.fullmatch(step) for step in xpath.strip("/").split("/"))
    return " > ".join(f"{step[1].replace(':', chr(92) + ':')}:nth-of-type({step[2] or 1})" for step in steps if step)


def _visible_text(document: Document, block: Block, core: str) -> str:
    kind = block.kind
    if document.metadata.source_type in AS_WRITTEN:
        return visible_plain(core, _FRAGMENT_LENGTH)
    if kind == "code":
        return visible_code(core, _FRAGMENT_LENGTH)
    if kind in {"html", "figure"}:
        return visible_html(core, _FRAGMENT_LENGTH)
    if kind == "table" and not _begins_with_head(document, block, core):
        return visible_table(core, _FRAGMENT_LENGTH, document.link_labels)
    return visible_markdown(core, _FRAGMENT_LENGTH, document.link_labels)


def _begins_with_head(document: Document, table: Block, core: str) -> bool:
    has_header = bool(table.parts) and table.parts[0].header
    return has_header and document.text.startswith(core[:_FRAGMENT_LENGTH], table.start)


def _element(block: Block) -> str:
    return f"h{block.level}" if block.level else _ELEMENTS.get(block.kind, "p")
