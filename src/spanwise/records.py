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

from spanwise.documents import LEFT_OUT_KINDS, Block, Document, Part
from spanwise.navigation import links_to, navigation_of
from spanwise.offsets import MEASURES
from spanwise.pieces import Piece, Settled, core_pieces, rendered

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


class Run:
    """All chunks of one call: what they share, so that each chunk is only a view."""

    def __init__(
        self,
        document: Document,
        strategy: str,
        settled: Sequence[Settled],
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
        document_id = self.document.document_id
        return [owner_of(document_id, parent=self.is_parent(index)) for index in range(len(self.settled))]

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
        if self.homes:
            places = self._behind.get(index), self._beside.get(index)
        else:
            places = index - 1 if index else None, index + 1 if index + 1 < len(self.settled) else None
        before, after = (None if place is None else self.chunk_ids[place] for place in places)
        return before, after

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
        shared, starts = self._metadata, self.document.link_starts
        links = shared["links"]
        if starts:
            settled = self.settled[index]
            links = links[bisect_left(starts, settled.start) : bisect_left(starts, settled.end)]
        extra = {**shared["extra"], **self._note(self.settled[index].start)}
        return {**shared, "labels": shared["labels"].copy(), "links": links.copy(), "extra": extra}

    def _note(self, start: int) -> dict[str, Any]:
        """Give what the strategy has to say of a core that begins here, under the strategy's own name."""
        place = bisect_right(self.notes, start, key=lambda note: note[0]) - 1
        said = place >= 0 and start < self.notes[place][1]
        return {self.strategy: {"fallback": self.notes[place][2]}} if said else {}

    @cached_property
    def content_ids(self) -> list[str]:
        """Name the chunks by what they say, so that a change elsewhere leaves the name alone."""
        document, ids = self.document, list[str]()
        seen: dict[tuple[str, tuple[str, ...], str], int] = {}
        names: dict[str, str] = {}  # each heading is hashed once: a long one may stand over thousands of chunks
        begun: dict[tuple[str, tuple[str, ...]], Any] = {}
        for owner, settled in zip(self.owners, self.settled, strict=True):
            path = document.blocks[settled.first].headings_path
            text = rendered(document.text, core_pieces(settled.all_pieces))
            ordinal = seen[owner, path, text] = seen.get((owner, path, text), -1) + 1
            if (owner, path) not in begun:
                names |= {name: sha256(name) for name in path if name not in names}
                begun[owner, path] = content_digest(owner, [names[name] for name in path])
            digest = begun[owner, path].copy()
            digest.update(f"{ordinal}\n{text}".encode())
            ids.append(digest.hexdigest())
        return ids

    @cached_property
    def measured(self) -> dict[str, dict[int, int]]:
        """The pieces' positions in the other measures that were asked for."""
        places = sorted({place for settled in self.settled for piece in settled.all_pieces for place in piece[:2]})
        text = self.document.text
        return {name: dict(zip(places, MEASURES[name](text, places), strict=True)) for name in self.offsets}


def record_of(run: Run, index: int) -> dict[str, Any]:
    """Give the record of one chunk."""
    document, settled = run.document, run.settled[index]
    text, blocks, pieces = document.text, document.blocks, settled.all_pieces
    first = blocks[settled.first]
    core, before, after = core_blocks(document, settled), list[int](), list[int]()
    core_text = full_text = rendered(text, pieces)
    if settled.pieces:
        core_text = rendered(text, core_pieces(pieces))
        before, after = (blocks_in(document, pieces, role) for role in ("overlap_prev", "overlap_next"))
    embedding_text = settled.prefix + full_text
    values = (
        run.chunk_ids[index], run.content_ids[index], sha256(embedding_text), document.document_id,
        document.metadata.tenant_id, index, run.strategy, chunk_type(blocks, core), list(first.headings_path),
        first.section_type, block_id(blocks, core, settled.start, settled.end), settled.start, settled.end,
        list(map(_piece, pieces)),
        settled.first, settled.last, sorted({*before, *core, *after}) if settled.pieces else core, core, before, after,
        first.page, blocks[settled.last].page, core_text, full_text, embedding_text, settled.token_count,
        settled.oversize, settled.context_dropped, *run.neighbours(index), run.parent_id(index),
        navigation_of(document, first, core_text, run.links[index]), run.metadata(index),
    )  # fmt: skip
    record = dict(zip(FIELDS, values, strict=True))
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


def content_digest(owner: str, hashed_path: Sequence[str]) -> Any:
    """Begin the hash that is a content id: it goes on with the ordinal, a line end and the text."""
    return hashlib.sha256(json.dumps([owner, list(hashed_path)], ensure_ascii=False).encode())


def core_blocks(document: Document, settled: Settled) -> list[int]:
    """Give the blocks of a core: all between the first and the last that are content."""
    indices = range(settled.first, settled.last + 1)
    if len(indices) == 1:
        return [settled.first]
    if settled.pieces:  # something between may be left out
        return blocks_in(document, settled.pieces, "core")
    return [index for index in indices if document.blocks[index].kind not in LEFT_OUT_KINDS]


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
    kinds = {"paragraph" if kind == "html" else kind for kind in kinds}
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


def _piece(piece: Piece) -> dict[str, Any]:
    start, end, role, joiner = piece
    return {"start": start, "end": end, "role": role, "joiner": joiner}


def _add_offsets(run: Run, record: dict[str, Any]) -> None:
    """Give all ranges in the other measures as well."""
    for name, places in run.measured.items():
        record[f"{name}_start"], record[f"{name}_end"] = places[record["char_start"]], places[record["char_end"]]
        for piece in record["pieces"]:
            piece[f"{name}_start"], piece[f"{name}_end"] = places[piece["start"]], places[piece["end"]]
