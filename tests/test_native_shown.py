"""Visible text of a page: compiled and Python versions agree."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spanwise.native import compiled, plain
from spanwise.testing.made_markdown import markdown

SIGNS = "ab字🐢é \t\n\r\x1e\x1e\x1c\x85\u00a0\u3000\u200b"
LIMITS = st.sampled_from([0, 1, 2, 3, 7, 20, 100, 1000])
TAGS = ["Paragraph", "Strong", "Link", "Image", {"Image": {}}, {"Link": {}}, {"Heading": {}}, "Emphasis", "Item"]
EVENTS = st.one_of(
    st.sampled_from(["SoftBreak", "HardBreak", "Rule", {"TaskListMarker": True}, {"InlineHtml": "<br/>"}]),
    st.sampled_from([{"InlineHtml": "<b>"}, {"InlineHtml": "<"}, {"Html": "<p>"}, {"Text": ""}, {"Code": ""}]),
    st.builds(lambda name, words: {name: words}, st.sampled_from(["Text", "Code"]), st.text(SIGNS, max_size=8)),
    st.builds(lambda name, tag: {name: tag}, st.sampled_from(["Start", "End"]), st.sampled_from(TAGS)),
)


@given(st.text(SIGNS, max_size=60) | st.text(), LIMITS)
def test_white_space_is_collapsed_alike(text: str, limit: int) -> None:
    assert compiled.collapsed(text, limit) == plain.collapsed(text, limit)


@given(
    st.lists(st.sampled_from([*"ab1½_字`[]()\\<>&|~!*^ \t\n", "`a b`", "[a](b)", "word ", "\n\n"]), max_size=40).map(
        "".join
    )
    | st.text()
    | markdown(),
    LIMITS,
)
def test_plain_words_are_found_alike(text: str, limit: int) -> None:
    assert compiled.plain_words(text, limit) == plain.plain_words(text, limit)


def test_every_character_is_as_plain() -> None:
    for sign in map(chr, [*range(0x3100), *range(0xD7F0, 0xD810), *range(0xFF00, 0x10000), 0x1F422, 0x1D7D8]):
        for text in (sign, f"a{sign}b", f"[{sign}](a{sign})", f"`{sign}a`", f"a\n{sign}a"):
            assert compiled.plain_words(text, 9) == plain.plain_words(text, 9), text


@given(st.lists(EVENTS, max_size=30), LIMITS, st.booleans())
def test_words_of_any_events_are_alike(events: list[Any], limit: int, described: bool) -> None:
    assert compiled.words_of(events, limit, described) == plain.words_of(events, limit, described)


@pytest.mark.slow
@given(markdown(), LIMITS)
def test_words_of_markdown_are_alike(text: str, limit: int) -> None:
    import pyromark

    events = list(pyromark.events(text, options=pyromark.Options.ENABLE_TABLES))
    assert compiled.words_of(events, limit, False) == plain.words_of(events, limit, False)


def test_no_more_events_are_asked_for_than_are_shown() -> None:
    for module in (compiled, plain):
        events = iter([{"Text": "a b"}, {"Text": "c"}, {"Text": "d"}])
        assert module.words_of(events, 4, False) == "a bc"
        assert next(events) == {"Text": "d"}


CALLS: list[Callable[[], Any]] = [
    lambda: compiled.collapsed(b"a", 1),  # type: ignore[arg-type]
    lambda: compiled.collapsed("a", "1"),  # type: ignore[arg-type]
    lambda: compiled.collapsed("a", -1),
    lambda: compiled.plain_words(b"a", 1),  # type: ignore[arg-type]
    lambda: compiled.plain_words("a", -1),
    lambda: compiled.words_of(None, 1, False),  # type: ignore[arg-type]
    lambda: compiled.words_of([7], 1, False),
    lambda: compiled.words_of([{}], 1, False),
    lambda: compiled.words_of([{"Start": {}}], 1, False),
    lambda: compiled.words_of([{"End": 7}], 1, False),
    lambda: compiled.words_of((1 // number for number in [0]), 1, False),
]


@pytest.mark.parametrize("call", CALLS)
def test_what_is_no_text_or_event_is_refused(call: Callable[[], Any]) -> None:
    with pytest.raises((TypeError, ValueError, ZeroDivisionError)):
        call()
