"""Who proposes where topics start, for `smart`: a model behind an endpoint, or a function of your own.

Nothing else in Spanwise talks to a network, and this only when `smart` was chosen and an endpoint named.
"""

from __future__ import annotations

import functools
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from types import TracebackType
from typing import TYPE_CHECKING, Any, Final, Self

from spanwise.chunking.line_window import Proposal, Window, fault_of
from spanwise.chunking.proposers.endpoint_settings import (
    Estimate,
    ProposerReport,
    check_prices,
    check_terms,
    price,
    with_environment,
)
from spanwise.chunking.proposers.prompt import messages_of
from spanwise.chunking.settle import ChunkingTask
from spanwise.chunking.strategies.smart import ASKING, SmartOptions, SmartStrategy
from spanwise.chunking.strategies.smart_lines import Question
from spanwise.errors import OptionError
from spanwise.options import options_of
from spanwise.text.tokens import Tokenizer

if TYPE_CHECKING:
    from concurrent.futures import Future

    from spanwise.chunking.proposers.answer_cache import AnswerCache
    from spanwise.chunking.proposers.scheduler import Asking

__all__ = ["Estimate", "Propose", "Proposer", "ProposerReport", "answers_from", "document_terms", "estimated"]

Propose = Callable[[Window], Sequence[int]]
"""A function from a window to the numbers of the lines where a topic starts."""
Answers = Callable[[], Sequence[Proposal]]
_FRAME: Final = 4  # tokens around a message
_OPENING: Final = 3  # tokens before the answer
_LINES_PER_TOPIC: Final = 5
_WRONG: Final = "the answer was wrong twice"


class Proposer:
    """Asks an endpoint for all documents of a run: one report, and bounds that hold for all of them together.

    The options are those of `smart` that say whom to ask and at what price.
    """

    def __init__(self, **options: Any) -> None:
        """Refuse what can't be asked, before anything is sent."""
        for name in options:
            if name not in ASKING:
                hint = f"a Proposer takes {', '.join(ASKING)}; give the others to spanwise.chunk"
                raise OptionError(name, "doesn't say whom to ask", hint=hint)
        self._terms = endpoint_settings(options)
        self._report = ProposerReport()
        self._asking: Asking | None = None
        self._caches: dict[tuple[str | None, int], AnswerCache] = {}
        self._known: dict[bytes, Future[Proposal]] = {}  # what was asked in this run

    def __enter__(self) -> Self:
        """Nothing is opened before it is needed."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Let go of connections and cache."""
        self.close()

    @property
    def report(self) -> ProposerReport:
        """What was asked so far, and what it cost."""
        return replace(self._report, reasons=dict(self._report.reasons))

    def close(self) -> None:
        """Break off what is under way, and let go of connections and cache."""
        if self._asking is not None:
            self._asking.close()
            self._asking = None
        for kept in self._caches.values():
            kept.close()
        self._caches.clear()
        self._known.clear()

    def ask(
        self, task: ChunkingTask, questions: Sequence[Question], options: Mapping[str, Any] | None = None
    ) -> Answers:
        """Ask about a document, and give what waits for the answers; those that are known aren't asked again.

        `options` are those of this document, where a run's documents differ.
        """
        from spanwise.chunking.proposers.answer_cache import key_of
        from spanwise.chunking.proposers.scheduler import Asking, Item

        terms = self._terms if options is None else endpoint_settings(options)
        kept = self._cache(terms)
        asked = [messages_of(question.window) for question in questions]
        keys = [key_of(terms.model or "", messages) for messages in asked]
        found = kept.get([key for key in keys if key not in self._known])
        waiting: list[Callable[[], Proposal]] = []
        self._report.windows += len(questions)
        for question, messages, key in zip(questions, asked, keys, strict=True):
            lines = len(question.window.lines)
            if key in found and not fault_of(found[key], lines):
                self._report.cached += 1
                waiting.append(_ready(Proposal(found[key])))
            elif key in self._known and not _failed(self._known[key]):
                self._report.cached += 1
                waiting.append(self._known[key].result)
            else:
                item = Item(messages, lines, message_tokens(task.tokens.tokenizer, messages), terms, key, kept)
                self._asking = self._asking or Asking(self._report)
                self._asking.put(item)
                self._known[key] = item.proposal
                waiting.append(item.proposal.result)
        return lambda: [wait() for wait in waiting]

    def _cache(self, terms: SmartOptions) -> AnswerCache:
        from spanwise.chunking.proposers.answer_cache import AnswerCache

        name = (terms.cache, terms.cache_mb)
        if name not in self._caches:
            self._caches[name] = AnswerCache(*name)
        return self._caches[name]


