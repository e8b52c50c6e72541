"""Drafts of the cores of `sentence`: joined over page breaks, and with the overlap that each has with the next."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import zip_longest
from typing import Final

from spanwise.chunking.packing import Range
from spanwise.chunking.pieces import OverlapChoices, PlannedCore, joiner_between
from spanwise.chunking.settle import core_tokens
from spanwise.chunking.task import ChunkingTask, block_at
from spanwise.documents.document import Document
from spanwise.documents.span import without
from spanwise.text.cuts import grapheme_break, grapheme_end, is_grapheme_boundary
from spanwise.text.tokens import NEAR

SENTENCE_ENDS: Final = ".!?。！？‼⁇⁈⁉"
WORD_BREAKS: Final = ",;:()[]{}、，；：（）【】「」『』〔〕〈〉《》〖〗〘〙〚〛〝〞〟〰–—‘’‚‛“”„‟‹›"
SENTENCE_END: Final = re.compile(f"[{SENTENCE_ENDS}]")
WORD_BREAK: Final = re.compile(rf"[\s{re.escape(WORD_BREAKS)}]")
_NATURAL: Final = re.compile(rf"[\s{re.escape(WORD_BREAKS + SENTENCE_ENDS)}]")
_VISIBLE: Final = re.compile(r"\S")
# All other lines that may be a heading or an item begin with something else than a small letter.
_SMALL_ITEM: Final = re.compile(r"(?:[^\W\d_]|[ivxlcdm]++)[.)]\s")
_FIGURE_END: Final = re.compile(r"</figure\s*>\Z", re.IGNORECASE)
_LONGEST_TAG: Final = 32
_WORD: Final = re.compile(r"[^\W\d_]++")
_COMPOUND: Final = re.compile(r"[^\W\d_]++(?>(?:[-‐][^\W\d_]++)*)")
_HYPHENS: Final = "-‐\u00ad"
_LONGEST_WORD: Final = 64
_NOT_CONTINUED: Final = frozenset({"heading", "list", "figure"})
_LONGEST_END: Final = 64  # characters that may belong to the mark that ends a sentence
_JOINT: Final = 2  # tokens
_PAST: Final = 21  # from so many characters after the wanted size on, overlap may also end at a word


@dataclass(slots=True)
class SentenceDraft:
    """A core before it is planned; it grows in place: a hundred thousand short pages must not take quadratic time."""

    start: int
    end: int
    pages: tuple[int | None, int | None]  # the first and the last
    chars: int
    tokens: int  # by the map, with the overlap at middle cuts
    tail: int  # where its last sentence begins
    kept: int | None = None  # where the sentence before that ends
    figure: bool = False  # ends with one
    lone: bool = False  # is a figure and nothing else
    part: bool = False  # of a sentence that was halved
    splits_word: bool = False  # ends in the middle of a word: no overlap with the next
    carried: bool = False  # begins with a sentence from the page before
    before: int | None = None
    after: int | None = None
    gaps: list[Range] = field(default_factory=list)
    tight: set[int] = field(default_factory=set)  # ends of those gaps that divide a word
    doubt: int = NEAR  # how far `tokens` may be off


def room_at(task: ChunkingTask, start: int) -> int:
    """Return how many tokens a core that starts here may have; where a template ends, tokens may not add up."""
    block = block_at(task.document, start)
    return task.room(block) - (_JOINT if task.prefix(block)[0] else 0)


def visible(text: str, position: int) -> int:
    """Return the first position from here on that is no white space."""
    found = _VISIBLE.search(text, position)
    return found.start() if found else position


def sentence_ends(text: str, start: int, end: int) -> list[int]:
    """Return where the sentences of a range end: right after a mark with what belongs to it, and at the end."""
    ends = [found.end() for found in SENTENCE_END.finditer(text, start, end)]
    if not text.isascii():
        wide = "\u0300"  # below this nothing joins the character before it
        whole = (at if at == end or text[at] < wide else _whole_end(text, at, end) for at in ends)
        ends = [at for at in whole if at]
    return ends if ends and ends[-1] == end else [*ends, end]


def _whole_end(text: str, position: int, end: int) -> int | None:
    """Move the end of a mark behind the characters that join it, such as the emoji variant of `‼`."""
    if is_grapheme_boundary(text, position):
        return position
    return grapheme_end(text, position - 1, min(position + _LONGEST_END, end))


def is_finished(text: str, end: int) -> bool:
    """Whether a text that ends here ends a sentence; a variation selector doesn't hide its mark."""
    return text[max(end - 2, 0) : end].rstrip("\ufe0e\ufe0f")[-1:] in SENTENCE_ENDS


