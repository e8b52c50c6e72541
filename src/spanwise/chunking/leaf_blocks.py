"""Leaf blocks: a document in which every list item and every table row is a block of its own."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from spanwise.documents.document import Block, Document, Part
from spanwise.text.cuts import trimmed
from spanwise.text.plain import with_plain_text_of

_EMPTY_HEAD: Final = re.compile(r"[\s|:-]*+")  # of a table that has none: Markdown can't do without
_MARK_ALONE: Final = re.compile(r"\s*(?:[-*+•]|\d+[.)])(?:\s+\[[ xX]\])?\s*")


def leaf_view(document: Document) -> Document:
    """Return the document with its lists and tables split into leaf blocks; everything else stays the same.

    A nested item is a leaf of its own, and so is the text of an item after its nested items.
    """
    if not any(block.parts for block in document.blocks):
        return document
    leaves = tuple(leaf for block in document.blocks for leaf in _leaves(document.text, block))
    return with_plain_text_of(replace(document, blocks=leaves), document)


def _leaves(text: str, block: Block) -> Iterator[Block]:
    if not block.parts:
        yield block
        return
    whole = Part(block.start, block.end, block.parts, block.source_ref)
    for start, end, part in _leaf_ranges(text, block.start, whole):
        name = block.block_id if block.kind == "table" else part.block_id
        itself = (Part(start, end, (), part.source_ref, part.header, name),)
        reference = part.source_ref or block.source_ref
        fields = block.headings_path, None, block.page
        yield Block(block.kind, start, end, *fields, itself, block.section_type, name, reference)


def _leaf_ranges(text: str, start: int, part: Part) -> Iterator[tuple[int, int, Part]]:
    """Yield the ranges of a part's own text and of the parts in it, in the order of the text."""
    position, empty_head = start, None
    for index, child in enumerate(part.parts):
        own, begin = trimmed(text, position, child.start), child.start
        if child.header and _EMPTY_HEAD.fullmatch(text, child.start, child.end) and index + 1 < len(part.parts):
            empty_head, position = child.start, child.end  # belongs to the first row
            continue
        if empty_head is not None:
            begin, empty_head = empty_head, None
        if own and position == start and _MARK_ALONE.fullmatch(text, part.start, child.start):
            begin = own[0]  # `- - a`: a mark without text belongs to the first item in it
        elif own:
            yield *own, part
        yield from _leaf_ranges(text, begin, child)
        position = child.end
    if own := trimmed(text, position, part.end):
        yield *own, part
