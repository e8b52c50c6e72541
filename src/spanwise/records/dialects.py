"""Dialects: records under other systems' field names, so that programs which read the output need not change.

A dialect is a function from a record to a record. What a record alone doesn't hold (the nearest heading, the number of
earlier parts of a block) comes from its `DialectContext`, or from what a store keeps of it. No dialect has parents, so
they are left out.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any, Final, NamedTuple

from spanwise.documents.document import Document, describing_block
from spanwise.errors import OptionError, did_you_mean
from spanwise.records.chunk import Chunk, Chunks
from spanwise.records.record import FIELDS, is_parent, offset_names
from spanwise.records.run import Run
from spanwise.text.plain import PlainText, plain_text_of

Record = dict[str, Any]
DEFAULT_PREFIX: Final = "EDU"
PLACE: Final = "place"
"""The name under which a store keeps the `Place` of a chunk beside its record."""
_PATH_PART: Final = re.compile(r"/((?:[^/\\]|\\.)*)", re.DOTALL)
_ESCAPED: Final = re.compile(r"\\(.)", re.DOTALL)
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


class Place(NamedTuple):
    """What the dialect `confluence` says of a chunk and its record doesn't hold."""

    part: int
    """Its number among the chunks of the same blocks, from 1."""
    heading: int | None
    """The index of the nearest heading at or above what it begins with."""
    plain_full_text: str
    """Its full text as a page shows it."""
    heading_levels: int

    def stored(self, record: Record) -> list[Any]:
        """Return what a store keeps beside the record: a full text that is only the core is known from there."""
        part, heading, full, levels = self
        return [part, heading, None if full == record["plain_text"] else full, levels]

    @classmethod
    def restored(cls, record: Mapping[str, Any]) -> Place:
        """Return what a store keeps of a chunk; raise OptionError if it was indexed by a version that kept nothing."""
        if PLACE not in record:
            rule = "needs a store that was indexed by this version"
            raise OptionError("dialect", rule, hint="run spanwise index again: only what changed is done")
        part, heading, full, levels = record[PLACE]
        return cls(part, heading, record["plain_text"] if full is None else full, levels)


class DialectContext:
    """What a dialect needs to know about the document while its records are translated in order."""

    def __init__(
        self,
        document: Document,
        *,
        heading_levels: int,
        prefix: str = DEFAULT_PREFIX,
        split_level: int | None = None,
        measure: str | None = None,
        shared_ids: frozenset[str] = frozenset(),
        count: Callable[[str], int] | None = None,
    ) -> None:
        """Start before the first record.

        `measure` is the unit of offsets, None for characters; `shared_ids` are ids in the front matter of several notes
        of the run; `count` counts tokens.
        """
        self.document = document
        self.heading_levels = heading_levels
        self.prefix = prefix
        self.measure = measure
        self._split_level, self._shared_ids, self._count = split_level, shared_ids, count
        self._parts: dict[tuple[int, int], int] = {}

    @classmethod
    def of(cls, run: Run, prefix: str = DEFAULT_PREFIX, shared_ids: frozenset[str] = frozenset()) -> DialectContext:
        """Return the context of a run; raise OptionError if it has offsets in several units."""
        measure = checked_measure(run.offsets)
        levels, split_level = run.heading_levels, run.split_level
        return cls(run.document, heading_levels=levels, prefix=prefix, split_level=split_level, measure=measure,
                   shared_ids=shared_ids, count=run.count)  # fmt: skip

    def full_tokens(self, record: Record) -> int:
        """Return the tokens of a record's full text, without what a template puts before it."""
        if self._count is None or record["embedding_text"] == record["full_text"]:
            return int(record["token_count"])
        return self._count(record["full_text"])

    @cached_property
    def note_id(self) -> str:
        """The id of the note: that of its front matter, if no other note of the run has it, else the document's."""
        own = self.document.metadata.extra.get("id")
        return own if isinstance(own, str) and own and own not in self._shared_ids else self.document.document_id

    @cached_property
    def plain(self) -> PlainText:
        """The document as a page shows it."""
        return plain_text_of(self.document)

    def place(self, record: Record) -> Place:
        """Return what is to be said of the next record."""
        first, last = key = record["block_start_idx"], record["block_end_idx"]
        self._parts[key] = self._parts.get(key, 0) + 1
        above = bisect_right(self._headings, describing_block(self.document.blocks, first, last))
        pieces = ((piece["start"], piece["end"], piece["joiner"]) for piece in record["pieces"])
        heading = self._headings[above - 1] if above else None
        return Place(self._parts[key], heading, self.plain.joined(pieces), self.heading_levels)

    @cached_property
    def _headings(self) -> list[int]:
        return [index for index, block in enumerate(self.document.blocks) if block.kind == "heading"]

    def section_block_id(self, record: Record) -> str | None:
        """Return the first block id in the section that a chunk begins in; without sections, that of its core."""
        own: str | None = record["block_id"]
        if self._split_level is None:
            return own
        blocks, first = self.document.blocks, record["block_start_idx"]
        low = first
        while low and not self._begins_section(low):
            low -= 1
        high = first + 1
        while high < len(blocks) and not self._begins_section(high):
            high += 1
        return next((block.block_id for block in blocks[low:high] if block.block_id), None)

    def _begins_section(self, index: int) -> bool:
        before, block = self.document.blocks[index - 1], self.document.blocks[index]
        opens = block.kind == "heading" and (block.level or 0) <= (self._split_level or 0)
        return opens or block.section_type != before.section_type


