"""The sizes of all chunks as bars, against the sizes they were to have."""

from __future__ import annotations

from collections.abc import Iterator

from spanwise.inspection.markup import counted
from spanwise.inspection.values import Inspection, Record

_CROWDED = 150  # bars; more of them stand without a gap


def plot_of(inspection: Inspection) -> Iterator[str]:
    """Draw a bar for each chunk, which leads to it; the lines are the sizes that were asked for."""
    records, sizes = inspection.records, inspection.sizes
    if not records:
        return
    counts = [record["token_count"] for record in records]
    top = max(*counts, sizes.most or 0, 1) * 1.04
    words = f"Sizes of {counted(len(records), 'chunk')}: {min(counts):,} to {max(counts):,} tokens"
    yield f'<figure class="plot"><svg role="img" aria-label="{words}">'
    step = 100 / len(records)
    for place, record in enumerate(records):
        yield _bar(inspection, record, place * step, step, top)
    for name, size in (("max", sizes.most), ("target", sizes.target), ("min", sizes.least)):
        if size and size <= top and (name == "max" or size != sizes.most):
            yield _line(name, size, 100 - 100 * size / top)
    yield "</svg></figure>"


def _bar(inspection: Inspection, record: Record, left: float, step: float, top: float) -> str:
    count, index = record["token_count"], record["chunk_index"]
    height = max(100 * count / top, 0.8)
    width = step * 0.8 if len(inspection.records) < _CROWDED else step
    kind = " ".join(["bar", *_oddities(inspection, record)])
    return (
        f'<a href="#chunk-{index}" tabindex="-1"><title>#{index} · {counted(count, "token")}</title>'
        f'<rect class="{kind}" x="{left:.3f}%" width="{width:.3f}%" y="{100 - height:.2f}%" height="{height:.2f}%"/></a>'
    )


def _oddities(inspection: Inspection, record: Record) -> list[str]:
    least, count = inspection.sizes.least, record["token_count"]
    odd = {
        "over": record["oversize"],
        "under": least is not None and count < least,
        "parent": record["chunk_id"] in inspection.parents,
    }
    return [name for name, holds in odd.items() if holds]


def _line(name: str, size: int, height: float) -> str:
    return (
        f'<line class="{name}" x1="0" x2="100%" y1="{height:.2f}%" y2="{height:.2f}%"/>'
        f'<text class="{name}" x="100%" y="{height:.2f}%" dx="-4" dy="12" text-anchor="end">{name} {size:,}</text>'
    )
