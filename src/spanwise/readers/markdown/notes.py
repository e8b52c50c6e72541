"""The syntax of linked notes: typed sections, block ids, wiki links, tags, comments.

All of it is recognized in place. A text without any of it costs only a few searches.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Final

from spanwise.documents.document import Block, Link, Part

_LINE_END: Final = re.compile(r"[ \t]*$", re.MULTILINE)
_SECTION: Final = re.compile(r"[ \t]{0,3}>[ \t]*\[!section\][+-]?[ \t]+([^\n]*\S)", re.IGNORECASE)
_BLOCK_ID: Final = re.compile(r"(?:^|\s)\^([A-Za-z0-9-]+)[ \t]*$", re.MULTILINE)
_MAYBE_ID: Final = re.compile(r"\^[A-Za-z0-9-]+[ \t]*$", re.MULTILINE)
_LONGEST_ID: Final = 256
# the sign comes first and the character before it is checked afterwards, so most of a text is skipped
_TAG: Final = re.compile(r"#(?<![^\s(,;]#)([\w/-]*[^\W\d_][\w/-]*)")
_SIGN: Final = re.compile(r"#(?<![^\s(,;\])>}]#)[\w/-]")  # of a tag, also after what `_NO_TAGS` removes
_NO_TAGS: Final = re.compile(r"\[\[[^\[\]\n]*\]\]|\]\([^()\n]*\)|<[^<>\n]*>|https?://\S+|\{\{.*?\}\}")
_MOST_TAGS: Final = 256  # every chunk repeats them; a text with more uses the sign for something else
_TAGGED: Final = frozenset({"paragraph", "list", "quote", "table", "heading"})
_WITHOUT_IDS: Final = frozenset({"code", "front_matter", "comment", "definition", "rule", "html"})
_HELD: Final = frozenset({"list", "table", "quote", "code", "figure", "html"})  # that an id on a line of its own names


def comment_ranges(text: str) -> list[tuple[int, int]]:
    """Return the ranges of comments on lines of their own, from `%%` to `%%`; an unclosed one is text."""
    found: list[tuple[int, int]] = []
    opening = 0 if text.startswith("%%") else text.find("\n%%") + 1
    while opening or text.startswith("%%", opening):
        closing = text.find("%%", opening + 2)
        if closing < 0:
            break
        if _LINE_END.match(text, closing + 2):
            found.append((opening, closing + 2))
        opening = text.find("\n%%", closing + 2) + 1
        if not opening:
            break
    return found


def wiki_link(target: str, text: str) -> Link:
    """Split a wiki link's target into note, heading and block id; in a table the bar has a backslash."""
    note, _, anchor = target.removesuffix("\\").partition("#")
    heading, _, block_id = anchor.partition("^")
    return Link(note.strip(), text, heading.strip() or None, block_id.strip() or None)


def may_hold_marks(text: str) -> bool:
    """Whether there may be tags or block ids, so that code must be blanked; most texts have none."""
    return _TAG.search(text) is not None or ("^" in text and _MAYBE_ID.search(text) is not None)


def annotated(text: str, blocks: Sequence[Block]) -> list[Block]:
    """Return the blocks with section types and block ids; code in `text` must be blanked."""
    found = list(blocks)
    if "[!" in text and "[!section]" in text.lower():
        found = [
            block if kind is None else block._replace(section_type=kind)
            for block, kind in zip(found, _section_types(text, found), strict=True)
        ]
    return _with_block_ids(text, found) if "^" in text else found


def _section_types(text: str, blocks: Sequence[Block]) -> Iterator[str | None]:
    """Yield the type of each block: a callout's scope begins with the heading above it, the innermost scope counts."""
    types = [_declared(text, block) for block in blocks]
    openings = _openings(blocks, types)
    scopes: list[tuple[int, str]] = []  # the level of its heading, and the type
    level = 0
    if first := openings.get(-1):
        scopes.append((0, first))
    for index, block in enumerate(blocks):
        if block.kind == "heading":
            level = block.level or 0
            while scopes and (level <= 2 or level <= scopes[-1][0]):
                scopes.pop()
            if declared := openings.get(index):
                scopes.append((level, declared))
        elif declared := types[index]:
            if scopes and scopes[-1][0] == level:
                scopes.pop()
            scopes.append((level, declared))
        yield scopes[-1][1] if scopes else None


def _declared(text: str, block: Block) -> str | None:
    found = _SECTION.match(text, block.start, block.end) if block.kind == "quote" else None
    return " ".join(found[1].split()) if found else None


def _openings(blocks: Sequence[Block], types: Sequence[str | None]) -> dict[int, str]:
    """Return the first type declared under each heading, by its index; -1 is the start of the document."""
    openings: dict[int, str] = {}
    heading = -1
    for index, block in enumerate(blocks):
        if block.kind == "heading":
            heading = index
        elif declared := types[index]:
            openings.setdefault(heading, declared)
    return openings


def block_ids(text: str, blocks: Sequence[Block]) -> Iterator[tuple[str, int]]:
    """Yield each block id with the index of its block: the one it ends, or, on a line of its own, the one before."""
    for index, block in enumerate(blocks):
        if block.kind in _WITHOUT_IDS:
            continue
        if block.kind == "list":  # each item may have one
            list_text = text[block.start : block.end]
            yield from ((name, index) for name in (_BLOCK_ID.findall(list_text) if "^" in list_text else ()))
            continue
        mark = text.rfind("^", max(block.start, block.end - _LONGEST_ID), block.end)
        found = _BLOCK_ID.match(text, max(mark - 1, block.start), block.end) if mark >= 0 else None
        if found and found.end() == block.end:
            alone = mark == block.start and index and blocks[index - 1].kind in _HELD
            yield found[1], index - 1 if alone else index


def _with_block_ids(text: str, blocks: list[Block]) -> list[Block]:
    for name, index in list(block_ids(text, blocks)):
        block = blocks[index]
        if block.block_id is None:
            parts = tuple(_with_part_ids(text, part) for part in block.parts) if block.kind == "list" else block.parts
            blocks[index] = block._replace(block_id=name, parts=parts)
    return blocks


def _with_part_ids(text: str, part: Part) -> Part:
    """Return an item, and the items in it, with the block ids in their own text."""
    own = text[part.start : part.parts[0].start if part.parts else part.end]
    found = _BLOCK_ID.search(own) if "^" in own else None
    inner = tuple(_with_part_ids(text, child) for child in part.parts)
    return part._replace(parts=inner, block_id=found[1] if found else None)


def tags_in(text: str, blocks: Sequence[Block]) -> list[str]:
    """Return the `#tags` of prose, each once, in order; a mere number is no tag. Code in `text` must be blanked."""
    starts = [block.start for block in blocks]
    signed = dict.fromkeys(bisect_right(starts, sign.start()) - 1 for sign in _SIGN.finditer(text))
    prose = (blocks[index] for index in signed if index >= 0 and blocks[index].kind in _TAGGED)
    searched = (_NO_TAGS.sub(" ", text[block.start : block.end]) for block in prose)
    return list(islice(dict.fromkeys(tag for piece in searched for tag in _TAG.findall(piece)), _MOST_TAGS))
