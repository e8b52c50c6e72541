"""The rule of `structure` on short chunks: below the minimum only where nothing may be joined.

A chunk may be short if it is the last of its section, a list, table, code or quote alone, or if no neighbour may take
it: because a heading or rule stands between, because the neighbour is a table or code, or because both are too much.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

from spanwise.checks.findings import Record
from spanwise.checks.settings import CheckSettings
from spanwise.text.tokens import NEAR

STRATEGY: Final = "structure"
_MAY_BE_SHORT: Final = frozenset({"table", "list", "code", "quote"})
_APART: Final = frozenset({"table", "code"})


class _Seen(NamedTuple):
    """What is kept of a record until the next one is known."""

    chunk_id: str
    kind: str
    path: list[str]
    first: int
    last: int
    text: str
    size: int


class ShortChunks:
    """A check of the records of one document in order."""

    def __init__(self) -> None:
        """Start before the first record."""
        self._before: _Seen | None = None
        self._waiting: tuple[str, str] | None = None  # a short chunk that its left neighbour could take

    def faults(self, record: Record, text: str, prefix: str, settings: CheckSettings) -> list[tuple[str, str]]:
        """Return the ids of chunks that are too short, with the reason; `text` is the core of this record."""
        options: Any = settings.options
        before, found = self._before, list[tuple[str, str]]()
        first, last = record["block_start_idx"], record["block_end_idx"]
        size = settings.tokenizer.count(text) - settings.tokenizer.added
        seen = _Seen(record["chunk_id"], record["chunk_type"], record["headings_path"], first, last, text, size)
        self._before, waiting, self._waiting = seen, self._waiting, None
        beside = before is not None and before.path == seen.path and 0 <= first - before.last <= 1
        if beside and waiting:  # the section goes on behind it
            found.append(waiting)
        if before is None or not beside or _APART & {before.kind, seen.kind}:
            return found
        room = options.max_tokens - (settings.tokenizer.count(prefix) if prefix else settings.tokenizer.added)
        if settings.tokenizer.count(f"{before.text}\n\n{text}") - settings.tokenizer.added + NEAR > room:
            return found
        least = min(options.min_tokens, options.max_tokens)
        if _too_short(before, least) and (not waiting or waiting[0] != before.chunk_id):
            found.append((before.chunk_id, _reason(before, least, "next")))
        if _too_short(seen, least):
            self._waiting = seen.chunk_id, _reason(seen, least, "previous")
        return found


def _too_short(seen: _Seen, least: int) -> bool:
    return seen.size + NEAR < least and seen.kind not in _MAY_BE_SHORT


def _reason(seen: _Seen, least: int, neighbour: str) -> str:
    return (
        f"{seen.size} tokens are below min_tokens ({least}), though the {neighbour} chunk of its section could take it"
    )
