"""The report as one page: tables, curves, and every question with what was found of its answer, the worst first.

Nothing is loaded and nothing runs: the page has one style sheet, which its own policy names by its hash.
"""

from __future__ import annotations

import hashlib
from base64 import b64encode
from collections.abc import Iterator, Sequence
from functools import cache
from importlib.resources import files
from itertools import pairwise
from typing import Final

from spanwise.evaluation.curves import HUES, curves_of, marker
from spanwise.evaluation.ranges import Range, common
from spanwise.evaluation.report import EvaluationReport, best_leads, letters
from spanwise.evaluation.values import Excerpt, Interval, Question, SettingResult
from spanwise.inspection.html import counted, escaped, label

MOST_QUESTIONS: Final = 500
_TITLES: Final = {
    "recall": "Recall: the share of the answer’s characters that is returned",
    "iou": "IoU: what is right, of all that is asked for or returned",
    "precision": "Precision: the share of what is returned that is the answer",
    "tokens": "Tokens returned to a question",
}
_NAMES: Final = {"recall": "recall", "iou": "IoU"}


def page_of(report: EvaluationReport) -> str:
    """Return the page."""
    return "".join(_page(report))


@cache
def _style() -> str:
    return files("spanwise.evaluation").joinpath("page.css").read_text(encoding="utf-8")


def _page(report: EvaluationReport) -> Iterator[str]:
    digest = b64encode(hashlib.sha256(_style().encode()).digest()).decode("ascii")
    policy = f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"
    title = f"{counted(len(report.questions), 'question')}: how well they are answered"
    yield '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
    yield f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
    yield '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
    yield '<meta name="color-scheme" content="light dark">\n<meta name="generator" content="Spanwise">\n'
    yield f"<title>{escaped(title)}</title>\n<style>{_style()}</style>\n</head>\n<body>\n<header>\n"
    yield f"<h1>{escaped(title)}</h1>\n<p class=lead>{_about(report)}</p>\n"
    warnings = [*report.warnings, *(report.held.warnings if report.held else ())]
    if warnings:
        yield '<ul class="warnings" aria-label="Warnings">'
        yield from (f"<li><b>Warning:</b> {escaped(one)}.</li>" for one in warnings)
        yield "</ul>\n"
    yield "</header>\n<main>\n"
    yield from _figures(report)
    if report.held is not None:
        yield "<h2>The half held aside, on which nothing was chosen</h2>\n"
        yield f"<p class=lead>{_about(report.held)}</p>\n"
        yield from _figures(report.held)
    yield from _questions(report)
    yield from _bad(report)
    yield "</main>\n</body>\n</html>\n"


def _about(report: EvaluationReport) -> str:
    documents = len({question.document_id for question in report.questions})
    half = {"tune": " of the half to tune on", "held": " of the half held aside"}.get(report.half, "")
    embedder = f"vectors of <b>{label(report.embedder)}</b>" if report.embedder else "words alone"
    best = f" Best recall at {escaped(report.main.label)}: <b>{label(report.best.name)}</b>."
    if report.chosen is not None:
        best = f" Chosen on the other half: <b>{label(report.best.name)}</b>."
    return (
        f"<b>{counted(len(report.questions), 'question')}</b>{half} on {counted(documents, 'document')}; {embedder}; "
        f"tokens of {label(report.tokenizer)}.{best if len(report.results) > 1 else ''}"
    )


def _figures(report: EvaluationReport) -> Iterator[str]:
    yield '<ul class="legend" aria-label="Settings">'
    yield from (f"<li>{_key(number)} <span>{label(one.name)}</span></li>" for number, one in enumerate(report.results))
    yield '</ul>\n<div class="plots">\n'
    names = [letters(number) for number in range(len(report.results))]
    for measure, named in _NAMES.items():
        for kind, over in (("budget", "a budget of tokens"), ("limit", "a number of hits")):
            if picture := curves_of(report, measure, kind, names):
                yield f"<figure><figcaption>{named.capitalize() if named != 'IoU' else named} within {over}"
                yield f"</figcaption>{picture}</figure>\n"
    yield "</div>\n<p class=note>Bars are 95 % bootstrap intervals of the mean over questions.</p>\n"
    for measure, title in _TITLES.items():
        yield f"<h3>{title}</h3>\n"
        yield from _table(report, measure)
    yield "<h3>Documents, and what it costs</h3>\n"
    yield from _costs(report)
    yield from _leads(report)


