"""What is compiled gives exactly what its twin in Python gives."""

from array import array

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spanwise.native import compiled, plain

BEGUN = array("i", [1, 0, 3, 7])
IDS = st.lists(st.integers(0, len(BEGUN) - 1)).map(lambda ids: array("I", ids).tobytes())


@given(ids=IDS, base=st.integers(0, 1 << 20))
def test_tokens_end_at_the_same_characters(ids: bytes, base: int) -> None:
    assert compiled.token_ends(ids, BEGUN, base) == plain.token_ends(ids, BEGUN, base)


def test_a_token_that_nobody_knows_is_refused() -> None:
    with pytest.raises(IndexError):
        compiled.token_ends(array("I", [4]).tobytes(), BEGUN, 0)
