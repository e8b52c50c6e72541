"""The columns of a Parquet file, for Spanwise's own records and for each dialect."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

from spanwise.records.dialects import FIELDS_OF

if TYPE_CHECKING:
    import pyarrow

_TEXT, _NUMBER, _FLAG, _TEXTS, _NUMBERS = "text", "number", "flag", "texts", "numbers"
_PIECES: Final = [{"start": _NUMBER, "end": _NUMBER, "role": _TEXT, "joiner": _TEXT}]
_HIGHLIGHT: Final = {"text_fragment": _TEXT, "block_type": _TEXT, "text_offset": _NUMBER}
_NAVIGATION: Final = {
    "url": _TEXT, "xpath_start": _TEXT, "css_selector_start": _TEXT, "text_offset_start": _NUMBER,
    "text_length": _NUMBER, "highlight_metadata": _HIGHLIGHT,
}  # fmt: skip
_LINKS: Final = [{"target": _TEXT, "text": _TEXT, "heading": _TEXT, "block_id": _TEXT}]
_DOCUMENT: Final[dict[str, Any]] = {
    "document_id": _TEXT, "tenant_id": _TEXT, "source_type": _TEXT, "source_url": _TEXT, "file_path": _TEXT,
    "title": _TEXT, "author": _TEXT, "updated_at": _TEXT, "labels": _TEXTS, "space_key": _TEXT, "page_id": _TEXT,
    "page_version": _NUMBER, "language": _TEXT, "links": _LINKS, "extra": "json",
}  # fmt: skip
_SHAPES: Final[dict[str, Any]] = {
    **dict.fromkeys((
        "chunk_index", "char_start", "char_end", "block_start_idx", "block_end_idx", "page_start", "page_end",
        "token_count", "token_estimate", "page_version", "text_length", "index", "chunkIndex", "startOffset",
        "endOffset", "page_num", "utf8_start", "utf8_end", "utf16_start", "utf16_end",
    ), _NUMBER),
    **dict.fromkeys((
        "block_indices", "core_block_indices", "overlap_prev_block_indices", "overlap_next_block_indices",
    ), _NUMBERS),
    **dict.fromkeys((
        "headings_path", "labels", "full_heading_hierarchy", "text_heading_hierarchy",
    ), _TEXTS),
    "oversize": _FLAG, "context_dropped": _FLAG, "pieces": _PIECES, "navigation": _NAVIGATION,
    "metadata": _DOCUMENT, "links": _LINKS,
}  # fmt: skip
"""The types of fields; one that isn't here holds text."""
_FIXED_SIZE: Final = {"strategy": _TEXT, "tokenCount": _NUMBER, "hasOverlap": _FLAG}


def schema_of(dialect: str | None, offsets: Sequence[str] = ()) -> pyarrow.Schema:
    """Return the columns of a dialect, or of Spanwise's own records, which may have ranges in other units."""
    import pyarrow

    shapes = _SHAPES | ({"metadata": _FIXED_SIZE} if dialect == "fixed-size" else {})
    more = [f"{name}_{edge}" for name in offsets for edge in ("start", "end")] if dialect is None else []
    shapes["pieces"] = [_PIECES[0] | dict.fromkeys(more, _NUMBER)]
    return pyarrow.schema([(name, _type(shapes.get(name, _TEXT))) for name in (*FIELDS_OF[dialect], *more)])


def row_of(record: dict[str, Any], schema: pyarrow.Schema) -> dict[str, Any]:
    """Return the record as a row: user-defined metadata have no fixed type for a column, so they become JSON."""
    row = {name: record.get(name) for name in schema.names}
    metadata = row.get("metadata")
    if metadata and "extra" in metadata:
        row["metadata"] = metadata | {"extra": json.dumps(metadata["extra"], ensure_ascii=False)}
    return row


def _type(shape: Any) -> pyarrow.DataType:
    import pyarrow

    if isinstance(shape, dict):
        return pyarrow.struct([(name, _type(inner)) for name, inner in shape.items()])
    if isinstance(shape, list):
        return pyarrow.list_(_type(shape[0]))
    simple = {
        "text": pyarrow.string(), "json": pyarrow.string(), "number": pyarrow.int64(), "flag": pyarrow.bool_(),
        "texts": pyarrow.list_(pyarrow.string()), "numbers": pyarrow.list_(pyarrow.int64()),
    }  # fmt: skip
    return simple[shape]
