"""A reranker that is called: within a time that nothing exceeds, and with an answer that is checked."""

from __future__ import annotations

import math
import threading
from collections.abc import Iterable, Sequence
from itertools import islice
from typing import Any, Final, Protocol, runtime_checkable

from spanwise.errors import NO_VALUE, EndpointError, PluginError, SpanwiseError
from spanwise.plugins import failure
from spanwise.reranking import Reranker

_OWN_SHARE: Final = 0.95  # of the time, for a reranker that ends by itself and says where it waited
_MOST_LATE: Final = 4  # calls that may still run after their time in a process; what they do can't be ended

_late: Final[set[object]] = set()
_lock: Final = threading.Lock()


def timed_scores(reranker: Reranker, question: str, texts: Sequence[str], seconds: float) -> list[float]:
    """Return the score of each text; raise SpanwiseError if the reranker fails, is too slow, or breaks a rule."""
    who = f"reranker {reranker.name}"
    if len(_late) >= _MOST_LATE:
        raise EndpointError(who, f"is not asked: {_MOST_LATE} earlier calls still run after their time")
    if isinstance(reranker, _EndsInTime):
        reranker = reranker.within(_OWN_SHARE * seconds)
    call = _Call(who, reranker, question, texts)
    thread = threading.Thread(target=call.run, name=who, daemon=True)
    thread.start()
    thread.join(seconds)
    with _lock:
        if not call.ended:
            _late.add(call)
            raise EndpointError(who, f"didn't answer within {seconds:g} seconds")
    if call.error:
        raise call.error
    return call.scores


@runtime_checkable
class _EndsInTime(Protocol):
    def within(self, seconds: float) -> Reranker: ...


class _Call:
    """One call of a reranker, in a thread of its own."""

    def __init__(self, who: str, reranker: Reranker, question: str, texts: Sequence[str]) -> None:
        self._who, self._reranker, self._question, self._texts = who, reranker, question, list(texts)
        self.scores: list[float] = []
        self.error: SpanwiseError | None = None
        self.ended = False

    def run(self) -> None:
        try:
            found = self._reranker.rerank(self._question, self._texts)
            self.scores = _checked(self._who, found, len(self._texts))
        except SpanwiseError as error:
            self.error = error
        except BaseException as error:  # of a model or a plug-in: the order without it is the answer then
            self.error = failure(self._who, error)
        finally:
            with _lock:
                self.ended = True
                _late.discard(self)


def _checked(who: str, found: Iterable[Any], count: int) -> list[float]:
    rows = list(islice(found, count + 1))
    if len(rows) != count:
        number = f"more than {count}" if len(rows) > count else len(rows)
        raise PluginError(who, f"must return {count} scores, one for each text", value=number)
    scores = [float("nan") if isinstance(one, str | bytes) else float(one) for one in rows]
    wrong = next((one for one, score in zip(rows, scores, strict=True) if not math.isfinite(score)), NO_VALUE)
    if wrong is not NO_VALUE:
        raise PluginError(who, "must return finite numbers", value=wrong)
    return scores