def _key(number: int) -> str:
    shape = f'<svg viewBox="-8 -8 16 16" aria-hidden="true">{marker(number, 0, 0, 5)}</svg>'
    return f'<span class="key s{number % HUES}">{shape}{letters(number)}</span>'


def _head(*names: str) -> str:
    cells = "".join(f'<th scope="col">{name}</th>' for name in names)
    return f'<div class="scroll"><table>\n<thead><tr>{cells}</tr></thead>\n<tbody>\n'


def _row(report: EvaluationReport, number: int, cells: Sequence[str]) -> str:
    one = report.results[number]
    best = one is report.best and len(report.results) > 1
    tag = ' <span class="tag">best</span>' if best and report.chosen is None else ""
    tag = ' <span class="tag">chosen</span>' if best and report.chosen is not None else tag
    found = "".join(f"<td>{cell}</td>" for cell in cells)
    kind = ' class="best"' if best else ""
    return f'<tr{kind}><th scope="row">{_key(number)} {label(one.name)}{tag}</th>{found}</tr>\n'


def _table(report: EvaluationReport, measure: str) -> Iterator[str]:
    yield _head("setting", *(escaped(amount.label) for amount in report.amounts))
    for number, one in enumerate(report.results):
        found = (report.summary[one.name][amount][measure] for amount in report.amounts)
        yield _row(report, number, [_cell(interval, measure) for interval in found])
    yield "</tbody></table></div>\n"


def _cell(found: Interval, measure: str) -> str:
    if measure == "tokens":
        return f"{found.mean:,.0f}"
    return f"{100 * found.mean:.1f} %<small>{100 * found.low:.1f} – {100 * found.high:.1f}</small>"


def _costs(report: EvaluationReport) -> Iterator[str]:
    yield _head("setting", "MRR", "nDCG", "chunks", "embedding tokens", "seconds to index", "ms a search")
    for number, one in enumerate(report.results):
        found = report.summary[one.name]
        ranks = [found["documents"][name] for name in ("mrr", "ndcg")]
        yield _row(report, number, [
            *(f"{rank.mean:.3f}<small>{rank.low:.3f} – {rank.high:.3f}</small>" for rank in ranks), f"{one.chunks:,}",
            "–" if one.embedding_tokens is None else f"{one.embedding_tokens:,}",
            "–" if one.index_seconds is None else f"{one.index_seconds:.1f}",
            f"{1000 * found[report.main]['seconds'].mean:.0f}",
        ])  # fmt: skip
    yield "</tbody></table></div>\n"
    yield "<p class=note>MRR and nDCG rank the right document among those of 10 passages.</p>\n"


def _leads(report: EvaluationReport) -> Iterator[str]:
    if len(report.results) < 2:
        return
    how = "chosen on the other half" if report.chosen is not None else "best"
    yield f"<h3>How far {label(report.best.name)}, {how}, leads at {escaped(report.main.label)}</h3>\n"
    yield _head("over", "measure", "lead in points", "95 % interval", "chance?")
    numbers = {one.name: number for number, one in enumerate(report.results)}
    for lead in best_leads(report):
        found = lead.difference
        yield f'<tr><th scope="row">{_key(numbers[lead.other])} {label(lead.other)}</th><td>{_NAMES[lead.measure]}</td>'
        yield f"<td>{100 * found.mean:+.1f}</td><td>{100 * found.low:+.1f} to {100 * found.high:+.1f}</td>"
        yield f"<td>{escaped(lead.verdict)}</td></tr>\n"
    yield "</tbody></table></div>\n<p class=note>Differences on the same questions. With many settings one of them is "
    yield "ahead by chance: an interval that only just leaves out 0 means little then.</p>\n"


