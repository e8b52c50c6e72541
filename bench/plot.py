"""The costs as an SVG of horizontal bars, written without a library, for light and dark mode."""

from __future__ import annotations

from html import escape
from typing import Any, NamedTuple

from report import by_cost, cost_of
from splitters import LIMIT, Splitter

Figures = dict[str, Any]

WIDTH, LEFT, RIGHT = 860, 208, 100  # widths of the image, of the names, and of the figures after the longest bar
ROW, BAR, PANEL = 25, 15, 62  # heights of a row, of its bar, and of a panel's space above and below its rows
TOP, BOTTOM = 66, 86

STYLE = """\
  .card { fill: #ffffff; stroke: #d1d9e0 } .ours { fill: #0b7a75 } .peer { fill: #8c959f }
  .pale { fill: #8c959f; opacity: .32 } .grid { stroke: #d1d9e0 } .one { stroke: #bf3989; stroke-dasharray: 3 3 }
  text { font: 13px -apple-system, "Segoe UI", "Noto Sans", Helvetica, Arial, sans-serif; fill: #1f2328 }
  .title { font-size: 17px; font-weight: 600 } .panel { font-weight: 600 } .soft { fill: #59636e }
  .small { font-size: 12px } .axis { text-anchor: middle; font-size: 12px; fill: #59636e }
  .figure { paint-order: stroke; stroke: #ffffff; stroke-width: 4px }
  .name { text-anchor: end } .bold { font-weight: 600 } .mark { fill: #bf3989; font-weight: 600 }
  @media (prefers-color-scheme: dark) {
    .card { fill: #0d1117; stroke: #3d444d } .figure { stroke: #0d1117 }
    .ours { fill: #2fb8ab } .peer, .pale { fill: #848d97 }
    .grid { stroke: #3d444d } .one { stroke: #f778ba } .mark { fill: #f778ba }
    text { fill: #f0f6fc } .soft, .axis { fill: #9198a1 }
  }"""


class Bar(NamedTuple):
    """One row: a name with its marks, the cost with the common counter, and the cost with tiktoken."""

    name: str
    marks: str
    ours: bool
    cost: float | None
    tiktoken: float | None


def drawn(results: Figures, rows: list[Splitter]) -> str:
    """Return an SVG with a panel for each corpus, all on one scale that starts at 0."""
    panels = [
        (speed["splintr"]["described"], bars_of(results, key, rows)) for key, speed in results.get("speed", {}).items()
    ]
    most = max([bar.cost or bar.tiktoken or 0 for _, bars in panels for bar in bars], default=1)
    most = max([most, *(bar.tiktoken or 0 for _, bars in panels for bar in bars)])
    height = TOP + BOTTOM + sum(PANEL + ROW * len(bars) for _, bars in panels)
    scale = (WIDTH - LEFT - RIGHT) / most
    body, top = [_heading()], TOP
    for title, bars in panels:
        body.append(_panel(title, bars, top, scale, most))
        top += PANEL + ROW * len(bars)
    body.append(_legend(top))
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" height="{height}" '
        f'role="img" aria-label="Cost of reading and chunking by splitter">\n<style>\n{STYLE}\n</style>\n'
        f'<rect class="card" x=".5" y=".5" width="{WIDTH - 1}" height="{height - 1}" rx="8"/>\n'
        + "\n".join(body)
        + "\n</svg>\n"
    )


def bars_of(results: Figures, key: str, rows: list[Splitter]) -> list[Bar]:
    """Return the bars of one corpus, the cheapest first; rows without a figure are left out."""
    speed, checks = results["speed"][key], results.get("correctness", {}).get(key, {})
    bars: list[Bar] = []
    for row in by_cost(speed, rows, speed["form"]):
        costs = [cost_of(speed, row, counter) for counter in ("splintr", "tiktoken")]
        if any(costs):
            name = f"Spanwise {row.name}" if row.ours else row.name
            bars.append(Bar(name, _marks(checks.get(row.name, {})), row.ours, *costs))
    return sorted(bars, key=lambda bar: bar.cost or bar.tiktoken or 0)


