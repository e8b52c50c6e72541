"""Proposers of topic starts for `smart`: a model behind an endpoint, or a function of the caller.

Nothing else in Spanwise uses the network, and this only if `smart` is chosen and an endpoint is given.
"""

from __future__ import annotations

import functools
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from types import TracebackType
from typing import TYPE_CHECKING, Any, Final, Self

from spanwise import plugins
from spanwise.chunking.line_window import WRONG_ANSWER, Proposal, Window, fault_of
from spanwise.chunking.proposers.endpoint_settings import (
    Estimate,
    ProposerReport,
    check_prices,
    check_settings,
    price,
    with_environment,
)
from spanwise.chunking.proposers.prompt import messages_of
from spanwise.chunking.strategies.smart import ENDPOINT_OPTIONS, SmartOptions, SmartStrategy
from spanwise.chunking.strategy import Question
from spanwise.chunking.task import ChunkingTask
from spanwise.errors import OptionError, PluginError, did_you_mean
from spanwise.options import options_of
from spanwise.text.tokens import Tokenizer

if TYPE_CHECKING:
    from concurrent.futures import Future

    from spanwise.chunking.proposers.answer_cache import AnswerCache
    from spanwise.chunking.proposers.scheduler import Scheduler

__all__ = [
    "Estimate", "Propose", "Proposer", "ProposerReport", "answers_from", "check_proposer", "endpoint_options",
    "estimated", "proposer_of", "refuse_endpoint",
]  # fmt: skip

Propose = Callable[[Window], Sequence[int]]
"""A function from a window to the numbers of the lines where a topic starts."""
Answers = Callable[[], Sequence[Proposal]]
_FRAME: Final = 4  # tokens around a message
_OPENING: Final = 3  # tokens before the answer
_LINES_PER_TOPIC: Final = 5
_KIND: Final = "proposers"
_NOT_ASKED: Final = "max_calls was reached"


class Proposer:
    """A client of an endpoint for all documents of a run, with one report and bounds for all of them together.

    The options are those of `smart` for the endpoint, its model and its prices.
    """

    def __init__(self, **options: Any) -> None:
        """Raise OptionError for options that can't be used, before anything is sent."""
        for name in options:
            if name not in ENDPOINT_OPTIONS:
                hint = f"a Proposer takes {', '.join(ENDPOINT_OPTIONS)}; give the others to spanwise.chunk"
                raise OptionError(name, "doesn't say whom to ask", hint=hint)
        self._settings = endpoint_options(options)
        self._begin()

    def _begin(self) -> None:
        self._report = ProposerReport()
        self._scheduler: Scheduler | None = None
        self._caches: dict[tuple[str | None, int], AnswerCache] = {}
        self._known: dict[bytes, Future[Proposal]] = {}  # the questions of this run

    def __enter__(self) -> Self:
        """Return the proposer; connections are opened when they are needed."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close connections and cache."""
        self.close()

    @property
    def report(self) -> ProposerReport:
        """The questions so far and their cost."""
        return replace(self._report, reasons=dict(self._report.reasons))

    def close(self) -> None:
        """Cancel questions in flight, and close connections and cache."""
        if self._scheduler is not None:
            self._scheduler.close()
            self._scheduler = None
        for cache in self._caches.values():
            cache.close()
        self._caches.clear()
        self._known.clear()

    def ask(
        self, task: ChunkingTask, questions: Sequence[Question], options: Mapping[str, Any] | None = None
    ) -> Answers:
        """Ask about a document, and return a function that waits for the answers; known questions aren't asked again.

        `options` are those of this document, if they differ between the documents of a run.
        """
        from spanwise.chunking.proposers.answer_cache import key_of
        from spanwise.chunking.proposers.scheduler import Item, Scheduler

        settings = self._settings if options is None else endpoint_options(options)
        cache = self._cache(settings)
        prompts = [messages_of(question.window) for question in questions]
        keys = [key_of(settings.model or "", messages) for messages in prompts]
        found = cache.get([key for key in keys if key not in self._known])
        waiting: list[Callable[[], Proposal]] = []
        self._report.windows += len(questions)
        for question, messages, key in zip(questions, prompts, keys, strict=True):
            lines = len(question.window.lines)
            if key in found and not fault_of(found[key], lines):
                self._report.cached += 1
                waiting.append(_ready(Proposal(found[key])))
            elif key in self._known and not _failed(self._known[key]):
                self._report.cached += 1
                waiting.append(self._known[key].result)
            else:
                item = Item(messages, lines, message_tokens(task.tokens.tokenizer, messages), settings, key, cache)
                self._scheduler = self._scheduler or Scheduler(self._report)
                self._scheduler.put(item)
                self._known[key] = item.proposal
                waiting.append(item.proposal.result)
        return lambda: [wait() for wait in waiting]

    def _cache(self, settings: SmartOptions) -> AnswerCache:
        from spanwise.chunking.proposers.answer_cache import AnswerCache

        name = (settings.cache, settings.cache_mb)
        if name not in self._caches:
            self._caches[name] = AnswerCache(*name)
        return self._caches[name]


