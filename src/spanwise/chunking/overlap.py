"""Where overlap may start in the previous core, or end in the next one: at a leaf or sentence, else at a word."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from spanwise.chunking.packing import Range
from spanwise.chunking.pieces import PlannedCore
from spanwise.chunking.settle import block_at
from spanwise.chunking.task import ChunkingTask
from spanwise.text.cuts import Cutter, cell_cuts, line_cuts, sentence_cuts, word_break, word_starts
from spanwise.text.sentences import sentence_starts

NEVER_TORN: Final = frozenset({"figure", "code"})
NOT_PROSE: Final = NEVER_TORN | {"list", "table", "quote"}
_LOOK_BACK: Final = 64  # enough for an abbreviation or a number before the position
_LOOK_AHEAD: Final = 16  # enough for the word that a sentence begins with


def sentence_or_word_start(
    task: ChunkingTask, previous: PlannedCore, tokens: int, closed: frozenset[str]
) -> int | None:
    """Return the earliest sentence start with at most `tokens` tokens up to the core's end, else a word start.

    A block of a `closed` kind is taken whole or not at all.
    """
    if tokens <= 0:
        return None
    low = max(task.tokens.back(previous.end, tokens), previous.start)
    spans = _start_ranges(task, previous, low, closed)
    for span in spans:
        if span[0] >= low:
            return span[0]
        if starts := _sentences(task, span, low, span[1]):
            return starts[0]
    for span in spans:
        if words := [start for start in word_starts(task.text, max(span[0], low - 1), span[1]) if start >= low]:
            return words[0]
    return None


def prose_start(task: ChunkingTask, previous: PlannedCore, free: int) -> int | None:
    """Return where overlap of at most `overlap_tokens` starts in prose; None if few tokens are free."""
    wanted = task.options.overlap_tokens
    return sentence_or_word_start(task, previous, min(free, wanted), NOT_PROSE) if free >= wanted // 8 else None


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
    spans = _start_ranges(task, previous, low, NEVER_TORN)
    sentences = [start for span in spans for start in (*_start_in(span, low, high), *_sentences(task, span, low, high))]
    if not sentences:
        near = _back(task, previous, min(wanted, free))
        words = (_word_starts(task, spans, max(low, near - reach), min(end, near + reach)) for reach in (24, 200))
        sentences = next(filter(None, words), [])
    sizes = ((task.content_tokens(start, end), start) for start in sentences)
    counted = ((abs(size - wanted), start) for size, start in sizes if size <= free)
    return min(counted, default=(0, None))[1]


def tail_start(task: ChunkingTask, core: PlannedCore, tokens: int, *, torn: bool = False) -> int | None:
    """Return the start of a core's last leaves that have at most `tokens` tokens together.

    If the last one alone has more, it is the start of a sentence, line or cell in it, else of a word; a figure is never
    split. A part of one more leaf is added to whole leaves only if it may be `torn`.
    """
    start: int | None = None
    for leaf, kind in _leaves(task, core, reversed(range(core.first, core.last + 1))):
        if task.core_fits(leaf[0], core.end, task.content_tokens(leaf[0], core.end), tokens):
            start = leaf[0]
            continue
        if kind == "figure" or (start is not None and not torn):
            return start
        left = tokens if start is None else tokens - task.content_tokens(start, core.end)
        inner = _tail_of_leaf(task, leaf, kind, left) if left > 0 else None
        return start if inner is None else inner
    return start


def head_end(task: ChunkingTask, core: PlannedCore, tokens: int, *, torn: bool = False) -> int | None:
    """Return the end of a core's first leaves that have at most `tokens` tokens together; else like `tail_start`."""
    end: int | None = None
    for leaf, kind in _leaves(task, core, range(core.first, core.last + 1)):
        if task.core_fits(core.start, leaf[1], task.content_tokens(core.start, leaf[1]), tokens):
            end = leaf[1]
            continue
        if kind == "figure" or (end is not None and not torn):
            return end
        left = tokens if end is None else tokens - task.content_tokens(core.start, end)
        inner = _head_of_leaf(task, leaf, kind, left) if left > 0 else None
        return end if inner is None else inner
    return end


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
    return sentence_cuts(task.text, lambda: task.language)


def _back(task: ChunkingTask, previous: PlannedCore, tokens: int) -> int:
    """Return the position in a core with so many tokens up to its end; excluded ranges don't count."""
    ranges = task.core_ranges(previous.start, previous.end) if task.excluded else [(previous.start, previous.end)]
    for start, end in reversed(ranges):
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
    whole = [start for span in spans for start in _start_in(span, low, high)]
    return whole + [start for found in starts for start in found if start >= low]


def _start_in(span: Range, low: int, high: int) -> Iterable[int]:
    return (span[0],) if low <= span[0] < high else ()


def _sentences(task: ChunkingTask, span: Range, low: int, high: int) -> list[int]:
    start, end = max(span[0], low - _LOOK_BACK), min(span[1], high + _LOOK_AHEAD)
    starts = sentence_starts(task.text, start, end, task.language) if start < end else []
    return [position for position in starts if low <= position < high]
