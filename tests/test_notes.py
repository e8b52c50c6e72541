"""Linked notes (Obsidian): what the Markdown reader recognises, what it must not, and typed sections."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import spanwise
from growth import assert_linear
from spanwise import Block, Chunk, Document, Link
from spanwise.testing.document_laws import assert_document
from spanwise.testing.laws import broken_laws
from spanwise.text.tokens import tokenizer_of


def read(text: str, **metadata: Any) -> Document:
    """Read Markdown and check the document laws."""
    document = spanwise.read_text(text, **metadata)
    assert_document(document)
    return document


def text_of(document: Document, block: Block) -> str:
    return document.text[block.start : block.end]


def kinds(text: str) -> list[str]:
    return [block.kind for block in read(text).blocks]


def types(text: str) -> list[str | None]:
    """Return the section type of every block."""
    return [block.section_type for block in read(text).blocks]


def ids(text: str) -> list[str | None]:
    """Return the block id of every block."""
    return [block.block_id for block in read(text).blocks]


def links(text: str) -> list[tuple[str, str | None, str | None]]:
    """Return target, heading and block id of every link."""
    return [(link.target, link.heading, link.block_id) for link in read(text).metadata.links]


def labels(text: str) -> set[str]:
    found = read(text).metadata.labels
    assert len(found) == len(set(found)), f"a label twice: {found}"
    return set(found)


def comments(text: str) -> list[str]:
    document = read(text)
    return [text_of(document, block) for block in document.blocks if block.kind == "comment"]


def content(text: str) -> list[tuple[str, str]]:
    """Return the kind and the text of every content block."""
    document = read(text)
    left_out = {"comment", "front_matter", "definition"}
    return [(block.kind, text_of(document, block)) for block in document.blocks if block.kind not in left_out]


def chunks(text: str, strategy: Any, **options: Any) -> tuple[Chunk, ...]:
    """Chunk Markdown and check all laws."""
    document = read(text)
    found = spanwise.chunk(document, strategy, "words", **options)
    records = [chunk.to_dict() for chunk in found]
    assert not broken_laws(document, records, tokenizer_of("words"), options.get("max_tokens"))
    return found


def visible_text(text: str) -> str:
    """Return the visible text."""
    fragment = chunks(text, "window")[0].to_dict()["navigation"]["highlight_metadata"]["text_fragment"]
    assert isinstance(fragment, str)
    return fragment


# ── callouts and section types ───────────────────────────────────────────────────────────────────────────────────

FACT = "> [!section] fact"
VIEW = "> [!section] view"
PLAN = "> [!section] plan"


def note(*blocks: str) -> str:
    return "\n\n".join(blocks)


def test_a_callout_is_a_quote_and_its_kind_is_no_section_type() -> None:
    text = note("## One", "> [!warning]- Mind the gap\n> It is wide.\n>\n> - And deep.", "Text.")
    assert kinds(text) == ["heading", "quote", "paragraph"]
    assert types(text) == [None, None, None]


def test_a_type_holds_from_its_heading_to_the_next_of_its_level() -> None:
    text = note("Before.", "## One", "Text.", FACT, "Text.", "## Two", "Text.")
    assert types(text) == [None, "fact", "fact", "fact", "fact", None, None]
    assert kinds(text)[3] == "quote"


def test_a_callout_may_have_a_body() -> None:
    assert types(note("## One", f"{FACT}\n> Said by many.\n>\n> And often.", "Text.")) == ["fact"] * 3


@pytest.mark.parametrize("level", [1, 2])
@pytest.mark.parametrize("closing", [1, 2])
def test_headings_of_level_one_and_two_end_every_type(level: int, closing: int) -> None:
    text = note("#" * level + " One", FACT, "### Deeper", "Text.", "#" * closing + " Two", "Text.")
    assert types(text) == ["fact"] * 4 + [None] * 2


@pytest.mark.parametrize(
    ("level", "closing", "after"),
    [
        (3, 1, None), (3, 2, None), (3, 3, None), (3, 4, "fact"), (3, 6, "fact"),
        (4, 1, None), (4, 2, None), (4, 3, None), (4, 4, None), (4, 5, "fact"), (6, 6, None), (6, 5, None),
        (1, 3, "fact"), (2, 3, "fact"),
    ],
)  # fmt: skip
def test_a_type_ends_at_a_heading_that_is_not_deeper(level: int, closing: int, after: str | None) -> None:
    text = note("#" * level + " One", FACT, "#" * closing + " Two", "Text.")
    assert types(text) == ["fact", "fact", after, after]


def test_the_outer_type_holds_again_when_an_inner_one_ends() -> None:
    text = note("## One", FACT, "### Two", VIEW, "#### Deep", "Text.", "### Three", "Text.", "## Four", "Text.")
    assert types(text) == ["fact"] * 2 + ["view"] * 4 + ["fact"] * 2 + [None] * 2


def test_three_types_inside_each_other() -> None:
    text = note("## A", FACT, "### B", VIEW, "#### C", PLAN, "Text.", "#### D", "Text.", "### E", "Text.", "## F")
    assert types(text) == ["fact"] * 2 + ["view"] * 2 + ["plan"] * 3 + ["view"] * 2 + ["fact"] * 2 + [None]


def test_an_inner_heading_without_a_type_has_the_outer_one() -> None:
    assert types(note("## One", FACT, "### Two", "Text.", "### Three", VIEW)) == ["fact"] * 4 + ["view"] * 2


def test_the_inner_range_holds_from_its_own_heading_on() -> None:
    text = note("## One", FACT, "### Two", "Text between.", VIEW, "Text.")
    assert types(text) == ["fact"] * 2 + ["view"] * 4


def test_a_second_callout_under_one_heading_holds_from_itself() -> None:
    text = note("## One", FACT, "Text.", VIEW, "Text.", "### Deeper", "Text.", "## Two")
    assert types(text) == ["fact"] * 3 + ["view"] * 4 + [None]


def test_a_third_callout_under_one_heading_holds_from_itself() -> None:
    assert types(note("## One", FACT, VIEW, PLAN, "Text.")) == ["fact", "fact", "view", "plan", "plan"]


def test_a_second_callout_under_an_inner_heading_ends_with_it() -> None:
    text = note("## One", FACT, "### Two", VIEW, "Text.", PLAN, "Text.", "### Three", "Text.")
    assert types(text) == ["fact"] * 2 + ["view"] * 3 + ["plan"] * 2 + ["fact"] * 2


def test_after_an_inner_range_the_latest_outer_type_holds() -> None:
    text = note("## One", FACT, "Text.", VIEW, "Text.", "### Two", PLAN, "### Three", "Text.")
    assert types(text) == ["fact"] * 3 + ["view"] * 2 + ["plan"] * 2 + ["view"] * 2


def test_a_callout_before_any_heading_holds_from_the_start() -> None:
    text = note("Text.", FACT, "Text.", "## One", "Text.")
    assert types(text) == ["fact"] * 3 + [None] * 2


def test_a_second_callout_before_any_heading_holds_from_itself() -> None:
    assert types(note("Text.", FACT, "Text.", VIEW, "Text.", "# One")) == ["fact"] * 3 + ["view"] * 2 + [None]


def test_a_type_without_a_heading_goes_on_under_deeper_ones() -> None:
    """Only levels 1 and 2 end it: there is no heading whose level another could have."""
    assert types(note(FACT, "### One", "Text.", "## Two", "Text.")) == ["fact"] * 3 + [None] * 2


def test_the_same_type_again_changes_nothing() -> None:
    assert types(note("## One", FACT, "Text.", FACT, "Text.")) == ["fact"] * 5


def test_types_of_underlined_headings() -> None:
    assert types(note("One\n===", FACT, "Text.", "Two\n---", "Text.")) == ["fact"] * 3 + [None] * 2


@pytest.mark.parametrize(
    "callout",
    [
        "> [!section] fact", ">[!section] fact", "> [!SECTION] fact", "> [!Section] fact", "   > [!section] fact",
        "> [!section]  fact  ", "> [!section]- fact", "> [!section]+ fact",
    ],
)  # fmt: skip
def test_ways_to_write_the_callout(callout: str) -> None:
    assert types(note("## One", callout, "Text.")) == ["fact"] * 3


@pytest.mark.parametrize(
    "other",
    [
        "[!section] fact",
        "> [!sections] fact",
        "> [section] fact",
        "> section: fact",
        "> `[!section] fact`",
        "`> [!section] fact`",
        "```\n> [!section] fact\n```",
        "~~~md\n\n> [!section] fact\n\n~~~",
        "    > [!section] fact",
        "> ```\n> [!section] fact\n> ```",
        "> Said before.\n> [!section] fact",
        "> \\[!section] fact",
        "\\> [!section] fact",
        "<!-- > [!section] fact -->",
        "<!--\n\n> [!section] fact\n\n-->",
        "%%\n\n> [!section] fact\n\n%%",
        "<pre>\n> [!section] fact\n</pre>",
    ],
)
def test_false_section_types(other: str) -> None:
    assert set(types(note("## One", other, "Text."))) == {None}


def test_a_callout_without_a_type_breaks_nothing() -> None:
    assert len(types(note("## One", "> [!section]", "Text.", "> [!section] ", "> []", "Text."))) >= 4


def test_the_chunk_has_the_type_of_its_first_block() -> None:
    found = chunks(note("Text.", "## One", FACT, "Text.", "## Two", VIEW, "Text."), "heading")
    assert [chunk.section_type for chunk in found] == [None, "fact", "view"]
    assert [chunk.to_dict()["section_type"] for chunk in found] == [None, "fact", "view"]


# ── block ids ────────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_block_id_of_a_paragraph() -> None:
    document = read("First. ^one\n\nSecond line,\nand third. ^a-2\n\nNone.")
    assert [block.block_id for block in document.blocks] == ["one", "a-2", None]
    assert text_of(document, document.blocks[0]) == "First. ^one"


def test_a_block_id_of_a_heading_is_no_part_of_its_name() -> None:
    document = read("## Aims of it ^aims\n\nText.")
    assert [block.block_id for block in document.blocks] == ["aims", None]
    assert document.blocks[1].headings_path == ("Aims of it",)


def test_a_block_id_of_a_list_item() -> None:
    assert ids("- one\n- two ^two\n- three\n\nText.") == ["two", None]


def test_the_first_block_id_of_a_list_counts() -> None:
    assert ids("- one\n  - nested ^first\n- two ^second") == ["first"]


def test_a_block_id_of_a_quote() -> None:
    assert ids("> Said. ^said\n\nText.") == ["said", None]


@pytest.mark.parametrize(
    "block",
    ["| a | b |\n|---|---|\n| 1 | 2 |", "- one\n- two", "> Said.", "```\ncode\n```"],
    ids=["table", "list", "quote", "code"],
)
def test_a_block_id_on_a_line_of_its_own_names_the_block_before(block: str) -> None:
    document = read(f"{block}\n\n^t-1\n\nText.")
    assert document.blocks[0].block_id == "t-1"
    assert document.blocks[-1].block_id is None


@pytest.mark.parametrize(
    "text",
    [
        "x^2",
        "Two to the ^2 is four.",
        "First line ^one\nand on.",
        "Text `code ^one`",
        "Text `^one`",
        "```\ncode ^one\n```",
        "```\n^one\n```",
        "- item\n\n  ```\n  code ^one\n  ```\n- two",
        "> ```\n> code ^one\n> ```\n> Said.",
        "    code ^one",
        "A note.[^1]\n\n[^1]: Said.",
        "https://example.org/a^one",
        "https://example.org/^one",
        "Text ^",
        "Text ^ one",
        "Text ^one.",
        "Text \\^one",
        "Text [^one]",
        "Text ^one two",
        "$x ^2$",
    ],
)
def test_false_block_ids(text: str) -> None:
    assert set(ids(text)) == {None}


def test_the_chunk_has_the_first_block_id_of_its_core() -> None:
    text = note("## One", "Text. ^first", "Text. ^second", "## Two", "Text.")
    found = chunks(text, "heading", strict=True)
    assert [chunk.block_id for chunk in found] == ["first", None]
    assert chunks(text, "window")[0].to_dict()["block_id"] == "first"


def test_each_part_of_a_list_has_the_first_block_id_of_its_own_items() -> None:
    text = "\n".join(f"- one two three ^{name}" for name in "abcdef")
    found = chunks(text, "heading", max_tokens=16, template="plain")
    assert [chunk.normalized_text[-1] for chunk in found] == ["c", "f"]
    assert [chunk.block_id for chunk in found] == ["a", "d"]


# ── links ────────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("text", "link"),
    [
        ("[[Note]]", ("Note", None, None)),
        ("[[Folder/My note]]", ("Folder/My note", None, None)),
        ("[[Note|alias]]", ("Note", None, None)),
        ("[[Note#Heading]]", ("Note", "Heading", None)),
        ("[[Note#Heading of it|alias]]", ("Note", "Heading of it", None)),
        ("[[Note#^block]]", ("Note", None, "block")),
        ("[[Note#^block|alias]]", ("Note", None, "block")),
        ("[[Note#Section^id]]", ("Note", "Section", "id")),
        ("[[Note#Section^id|alias]]", ("Note", "Section", "id")),
        ("[[#Heading]]", ("", "Heading", None)),
        ("[[#^block]]", ("", None, "block")),
        ("![[Note]]", ("Note", None, None)),
        ("![[image.png|300]]", ("image.png", None, None)),
        ("![[Note#Heading]]", ("Note", "Heading", None)),
        ("![[Note#^block]]", ("Note", None, "block")),
        ("[[Größe/日本語 メモ#見出し^a-1|別名]]", ("Größe/日本語 メモ", "見出し", "a-1")),
    ],
)
def test_wiki_links(text: str, link: tuple[str, str | None, str | None]) -> None:
    assert links(text) == [link]
    assert links(f"Before {text}, after.") == [link]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[[Note|the alias]]", "the alias"),
        ("[[Note#Heading|the alias]]", "the alias"),
        ("[[Note#^block|the alias]]", "the alias"),
        ("[[Note#Section^id|the alias]]", "the alias"),
        ("[[Note]]", "Note"),
    ],
)
def test_the_text_of_a_wiki_link(text: str, words: str) -> None:
    assert [link.text for link in read(text).metadata.links] == [words]


def test_a_link_stays_text() -> None:
    (chunk,) = chunks("See [[Note#Section^id|alias]] and ![[Other]].", "heading")
    assert chunk.normalized_text == "See [[Note#Section^id|alias]] and ![[Other]]."


def test_links_of_both_kinds_in_their_order() -> None:
    document = read(
        "[[A]] and [b](b.md), then [[C|c]].\n\n- [[D]]\n\n> [[E]]\n\n## [[F]]\n\n| [[G]] |\n|---|\n| [[H]] |"
    )
    assert [link.target for link in document.metadata.links] == ["A", "b.md", "C", "D", "E", "F", "G", "H"]
    assert document.metadata.links[1] == Link("b.md", "b")


def test_a_wiki_link_in_a_table_has_its_bar_escaped() -> None:
    document = read("| a | b |\n|---|---|\n| [[Note#Part\\|alias]] | 2 |")
    assert document.metadata.links == (Link("Note", "alias", "Part"),)
    assert [block.kind for block in document.blocks] == ["table"]
    assert links("| a |\n|---|\n| [[Note\\|alias]] |") == [("Note", None, None)]
    assert links("| a |\n|---|\n| [[Note#^id\\|alias]] |") == [("Note", None, "id")]


def test_links_are_in_the_record() -> None:
    (chunk,) = chunks("[[Note#Section^id|alias]]", "heading")
    want = {"target": "Note", "text": "alias", "heading": "Section", "block_id": "id"}
    assert chunk.to_dict()["metadata"]["links"] == [want]


def test_links_that_are_given_win() -> None:
    assert read("[[Note]]", links=[Link("x", "y")]).metadata.links == (Link("x", "y"),)


@pytest.mark.parametrize(
    "text",
    [
        "`[[Note]]`",
        "`` a [[Note]] b ``",
        "```\n[[Note]]\n```",
        "~~~\n[[Note]]\n\n[[Note]]\n~~~",
        "    [[Note]]",
        "[[Note",
        "[[Note]",
        "[[]]",
        "[[ ]]",
        "[[|alias]]",
        "[Note]",
        "[ [Note] ]",
        "Note]]",
        "[[First\n\nSecond]]",
        "<!-- [[Note]] -->",
        "%% [[Note]] %%",
        "%%\n[[Note]]\n%%",
        "\\[\\[Note\\]\\]",
        '<a href="[[Note]]">x</a>',
    ],
)
def test_false_wiki_links(text: str) -> None:
    assert links(text) == []


# ── tags ─────────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("#work", {"work"}),
        ("Text #work and #home.", {"work", "home"}),
        ("#work #work", {"work"}),
        ("(#work)", {"work"}),
        ("#project/alpha", {"project/alpha"}),
        ("#to-do #to_do", {"to-do", "to_do"}),
        ("#größe #задача #仕事", {"größe", "задача", "仕事"}),
        ("#2024-plan #y2024", {"2024-plan", "y2024"}),
        ("- item #work", {"work"}),
        ("> said #work", {"work"}),
        ("| a |\n|---|\n| #work |", {"work"}),
        ("## Aims #work", {"work"}),
        ("#work, #home; #garden!", {"work", "home", "garden"}),
    ],
)
def test_tags(text: str, found: set[str]) -> None:
    assert labels(text) == found


@pytest.mark.parametrize(
    "text",
    [
        "# Heading",
        "## Heading",
        "#",
        "# ",
        "#2024",
        "#1",
        "a#b",
        "C# and F#",
        "## #",
        "`#work`",
        "```\n#work\n```",
        "~~~sh\n# comment\n#work\n~~~",
        "- item\n\n  ```\n  #work\n  ```",
        "> ```\n> #work\n> ```",
        "`two lines\n#work`",
        "    #work",
        "https://example.org/#work",
        "https://example.org/a#work",
        "<https://example.org/#work>",
        "[text](#work)",
        "[text](https://example.org/#work)",
        "![image](a.png#work)",
        "[[Note#work]]",
        "[[#work]]",
        "![[Note#work|x]]",
        "&#39; &#x27;",
        "\\#work",
        '<a href="#work">text</a>',
        '<div style="color: #abc">\ntext\n</div>',
        "<!-- #work -->",
        "%% #work %%",
        "%%\n#work\n%%",
        "[x]: #work",
    ],
)
def test_false_tags(text: str) -> None:
    assert labels(text) == set()


def test_labels_that_are_given_win() -> None:
    assert read("---\ntags: [a]\n---\n\n#b", labels=["c"]).metadata.labels == ("c",)


def test_tags_of_front_matter_and_text_come_together() -> None:
    assert labels("---\ntags: [work, home]\n---\n\nText #work #garden") == {"work", "home", "garden"}


def test_a_tag_at_the_start_of_a_line_is_text_and_no_heading() -> None:
    assert content("#work\n\nText.") == [("paragraph", "#work"), ("paragraph", "Text.")]


# ── what is shown ────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("A ==very good== day.", "A very good day."),
        ("See [[Note|the note]] now.", "See the note now."),
        ("See [[Note]] now.", "See Note now."),
        ("A fact. ^id", "A fact."),
        ("Seen %%not seen%% again.", "Seen again."),
        ("a == b and c == d", "a == b and c == d"),
        ("`==a==` and `[[b]]` and `%%c%%`", "==a== and [[b]] and %%c%%"),
        ("Text #work.", "Text #work."),
    ],
)
def test_the_page_shows_text_without_its_marks(text: str, words: str) -> None:
    assert " ".join(visible_text(text).split()) == words


@pytest.mark.parametrize(
    ("heading", "name"),
    [
        ("## The ==new== plan", "The new plan"),
        ("## About [[Note|the note]]", "About the note"),
        ("## About [[Note]]", "About Note"),
        ("## Plan ^plan", "Plan"),
        ("## Plan %%draft%%", "Plan"),
        ("## `==a==`", "==a=="),
    ],
)
def test_names_of_headings_are_what_is_shown(heading: str, name: str) -> None:
    assert read(heading).blocks[0].headings_path == (name,)


def test_a_highlight_stays_text() -> None:
    assert content("A ==very good== day.") == [("paragraph", "A ==very good== day.")]


# ── comments ─────────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_comment_on_lines_of_its_own() -> None:
    assert comments("Before.\n\n%%\nhidden\n%%\n\nAfter.") == ["%%\nhidden\n%%"]
    assert content("Before.\n\n%%\nhidden\n%%\n\nAfter.") == [("paragraph", "Before."), ("paragraph", "After.")]


def test_a_comment_on_one_line() -> None:
    assert comments("Before.\n\n%% hidden %%\n\nAfter.") == ["%% hidden %%"]


def test_a_comment_over_several_paragraphs() -> None:
    hidden = "%%\nfirst\n\n## No heading\n\n- no list\n\nlast\n%%"
    assert "".join(comments(f"## One\n\nBefore.\n\n{hidden}\n\nAfter.")).count("no list") == 1
    assert content(f"## One\n\nBefore.\n\n{hidden}\n\nAfter.") == [
        ("heading", "## One"),
        ("paragraph", "Before."),
        ("paragraph", "After."),
    ]
    assert read(f"## One\n\n{hidden}\n\nAfter.").blocks[-1].headings_path == ("One",)


def test_a_comment_that_begins_and_ends_with_text() -> None:
    assert content("Before.\n\n%%first\n\nlast%%\n\nAfter.") == [("paragraph", "Before."), ("paragraph", "After.")]


def test_two_comments() -> None:
    text = "%%\none\n%%\n\nBetween.\n\n%%\ntwo\n%%\n\nAfter."
    assert content(text) == [("paragraph", "Between."), ("paragraph", "After.")]
    assert comments(text) == ["%%\none\n%%", "%%\ntwo\n%%"]


def test_a_comment_in_a_paragraph_is_part_of_it() -> None:
    assert kinds("Before %%hidden%% after.") == ["paragraph"]
    assert kinds("Before %%hidden\nstill%% after.") == ["paragraph"]


def test_a_comment_in_a_list_leaves_the_list_whole() -> None:
    assert kinds("- one\n- two %%hidden%%\n- three") == ["list"]
    assert kinds("- one\n\n  %%\n  hidden\n  %%\n\n- two\n\nText.")[0] == "list"
    assert kinds("- one\n\n  %%\n  hidden\n  %%\n\n- two\n\nText.")[-1] == "paragraph"


@pytest.mark.parametrize(
    "text",
    [
        "```\n%%\ncode\n%%\n```",
        "~~~\n%%\n\ncode\n\n%%\n~~~",
        "    %%\n    code\n    %%",
        "`%%` and `%%`",
        "`%%`\n\nText.\n\n`%%`",
        "Done to 100%% of it, 50%% of that.",
        "https://example.org/a%%b%%c",
        "\\%\\%\n\nText.\n\n\\%\\%",
        "%\n\nText.\n\n%",
        "% %\n\nText.\n\n% %",
    ],
)
def test_false_comments(text: str) -> None:
    assert comments(text) == []


def test_code_in_a_comment_is_comment() -> None:
    assert content("%%\n```\ncode\n```\n%%\n\nAfter.") == [("paragraph", "After.")]


def test_a_comment_mark_in_code_opens_nothing() -> None:
    text = "```\n%%\n```\n\nText.\n\n```\n%%\n```"
    assert kinds(text) == ["code", "paragraph", "code"]


def test_an_open_comment_loses_nothing() -> None:
    for text in ("Before.\n\n%%\n\nAfter.", "%%", "%%%", "%%%%", "Before. %%\n\nAfter.", "- a\n- %%\n\nAfter."):
        read(text)


def test_a_comment_is_in_no_chunk() -> None:
    text = "## One\n\nBefore.\n\n%%\nhidden\n%%\n\nAfter."
    for strategy in ("heading", "window", "structure", "fixed"):
        assert all("hidden" not in chunk.full_text for chunk in chunks(text, strategy))


# ── front matter ─────────────────────────────────────────────────────────────────────────────────────────────────


def test_front_matter() -> None:
    document = read("""---
