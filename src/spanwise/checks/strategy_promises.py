"""The promises of each strategy on its own chunks, beyond the laws; checking them needs the source."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final, NamedTuple

from spanwise.checks.findings import Faults, Record, shortened
from spanwise.chunking.strategies.sentence_drafts import continues, ends_with_figure, is_finished, sentence_ends
from spanwise.documents.document import KINDS, LEFT_OUT_KINDS, Block, Document, table_head
from spanwise.readers.builder import figure_ranges, figure_tags
from spanwise.records.record import is_parent, prefix_of
from spanwise.text.cuts import grapheme_starts
from spanwise.text.tokens import NEAR, FullTokenizer

_SECTION_BREAKS: Final = frozenset({"heading", "rule"})
_STANDALONE: Final = frozenset({"table", "code"})
_OVERLAPPING: Final = frozenset({"paragraph", "mixed"})


class PromiseCheck(NamedTuple):
    """A record, the previous one of its document, and the document, tokenizer and options they were made with.

    The previous record is of the same level; `parent` is the last parent, where there are two levels.
    """

    record: Record
    before: Record | None
    document: Document
    tokenizer: FullTokenizer
    options: Any
    parent: Record | None = None

    @property
    def core(self) -> list[Block]:
        """The blocks of the core."""
        return [self.document.blocks[index] for index in self.record["core_block_indices"]]

    def tokens(self, start: int, end: int) -> int:
        """Return the exact token count of a range of the source."""
        return self.tokenizer.count(self.document.text[start:end]) - self.tokenizer.added

    @property
    def room(self) -> int | None:
        """How many tokens the core may have besides the template's prefix."""
        if self.options.max_tokens is None:
            return None
        prefix = prefix_of(self.record)
        taken = self.tokenizer.count(prefix) if prefix else self.tokenizer.added
        return int(self.options.max_tokens) - taken

    def cut_blocks(self) -> list[Block]:
        """Return the blocks that are only partly in the core."""
        start, end = self.record["char_start"], self.record["char_end"]
        return [block for block in self.core if block.start < start or block.end > end]

    def overlap(self) -> list[tuple[int, int]]:
        """Return the ranges of the overlap before the core."""
        return ranges_of(self.record, "overlap_prev")


def ranges_of(record: Record, role: str) -> list[tuple[int, int]]:
    """Return the ranges of the pieces of one role."""
    return [(piece["start"], piece["end"]) for piece in record["pieces"] if piece["role"] == role]


def _whole_if_they_fit(case: PromiseCheck, kinds: frozenset[str] | None, most: int | None = None) -> Faults:
    """Check that blocks which fit beside the template's prefix stay whole, unless they fit only just."""
    room = case.room if most is None or case.room is None else min(case.room, most)
    for block in case.cut_blocks():
        if room is not None and (kinds is None or block.kind in kinds):
            size = case.tokens(block.start, block.end)
            if size + NEAR < room:
                yield "promise", f"a {block.kind} of {size} tokens is cut, though {room} would fit"


def _structure(case: PromiseCheck) -> Faults:
    yield from _structure_sections(case)
    yield from _whole_if_they_fit(case, None)
    yield from _structure_overlap(case)
    yield from _repeated_head(case)


def _smart(case: PromiseCheck) -> Faults:
    """Check that only paragraphs are cut by topic; a fallback to `structure` keeps its other promises."""
    if "smart" in case.record["metadata"].get("extra", {}):
        yield from _structure_sections(case)
    yield from _whole_if_they_fit(case, KINDS - {"paragraph"})
    yield from _structure_overlap(case)
    yield from _repeated_head(case)


