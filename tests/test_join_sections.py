"""`join_sections` of `structure`: short sections under one parent in one chunk."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import spanwise
from growth import assert_linear
from spanwise import Chunks
from spanwise.errors import OptionError
from spanwise.testing.examples import EXAMPLES
from spanwise.testing.laws import broken_laws
from spanwise.testing.made_markdown import markdown
from spanwise.text.tokens import tokenizer_of

GUIDE = (
    "# Guide\n\nIntro.\n\n## Install\n\nRun it.\n\n### Linux\n\nUse the package.\n\n```sh\nget it\n```\n\n"
    "### Mac\n\nUse the image.\n\n| disk | size |\n|---|---|\n| C | 20 |\n\n## Use\n\nOpen it.\n"
)


def joined(text: str, target: int, **more: Any) -> Chunks:
    options: dict[str, Any] = {"target_tokens": target, "min_tokens": 0, "overlap_tokens": 0, **more}
    return spanwise.chunk(spanwise.read_text(text), "structure", "words", join_sections=True, **options)


def texts(chunks: Chunks) -> list[str]:
    return [chunk.normalized_text for chunk in chunks]


def test_a_small_document_is_one_chunk_with_its_headings_inside() -> None:
    (chunk,) = joined(GUIDE, 100)
    assert chunk.normalized_text == GUIDE.removeprefix("# Guide\n\n").rstrip()
    assert (chunk.chunk_type, chunk.headings_path) == ("mixed", ("Guide",))


def test_only_sections_under_one_parent_are_joined() -> None:
    found = joined("# A\n\none two\n\n## A1\n\nthree four five\n\n# B\n\nsix seven\n\n## B1\n\neight nine ten\n", 9)
    assert texts(found) == ["one two\n\n## A1\n\nthree four five", "six seven\n\n## B1\n\neight nine ten"]


def test_a_section_is_joined_with_all_that_is_under_it_or_not_at_all() -> None:
    long = "word " * 20
    found = joined(f"# A\n\n## A1\n\none\n\n### Deep\n\n{long}\n\n## A2\n\ntwo\n\n## A3\n\nthree\n", 12)
    assert texts(found) == ["one", long.strip(), "two\n\n## A3\n\nthree"]


def test_up_to_the_target_counted_with_the_headings() -> None:
    text = "".join(f"## S{number}\n\none two three\n\n" for number in range(6))
    assert [chunk.normalized_text.count("##") + 1 for chunk in joined(text, 13)] == [3, 3]
    assert [chunk.normalized_text.count("##") + 1 for chunk in joined(text, 12)] == [2, 2, 2]


def test_no_rule_is_crossed() -> None:
    assert texts(joined("## A\n\none\n\n---\n\ntwo\n\n## B\n\nthree\n", 50)) == ["one", "two", "three"]


def test_a_section_alone_is_as_without_the_option() -> None:
    text = f"## A\n\none\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n## B\n\n{'word ' * 60}\n"
    found = joined(text, 20, max_tokens=30)
    plain = spanwise.chunk(
        spanwise.read_text(text), "structure", "words", target_tokens=20, min_tokens=0, overlap_tokens=0, max_tokens=30
    )
    assert texts(found) == texts(plain)


def test_what_is_never_content_stays_out() -> None:
    (chunk,) = joined("## A\n\none\n\n<!-- no -->\n\n## B\n\ntwo\n", 50)
    assert chunk.normalized_text == "one\n\n## B\n\ntwo"
    assert [piece.role for piece in chunk.pieces] == ["core", "core"]


def test_it_is_an_option_of_structure_alone() -> None:
    with pytest.raises(OptionError, match="join_sections"):
        spanwise.chunk("x", "smart", join_sections=True)  # type: ignore[call-overload]


def test_check_knows_what_may_be_joined() -> None:
    chunks, document = joined(GUIDE, 100), spanwise.read_text(GUIDE)
    options: dict[str, Any] = {"target_tokens": 100, "min_tokens": 0}
    assert [one for one in spanwise.check(chunks, document, **options) if one.level == "violation"] == []
    smaller: dict[str, Any] = {"target_tokens": 10, "min_tokens": 0}
    assert any("sections are never mixed" in one.reason for one in spanwise.check(chunks, document, **smaller))


@EXAMPLES
@given(markdown(), st.sampled_from((16, 40, 300)), st.sampled_from(("plain", "path")))
def test_laws(text: str, size: int, template: str) -> None:
    document = spanwise.read_text(text)
    sizes: dict[str, Any] = {"max_tokens": size, "template": template, "join_sections": True}
    chunks = spanwise.chunk(document, "structure", **sizes)
    records = [chunk.to_dict() for chunk in chunks]
    assert broken_laws(document, records, tokenizer_of("cl100k"), size, may_hold={"heading"}) == []
    assert [one for one in spanwise.check(chunks, document, **sizes) if one.level == "violation"] == []


def test_linear() -> None:
    assert_linear(lambda size: joined("# A\n\n## B\n\nsome words\n\n### C\n\nmore\n\n" * size, 30), 100)


def test_other_strategies_may_not_hold_headings() -> None:
    (chunk,) = joined(GUIDE, 100)
    record = chunk.to_dict() | {"strategy": "smart"}
    found = spanwise.check([record], spanwise.read_text(GUIDE))
    assert any("takes in a heading" in one.reason for one in found)
