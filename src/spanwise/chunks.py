"""Chunk: how it reads as text, its ids, its record; and the run of chunks that one call makes.

A chunk is a list of ranges, never a copied string: its texts are put together when somebody asks for them.
"""

from __future__ import annotations

import hashlib
import json
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import Any, Final

from spanwise.documents import LEFT_OUT_KINDS, Block, Document
from spanwise.navigation import navigation_of
from spanwise.offsets import MEASURES
from spanwise.pieces import Piece, Settled, core_pieces, rendered


class Run:
    """All chunks of one call: what they share, so that each chunk is only a view."""

    def __init__(self, document: Document, strategy: str, settled: Sequence[Settled], offsets: Sequence[str]) -> None:
        """Keep what the chunks look at."""
        self.document = document
        self.strategy = strategy
        self.settled = settled
        self.offsets = tuple(offsets)

    def chunk_id(self, index: int) -> str | None:
        """Name a chunk by where it stands; None outside the run."""
        if not 0 <= index < len(self.settled):
            return None
        settled = self.settled[index]
        words = (self.document.document_id, settled.first, settled.last, settled.start, settled.end)
        return _sha256(":".join(map(str, words)))

    @cached_property
    def metadata(self) -> dict[str, Any]:
        """The document's metadata, made ready once: a document may have thousands of links."""
        return self.document.metadata.to_dict()

    @cached_property
    def content_ids(self) -> list[str]:
        """Name the chunks by what they say, so that a change elsewhere leaves the name alone."""
        document, seen, ids = self.document, dict[tuple[tuple[str, ...], str], int](), list[str]()
        names: dict[str, str] = {}
        for settled in self.settled:
            path = document.blocks[settled.first].headings_path
            text = rendered(document.text, core_pieces(settled.all_pieces))
            for name in path:  # each is hashed once: a long heading may stand over thousands of chunks
                if name not in names:
                    names[name] = _sha256(name)
            ordinal = seen[path, text] = seen.get((path, text), -1) + 1
            said = [document.document_id, [names[name] for name in path], text, ordinal]
            ids.append(_sha256(json.dumps(said, ensure_ascii=False)))
        return ids

    @cached_property
    def measured(self) -> dict[str, dict[int, int]]:
        """The pieces' positions in the other measures that were asked for."""
        places = sorted({place for settled in self.settled for piece in settled.all_pieces for place in piece[:2]})
        text = self.document.text
        return {name: dict(zip(places, MEASURES[name](text, places), strict=True)) for name in self.offsets}


