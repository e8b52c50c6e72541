"""A bar plot of the sizes of all chunks, with lines for the sizes that were asked for."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from spanwise.inspection.html import counted
from spanwise.inspection.values import Inspection, Record, TargetSizes

_CROWDED: Final = 150  # bars; more are drawn without gaps
_FEWEST: Final = 12  # slots for bars, so that one chunk isn't as wide as the page; page.js relies on it too
_LABEL: Final = 14.0  # percent of the height that a label takes


def plot_of(inspection: Inspection) -> Iterator[str]:
    """Yield the plot: a bar that links to each chunk, and a line for each size that was asked for."""
    records, sizes = inspection.records, inspection.sizes
    if not records:
        return
    counts = [record["token_count"] for record in records]
    top = max(*counts, sizes.most or 0, 1) * 1.04
    title = f"Sizes of {counted(len(records), 'chunk')}: {min(counts):,} to {max(counts):,} tokens"
    yield f'<figure class="plot"><svg role="img" aria-label="{title}">'
    step = 100 / max(len(records), _FEWEST)
    for index, record in enumerate(records):
        yield _bar(inspection, record, index * step, step, top)
    yield from _lines(sizes, top)
    yield "</svg></figure>\n"


def _bar(inspection: Inspection, record: Record, left: float, step: float, top: float) -> str:
    count, index = record["token_count"], record["chunk_index"]
    height = max(100 * count / top, 0.8)
    width = step * 0.8 if len(inspection.records) < _CROWDED else step
    odd = _oddities(inspection, record)
    kind = " ".join(["bar", *odd])
    position = f'x="{left:.3f}%" width="{width:.3f}%" y="{100 - height:.2f}%" height="{height:.2f}%"'
    title = " · ".join([f"#{index}", counted(count, "token"), *odd.values()])
    return f'<a href="#chunk-{index}" tabindex="-1"><title>{title}</title><rect class="{kind}" {position}/></a>'


def _oddities(inspection: Inspection, record: Record) -> dict[str, str]:
    """Return what is unusual about a size, as CSS class and text."""
    least, count = inspection.sizes.least, record["token_count"]
    parent = record["chunk_id"] in inspection.parents
    odd = (
        ("over", "over the limit", record["oversize"]),
        ("under", "below min", not parent and least is not None and count < least != inspection.sizes.most),
        ("parent", "a parent", parent),
    )
    return {name: text for name, text, holds in odd if holds}


def _lines(sizes: TargetSizes, top: float) -> Iterator[str]:
    """Yield lines for the sizes that were asked for; a label that would cover another one is omitted."""
    last_label = -_LABEL
    for name, size in (("parent", sizes.parent), ("max", sizes.most), ("target", sizes.target), ("min", sizes.least)):
        if not size or size > top or (name in {"target", "min"} and size == sizes.most):
            continue
        height = 100 - 100 * size / top
        yield f'<line class="{name}" x1="0" x2="100%" y1="{height:.2f}%" y2="{height:.2f}%"/>'
        if height - last_label >= _LABEL:
            yield f'<text class="{name}" x="100%" y="{height:.2f}%" dx="6" dy="4">{name} {size:,}</text>'
            last_label = height
