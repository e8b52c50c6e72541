"""The laws that need the source: texts come from it, nothing of it is lost, and locations are right."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from spanwise.checks.findings import Faults, Record, first_difference, shortened
from spanwise.checks.graphemes import torn_character
from spanwise.checks.settings import CheckSettings
from spanwise.chunking.pieces import Piece
from spanwise.chunking.strategy import StrategyTraits
from spanwise.chunking.task import block_at
from spanwise.documents.document import LEFT_OUT_KINDS, Block, Document, describing_block
from spanwise.documents.span import without
from spanwise.records.links.navigation import links_to, navigation_of
from spanwise.records.record import block_id, blocks_in, chunk_type, prefix_of
from spanwise.text.plain import plain_text_of

Range = tuple[int, int]


def excluded_kinds(strategy: StrategyTraits) -> frozenset[str]:
    """Return the kinds of blocks that a strategy leaves out of its chunks."""
    return LEFT_OUT_KINDS | strategy.leaves_out


def described_by(document: Document, strategy: StrategyTraits, first: int, last: int) -> Block:
    """Return the block whose headings path and section type a chunk of this strategy has."""
    by_first = strategy.described_by_first
    return document.blocks[first if by_first else describing_block(document.blocks, first, last)]


def source_faults(record: Record, document: Document, settings: CheckSettings) -> Faults:
    """Check one record against its document."""
    tokenizer, limit = settings.tokenizer, settings.options.max_tokens
    text, pieces = document.text, record["pieces"]
    if any(piece["end"] > len(text) for piece in pieces):
        yield "provenance", f"a piece ends behind the source, which has {len(text)} characters"
        return
    full = "".join(
        (piece["joiner"] if index else "") + text[piece["start"] : piece["end"]] for index, piece in enumerate(pieces)
    )
    if full != record["full_text"]:
        stated, found = first_difference(record["full_text"], full)
        yield "provenance", f"full_text is not what the source says there: {stated} instead of {found}"
    core = [piece for piece in pieces if piece["role"] == "core"]
    kinds = excluded_kinds(settings.strategy)
    for piece in core:
        for block in _touched(document, piece["start"], piece["end"]):
            low, high = max(block.start, piece["start"]), min(block.end, piece["end"])
            joined = settings.strategy.joins_sections and block.kind not in LEFT_OUT_KINDS
            between = joined and record["char_start"] < low and high < record["char_end"]
            if block.kind in kinds and not between and text[low:high].strip():
                taken = shortened(text[low:high])
                yield "provenance", f"the core takes in a {block.kind}, which is no content: {taken}"
    prefix = prefix_of(record)
    for edge in sorted({edge for piece in pieces for edge in (piece["start"], piece["end"])}):
        if 0 < edge < len(text) and (split := torn_character(text, edge, tokenizer, limit, prefix)):
            yield "character", f"the cut at {edge} goes through a character: {shortened(split)}"
    shown, shown_full = (
        plain_text_of(document).joined((piece["start"], piece["end"], piece["joiner"]) for piece in some)
        for some in (core, pieces)
    )
    if record.get("plain_text", shown) != shown:
        yield "provenance", f"plain_text is not what a page shows of the core: {shortened(record['plain_text'])}"
    embedded = record["embedding_text"]
    if not embedded.endswith((shown_full, full) if shown_full else full):
        rule = "embedding_text is neither full_text nor what a page shows of it"
        yield "provenance", f"{rule}: {shortened(embedded)}"
    yield from _location_faults(record, document, settings.strategy)


def _location_faults(record: Record, document: Document, strategy: StrategyTraits) -> Faults:
    blocks, pieces = document.blocks, [Piece(*(piece[name] for name in Piece._fields)) for piece in record["pieces"]]
    for role in ("core", "overlap_prev", "overlap_next"):
        stated, found = record[f"{role}_block_indices"], blocks_in(document, pieces, role)
        if stated != found:
            yield "place", f"{role}_block_indices are {shortened(str(stated))}, in the source {shortened(str(found))}"
    core = blocks_in(document, pieces, "core")
    if not core:
        yield "provenance", "no block of the source is in the core"
        return
    first, last = blocks[core[0]], blocks[core[-1]]
    described = described_by(document, strategy, core[0], core[-1])
    wanted: dict[str, Any] = {
        "chunk_type": chunk_type(blocks, core),
        "headings_path": list(described.headings_path),
        "section_type": described.section_type,
        "block_id": block_id(blocks, core, record["char_start"], record["char_end"]),
        "page_start": first.page,
        "page_end": last.page,
    }
    for name, value in wanted.items():
        if record[name] != value:
            yield "place", f"{name} is {shortened(str(record[name]))}, in the source {shortened(str(value))}"
    navigation = navigation_of(document, first, record["normalized_text"], None)
    for name in ("text_offset_start", "xpath_start", "css_selector_start", "highlight_metadata"):
        if record["navigation"].get(name) != navigation[name]:
            yield "place", f"navigation.{name} is not that of the first core block"


class StatedLinks(NamedTuple):
    """A chunk, its core, and the link that it states."""

    chunk_id: str
    core: Range
    url: str | None


def wrong_links(document: Document, stated: Sequence[StatedLinks]) -> Iterator[tuple[str, str]]:
    """Yield the chunks whose links don't lead to their first words, and why; all links are made again at once."""
    made = links_to(document, [one.core for one in stated])
    for one, url in zip(stated, made, strict=True):
        if one.url != url:
            yield one.chunk_id, f"navigation.url is {shortened(str(one.url))}, in the source {shortened(str(url))}"


def _touched(document: Document, start: int, end: int) -> tuple[Block, ...]:
    return document.blocks[block_at(document, start) : bisect_left(document.block_starts, end)]


def coverage_faults(document: Document, strategy: StrategyTraits, cores: list[Range]) -> Faults:
    """Yield content that is in no core, and figures that are in several."""
    cores = sorted(cores)
    starts, ends = [start for start, _ in cores], [end for _, end in cores]
    kinds = excluded_kinds(strategy)
    for index, block in enumerate(document.blocks):
        if block.kind in kinds:
            continue
        touching = cores[bisect_right(ends, block.start) : bisect_left(starts, block.end)]
        for low, high in without(touching, block.start, block.end):
            if lost := document.text[low:high].strip():
                yield "lost", f"{len(lost):,} characters of block {index} ({block.kind}) at {low}: {shortened(lost)}"
        if block.kind == "figure" and len(touching) > 1:
            yield "limit", f"figure in block {index} is split over {len(touching)} chunks"
