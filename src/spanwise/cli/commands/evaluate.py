"""`spanwise evaluate`: questions against a store or under several settings; and a first set of questions."""

from __future__ import annotations

import argparse
import os
import sys
from typing import Any, Final

from spanwise.cli.evaluation_view import show_report
from spanwise.cli.inputs import config_of, files_of, refuse_to_overwrite
from spanwise.cli.progress import Progress, share_of
from spanwise.cli.terminal import Screen, counted, one_line, print_json, reason_counts
from spanwise.errors import OptionError, UnreadableError
from spanwise.evaluation.corpus import ReadDocuments
from spanwise.evaluation.evaluate import EvaluateEvent, evaluated
from spanwise.evaluation.making import Made, made_questions
from spanwise.evaluation.report import EvaluationReport
from spanwise.pipeline.jobs import Job, jobs_of
from spanwise.readers import ReadOptions
from spanwise.records.writers import opened
from spanwise.sources.folder import OF_STORE
from spanwise.text.terms import check_installed

_OPTIONS: Final = ("settings", "peers", "unit", "split", "tenant", "tokenizer", "seed")
_VERBS: Final = {"read": "documents read", "index": "chunks indexed", "ask": "questions asked"}


def run(arguments: argparse.Namespace) -> int:
    """Evaluate, or make questions."""
    arguments.follow_links = False
    if arguments.made is not None:
        return _make(arguments)
    if not arguments.paths:
        hint = "spanwise evaluate questions.jsonl docs/; --make-questions questions.jsonl writes a first set"
        raise OptionError("QUESTIONS", "must be named", hint=hint)
    questions, *paths = arguments.paths
    if bool(paths) == (arguments.asked_store is not None):
        rule = "can't be given beside --store" if paths else "or a --store must be given: what the questions are put to"
        raise OptionError("PATH", rule, hint="spanwise evaluate questions.jsonl docs/")
    refuse_to_overwrite(arguments.output, [questions], flag="--html")
    config, progress = config_of(arguments, any_tenant=True), _Shown(silent=arguments.quiet)
    options: dict[str, Any] = {name: getattr(arguments, name) for name in _OPTIONS}
    options |= {name: [value for value in values if value] for name in ("budgets", "limits")
                if (values := getattr(arguments, name)) is not None}  # fmt: skip
    options |= {} if arguments.embedder is None else {"embedder": arguments.embedder}
    jobs = _jobs(arguments, paths, questions) if paths else None
    target = paths or arguments.asked_store
    report = evaluated(questions, target, {**options, "progress": progress.show}, config, jobs)
    progress.clear()
    _write(report, arguments)
    _sum_up(report, arguments, progress)
    return 1 if report.bad_lines or report.failed or any(one.failed for one in report.results) else 0


class _Shown(Progress):
    """Shows how far an evaluation is: a line that moves on a terminal, and a line for each setting that is done."""

    def __init__(self, *, silent: bool) -> None:
        super().__init__(silent=silent)
        self._talks = not silent

    def show(self, event: EvaluateEvent) -> None:
        """Show an event."""
        name = f"{event.setting}: " if event.setting else ""
        share = f"{share_of(event.done / event.total)} " if event.total else ""
        self.draw(one_line(f"{name}{share}{event.done:,} {_VERBS[event.stage]}"))
        if self._talks and event.stage == "ask" and event.done == event.total:
            self.clear()
            self.screen.line(one_line(f"{name}{counted(event.done, 'question')} asked ({self.seconds:.0f} s)"), "dim")


def _jobs(arguments: argparse.Namespace, paths: list[str], questions: str) -> list[Job]:
    """Return a job for each document that the paths name; the questions are none."""
    config = config_of(arguments, any_tenant=True)
    found = files_of(config, arguments, paths)
    found.leave_out(frozenset({os.path.realpath(questions)}), OF_STORE)
    return jobs_of(found.items(arguments.input_format), config, [], ReadOptions())


