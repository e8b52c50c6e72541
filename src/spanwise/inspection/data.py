"""The data of each chunk for the page's script: numbers, names and ranges; texts it reads from the page itself."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping
from typing import Any, Final

import orjson

from spanwise.documents.document import Document
from spanwise.inspection.html import inside_script
from spanwise.inspection.values import Inspection, Record
from spanwise.records.record import prefix_of
from spanwise.text.plain import plain_text_of

_ON_THE_PAGE: Final = frozenset({"page", "bbox", "boxes"})


def data_of(inspection: Inspection) -> str:
    """Return the JSON that the script reads."""
    paths: dict[tuple[str, ...], int] = {}  # many chunks share these and templates: each is stored once, by its index
    templates: dict[str, int] = {}
    indices = {record["chunk_id"]: record["chunk_index"] for record in inspection.records}
    chunks = [_chunk(inspection, record, paths, templates, indices) for record in inspection.records]
    known = {
        "limit": inspection.sizes.most, "parent_limit": inspection.sizes.parent, "chunks": chunks,
        "paths": list(paths), "templates": list(templates),
    }  # fmt: skip
    return inside_script(orjson.dumps(known).decode())


def _chunk(
    inspection: Inspection, record: Record, paths: dict[tuple[str, ...], int], templates: dict[str, int],
    indices: Mapping[str, int],
) -> dict[str, Any]:  # fmt: skip
    pieces = record["pieces"]
    before = prefix_of(record)
    return {
        "index": record["chunk_index"],
        "colour": inspection.colours.get(record["chunk_index"]),
        "chunk_id": record["chunk_id"],
        "content_id": record["content_id"],
        "type": record["chunk_type"],
        "section": record["section_type"],
        "block_id": record["block_id"],
        "path": paths.setdefault(tuple(record["headings_path"]), len(paths)),
        "pages": [record["page_start"], record["page_end"]],
        "blocks": [record["block_start_idx"], record["block_end_idx"]],
        "range": [record["char_start"], record["char_end"]],
        "source": _source(inspection.document, record["char_start"]),
        "tokens": record["token_count"],
        "flags": flags_of(record),
        "parent": indices.get(record["parent_id"] or ""),
        "before": templates.setdefault(before, len(templates)),
        "pieces": [[piece["start"], piece["end"], piece["role"], piece["joiner"]] for piece in pieces],
        "plain": _plain_parts(inspection.document, record, before),
        "units": [[piece["utf16_start"], piece["utf16_end"]] for piece in pieces],
    }


def _plain_parts(document: Document, record: Record, prefix: str) -> list[list[str]] | None:
    """Return the joiner before each piece and what the embedder gets of it, where that is not the source."""
    if record["embedding_text"] == prefix + record["full_text"]:
        return None
    places = [(one["start"], one["end"], one["joiner"]) for one in record["pieces"]]
    parts, found = plain_text_of(document).parts(places), list[list[str]]()
    for (_, _, joiner), part in zip(places, parts, strict=True):
        before = joiner if part and any(shown for _, shown in found) else ""
        found.append([before, part.removeprefix(before)])
    return found


def _source(document: Document, position: int) -> str:
    """Return where a chunk begins in its source, without what its page already shows."""
    if not document.blocks:
        return ""
    block = document.blocks[max(bisect_right(document.block_starts, position) - 1, 0)]
    items = (item for item in (block.source_ref or {}).items() if item[0] not in _ON_THE_PAGE)
    return ", ".join(f"{name} {value}" for name, value in items)


def flags_of(record: Record) -> list[str]:
    """Return the names of the flags that are set for a chunk."""
    return [name.replace("_", " ") for name in ("oversize", "context_dropped") if record[name]]