title: The plan
aliases: [Plan, The great plan]
tags:
  - work
  - project/alpha
updated: 2026-01-25T17:47:22+01:00
id: note-7
author: Ann
---

# Another title
""")
    assert [block.kind for block in document.blocks] == ["front_matter", "heading"]
    assert document.metadata.title == "The plan"
    assert set(document.metadata.labels) == {"work", "project/alpha"}
    assert document.metadata.updated_at is not None
    assert datetime.fromisoformat(document.metadata.updated_at) == datetime.fromisoformat("2026-01-25T17:47:22+01:00")
    assert document.metadata.extra["aliases"] == ["Plan", "The great plan"]
    assert document.metadata.extra["id"] == "note-7"
    assert document.metadata.document_id == "note-7"


@pytest.mark.parametrize(
    ("lines", "found"),
    [
        ("tags: [work, home]", {"work", "home"}),
        ("tags:\n  - work\n  - home", {"work", "home"}),
        ("tags:\n- work\n- home", {"work", "home"}),
        ("tags: work", {"work"}),
        ("tags: work, home", {"work", "home"}),
        ("tags: work home", {"work", "home"}),
        ('tags: "#work"', {"work"}),
        ('tags: ["#work", home]', {"work", "home"}),
        ('tags: "#work #home"', {"work", "home"}),
        ("tags: [work, work]", {"work"}),
        ("tags: []", set()),
        ("tags:", set()),
        ('tags: ""', set()),
        ("tags: [work, null]", {"work"}),
    ],
)
def test_tags_of_front_matter(lines: str, found: set[str]) -> None:
    assert labels(f"---\n{lines}\n---\n\nText.") == found


@pytest.mark.parametrize(
    ("lines", "aliases"),
    [
        ("aliases: [One, Two]", ["One", "Two"]),
        ("aliases:\n  - One\n  - Two", ["One", "Two"]),
        ("aliases: One", ["One"]),
    ],
)
def test_aliases(lines: str, aliases: list[str]) -> None:
    assert read(f"---\n{lines}\n---\n\nText.").metadata.extra["aliases"] == aliases


@pytest.mark.parametrize("key", ["updated", "modified", "date"])
@pytest.mark.parametrize(
    ("value", "stamp"),
    [
        ("2026-01-25", "2026-01-25"),
        ('"2026-01-25"', "2026-01-25"),
        ("2026-01-25T17:47:22", "2026-01-25T17:47:22"),
        ("2026-01-25 17:47:22", "2026-01-25T17:47:22"),
        ("2026-01-25T17:47:22Z", "2026-01-25T17:47:22+00:00"),
        ('"2026-01-25T17:47:22+01:00"', "2026-01-25T17:47:22+01:00"),
    ],
)
def test_dates(key: str, value: str, stamp: str) -> None:
    found = read(f"---\n{key}: {value}\n---\n\nText.").metadata.updated_at
    assert found is not None
    assert datetime.fromisoformat(found) == datetime.fromisoformat(stamp)


@pytest.mark.parametrize("value", ["2026-13-45", "tomorrow", "[]", "{}", "null", "''", "12", "true", "0000-00-00"])
def test_a_date_that_is_none_is_left_out(value: str) -> None:
    found = read(f"---\ntitle: Plan\nupdated: {value}\n---\n\nText.").metadata
    assert found.updated_at is None


def test_the_last_change_goes_before_the_beginning() -> None:
    text = "---\ncreated: 2020-01-01\ndate: 2021-01-01\nupdated: 2026-01-25\n---\n\nText."
    assert str(read(text).metadata.updated_at).startswith("2026-01-25")


def test_what_is_given_wins() -> None:
    text = "---\ntitle: Plan\nupdated: 2026-01-25\nid: note-7\ntags: [a]\n---\n\nText."
    given_ = {"title": "Mine", "updated_at": "2020-01-01", "document_id": "my-id", "labels": ("b",)}
    found = read(text, **given_).metadata
    assert {name: getattr(found, name) for name in given_} == given_


def test_an_id_names_the_document_only_without_a_source() -> None:
    text = "---\nid: note-7\n---\n\nText."
    assert read(text).metadata.document_id == "note-7"
    for source in ({"file_path": "a.md"}, {"source_url": "https://example.org/a"}):
        found = read(text, **source).metadata
        assert found.document_id == read("Other text.", **source).metadata.document_id
        assert found.extra["id"] == "note-7"


def test_extra_that_is_given_is_kept() -> None:
    found = read("---\nid: note-7\naliases: [A]\n---\n\nText.", extra={"reader": 4, "id": "mine"}).metadata.extra
    assert found["reader"] == 4
    assert found["id"] == "mine"


@pytest.mark.parametrize(
    ("line", "title"),
    [
        ("title: Plan", "Plan"),
        ('title: "Plan: the second"', "Plan: the second"),
        ("title: 'It''s'", "It's"),
        ('title: "A \\"good\\" plan"', 'A "good" plan'),
        ("title: Plan # not said", "Plan"),
        ("title: null", "Heading"),
        ("title: 2026", "2026"),
        ("title: >-\n  Two\n  lines", "Two lines"),
        ("title:", "Heading"),
        ('title: ""', "Heading"),
        ("title: [a, b]", "Heading"),
        ("title: {a: b}", "Heading"),
        ("other: x", "Heading"),
    ],
)
def test_titles(line: str, title: str) -> None:
    assert read(f"---\n{line}\n---\n\n# Heading").metadata.title == title


def test_front_matter_in_toml() -> None:
    document = read("""+++