def checked_measure(offsets: Sequence[str]) -> str | None:
    """Return the one unit of offsets besides characters; raise OptionError for several: a dialect has one offset."""
    if len(offsets) > 1:
        rule = "must name one unit in a dialect, which has no place for more"
        raise OptionError("offsets", rule, value=", ".join(offsets), hint=f"try {offsets[0]}")
    return offsets[0] if offsets else None


def _renamed(record: Mapping[str, Any], dialect: str, own: Record) -> Record:
    """Return the fields of a dialect in order: its own, and those of the same name in the record or its metadata."""
    values = {**record["metadata"], **record, **own}
    return {name: values[name] for name in FIELDS_OF[dialect]}


def _range(record: Record, context: DialectContext) -> tuple[int, int]:
    """Return the range of a core in the unit of the run."""
    name = context.measure or "char"
    return record[f"{name}_start"], record[f"{name}_end"]


def _spec_v1(record: Record, context: DialectContext) -> Record:
    kind = record["chunk_type"] if record["chunk_type"] in SPEC_TYPES else "paragraph"
    start, end = _range(record, context)
    own = {"chunk_type": kind, "md_text": record["full_text"], "token_estimate": context.full_tokens(record),
           "char_start": start, "char_end": end}  # fmt: skip
    found = _renamed(record, "spec-v1", own)
    return found | {name: value for name, value in record["metadata"]["extra"].items() if name not in found}


def _confluence(record: Record, context: DialectContext) -> Record:
    return in_confluence(record, context.place(record), context.prefix)


def in_confluence(record: Mapping[str, Any], place: Place, prefix: str = DEFAULT_PREFIX) -> Record:
    """Return a record under the names of the dialect `confluence`."""
    path, plain = record["headings_path"], record["plain_text"]
    page = f"{prefix}:{record['metadata']['page_id'] or record['document_id']}"  # a document that is no page has an id
    name = f"{page}:{record['block_start_idx']}-{record['block_end_idx']}"
    own = {
        "chunk_id": name if place.part == 1 else f"{name}.{place.part}",
        "full_heading_hierarchy": path,
        "text_heading_hierarchy": path[-place.heading_levels :],
        "nearest_heading_id": None if place.heading is None else f"{page}-{place.heading}",
        "page_title": record["metadata"]["title"],
        "last_modified": record["metadata"]["updated_at"],
        "normalized_text": plain,
        "full_text": place.plain_full_text,
        "md_text": record["normalized_text"],
        "text_length": len(plain),
        "navigation": record["navigation"] | {"text_length": len(plain)},
    }
    return _renamed(record, "confluence", own)


def _notes(record: Record, context: DialectContext) -> Record:
    note, index, path = context.note_id, record["chunk_index"], record["headings_path"]
    own = {
        "id": _note_chunk(note, index),
        "note_id": note,
        "index": index,
        "text": record["full_text"],
        "window": record["embedding_text"],
        "token_count": context.full_tokens(record),
        "section_title": path[-1] if path else None,
        "section_path": "/" + "/".join(map(_escaped, path)),
        "block_id": context.section_block_id(record),
        "neighbors_prev": record["prev_chunk_id"] and _note_chunk(note, index - 1),
        "neighbors_next": record["next_chunk_id"] and _note_chunk(note, index + 1),
    }
    return _renamed(record, "notes", own)


def _escaped(heading: str) -> str:
    """Return a heading as a part of a path, so that the path can be split again."""
    return heading.replace("\\", "\\\\").replace("/", "\\/")


def path_parts(path: str) -> list[str]:
    """Return the headings of a `section_path`."""
    return [_ESCAPED.sub(r"\1", part) for part in _PATH_PART.findall(path)] if path != "/" else []


def _note_chunk(note: str, index: int) -> str:
    return f"{note}#c{index:02d}"


def _fixed_size(record: Record, context: DialectContext) -> Record:
    start, end = _range(record, context)
    overlapping = any(piece["role"].startswith("overlap") for piece in record["pieces"])
    return {
        "content": record["full_text"],
        "chunkIndex": record["chunk_index"],
        "startOffset": start,
        "endOffset": end,
        "chunkType": "fixed-size",
        "metadata": {"strategy": "FIXED_SIZE", "tokenCount": context.full_tokens(record), "hasOverlap": overlapping},
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
    context = DialectContext.of(run, prefix)
    if heading_levels is not None:
        context.heading_levels = heading_levels
    return list(translated((chunk.to_dict() for chunk in chunks), dialect, context))
