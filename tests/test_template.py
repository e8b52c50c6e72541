"""Prefixes counted in one pass are those counted one by one."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spanwise.chunking.template import Template
from spanwise.text.tokens import counted_lines, tokenizer_of

NAMES = st.text("ab /'ż字.\t\n>", max_size=6) | st.sampled_from(["Title", "Internationalization", "a " * 60, "'s"])
PATHS = st.lists(st.lists(NAMES, max_size=4).map(tuple), max_size=6)


@pytest.mark.parametrize("name", ["cl100k", "o200k", "approx"])
@given(PATHS, NAMES, st.sampled_from(["path", "breadcrumb", "tags"]), st.sampled_from([16, 40, 900]))
def test_prefixes_counted_at_once_are_those_counted_one_by_one(
    name: str, paths: list[tuple[str, ...]], title: str, template: str, limit: int
) -> None:
    options, tokenizer = SimpleNamespace(template=template, max_heading_levels=3), tokenizer_of(name)
    at_once, one_by_one = (Template(options, title, tokenizer, limit) for _ in range(2))
    at_once.count_at_once(paths)
    for path in paths:
        prefix, tokens = at_once.prefix(path)
        assert (prefix, tokens) == one_by_one.prefix(path)
        assert tokens == (tokenizer.count(prefix) if prefix else 0)


@pytest.mark.parametrize("name", ["cl100k", "o200k"])
@given(st.lists(NAMES.map(lambda line: line.replace("\n", "") + "\n")))
def test_lines_are_counted_exactly_or_not_at_all(name: str, lines: list[str]) -> None:
    tokenizer = tokenizer_of(name)
    assert counted_lines(lines, tokenizer) in ([], [tokenizer.count(line) for line in lines])