title = "The plan"
aliases = ["Plan"]
tags = ["work", "home"]
updated = 2026-01-25T17:47:22Z
id = "note-7"
+++

# Another title
""")
    assert [block.kind for block in document.blocks] == ["front_matter", "heading"]
    assert document.metadata.title == "The plan"
    assert set(document.metadata.labels) == {"work", "home"}
    assert str(document.metadata.updated_at).startswith("2026-01-25")
    assert document.metadata.extra["aliases"] == ["Plan"]
    assert document.metadata.document_id == "note-7"


@pytest.mark.parametrize(
    "lines",
    [
        "title: [unclosed",
        "title: 'unclosed",
        "title: a: b: c",
        "title: Plan\n\tindented: x",
        "title: Plan\n  : x",
        "title: &a *b",
        "key: !!python/object/apply:os.system ['true']",
        "key: !unknown {a: b}",
        "key: @x",
        "key: `x`",
        "a: &a [1]\nb: *a\nc: *missing",
        "title: \"\\ud800\"",
        "title: \"\\x00\"",
        "title: Plan\ntitle: Again",
        "? [a, b]\n: c",
        "<<: {title: Merged}",
        "id: {a: b}",
        "id: [1]",
        "id: 007",
        "id: true",
        "id: ''",
        "id: .nan",
        "aliases: {a: b}",
        "aliases: [1, null, [2]]",
        "tags: {a: b}",
        "tags: [[a], {b: c}, 1, 2.5, true, 2026-01-01]",
        "tags: 12",
        "updated: 99999-01-01",
        "number: 1e999",
        "id: 0x" + "f" * 10_000,
        "title: 0x" + "f" * 10_000,
        "tags: [0x" + "f" * 10_000 + "]",
        "number: " + "9" * 10_000,
        "deep: " + "[" * 2_000 + "]" * 2_000,
        "deep: " + "{a: " * 1_000 + "1" + "}" * 1_000,
        "key: " + "a" * 200_000,
        "\n".join(f"k{number}: v" for number in range(5_000)),
        "- a\n- b",
        "just words",
        "# a comment only",
        "título: café\n名前: 値",
    ],
)  # fmt: skip
def test_front_matter_that_is_broken_or_hostile_stops_nothing(lines: str) -> None:
    document = read(f"---\nauthor: 'Ann'\n{lines}\n---\n\n# Heading\n\nText.")
    assert text_of(document, document.blocks[-1]) == "Text."
    assert document.metadata.document_id
    (chunk, *_) = spanwise.chunk(document, "heading")
    chunk.to_dict()


def test_references_in_front_matter_are_bounded() -> None:
    """Nine lists of nine references each would be 9 ** 9 values."""
    names = "abcdefghi"
    lines = ["a: &a [x, x, x, x, x, x, x, x, x]"]
    lines += [f"{this}: &{this} [{', '.join([f'*{last}'] * 9)}]" for last, this in pairwise(names)]
    for key in ("key", "tags", "aliases", "id", "title"):
        text = "---\n" + "\n".join([*lines, f"{key}: *i"]) + "\n---\n\nText."
        document = read(text)
        assert len(str(spanwise.chunk(document, "heading")[0].to_dict())) < 100_000


@pytest.mark.parametrize(
    "lines", ["title =", "= x", "x", 'tags = ["a"', "id = 0x" + "f" * 10_000, "tags = " + "[" * 9_000]
)
def test_toml_that_is_broken_stops_nothing(lines: str) -> None:
    document = read(f"+++\nauthor = 'Ann'\n{lines}\n+++\n\nText.")
    assert text_of(document, document.blocks[-1]) == "Text."


@pytest.mark.process
@pytest.mark.parametrize(
    "lines",
    ["deep: " + "[" * 30_000 + "]" * 30_000, "deep: " + "[" * 60_000, "deep:\n  " + "- " * 30_000 + "a", "? " * 30_000],
    ids=["closed", "open", "items", "keys"],
)
def test_deeply_nested_front_matter_does_not_end_the_process(lines: str, tmp_path: Path) -> None:
    """A recursive parser in C would crash the process, which no `except` catches: so this runs in another process."""
    path = tmp_path / "note.md"
    path.write_text(f"---\nid: 'n'\n{lines}\n---\n\nText.", encoding="utf-8")
    code = f"import spanwise; print(spanwise.read({str(path)!r}).blocks[-1].kind)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stdout) == (0, "paragraph\n"), done.stderr[-300:]


def test_broken_front_matter_is_still_no_content() -> None:
    assert kinds("---\ntitle: [unclosed\ntags: work\n---\n\nText.") == ["front_matter", "paragraph"]


def test_a_value_that_is_broken_costs_no_other() -> None:
    """The date doesn't exist, which a YAML parser notices only when it constructs the date."""
    document = read("---\ntitle: 'Plan'\nupdated: 2026-02-31\ntags: [work]\nid: note-7\n---\n\nText.")
    assert document.metadata.updated_at is None
    assert document.metadata.title == "Plan"
    assert document.metadata.labels == ("work",)


