"""evaluate(): questions against a store, or against documents indexed under several settings."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, NamedTuple, TypedDict, Unpack

from spanwise.embedding import Embedder
from spanwise.errors import OptionError, UnreadableError, did_you_mean
from spanwise.evaluation.corpus import Corpus, ReadDocuments, StoredDocuments
from spanwise.evaluation.indexing_runs import indexed
from spanwise.evaluation.intervals import SEED
from spanwise.evaluation.measuring import Answers, Asking, WholeChunks, asked
from spanwise.evaluation.questions import Given, Located, checked_split, half_of, lines_of, located
from spanwise.evaluation.report import EvaluationReport
from spanwise.evaluation.settings import Setting, SettingLike, settings_from
from spanwise.evaluation.values import Amount, BadLine, SettingResult
from spanwise.pipeline.jobs import Job, jobs_of
from spanwise.pipeline.settings import Config
from spanwise.readers import ReadOptions, has_reader
from spanwise.retrieval.request import MOST_HITS, SMALLEST_BUDGET, UNITS
from spanwise.sources.listing import Listing, Source
from spanwise.stores import Store, opened
from spanwise.stores.values import checked_tenant
from spanwise.text.terms import check_installed
from spanwise.text.tokens import Tokenizer, tokenizer_of

BUDGETS: Final = (250, 1_000, 4_000)
LIMITS: Final = (1, 5, 10)
DEFAULT_SETTING: Final = "store"


class EvaluateEvent(NamedTuple):
    """How far an evaluation is: `read` counts documents, `index` chunks that are written, `ask` questions."""

    stage: str
    setting: str
    """The name of the setting; "" while documents are read."""
    done: int
    total: int | None = None


class EvaluateOptions(TypedDict, total=False):
    """The options of an evaluation besides the questions and what they are put to."""

    settings: Sequence[SettingLike]  # "fixed target_tokens=300", or a mapping with `strategy` and options
    peers: Sequence[str]  # "langchain-recursive:400/200": another library's splitter, its size and overlap
    budgets: Sequence[int]  # tokens that are read
    limits: Sequence[int]  # hits that are read
    unit: str | None  # "passage" or "sentence" for all; by default sentences for budgets, passages for limits
    split: str | None  # "tune": choose on one half and report on the other; "held": the other half alone
    tenant: str | None  # of a store
    embedder: str | Embedder | None  # by default a store's own, and none for documents
    tokenizer: str | os.PathLike[str] | Tokenizer  # counts budgets, and what is returned
    seed: int  # of the bootstrap
    progress: Callable[[EvaluateEvent], None] | None


def evaluate(
    questions: Given,
    store_or_sources: str | os.PathLike[str] | Store | Source | Iterable[Source],
    **options: Unpack[EvaluateOptions],
) -> EvaluationReport:
    """Put questions whose answers are known to a store, or to documents under several settings, and return a report.

    `questions` is a file of JSON lines, or an iterable of dictionaries: `question`, `document`, and `ranges` in
    characters of `document.text`, or an `answer` text. The second argument is an open store, or the path or address of
    one; or a folder, a file, a `Document`, or an iterable of these, which are indexed into temporary stores.
    All options are keywords: settings, peers, budgets, limits, unit, split, tenant, embedder, tokenizer, seed, and
    progress. Lines that can't be used are in the report's `bad_lines`. Raise UnreadableError if no question is left.
    """
    return evaluated(questions, store_or_sources, options, Config())


def evaluated(
    given: Given, target: Any, options: Mapping[str, Any], config: Config, jobs: Sequence[Job] | None = None
) -> EvaluationReport:
    """Return a report, as `evaluate` does; the settings in `config` are below those that are given."""
    request = checked_request(options)
    lines, bad = lines_of(given)
    if request.split == "held":
        lines = [line for line in lines if half_of(line) == "held"]
    if not lines:
        raise _no_questions(bad)
    halves = {line.number: half_of(line) for line in lines}
    found = (_of_store if is_store(target) else _of_documents)(
        _Work(request, config, given, target, jobs), lambda corpus: _located(lines, bad, corpus)
    )
    return _split(found, request.split, halves)


@dataclass(frozen=True)
class EvaluateRequest:
    """The options of an evaluation, checked and with defaults."""

    amounts: tuple[Amount, ...]
    main: Amount
    split: str | None
    tenant: str
    tokenizer: Any
    seed: int
    progress: Callable[[EvaluateEvent], None]
    options: Mapping[str, Any]

    def asking(self, default: str | None, config: Config) -> Asking:
        """Return how questions are asked; `default` is the embedder where none was named."""
        embedder = self.options.get("embedder", default)
        embedder = None if embedder == "none" else embedder
        return Asking(self.amounts, self.main, embedder, self.tokenizer, self.tenant or None, config.search)


def checked_request(options: Mapping[str, Any]) -> EvaluateRequest:
    """Check all options; raise OptionError for unknown names and wrong values."""
    known = EvaluateOptions.__annotations__
    for name in options:
        if name not in known:
            raise OptionError(name, "is not an option of evaluate", hint=did_you_mean(name, known))
    unit = options.get("unit")
    if unit is not None and unit not in UNITS:
        raise OptionError("unit", f"must be one of {', '.join(UNITS)}", value=unit, hint=did_you_mean(str(unit), UNITS))
    budgets = _numbers("budgets", options.get("budgets", BUDGETS), SMALLEST_BUDGET, None)
    limits = _numbers("limits", options.get("limits", LIMITS), 1, MOST_HITS)
    amounts = [Amount("budget", value, unit or "sentence") for value in budgets]
    amounts += [Amount("limit", value, unit or "passage") for value in limits]
    if not amounts:
        raise OptionError("budgets", "and `limits` are both empty: nothing would be read", hint="try budgets=[1000]")
    of_main = amounts[: len(budgets)] or amounts
    seed = options.get("seed", SEED)
    if type(seed) is not int or seed < 0:
        raise OptionError("seed", "must be an integer of at least 0", value=seed)
    return EvaluateRequest(
        tuple(amounts), of_main[len(of_main) // 2], checked_split(options.get("split")),
        checked_tenant(options.get("tenant")), tokenizer_of(options.get("tokenizer", "cl100k")), seed,
        options.get("progress") or (lambda event: None), options,
    )  # fmt: skip


def _numbers(name: str, given: Any, low: int, high: int | None) -> list[int]:
    """Return numbers in order, each once."""
    values = [given] if isinstance(given, int) else list(given)
    for value in values:
        if type(value) is not int or value < low or (high is not None and value > high):
            between = f"between {low} and {high:,}" if high else f"of at least {low}"
            raise OptionError(name, f"must be integers {between}", value=value)
    return sorted(set(values))


def is_store(target: object) -> bool:
    """Whether something is a store, or the path or address of one."""
    if hasattr(target, "reading") and hasattr(target, "writing"):
        return True
    if not isinstance(target, str | os.PathLike):
        return False
    path = os.fspath(target)
    if isinstance(path, str) and "://" in path:
        return True
    try:
        with open(path, "rb") as file:  # noqa: PTH123 - for names of any length
            return file.read(16) == b"SQLite format 3\0"
    except OSError:
        return False


class _Work(NamedTuple):
    """What an evaluation works on."""

    request: EvaluateRequest
    config: Config
    given: Given
    target: Any
    jobs: Sequence[Job] | None


def _located(lines: Sequence[Any], bad: Sequence[BadLine], corpus: Corpus) -> Located:
    found = located(lines, corpus)
    wrong = sorted([*bad, *found.bad])
    if not found.questions:
        raise _no_questions(wrong)
    return found._replace(bad=wrong)


def _no_questions(bad: Sequence[BadLine]) -> UnreadableError:
    if not bad:
        return UnreadableError("questions", "hold no question", hint='{"question": …, "document": …, "answer": …}')
    more = f" (and {len(bad) - 1:,} more lines)" if len(bad) > 1 else ""
    return UnreadableError("questions", f"can't be used: {bad[0]}{more}")


def _of_store(work: _Work, locate: Callable[[Corpus], Located]) -> EvaluationReport:
    request = work.request
    for name in ("settings", "peers"):
        if request.options.get(name):
            hint = "give the folder that was indexed instead of the store"
            raise OptionError(name, "can't be compared on a store, which has one setting", hint=hint)
    asking = request.asking("auto", work.config)
    with opened(work.target) as store:
        corpus = StoredDocuments(store, request.tenant)
        found = locate(corpus)
        answers = asked(found.questions, store, asking, progress=_asking_progress(request, DEFAULT_SETTING, found))
        model = store.model()
        result = _result(DEFAULT_SETTING, "store", answers, chunks=corpus.chunks)
    used = model.name if model and asking.embedder is not None else None
    return _report(request, found, [result], (), used)


def _of_documents(work: _Work, locate: Callable[[Corpus], Located]) -> EvaluationReport:
    request, config = work.request, work.config
    check_installed()
    if request.tenant:
        raise OptionError("tenant", "is for a store: documents are indexed for nobody", value=request.tenant)
    options = request.options
    settings = settings_from(options.get("settings") or (), options.get("peers") or (), config, request.tokenizer.count)
    documents = _read(work)
    found = locate(documents)
    asking = request.asking(None, config)
    results = [_measured(setting, documents, found, asking, work) for setting in settings]
    embedder = asking.embedder if isinstance(asking.embedder, str | None) else asking.embedder.name
    return _report(request, found, results, tuple(map(_in_a_line, documents.failed)), embedder)


def _read(work: _Work) -> ReadDocuments:
    request, jobs = work.request, work.jobs
    if jobs is None:
        own = frozenset([os.path.realpath(work.given)] if isinstance(work.given, str | os.PathLike) else [])
        listing = Listing(work.target, has_reader, own)
        jobs = jobs_of(listing, work.config, [], ReadOptions())
    total = len(jobs)
    documents = ReadDocuments(jobs, lambda done: request.progress(EvaluateEvent("read", "", done, total)))
    if not documents.jobs:
        first = f": {documents.failed[0]}" if documents.failed else ""
        raise UnreadableError(_name_of(work.target), f"holds no documents that can be read{first}")
    return documents


def _name_of(target: object) -> str:
    names = [target] if isinstance(target, str | os.PathLike) else target if isinstance(target, list | tuple) else []
    paths = [os.fsdecode(name) for name in names if isinstance(name, str | os.PathLike)]
    return ", ".join(paths) or "sources"


def _measured(setting: Setting, documents: ReadDocuments, found: Located, asking: Asking, work: _Work) -> SettingResult:
    progress = work.request.progress

    def written(event: Any) -> None:
        if event.stage == "write":
            progress(EvaluateEvent("index", setting.name, event.done, event.total))

    with indexed(setting, documents, work.config, asking.embedder, written) as made:
        if made.failed and not made.chunks:
            raise UnreadableError(f"setting {setting.name}", f"can index none of the documents: {made.failed[0]}")
        texts = {one.document_id: one.text for one in documents.read} if made.whole else {}
        whole = WholeChunks(made.whole, lambda name: texts[name]) if made.whole else None
        told = _asking_progress(work.request, setting.name, found)
        answers = asked(found.questions, made.store, asking, whole, told)
        notes = []
        if made.lost:
            notes.append(f"{made.lost:,} chunks of {setting.name} are no part of a document's text, and were left out")
        kind = "peer" if setting.peer else "spanwise"
        result = _result(setting.name, kind, answers, made.chunks, made.embedding_tokens, made.seconds)
        return replace(result, failed=tuple(made.failed), notes=(*notes, *result.notes))


def _asking_progress(request: EvaluateRequest, name: str, found: Located) -> Callable[[int], None]:
    return lambda done: request.progress(EvaluateEvent("ask", name, done, len(found.questions)))


def _result(
    name: str, kind: str, answers: Answers, chunks: int, tokens: int | None = None, seconds: float | None = None
) -> SettingResult:
    scores = {amount: tuple(found) for amount, found in answers.scores.items()}
    return SettingResult(
        name, kind, chunks, tokens, seconds, (), scores, tuple(answers.mrr), tuple(answers.ndcg),
        tuple(answers.returned), tuple(answers.notes),
    )  # fmt: skip


def _report(
    request: EvaluateRequest, found: Located, results: Sequence[SettingResult], failed: Sequence[str],
    embedder: str | None,
) -> EvaluationReport:  # fmt: skip
    aligned = sum(question.located == "aligned" for question in found.questions)
    many = "1 answer is" if aligned == 1 else f"{aligned:,} answers are"
    notes = [f"{many} not in the text as given, and located by the best alignment"] if aligned else []
    return EvaluationReport(
        tuple(found.questions), tuple(results), request.amounts, request.main, bad_lines=tuple(found.bad),
        failed=tuple(failed), notes=(*found.notes, *notes), embedder=embedder, tokenizer=request.tokenizer.name,
        seed=request.seed,
    )  # fmt: skip


def _split(report: EvaluationReport, split: str | None, halves: Mapping[int, str]) -> EvaluationReport:
    """Return the report on the half that is asked for; of the tuning half with what is chosen on the other."""
    numbers = range(len(report.questions))
    of_half = {half: [number for number in numbers if halves[report.questions[number].line] == half]
               for half in ("tune", "held")}  # fmt: skip
    if split is None:
        return report
    if not of_half[split]:
        raise UnreadableError("questions", f"has none in the half `{split}`", hint="do without a split, or add some")
    own = report.of(of_half[split], split)
    if split == "held" or not of_half["held"]:
        return own
    held = report.of(of_half["held"], "held", [own.results[0].name, own.best.name])
    return replace(own, held=replace(held, chosen=own.best.name, bad_lines=(), failed=(), notes=()))


def _in_a_line(error: Exception) -> str:
    return " ".join(str(error).replace("\nhint: ", "; hint: ").split())