class FunctionProposer(Proposer):
    """A function of the caller, or of a plug-in, for all documents of a run; `who` is how messages call it."""

    def __init__(self, propose: Propose, who: str) -> None:
        self._propose, self._who = propose, who
        self._begin()

    def ask(
        self, task: ChunkingTask, questions: Sequence[Question], options: Mapping[str, Any] | None = None
    ) -> Answers:
        """Return a function that calls the function for each question; without calls if `max_calls` is 0."""
        self._report.windows += len(questions)
        if options and options.get("max_calls") == 0:
            return lambda: [Proposal(failure=_NOT_ASKED) for _ in questions]
        return functools.cache(lambda: [self._proposal(question.window) for question in questions])

    def _proposal(self, window: Window) -> Proposal:
        """Call the function, and once more if its answer is wrong."""
        for _ in range(2):
            self._report.calls += 1
            with plugins.calling(self._who):
                starts: object = self._propose(window)
            fault = fault_of(starts, len(window.lines))
            if not fault:
                return Proposal(tuple(starts))  # type: ignore[arg-type]
        self._report.fell_back(f"{WRONG_ANSWER}: {self._who}: {fault}")
        return Proposal(failure=WRONG_ANSWER)


def proposer_of(wanted: Proposer | Propose | str) -> Proposer:
    """Return the proposer of a plug-in's name, `NAME` or `NAME:MODEL`, or a function as one."""
    if isinstance(wanted, str):
        check_proposer(wanted)
        name, _, model = wanted.partition(":")
        make, who = plugins.load(_KIND, name), plugins.label(_KIND, name)
        with plugins.calling(who):
            if callable(found := make(model)) or isinstance(found, Proposer):
                return _proposer(found, who)
        rule = "must return a spanwise.Proposer, or a function from a window to numbers"
        raise PluginError(who, rule, value=type(found).__name__)
    return _proposer(wanted, f"proposer {getattr(wanted, '__name__', type(wanted).__name__)}")


def _proposer(found: object, who: str) -> Proposer:
    if isinstance(found, Proposer):
        return found
    if callable(found):
        return FunctionProposer(found, who)
    hint = "give a spanwise.Proposer, a function from a window to numbers, or the name of a plug-in"
    raise OptionError("proposer", "must be able to propose", value=type(found).__name__, hint=hint)


def check_proposer(name: str) -> None:
    """Raise OptionError if no plug-in has this name; it is not loaded."""
    known = plugins.names(_KIND)
    if name.partition(":")[0] not in known:
        hint = did_you_mean(name, known) if known else "no package with a proposer is installed"
        raise OptionError("proposer", "is not known", value=name, hint=hint)


def endpoint_options(options: Mapping[str, Any], purpose: str = "the strategy smart") -> SmartOptions:
    """Return the endpoint's settings from options and environment; raise OptionError if they can't be used."""
    given = {name: value for name, value in options.items() if name in ENDPOINT_OPTIONS}
    settings = with_environment(options_of(SmartOptions, given))
    check_settings(settings, purpose)
    return settings


@contextmanager
def answers_from(
    proposer: Proposer | Propose | str | None, task: ChunkingTask, options: Mapping[str, Any]
) -> Iterator[Answers]:
    """Ask the given proposer about a document, else the endpoint of the options."""
    questions = SmartStrategy().questions(task)
    if proposer is None:
        with Proposer(**{name: value for name, value in options.items() if name in ENDPOINT_OPTIONS}) as own:
            yield own.ask(task, questions)
        return
    refuse_endpoint(options)
    yield proposer_of(proposer).ask(task, questions)


def refuse_endpoint(options: Mapping[str, Any]) -> None:
    """Raise OptionError for options of an endpoint where a proposer is given."""
    if twice := sorted(name for name in options if name in ENDPOINT_OPTIONS):
        raise OptionError(twice[0], "is for the proposer that is given", hint=f"try spanwise.Proposer({twice[0]}=...)")


def _failed(answer: Future[Proposal]) -> bool:
    """Whether a question failed: then it may be asked again for another document."""
    return answer.done() and answer.result().failure is not None


def _ready(proposal: Proposal) -> Callable[[], Proposal]:
    return lambda: proposal


def estimated(task: ChunkingTask, known: set[bytes] | None = None) -> Estimate:
    """Return an estimate for a document; `known` are the questions asked before in the same run."""
    from spanwise.chunking.proposers.answer_cache import AnswerCache, key_of

    settings = with_environment(task.options, os.environ)
    check_prices(settings)
    asked = {}
    questions = SmartStrategy().questions(task)
    for question in questions:
        messages = messages_of(question.window)
        asked[key_of(settings.model or "", messages)] = messages, len(question.window.lines)
    cache = AnswerCache(settings.cache, settings.cache_mb)
    found = cache.get(list(asked)) if cache.path.exists() else {}
    cache.close()
    before = set() if known is None else known
    unknown = [about for key, about in asked.items() if key not in found and key not in before]
    before |= asked.keys()
    sent = sum(message_tokens(task.tokens.tokenizer, messages) for messages, _ in unknown)
    received = sum(_expected_tokens(lines) for _, lines in unknown)
    return Estimate(len(questions), len(questions) - len(unknown), sent, received, price(settings, sent, received))


def message_tokens(tokenizer: Tokenizer, messages: Sequence[tuple[str, str]]) -> int:
    """Return the tokens of messages, with those that an API adds to every message."""
    return sum(tokenizer.count(content) + _FRAME for _, content in messages) + _OPENING


def _expected_tokens(lines: int) -> int:
    """Return the usual tokens of an answer: its frame and a first number, and three tokens for each further one."""
    return 6 + 3 * (lines // _LINES_PER_TOPIC)
