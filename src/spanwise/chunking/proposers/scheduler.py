"""The scheduler of questions to an endpoint: some at a time, within hard bounds, in a fixed order.

Questions are sent in order. Before one is sent, the question `concurrency` positions before it has finished, and those
between are counted at the most they may cost. So what a bound cuts off depends on the questions and their answers,
never on which answer happened to be faster.
"""

from __future__ import annotations

import asyncio
import threading
from collections import deque
from concurrent.futures import Future
from dataclasses import dataclass, field
from functools import partial
from typing import Final, NamedTuple

from spanwise.chunking.line_window import WRONG_ANSWER, Proposal
from spanwise.chunking.proposers.answer_cache import AnswerCache
from spanwise.chunking.proposers.circuit_breaker import Breaker, Trouble
from spanwise.chunking.proposers.endpoint import MOST_SHAPES, Answer, Endpoint, Failure
from spanwise.chunking.proposers.endpoint_settings import ProposerReport, price
from spanwise.chunking.proposers.prompt import Messages, WrongAnswerError, retry_messages, starts_in
from spanwise.chunking.strategies.smart import SmartOptions

TRIES: Final = 4
TRIES_AFTER_TIMEOUT: Final = 2
TRIES_WHEN_BUSY: Final = 6
"""Calls for one answer: if the endpoint fails, if it takes too long, if it is busy (429)."""
FIRST_WAIT: Final = 0.5
LONGEST_WAIT: Final = 60.0
"""Seconds before a call is repeated: twice as long each time, or as the endpoint asks; never more than the longest."""
RETRY_TOKENS: Final = 300
"""Tokens by which a second question is longer than the first, at most."""
_MOST_CALLS: Final = 2 * TRIES_WHEN_BUSY + MOST_SHAPES
_CLOSE_TIMEOUT: Final = 5.0  # seconds for calls that are cancelled
_TRIES: Final = {
    Trouble.FAULT: TRIES,
    Trouble.TIME: TRIES_AFTER_TIMEOUT,
    Trouble.BUSY: TRIES_WHEN_BUSY,
    Trouble.USELESS: 1,
    Trouble.REFUSED: 1,
    Trouble.SHAPE: MOST_SHAPES,
}
ENDPOINT_FAILED: Final = "the endpoint failed"
OVER_CALLS: Final = "max_calls was reached"
OVER_COST: Final = "max_cost was reached"


@dataclass(eq=False)
class Item:
    """A queued question: its messages, the number of lines it is about, its tokens, and its future proposal."""

    messages: Messages
    lines: int
    tokens: int
    settings: SmartOptions
    key: bytes
    cache: AnswerCache
    proposal: Future[Proposal] = field(default_factory=Future)

    @property
    def worst(self) -> float:
        """The most that one call may cost."""
        return price(self.settings, self.tokens + RETRY_TOKENS, self.settings.answer_tokens) or 0.0


class Grant(NamedTuple):
    """The calls and cost that a question may use or has used, and the bound that limits them."""

    calls: int = 0
    cost: float = 0.0
    bound: str = OVER_CALLS


@dataclass
class _Flight:
    """A question in flight, what it may use, and what it has used."""

    item: Item
    grant: Grant
    task: asyncio.Task[None] | None = None
    calls: int = 0
    cost: float = 0.0

    def refusal(self) -> str | None:
        """Return the bound that another call would pass; None if it may be made."""
        if self.calls >= self.grant.calls:
            return self.grant.bound
        return OVER_COST if self.cost + self.item.worst > self.grant.cost * (1 + 1e-9) else None

    def affords(self, sent: int, received: int) -> bool:
        """Whether an answer of so many tokens is within the grant, as every answer is that keeps to its limit."""
        cost = price(self.item.settings, sent, received) or 0.0
        return self.item.settings.max_cost is None or self.cost + cost <= self.grant.cost * (1 + 1e-9)

    def ended(self, task: asyncio.Task[None]) -> None:
        """Resolve the proposal of a task that was cancelled or failed, so that nothing waits for it."""
        if task.cancelled():
            self.item.proposal.cancel()
        elif error := task.exception():
            self.item.proposal.set_exception(error)


