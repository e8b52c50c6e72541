"""What a tokenizer of someone else says is checked once, before the searches in C rely on it."""

from __future__ import annotations

from array import array
from collections.abc import Callable
from typing import Any, Final

import numpy
import pytest
from hypothesis import given
from hypothesis import strategies as st

import spanwise
from spanwise.chunking.strategies import STRATEGIES
from spanwise.errors import LimitError, OptionError, UnreadableError
from spanwise.native import LARGEST, plain
from spanwise.text.tokens import TokenMap, WordTokenizer, tokenizer_of

WITHOUT_MODEL: Final = sorted(set(STRATEGIES) - {"smart"})


class Foreign:
    """A tokenizer with the given ends, and the given count of every text."""

    name: Final = "foreign"
    added: Final = 0
    seam: Any = None

    def __init__(self, ends: Callable[[str], Any], tokens: int | None = None) -> None:
        self._ends = ends
        self._tokens = tokens

    def count(self, text: str) -> int:
        return len(self.ends(text)) if self._tokens is None else self._tokens

    def ends(self, text: str) -> Any:
        return self._ends(text)


@pytest.mark.parametrize("ends", [[3, 1, 2], [1, 9, 3], [-1, 3], [1, 4], array("q", [2, 1]), numpy.array([2, 1])])
def test_ends_that_do_not_ascend_in_the_text_are_refused(ends: Any) -> None:
    with pytest.raises(OptionError, match=r"`tokenizer` must have an `ends` that returns ascending positions.*foreign"):
        TokenMap("abc", Foreign(lambda text: ends))


@pytest.mark.parametrize("ends", [[1 << 31], [-(1 << 40)], [0.5], ["a"], None, 7])
def test_ends_that_are_no_positions_are_refused(ends: Any) -> None:
    with pytest.raises(OptionError, match="`tokenizer` must have an `ends` that returns integers of 32 bits"):
        TokenMap("abc", Foreign(lambda text: ends))


@pytest.mark.parametrize("wrong", [lambda size: [size, 0], lambda size: [size + 1]])
def test_every_window_of_a_long_text_is_checked(wrong: Callable[[int], list[int]]) -> None:
    class InWindows(Foreign):
        seam: Any = tokenizer_of("cl100k").seam

    tokenizer = InWindows(lambda text: [1, 2] if text.startswith("first") else wrong(len(text)))
    with pytest.raises(OptionError, match="ascending positions"):
        TokenMap("first " + "word " * 30_000, tokenizer)


@given(st.lists(st.integers(0, 20)), st.lists(st.integers(-3, 25)))
def test_ends_in_any_order_are_refused_or_searched_as_in_python(ends: list[int], positions: list[int]) -> None:
    tokenizer = Foreign(lambda text: ends)
    if ends != sorted(ends):
        with pytest.raises(OptionError):
            TokenMap("a" * 20, tokenizer)
        return
    tokens = TokenMap("a" * 20, tokenizer)
    assert tokens.at_each(positions) == plain.ended_at_each(array("i", ends), positions)


def test_a_text_too_long_for_32_bits_is_refused() -> None:
    class Long(str):
        __slots__ = ()

        def __len__(self) -> int:
            return LARGEST + 1

    with pytest.raises(UnreadableError, match="`text` must have at most 2,147,483,647 characters: 2147483648"):
        TokenMap(Long("a"), tokenizer_of("cl100k"))


@pytest.mark.parametrize("count", [1 << 62, 10**400], ids=["2^62", "10^400"])
@pytest.mark.parametrize("strategy", WITHOUT_MODEL)
def test_a_tokenizer_that_counts_too_many_ends_in_an_error(strategy: Any, count: int) -> None:
    text = "# A\n\nb c d\n\n<!-- left out -->\n\n" * 20 + "word " * 900
    tokenizer = Foreign(WordTokenizer().ends, count)
    with pytest.raises(LimitError, match="too large for `max_tokens`"):
        spanwise.chunk(spanwise.read_text(text), strategy, tokenizer, max_tokens=900)