def continues(document: Document, end: int, start: int) -> bool:
    """Whether the text from `start` on seems to continue the sentence that stops at `end`, on the page before."""
    text = document.text
    first = visible(text, start)
    if is_finished(text, end) or not text[first].islower() or _SMALL_ITEM.match(text, first):
        return False
    before, after = (document.blocks[block_at(document, position)].kind for position in (end - 1, first))
    return before != "figure" and after not in _NOT_CONTINUED and not ends_with_figure(text, end)


def ends_with_figure(text: str, end: int) -> bool:
    """Whether a text that ends here ends with a figure, in whatever block that is."""
    return _FIGURE_END.search(text, max(end - _LONGEST_TAG, 0), end) is not None


def divides_word(task: ChunkingTask, end: int, start: int) -> bool:
    """Whether a text that stops at `end` stops with a hyphen in a word that goes on at `start`, after a page break.

    It does where the word occurs in the document as one, with the hyphen or without.
    """
    text = task.text
    if text[end - 1] not in _HYPHENS:
        return False
    head = text[max(end - 1 - _LONGEST_WORD, 0) : end - 1]
    left, right = _WORD.findall(head), _WORD.match(text, start, start + _LONGEST_WORD)
    if not left or not right or not head.endswith(left[-1]):
        return False
    words = task.once(_document_words)
    return bool(words & {(left[-1] + joint + right[0]).casefold() for joint in ("", "-")})


def _document_words(task: ChunkingTask) -> set[str]:
    found = {found.replace("‐", "-") for found in _COMPOUND.findall(task.text.casefold())}
    return found | {part for word in found if "-" in word for part in word.split("-")}


def joined_pages(task: ChunkingTask, pages: Iterable[list[SentenceDraft]]) -> list[SentenceDraft]:
    """Return the drafts of all pages in order; a sentence that a page break splits is joined where that fits."""
    done: list[SentenceDraft] = []
    for drafts in pages:
        if done and drafts and continues(task.document, done[-1].end, drafts[0].start):
            before, after = done.pop(), drafts.pop(0)
            done += _merged(task, before, after) or _carried(task, before, after) or [before, after]
        done += drafts
    return done


def _merged(task: ChunkingTask, before: SentenceDraft, after: SentenceDraft) -> list[SentenceDraft]:
    """Join the last draft of a page with the first of the next, if both limits allow it; else return nothing."""
    tight = {after.start} if divides_word(task, before.end, after.start) else set[int]()
    chars, tokens = before.chars + 1 - len(tight) + after.chars, before.tokens + after.tokens
    doubt = max(before.doubt, after.doubt) + 1  # where two pages meet
    room = room_at(task, before.start)
    if chars > task.options.max_chars * 6 // 5 or tokens - doubt > room:
        return []
    if tokens + doubt > room:
        tokens, doubt = _counted(task, before, after, before.tight | tight | after.tight), 0
        if tokens > room:
            return []
    before.gaps += [(before.end, after.start), *after.gaps]
    before.tight |= tight | after.tight
    before.end, before.after, before.figure = after.end, after.after, after.figure
    before.pages, before.chars, before.tokens, before.doubt = (before.pages[0], after.pages[1]), chars, tokens, doubt
    before.part, before.splits_word = before.part or after.part, after.splits_word
    if after.kept is not None:
        before.tail, before.kept = after.tail, after.kept
    return [before]


def _counted(task: ChunkingTask, before: SentenceDraft, after: SentenceDraft, tight: set[int]) -> int:
    """Count two drafts exactly as one, with their overlap at middle cuts."""
    gaps = OverlapChoices((*before.gaps, (before.end, after.start), *after.gaps), tight=frozenset(tight))
    tokens = core_tokens(task, PlannedCore(before.start, after.end, 0, 0, False, gaps))
    tokens += task.tokens.count(before.before, before.start) if before.before is not None else 0
    return tokens + (task.tokens.count(after.end, after.after) if after.after is not None else 0)


def _carried(task: ChunkingTask, before: SentenceDraft, after: SentenceDraft) -> list[SentenceDraft]:
    """Move only the unfinished sentence to the next page's draft, if that fits; text never changes its order."""
    if before.kept is None:
        return []
    start, first = visible(task.text, before.tail), bisect_left(before.gaps, (before.tail,))
    moved = SentenceDraft(start, before.end, before.pages, 0, task.content_tokens(start, before.end), start)
    moved.gaps, moved.tight = before.gaps[first:], set(before.tight)
    moved.chars = length(task, moved)
    moved.doubt += len(moved.gaps)
    if not _merged(task, moved, after):
        return []
    moved.carried = True
    before.end, before.gaps, before.after = before.kept, before.gaps[:first], None
    before.pages = before.pages[0], task.document.blocks[block_at(task.document, before.end - 1)].page
    before.chars, before.tokens = length(task, before), task.content_tokens(before.start, before.end)
    return [before, moved]


