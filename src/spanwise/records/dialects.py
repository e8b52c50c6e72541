"""Dialects: records under other systems' field names, so that programs which read the output need not change.

A dialect is a function from a record to a record. What a record alone doesn't hold (the nearest heading, the number of
earlier parts of a block) comes from its `DialectContext`. No dialect has parents, so they are left out.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property
from typing import Any, Final

from spanwise.documents.document import Document, describing_block
from spanwise.errors import OptionError, did_you_mean
from spanwise.records.chunk import Chunk, Chunks
from spanwise.records.record import FIELDS, is_parent, offset_names
from spanwise.records.run import plain_text_of
from spanwise.text.plain import PlainText

DEFAULT_PREFIX: Final = "EDU"
SPEC_TYPES: Final = frozenset({"paragraph", "list", "table", "code", "quote", "mixed"})
FIELDS_OF: Final[dict[str | None, tuple[str, ...]]] = {
    None: FIELDS,
    "spec-v1": (
        "chunk_id", "tenant_id", "document_id", "chunk_type", "headings_path", "md_text", "char_start", "char_end",
        "block_start_idx", "block_end_idx", "token_estimate", "source_url", "file_path", "source_type", "title",
        "author", "updated_at", "labels", "space_key", "page_id", "page_version", "links",
    ),
    "confluence": (
        "chunk_id", "page_id", "space_key", "block_indices", "core_block_indices", "overlap_prev_block_indices",
        "overlap_next_block_indices", "normalized_text", "full_text", "embedding_text", "full_heading_hierarchy",
        "text_heading_hierarchy", "nearest_heading_id", "page_title", "page_version", "last_modified", "text_length",
        "navigation", "md_text",
    ),
    "notes": (
        "id", "note_id", "index", "text", "window", "token_count", "section_title", "section_path", "neighbors_prev",
        "neighbors_next", "section_type", "block_id",
    ),
    "fixed-size": ("content", "chunkIndex", "startOffset", "endOffset", "chunkType", "metadata"),
    "pages": ("page_num", "text"),
}  # fmt: skip
"""The field names of each dialect, in order; None: Spanwise's own."""


def field_names(dialect: str | None, offsets: Sequence[str] = ()) -> tuple[str, ...]:
    """Return the field names of a dialect; Spanwise's own records may have ranges in other units as well."""
    return (*FIELDS_OF[dialect], *(offset_names(offsets) if dialect is None else ()))


Record = dict[str, Any]


class DialectContext:
    """What a dialect needs to know about the document while its records are translated in order."""

    def __init__(self, document: Document, *, heading_levels: int, prefix: str = DEFAULT_PREFIX) -> None:
        """Start before the first record."""
        self.document = document
        self.heading_levels = heading_levels
        self.prefix = prefix
        self._parts: dict[str, int] = {}

    @property
    def page(self) -> str:
        """The page's id; the document's own id if it is no page."""
        return self.document.metadata.page_id or self.document.document_id

    @cached_property
    def plain(self) -> PlainText:
        """The document as a page shows it."""
        return plain_text_of(self.document)

    def part(self, name: str) -> str:
        """Return a unique name: the second and later records of one name get a number."""
        self._parts[name] = self._parts.get(name, 0) + 1
        return name if self._parts[name] == 1 else f"{name}.{self._parts[name]}"

    def nearest_heading(self, first: int, last: int) -> int | None:
        """Return the index of the last heading at or above what a core from one block to another begins with."""
        above = bisect_right(self._headings, describing_block(self.document.blocks, first, last))
        return self._headings[above - 1] if above else None

    @cached_property
    def _headings(self) -> list[int]:
        return [index for index, block in enumerate(self.document.blocks) if block.kind == "heading"]


def _renamed(record: Record, dialect: str, own: Record) -> Record:
    """Return the fields of a dialect in order: its own, and those of the same name in the record or its metadata."""
    values = record["metadata"] | record | own
    return {name: values[name] for name in FIELDS_OF[dialect]}


def _spec_v1(record: Record, _: DialectContext) -> Record:
    kind = record["chunk_type"] if record["chunk_type"] in SPEC_TYPES else "paragraph"
    own = {"chunk_type": kind, "md_text": record["full_text"], "token_estimate": record["token_count"]}
    found = _renamed(record, "spec-v1", own)
    return found | {name: value for name, value in record["metadata"]["extra"].items() if name not in found}


