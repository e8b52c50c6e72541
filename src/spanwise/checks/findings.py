"""The names of the rules, and findings: chunk, rule and reason."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final, NamedTuple

RULES: Final = {
    "record": "every line is a record with all its fields, each of its kind",
    "provenance": "every piece is a range of the source, and every text is its pieces with white space between",
    "lost": "every visible character of the content is in a core, of each level",
    "twice": "no character is in two cores of one level, and cores ascend",
    "trimmed": "a core is never empty and has no white space at its ends",
    "limit": "what is embedded never has more than max_tokens; only a figure may, and says so",
    "count": "token_count is the exact number of tokens of embedding_text",
    "character": "no cut inside a character: surrogates, graphemes and line ends stay whole",
    "identity": "chunk_id, content_id and content_hash are made as promised, and no two chunks share one",
    "neighbours": "chunk_index counts from 0, and prev and next name the chunks beside, of the same level",
    "parent": "a child follows its parent and lies in it, and children together say all that their parent says",
    "place": "block numbers, kinds, headings, pages and navigation are those of the source",
    "promise": "what the strategy promises of its own chunks",
}
WARNINGS: Final = {
    "short": "chunks below the strategy's minimum",
    "empty section": "headings with nothing under them",
    "uneven": "sizes that differ very much",
    "near-duplicate": "chunks that say nearly the same",
    "no chunks": "documents that have no content",
}

_NAMED: Final = 8  # fields that one line names

Record = dict[str, Any]
Fault = tuple[str, str]
"""A rule and the reason why it is broken."""
Faults = Iterator[Fault]


class Finding(NamedTuple):
    """One rule that one chunk breaks (`level` is "violation"), or something worth checking ("warning")."""

    level: str
    rule: str
    reason: str
    chunk: str | None = None
    document: str | None = None
    place: int | None = None
    """The line or row of the chunk file."""


def missing_names(names: Sequence[str]) -> str:
    """Return a message on the fields that are missing, the first of them by name."""
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    return f"{', '.join(names[:_NAMED])}{more} {'is' if len(names) == 1 else 'are'} missing"


def shortened(text: str, length: int = 40) -> str:
    """Return the beginning of a text, quoted."""
    return repr(text if len(text) <= length else text[:length] + "…")


def first_difference(one: str, other: str) -> tuple[str, str]:
    """Return the beginnings of two texts from the first character on where they differ, quoted."""
    pairs = enumerate(zip(one, other, strict=False))
    offset = next((at for at, (left, right) in pairs if left != right), min(len(one), len(other)))
    return shortened(one[offset : offset + 20]), shortened(other[offset : offset + 20])
