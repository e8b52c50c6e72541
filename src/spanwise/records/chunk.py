"""Chunk: its texts, ids and record, as a view of one chunk of a run.

A chunk is a list of ranges, never a copied string: its texts are put together on access.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, SupportsIndex, overload

from spanwise.chunking.pieces import Piece, SettledChunk, core_pieces, rendered
from spanwise.documents.document import Block, Document, Metadata
from spanwise.records.frames import frame_of, polars_frame_of, record_schema, table_of
from spanwise.records.ids import sha256
from spanwise.records.links.navigation import navigation_of
from spanwise.records.record import block_id, blocks_in, chunk_type, core_blocks, record_of, records_of
from spanwise.records.run import Run

if TYPE_CHECKING:
    import pandas
    import polars
    import pyarrow


class Chunk:
    """One unit to index. Its attributes are the fields of the record that `to_dict()` returns."""

    __slots__ = ("_run", "chunk_index")

    _run: Run
    chunk_index: int

    def __init__(self, run: Run, chunk_index: int) -> None:
        """Create a view of one settled chunk of a run."""
        _set_run(self, run)
        _set_index(self, chunk_index)

    def __setattr__(self, name: str, value: object) -> None:
        """Raise AttributeError: a chunk is immutable."""
        raise AttributeError(f"a chunk can't be changed: {name}")

    def __delattr__(self, name: str) -> None:
        """Raise AttributeError: a chunk is immutable."""
        raise AttributeError(f"a chunk can't be changed: {name}")

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle as the run and the index."""
        return Chunk, (self._run, self.chunk_index)

    def __eq__(self, other: object) -> bool:
        """Whether the records of both chunks are equal."""
        return isinstance(other, Chunk) and (self is other or self.to_dict() == other.to_dict())

    def __hash__(self) -> int:
        """Hash by id."""
        return hash(self.chunk_id)

    def __repr__(self) -> str:
        """Return the range, the type and the beginning of the core."""
        beginning = self.normalized_text[:40]
        return f"Chunk({self.chunk_index}, [{self.char_start}:{self.char_end}], {self.chunk_type}, {beginning!r}…)"

    @property
    def document(self) -> Document:
        """The document that this chunk is part of."""
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
        """The ranges that it consists of, in order."""
        return self._settled.all_pieces

    @property
    def token_count(self) -> int:
        """The exact number of tokens of `embedding_text`."""
        return self._settled.token_count

    @property
    def tokenizer(self) -> str:
        """The name of the tokenizer that counted it."""
        return self._run.tokenizer

    @property
    def max_tokens(self) -> int | None:
        """The limit of `token_count` that was in force; None without one."""
        return self._run.limit(self.chunk_index)

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
        """The index of the first block of the core."""
        return self._settled.first

    @property
    def block_end_idx(self) -> int:
        """The index of the last block of the core."""
        return self._settled.last

    @property
    def core_block_indices(self) -> list[int]:
        """The indices of the blocks of the core."""
        return core_blocks(self.document, self._settled)

    @property
    def overlap_prev_block_indices(self) -> list[int]:
        """The indices of the blocks that the overlap before the core comes from."""
        return blocks_in(self.document, self._settled.pieces, "overlap_prev")

    @property
    def overlap_next_block_indices(self) -> list[int]:
        """The indices of the blocks that the overlap after the core comes from."""
        return blocks_in(self.document, self._settled.pieces, "overlap_next")

    @property
    def block_indices(self) -> list[int]:
        """The indices of the blocks of core and overlap."""
        groups = (self.core_block_indices, self.overlap_prev_block_indices, self.overlap_next_block_indices)
        return sorted({index for group in groups for index in group})

    @property
    def chunk_type(self) -> str:
        """The kind that all core blocks share, else `mixed`."""
        return chunk_type(self.document.blocks, self.core_block_indices)

    @property
    def headings_path(self) -> tuple[str, ...]:
        """The headings above the first core block that is none, outermost first."""
        return self._run.describing_block(self.chunk_index).headings_path

    @property
    def section_type(self) -> str | None:
        """The section type of the first core block that is no heading."""
        return self._run.describing_block(self.chunk_index).section_type

    @property
    def block_id(self) -> str | None:
        """The first block id in the core."""
        return block_id(self.document.blocks, self.core_block_indices, self.char_start, self.char_end)

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
        """The core: the text to display; no character is in the cores of two neighbours."""
        return rendered(self.document.text, core_pieces(self._settled.all_pieces))

    @property
    def plain_text(self) -> str:
        """The core as a page shows it: no marks of Markdown, no addresses of links and pictures."""
        return self._run.plain_core(self._settled)

    @property
    def full_text(self) -> str:
        """Overlap, context and core together."""
        return rendered(self.document.text, self._settled.all_pieces)

    @property
    def embedding_text(self) -> str:
        """The text for the embedder: the full text, or that as a page shows it, under the template."""
        return self._run.embedding_text(self._settled, self.full_text)

    @property
    def chunk_id(self) -> str:
        """The stable id, by the chunk's location in the document."""
        return self._run.chunk_ids[self.chunk_index]

    @property
    def content_id(self) -> str:
        """The id by the chunk's content: a change elsewhere in the document doesn't change it."""
        return self._run.content_ids[self.chunk_index]

    @property
    def content_hash(self) -> str:
        """The hash of `embedding_text`: unchanged means that no new embedding is needed."""
        return sha256(self.embedding_text)

    @property
    def prev_chunk_id(self) -> str | None:
        """The id of the chunk before, of the same level."""
        return self._run.neighbours(self.chunk_index)[0]

    @property
    def next_chunk_id(self) -> str | None:
        """The id of the chunk after, of the same level."""
        return self._run.neighbours(self.chunk_index)[1]

    @property
    def parent_id(self) -> str | None:
        """The id of the parent that it lies in; None for a parent, and where all chunks are of one level."""
        return self._run.parent_id(self.chunk_index)

    @property
    def navigation(self) -> dict[str, Any]:
        """Where to find the first core block in the source."""
        link = self._run.links[self.chunk_index]
        return navigation_of(self.document, self._first_block, self.normalized_text, link)

    @property
    def metadata(self) -> Metadata:
        """The document's metadata; of its links only those in this chunk."""
        return self._run.chunk_metadata(self.chunk_index)

    def to_dict(self) -> dict[str, Any]:
        """Return the record: every field, ready for JSON."""
        return record_of(self._run, self.chunk_index)

    @property
    def _settled(self) -> SettledChunk:
        return self._run.settled[self.chunk_index]

    @property
    def _first_block(self) -> Block:
        return self.document.blocks[self._settled.first]