def _write(report: EvaluationReport, arguments: argparse.Namespace) -> None:
    if arguments.output:
        with opened(arguments.output, flag="--html", example="report.html") as file:
            file.write(report.to_html().encode())
    if arguments.json:
        print_json(report.to_dict())
    elif arguments.output != "-":
        show_report(Screen(sys.stdout), report)


def _sum_up(report: EvaluationReport, arguments: argparse.Namespace, progress: Progress) -> None:
    screen = progress.screen
    for bad in report.bad_lines:
        screen.labelled("error", one_line(f"{arguments.paths[0]}, {bad}"), "error")
    lost = [f"{one.name}: {failed}" for one in report.results for failed in one.failed]
    for failed in (*report.failed, *lost):
        screen.labelled("error", one_line(failed), "error")
    notes = [*report.notes, *(f"{one.name}: {note}" for one in report.results for note in one.notes)]
    for note in () if arguments.quiet else notes:
        screen.labelled("note", one_line(note))
    for warning in (*report.warnings, *(report.held.warnings if report.held else ())):
        screen.labelled("warning", one_line(warning))
    if report.bad_lines:
        asked = len(report.questions) + (len(report.held.questions) if report.held else 0)
        screen.line(f"{counted(len(report.bad_lines), 'line')} could not be used, {asked:,} could", "strong")
    if arguments.output and arguments.output != "-" and not arguments.quiet:
        screen.line(f"{one_line(arguments.output)}: {os.path.getsize(arguments.output) // 1000 + 1:,} kB")  # noqa: PTH202


def _make(arguments: argparse.Namespace) -> int:
    """Write a first set of questions."""
    if not arguments.paths:
        raise OptionError("PATH", "must be given: what the questions are about",
                          hint="spanwise evaluate --make-questions questions.jsonl docs/")  # fmt: skip
    if arguments.made != "-" and os.path.exists(arguments.made):  # noqa: PTH110 - for names of any length
        hint = "name another file: questions that were mended by hand are not to be lost"
        raise OptionError("--make-questions", "is there already", value=arguments.made, hint=hint)
    check_installed()
    progress = _Shown(silent=arguments.quiet)
    jobs = _jobs(arguments, arguments.paths, arguments.made)
    documents = ReadDocuments(jobs, lambda done: progress.show(EvaluateEvent("read", "", done, len(jobs))))
    progress.report_errors(*documents.failed)
    if not documents.jobs:
        raise UnreadableError(", ".join(arguments.paths), "holds no documents that can be read")
    made = _made(arguments, documents, progress)
    import orjson

    with opened(arguments.made, flag="--make-questions", example="questions.jsonl") as file:
        for one in made:
            file.write(orjson.dumps(one.to_dict(), option=orjson.OPT_APPEND_NEWLINE))
    progress.clear()
    if not arguments.quiet:
        kinds: dict[str, int] = {}
        for one in made:
            kinds[one.made_by] = kinds.get(one.made_by, 0) + 1
        about = len({one.document for one in made})
        what = f"{counted(len(made), 'question')} on {about:,} of {counted(len(jobs), 'document')}"
        progress.screen.line(f"{progress.screen.painted(what, 'strong')}: {one_line(reason_counts(kinds))}")
        progress.screen.line("read them, mend them, and leave out what nobody would ask", "dim")
    return 1 if documents.failed or not made else 0


def _made(arguments: argparse.Namespace, documents: ReadDocuments, progress: Progress) -> list[Made]:
    if arguments.endpoint is None and arguments.model is None:
        return made_questions(list(documents.read), arguments.questions)
    from spanwise.evaluation.asking_model import asked_questions

    named = {"endpoint": arguments.endpoint, "model": arguments.model, "max_calls": arguments.max_calls}
    options = {name: value for name, value in named.items() if value is not None}
    found = asked_questions(list(documents.read), arguments.questions, **options)
    if found.dropped:
        screen = progress.screen
        screen.labelled("note", f"{found.dropped.total():,} dropped: {one_line(reason_counts(found.dropped))}")
    return found.questions
