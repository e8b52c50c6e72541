"""Where overlap may start in the previous core, or end in the next one: at a leaf or sentence, else at a word."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from spanwise.chunking.packing import Range
from spanwise.chunking.pieces import PlannedCore
from spanwise.chunking.task import ChunkingTask, block_at
from spanwise.text.cuts import Cutter, cell_cuts, line_cuts, sentence_cuts, word_break, word_starts
from spanwise.text.sentences import sentence_starts

_NEVER_SPLIT: Final = frozenset({"figure", "code"})
_NOT_PROSE: Final = _NEVER_SPLIT | {"list", "table", "quote"}
_LOOK_BACK: Final = 64  # enough for an abbreviation or a number before the position
_LOOK_AHEAD: Final = 16  # enough for the word that a sentence begins with


def prose_start(task: ChunkingTask, previous: PlannedCore, free: int) -> int | None:
    """Return the earliest sentence start with at most `overlap_tokens` tokens up to the core's end, else a word start.

    A block that is no prose is taken whole or not at all. None if few tokens are free.
    """
    wanted = task.options.overlap_tokens
    if min(free, wanted) <= 0 or free < wanted // 8:
        return None
    low = max(task.tokens.back(previous.end, min(free, wanted)), previous.start)
    spans = _start_ranges(task, previous, low, _NOT_PROSE)
    for span in spans:
        if span[0] >= low:
            return span[0]
        if starts := _sentences(task, span, low, span[1]):
            return starts[0]
    for span in spans:
        if words := [start for start in word_starts(task.text, max(span[0], low - 1), span[1]) if start >= low]:
            return words[0]
    return None


def nearest_start(task: ChunkingTask, previous: PlannedCore, share: tuple[int, int, int], free: int) -> int | None:
    """Return the sentence start nearest to `share[1]` tokens before the core's end, between `share[0]` and `share[2]`.

    Without one, return the nearest word start. Overlap never has more than `free` tokens.
    """
    fewest, wanted, most = share
    if free < fewest:
        return None
    end = previous.end
    low = _back(task, previous, min(most, free))
    high = max(_back(task, previous, fewest), low + 1)
    spans = _start_ranges(task, previous, low, _NEVER_SPLIT)
    found = (start for span in spans for start in (span[0], *_sentences(task, span, low, high)))
    sentences = [start for start in found if low <= start < high]
    if not sentences:
        near = _back(task, previous, min(wanted, free))
        words = (_word_starts(task, spans, max(low, near - reach), min(end, near + reach)) for reach in (24, 200))
        sentences = next(filter(None, words), [])
    sizes = ((task.content_tokens(start, end), start) for start in sentences)
    counted = ((abs(size - wanted), start) for size, start in sizes if size <= free)
    return min(counted, default=(0, None))[1]


def leaf_edge(task: ChunkingTask, core: PlannedCore, tokens: int, *, tail: bool, may_split: bool) -> int | None:
    """Return the end of a core's first leaves that have at most `tokens` tokens together, or the start of its last.

    If the outermost alone has more, it is an edge of a sentence, line or cell in it, else of a word; a figure is never
    split. A part of one more leaf is added to whole leaves only if it `may_split`.
    """
    edge: int | None = None
    indices, left = range(core.first, core.last + 1), tokens
    for leaf, kind in _leaves(task, core, reversed(indices) if tail else indices):
        span = (leaf[0], core.end) if tail else (core.start, leaf[1])
        size = task.content_tokens(*span)
        if task.core_fits(*span, size, tokens):
            edge, left = leaf[0 if tail else 1], tokens - size
        elif kind == "figure" or (edge is not None and not may_split) or left <= 0:
            return edge
        else:
            inner = (_tail_of_leaf if tail else _head_of_leaf)(task, leaf, kind, left)
            return edge if inner is None else inner
    return edge


def _leaves(task: ChunkingTask, core: PlannedCore, indices: Iterable[int]) -> Iterator[tuple[Range, str]]:
    """Yield the range of each content block inside a core, with its kind."""
    for index in indices:
        block = task.document.blocks[index]
        if block.kind not in task.left_out:
            yield (max(block.start, core.start), min(block.end, core.end)), block.kind


def _tail_of_leaf(task: ChunkingTask, leaf: Range, kind: str, tokens: int) -> int | None:
    """Return the first start of a sentence, line or cell, else word, at most `tokens` tokens before the leaf's end."""
    low, end = max(task.tokens.back(leaf[1], tokens), leaf[0] + 1), leaf[1]
    begin = max(leaf[0], low - _LOOK_BACK)
    found = (
        [start for start in starts if low <= start < end]
        for starts in (_inner_cuts(task, kind)(begin, end), word_starts(task.text, max(leaf[0], low - 1), end))
    )
    return next((starts[0] for starts in found if starts), None)


def _head_of_leaf(task: ChunkingTask, leaf: Range, kind: str, tokens: int) -> int | None:
    """Return the last end of a sentence, line or cell, else word, at most `tokens` tokens after the leaf's start."""
    text, start = task.text, leaf[0]
    high = min(task.tokens.reach(start, tokens), leaf[1] - 1)
    if high <= start:
        return None
    cuts = _inner_cuts(task, kind)(start, min(high + _LOOK_AHEAD, leaf[1]))
    ends = [end for end in (start + len(text[start:cut].rstrip()) for cut in cuts) if start < end <= high]
    if not ends and (cut := word_break(text, start, high)):
        ends = [start + len(text[start:cut].rstrip())]
    return ends[-1] if ends else None


def _inner_cuts(task: ChunkingTask, kind: str) -> Cutter:
    if kind in {"code", "table"}:
        return line_cuts(task.text) if kind == "code" else cell_cuts(task.text)
    return sentence_cuts(task.text, task.language_at)


def _back(task: ChunkingTask, previous: PlannedCore, tokens: int) -> int:
    """Return the position in a core with so many tokens up to its end; excluded ranges don't count."""
    for start, end in reversed(task.core_ranges(previous.start, previous.end)):
        size = task.tokens.count(start, end)
        if size >= tokens:
            return max(task.tokens.back(end, tokens), start)
        tokens -= size
    return previous.start


def _start_ranges(task: ChunkingTask, previous: PlannedCore, low: int, closed: frozenset[str]) -> list[Range]:
    """Return the ranges of a core from `low` on where overlap may start; in a closed block only at its start."""
    blocks = task.document.blocks
    found: list[Range] = []
    for index in range(max(block_at(task.document, low), previous.first), previous.last + 1):
        block = blocks[index]
        start, end = max(block.start, previous.start), min(block.end, previous.end)
        if block.kind in task.left_out or end <= low or start >= end:
            continue
        if block.kind not in closed:
            found.append((start, end))
        elif start >= low and start == block.start:
            found.append((start, start + 1))
    return found


def _word_starts(task: ChunkingTask, spans: list[Range], low: int, high: int) -> list[int]:
    starts = (word_starts(task.text, max(span[0], low - 1), min(span[1], high)) for span in spans if span[0] < high)
    whole = [span[0] for span in spans if low <= span[0] < high]
    return whole + [start for found in starts for start in found if start >= low]


def _sentences(task: ChunkingTask, span: Range, low: int, high: int) -> list[int]:
    start, end = max(span[0], low - _LOOK_BACK), min(span[1], high + _LOOK_AHEAD)
    starts = sentence_starts(task.text, start, end, task.language_at(start)) if start < end else []
    return [position for position in starts if low <= position < high]