def _structure_sections(case: PromiseCheck) -> Faults:
    record, blocks = case.record, case.document.blocks
    first, last = record["block_start_idx"], record["block_end_idx"]
    breaks = [index for index in range(first, last + 1) if blocks[index].kind in _SECTION_BREAKS]
    if breaks and _are_joined_sections(case):
        return
    if breaks:
        yield "promise", f"the chunk goes over a {blocks[breaks[0]].kind}: sections are never mixed"
    alone = {"table"} if case.options.mix_code else _STANDALONE
    mixed = sorted(alone & {block.kind for block in case.core})
    if mixed and len(case.core) > 1:
        yield "promise", f"a {mixed[0]} stands in one chunk with other blocks"


def _are_joined_sections(case: PromiseCheck) -> bool:
    """Whether a core over headings is what `join_sections` makes: whole sections under one parent, within target."""
    record, blocks = case.record, case.document.blocks
    inside = blocks[record["block_start_idx"] : record["block_end_idx"] + 1]
    paths = [block.headings_path for block in inside if block.kind not in _SECTION_BREAKS | LEFT_OUT_KINDS]
    shortest = min(map(len, paths))
    common = next((depth for depth in range(shortest) if len({path[depth] for path in paths}) > 1), shortest)
    around = (record["block_start_idx"] - 1, record["block_end_idx"] + 1)
    beside = [blocks[index].kind for index in around if 0 <= index < len(blocks)]
    return (
        record["strategy"] == "structure"
        and all(block.kind != "rule" for block in inside)
        and common >= shortest - 1
        and not case.cut_blocks()
        and _SECTION_BREAKS.union(LEFT_OUT_KINDS).issuperset(beside)
        and case.tokens(record["char_start"], record["char_end"]) <= case.options.target_tokens + NEAR
    )


def _structure_overlap(case: PromiseCheck) -> Faults:
    overlap = case.overlap()
    if not overlap or not case.before:
        return
    types = (case.before["chunk_type"], case.record["chunk_type"])
    if not set(types) <= _OVERLAPPING:
        yield "promise", f"overlap from {types[0]} into {types[1]}: only paragraphs and mixed chunks have it"
    between = case.document.blocks[case.before["block_end_idx"] : case.record["block_start_idx"]]
    if any(block.kind in _SECTION_BREAKS for block in between):
        yield "promise", "overlap comes from another section"
    size = sum(case.tokens(*span) for span in overlap)
    if size > case.options.overlap_tokens + NEAR:
        yield "promise", f"overlap has {size} tokens, more than overlap_tokens ({case.options.overlap_tokens})"


def _repeated_head(case: PromiseCheck) -> Faults:
    """Check that later parts of a table repeat its head."""
    head = table_head(case.document.blocks, case.record["core_block_indices"][0])
    if not head or case.record["char_start"] < head.end:
        return
    if (head.start, head.end) not in ranges_of(case.record, "context") and not case.record["context_dropped"]:
        yield "promise", "a later part of a table doesn't repeat its head, and doesn't say so"


def _hierarchical(case: PromiseCheck) -> Faults:
    yield from _repeated_head(case)
    if is_parent(case.record):
        yield from _whole_if_they_fit(case, None)
        yield from _parent_sections(case)
    else:
        yield from _child_sections(case)
        yield from _structure_overlap(case)
        if case.overlap() and case.core[0].kind in _SECTION_BREAKS:
            yield "promise", "overlap comes from another section"
        if case.overlap() and case.before and case.before["parent_id"] != case.record["parent_id"]:
            yield "promise", "overlap comes from another parent"


def _child_sections(case: PromiseCheck) -> Faults:
    """Check that headings are only at a child's start, tables and code are alone, and blocks which fit are whole."""
    body = _body_blocks(case.core)
    over = [block for block in body[:-1] if block.kind in _SECTION_BREAKS]
    if over or (body and body[-1].kind == "heading"):
        yield "promise", "the child goes over a heading or a rule: sections are never mixed"
    kinds = {block.kind for block in body} - {"rule"}
    mixed = sorted(kinds & ({"table"} if case.options.mix_code else _STANDALONE))
    if mixed and len([block for block in body if block.kind != "rule"]) > 1:
        yield "promise", f"a {mixed[0]} stands in one child with other blocks"
    if not _makes_room(case):
        yield from _whole_if_they_fit(case, None)