def length(task: ChunkingTask, draft: SentenceDraft) -> int:
    """Count the characters of a core, with the white space that joins its pieces."""
    ranges = [task.core_ranges(*span) for span in without(draft.gaps, draft.start, draft.end)]
    inner = sum([end - start + 2 for pieces in ranges for start, end in pieces])
    return inner - 2 * len(ranges) + sum(end not in draft.tight for _, end in draft.gaps)


def planned(task: ChunkingTask, drafts: list[SentenceDraft]) -> list[PlannedCore]:
    """Return the planned cores of the drafts, each with its overlap with the next."""
    document, cores = task.document, list[PlannedCore]()
    for draft, after in zip_longest(drafts, drafts[1:]):
        starts = (draft.before,) if draft.before is not None else ()
        ends = (draft.after,) if draft.after is not None else _ahead(task, draft, after) if after else ()
        first, last = block_at(document, draft.start), block_at(document, draft.end - 1)
        over = ends and after and document.blocks[block_at(document, after.start)].page != document.blocks[last].page
        joiner = None
        if over and after:  # the sentence goes on
            joiner = "" if divides_word(task, draft.end, after.start) else " "
        around = None
        if starts or ends or draft.gaps or draft.lone:
            around = OverlapChoices(tuple(draft.gaps), starts, ends, joiner, frozenset(draft.tight), draft.lone)
        cores.append(PlannedCore(draft.start, draft.end, first, last, False, around))
    return cores


def _ahead(task: ChunkingTask, draft: SentenceDraft, after: SentenceDraft) -> tuple[int, ...]:
    """Return where overlap with the next core may end, the best position first."""
    size = int(task.options.max_chars * task.options.overlap_ratio + 1e-9)
    if not size or draft.figure or draft.splits_word or after.figure or after.carried:
        return ()
    if draft.pages[1] != after.pages[0] and not continues(task.document, draft.end, after.start):
        return ()
    head, anchors = _head(task, after, 2 * size)
    wanted = _natural_length(head, size, len(head) == after.chars)
    joint = len(joiner_between(task.text, draft.end, after.start))
    most = min(wanted, task.options.max_chars * 6 // 5 - draft.chars - joint)
    if most <= 0 or task.text.endswith(head[:wanted], draft.start, draft.end):
        return ()
    lengths = [wanted] if wanted <= most else []
    room = room_at(task, draft.start) - draft.tokens - draft.doubt
    if not lengths or task.tokens.count(after.start, anchors[-1][1] + wanted - anchors[-1][0]) > room:
        breaks = [found.end() for found in _NATURAL.finditer(head, 0, most)]
        lengths += reversed([length for length in breaks if length < wanted])
    positions = (_position(task, anchors, len(head[:length].rstrip())) for length in lengths)
    return tuple(dict.fromkeys(position for position in positions if position is not None))


def _head(task: ChunkingTask, draft: SentenceDraft, length: int) -> tuple[str, list[Range]]:
    """Return the beginning of a core's text, and the start of each of its pieces in this and in the document."""
    text = task.text
    if not draft.gaps and not task.has_excluded(draft.start, draft.end):
        return text[draft.start : min(draft.end, draft.start + length)], [(0, draft.start)]
    head, anchors = "", list[Range]()
    for span in without(draft.gaps, draft.start, draft.end):
        for index, (start, end) in enumerate(task.core_ranges(*span)):
            joiner = "" if not anchors or start in draft.tight else "\n\n" if index else " "
            taken = len(head) + len(joiner)
            if taken >= length:
                return head, anchors
            head += joiner + text[start : min(end, start + length - taken)]
            anchors.append((taken, start))
    return head, anchors


def _natural_length(head: str, size: int, whole: bool) -> int:
    """Search from the wanted size on for a sentence end, or, well past it, a word; else drop a split last word."""
    found = [mark for mark in (SENTENCE_END.search(head, size), WORD_BREAK.search(head, size + _PAST)) if mark]
    if found:
        return min(mark.end() for mark in found)
    length = len(head)
    while not whole and length > size and head[length - 1].isalnum():
        length -= 1
    if length > size or whole or not head[size - 1].isalnum():
        return length
    return max([mark.end() for mark in _NATURAL.finditer(head, 0, size)], default=length)


def _position(task: ChunkingTask, anchors: list[Range], length: int) -> int | None:
    """Return the position in the document where so many characters of a head end; never inside a character."""
    if not length:
        return None
    offset, start = anchors[bisect_left(anchors, (length,)) - 1]
    return grapheme_break(task.text, start, start + length - offset)