def _marks(tally: Figures) -> str:
    broken = tally.get("misplaced") or tally.get("lost") or tally.get("failed_texts")
    return ("†" if tally.get("over") else "") + ("‡" if broken else "")


def _heading() -> str:
    return _text(24, 32, "What reading and chunking costs", "title") + _text(
        24, 52, f"1 = one bare token count of the same texts; {LIMIT} tokens of cl100k a chunk, no overlap", "soft"
    )


def _panel(title: str, bars: list[Bar], top: int, scale: float, most: float) -> str:
    first = top + 30
    bottom = first + ROW * len(bars)
    drawn = [_text(24, top + 18, title, "panel")]
    for value in range(0, int(most) + 1, 5 if most > 6 else 1):
        x = LEFT + value * scale
        drawn.append(f'<line class="grid" x1="{x:.1f}" y1="{first - 2}" x2="{x:.1f}" y2="{bottom}"/>')
        drawn.append(_text(x, bottom + 16, str(value), "axis"))
    drawn += [_bar(bar, first + ROW * index, scale) for index, bar in enumerate(bars)]
    one = LEFT + scale
    drawn.append(f'<line class="one" x1="{one:.1f}" y1="{first - 2}" x2="{one:.1f}" y2="{bottom}"/>')
    return "\n".join(drawn)


def _bar(bar: Bar, top: int, scale: float) -> str:
    middle, y = top + ROW / 2 + 4.5, top + (ROW - BAR) / 2
    marks = f'<tspan class="mark"> {bar.marks}</tspan>' if bar.marks else ""
    kind = "name bold" if bar.ours else "name"
    drawn = [f'<text class="{kind}" x="{LEFT - 8}" y="{middle:.1f}">{escape(bar.name)}{marks}</text>']
    lengths = [("pale", bar.tiktoken), ("ours" if bar.ours else "peer", bar.cost)]
    for style, cost in lengths:
        if cost:
            drawn.append(
                f'<rect class="{style}" x="{LEFT}" y="{y:.1f}" width="{cost * scale:.1f}" height="{BAR}" rx="2"/>'
            )
    end = LEFT + max(bar.cost or 0, bar.tiktoken or 0) * scale + 6
    own = f'<tspan class="bold">{bar.cost:.1f}</tspan>' if bar.cost else ""
    other = f'<tspan class="soft">{" · " if own else ""}{bar.tiktoken:.1f}</tspan>' if bar.tiktoken else ""
    drawn.append(f'<text class="figure" x="{end:.1f}" y="{middle:.1f}">{own}{other}</text>')
    return "\n".join(drawn)


def _legend(top: int) -> str:
    first, second, third = top + 14, top + 38, top + 60
    return "\n".join([
        f'<rect class="ours" x="24" y="{first - 11}" width="12" height="12" rx="2"/>',
        f'<rect class="peer" x="40" y="{first - 11}" width="12" height="12" rx="2"/>',
        _text(60, first, "counted with splintr, as Spanwise does", "small"),
        f'<rect class="pale" x="322" y="{first - 11}" width="12" height="12" rx="2"/>',
        _text(342, first, "with tiktoken, the usual choice", "small"),
        f'<line class="one" x1="630" y1="{first - 4}" x2="652" y2="{first - 4}"/>',
        _text(660, first, "the bare token count", "small"),
        _text(24, second, "†", "mark"),
        _text(40, second, "some chunks are over the limit", "small"),
        _text(322, second, "‡", "mark"),
        _text(342, second, "some offsets are wrong or missing, or some text is lost", "small"),
        _text(24, third, "CPU time, best of several rounds; less is better; a linear axis from 0", "small soft"),
    ])  # fmt: skip


def _text(x: float, y: float, text: str, kind: str) -> str:
    return f'<text class="{kind}" x="{x:.1f}" y="{y:.1f}">{escape(text)}</text>'