def _makes_room(case: PromiseCheck) -> bool:
    """Whether a block may be cut though it fits: because the parent cuts it, or to make room for a heading."""
    parent, blocks = case.parent, case.document.blocks
    for index in case.record["core_block_indices"]:
        block = blocks[index]
        whole = case.record["char_start"] <= block.start and block.end <= case.record["char_end"]
        after_break = index and blocks[index - 1].kind in _SECTION_BREAKS and block.kind not in _STANDALONE
        if not whole and (
            after_break or (parent and (block.start < parent["char_start"] or block.end > parent["char_end"]))
        ):
            return True
    return False


def _parent_sections(case: PromiseCheck) -> Faults:
    """Check that a parent stays in the section that it begins in, and that a section which fits is not divided."""
    first, before = case.core[0], case.before
    outside = first.headings_path[:-1] if first.kind == "heading" else first.headings_path
    if any(block.headings_path[: len(outside)] != outside for block in case.core):
        yield "promise", f"the parent goes beyond the section that it begins in: {' > '.join(outside)}"
    if before is None or first.kind in _SECTION_BREAKS or case.room is None:
        return
    blocks, end = case.document.blocks, case.record["block_end_idx"]
    section = blocks[before["block_start_idx"] : end + 1]
    ends = end + 1 >= len(blocks) or blocks[end + 1].kind == "heading"
    if not ends or section[0].kind != "heading" or any(block.kind == "heading" for block in _body_blocks(section)):
        return
    size = case.tokens(before["char_start"], case.record["char_end"])
    if size + NEAR < case.room:
        yield "promise", f"a section of {size} tokens is divided, though {case.room} would fit"


def _body_blocks(blocks: Sequence[Block]) -> Sequence[Block]:
    """Return blocks without the headings and rules at their start."""
    body = next((index for index, block in enumerate(blocks) if block.kind not in _SECTION_BREAKS), len(blocks))
    return blocks[body:]


def _fixed(case: PromiseCheck) -> Faults:
    if case.options.template == "plain":  # else the room is what the longest headings leave
        yield from _whole_if_they_fit(case, frozenset({"paragraph", "heading", "html"}))
    overlap = case.overlap()
    if overlap and case.before:
        most = sum(case.tokens(*span) for span in ranges_of(case.before, "core")) * case.options.overlap_ratio * 1.25
        size = sum(case.tokens(*span) for span in overlap)
        if size > most + 2 * NEAR:
            yield "promise", f"overlap has {size} tokens, more than 15 parts in 12 of what overlap_ratio asks for"
    if not case.options.overlap_ratio and overlap:
        yield "promise", "there is overlap, though overlap_ratio is 0"


def _simple(case: PromiseCheck) -> Faults:
    text, most = case.record["normalized_text"], case.options.max_chars
    if len(text) > most and case.record["chunk_type"] != "figure" and len(grapheme_starts(text, 0, len(text))) > most:
        yield "promise", f"{len(text)} characters are more than max_chars ({most}): {shortened(text)}"


def _one_type(case: PromiseCheck) -> Faults:
    types = {block.section_type for block in case.core}
    if len(types) > 1:
        yield "promise", f"section types are mixed: {', '.join(sorted(str(kind) for kind in types))}"


def _heading(case: PromiseCheck) -> Faults:
    yield from _one_type(case)
    level = case.options.split_level
    inner = any(block.kind == "heading" and (block.level or 0) <= level for block in case.core[1:])
    if (case.options.strict or not case.options.smart) and inner:
        yield "promise", "a chunk goes on over a heading that begins a section, though each has its own"
    if case.overlap():
        yield "promise", "there is overlap, which this strategy doesn't have"


