"""Run: all chunks of one call, and what they share."""

from __future__ import annotations

import weakref
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from itertools import pairwise
from typing import Any, Final

from spanwise.chunking.pieces import SettledChunk, core_pieces, rendered
from spanwise.chunking.strategy import Note, StrategyTraits
from spanwise.documents.document import AS_WRITTEN, Block, Document, Metadata, describing_block
from spanwise.documents.offsets import MEASURES
from spanwise.records.ids import chunk_id, content_head, owner_of, sha256
from spanwise.records.links.navigation import links_to
from spanwise.text.plain import PlainText
from spanwise.text.tokens import FullTokenizer, tokenizer_of

_LARGEST: Final = 2**63 - 1  # that JSON and Parquet can hold


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
        *,
        tokenizer: FullTokenizer,
        max_tokens: int | None,
        parent_tokens: int | None = None,
        split_level: int | None = None,
        traits: StrategyTraits | None = None,
    ) -> None:
        """Keep what the chunks share.

        `heading_levels` is how many headings their tags name; `parent_indices` has for each chunk the index of its
        parent, if there are two levels; `notes` are what the strategy reports about ranges, in order. `tokenizer`
        counted them, `max_tokens` is their limit, `parent_tokens` that of parents; `split_level` is the
        last level of headings that begin a section, where the strategy has sections; `traits` are what `check` judges
        them by, where the strategy isn't known by its name.
        """
        self.document = document
        self.strategy = strategy
        self.settled = settled
        self.offsets = tuple(offsets)
        self.heading_levels = heading_levels
        self.parent_indices = parent_indices
        self.notes = tuple(notes)
        self.counting: FullTokenizer | None = tokenizer
        self.tokenizer = tokenizer.name
        self.split_level = split_level
        self.traits = traits or StrategyTraits(strategy)
        self._limits = {False: max_tokens, True: parent_tokens}  # of chunks, of parents

    def __getstate__(self) -> dict[str, Any]:
        """Return what is sent to other processes: a tokenizer is made anew there, by its name."""
        return self.__dict__ | {"counting": None}

    def count(self, text: str) -> int:
        """Count the tokens of a text with what counted the chunks."""
        return (self.counting or tokenizer_of(self.tokenizer)).count(text)

    def limit(self, index: int) -> int | None:
        """Return how many tokens a chunk may have at most; None without a limit."""
        limit = self._limits[self.is_parent(index)]
        return None if limit is None else min(limit, _LARGEST)

    def describing_block(self, index: int) -> Block:
        """Return the block whose headings path and section type a chunk has."""
        blocks, settled = self.document.blocks, self.settled[index]
        if self.traits.described_by_first:
            return blocks[settled.first]
        return blocks[describing_block(blocks, settled.first, settled.last)]

    @cached_property
    def plain(self) -> PlainText:
        """The document as a page shows it."""
        return plain_text_of(self.document)

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
        """Return the document's metadata for the record of a chunk, with the links in its core.

        All links of the document in every record would make a large document's records grow with its square.
        """
        record = self._metadata.copy()
        record["labels"], record["extra"] = record["labels"].copy(), record["extra"] | self._note(index)
        record["links"] = record["links"][self._links_in(index)]
        return record

    def chunk_metadata(self, index: int) -> Metadata:
        """Return what `metadata` returns, as `Metadata`."""
        known, note = self.document.metadata, self._note(index)
        links = known.links[self._links_in(index)]
        if not note and len(links) == len(known.links):
            return known
        return replace(known, links=links, extra={**known.extra, **note})

    def _links_in(self, index: int) -> slice:
        """Return which of the document's links are in a core; all where their places aren't known."""
        starts, settled = self.document.link_starts, self.settled[index]
        return slice(bisect_left(starts, settled.start), bisect_left(starts, settled.end)) if starts else slice(None)

    def _note(self, index: int) -> dict[str, Any]:
        """Return what the strategy reports about a core, under the strategy's name."""
        if not self.notes:
            return {}
        start = self.settled[index].start
        at = bisect_right(self.notes, start, key=lambda note: note.start) - 1
        noted = at >= 0 and start < self.notes[at].end
        return {self.strategy: {"fallback": self.notes[at].reason}} if noted else {}

    @cached_property
    def content_ids(self) -> list[str]:
        """The ids of the chunks by their content: a change elsewhere leaves them alone."""
        text, ids = self.document.text, list[str]()
        heads: dict[tuple[str, tuple[str, ...]], str] = {}
        names: dict[str, str] = {}  # each heading is hashed once: a long one may be above thousands of chunks
        times: dict[str, int] = {}
        for index, (owner, settled) in enumerate(zip(self.owners, self.settled, strict=True)):
            path = self.describing_block(index).headings_path
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


def plain_text_of(document: Document) -> PlainText:
    """Return a document's text with what a page doesn't show of it; that of the last document is kept."""
    global _last_plain
    owner, plain = _last_plain
    if owner is None or owner() is not document:
        plain = PlainText(document.text, is_markdown=document.metadata.source_type not in AS_WRITTEN)
        _last_plain = weakref.ref(document), plain
    return plain


_last_plain: tuple[weakref.ref[Document] | None, PlainText] = (None, PlainText(""))


def core_text(text: str, settled: SettledChunk) -> str:
    """Return the text of a chunk that belongs to no other chunk."""
    pieces = settled.pieces
    return rendered(text, core_pieces(pieces)) if pieces else text[settled.start : settled.end]
