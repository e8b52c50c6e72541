"""Checks of what a splitter returned, independent of how it was made.

Limit: bpe-openai counts each text that would be embedded. Offsets: the range of the input text must equal the chunk.
Lost: visible characters that are in no chunk; a chunk without correct offsets is searched for, forward from the one
before. Cut: see `SENTENCE_RULE`.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any

import counters
from corpora import Corpus
from splitters import LIMIT, SplitChunk, Splitter, error_summary

SENTENCE_RULE = (
    "the end of a chunk is inside a sentence unless a line ends there, or the text before it ends with"
    " `. ! ? … 。 ！ ？ ．` and perhaps closing quotes, brackets or marks of Markdown (last chunks are not judged)"
)
_SENTENCE_END = re.compile(r"[.!?…。！？．][\"'”’»)\]}>」』）】*_`~]*$")
_NEAR = 24  # characters examined before and after a cut
_VISIBLE = re.compile(r"\S+")
_ON_PURPOSE = frozenset({"heading", "rule", "front_matter", "comment", "definition"})
Range = tuple[int, int]


@dataclass
class Tally:
    """The counts of one splitter over one corpus."""

    chunks: int = 0
    tokens: int = 0
    over: int = 0
    worst: int = 0
    misplaced: int = 0
    several: int = 0
    visible: int = 0
    lost: int = 0
    left_out: int = 0
    ends: int = 0
    cut: int = 0
    failed_texts: int = 0
    failure: str = ""


def checked(rows: list[Splitter], corpus: Corpus) -> dict[str, dict[str, Any]]:
    """Check every row that supports this corpus and is installed."""
    found: dict[str, dict[str, Any]] = {}
    for row in rows:
        if corpus.format in row.formats and row.version:
            print(f"  checking {row.name}", file=sys.stderr)
            found[row.name] = asdict(_tally(row, corpus))
    return found


def _tally(row: Splitter, corpus: Corpus) -> Tally:
    tally = Tally()
    try:
        split = row.build(corpus.format, row.counters[0])
    except Exception as error:  # a peer that can't be set up is reported, the others continue
        return Tally(failed_texts=len(corpus.texts), failure=error_summary(error))
    for text in corpus.texts:
        try:
            chunks = [row.made(chunk) for chunk in split(text)]
        except Exception as error:  # a text that a splitter can't process counts as lost
            tally.failed_texts, tally.failure = tally.failed_texts + 1, error_summary(error)
            chunks = []
        _check_limit(tally, chunks)
        on_purpose = _left_out(text, corpus.format) if row.ours else []
        _check_offsets(tally, text, chunks, on_purpose)
    return tally


def _check_limit(tally: Tally, chunks: list[SplitChunk]) -> None:
    sizes = [counters.bare()(chunk.text) for chunk in chunks]
    tally.chunks += len(sizes)
    tally.tokens += sum(sizes)
    tally.over += sum(size > LIMIT for size in sizes)
    tally.worst = max([tally.worst, *sizes])


def _check_offsets(tally: Tally, text: str, chunks: list[SplitChunk], left_out: list[Range]) -> None:
    """Check offsets, then what no chunk covers and where chunks end, by correct offsets or by searching."""
    covered, ends, reached = bytearray(len(text)), list[int](), 0
    for chunk in chunks:
        right = is_placed(text, chunk)
        tally.misplaced += not right
        tally.several += len(chunk.ranges) > 1
        for start, end in chunk.ranges if right else _searched(text, chunk.core, reached):
            covered[start:end] = b"\x01" * (end - start)
            reached = max(reached, end)
        ends.append(reached)
    for start, end in left_out:
        gap = covered[start:end]
        covered[start:end] = gap.translate(bytes([2, *range(1, 256)]))
    for run in _VISIBLE.finditer(text):
        part = covered[run.start() : run.end()]
        tally.visible += len(part)
        tally.lost += part.count(0)
        tally.left_out += part.count(2)
    cuts = [cuts_sentence(text, end) for end in ends[:-1]]
    tally.ends += len(cuts)
    tally.cut += sum(cuts)


def is_placed(text: str, chunk: SplitChunk) -> bool:
    """Whether the ranges are the chunk: a single one exactly; several, around skipped text, except white space."""
    slices = [text[start:end] for start, end in chunk.ranges if 0 <= start < end <= len(text)]
    if len(slices) < len(chunk.ranges) or not slices:
        return False
    return slices[0] == chunk.core if len(slices) == 1 else _visible("".join(slices)) == _visible(chunk.core)


def _visible(text: str) -> str:
    return "".join(text.split())


def cuts_sentence(text: str, end: int) -> bool:
    """Apply `SENTENCE_RULE` to one end of a chunk."""
    before = text[max(0, end - _NEAR) : end]
    seen = before.rstrip()
    after = text[end : end + _NEAR]
    gap = before[len(seen) :] + after[: len(after) - len(after.lstrip())]
    return "\n" not in gap and bool(after.strip()) and not _SENTENCE_END.search(seen)


def _searched(text: str, core: str, reached: int) -> Iterator[Range]:
    """Yield the range of a chunk found after the previous one; replacement characters at its edges are ignored."""
    wanted = core.strip().strip("\ufffd").strip()
    start = text.find(wanted, reached) if wanted else -1
    if start >= 0:
        yield start, start + len(wanted)


def _left_out(text: str, format: str) -> list[Range]:
    """Return the ranges that Spanwise leaves out on purpose: headings, kept in `headings_path`, and non-content."""
    from spanwise import read_text

    return [(block.start, block.end) for block in read_text(text, format).blocks if block.kind in _ON_PURPOSE]
