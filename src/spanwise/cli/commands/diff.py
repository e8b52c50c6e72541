"""`spanwise diff`: which chunks must be embedded, which deleted, before an index is touched."""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Iterator
from typing import Any, Final, NamedTuple

from spanwise.cli.terminal import Screen, counted, fitted, print_json_lines, printable
from spanwise.errors import UnreadableError
from spanwise.records.loaders import records_of_file
from spanwise.records.record import is_parent

_SIGNS: Final = {"added": ("+", "good"), "removed": ("-", "error"), "moved": (">", "head"), "kept": ("=", "")}


class _Place(NamedTuple):
    """What of a chunk is kept while two files are compared; its text isn't."""

    chunk_id: str
    content_hash: str
    document: str
    chunk_index: int
    path: str
    beginning: str
    parent: bool


class ChunkChange(NamedTuple):
    """What became of a chunk; `embed` says whether it must be embedded anew, `parent` whether children lie in it."""

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


def run(arguments: argparse.Namespace) -> int:
    """Compare two files of chunks by what the chunks say."""
    changes = list(changes_between(_places(arguments.old), _places(arguments.new)))
    summary = Counter(change.change for change in changes)
    counts = {name: summary[name] for name in _SIGNS} | {"to_embed": sum(change.embed for change in changes)}
    if arguments.json:
        told = (change._asdict() for change in changes if change.change != "kept" or change.embed)
        print_json_lines((*told, {"summary": counts}))
    else:
        _show(Screen(sys.stdout), changes, counts)
    return 0


def changes_between(old: dict[str, _Place], new: dict[str, _Place]) -> Iterator[ChunkChange]:
    """Say what became of every chunk: those of the new file in its order, then those that are gone."""
    for content_id, place in new.items():
        before = old.get(content_id)
        if before is None:
            yield _change("added", content_id, None, place, embed=True)
        else:
            kind = "kept" if before.chunk_id == place.chunk_id else "moved"
            yield _change(kind, content_id, before, place, embed=before.content_hash != place.content_hash)
    for content_id, place in old.items():
        if content_id not in new:
            yield _change("removed", content_id, place, None, embed=False)


def _change(kind: str, content_id: str, old: _Place | None, new: _Place | None, *, embed: bool) -> ChunkChange:
    place = new or old
    assert place is not None  # one of the two is always there
    ids = (old and old.chunk_id, new and new.chunk_id)
    return ChunkChange(
        kind, content_id, *ids, place.document, place.chunk_index, place.path, place.beginning, embed, place.parent
    )


def _places(path: str) -> dict[str, _Place]:
    places = {}
    for record in records_of_file(path):
        if "content_id" not in record:
            hint = "diff reads what spanwise chunk writes without --dialect"
            raise UnreadableError(path, "holds records without a content_id", hint=hint)
        try:
            places[record["content_id"]] = _place(record)
        except (TypeError, KeyError, AttributeError) as error:
            hint = "spanwise check names what is wrong"
            raise UnreadableError(path, "holds records that are no chunks", hint=hint) from error
    return places


def _place(record: dict[str, Any]) -> _Place:
    metadata = record["metadata"]
    return _Place(
        record["chunk_id"],
        record["content_hash"],
        metadata.get("file_path") or metadata.get("source_url") or record["document_id"],
        record["chunk_index"],
        " › ".join(record["headings_path"]),
        fitted(" ".join(record["normalized_text"][:200].split()), 80),
        is_parent(record),
    )


def _show(screen: Screen, changes: list[ChunkChange], counts: dict[str, int]) -> None:
    document = None
    for change in sorted(changes, key=lambda change: change.document):  # stable: in a document as they come
        if change.change == "kept":
            continue
        if change.document != document:
            document = change.document
            screen.line(printable(document), "strong")
        sign, colour = _SIGNS[change.change]
        level = "parent " if change.parent else ""
        words = f"  {sign} #{change.chunk_index:<4} {level}{change.headings_path}: {change.text}"
        screen.line(fitted(printable(words), screen.width), colour)
    numbers = ", ".join(f"{counts[name]:,} {name}" for name in _SIGNS)
    parents = sum(change.embed and change.parent for change in changes)
    note = f" ({counted(parents, 'parent')} among them)" if parents else ""
    screen.line(f"{numbers}; {counted(counts['to_embed'], 'chunk')} to embed{note}")
