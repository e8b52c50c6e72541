"""EvaluationReport: what an evaluation found, for programs, and as a page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import combinations
from typing import Any, Final, NamedTuple

from spanwise import __version__
from spanwise.evaluation.intervals import FEWEST, SEED, intervals, verdict_of
from spanwise.evaluation.values import MEASURES, RANKS, Amount, BadLine, Comparison, Interval, Question, SettingResult

COMPARED: Final = ("recall", "iou")
_DIGITS: Final = 6
_SAME_QUESTIONS: Final = (
    "the best of {settings} settings is chosen on the {size:,} questions that it is judged by, so its figures flatter "
    "it: --split tune chooses on one half and reports on the other"
)
_HELD_COMPARED: Final = (
    "{settings} settings are compared on the half that is held aside: whoever chooses by this has nothing left to "
    "judge by"
)
_OWN_WORDS: Final = (
    "{made:,} of {size:,} questions were made from the documents' own words, without a model, which flatters search "
    "by words: mend them, or write your own"
)
_WITHOUT_MODEL: Final = "no model"


@dataclass(frozen=True)
class EvaluationReport:
    """What an evaluation found: for each setting the scores of every question, and how the settings differ."""

    questions: tuple[Question, ...] = field(repr=False)
    """The questions that were asked, in order."""
    results: tuple[SettingResult, ...]
    """One for each setting, in the order in which they were named."""
    amounts: tuple[Amount, ...]
    main: Amount
    """The amount by which settings are compared."""
    half: str = "all"
    """Which questions these are: `all`, `tune` or `held`."""
    chosen: str | None = None
    """The setting that was chosen on the other half, where these questions are held aside."""
    held: EvaluationReport | None = None
    """With `split="tune"`: the first setting and the chosen one on the other half of the questions."""
    bad_lines: tuple[BadLine, ...] = ()
    """The lines that could not be used, and why."""
    failed: tuple[str, ...] = ()
    """The documents that could not be read."""
    notes: tuple[str, ...] = ()
    """What is to be known of single questions and of the search."""
    embedder: str | None = None
    tokenizer: str = "cl100k"
    seed: int = SEED

    @cached_property
    def summary(self) -> Mapping[str, Mapping[Amount | str, Mapping[str, Interval]]]:
        """For each setting and amount the mean of each measure with its interval; `mrr`, `ndcg` under `documents`."""
        found: dict[str, Mapping[Amount | str, Mapping[str, Interval]]] = {}
        for result in self.results:
            columns = [result.values(amount, name) for amount in self.amounts for name in MEASURES]
            means = iter(intervals([*columns, result.mrr, result.ndcg], self.seed))
            of_amounts: dict[Amount | str, Mapping[str, Interval]] = {}
            of_amounts |= {amount: {name: next(means) for name in MEASURES} for amount in self.amounts}
            found[result.name] = of_amounts | {"documents": {name: next(means) for name in RANKS}}
        return found

    @cached_property
    def comparisons(self) -> tuple[Comparison, ...]:
        """Each pair of settings at each amount: the difference of recall and IoU on the same questions."""
        wanted = [
            (first, second, amount, measure)
            for first, second in combinations(self.results, 2)
            for amount in self.amounts
            for measure in COMPARED
        ]
        columns = [_differences(*one) for one in wanted]
        found = intervals(columns, self.seed) if columns else []
        size = len(self.questions)
        return tuple(
            Comparison(first.name, second.name, amount, measure, difference, verdict_of(difference, size))
            for (first, second, amount, measure), difference in zip(wanted, found, strict=True)
        )

    @cached_property
    def best(self) -> SettingResult:
        """The setting that was chosen, or has the highest recall at the main amount; of equals, the highest IoU."""
        if self.chosen is not None:
            return next(one for one in self.results if one.name == self.chosen)
        means = {name: found[self.main] for name, found in self.summary.items()}
        return max(self.results, key=lambda one: (means[one.name]["recall"].mean, means[one.name]["iou"].mean))

    @property
    def warnings(self) -> tuple[str, ...]:
        """Why the figures may say less than they seem to."""
        size, settings = len(self.questions), len(self.results)
        found = []
        if settings > 1 and self.half == "all":
            found.append(_SAME_QUESTIONS.format(settings=settings, size=size))
        if settings > 1 and self.half == "held" and self.chosen is None:
            found.append(_HELD_COMPARED.format(settings=settings))
        if size < FEWEST:
            many = "1 question is" if size == 1 else f"{size:,} questions are"
            found.append(f"{many} too few to tell settings apart: {FEWEST} or more are needed")
        made = sum(_WITHOUT_MODEL in (question.made_by or "") for question in self.questions)
        if made * 2 > size:
            found.append(_OWN_WORDS.format(made=made, size=size))
        return tuple(found)

    def to_dict(self) -> dict[str, Any]:
        """Return the report as values for JSON."""
        return {
            "version": __version__, "half": self.half, "asked": len(self.questions), "main": self.main.key,
            "tokenizer": self.tokenizer, "embedder": self.embedder, "seed": self.seed, "best": self.best.name,
            "chosen": self.chosen,
            "settings": [self._setting(result) for result in self.results],
            "comparisons": [one.to_dict() for one in self.comparisons],
            "questions": [self._question(number) for number in range(len(self.questions))],
            "bad_lines": [one._asdict() for one in self.bad_lines],
            "failed": list(self.failed), "warnings": list(self.warnings), "notes": list(self.notes),
            "held": self.held and self.held.to_dict(),
        }  # fmt: skip

    def _setting(self, result: SettingResult) -> dict[str, Any]:
        summary = self.summary[result.name]
        return {
            "name": result.name, "kind": result.kind, "chunks": result.chunks,
            "embedding_tokens": result.embedding_tokens, "index_seconds": _rounded(result.index_seconds),
            "failed": list(result.failed), "notes": list(result.notes),
            "amounts": {
                amount.key: {name: summary[amount][name].to_dict() for name in MEASURES} for amount in self.amounts
            },
            "documents": {name: found.to_dict() for name, found in summary["documents"].items()},
        }  # fmt: skip

    def _question(self, number: int) -> dict[str, Any]:
        scores = {result.name: self._scores(result, number) for result in self.results}
        return {**self.questions[number].to_dict(), "scores": scores}

    def _scores(self, result: SettingResult, number: int) -> dict[str, Any]:
        found = {
            amount.key: {name: _rounded(value) for name, value in scores[number]._asdict().items()}
            for amount, scores in result.scores.items()
        }
        ranks = {"reciprocal_rank": _rounded(result.mrr[number]), "ndcg": _rounded(result.ndcg[number])}
        return {**found, **ranks, "returned": [list(one) for one in result.returned[number].ranges]}

    def to_html(self) -> str:
        """Return the report as one page for the browser, which loads nothing else."""
        from spanwise.evaluation.page import page_of

        return page_of(self)

    def of(self, numbers: Sequence[int], half: str, settings: Sequence[str] | None = None) -> EvaluationReport:
        """Return the report on some of the questions, and of some settings."""
        results = [one for one in self.results if settings is None or one.name in settings]
        return replace(
            self, questions=tuple(self.questions[number] for number in numbers), half=half,
            results=tuple(_chosen(result, numbers) for result in results),
        )  # fmt: skip


class Lead(NamedTuple):
    """By how much the best setting leads another one, and whether that may be chance."""

    other: str
    measure: str
    difference: Interval
    verdict: str


def best_leads(report: EvaluationReport) -> list[Lead]:
    """Return by how much the best setting leads each other one at the main amount."""
    best = report.best.name
    found = []
    for one in report.comparisons:
        if one.amount == report.main and best in {one.first, one.second}:
            low, high = one.difference.low, one.difference.high
            own = one.second == best
            lead = one.difference if own else Interval(0.0 - one.difference.mean, 0.0 - high, 0.0 - low)
            verdict = {"better": "more than chance", "worse": "more than chance"}.get(one.verdict, one.verdict)
            found.append(Lead(one.first if own else one.second, one.measure, lead, verdict))
    return found


def letters(number: int) -> str:
    """Return the short name of a setting: A to Z, then AA and so on."""
    head, last = divmod(number, 26)
    return (letters(head - 1) if head else "") + chr(ord("A") + last)


def _chosen(result: SettingResult, numbers: Sequence[int]) -> SettingResult:
    return replace(
        result,
        scores={amount: tuple(scores[number] for number in numbers) for amount, scores in result.scores.items()},
        mrr=tuple(result.mrr[number] for number in numbers),
        ndcg=tuple(result.ndcg[number] for number in numbers),
        returned=tuple(result.returned[number] for number in numbers),
    )


def _differences(first: SettingResult, second: SettingResult, amount: Amount, measure: str) -> list[float]:
    pairs = zip(first.values(amount, measure), second.values(amount, measure), strict=True)
    return [after - before for before, after in pairs]


def _rounded(value: float | None) -> float | None:
    return round(value, _DIGITS) if isinstance(value, float) else value