def test_tags_in_the_front_matters_own_comments_do_not_count() -> None:
    assert labels("---\ntitle: Plan\n#work\n# home\n---\n\nText.") == set()


# ── growth ───────────────────────────────────────────────────────────────────────────────────────────────────────


def chunk_both_ways(text: str) -> None:
    document = spanwise.read_text(text)
    for strategy in ("heading", "window"):
        spanwise.chunk(document, strategy, "words", max_tokens=64)


def nested_types(size: int) -> str:
    levels = [3, 4, 5, 6]
    blocks = [f"{'#' * levels[number % 4]} h\n\n> [!section] t{number}\n\n" for number in range(size // 25 + 1)]
    return "".join(blocks)


def repeated(unit: str) -> Callable[[int], str]:
    return lambda size: unit * (size // len(unit) + 1)


GROWING: dict[str, Callable[[int], str]] = {
    "comment marks": repeated("%%"),
    "comment marks with spaces": repeated("%% "),
    "comment marks on lines": repeated("%%\n"),
    "comment marks in paragraphs": repeated("%%\n\n"),
    "a comment mark a paragraph": repeated("a %% b\n\n"),
    "odd comment marks": repeated("%%%"),
    "comments in items": repeated("- %%\n"),
    "open links": repeated("[["),
    "open links with names": repeated("[[a "),
    "open links with hashes": repeated("[[#^|"),
    "open and one close": lambda size: "[[" * (size // 2) + "]]",
    "links": repeated("[[a#b^c|d]] "),
    "embeds": repeated("![["),
    "closing brackets": repeated("]]"),
    "block ids": repeated("^a "),
    "block ids on lines": repeated("^a\n"),
    "block ids in paragraphs": repeated("^a\n\n"),
    "items with block ids": repeated("- a ^b\n"),
    "tags": repeated("#a "),
    "hashes": repeated("a#"),
    "different tags": lambda size: " ".join(f"#t{number}" for number in range(size // 8)),
    "highlights": repeated("=="),
    "highlights with words": repeated("==a "),
    "section callouts": lambda size: "".join(f"> [!section] t{number}\n\n" for number in range(size // 20)),
    "section callouts under headings": lambda size: "".join(
        f"## h\n\n> [!section] t{number}\n\n" for number in range(size // 27)
    ),
    "nested types": nested_types,
    "open callouts": repeated("> [!"),
    "one large section": lambda size: "## h\n\n" + "One two three. " * (size // 15),
    "large sections": repeated("## h\n\n" + "One two three. " * 400 + "\n\n"),
    "empty headings": repeated("## h\n\n"),
    "open front matter": lambda size: "---\ntags: [" + "a, " * (size // 3) + "\n---\n\nText.",
    "many tags in front matter": lambda size: "---\ntags: [" + "a, " * (size // 3) + "a]\n---\n\nText.",
}


IN_C = {
    "comment marks", "odd comment marks", "open links", "open links with hashes", "open and one close", "embeds",
    "closing brackets", "hashes", "highlights",
}  # fmt: skip
"""What one pattern reads: only megabytes show how that grows."""


@pytest.mark.parametrize("name", [name for name in GROWING if name not in IN_C])
def test_work_grows_with_the_text(name: str) -> None:
    text = GROWING[name]
    assert_linear(lambda size: chunk_both_ways(text(size)), 4_000)


@pytest.mark.slow
@pytest.mark.timeout(30)
@pytest.mark.parametrize("name", GROWING)
def test_megabytes_are_chunked(name: str) -> None:
    chunk_both_ways(GROWING[name](1_500_000))


def test_types_of_five_thousand_callouts() -> None:
    text = "".join(f"## h{number}\n\n> [!section] t{number % 7}\n\nText {number}.\n\n" for number in range(5_000))
    assert read(text).blocks[-1].section_type == f"t{4999 % 7}"


# ── everything together ──────────────────────────────────────────────────────────────────────────────────────────

WORDS = (
    "One two.", "three", "[[Note]]", "[[N#H^i|a]]", "![[e.png]]", "[[", "]]", "#tag", "#", "==mark==", "==", "%%",
    "%%hidden%%", "%", "^id", "^", "`%%`", "`[[a]]`", "`", "[^1]", "\\", "|", "> [!section] a", "<!--", "-->", "\t",
    "https://x.example/#a%%b", "---", "+++", "Größe", "日本語。", "e\u0301", "👩‍👩‍👧", "\n", "\n", "\n    ",
)  # fmt: skip
words = st.lists(st.sampled_from(WORDS), max_size=10).map(" ".join)
callout = st.builds(lambda mark, name: f"> [!section]{mark} {name}", st.sampled_from(("", "-")), st.sampled_from("abc"))
block = st.one_of(
    callout,
    callout,
    st.builds(lambda level, title: f"{'#' * level} {title}", st.integers(1, 6), words),
    words,
    words.map(lambda line: f"{line} ^id"),
    words.map(lambda line: f"%%\n{line}\n%%"),
    words.map(lambda line: f"%%{line}"),
    words.map(lambda line: f"```\n{line}\n```"),
    words.map(lambda line: f"> {line}"),
    words.map(lambda line: f"- {line}\n- {line} ^item\n  - {line}"),
    words.map(lambda line: f"| a | b |\n|---|---|\n| {line} | 2 |"),
    st.just("^own-line"),
    st.just("<figure>One two three.</figure>"),
)
front = st.sampled_from(
    ("", "", "---\ntitle: A\ntags: [a, b]\n---\n\n", "---\ntitle: [\n---\n", "+++\ntitle = 1\n+++\n")
)
notes = st.builds(
    lambda head, blocks, gap: head + gap.join(blocks),
    front,
    st.lists(block, max_size=14),
    st.sampled_from(("\n\n", "\n")),
)


def assert_types_stay_apart(document: Document, found: tuple[Chunk, ...]) -> None:
    """Assert that no chunk mixes types, neither in its core nor in repeated text."""
    for chunk in found:
        inside = {document.blocks[index].section_type for index in chunk.block_indices}
        assert inside == {chunk.section_type}, f"chunk {chunk.chunk_index} mixes {inside}"


@given(notes)
@settings(max_examples=300)
def test_every_visible_character_lies_in_one_block(text: str) -> None:
    read(text)


@pytest.mark.parametrize(
    ("strategy", "options"),
    [
        ("heading", {}),
        ("heading", {"strict": True}),
        ("heading", {"smart": False, "split_level": 4}),
        ("heading", {"split_level": 1, "target_tokens": 16}),
        ("window", {}),
        ("window", {"overlap_tokens": 8}),
    ],
)
def test_laws_and_types_on_made_notes(strategy: Any, options: dict[str, Any]) -> None:
    @given(notes, st.sampled_from((16, 24, 60, 600)), st.sampled_from(("plain", "breadcrumb")))
    @settings(max_examples=100)
    def hold(text: str, max_tokens: int, template: str) -> None:
        document = read(text)
        chosen = {"max_tokens": max_tokens, "template": template, **options}
        found = spanwise.chunk(document, strategy, "words", **chosen)
        records = [chunk.to_dict() for chunk in found]
        assert not broken_laws(document, records, tokenizer_of("words"), max_tokens)
        assert_types_stay_apart(document, found)

    hold()


@pytest.mark.parametrize("strategy", ["heading", "window"])
@pytest.mark.parametrize("limit", [16, 40, 600])
def test_types_are_not_mixed_in_a_long_note(strategy: Any, limit: int) -> None:
    sentences = "One two three four five. " * 9
    sections = [
        note("#" * (2 + number % 3) + f" H{number}", *([f"> [!section] {kind}"] if kind else []), sentences.strip())
        for number, kind in enumerate(["", "a", "a", "b", "", "c", "", "", "a", "b", "c"] * 3)
    ]
    document = read(note(*sections))
    found = spanwise.chunk(document, strategy, "words", max_tokens=limit)
    assert_types_stay_apart(document, found)
    seen = [chunk.section_type for chunk in found]
    expected = [block.section_type for block in document.blocks]
    assert changes(seen) == changes(expected)


def changes(values: list[str | None]) -> list[str | None]:
    """Return one of every run of equal values."""
    return [value for at, value in enumerate(values) if not at or value != values[at - 1]]


# ── a second implementation of the rules ─────────────────────────────────────────────────────────────────────────

SENTENCES = {
    size: " ".join(["One", "two", "three", "four", "five", "six", "seven"][:size]) + "." for size in (1, 3, 5, 7)
}


@dataclass
class Section:
    """A section of the reference model: its heading level, its type, and the sizes of its sentences."""

    level: int
    kind: str | None
    sizes: list[int]

    @property
    def units(self) -> list[int]:
        """Word counts of what stays together: heading, callout and first sentence; then each further sentence."""
        opening = 2 + (3 if self.kind else 0)
        first, *rest = self.sizes or [0]
        return [opening + first, *rest]

    @property
    def text(self) -> str:
        callout_ = [f"> [!section] {self.kind}"] if self.kind else []
        return note(
            f"{'#' * self.level} H", *callout_, *([" ".join(SENTENCES[size] for size in self.sizes)] * bool(self.sizes))
        )


section = st.builds(
    Section,
    st.sampled_from((1, 2)),
    st.sampled_from((None, None, "a", "b")),
    st.lists(st.sampled_from(sorted(SENTENCES)), max_size=9),
)
vault_note = st.lists(section, min_size=1, max_size=7)


def packed(sections: list[Section], target: int, most: int) -> list[tuple[int, int]]:
    """Return where each chunk begins, as section and unit, when sections are packed and carried over."""
    begins: list[tuple[int, int]] = []
    filled, kind = 0, None
    for number, this in enumerate(sections):
        units, at = this.units, 0
        while at < len(units):
            context = 2 if at else 0
            if filled and kind == this.kind and filled + context + sum(units[at:]) <= most:
                filled += context + sum(units[at:])
                break
            begins.append((number, at))
            kind = this.kind
            if context + sum(units[at:]) <= most:
                filled = context + sum(units[at:])
                break
            at, filled = after_target(units, at, min(target, most - context)), 0
    return begins


def after_target(units: list[int], at: int, target: int) -> int:
    """Return the end of the units that fit into the target, at least one."""
    total, end = units[at], at + 1
    while end < len(units) and total + units[end] <= target:
        total, end = total + units[end], end + 1
    return end


def strictly_cut(sections: list[Section], target: int, most: int) -> list[tuple[int, int]]:
    begins = []
    for number, this in enumerate(sections):
        at = 0
        while at < len(this.units):
            begins.append((number, at))
            at = len(this.units) if sum(this.units) <= most else after_target(this.units, at, target)
    return begins


def begins_of(sections: list[Section], found: tuple[Chunk, ...]) -> list[tuple[int, int]]:
    """Return where each chunk begins, as section and unit, from the number of words before it."""
    units_at, words_before = {}, 0
    for number, this in enumerate(sections):
        for at, size in enumerate(this.units):
            units_at[words_before] = (number, at)
            words_before += size
    text = found[0].document.text
    return [units_at[len(text[: chunk.char_start].split())] for chunk in found]


@pytest.mark.slow
@pytest.mark.parametrize(("target", "most"), [(16, 20), (12, 24), (30, 30), (20, 60)])
@pytest.mark.parametrize("strict", [False, True])
def test_heading_follows_the_rules(strict: bool, target: int, most: int) -> None:
    rules = strictly_cut if strict else packed

    @given(vault_note)
    @settings(max_examples=200)
    def hold(sections: list[Section]) -> None:
        text = note(*(this.text for this in sections))
        options = {"strict": strict, "target_tokens": target, "max_tokens": most, "template": "plain"}
        found = chunks(text, "heading", **options)
        assert begins_of(sections, found) == rules(sections, target, most)

    hold()


@pytest.mark.parametrize("most", [16, 30, 60])
def test_window_follows_the_rules(most: int) -> None:
    @given(vault_note)
    @settings(max_examples=200)
    def hold(sections: list[Section]) -> None:
        for this in sections:
            this.sizes = this.sizes[:2]  # a paragraph within the limit
        text = note(*(this.text for this in sections))
        document = read(text)
        begins, filled, kind = [], most, None
        for block_ in document.blocks:
            size = len(text_of(document, block_).split())
            if filled + size > most or kind != block_.section_type:
                begins.append(block_.start)
                filled, kind = 0, block_.section_type
            filled += size
        found = spanwise.chunk(document, "window", "words", max_tokens=most, template="plain")
        assert [chunk.char_start for chunk in found] == begins

    hold()
