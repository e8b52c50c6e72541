"""Which chunks of two files of records are the same, moved, new or gone."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final, NamedTuple

from spanwise.errors import UnreadableError
from spanwise.records.loaders import records_of_file
from spanwise.records.record import is_parent

_NEEDED: Final = (
    "chunk_id", "content_id", "content_hash", "document_id", "chunk_index", "headings_path", "metadata",
)  # fmt: skip


class KeptChunk(NamedTuple):
    """What is kept of a chunk while two files are compared: not its text."""

    chunk_id: str
    content_hash: str
    document: str
    chunk_index: int
    path: str
    beginning: str
    parent: bool


class ChunkChange(NamedTuple):
    """What became of a chunk; `embed`: it must be embedded again; `parent`: it contains children."""

    change: str
    content_id: str
    old_chunk_id: str | None
    new_chunk_id: str | None
    document: str
    chunk_index: int
    headings_path: str
    text: str
    embed: bool
    parent: bool


def changes_between(old: dict[str, KeptChunk], new: dict[str, KeptChunk]) -> Iterator[ChunkChange]:
    """Yield what became of every chunk: those of the new file in its order, then those that are gone."""
    for content_id, chunk in new.items():
        before = old.get(content_id)
        if before is None:
            yield _change("added", content_id, None, chunk, embed=True)
        else:
            kind = "kept" if before.chunk_id == chunk.chunk_id else "moved"
            yield _change(kind, content_id, before, chunk, embed=before.content_hash != chunk.content_hash)
    for content_id, chunk in old.items():
        if content_id not in new:
            yield _change("removed", content_id, chunk, None, embed=False)


def _change(kind: str, content_id: str, old: KeptChunk | None, new: KeptChunk | None, *, embed: bool) -> ChunkChange:
    chunk = new or old
    assert chunk is not None  # one of the two is always there
    ids = (old and old.chunk_id, new and new.chunk_id)
    return ChunkChange(
        kind, content_id, *ids, chunk.document, chunk.chunk_index, chunk.path, chunk.beginning, embed, chunk.parent
    )


def kept_chunks(path: str) -> dict[str, KeptChunk]:
    """Return the chunks of a file by their content ids; raise UnreadableError if they are no records of chunks."""
    chunks = {}
    for record in records_of_file(path):
        if missing := [name for name in _NEEDED if name not in record]:
            hint = "diff reads what spanwise chunk writes without --dialect and --fields"
            raise UnreadableError(path, f"holds records without {', '.join(missing)}", hint=hint)
        try:
            chunks[record["content_id"]] = _kept(record)
        except (TypeError, KeyError, AttributeError) as error:
            hint = "spanwise check names what is wrong"
            raise UnreadableError(path, "holds records that are no chunks", hint=hint) from error
    return chunks


def _kept(record: dict[str, Any]) -> KeptChunk:
    metadata = record["metadata"]
    return KeptChunk(
        record["chunk_id"],
        record["content_hash"],
        metadata.get("file_path") or metadata.get("source_url") or record["document_id"],
        record["chunk_index"],
        " › ".join(record["headings_path"]),
        " ".join(_text(record)[:200].split()),
        is_parent(record),
    )


def _text(record: dict[str, Any]) -> str:
    """Return the core, or what was written in its place."""
    names = ("normalized_text", "full_text", "embedding_text")
    return next((record[name] for name in names if name in record), "")
