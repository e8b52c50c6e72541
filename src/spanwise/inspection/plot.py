"""The sizes of all chunks as bars, against the sizes they were to have."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from spanwise.inspection.html import counted
from spanwise.inspection.values import Inspection, Record, TargetSizes

_CROWDED: Final = 150  # bars; more of them stand without a gap
_FEWEST: Final = 12  # places for bars, so that one chunk isn't as wide as the page; page.js counts on it too
_LABEL: Final = 14.0  # percent of the height that a label takes


def plot_of(inspection: Inspection) -> Iterator[str]:
    """Draw a bar for each chunk, which leads to it; the lines are the sizes that were asked for."""
    records, sizes = inspection.records, inspection.sizes
    if not records:
        return
    counts = [record["token_count"] for record in records]
    top = max(*counts, sizes.most or 0, 1) * 1.04
    words = f"Sizes of {counted(len(records), 'chunk')}: {min(counts):,} to {max(counts):,} tokens"
    yield f'<figure class="plot"><svg role="img" aria-label="{words}">'
    step = 100 / max(len(records), _FEWEST)
    for place, record in enumerate(records):
        yield _bar(inspection, record, place * step, step, top)
    yield from _lines(sizes, top)
    yield "</svg></figure>\n"


def _bar(inspection: Inspection, record: Record, left: float, step: float, top: float) -> str:
    count, index = record["token_count"], record["chunk_index"]
    height = max(100 * count / top, 0.8)
    width = step * 0.8 if len(inspection.records) < _CROWDED else step
    kind = " ".join(["bar", *_oddities(inspection, record)])
    place = f'x="{left:.3f}%" width="{width:.3f}%" y="{100 - height:.2f}%" height="{height:.2f}%"'
    words = _words(inspection, record)
    return f'<a href="#chunk-{index}" tabindex="-1"><title>{words}</title><rect class="{kind}" {place}/></a>'


def _oddities(inspection: Inspection, record: Record) -> dict[str, str]:
    """Say what is unusual about a size, as a class and in words."""
    least, count = inspection.sizes.least, record["token_count"]
    parent = record["chunk_id"] in inspection.parents
    odd = (
        ("over", "over the limit", record["oversize"]),
        ("under", "below min", not parent and least is not None and count < least != inspection.sizes.most),
        ("parent", "a parent", parent),
    )
    return {name: words for name, words, holds in odd if holds}


def _words(inspection: Inspection, record: Record) -> str:
    words = f"#{record['chunk_index']} · {counted(record['token_count'], 'token')}"
    return " · ".join([words, *_oddities(inspection, record).values()])


def _lines(sizes: TargetSizes, top: float) -> Iterator[str]:
    """Draw the sizes that were asked for; a name that would stand on another one is left out."""
    named = -_LABEL
    for name, size in (("parent", sizes.parent), ("max", sizes.most), ("target", sizes.target), ("min", sizes.least)):
        if not size or size > top or (name in {"target", "min"} and size == sizes.most):
            continue
        height = 100 - 100 * size / top
        yield f'<line class="{name}" x1="0" x2="100%" y1="{height:.2f}%" y2="{height:.2f}%"/>'
        if height - named >= _LABEL:
            yield f'<text class="{name}" x="100%" y="{height:.2f}%" dx="6" dy="4">{name} {size:,}</text>'
            named = height
