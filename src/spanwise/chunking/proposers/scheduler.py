"""Asks an endpoint many questions: some at a time, within hard bounds, in an order that decides what the bounds allow.

Questions are let through one after the other. Before a question goes out, the one that stood `concurrency` places
before it has come back, and those between are taken at what they may cost at most. So what a bound cuts off depends on
the questions and their answers, never on which answer happened to be faster.
"""

from __future__ import annotations

import asyncio
import threading
from collections import deque
from concurrent.futures import Future
from dataclasses import dataclass, field
from functools import partial
from typing import Final, NamedTuple

from spanwise.chunking.line_window import Proposal
from spanwise.chunking.proposers.answer_cache import AnswerCache
from spanwise.chunking.proposers.circuit_breaker import Breaker, Trouble
from spanwise.chunking.proposers.endpoint import MOST_SHAPES, Answer, Endpoint, Failure
from spanwise.chunking.proposers.endpoint_settings import ProposerReport, price
from spanwise.chunking.proposers.prompt import Messages, WrongAnswerError, asked_again, starts_in
from spanwise.chunking.strategies.smart import SmartOptions

TRIES: Final = 4
TRIES_IN_TIME: Final = 2
TRIES_WHEN_BUSY: Final = 6
"""Calls for one answer: if the endpoint fails, if it takes too long, if it says that it is busy (429)."""
FIRST_WAIT: Final = 0.5
LONGEST_WAIT: Final = 60.0
"""Seconds before a call is made again: each time twice as long, or what the endpoint asks for; never longer."""
ASKED_TWICE: Final = 300
"""Tokens that a second question is longer than the first, at most."""
_MOST_CALLS: Final = 2 * TRIES_WHEN_BUSY + MOST_SHAPES
_LEAVING: Final = 5.0  # seconds for calls that are broken off
_TRIES: Final = {
    Trouble.FAULT: TRIES,
    Trouble.TIME: TRIES_IN_TIME,
    Trouble.BUSY: TRIES_WHEN_BUSY,
    Trouble.USELESS: 1,
    Trouble.REFUSED: 1,
    Trouble.SHAPE: MOST_SHAPES,
}
ENDPOINT_FAILED: Final = "the endpoint failed"
WRONG_ANSWER: Final = "the answer was wrong twice"
OVER_CALLS: Final = "max_calls was reached"
OVER_COST: Final = "max_cost was reached"


@dataclass(eq=False)
class Item:
    """A question on its way: its messages, how many lines it is about, its tokens, and its proposal to come."""

    messages: Messages
    lines: int
    tokens: int
    terms: SmartOptions
    key: bytes
    cache: AnswerCache
    proposal: Future[Proposal] = field(default_factory=Future)

    @property
    def worst(self) -> float:
        """What one call may cost at most."""
        return price(self.terms, self.tokens + ASKED_TWICE, self.terms.answer_tokens) or 0.0


class Grant(NamedTuple):
    """What a question may take at most, or did take; and which bound keeps it from more."""

    calls: int = 0
    cost: float = 0.0
    bound: str = OVER_CALLS


@dataclass
class _Flight:
    """A question that is out, what it may take, and what it has taken."""

    item: Item
    grant: Grant
    task: asyncio.Task[None] | None = None
    calls: int = 0
    cost: float = 0.0

    def refusal(self) -> str | None:
        """Say which bound another call would pass; None where it may be made."""
        if self.calls >= self.grant.calls:
            return self.grant.bound
        return OVER_COST if self.cost + self.item.worst > self.grant.cost * (1 + 1e-9) else None

    def affords(self, sent: int, said: int) -> bool:
        """Whether an answer of so many tokens is within what was granted, as all are that keep to what they may."""
        cost = price(self.item.terms, sent, said) or 0.0
        return self.item.terms.max_cost is None or self.cost + cost <= self.grant.cost * (1 + 1e-9)

    def ended(self, task: asyncio.Task[None]) -> None:
        """Leave nobody waiting: whoever was broken off, or fell over a fault of ours, says so."""
        if task.cancelled():
            self.item.proposal.cancel()
        elif error := task.exception():
            self.item.proposal.set_exception(error)


