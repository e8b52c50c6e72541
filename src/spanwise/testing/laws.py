"""The laws that hold for every chunk, checked on records without the logic that makes them.

What a page shows of a text is taken from the product; that it is the text with characters taken out is checked here.
"""

from __future__ import annotations

import hashlib
import html
import re
from collections.abc import Iterator, Sequence, Set
from dataclasses import replace
from itertools import pairwise
from typing import Any

from pyuegc import EGC

from spanwise import Document
from spanwise.documents.document import Block, Part
from spanwise.text.plain import plain_text_of

NEVER_CONTENT = {"front_matter", "comment", "definition"}
LEFT_OUT_BY = {"structure": {"heading", "rule"}, "smart": {"heading", "rule"}}
BY_LEAF = {"blocks"}
TWO_LEVELS = {"hierarchical"}
EMPTY_HEAD = re.compile(r"[\s|:-]*")
MARK_ALONE = re.compile(r"([-*+]|\d+[.)])(\s+\[[ xX]\])?")


def broken_laws(
    document: Document,
    records: Sequence[dict[str, Any]],
    tokenizer: Any,
    max_tokens: int | None,
    parent_tokens: int | None = None,
    *,
    leaves_out: Set[str] | None = None,
    may_hold: Set[str] = frozenset(),
    leafwise: bool | None = None,
) -> list[str]:
    """Return a message for every law that these chunks break; of two levels, each is checked by itself.

    `leaves_out` and `leafwise` are those of the strategy, where it isn't built in; blocks of the kinds that its cores
    `may_hold` are in a core as a whole or not at all.
    """
    strategy = records[0]["strategy"] if records else "structure"
    left_out = NEVER_CONTENT | (LEFT_OUT_BY.get(strategy, set()) if leaves_out is None else leaves_out)
    if strategy in BY_LEAF if leafwise is None else leafwise:
        document = by_leaf(document)
    if strategy not in TWO_LEVELS:
        broken = _broken_on_one_level(document, records, tokenizer, max_tokens, left_out, may_hold=may_hold)
        return broken + _numbers(records)
    children = [record for record in records if record["parent_id"] is not None]
    parents = [record for record in records if record["parent_id"] is None]
    within = 400 if max_tokens is None else max_tokens
    most = parent_tokens or max(2000, within)
    broken = _broken_on_one_level(document, parents, tokenizer, most, left_out, "/parent")
    broken += _broken_on_one_level(document, children, tokenizer, within, left_out)
    return broken + _numbers(records) + _nesting(records)


def _broken_on_one_level(
    document: Document,
    records: Sequence[dict[str, Any]],
    tokenizer: Any,
    max_tokens: int | None,
    left_out: Set[str],
    owner: str = "",
    *,
    may_hold: Set[str] = frozenset(),
) -> list[str]:
    broken: list[str] = []
    reached = 0
    covered = bytearray(len(document.text))
    for record in records:
        name = f"chunk {record['chunk_index']}"
        broken += [f"{name}: {message}" for message in _provenance(document, record)]
        broken += [f"{name}: {message}" for message in _limit(document, record, tokenizer, max_tokens)]
        for piece in record["pieces"]:
            if piece["role"] == "core":
                if piece["start"] < reached:
                    broken.append(f"{name}: core at {piece['start']} goes back behind {reached}")
                reached = piece["end"]
                covered[piece["start"] : piece["end"]] = b"\x01" * (piece["end"] - piece["start"])
    broken += _coverage(document, records, covered, left_out, may_hold)
    broken += _identity(document, records, owner)
    if len(document.text) < 60_000:
        broken += _graphemes(document, records, tokenizer, max_tokens)
    return broken


def _numbers(records: Sequence[dict[str, Any]]) -> list[str]:
    """Return wrong numbers and duplicate ids, over all levels together."""
    broken = [f"chunk {at} is numbered otherwise" for at, record in enumerate(records) if record["chunk_index"] != at]
    for name in ("chunk_id", "content_id"):
        if len({record[name] for record in records}) != len(records):
            broken.append(f"{name}s are not unique")
    return broken


