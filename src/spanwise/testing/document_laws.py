"""Assertions that hold for every document, whichever reader made it."""

from __future__ import annotations

from collections.abc import Sequence

from spanwise import Block, Document, Part

SHARED_KINDS = {"list", "table"}


def assert_document(document: Document) -> None:
    """Assert that each visible character is in exactly one trimmed block, and parts are in order inside their block."""
    text, reached = document.text, 0
    for index, block in enumerate(document.blocks):
        assert reached <= block.start < block.end <= len(text), f"{block.kind} at {block.start} overlaps"
        assert not text[reached : block.start].strip(), f"lost: {text[reached : block.start]!r}"
        assert_trimmed(text, block)
        assert (block.level is not None) == (block.kind == "heading")
        assert all(isinstance(name, str) and name == name.strip() != "" for name in block.headings_path)
        if block.parts:
            assert block.kind in SHARED_KINDS
            assert_parts(text, block.parts, block.start, block.end, items=block.kind == "list")
        if block.kind == "table":
            heads = [part.header for part in block.parts]
            over_pages = index and document.blocks[index - 1].kind == "table" and not heads[0]
            assert over_pages or heads == [True] + [False] * (len(heads) - 1)
            assert not any(heads[1:])
        reached = block.end
    assert not text[reached:].strip(), f"lost: {text[reached:]!r}"
    assert_pages(document)


def assert_trimmed(text: str, block: Block) -> None:
    """Assert that a block has no white space at either end, except the indentation of code."""
    part = text[block.start : block.end]
    if block.kind == "code":
        assert part == part.rstrip()
        assert "\n" not in part[: len(part) - len(part.lstrip())], f"code starts with blank lines: {part[:40]!r}"
    else:
        assert part == part.strip(), f"{block.kind} is not trimmed: {part[:40]!r} … {part[-40:]!r}"


def assert_parts(text: str, parts: Sequence[Part], start: int, end: int, *, items: bool) -> None:
    """Assert that parts ascend, are trimmed and inside; rows omit nothing, top-level items only definitions."""
    waiting = [(parts, start, end, True)]
    while waiting:
        children, low, high, whole = waiting.pop()
        reached = low
        for part in children:
            assert reached <= part.start < part.end <= high
            content = text[part.start : part.end]
            assert content == content.strip()
            assert not whole or may_be_left_out(text[reached : part.start], items)
            assert items or not part.parts
            reached = part.end
            if part.parts:
                waiting.append((part.parts, part.start, part.end, False))
        assert not whole or may_be_left_out(text[reached:high], items)


def may_be_left_out(gap: str, items: bool) -> bool:
    """Whether the text between two parts needs no part: the parser leaves a definition between two empty items."""
    return not gap.strip() or (items and gap.strip().startswith("["))


def assert_pages(document: Document) -> None:
    """Assert that pages are numbered from 1 and ascend, and that each block is inside its page."""
    reached = 0
    for number, page in enumerate(document.pages, 1):
        assert page.number == number
        assert reached <= page.start <= page.end <= len(document.text)
        reached = page.end
    for block in document.blocks:
        if not document.pages:
            assert block.page is None
        else:
            assert block.page is not None
            page = document.pages[block.page - 1]
            assert page.start <= block.start < block.end <= page.end
