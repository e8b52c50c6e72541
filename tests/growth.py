"""Assertions on how work grows with its input, counted in executed lines of Python: the same on every machine."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import FrameType
from typing import Any, Final

import spanwise

_PACKAGE: Final = spanwise.__path__[0]
_TIMES: Final = 4
_SLACK: Final = 1.35  # a document four times as long has a few blocks, chunks or rows more than four times as many
_FIXED: Final = 500  # a constant number of lines, whatever the input


def lines_of(work: Callable[[], object]) -> int:
    """Return how many lines of this package `work` executes; a one-line loop counts once per iteration."""
    count = 0

    def local(_frame: FrameType, event: str, _argument: Any) -> Any:
        nonlocal count
        count += event == "line"
        return local

    def called(frame: FrameType, _event: str, _argument: Any) -> Any:
        return local if frame.f_code.co_filename.startswith(_PACKAGE) else None

    before = sys.gettrace()
    sys.settrace(called)
    try:
        work()
    finally:
        sys.settrace(before)
    return count


def assert_linear(work: Callable[[int], object], size: int) -> None:
    """Fail if input four times as large takes much more than four times the lines."""
    work(size)  # loading and caching happen once and are not growth
    small, large = (lines_of(lambda many=many: work(many)) for many in (size, size * _TIMES))  # type: ignore[misc]
    assert large > 2 * small, f"{small:,} lines, then {large:,}: this work is not done in Python, and can't be counted"
    assert large <= small * _TIMES * _SLACK + _FIXED, f"{small:,} lines, then {large:,}"