def _nesting(records: Sequence[dict[str, Any]]) -> list[str]:
    """Return children that don't follow their parent or exceed it, and parents that their children don't cover."""
    broken: list[str] = []
    parent: dict[str, Any] = {}
    child_texts: dict[str, list[str]] = {}
    for record in records:
        name = f"chunk {record['chunk_index']}"
        if record["parent_id"] is None:
            parent = record
            child_texts[parent["chunk_id"]] = []
        elif not parent or record["parent_id"] != parent["chunk_id"]:
            broken.append(f"{name}: doesn't follow its parent")
        else:
            child_texts[parent["chunk_id"]].append(record["normalized_text"])
            inside = parent["char_start"], parent["char_end"]
            if record["char_start"] < inside[0] or record["char_end"] > inside[1]:
                broken.append(f"{name}: the core reaches out of the parent")
            for piece in record["pieces"]:
                overlaps = piece["role"].startswith("overlap")
                if overlaps and not inside[0] <= piece["start"] < piece["end"] <= inside[1]:
                    broken.append(f"{name}: overlap reaches out of the parent")
    for record in records:
        whole, parts = record["normalized_text"], child_texts.get(record["chunk_id"])
        if parts is not None and "".join(whole.split()) != "".join("".join(parts).split()):
            broken.append(f"chunk {record['chunk_index']}: the children don't say what their parent says")
    return broken


def by_leaf(document: Document) -> Document:
    """Split lists and tables at every edge of an item or row; a mark or an empty head alone stays with what follows."""
    leaves: list[Block] = []
    for block in document.blocks:
        parts = list(_all_parts(block.parts))
        edges = sorted({block.start, block.end, *(edge for part in parts for edge in (part.start, part.end))})
        parents = {part.start: part.parts[0].start for part in parts if part.parts}
        start = None
        for low, high in pairwise(edges):
            content = document.text[low:high]
            if not content.strip():
                continue
            low += len(content) - len(content.lstrip())
            start = low if start is None else start
            if parents.get(low) == high and MARK_ALONE.fullmatch(content.strip()):
                continue
            if block.kind == "table" and EMPTY_HEAD.fullmatch(content) and high < block.end:
                continue
            leaves.append(block._replace(start=start, end=low + len(content.strip())) if parts else block)
            start = None
    return replace(document, blocks=tuple(leaves))


def _all_parts(parts: Sequence[Part]) -> Iterator[Part]:
    for part in parts:
        yield part
        yield from _all_parts(part.parts)


def _provenance(document: Document, record: dict[str, Any]) -> list[str]:
    text, broken = document.text, []
    pieces = record["pieces"]
    if any(piece["joiner"].strip() for piece in pieces) or pieces[0]["joiner"]:
        broken.append("joiner is not white space, or stands before the first piece")
    full = "".join(piece["joiner"] + text[piece["start"] : piece["end"]] for piece in pieces)
    if record["full_text"] != full:
        broken.append("full_text is not its pieces")
    core = [piece for piece in pieces if piece["role"] == "core"]
    joined = "".join(
        (piece["joiner"] if at else "") + text[piece["start"] : piece["end"]] for at, piece in enumerate(core)
    )
    if record["normalized_text"] != joined:
        broken.append("normalized_text is not its core pieces")
    if not core or (record["char_start"], record["char_end"]) != (core[0]["start"], core[-1]["end"]):
        broken.append("char range is not that of the core")
    if _embedded(document, record) not in {full, _shown(document, record)}:
        broken.append("embedding_text ends neither with full_text nor with what a page shows of it")
    if lost := _put_in(_embedded(document, record), full):
        broken.append(f"embedding_text has a character that full_text doesn't have there: {lost!r}")
    trimmed = joined.strip()
    if joined != trimmed:
        block = document.blocks[record["block_start_idx"]]
        indented = block.kind == "code" and joined.rstrip() == joined and "\n" not in joined[: -len(trimmed)]
        if not indented or not trimmed:
            broken.append(f"core is not trimmed: {joined[:20]!r}…{joined[-20:]!r}")
    return broken


def _shown(document: Document, record: dict[str, Any]) -> str:
    """Return the full text as a page shows it, or the source where nothing is visible."""
    pieces = [(piece["start"], piece["end"], piece["joiner"]) for piece in record["pieces"]]
    return plain_text_of(document).joined(pieces) or str(record["full_text"])


def _embedded(document: Document, record: dict[str, Any]) -> str:
    """Return what the embedder gets without what the template puts before it: the source, else what a page shows."""
    text, full, shown = record["embedding_text"], record["full_text"], _shown(document, record)
    return next((known for known in (full, shown) if text.endswith(known)), text)


