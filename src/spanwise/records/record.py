"""The record of a chunk: the names of its fields, and how each is found out.

A record asks for everything at once, a `Chunk` for one field at a time; both come here.
"""

from __future__ import annotations

import hashlib
import json
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import pairwise
from typing import Any, Final

from spanwise.chunking.pieces import Piece, SettledChunk, core_pieces, rendered
from spanwise.documents.document import LEFT_OUT_KINDS, Block, Document, Part
from spanwise.documents.offsets import MEASURES
from spanwise.records.links.navigation import links_to, navigation_of

TWO_LEVELS: Final = frozenset({"hierarchical"})
"""The strategies whose chunks are parents and children."""
FIELDS: Final = (
    "chunk_id", "content_id", "content_hash", "document_id", "tenant_id", "chunk_index", "strategy", "chunk_type",
    "headings_path", "section_type", "block_id", "char_start", "char_end", "pieces", "block_start_idx",
    "block_end_idx", "block_indices", "core_block_indices", "overlap_prev_block_indices",
    "overlap_next_block_indices", "page_start", "page_end", "normalized_text", "full_text", "embedding_text",
    "token_count", "oversize", "context_dropped", "prev_chunk_id", "next_chunk_id", "parent_id", "navigation",
    "metadata",
)  # fmt: skip
"""The names of the record, in its order."""

_json: Final = json.JSONEncoder(ensure_ascii=False).encode


class Run:
    """All chunks of one call: what they share, so that each chunk is only a view."""

    def __init__(
        self,
        document: Document,
        strategy: str,
        settled: Sequence[SettledChunk],
        offsets: Sequence[str],
        heading_levels: int,
        homes: Sequence[int | None] = (),
        notes: Sequence[tuple[int, int, str]] = (),
    ) -> None:
        """Keep what the chunks look at.

        `heading_levels` is how many headings their tags name; `homes` say for each where its parent stands, if there
        are two levels; `notes` are ranges, in order, of which the strategy has something to say.
        """
        self.document = document
        self.strategy = strategy
        self.settled = settled
        self.offsets = tuple(offsets)
        self.heading_levels = heading_levels
        self.homes = homes
        self.notes = tuple(notes)

    def is_parent(self, index: int) -> bool:
        """Whether a chunk is one that others lie in."""
        return bool(self.homes) and self.homes[index] is None

    @cached_property
    def owners(self) -> list[str]:
        """The name that the ids of each chunk begin with: a parent may be equal to its only child."""
        document_id, count = self.document.document_id, len(self.settled)
        if not self.homes:
            return [document_id] * count
        return [owner_of(document_id, parent=self.is_parent(index)) for index in range(count)]

    @cached_property
    def chunk_ids(self) -> list[str]:
        """Name the chunks by where they stand."""
        named = zip(self.owners, self.settled, strict=True)
        return [sha256(f"{owner}:{s.first}:{s.last}:{s.start}:{s.end}") for owner, s in named]

    @cached_property
    def _beside(self) -> dict[int, int]:
        """For each chunk the next one of its level; only where there are two."""
        levels = (
            [index for index in range(len(self.settled)) if self.is_parent(index) == parent] for parent in (True, False)
        )
        return {index: following for level in levels for index, following in pairwise(level)}

    @cached_property
    def _behind(self) -> dict[int, int]:
        return {following: index for index, following in self._beside.items()}

    def neighbours(self, index: int) -> tuple[str | None, str | None]:
        """Give the names of the chunks before and after one, of the same level."""
        ids = self.chunk_ids
        if not self.homes:
            return ids[index - 1] if index else None, ids[index + 1] if index + 1 < len(ids) else None
        before, after = self._behind.get(index), self._beside.get(index)
        return None if before is None else ids[before], None if after is None else ids[after]

    def parent_id(self, index: int) -> str | None:
        """Give the name of a chunk's parent, if it has one."""
        home = self.homes[index] if self.homes else None
        return None if home is None else self.chunk_ids[home]

    @cached_property
    def links(self) -> list[str | None]:
        """Give for each chunk the address that opens the source at its first words."""
        return links_to(self.document, [(settled.start, settled.end) for settled in self.settled])

    @cached_property
    def _metadata(self) -> dict[str, Any]:
        return self.document.metadata.to_dict()

    def metadata(self, index: int) -> dict[str, Any]:
        """Give the document's metadata for a chunk, with the links that stand in its core.

        All links of the document in every record would make a large document's records grow with its square.
        """
        starts, settled, record = self.document.link_starts, self.settled[index], self._metadata.copy()
        links, record["labels"], record["extra"] = record["links"], record["labels"].copy(), record["extra"].copy()
        if self.notes:
            record["extra"] |= self._note(settled.start)
        low, high = (bisect_left(starts, settled.start), bisect_left(starts, settled.end)) if starts else (0, None)
        record["links"] = links[low:high]
        return record

    def _note(self, start: int) -> dict[str, Any]:
        """Give what the strategy has to say of a core that begins here, under the strategy's own name."""
        place = bisect_right(self.notes, start, key=lambda note: note[0]) - 1
        said = place >= 0 and start < self.notes[place][1]
        return {self.strategy: {"fallback": self.notes[place][2]}} if said else {}

    @cached_property
    def content_ids(self) -> list[str]:
        """Name the chunks by what they say, so that a change elsewhere leaves the name alone."""
        text, blocks, ids = self.document.text, self.document.blocks, list[str]()
        heads: dict[tuple[str, tuple[str, ...]], str] = {}
        names: dict[str, str] = {}  # each heading is hashed once: a long one may stand over thousands of chunks
        times: dict[str, int] = {}
        for owner, settled in zip(self.owners, self.settled, strict=True):
            path = blocks[settled.first].headings_path
            head = heads.get((owner, path))
            if head is None:
                names |= {name: sha256(name) for name in path if name not in names}
                head = heads[owner, path] = content_head(owner, [names[name] for name in path])
            core = core_text(text, settled)
            name = sha256(f"{head}0\n{core}")
            ordinal = times[name] = times.get(name, -1) + 1
            ids.append(sha256(f"{head}{ordinal}\n{core}") if ordinal else name)
        return ids

    @cached_property
    def measured(self) -> dict[str, dict[int, int]]:
        """The pieces' positions in the other measures that were asked for."""
        places = sorted({place for settled in self.settled for piece in settled.all_pieces for place in piece[:2]})
        text = self.document.text
        return {name: dict(zip(places, MEASURES[name](text, places), strict=True)) for name in self.offsets}


