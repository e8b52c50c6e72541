"""An evaluation for people: tables of means and intervals, and what is to be made of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from spanwise.cli.terminal import Screen, counted
from spanwise.evaluation.report import EvaluationReport, best_leads, letters
from spanwise.evaluation.values import Amount, Interval, SettingResult

_COLUMN: Final = 20  # characters of a mean with its interval
_LABEL: Final = 24
_TITLES: Final = {
    "recall": "recall: % of the answer's characters that are returned, with 95 % intervals",
    "iou": "IoU: % that is right, of all that is asked for or returned",
    "precision": "precision: % that is right, of all that is returned",
    "tokens": "tokens returned to a question",
}


def show_report(screen: Screen, report: EvaluationReport) -> None:
    """Show a report: the settings and what they cost, a table of each measure, and the differences."""
    documents = len({question.document_id for question in report.questions})
    half = {"tune": " of the half to tune on", "held": " of the half held aside"}.get(report.half, "")
    embedder = f"with vectors of {report.embedder}" if report.embedder else "words alone"
    what = f"{counted(len(report.questions), 'question')}{half} on {counted(documents, 'document')}"
    screen.line(screen.painted(what, "strong") + f", {embedder}, tokens of {report.tokenizer}")
    screen.line()
    screen.table([_COSTS, *_costs(report)], right=range(2, len(_COSTS)), head="strong")
    for measure, title in _TITLES.items():
        screen.line()
        screen.line(title, "strong")
        for rows in _tables(report, measure, screen.width):
            screen.table(rows, right=range(1, len(rows[0])))
    if len(report.results) > 1:
        _show_differences(screen, report)
    if report.held is not None:
        screen.line()
        screen.line("On the half held aside, which nothing was chosen on", "strong")
        screen.line()
        show_report(screen, report.held)


_COSTS: Final = ("", "setting", "chunks", "embedding tokens", "index s", "ms a search", "MRR", "nDCG")


def _costs(report: EvaluationReport) -> Iterator[tuple[str, ...]]:
    for number, one in enumerate(report.results):
        found = report.summary[one.name]
        ranks = found["documents"]
        yield (
            letters(number), one.name, f"{one.chunks:,}",
            "–" if one.embedding_tokens is None else f"{one.embedding_tokens:,}",
            "–" if one.index_seconds is None else f"{one.index_seconds:.1f}",
            f"{1000 * found[report.main]['seconds'].mean:.0f}", f"{ranks['mrr'].mean:.3f}", f"{ranks['ndcg'].mean:.3f}",
        )  # fmt: skip


def _tables(report: EvaluationReport, measure: str, width: int) -> Iterator[list[tuple[str, ...]]]:
    """Yield a table of a measure, or several if the settings don't fit side by side."""
    names = [(letters(number), one) for number, one in enumerate(report.results)]
    step = max(1, (width - _LABEL) // _COLUMN)
    for start in range(0, len(names), step):
        shown = names[start : start + step]
        head = ("", *(letter for letter, _ in shown))
        rows = [
            (amount.label, *_cells(report, [one for _, one in shown], amount, measure)) for amount in report.amounts
        ]
        yield [head, *rows] if len(names) > 1 else rows


def _cells(report: EvaluationReport, results: Sequence[SettingResult], amount: Amount, measure: str) -> list[str]:
    found = [report.summary[one.name][amount][measure] for one in results]
    return [f"{one.mean:,.0f}" if measure == "tokens" else percent(one) for one in found]


def percent(found: Interval) -> str:
    """Return a share with its interval, in percent."""
    low, high = f"{100 * found.low:.1f}", f"{100 * found.high:.1f}"
    return f"{100 * found.mean:.1f} [{low:>4} {high:>5}]"


def _show_differences(screen: Screen, report: EvaluationReport) -> None:
    """Show how the best setting differs from each other one."""
    numbers = {one.name: letters(number) for number, one in enumerate(report.results)}
    best = report.best.name
    screen.line()
    how = "best recall" if report.chosen is None else "chosen on the other half by recall"
    what = f"{how} at {report.main.label}: {numbers[best]} {best}"
    screen.line(screen.painted(what, "strong") + "; its lead in points, on the same questions:")
    rows = [
        (f"over {numbers[one.other]}", one.measure.replace("iou", "IoU"), _signed(one.difference), one.verdict)
        for one in best_leads(report)
    ]
    screen.table(rows)


def _signed(found: Interval) -> str:
    mean, low, high = (round(100 * value, 1) + 0.0 for value in found)  # no -0.0
    return f"{mean:+.1f} [{low:+.1f} {high:+.1f}]"
