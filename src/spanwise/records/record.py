"""The record of a chunk: the names of its fields, and how each is computed, for `Chunk` and for whole records."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from spanwise.chunking.pieces import Piece, SettledChunk, rendered
from spanwise.chunking.strategies import STRATEGIES
from spanwise.chunking.task import block_at
from spanwise.documents.document import LEFT_OUT_KINDS, Block, Document, Part
from spanwise.records.ids import sha256
from spanwise.records.links.navigation import navigation_of
from spanwise.records.run import Run, core_text

FIELDS: Final = (
    "chunk_id", "content_id", "content_hash", "document_id", "tenant_id", "chunk_index", "strategy", "chunk_type",
    "headings_path", "section_type", "block_id", "char_start", "char_end", "pieces", "block_start_idx",
    "block_end_idx", "block_indices", "core_block_indices", "overlap_prev_block_indices",
    "overlap_next_block_indices", "page_start", "page_end", "normalized_text", "plain_text", "full_text",
    "embedding_text",
    "token_count", "tokenizer", "max_tokens", "oversize", "context_dropped", "prev_chunk_id", "next_chunk_id",
    "parent_id", "navigation", "metadata",
)  # fmt: skip
"""The names of the record, in its order."""
TAGS: Final = re.compile(r"(?=\[)(?:\[PAGE\] (?P<page>[^\n]*)\n)?(?:\[SECTION\] (?P<section>[^\n]*)\n)?\[TEXT\] ")
"""What the template `tags` puts before a text."""


def offset_names(offsets: Sequence[str]) -> tuple[str, ...]:
    """Return the names of the ranges in other units."""
    return tuple(f"{name}_{edge}" for name in offsets for edge in ("start", "end"))


def record_of(run: Run, index: int) -> dict[str, Any]:
    """Return the record of one chunk."""
    document = run.document
    start, end, first, last, token_count, around, _, oversize, context_dropped = settled = run.settled[index]
    blocks, block, described = document.blocks, document.blocks[first], run.describing_block(index)
    core, before, after = core_blocks(document, settled), list[int](), list[int]()
    normalized_text = full_text = core_text(document.text, settled)
    if around:
        full_text = rendered(document.text, around)
        before, after = (blocks_in(document, around, role) for role in ("overlap_prev", "overlap_next"))
    embedding_text = run.embedding_text(settled, full_text)
    prev_chunk_id, next_chunk_id = run.neighbours(index)
    record = {
        "chunk_id": run.chunk_ids[index], "content_id": run.content_ids[index], "content_hash": sha256(embedding_text),
        "document_id": document.metadata.document_id, "tenant_id": document.metadata.tenant_id,
        "chunk_index": index, "strategy": run.strategy, "chunk_type": chunk_type(blocks, core),
        "headings_path": list(described.headings_path), "section_type": described.section_type,
        "block_id": block_id(blocks, core, start, end), "char_start": start, "char_end": end,
        "pieces": list(map(_piece, around)) if around else [_piece((start, end, "core", ""))],
        "block_start_idx": first, "block_end_idx": last,
        "block_indices": sorted({*before, *core, *after}) if around else core, "core_block_indices": core,
        "overlap_prev_block_indices": before, "overlap_next_block_indices": after,
        "page_start": block.page, "page_end": blocks[last].page,
        "normalized_text": normalized_text, "plain_text": run.plain_core(settled), "full_text": full_text,
        "embedding_text": embedding_text,
        "token_count": token_count, "tokenizer": run.tokenizer, "max_tokens": run.limit(index),
        "oversize": oversize, "context_dropped": context_dropped,
        "prev_chunk_id": prev_chunk_id, "next_chunk_id": next_chunk_id, "parent_id": run.parent_id(index),
        "navigation": navigation_of(document, block, normalized_text, run.links[index]),
        "metadata": run.metadata(index),
    }  # fmt: skip
    if run.offsets:
        _add_offsets(run, record)
    return record


def prefix_of(record: Mapping[str, Any]) -> str:
    """Return what the template put before the text of a record for the embedder.

    Where that text is plain, this is what looks like a template's: tags, or a line of title and headings.
    """
    embedded = str(record["embedding_text"])
    if embedded.endswith(full := record["full_text"]):
        return embedded[: len(embedded) - len(full)]
    if tags := TAGS.match(embedded):
        return tags[0]
    line = embedded[: embedded.find("\n") + 1]
    return line if line and is_path_line(line, record) and not _is_taken_from(embedded, full) else ""


def _is_taken_from(plain: str, full: str) -> bool:
    """Whether a text is another one with characters taken out: then a template has put nothing before it."""
    place = 0
    return all((place := full.find(character, place) + 1) for character in plain)


def is_path_line(line: str, record: Mapping[str, Any]) -> bool:
    """Whether a line is what a template makes of title and headings: the end of the path, a title that may be cut."""
    line = line.rstrip("\n")
    title = " ".join((record["metadata"].get("title") or "").split())
    path = [" ".join(name.split()) for name in record["headings_path"]]
    if line and title.startswith(line):
        return True
    tails = [" > ".join(path[index:]) for index in range(len(path))]
    return any(
        line == tail or (line.endswith(f" > {tail}") and title.startswith(line[: -len(tail) - 3])) for tail in tails
    )


def records_of(run: Run) -> Iterator[dict[str, Any]]:
    """Yield the records of a run."""
    return (record_of(run, index) for index in range(len(run.settled)))


def has_parents(strategy: object) -> bool:
    """Whether a strategy of this name makes parents and children."""
    return isinstance(strategy, str) and strategy in STRATEGIES and STRATEGIES[strategy].has_parents


def is_parent(record: Mapping[str, Any]) -> bool:
    """Whether a record is one of a parent: the outer of two levels."""
    return record.get("parent_id") is None and has_parents(record.get("strategy"))


def core_blocks(document: Document, settled: SettledChunk) -> list[int]:
    """Return the blocks of a core: all between the first and the last that are content."""
    first, last, blocks = settled.first, settled.last, document.blocks
    if first == last:
        return [first]
    if settled.pieces:  # something between may be left out
        return blocks_in(document, settled.pieces, "core")
    return [index for index in range(first, last + 1) if blocks[index].kind not in LEFT_OUT_KINDS]


def blocks_in(document: Document, pieces: Iterable[Piece], role: str) -> list[int]:
    """Return the content blocks that the pieces of one role come from."""
    starts, blocks = document.block_starts, document.blocks
    found: set[int] = set()
    for piece in pieces:
        index = block_at(document, piece.start)
        while piece.role == role and index < len(blocks) and starts[index] < piece.end:
            if blocks[index].end > piece.start and blocks[index].kind not in LEFT_OUT_KINDS:
                found.add(index)
            index += 1
    return sorted(found)


def chunk_type(blocks: Sequence[Block], core: Iterable[int]) -> str:
    """Return the kind that all core blocks share, else `mixed`."""
    kinds = {blocks[index].kind for index in core}
    if "html" in kinds:
        kinds = (kinds - {"html"}) | {"paragraph"}
    return kinds.pop() if len(kinds) == 1 else "mixed"


def block_id(blocks: Sequence[Block], core: Iterable[int], start: int, end: int) -> str | None:
    """Return the first block id in a core; of a list that is only partly in it, the id of an item that is."""
    for index in core:
        block = blocks[index]
        if block.block_id is None:
            continue
        if block.kind != "list" or (start <= block.start and block.end <= end):
            return block.block_id
        if found := next(_part_ids(block.parts, start, end), None):
            return found
    return None


def _part_ids(parts: Iterable[Part], start: int, end: int) -> Iterator[str]:
    for part in parts:
        if part.end > start and part.start < end:
            if part.block_id is not None and part.start >= start:
                yield part.block_id
            yield from _part_ids(part.parts, start, end)


def _piece(piece: tuple[int, int, str, str]) -> dict[str, Any]:
    start, end, role, joiner = piece
    return {"start": start, "end": end, "role": role, "joiner": joiner}


def _add_offsets(run: Run, record: dict[str, Any]) -> None:
    """Add all ranges in the other measures."""
    for name, positions in run.measured.items():
        record[f"{name}_start"], record[f"{name}_end"] = positions[record["char_start"]], positions[record["char_end"]]
        for piece in record["pieces"]:
            piece[f"{name}_start"], piece[f"{name}_end"] = positions[piece["start"]], positions[piece["end"]]