def endpoint_settings(options: Mapping[str, Any]) -> SmartOptions:
    """Give what options and environment say about whom to ask; refuse what can't be asked."""
    asking = {name: value for name, value in options.items() if name in ASKING}
    terms = with_environment(options_of(SmartOptions, asking))
    check_terms(terms)
    return terms


@contextmanager
def answers_from(
    proposer: Proposer | Propose | None, task: ChunkingTask, options: Mapping[str, Any]
) -> Iterator[Answers]:
    """Ask whoever proposes about a document: who was given, else the endpoint that the options name."""
    questions = SmartStrategy().questions(task)
    if proposer is None:
        with Proposer(**{name: value for name, value in options.items() if name in ASKING}) as own:
            yield own.ask(task, questions)
        return
    if twice := sorted(name for name in options if name in ASKING):
        raise OptionError(twice[0], "is for the proposer that is given", hint=f"try spanwise.Proposer({twice[0]}=...)")
    if isinstance(proposer, Proposer):
        yield proposer.ask(task, questions)
    elif callable(proposer):
        yield functools.cache(lambda: [_own_proposal(proposer, question.window) for question in questions])
    else:
        hint = "give a spanwise.Proposer, or a function from a window to numbers"
        raise OptionError("proposer", "must be able to propose", value=type(proposer).__name__, hint=hint)


def _own_proposal(propose: Propose, window: Window) -> Proposal:
    """Ask a function, and once more if its answer is wrong."""
    for _ in range(2):
        starts: object = propose(window)
        if not fault_of(starts, len(window.lines)):
            return Proposal(tuple(starts))  # type: ignore[arg-type]
    return Proposal(failure=_WRONG)


def _failed(answer: Future[Proposal]) -> bool:
    """Whether a question came back without an answer: then it may be asked again for another document."""
    return answer.done() and answer.result().failure is not None


def _ready(proposal: Proposal) -> Callable[[], Proposal]:
    return lambda: proposal


def estimated(task: ChunkingTask, known: set[bytes] | None = None) -> Estimate:
    """Say what would be sent about a document; `known` is what was asked before in the same run."""
    from spanwise.chunking.proposers.answer_cache import AnswerCache, key_of

    terms = with_environment(task.options, os.environ)
    check_prices(terms)
    asked = {}
    questions = SmartStrategy().questions(task)
    for question in questions:
        messages = messages_of(question.window)
        asked[key_of(terms.model or "", messages)] = messages, len(question.window.lines)
    kept = AnswerCache(terms.cache, terms.cache_mb)
    found = kept.get(list(asked)) if kept.path.exists() else {}
    kept.close()
    before = set() if known is None else known
    open_ones = [about for key, about in asked.items() if key not in found and key not in before]
    before |= asked.keys()
    sent = sum(message_tokens(task.tokens.tokenizer, messages) for messages, _ in open_ones)
    said = sum(_expected_answer(lines) for _, lines in open_ones)
    return Estimate(len(questions), len(questions) - len(open_ones), sent, said, price(terms, sent, said))


def message_tokens(tokenizer: Tokenizer, messages: Sequence[tuple[str, str]]) -> int:
    """Count what is sent, with what an API puts around every message."""
    return sum(tokenizer.count(content) + _FRAME for _, content in messages) + _OPENING


def _expected_answer(lines: int) -> int:
    """Say how long an answer usually is: its frame and a first number, and three tokens for each further one."""
    return 6 + 3 * (lines // _LINES_PER_TOPIC)
