"""Curves of a measure over what is read, as SVG without style of its own: a shape and a letter for each setting."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from spanwise.evaluation.report import EvaluationReport
from spanwise.evaluation.values import Amount, Interval
from spanwise.inspection.html import escaped

HUES: Final = 6
_WIDTH, _HEIGHT = 460, 250
_LEFT, _RIGHT, _TOP, _BOTTOM = 46, 30, 14, 40
_LINE: Final = 13  # height of a name
_DASHES: Final = ("", "7 4", "2 4", "10 3 2 3")
_STEPS: Final = (0.01, 0.02, 0.05, 0.1, 0.2)


_CORNERS: Final[Sequence[Sequence[tuple[float, float]]]] = (
    [(-1, -1), (1, -1), (1, 1), (-1, 1)],
    [(0, -1.3), (1.3, 0), (0, 1.3), (-1.3, 0)],
    [(0, -1.2), (1.2, 0.9), (-1.2, 0.9)],
    [(0, 1.2), (1.2, -0.9), (-1.2, -0.9)],
    [(-0.4, -1.2), (0.4, -1.2), (0.4, -0.4), (1.2, -0.4), (1.2, 0.4), (0.4, 0.4), (0.4, 1.2), (-0.4, 1.2), (-0.4, 0.4),
     (-1.2, 0.4), (-1.2, -0.4), (-0.4, -0.4)],
)  # fmt: skip


class _Scale(NamedTuple):
    """Where values lie in the picture: amounts by their logarithm, shares from `low` to `high`."""

    amounts: Sequence[Amount]
    low: float
    high: float
    step: float

    def x(self, value: float) -> float:
        first, last = math.log(self.amounts[0].value), math.log(self.amounts[-1].value)
        share = (math.log(value) - first) / (last - first) if last > first else 0.5
        return _LEFT + 16 + share * (_WIDTH - _LEFT - _RIGHT - 32)

    def y(self, value: float) -> float:
        return _TOP + (self.high - value) / (self.high - self.low) * (_HEIGHT - _TOP - _BOTTOM)


def curves_of(report: EvaluationReport, measure: str, kind: str, letters: Sequence[str]) -> str:
    """Return a picture of a measure over budgets or numbers of hits; "" if there are none."""
    amounts = [amount for amount in report.amounts if amount.kind == kind]
    if not amounts:
        return ""
    found = [[report.summary[one.name][amount][measure] for amount in amounts] for one in report.results]
    scale = _scale(amounts, [interval for curve in found for interval in curve])
    what = "tokens that may be returned" if kind == "budget" else f"{amounts[0].unit}s that are returned"
    parts = [*_axes(scale, what)]
    heights = _apart([scale.y(curve[-1].mean) for curve in found])
    for number, curve in enumerate(found):
        parts += _curve(scale, curve, number, (number - (len(found) - 1) / 2) * 5)
        name = f'<text x="{_WIDTH - _RIGHT + 6}" y="{heights[number] + 4:.1f}" class="name">{letters[number]}</text>'
        parts.append(f'<g class="s{number % HUES}">{name}</g>')
    title = f"{measure} over {what}"
    return f'<svg viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img" aria-label="{escaped(title)}">{"".join(parts)}</svg>'


def _scale(amounts: Sequence[Amount], found: Sequence[Interval]) -> _Scale:
    low, high = min(one.low for one in found), max(one.high for one in found)
    step = next((step for step in _STEPS if (high - low) / step <= 5), _STEPS[-1])
    low = math.floor(low / step + 1e-9) * step
    high = max(math.ceil(high / step - 1e-9) * step, low + step)
    return _Scale(amounts, low, high, step)


def _axes(scale: _Scale, what: str) -> Iterator[str]:
    for number in range(round((scale.high - scale.low) / scale.step) + 1):
        value = scale.low + number * scale.step
        y = scale.y(value)
        yield f'<line class="grid" x1="{_LEFT}" x2="{_WIDTH - _RIGHT}" y1="{y:.1f}" y2="{y:.1f}"/>'
        yield f'<text x="{_LEFT - 8}" y="{y + 4:.1f}" text-anchor="end">{100 * value:.0f} %</text>'
    bottom = _HEIGHT - _BOTTOM
    yield f'<line class="axis" x1="{_LEFT}" x2="{_WIDTH - _RIGHT}" y1="{bottom}" y2="{bottom}"/>'
    for amount in scale.amounts:
        x = scale.x(amount.value)
        yield f'<line class="axis" x1="{x:.1f}" x2="{x:.1f}" y1="{bottom}" y2="{bottom + 4}"/>'
        yield f'<text x="{x:.1f}" y="{bottom + 17}" text-anchor="middle">{amount.value:,}</text>'
    middle = (_LEFT + _WIDTH - _RIGHT) / 2
    yield f'<text x="{middle}" y="{_HEIGHT - 6}" text-anchor="middle">{escaped(what)}</text>'


def _apart(heights: Sequence[float]) -> list[float]:
    """Return heights of names, moved until none covers another."""
    order = sorted(range(len(heights)), key=lambda number: heights[number])
    found, reached = list(heights), -math.inf
    for number in order:
        found[number] = reached = max(heights[number], reached + _LINE)
    over = max(0.0, reached - (_HEIGHT - _BOTTOM))
    return [height - over for height in found]


def _curve(scale: _Scale, curve: Sequence[Interval], number: int, aside: float) -> Iterator[str]:
    """Yield a curve with its intervals; those of several settings stand beside each other."""
    places = [(scale.x(amount.value) + aside, one) for amount, one in zip(scale.amounts, curve, strict=True)]
    points = " ".join(f"{x:.1f},{scale.y(one.mean):.1f}" for x, one in places)
    dash = _DASHES[number // HUES % len(_DASHES)]
    yield f'<g class="s{number % HUES}">'
    yield f'<polyline class="curve" points="{points}"{f" stroke-dasharray={dash!r}" if dash else ""}/>'
    for x, one in places:
        low, high = scale.y(one.low), scale.y(one.high)
        yield f'<line class="whisker" x1="{x:.1f}" x2="{x:.1f}" y1="{low:.1f}" y2="{high:.1f}"/>'
        yield marker(number, x, scale.y(one.mean), 4.5)
    yield "</g>"


def marker(number: int, x: float, y: float, size: float) -> str:
    """Return the shape that stands for a setting: circle, square, diamond, triangles, cross."""
    shape = number % 6
    if shape == 0:
        return f'<circle class="point" cx="{x:.1f}" cy="{y:.1f}" r="{size}"/>'
    corners = _CORNERS[shape - 1]
    points = " ".join(f"{x + size * dx:.1f},{y + size * dy:.1f}" for dx, dy in corners)
    return f'<polygon class="point" points="{points}"/>'