def _window(case: PromiseCheck) -> Faults:
    yield from _one_type(case)
    yield from _whole_if_they_fit(case, None)
    size = sum(case.tokens(*span) for span in case.overlap())
    if size > case.options.overlap_tokens + NEAR:
        yield "promise", f"overlap has {size} tokens, more than overlap_tokens ({case.options.overlap_tokens})"


def _sentence(case: PromiseCheck) -> Faults:
    figures = [number for number, block in enumerate(case.core, 1) if block.kind == "figure"]
    start, end = case.record["char_start"], case.record["char_end"]
    inside = figure_ranges(figure_tags(case.document.text, start, end))  # of a list, quote or table
    if not figures and inside and inside[-1][1] == end:
        figures = [len(case.core)]
    overlap = case.overlap() + ranges_of(case.record, "overlap_next")
    if figures and figures != [len(case.core)]:
        yield "promise", "a figure doesn't close its chunk"
    if overlap and (figures or not case.options.overlap_ratio):
        yield "promise", "there is overlap " + ("with a figure" if figures else "though overlap_ratio is 0")
    if not figures:
        yield from _sentence_length(case)
    if case.before:
        yield from _sentence_cut(case, case.before)
        yield from _sentence_ahead(case, case.before)


def _sentence_length(case: PromiseCheck) -> Faults:
    """Check that only a single sentence, or a sentence split by a page break, is longer than max_chars."""
    record, most = case.record, int(case.options.max_chars)
    one = len(sentence_ends(case.document.text, record["char_start"], record["char_end"])) == 1
    paged = record["page_start"] != record["page_end"]
    length, most = len(record["normalized_text"]), most * 6 // 5 if paged else most
    if length > most and (paged or not one):
        yield "promise", f"{length} characters are more than {most}, and it is not one sentence of one page"


def _sentence_cut(case: PromiseCheck, before: Record) -> Faults:
    """Check that a sentence which fits is not cut, if both its ends are known."""
    text, cut, room = case.document.text, before["char_end"], case.room
    same_page = before["page_end"] == case.record["page_start"]
    if room is None or not same_page or text[cut : case.record["char_start"]].strip() or is_finished(text, cut):
        return
    ends = sentence_ends(text, before["char_start"], cut)
    start, end = ends[-2] if len(ends) > 1 else None, sentence_ends(text, cut, case.record["char_end"])[0]
    kinds = {block.kind for block in (case.document.blocks[before["block_end_idx"]], case.core[0])}
    figure = "figure" in kinds or ends_with_figure(text, cut) or ends_with_figure(text, case.record["char_end"])
    if start is not None and is_finished(text, end) and not figure and case.tokens(start, end) + NEAR < room:
        yield "promise", f"a sentence of {case.tokens(start, end)} tokens is cut, though {room} would fit"


def _sentence_ahead(case: PromiseCheck, before: Record) -> Faults:
    """Check that the overlap in the previous chunk is the start of this one, and short; at a cut in a word longer."""
    text, start = case.document.text, case.record["char_start"]
    ahead, end = ranges_of(before, "overlap_next"), before["char_end"]
    if not ahead:
        return
    if ahead[0][0] != start or ahead[-1][1] > case.record["char_end"]:
        yield "promise", "what the chunk before shows is not the beginning of this one"
    if any(block.kind == "figure" for block in case.core):
        yield "promise", "the chunk before shows something of a chunk with a figure"
    if before["page_end"] != case.record["page_start"] and not continues(case.document, end, start):
        yield "promise", "there is overlap over a page break where no sentence goes on"
    most, size = case.options.max_chars, sum(high - low for low, high in ahead)
    if is_finished(text, end) and size > 2 * most * case.options.overlap_ratio:
        yield "promise", f"{size} characters of the next chunk are more than twice what overlap_ratio asks for"
    if is_finished(text, end) and len(before["full_text"]) > most * 6 // 5 and not ranges_of(before, "overlap_prev"):
        yield "promise", f"with overlap {len(before['full_text'])} characters are more than {most * 6 // 5}"


