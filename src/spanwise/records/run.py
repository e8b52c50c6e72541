"""Run: all chunks of one call, and what they share."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from functools import cached_property
from itertools import pairwise
from typing import Any

from spanwise.chunking.pieces import SettledChunk, core_pieces, rendered
from spanwise.chunking.strategy import Note
from spanwise.documents.document import Document
from spanwise.documents.offsets import MEASURES
from spanwise.records.ids import chunk_id, content_head, owner_of, sha256
from spanwise.records.links.navigation import links_to


class Run:
    """All chunks of one call: what they share, so that each chunk is only a view."""

    def __init__(
        self,
        document: Document,
        strategy: str,
        settled: Sequence[SettledChunk],
        offsets: Sequence[str],
        heading_levels: int,
        parent_indices: Sequence[int | None] = (),
        notes: Sequence[Note] = (),
    ) -> None:
        """Keep what the chunks share.

        `heading_levels` is how many headings their tags name; `parent_indices` has for each chunk the index of its
        parent, if there are two levels; `notes` are what the strategy reports about ranges, in order.
        """
        self.document = document
        self.strategy = strategy
        self.settled = settled
        self.offsets = tuple(offsets)
        self.heading_levels = heading_levels
        self.parent_indices = parent_indices
        self.notes = tuple(notes)

    def is_parent(self, index: int) -> bool:
        """Whether a chunk contains others."""
        return bool(self.parent_indices) and self.parent_indices[index] is None

    @cached_property
    def owners(self) -> list[str]:
        """What the ids of each chunk begin with."""
        document_id, count = self.document.document_id, len(self.settled)
        if not self.parent_indices:
            return [document_id] * count
        return [owner_of(document_id, parent=self.is_parent(index)) for index in range(count)]

    @cached_property
    def chunk_ids(self) -> list[str]:
        """The ids of the chunks by their locations."""
        named = zip(self.owners, self.settled, strict=True)
        return [chunk_id(owner, one.first, one.last, one.start, one.end) for owner, one in named]

    @cached_property
    def _next(self) -> dict[int, int]:
        """The index of the next chunk on the same level, where there are two levels."""
        levels = (
            [index for index in range(len(self.settled)) if self.is_parent(index) == parent] for parent in (True, False)
        )
        return {index: following for level in levels for index, following in pairwise(level)}

    @cached_property
    def _previous(self) -> dict[int, int]:
        return {following: index for index, following in self._next.items()}

    def neighbours(self, index: int) -> tuple[str | None, str | None]:
        """Return the ids of the chunks before and after one, on the same level."""
        ids = self.chunk_ids
        if not self.parent_indices:
            return ids[index - 1] if index else None, ids[index + 1] if index + 1 < len(ids) else None
        before, after = self._previous.get(index), self._next.get(index)
        return None if before is None else ids[before], None if after is None else ids[after]

    def parent_id(self, index: int) -> str | None:
        """Return the id of a chunk's parent, if it has one."""
        parent = self.parent_indices[index] if self.parent_indices else None
        return None if parent is None else self.chunk_ids[parent]

    @cached_property
    def links(self) -> list[str | None]:
        """For each chunk the address that opens the source at its first words."""
        return links_to(self.document, [(settled.start, settled.end) for settled in self.settled])

    @cached_property
    def _metadata(self) -> dict[str, Any]:
        return self.document.metadata.to_dict()

    def metadata(self, index: int) -> dict[str, Any]:
        """Return the document's metadata for a chunk, with the links in its core.

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
        """Return what the strategy reports about a core that begins here, under the strategy's name."""
        index = bisect_right(self.notes, start, key=lambda note: note.start) - 1
        noted = index >= 0 and start < self.notes[index].end
        return {self.strategy: {"fallback": self.notes[index].reason}} if noted else {}

    @cached_property
    def content_ids(self) -> list[str]:
        """The ids of the chunks by their content: a change elsewhere leaves them alone."""
        text, blocks, ids = self.document.text, self.document.blocks, list[str]()
        heads: dict[tuple[str, tuple[str, ...]], str] = {}
        names: dict[str, str] = {}  # each heading is hashed once: a long one may be above thousands of chunks
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
        """The positions of all pieces in the other measures that were asked for."""
        edges = sorted({edge for settled in self.settled for piece in settled.all_pieces for edge in piece[:2]})
        text = self.document.text
        return {name: dict(zip(edges, MEASURES[name](text, edges), strict=True)) for name in self.offsets}


def core_text(text: str, settled: SettledChunk) -> str:
    """Return the text of a chunk that belongs to no other chunk."""
    pieces = settled.pieces
    return rendered(text, core_pieces(pieces)) if pieces else text[settled.start : settled.end]
