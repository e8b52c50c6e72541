"""What is compiled gives exactly what its twin in Python gives."""

from __future__ import annotations

from array import array
from itertools import product
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spanwise.native import compiled, plain

BEGUN = array("i", [1, 0, 3, 7])
IDS = st.lists(st.integers(0, len(BEGUN) - 1)).map(lambda ids: array("I", ids).tobytes())


@given(ids=IDS, base=st.integers(0, 1 << 20))
def test_tokens_end_at_the_same_characters(ids: bytes, base: int) -> None:
    assert compiled.token_ends(ids, BEGUN, base) == plain.token_ends(ids, BEGUN, base)


ENDS = st.lists(st.integers(0, 60)).map(lambda ends: array("i", sorted(ends)))
PLACES = st.integers(0, 60)
SIGNS = "aZ1²字_'/.,!|` \t\n\r\x1c\x7f\u0301\u3000，。🐢"


@given(ends=ENDS, start=PLACES, end=PLACES)
def test_tokens_between_two_places_are_as_many(ends: array[int], start: int, end: int) -> None:
    assert compiled.tokens_between(ends, start, end) == plain.tokens_between(ends, start, end)


@given(ends=ENDS, positions=st.lists(PLACES))
def test_as_many_tokens_have_ended_at_each_place(ends: array[int], positions: list[int]) -> None:
    assert compiled.ended_at_each(ends, positions) == plain.ended_at_each(ends, positions)


@given(
    text=st.text(SIGNS, max_size=40)
    | st.text(max_size=40)
    | st.text("a ", max_size=12).map(lambda ends: ends + "a" * 70 + ends),
    ends=ENDS,
    start=st.integers(-1, 80),
    size=st.integers(-1, 80),
    joiner=st.sampled_from(["", "\n", " "]),
    everything=st.booleans(),
)
def test_the_same_spans_are_counted_exactly(
    text: str, ends: array[int], start: int, size: int, joiner: str, everything: bool
) -> None:
    stretches = [
        text[low:high] + after for low in range(len(text)) for high in range(low, low + 70) for after in ("", joiner)
    ]
    known = {words: len(words) for words in stretches if everything or len(words) < 3}
    given = text, ends, known, start, start + size, joiner
    assert compiled.exact_tokens(*given) == plain.exact_tokens(*given)


def test_every_pair_of_characters_is_the_same_seam() -> None:
    signs = [*map(chr, range(0x250)), *"\u0301\u0660\u1680\u2028\u3000，。、；：！？字🐢Ⅷ½\u200b\ufeff"]
    ends = array("i", [2])
    for first, second in product(signs, signs):
        text = first + second
        assert compiled.exact_tokens(text, ends, {}, 1, 2, "") == plain.exact_tokens(text, ends, {}, 1, 2, ""), text


@pytest.mark.parametrize(
    "wrong", [(), ("a",), ("a", ENDS, {}, 0, 1), (b"a", array("i"), {}, 0, 1, ""), ("a", 5, {}, 0, 1, "")]
)
def test_what_is_no_text_or_no_ends_is_refused(wrong: tuple[Any, ...]) -> None:
    with pytest.raises(TypeError):
        compiled.exact_tokens(*wrong)


def test_a_token_that_nobody_knows_is_refused() -> None:
    with pytest.raises(IndexError):
        compiled.token_ends(array("I", [4]).tobytes(), BEGUN, 0)
