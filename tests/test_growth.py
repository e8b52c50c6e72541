"""The growth assertion detects quadratic work."""

from __future__ import annotations

import pytest

from growth import assert_linear
from spanwise import Span, read_text


def test_linear_work_passes() -> None:
    assert_linear(lambda size: read_text("a\n\n" * size), 100)


def test_quadratic_work_fails() -> None:
    def work(size: int) -> None:
        for start in range(size):
            [Span(start, end) for end in range(start + 1, size)]

    with pytest.raises(AssertionError, match="lines, then"):
        assert_linear(work, 100)