class Chunk:
    """One unit to index. Its attributes carry the names of the record that `to_dict()` gives."""

    __slots__ = ("_run", "_settled", "chunk_index")

    _run: Run
    _settled: Settled
    chunk_index: int

    def __init__(self, run: Run, chunk_index: int) -> None:
        """Look at one settled chunk of a run."""
        place = object.__setattr__
        place(self, "_run", run)
        place(self, "_settled", run.settled[chunk_index])
        place(self, "chunk_index", chunk_index)

    def __setattr__(self, name: str, value: object) -> None:
        """Refuse: a chunk is a value."""
        raise AttributeError(f"a chunk can't be changed: {name}")

    def __delattr__(self, name: str) -> None:
        """Refuse: a chunk is a value."""
        raise AttributeError(f"a chunk can't be changed: {name}")

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle as the run and the number."""
        return Chunk, (self._run, self.chunk_index)

    def __eq__(self, other: object) -> bool:
        """Chunks are equal when their records are."""
        return isinstance(other, Chunk) and (self is other or self.to_dict() == other.to_dict())

    def __hash__(self) -> int:
        """Hash by id."""
        return hash(self.chunk_id)

    def __repr__(self) -> str:
        """Show the place and the beginning of the core."""
        shown = self.normalized_text[:40]
        return f"Chunk({self.chunk_index}, [{self.char_start}:{self.char_end}], {self.chunk_type}, {shown!r}…)"

    @property
    def document(self) -> Document:
        """The document that this chunk is a part of."""
        return self._run.document

    @property
    def strategy(self) -> str:
        """The name of the strategy that made it."""
        return self._run.strategy

    @property
    def document_id(self) -> str:
        """The document's id."""
        return self._run.document.document_id

    @property
    def tenant_id(self) -> str | None:
        """The document's tenant."""
        return self._run.document.metadata.tenant_id

    @property
    def pieces(self) -> tuple[Piece, ...]:
        """The ranges it is made of, in order."""
        return self._settled.all_pieces

    @property
    def token_count(self) -> int:
        """Exact tokens of `embedding_text`."""
        return self._settled.token_count

    @property
    def oversize(self) -> bool:
        """Whether it is a figure over the limit."""
        return self._settled.oversize

    @property
    def context_dropped(self) -> bool:
        """Whether a table head or fence was not repeated for lack of room."""
        return self._settled.context_dropped

    @property
    def char_start(self) -> int:
        """Where the core starts in the document's text."""
        return self._settled.start

    @property
    def char_end(self) -> int:
        """Where the core ends in the document's text."""
        return self._settled.end

    @property
    def block_start_idx(self) -> int:
        """The first block of the core."""
        return self._settled.first

    @property
    def block_end_idx(self) -> int:
        """The last block of the core."""
        return self._settled.last

    @property
    def core_block_indices(self) -> list[int]:
        """The blocks of the core."""
        return self._blocks_in("core")

    @property
    def overlap_prev_block_indices(self) -> list[int]:
        """The blocks that the overlap before the core comes from."""
        return self._blocks_in("overlap_prev")

    @property
    def overlap_next_block_indices(self) -> list[int]:
        """The blocks that the overlap after the core comes from."""
        return self._blocks_in("overlap_next")

    @property
    def block_indices(self) -> list[int]:
        """The blocks of core and overlap together."""
        groups = (self.core_block_indices, self.overlap_prev_block_indices, self.overlap_next_block_indices)
        return sorted({index for group in groups for index in group})

    @property
    def chunk_type(self) -> str:
        """The kind that all core blocks share, else `mixed`."""
        blocks = self.document.blocks
        kinds = {blocks[index].kind for index in self.core_block_indices}
        kinds = {"paragraph" if kind == "html" else kind for kind in kinds}
        return kinds.pop() if len(kinds) == 1 else "mixed"

    @property
    def headings_path(self) -> tuple[str, ...]:
        """The headings above the first core block, outermost first."""
        return self._first_block.headings_path

    @property
    def section_type(self) -> str | None:
        """The section type of the first core block."""
        return self._first_block.section_type

    @property
    def block_id(self) -> str | None:
        """The first block id in the core."""
        blocks = self.document.blocks
        return next((blocks[index].block_id for index in self.core_block_indices if blocks[index].block_id), None)

    @property
    def page_start(self) -> int | None:
        """The page of the first core block."""
        return self._first_block.page

    @property
    def page_end(self) -> int | None:
        """The page of the last core block."""
        return self.document.blocks[self._settled.last].page

    @property
    def normalized_text(self) -> str:
        """The core: what people are shown; neighbours put together never say anything twice."""
        return rendered(self.document.text, core_pieces(self._settled.all_pieces))

    @property
    def full_text(self) -> str:
        """Overlap, context and core together."""
        return rendered(self.document.text, self._settled.all_pieces)

    @property
    def embedding_text(self) -> str:
        """What goes to the embedder: the full text under the template."""
        return self._settled.prefix + self.full_text

    @property
    def chunk_id(self) -> str:
        """The stable id: where the chunk stands."""
        return str(self._run.chunk_id(self.chunk_index))

    @property
    def content_id(self) -> str:
        """The id by what the chunk says: a change elsewhere in the document leaves it alone."""
        return self._run.content_ids[self.chunk_index]

    @property
    def content_hash(self) -> str:
        """The hash of `embedding_text`: unchanged means that no new embedding is needed."""
        return _sha256(self.embedding_text)

    @property
    def prev_chunk_id(self) -> str | None:
        """The id of the chunk before."""
        return self._run.chunk_id(self.chunk_index - 1)

    @property
    def next_chunk_id(self) -> str | None:
        """The id of the chunk after."""
        return self._run.chunk_id(self.chunk_index + 1)

    @property
    def parent_id(self) -> str | None:
        """The parent's id in a strategy that has parents."""
        return None

    @property
    def navigation(self) -> dict[str, Any]:
        """Where to find the first core block in the source."""
        return navigation_of(self.document, self._first_block, self.normalized_text)

    @property
    def metadata(self) -> dict[str, Any]:
        """The document's metadata."""
        shared = self._run.metadata
        return shared | {name: shared[name].copy() for name in ("labels", "links", "extra")}

    def to_dict(self) -> dict[str, Any]:
        """Give the record: every field, ready for JSON."""
        record = {name: _plain(getattr(self, name)) for name in FIELDS}
        for name, places in self._run.measured.items():
            record[f"{name}_start"], record[f"{name}_end"] = places[self.char_start], places[self.char_end]
            for piece in record["pieces"]:
                piece[f"{name}_start"], piece[f"{name}_end"] = places[piece["start"]], places[piece["end"]]
        return record

    @property
    def _first_block(self) -> Block:
        return self.document.blocks[self._settled.first]

    def _blocks_in(self, role: str) -> list[int]:
        return _blocks_of(self.document, [piece for piece in self._settled.all_pieces if piece.role == role])


FIELDS: Final = (
    "chunk_id", "content_id", "content_hash", "document_id", "tenant_id", "chunk_index", "strategy", "chunk_type",
    "headings_path", "section_type", "block_id", "char_start", "char_end", "pieces", "block_start_idx",
    "block_end_idx", "block_indices", "core_block_indices", "overlap_prev_block_indices",
    "overlap_next_block_indices", "page_start", "page_end", "normalized_text", "full_text", "embedding_text",
    "token_count", "oversize", "context_dropped", "prev_chunk_id", "next_chunk_id", "parent_id", "navigation",
    "metadata",
)  # fmt: skip
"""The names of the record, in its order."""


def _blocks_of(document: Document, pieces: Iterable[Piece]) -> list[int]:
    starts, blocks = document.block_starts, document.blocks
    found: list[int] = []
    for piece in pieces:
        index = max(bisect_right(starts, piece.start) - 1, 0)
        while index < len(blocks) and starts[index] < piece.end:
            if blocks[index].end > piece.start and blocks[index].kind not in LEFT_OUT_KINDS:
                found.append(index)
            index += 1
    return sorted(set(found))


def _plain(value: Any) -> Any:
    if isinstance(value, tuple):
        return [dict(zip(Piece._fields, item, strict=True)) if isinstance(item, Piece) else item for item in value]
    return value


def _sha256(words: str) -> str:
    return hashlib.sha256(words.encode()).hexdigest()