class Scheduler:
    """A thread with an event loop that sends questions; started with the first question, ended by `close`."""

    def __init__(self, report: ProposerReport) -> None:
        """Set up the state; the thread starts with the first question."""
        self.report = report
        self._thread: threading.Thread | None = None
        self._loop: asyncio.AbstractEventLoop
        self._queue: asyncio.Queue[Item]
        self._over: asyncio.Event
        self._ready = threading.Event()
        self._endpoints: dict[tuple[str, str, str | None], tuple[Endpoint, Breaker]] = {}
        self._used = Grant()
        self._last_reason = ""

    def put(self, item: Item) -> None:
        """Queue a question; its proposal is resolved by the thread."""
        if self._thread is None:
            run = partial(asyncio.run, self._main())
            self._thread = threading.Thread(target=run, name="spanwise-asking", daemon=True)
            self._thread.start()
            self._ready.wait()
        self._loop.call_soon_threadsafe(self._queue.put_nowait, item)

    def close(self) -> None:
        """Cancel questions in flight, and end the thread."""
        if self._thread is not None and self._thread.is_alive():
            self._loop.call_soon_threadsafe(self._over.set)
            self._thread.join(_CLOSE_TIMEOUT)
        self._thread = None

    async def _main(self) -> None:
        """Send questions until `close`, then cancel those in flight or queued."""
        self._loop, self._queue, self._over = asyncio.get_running_loop(), asyncio.Queue(), asyncio.Event()
        self._ready.set()
        dispatching = asyncio.create_task(self._dispatch())
        dispatching.add_done_callback(lambda _: self._over.set())
        await self._over.wait()
        others = asyncio.all_tasks() - {asyncio.current_task()}
        for task in others:
            task.cancel()
        await asyncio.gather(*others, return_exceptions=True)
        while not self._queue.empty():
            self._queue.get_nowait().proposal.cancel()
        for endpoint, _ in self._endpoints.values():
            await endpoint.close()

    async def _dispatch(self) -> None:
        in_flight: deque[_Flight] = deque()
        while True:
            item = await self._queue.get()
            while len(in_flight) >= item.settings.concurrency:
                await self._finish(in_flight.popleft())
            grant = self._full_grant(item, in_flight)
            if grant is None:  # what is left is known only when all have finished
                while in_flight:
                    await self._finish(in_flight.popleft())
                grant = self._remaining_grant(item)
            flight = _Flight(item, grant)
            if reason := flight.refusal():
                self._fail(item, reason, reason)
            else:
                flight.task = asyncio.create_task(self._ask(flight))
                flight.task.add_done_callback(flight.ended)
                in_flight.append(flight)

    async def _finish(self, flight: _Flight) -> None:
        """Wait for a question, and add what it used."""
        if flight.task is not None:
            await asyncio.wait({flight.task})
        self._used = Grant(self._used.calls + flight.calls, self._used.cost + flight.cost)

    def _full_grant(self, item: Item, in_flight: deque[_Flight]) -> Grant | None:
        """Return the full grant of a question, if it is left even when those in flight use all of theirs; else None."""
        wanted = Grant(_MOST_CALLS, _MOST_CALLS * item.worst)
        calls = self._used.calls + wanted.calls + sum(flight.grant.calls for flight in in_flight)
        cost = self._used.cost + wanted.cost + sum(flight.grant.cost for flight in in_flight)
        within = calls <= item.settings.max_calls and (item.settings.max_cost is None or cost <= item.settings.max_cost)
        return wanted if within else None

    def _remaining_grant(self, item: Item) -> Grant:
        """Return a grant of what is left, in whole calls."""
        calls = min(_MOST_CALLS, max(item.settings.max_calls - self._used.calls, 0))
        if item.settings.max_cost is not None and item.worst:
            left = max(item.settings.max_cost - self._used.cost, 0.0)
            payable = int(min(left / item.worst, _MOST_CALLS))
            if payable < calls:
                return Grant(payable, payable * item.worst, OVER_COST)
        return Grant(calls, calls * item.worst)

    async def _ask(self, flight: _Flight) -> None:
        """Ask, and once more if the answer is wrong; then resolve the proposal."""
        item = flight.item
        messages = item.messages
        try:
            for _ in range(2):
                answer = await self._answer(flight, messages)
                try:
                    starts = starts_in(answer.text, item.lines)
                except WrongAnswerError as wrong:
                    messages = retry_messages(item.messages, answer.text, str(wrong))
                    continue
                item.cache.put(item.key, starts)
                item.proposal.set_result(Proposal(starts))
                return
            self._fail(item, WRONG_ANSWER, WRONG_ANSWER)
        except Failure as failure:
            over = failure.reason in {OVER_CALLS, OVER_COST}
            self._fail(item, failure.reason if over else ENDPOINT_FAILED, failure.reason)

    async def _answer(self, flight: _Flight, messages: Messages) -> Answer:
        """Call until there is an answer, with growing pauses; raise Failure if another call would be useless."""
        endpoint, breaker = self._endpoint(flight.item.settings)
        clock, wait = asyncio.get_running_loop().time, FIRST_WAIT
        tries = dict.fromkeys(Trouble, 0)
        while True:
            if reason := flight.refusal():
                raise Failure(reason)
            if not breaker.allows(clock()):
                raise Failure(f"{self._last_reason}, then left alone")
            try:
                answer = await self._call(endpoint, flight, messages)
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

    async def _call(self, endpoint: Endpoint, flight: _Flight, messages: Messages) -> Answer:
        """Make one call and count what it uses; one whose answer didn't arrive is counted at the most it may cost."""
        item, longer = flight.item, sum(len(text) for _, text in messages[len(flight.item.messages) :])
        sent, received = item.tokens + min(longer // 2, RETRY_TOKENS), 0
        flight.calls += 1
        self.report.calls += 1
        try:
            async with asyncio.timeout(item.settings.timeout):
                answer = await endpoint.ask(messages)
            billed = max(sent, answer.input_tokens or 0), max(answer.output_tokens or 0, -(-len(answer.text) // 4))
            if not flight.affords(*billed):  # it ignores the longest answer allowed, or invents tokens
                raise Failure("it bills for more than it may", Trouble.USELESS, billed=True)
            sent, received = billed
            return answer
        except TimeoutError:
            received = item.settings.answer_tokens
            raise Failure("no answer in time", Trouble.TIME, billed=True) from None
        except Failure as failure:
            received = item.settings.answer_tokens if failure.billed else 0
            raise
        finally:
            cost = price(item.settings, sent, received)
            self.report.input_tokens += sent
            self.report.output_tokens += received
            if cost is not None:
                flight.cost += cost
                self.report.cost = (self.report.cost or 0.0) + cost

    def _endpoint(self, settings: SmartOptions) -> tuple[Endpoint, Breaker]:
        name = (settings.endpoint or "", settings.model or "", settings.api_key)
        if name not in self._endpoints:
            self._endpoints[name] = Endpoint(settings), Breaker()
        return self._endpoints[name]

    def _fail(self, item: Item, failure: str, reason: str) -> None:
        self.report.fell_back(reason)
        item.proposal.set_result(Proposal(failure=failure))