# Bypass `__setattr__`, which always raises; the slots' own setters take half the time of `object.__setattr__`.
_set_run = vars(Chunk)["_run"].__set__
_set_index = vars(Chunk)["chunk_index"].__set__


class Chunks(tuple[Chunk, ...]):
    """The chunks of one call, in order; `run` is what they share."""

    run: Run

    def __new__(cls, run: Run, numbers: Iterable[int] | None = None) -> Chunks:
        """Create a view of the settled chunks of a run, or of those with the given numbers."""
        chosen = range(len(run.settled)) if numbers is None else numbers
        chunks = super().__new__(cls, [Chunk(run, index) for index in chosen])
        chunks.run = run
        return chunks

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle as the run."""
        return Chunks, (self.run, None if self._is_whole else [chunk.chunk_index for chunk in self])

    @overload
    def __getitem__(self, key: SupportsIndex) -> Chunk: ...

    @overload
    def __getitem__(self, key: slice) -> Chunks: ...

    def __getitem__(self, key: SupportsIndex | slice) -> Chunk | Chunks:
        """Return a chunk, or some of the chunks."""
        if isinstance(key, slice):
            return Chunks(self.run, [chunk.chunk_index for chunk in super().__getitem__(key)])
        return super().__getitem__(key)

    @property
    def _is_whole(self) -> bool:
        return [chunk.chunk_index for chunk in self] == list(range(len(self.run.settled)))

    def to_arrow(self) -> pyarrow.Table:
        """Return the records as an Arrow table; its columns are the same for all chunks, and for none."""
        records = records_of(self.run) if self._is_whole else (chunk.to_dict() for chunk in self)
        return table_of(records, record_schema(self.run.offsets))

    def to_pandas(self) -> pandas.DataFrame:
        """Return the records as a pandas frame."""
        return frame_of(self.to_arrow())

    def to_polars(self) -> polars.DataFrame:
        """Return the records as a polars frame."""
        return polars_frame_of(self.to_arrow())
