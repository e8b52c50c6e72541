"""Sizes, types and overlap of the chunks in a file of records."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from statistics import median, quantiles
from typing import Any

from spanwise.errors import UnreadableError
from spanwise.records.record import is_parent


@dataclass
class SizeStatistics:
    """The sizes of the chunks of a file; parents have statistics of their own."""

    name: str
    tokens: list[int] = field(default_factory=list)
    types: Counter[str] = field(default_factory=Counter)
    depths: Counter[int] = field(default_factory=Counter)
    documents: set[str] = field(default_factory=set)
    characters: int = 0
    overlap: int = 0
    context: int = 0
    oversize: int = 0
    parents: SizeStatistics | None = None


def sizes_of(name: str, records: Iterable[dict[str, Any]]) -> SizeStatistics:
    """Return the statistics of records; raise UnreadableError if they are no chunks."""
    sizes = SizeStatistics(name)
    for record in records:
        try:
            if is_parent(record):
                sizes.parents = sizes.parents or SizeStatistics(name)
                _add(sizes.parents, record)
            else:
                _add(sizes, record)
        except (TypeError, KeyError, AttributeError) as error:
            hint = "spanwise check names what is wrong"
            raise UnreadableError(name, "holds records that are no chunks", hint=hint) from error
    return sizes


def _add(sizes: SizeStatistics, record: dict[str, Any]) -> None:
    metadata = record.get("metadata")
    inner = metadata if isinstance(metadata, dict) else {}
    counts = ((record, "token_count"), (record, "token_estimate"), (inner, "tokenCount"))
    tokens = next((fields[name] for fields, name in counts if name in fields), None)
    if type(tokens) is not int:
        hint = "write them without --dialect and --fields"
        raise UnreadableError(sizes.name, "holds records without a token count", hint=hint)
    sizes.tokens.append(tokens)
    sizes.types[str(record.get("chunk_type") or record.get("chunkType") or "unknown")] += 1
    sizes.depths[len(record.get("headings_path") or record.get("full_heading_hierarchy") or ())] += 1
    sizes.documents.add(str(record.get("document_id") or record.get("note_id") or record.get("page_id") or sizes.name))
    sizes.oversize += bool(record.get("oversize"))
    text = _text(record)
    sizes.characters += 0 if text is None else len(text)
    for piece in record.get("pieces") or ():
        length = piece["end"] - piece["start"]
        sizes.characters += length + len(piece["joiner"]) if text is None else 0
        sizes.overlap += length if piece["role"].startswith("overlap") else 0
        sizes.context += length if piece["role"] == "context" else 0


def _text(record: dict[str, Any]) -> str | None:
    """Return the whole text; None if the record was written without it."""
    names = ("full_text", "md_text", "content", "text")
    return next((record[name] for name in names if isinstance(record.get(name), str)), None)


def summary_of(sizes: SizeStatistics) -> dict[str, Any]:
    """Return the statistics as a dict."""
    tokens = sorted(sizes.tokens)
    tenths = quantiles(tokens, n=10, method="inclusive") if len(tokens) > 1 else [float(tokens[0])] * 9
    return {
        "file": sizes.name,
        "documents": len(sizes.documents),
        "chunks": len(tokens),
        "tokens": sum(tokens),
        "smallest": tokens[0],
        "tenth": round(tenths[0]),
        "median": round(median(tokens)),
        "mean": round(sum(tokens) / len(tokens), 1),
        "ninetieth": round(tenths[8]),
        "largest": tokens[-1],
        "overlap_share": round(sizes.overlap / max(sizes.characters, 1), 4),
        "context_share": round(sizes.context / max(sizes.characters, 1), 4),
        "oversize": sizes.oversize,
        "types": dict(sorted(sizes.types.items())),
        "headings_depth": {str(depth): number for depth, number in sorted(sizes.depths.items())},
        **({"parents": summary_of(sizes.parents)} if sizes.parents else {}),
    }