def _blocks(case: PromiseCheck) -> Faults:
    options = case.options
    if not _makes_room(case):
        yield from _whole_if_they_fit(case, None, options.core_tokens)
    if case.cut_blocks() and any(block.kind != "heading" for block in case.core[:-1]):
        yield "promise", "a part of a split block stands in one chunk with others"
    yield from _headings_alone(case)
    ahead = "overlap_tokens" if options.overlap_next_tokens is None else "overlap_next_tokens"
    for role, side, name in (("overlap_prev", "before", "overlap_tokens"), ("overlap_next", "after", ahead)):
        size, most = sum(case.tokens(*span) for span in ranges_of(case.record, role)), getattr(options, name)
        if size > most + NEAR:
            yield "promise", f"overlap {side} has {size} tokens, more than {name} ({most})"
    yield from _blocks_core(case)
    if case.before:
        yield from _blocks_overlap(case, case.before)


def _core_room(case: PromiseCheck) -> int | None:
    """Return the most tokens of a core: `core_tokens`, where that is less than the room beside the tags."""
    known = [one for one in (case.room, case.options.core_tokens) if one is not None]
    return min(known, default=None)


def _headings_alone(case: PromiseCheck) -> Faults:
    """Check that headings aren't a chunk alone where something follows in their section, and would fit."""
    blocks, following = case.document.blocks, case.record["block_end_idx"] + 1
    if any(block.kind != "heading" for block in case.core) or following >= len(blocks) or case.cut_blocks():
        return
    path, room = case.core[-1].headings_path, _core_room(case)
    follows = blocks[following].kind not in {"heading", *LEFT_OUT_KINDS}
    taken = case.tokens(case.record["char_start"], case.record["char_end"]) + NEAR
    if follows and blocks[following].headings_path[: len(path)] == path and (room is None or taken < room // 2):
        yield "promise", "headings are alone, though something follows in their section"


def _blocks_core(case: PromiseCheck) -> Faults:
    """Check that only a figure, or a single character that is larger by itself, is over core_tokens."""
    most, core = case.options.core_tokens, case.record["normalized_text"]
    if most is None or case.record["chunk_type"] == "figure":
        return
    size = case.tokenizer.count(core) - case.tokenizer.added
    if size > most + NEAR and len(grapheme_starts(core, 0, len(core))) > 1:
        yield "promise", f"the core has {size} tokens, more than core_tokens ({most})"


def _blocks_overlap(case: PromiseCheck, before: Record) -> Faults:
    """Check that the overlap of two neighbours is the edge of a core, in whole blocks unless it is a single one."""
    distant = case.options.core_tokens is not None
    sides = (("overlap_prev", case.record, before), ("overlap_next", before, case.record))
    for role, record, neighbour in sides:
        overlap = ranges_of(record, role)
        if not overlap:
            continue
        start, end = overlap[0][0], overlap[-1][1]
        core = neighbour["char_start"], neighbour["char_end"]
        outside = (start < core[0] or end > core[1]) and not distant
        if outside or (end != core[1] if role == "overlap_prev" else start != core[0]):
            yield "promise", f"{role} is not the edge of the core of the chunk beside"
        if distant:  # it may span several cores, and end in a leaf that is not the nearest
            continue
        edges = [edge for index in record[f"{role}_block_indices"] for edge in case.document.blocks[index][1:3]]
        first = max(edges[0], core[0])  # before a nested item its indentation is taken too
        whole = not case.document.text[start:first].strip() and start <= first and end == min(edges[-1], core[1])
        if not whole and len(record[f"{role}_block_indices"]) > 1:
            yield "promise", f"{role} tears a block, though it holds another one whole"


PROMISES: Final[dict[str, Callable[[PromiseCheck], Faults]]] = {
    "structure": _structure,
    "fixed": _fixed,
    "heading": _heading,
    "window": _window,
    "sentence": _sentence,
    "simple": _simple,
    "blocks": _blocks,
    "hierarchical": _hierarchical,
    "smart": _smart,
}