def _confluence(record: Record, context: DialectContext) -> Record:
    path, first, last = record["headings_path"], record["block_start_idx"], record["block_end_idx"]
    heading, plain = context.nearest_heading(first, last), record["plain_text"]
    pieces = ((piece["start"], piece["end"], piece["joiner"]) for piece in record["pieces"])
    own = {
        "chunk_id": context.part(f"{context.prefix}:{context.page}:{first}-{last}"),
        "full_heading_hierarchy": path,
        "text_heading_hierarchy": path[-context.heading_levels :],
        "nearest_heading_id": None if heading is None else f"{context.prefix}:{context.page}-{heading}",
        "page_title": record["metadata"]["title"],
        "last_modified": record["metadata"]["updated_at"],
        "normalized_text": plain,
        "full_text": context.plain.joined(pieces),
        "md_text": record["normalized_text"],
        "text_length": len(plain),
        "navigation": record["navigation"] | {"text_length": len(plain)},
    }
    return _renamed(record, "confluence", own)


def _notes(record: Record, _: DialectContext) -> Record:
    note, index, path = record["document_id"], record["chunk_index"], record["headings_path"]
    own = {
        "id": _note_chunk(note, index),
        "note_id": note,
        "index": index,
        "text": record["full_text"],
        "window": record["embedding_text"],
        "section_title": path[-1] if path else None,
        "section_path": "/" + "/".join(path),
        "neighbors_prev": record["prev_chunk_id"] and _note_chunk(note, index - 1),
        "neighbors_next": record["next_chunk_id"] and _note_chunk(note, index + 1),
    }
    return _renamed(record, "notes", own)


def _note_chunk(note: str, index: int) -> str:
    return f"{note}#c{index:02d}"


def _fixed_size(record: Record, _: DialectContext) -> Record:
    overlapping = any(piece["role"].startswith("overlap") for piece in record["pieces"])
    return {
        "content": record["full_text"],
        "chunkIndex": record["chunk_index"],
        "startOffset": record["char_start"],
        "endOffset": record["char_end"],
        "chunkType": "fixed-size",
        "metadata": {"strategy": "FIXED_SIZE", "tokenCount": record["token_count"], "hasOverlap": overlapping},
    }


def _pages(record: Record, _: DialectContext) -> Record:
    return {"page_num": record["page_start"] or 1, "text": record["full_text"]}  # without pages, all is page 1


DIALECTS: Final[dict[str, Callable[[Record, DialectContext], Record]]] = {
    "spec-v1": _spec_v1,
    "confluence": _confluence,
    "notes": _notes,
    "fixed-size": _fixed_size,
    "pages": _pages,
}


def translated(records: Iterable[Record], dialect: str, context: DialectContext) -> Iterator[Record]:
    """Yield records in a dialect; of two levels only the children, renumbered: no other system has parents."""
    children = (record for record in records if not is_parent(record))
    for index, record in enumerate(children):
        yield DIALECTS[dialect](record | {"chunk_index": index} if record["parent_id"] else record, context)


def translate(
    chunks: Sequence[Chunk], dialect: str, *, prefix: str = DEFAULT_PREFIX, heading_levels: int | None = None
) -> list[Record]:
    """Return the chunks of one call of `spanwise.chunk` under another system's field names.

    `prefix` and `heading_levels` are for the dialect `confluence`; it names as many headings as the chunks' own tags
    (`max_heading_levels`), unless `heading_levels` is given. Of `hierarchical` only the children are returned.
    """
    if dialect not in DIALECTS:
        raise OptionError("dialect", "is not a known dialect", value=dialect, hint=did_you_mean(str(dialect), DIALECTS))
    if not chunks:
        return []
    run = chunks.run if isinstance(chunks, Chunks) else chunks[0]._run
    levels = run.heading_levels if heading_levels is None else heading_levels
    context = DialectContext(chunks[0].document, heading_levels=levels, prefix=prefix)
    return list(translated((chunk.to_dict() for chunk in chunks), dialect, context))
