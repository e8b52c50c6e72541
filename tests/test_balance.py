"""The cuts of `fixed` compared with a second, plain implementation of its definition."""

from __future__ import annotations

from itertools import combinations, pairwise
from math import ceil
from typing import Any

from hypothesis import assume, given
from hypothesis import strategies as st

import spanwise

MOST, TARGET, LEAST = 30, 20, 4
TOLERATED = range(16, 25)  # 0.8 to 1.2 of target
OPTIONS: dict[str, Any] = {
    "max_tokens": MOST,
    "target_tokens": TARGET,
    "min_tokens": LEAST,
    "overlap_ratio": 0,
}


def expected_ends(sizes: list[int]) -> list[int]:
    """Return the token counts at which a run of paragraphs is cut, including its end."""
    ends = [sum(sizes[: index + 1]) for index in range(len(sizes))]
    total, allowed = ends[-1], ends[:-1]
    number = ceil(total / min(MOST, 1.1 * TARGET))
    cuts = set()
    for share in range(1, number):
        wanted = total * share / number
        before = max((end for end in allowed if end <= wanted), default=None)
        after = min((end for end in allowed if end >= wanted), default=None)
        if before is None or after is None:
            cuts |= {end for end in (before, after) if end is not None}
        else:
            cuts.add(before if after - wanted > wanted - before + 0.1 * TARGET else after)
    return [*sorted(cuts), total]


@given(st.lists(st.integers(1, 14), min_size=1, max_size=40))
def test_cuts_are_the_boundaries_nearest_to_equal_shares(sizes: list[int]) -> None:
    ends = expected_ends(sizes)
    cores = [end - start for start, end in pairwise([0, *ends])]
    assume(all(core in TOLERATED for core in cores))  # else another number of chunks may be better
    text = "\n\n".join(" ".join(["word"] * size) for size in sizes)
    chunks = spanwise.chunk(spanwise.read_text(text), "fixed", "words", **OPTIONS)
    assert [chunk.token_count for chunk in chunks] == cores


@given(st.lists(st.integers(2, 14), min_size=8, max_size=40))
def test_sentences_of_a_long_paragraph_are_balanced_the_same_way(sizes: list[int]) -> None:
    assume(sum(sizes) > MOST)
    ends = expected_ends(sizes)
    cores = [end - start for start, end in pairwise([0, *ends])]
    assume(all(core in TOLERATED for core in cores))
    text = " ".join(" ".join(["The", *["word"] * (size - 1)]) + "." for size in sizes)
    chunks = spanwise.chunk(spanwise.read_text(text), "fixed", "words", **OPTIONS)
    assert [chunk.token_count for chunk in chunks] == cores


@given(st.lists(st.integers(1, 14), min_size=2, max_size=9))
def test_no_chunk_is_outside_the_tolerated_sizes_where_the_boundaries_allow_it(sizes: list[int]) -> None:
    assume(sum(sizes) > 1.1 * TARGET)
    divisions = (
        [sum(sizes[first:last]) for first, last in pairwise((0, *cuts, len(sizes)))]
        for number in range(1, len(sizes))
        for cuts in combinations(range(1, len(sizes)), number)
    )
    possible = any(all(size in TOLERATED for size in division) for division in divisions)
    text = "\n\n".join(" ".join(["word"] * size) for size in sizes)
    found = [chunk.token_count for chunk in spanwise.chunk(spanwise.read_text(text), "fixed", "words", **OPTIONS)]
    assert all(size in TOLERATED for size in found) == possible or (found == [sum(sizes)] and not possible)