class Asking:
    """A thread with an event loop that asks; started with the first question, ended by `close`."""

    def __init__(self, report: ProposerReport) -> None:
        """Start nothing yet."""
        self.report = report
        self._thread: threading.Thread | None = None
        self._loop: asyncio.AbstractEventLoop
        self._queue: asyncio.Queue[Item]
        self._over: asyncio.Event
        self._ready = threading.Event()
        self._endpoints: dict[tuple[str, str, str | None], tuple[Endpoint, Breaker]] = {}
        self._taken = Grant()
        self._last_reason = ""

    def put(self, item: Item) -> None:
        """Queue a question; its proposal comes by itself."""
        if self._thread is None:
            run = partial(asyncio.run, self._main())
            self._thread = threading.Thread(target=run, name="spanwise-asking", daemon=True)
            self._thread.start()
            self._ready.wait()
        self._loop.call_soon_threadsafe(self._queue.put_nowait, item)

    def close(self) -> None:
        """Break off what is under way, and end the thread."""
        if self._thread is not None and self._thread.is_alive():
            self._loop.call_soon_threadsafe(self._over.set)
            self._thread.join(_LEAVING)
        self._thread = None

    async def _main(self) -> None:
        """Let questions through until it is over, then break off those that are out or wait."""
        self._loop, self._queue, self._over = asyncio.get_running_loop(), asyncio.Queue(), asyncio.Event()
        self._ready.set()
        letting = asyncio.create_task(self._let_through())
        letting.add_done_callback(lambda _: self._over.set())
        await self._over.wait()
        others = asyncio.all_tasks() - {asyncio.current_task()}
        for task in others:
            task.cancel()
        await asyncio.gather(*others, return_exceptions=True)
        while not self._queue.empty():
            self._queue.get_nowait().proposal.cancel()
        for endpoint, _ in self._endpoints.values():
            await endpoint.close()

    async def _let_through(self) -> None:
        flying: deque[_Flight] = deque()
        while True:
            item = await self._queue.get()
            while len(flying) >= item.terms.concurrency:
                await self._landed(flying.popleft())
            grant = self._granted(item, flying)
            if grant is None:  # only when all have come back is it known what is left
                while flying:
                    await self._landed(flying.popleft())
                grant = self._rest_for(item)
            flight = _Flight(item, grant)
            if reason := flight.refusal():
                self._fail(item, reason, reason)
            else:
                flight.task = asyncio.create_task(self._fly(flight))
                flight.task.add_done_callback(flight.ended)
                flying.append(flight)

    async def _landed(self, flight: _Flight) -> None:
        """Wait for a question, and count what it took."""
        if flight.task is not None:
            await asyncio.wait({flight.task})
        self._taken = Grant(self._taken.calls + flight.calls, self._taken.cost + flight.cost)

    def _granted(self, item: Item, flying: deque[_Flight]) -> Grant | None:
        """Give a question all that it may want, if that is there even when those that are out take all of theirs."""
        wanted = Grant(_MOST_CALLS, _MOST_CALLS * item.worst)
        calls = self._taken.calls + wanted.calls + sum(flight.grant.calls for flight in flying)
        cost = self._taken.cost + wanted.cost + sum(flight.grant.cost for flight in flying)
        within = calls <= item.terms.max_calls and (item.terms.max_cost is None or cost <= item.terms.max_cost)
        return wanted if within else None

    def _rest_for(self, item: Item) -> Grant:
        """Give a question what is left, in whole calls."""
        calls = min(_MOST_CALLS, max(item.terms.max_calls - self._taken.calls, 0))
        if item.terms.max_cost is not None and item.worst:
            left = max(item.terms.max_cost - self._taken.cost, 0.0)
            payable = int(min(left / item.worst, _MOST_CALLS))
            if payable < calls:
                return Grant(payable, payable * item.worst, OVER_COST)
        return Grant(calls, calls * item.worst)

    async def _fly(self, flight: _Flight) -> None:
        """Ask, and once more if the answer is wrong; then say what came of it."""
        item = flight.item
        messages = item.messages
        try:
            for _ in range(2):
                answer = await self._answer(flight, messages)
                try:
                    starts = starts_in(answer.words, item.lines)
                except WrongAnswerError as wrong:
                    messages = asked_again(item.messages, answer.words, str(wrong))
                    continue
                item.cache.put(item.key, starts)
                item.proposal.set_result(Proposal(starts))
                return
            self._fail(item, WRONG_ANSWER, WRONG_ANSWER)
        except Failure as failure:
            over = failure.reason in {OVER_CALLS, OVER_COST}
            self._fail(item, failure.reason if over else ENDPOINT_FAILED, failure.reason)

    async def _answer(self, flight: _Flight, messages: Messages) -> Answer:
        """Call until there is an answer, with pauses that grow; Failure where it is no use to go on."""
        endpoint, breaker = self._endpoint(flight.item.terms)
        clock, wait = asyncio.get_running_loop().time, FIRST_WAIT
        tries = dict.fromkeys(Trouble, 0)
        while True:
            if reason := flight.refusal():
                raise Failure(reason)
            if not breaker.allows(clock()):
                raise Failure(f"{self._last_reason}, then left alone")
            try:
                answer = await self._called(endpoint, flight, messages)
            except Failure as failure:
                if failure.trouble is Trouble.SHAPE:
                    breaker.answered()
                    continue
                pause = max(wait, failure.wait)
                rests = pause > LONGEST_WAIT
                breaker.failed(clock(), failure.trouble, rest=pause if rests else 0.0)
                self._last_reason = failure.reason
                tries[failure.trouble] += 1
                if rests or tries[failure.trouble] >= _TRIES[failure.trouble]:
                    raise
                await asyncio.sleep(pause)
                wait *= 2
            else:
                breaker.succeeded()
                return answer

    async def _called(self, endpoint: Endpoint, flight: _Flight, messages: Messages) -> Answer:
        """Make one call and count what it takes; one whose answer didn't arrive is taken at what it may cost."""
        item, longer = flight.item, sum(len(words) for _, words in messages[len(flight.item.messages) :])
        sent, said = item.tokens + min(longer // 2, ASKED_TWICE), 0
        flight.calls += 1
        self.report.calls += 1
        try:
            async with asyncio.timeout(item.terms.timeout):
                answer = await endpoint.ask(messages)
            billed = max(sent, answer.input_tokens or 0), max(answer.output_tokens or 0, -(-len(answer.words) // 4))
            if not flight.affords(*billed):  # it disregards the longest answer that was allowed, or makes tokens up
                raise Failure("it bills for more than it may", Trouble.USELESS, billed=True)
            sent, said = billed
            return answer
        except TimeoutError:
            said = item.terms.answer_tokens
            raise Failure("no answer in time", Trouble.TIME, billed=True) from None
        except Failure as failure:
            said = item.terms.answer_tokens if failure.billed else 0
            raise
        finally:
            cost = price(item.terms, sent, said)
            self.report.input_tokens += sent
            self.report.output_tokens += said
            if cost is not None:
                flight.cost += cost
                self.report.cost = (self.report.cost or 0.0) + cost

    def _endpoint(self, terms: SmartOptions) -> tuple[Endpoint, Breaker]:
        name = (terms.endpoint or "", terms.model or "", terms.api_key)
        if name not in self._endpoints:
            self._endpoints[name] = Endpoint(terms), Breaker()
        return self._endpoints[name]

    def _fail(self, item: Item, said: str, reason: str) -> None:
        self.report.fell_back(reason)
        item.proposal.set_result(Proposal(failure=said))