def record_of(run: Run, index: int) -> dict[str, Any]:
    """Give the record of one chunk."""
    document = run.document
    start, end, first, last, token_count, around, prefix, oversize, context_dropped = settled = run.settled[index]
    blocks, block = document.blocks, document.blocks[first]
    core, before, after = core_blocks(document, settled), list[int](), list[int]()
    words = full_text = core_text(document.text, settled)
    if around:
        full_text = rendered(document.text, around)
        before, after = (blocks_in(document, around, role) for role in ("overlap_prev", "overlap_next"))
    embedding_text = prefix + full_text
    prev_chunk_id, next_chunk_id = run.neighbours(index)
    record = {
        "chunk_id": run.chunk_ids[index], "content_id": run.content_ids[index], "content_hash": sha256(embedding_text),
        "document_id": document.metadata.document_id, "tenant_id": document.metadata.tenant_id,
        "chunk_index": index, "strategy": run.strategy, "chunk_type": chunk_type(blocks, core),
        "headings_path": list(block.headings_path), "section_type": block.section_type,
        "block_id": block_id(blocks, core, start, end), "char_start": start, "char_end": end,
        "pieces": list(map(_piece, around)) if around else [_piece((start, end, "core", ""))],
        "block_start_idx": first, "block_end_idx": last,
        "block_indices": sorted({*before, *core, *after}) if around else core, "core_block_indices": core,
        "overlap_prev_block_indices": before, "overlap_next_block_indices": after,
        "page_start": block.page, "page_end": blocks[last].page,
        "normalized_text": words, "full_text": full_text, "embedding_text": embedding_text,
        "token_count": token_count, "oversize": oversize, "context_dropped": context_dropped,
        "prev_chunk_id": prev_chunk_id, "next_chunk_id": next_chunk_id, "parent_id": run.parent_id(index),
        "navigation": navigation_of(document, block, words, run.links[index]), "metadata": run.metadata(index),
    }  # fmt: skip
    if run.offsets:
        _add_offsets(run, record)
    return record