def _questions(report: EvaluationReport) -> Iterator[str]:
    best = report.best
    scores = best.scores[report.main]
    order = sorted(range(len(scores)), key=lambda number: (scores[number].recall, scores[number].iou, number))
    shown = order[:MOST_QUESTIONS]
    yield f"<h2>Questions, the worst first ({len(shown):,} of {len(order):,})</h2>\n"
    yield f"<p class=note>What <b>{label(best.name)}</b> returned at <b>{escaped(report.main.label)}</b>, beside the "
    yield "answers in their documents.</p>\n"
    yield '<p class="signs"><span><mark class="found"><span class="cue">✓ found</span>part of the answer</mark></span> '
    yield '<span><mark class="missed"><span class="cue">✗ missed</span>part of the answer</mark></span> '
    yield '<span><span class="also">dotted</span>: returned, and no part of it</span></p>\n<ol class="questions">\n'
    for number in shown:
        yield from _question(report, number, best)
    yield "</ol>\n"


def _question(report: EvaluationReport, number: int, best: SettingResult) -> Iterator[str]:
    question, returned = report.questions[number], best.returned[number]
    score = best.scores[report.main][number]
    yield f'<li><p class="asked"><b dir="auto">{escaped(question.question)}</b>'
    yield f'<span class="share">{100 * score.recall:.0f} %</span></p>\n<p class="about">'
    made = f"<span>made by: {label(question.made_by)}</span>" if question.made_by else ""
    aligned = "<span>answer aligned, not exact</span>" if question.located == "aligned" else ""
    yield f"<span><bdi>{label(question.document)}</bdi></span><span>line {question.line}</span>{made}{aligned}"
    if len(report.results) > 1:
        for place, one in enumerate(report.results):
            yield f"<span>{_key(place)} {100 * one.scores[report.main][number].recall:.0f} %</span>"
    yield "</p>\n"
    for excerpt in question.excerpts:
        before = "…" if excerpt.start else ""
        yield f'<p class="excerpt" dir="auto">{before}{"".join(_marked(excerpt, question, returned.ranges))} …</p>\n'
    if score.recall < 1:
        first = f"<b>Returned first, from {label(returned.first_document)}:</b> {escaped(returned.first_text)}" \
            if returned.first_document is not None else "<b>Nothing was returned.</b>"  # fmt: skip
        yield f'<p class="first" dir="auto">{first}</p>\n'
    yield "</li>\n"


def _marked(excerpt: Excerpt, question: Question, returned: Sequence[Range]) -> Iterator[str]:
    """Yield the text of an excerpt with what was found and missed of the answer marked."""
    start, end = excerpt.start, excerpt.start + len(excerpt.text)
    found = common(question.ranges, returned)
    edges = {start, end, *(edge for span in (*question.ranges, *returned) for edge in span if start < edge < end)}
    ordered = sorted(edges)
    before = ""
    for low, high in pairwise(ordered):
        text = escaped(excerpt.text[low - start : high - start])
        kind = "found" if _holds(found, low) else "missed" if _holds(question.ranges, low) else ""
        if kind:
            cue = f'<span class="cue">{"✓" if kind == "found" else "✗"} {kind}</span>' if kind != before else ""
            yield f'<mark class="{kind}">{cue}{text}</mark>'
        else:
            yield f'<span class="also">{text}</span>' if _holds(returned, low) else text
        before = kind


def _holds(ranges: Sequence[Range], position: int) -> bool:
    return any(start <= position < end for start, end in ranges)


def _bad(report: EvaluationReport) -> Iterator[str]:
    lines = [*map(str, report.bad_lines), *report.failed, *report.notes]
    lines += [f"{one.name}: {note}" for one in report.results for note in (*one.failed, *one.notes)]
    if lines:
        yield f'<h2>Lines that could not be used ({len(report.bad_lines):,}), and notes</h2>\n<ul class="bad">\n'
        yield from (f"<li>{escaped(line)}</li>\n" for line in lines)
        yield "</ul>\n"