def _put_in(plain: str, full: str) -> str | None:
    """Return the first character of a plain text that the full text doesn't have there; references and `<br>` apart."""
    if "&" in full or "<" in full:
        plain, full = "".join(html.unescape(plain).split()), html.unescape(full)
    rest = iter(full)
    return next((character for character in plain if character not in rest), None)


def _limit(document: Document, record: dict[str, Any], tokenizer: Any, max_tokens: int | None) -> list[str]:
    broken = []
    count = tokenizer.count(record["embedding_text"])
    if count != record["token_count"]:
        broken.append(f"token_count {record['token_count']} is really {count}")
    prefix = record["embedding_text"].removesuffix(_embedded(document, record))
    most = max(count, tokenizer.count(prefix + record["full_text"]))  # the limit holds for the source as well
    if max_tokens is not None and most > max_tokens:
        kinds = {document.blocks[index].kind for index in record["core_block_indices"]}
        core = record["normalized_text"].lower()
        figure = kinds == {"figure"} or (core.startswith("<figure") and core.endswith("</figure>"))
        if not record["oversize"] or not figure:
            broken.append(f"{most} tokens are over the limit {max_tokens}")
    elif record["oversize"]:
        broken.append("oversize without being so")
    return broken


def _coverage(
    document: Document, records: Sequence[dict[str, Any]], covered: bytearray, left_out: Set[str], may_hold: Set[str]
) -> list[str]:
    broken, text = [], document.text
    chunks_of: dict[int, set[int]] = {}
    for record in records:
        for index in record["core_block_indices"]:
            chunks_of.setdefault(index, set()).add(record["chunk_index"])
    for index, block in enumerate(document.blocks):
        content = bool(covered[block.start]) if block.kind in may_hold else block.kind not in left_out
        for position in range(block.start, block.end):
            if bool(covered[position]) != content and not text[position].isspace():
                broken.append(
                    f"block {index} ({block.kind}): {text[position]!r} at {position} {'lost' if content else 'taken'}"
                )
                break
        if block.kind == "figure" and len(chunks_of.get(index, ())) != 1:
            broken.append(f"figure {index} is in chunks {chunks_of.get(index)}")
    return broken


def _identity(document: Document, records: Sequence[dict[str, Any]], owner: str) -> list[str]:
    broken = []
    ids = [record["chunk_id"] for record in records]
    for at, record in enumerate(records):
        numbers = [record[name] for name in ("block_start_idx", "block_end_idx", "char_start", "char_end")]
        key = ":".join([document.metadata.document_id + owner, *map(str, numbers)])
        if record["chunk_id"] != hashlib.sha256(key.encode()).hexdigest():
            broken.append(f"chunk {at}: chunk_id is not made as promised")
        around = [ids[at - 1] if at else None, ids[at + 1] if at + 1 < len(ids) else None]
        if [record["prev_chunk_id"], record["next_chunk_id"]] != around:
            broken.append(f"chunk {at}: neighbours are wrong")
        indices = record["core_block_indices"]
        if not indices or [indices[0], indices[-1]] != numbers[:2]:
            broken.append(f"chunk {at}: core_block_indices {indices} don't agree with {numbers[:2]}")
        union = {*indices, *record["overlap_prev_block_indices"], *record["overlap_next_block_indices"]}
        if record["block_indices"] != sorted(union):
            broken.append(f"chunk {at}: block_indices is not the union")
    return broken


def _graphemes(document: Document, records: Sequence[dict[str, Any]], tokenizer: Any, most: int | None) -> list[str]:
    """Return cuts inside a grapheme; one is allowed only if the grapheme doesn't fit after the prefix."""
    text = document.text
    clusters: dict[int, str] = {}
    position = 0
    for cluster in EGC(text):
        for inside in range(position + 1, position + len(cluster)):
            clusters[inside] = cluster
        position += len(cluster)
    broken = []
    for record in records:
        prefix = record["embedding_text"].removesuffix(_embedded(document, record))
        for edge in [edge for piece in record["pieces"] for edge in (piece["start"], piece["end"])]:
            # white space at an edge is trimmed even if a combining mark follows it
            if edge not in clusters or text[edge - 1].isspace() or text[edge].isspace():
                continue
            if most is None or tokenizer.count(prefix + clusters[edge]) <= most:
                broken.append(f"chunk {record['chunk_index']}: a grapheme is cut at {edge}: {clusters[edge][:20]!r}")
    return broken