def records_of(run: Run) -> Iterator[dict[str, Any]]:
    """Give the records of a run, one after the other."""
    return (record_of(run, index) for index in range(len(run.settled)))


def is_parent(record: Mapping[str, Any]) -> bool:
    """Whether a record is one of a parent: the outer of two levels."""
    return record.get("strategy") in TWO_LEVELS and record.get("parent_id") is None


def owner_of(document_id: str, *, parent: bool) -> str:
    """Give the name that the ids of a chunk begin with."""
    return f"{document_id}/parent" if parent else document_id


def content_head(owner: str, hashed_path: Sequence[str]) -> str:
    """Give the JSON that a content id hashes first, before the ordinal, a line end and the text."""
    path = '", "'.join(hashed_path)  # hashes need no escapes, and there is a path for every second chunk
    return f'[{_json(owner)}, ["{path}"]]' if path else f"[{_json(owner)}, []]"


def content_digest(owner: str, hashed_path: Sequence[str]) -> Any:
    """Begin the hash that is a content id: it goes on with the ordinal, a line end and the text."""
    return hashlib.sha256(content_head(owner, hashed_path).encode())


def core_text(text: str, settled: SettledChunk) -> str:
    """Give the words of a chunk that belong to no other."""
    pieces = settled.pieces
    return rendered(text, core_pieces(pieces)) if pieces else text[settled.start : settled.end]


def core_blocks(document: Document, settled: SettledChunk) -> list[int]:
    """Give the blocks of a core: all between the first and the last that are content."""
    first, last, blocks = settled.first, settled.last, document.blocks
    if first == last:
        return [first]
    if settled.pieces:  # something between may be left out
        return blocks_in(document, settled.pieces, "core")
    return [index for index in range(first, last + 1) if blocks[index].kind not in LEFT_OUT_KINDS]


def blocks_in(document: Document, pieces: Iterable[Piece], role: str) -> list[int]:
    """Give the content blocks that the pieces of one role come from."""
    starts, blocks = document.block_starts, document.blocks
    found: set[int] = set()
    for piece in pieces:
        index = max(bisect_right(starts, piece.start) - 1, 0)
        while piece.role == role and index < len(blocks) and starts[index] < piece.end:
            if blocks[index].end > piece.start and blocks[index].kind not in LEFT_OUT_KINDS:
                found.add(index)
            index += 1
    return sorted(found)


def chunk_type(blocks: Sequence[Block], core: Iterable[int]) -> str:
    """Give the kind that all core blocks share, else `mixed`."""
    kinds = {blocks[index].kind for index in core}
    if "html" in kinds:
        kinds = (kinds - {"html"}) | {"paragraph"}
    return kinds.pop() if len(kinds) == 1 else "mixed"


def block_id(blocks: Sequence[Block], core: Iterable[int], start: int, end: int) -> str | None:
    """Give the first block id in a core; of a list that is only partly in it, the id of an item that is."""
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


def sha256(words: str) -> str:
    """Hash a text, in hex."""
    return hashlib.sha256(words.encode()).hexdigest()


def _piece(piece: tuple[int, int, str, str]) -> dict[str, Any]:
    start, end, role, joiner = piece
    return {"start": start, "end": end, "role": role, "joiner": joiner}


def _add_offsets(run: Run, record: dict[str, Any]) -> None:
    """Give all ranges in the other measures as well."""
    for name, places in run.measured.items():
        record[f"{name}_start"], record[f"{name}_end"] = places[record["char_start"]], places[record["char_end"]]
        for piece in record["pieces"]:
            piece[f"{name}_start"], piece[f"{name}_end"] = places[piece["start"]], places[piece["end"]]
