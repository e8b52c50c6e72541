"""The `hierarchical` strategy: two levels in all outputs, and findings of `check` when they don't match."""

from __future__ import annotations

import copy
import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import spanwise
from growth import assert_linear
from spanwise.cli import main
from spanwise.records.dialects import DIALECTS
from spanwise.testing.laws import broken_laws
from spanwise.testing.made_markdown import markdown
from spanwise.text.tokens import tokenizer_of

Record = dict[str, Any]
Damage = Callable[[list[Record]], Any]

SENTENCE = "This sentence of section {} says what number {} has to say, in words of its own."
ROWS = "\n".join(f"| row {number} | value {number} |" for number in range(40))


def section(part: int, number: int) -> str:
    """Return a section of six short paragraphs."""
    name = f"{part}.{number}"
    return f"## Section {name}\n\n" + "\n\n".join(SENTENCE.format(name, index) for index in range(6))


def part(number: int) -> str:
    """Return a part of four sections."""
    sections = [section(number, index) for index in range(4)]
    return "\n\n".join([f"# Part {number}\n\nWhat part {number} is about.", *sections])


TEXT = "\n\n".join([part(0), part(1), f"# Table\n\n| a | b |\n|---|---|\n{ROWS}"])
OPTIONS: dict[str, Any] = {"max_tokens": 64, "parent_tokens": 300}


@pytest.fixture
def document() -> spanwise.Document:
    return spanwise.read_text(TEXT, file_path="notes/two.md")


@pytest.fixture
def records(document: spanwise.Document) -> list[Record]:
    return [chunk.to_dict() for chunk in spanwise.chunk(document, "hierarchical", **OPTIONS)]


def parents_of(records: list[Record]) -> list[Record]:
    return [record for record in records if record["parent_id"] is None]


def children_of(records: list[Record]) -> list[Record]:
    return [record for record in records if record["parent_id"] is not None]


def rules(findings: tuple[spanwise.Finding, ...]) -> set[str]:
    return {finding.rule for finding in findings if finding.level == "violation"}


# ------------------------------------------------------------------------------------------------------ what is emitted


def test_parents_come_before_their_children(records: list[Record]) -> None:
    parents, children = parents_of(records), children_of(records)
    assert 3 < len(parents) < len(children)
    assert [record["chunk_index"] for record in records] == list(range(len(records)))
    parent_id = ""
    for record in records:
        parent_id = record["chunk_id"] if record["parent_id"] is None else parent_id
        assert record["parent_id"] in {None, parent_id}


def test_a_parent_is_named_under_the_document(document: spanwise.Document, records: list[Record]) -> None:
    parent = records[0]
    numbers = [parent[name] for name in ("block_start_idx", "block_end_idx", "char_start", "char_end")]
    key = ":".join([f"{document.document_id}/parent", *map(str, numbers)])
    assert parent["chunk_id"] == hashlib.sha256(key.encode()).hexdigest()


def test_neighbours_are_of_the_same_level(records: list[Record]) -> None:
    for level in (parents_of(records), children_of(records)):
        names = [None, *(record["chunk_id"] for record in level), None]
        assert [record["prev_chunk_id"] for record in level] == names[:-2]
        assert [record["next_chunk_id"] for record in level] == names[2:]


def test_a_parent_equal_to_its_child_has_ids_of_its_own() -> None:
    parent, child = spanwise.chunk(spanwise.read_text("# A\n\nOne text."), "hierarchical")
    assert parent.normalized_text == child.normalized_text
    assert parent.content_hash == child.content_hash
    assert parent.chunk_id != child.chunk_id
    assert parent.content_id != child.content_id
    assert (parent.parent_id, child.parent_id) == (None, parent.chunk_id)


def test_attributes_are_those_of_the_record(document: spanwise.Document) -> None:
    for chunk in spanwise.chunk(document, "hierarchical", **OPTIONS):
        record = chunk.to_dict()
        for name in ("chunk_id", "content_id", "prev_chunk_id", "next_chunk_id", "parent_id"):
            assert getattr(chunk, name) == record[name]


def test_parents_begin_at_headings_where_sections_fit(records: list[Record]) -> None:
    inside = [one for one in parents_of(records) if not one["normalized_text"].startswith("#")]
    assert {one["chunk_type"] for one in inside} == {"table"}  # the only section larger than a parent


def test_both_limits_hold(records: list[Record]) -> None:
    assert max(record["token_count"] for record in children_of(records)) <= 64
    assert 64 < max(record["token_count"] for record in parents_of(records)) <= 300


def test_an_empty_document_has_no_chunks() -> None:
    assert spanwise.chunk(spanwise.read_text("\n\n<!-- nothing -->\n"), "hierarchical") == ()


# -------------------------------------------------------------------------------------------------------------- options


@pytest.mark.parametrize(
    ("given", "taken"),
    [
        ({}, (60, 300, 400, 2000)),
        ({"max_tokens": 100}, (60, 100, 100, 2000)),
        ({"max_tokens": 3000}, (60, 300, 3000, 3000)),
        ({"parent_tokens": 200}, (60, 200, 200, 200)),
        ({"parent_tokens": 1000}, (60, 300, 400, 1000)),
        ({"target_tokens": 2500}, (60, 2500, 2500, 2500)),
    ],
)
def test_defaults_adapt(given: dict[str, int], taken: tuple[int, ...]) -> None:
    from spanwise.chunking.strategies.hierarchical import HierarchicalOptions
    from spanwise.options import options_of

    options = options_of(HierarchicalOptions, given)
    assert (options.min_tokens, options.target_tokens, options.max_tokens, options.parent_tokens) == taken


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"max_tokens": 15}, "`max_tokens` must be at least 16: 15"),
        ({"parent_tokens": 15}, "`parent_tokens` must be at least 16: 15"),
        ({"max_tokens": 400, "parent_tokens": 399}, "`max_tokens` must be at most `parent_tokens` (399): 400"),
        ({"target_tokens": 90, "parent_tokens": 80}, "`target_tokens` must be at most `parent_tokens` (80): 90"),
        ({"overlap_tokens": 201}, "`overlap_tokens` must be between 0 and half of `max_tokens` (200): 201"),
    ],
)
def test_contradictions_are_refused(given: dict[str, Any], words: str) -> None:
    with pytest.raises(spanwise.OptionError) as caught:
        spanwise.chunk(spanwise.read_text("A."), "hierarchical", **given)
    assert words in str(caught.value)
    assert "hint:" in str(caught.value)


# ----------------------------------------------------------------------------------------------------------- changes


def content_ids(text: str) -> dict[str, Record]:
    document = spanwise.read_text(text, document_id="same")
    chunks = spanwise.chunk(document, "hierarchical", **OPTIONS)
    return {chunk.content_id: chunk.to_dict() for chunk in chunks}


def test_the_same_text_has_the_same_chunks() -> None:
    assert content_ids(TEXT) == content_ids(TEXT)


def test_a_new_paragraph_changes_only_what_is_near() -> None:
    position = TEXT.index("## Section 1.1")
    old, new = content_ids(TEXT), content_ids(TEXT[:position] + "A new paragraph.\n\n" + TEXT[position:])
    changed = [record for name, record in old.items() if name not in new]
    assert changed
    assert {record["headings_path"][0] for record in changed} == {"Part 1"}
    children = children_of(changed)
    assert {tuple(record["headings_path"]) for record in children} == {("Part 1", "Section 1.0")}
    assert len(children) == 1


# ---------------------------------------------------------------------------------------------------------------- check


@pytest.mark.slow
@given(markdown(), st.sampled_from((16, 40, 100)), st.sampled_from((1, 2, 5)), st.sampled_from(("plain", "tags")))
@settings(max_examples=60)
def test_all_chunks_pass_the_check(text: str, size: int, times: int, template: str) -> None:
    document = spanwise.read_text(text)
    options: dict[str, Any] = {"max_tokens": size, "parent_tokens": size * times, "template": template}
    records = [chunk.to_dict() for chunk in spanwise.chunk(document, "hierarchical", **options)]
    assert not rules(spanwise.check(records, document, **options))
    assert not rules(spanwise.check(records, **options))


def renamed(record: Record) -> None:
    """Recompute the id of a child from its position."""
    key = [record[name] for name in ("document_id", "block_start_idx", "block_end_idx", "char_start", "char_end")]
    record["chunk_id"] = hashlib.sha256(":".join(map(str, key)).encode()).hexdigest()


def first_child(records: list[Record]) -> Record:
    return next(record for record in records if record["parent_id"])


def moved_child(records: list[Record]) -> None:
    """Move the last child of the first parent to the second."""
    second = parents_of(records)[1]
    index = records.index(second)
    records[index - 1]["parent_id"] = second["chunk_id"]
    records[index - 1], records[index] = records[index], records[index - 1]


def too_large_parent(records: list[Record]) -> None:
    parent = parents_of(records)[0]
    parent["embedding_text"] = "word " * 400 + parent["full_text"]


def without_parents(records: list[Record]) -> None:
    records[:] = children_of(records)


def without_children(records: list[Record]) -> None:
    records[:] = parents_of(records)


def without_one_child(records: list[Record]) -> None:
    records.pop(2)


DAMAGE: dict[str, tuple[str, Damage]] = {
    "a child names a parent that isn't there": (
        "parent",
        lambda records: first_child(records).update(parent_id="0" * 64),
    ),
    "a child stands under another parent": ("parent", moved_child),
    "the parents are gone": ("parent", without_parents),
    "the children are gone": ("parent", without_children),
    "a child is gone": ("parent", without_one_child),
    "a parent is gone": ("parent", lambda records: records.remove(parents_of(records)[1])),
    "a parent is named as a child": ("identity", lambda records: renamed(records[0])),
    "a child says it is a parent": ("identity", lambda records: records[1].update(parent_id=None)),
    "a parent is over its limit": ("limit", too_large_parent),
    "two parents are swapped": (
        "twice",
        lambda records: records.__setitem__(slice(None), [*records[4:], *records[:4]]),
    ),
    "a parent names a child as its neighbour": (
        "neighbours",
        lambda records: parents_of(records)[1].update(prev_chunk_id=records[1]["chunk_id"]),
    ),
    "all from some parent on is gone": (
        "neighbours",
        lambda records: records.__delitem__(slice(records.index(parents_of(records)[2]), None)),
    ),
    "a level's content id is the other's": (
        "identity",
        lambda records: records[0].update(content_id=records[1]["content_id"]),
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", DAMAGE)
@pytest.mark.parametrize("beside", [True, False])
def test_damage_is_found(name: str, beside: bool, document: spanwise.Document, records: list[Record]) -> None:
    rule, damage = DAMAGE[name]
    damage(records)
    source = (document,) if beside else ()
    assert rule in rules(spanwise.check(copy.deepcopy(records), source, **OPTIONS))


def test_lost_text_is_reported_by_level(document: spanwise.Document, records: list[Record]) -> None:
    records.remove(parents_of(records)[1])
    lost = [found.reason for found in spanwise.check(records, document, **OPTIONS) if found.rule == "lost"]
    assert lost
    assert all(reason.endswith("(of the parents)") for reason in lost)


def test_a_parent_over_its_limit_is_seen_by_the_options(document: spanwise.Document, records: list[Record]) -> None:
    assert not rules(spanwise.check(records, document, **OPTIONS))
    assert rules(spanwise.check(records, document, max_tokens=64, parent_tokens=100)) == {"limit"}


def test_promises_of_parents_are_checked(document: spanwise.Document) -> None:
    """Under a larger limit the same sections are divided although they would fit."""
    chunks = spanwise.chunk(document, "hierarchical", max_tokens=16, parent_tokens=100)
    records = [chunk.to_dict() for chunk in chunks]
    found = spanwise.check(records, document, max_tokens=16, parent_tokens=300)
    assert any("of 1" in one.reason and "is divided, though" in one.reason for one in found if one.rule == "promise")


def test_a_child_is_no_duplicate_of_its_parent() -> None:
    text = " ".join(f"word{number}" for number in range(60))
    document = spanwise.read_text(f"# A\n\n{text}")
    records = [chunk.to_dict() for chunk in spanwise.chunk(document, "hierarchical")]
    assert len(records) == 2
    assert not spanwise.check(records, document)
    twice = spanwise.read_text(f"# A\n\n{text}\n\n# B\n\n{text}")
    found = spanwise.check([chunk.to_dict() for chunk in spanwise.chunk(twice, "hierarchical")], twice)
    assert [(one.rule, one.reason) for one in found] == [
        ("near-duplicate", "says nearly the same as the chunk in line 2")
    ]


def test_short_parents_are_no_warning() -> None:
    document = spanwise.read_text("# A\n\nShort.")
    records = [chunk.to_dict() for chunk in spanwise.chunk(document, "hierarchical")]
    found = spanwise.check(records, document)
    assert [one.reason for one in found] == ["1 of 1 chunks (100%) have fewer than 60 tokens"]


# ---------------------------------------------------------------------------------------------------------------- faces


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "two.md").write_text(TEXT, encoding="utf-8")
    return tmp_path


FLAGS = ("--strategy", "hierarchical", "--max-tokens", "64", "--parent-tokens", "300")


@pytest.mark.parametrize("dialect", DIALECTS)
def test_dialects_hold_the_children(dialect: str, document: spanwise.Document) -> None:
    chunks = spanwise.chunk(document, "hierarchical", **OPTIONS)
    children = [chunk for chunk in chunks if chunk.parent_id]
    translated = spanwise.translate(chunks, dialect)
    assert len(translated) == len(children)
    texts = [next(one[key] for key in ("md_text", "content", "text") if key in one) for one in translated]
    core_alone = dialect == "confluence"
    assert texts == [child.normalized_text if core_alone else child.full_text for child in children]


def test_notes_number_the_children(document: spanwise.Document) -> None:
    translated = spanwise.translate(spanwise.chunk(document, "hierarchical", **OPTIONS), "notes")
    assert [one["index"] for one in translated] == list(range(len(translated)))
    assert [one["neighbors_next"] for one in translated] == [*(one["id"] for one in translated[1:]), None]


def test_the_command_line_counts_what_it_writes(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["chunk", "two.md", "-o", "own.jsonl", *FLAGS]) == 0
    assert main(["chunk", "two.md", "-o", "spec.jsonl", "--dialect", "spec-v1", *FLAGS]) == 0
    message = capsys.readouterr().err
    for name in ("own.jsonl", "spec.jsonl"):
        lines = (folder / name).read_text(encoding="utf-8").splitlines()
        assert f"{len(lines)} chunks" in message


def test_files_pass_the_check(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for format_ in ("jsonl", "parquet"):
        assert main(["chunk", "two.md", "-q", "-o", f"own.{format_}", "--format", format_, *FLAGS]) == 0
        assert main(["check", f"own.{format_}", "--source", "two.md", *FLAGS]) == 0
    assert "0 violations" in capsys.readouterr().out


def test_view_shows_parents_as_heads(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["chunk", "two.md", "--format", "view", *FLAGS]) == 0
    output = capsys.readouterr().out
    chunks = spanwise.chunk(spanwise.read("two.md"), "hierarchical", **OPTIONS)
    parents = [chunk for chunk in chunks if chunk.parent_id is None]
    assert f"{len(parents)} parents with {len(chunks) - len(parents)} children" in output
    assert output.count(" parent ") == len(parents)
    assert output.count("What part 0 is about.") == 1  # once, in the child


def test_stats_distinguish_the_levels(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["chunk", "two.md", "-q", "-o", "own.jsonl", *FLAGS]) == 0
    assert main(["stats", "own.jsonl"]) == 0
    output = capsys.readouterr().out
    assert "own.jsonl, parents" in output
    assert "own.jsonl, children" in output
    assert main(["stats", "own.jsonl", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    lines = [json.loads(line) for line in (folder / "own.jsonl").read_text(encoding="utf-8").splitlines()]
    assert found["chunks"] == len(children_of(lines))
    assert found["parents"]["chunks"] == len(parents_of(lines))
    assert found["largest"] <= 64 < found["parents"]["largest"]


def test_diff_names_parents(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["chunk", "two.md", "-q", "-o", "old.jsonl", *FLAGS]) == 0
    (folder / "two.md").write_text(TEXT.replace("number 3 has", "number 3 had"), encoding="utf-8")
    assert main(["chunk", "two.md", "-q", "-o", "new.jsonl", *FLAGS]) == 0
    assert main(["diff", "old.jsonl", "new.jsonl"]) == 0
    output = capsys.readouterr().out
    assert " parent Part 0" in output
    assert "parents among them)" in output


# -------------------------------------------------------------------------------------------------------- linear work


@pytest.mark.parametrize("unit", ["- an item of a list\n", "| a | b |\n", "line = of(code)\n"])
def test_one_block_over_many_parents(unit: str) -> None:
    """A block that is cut by hundreds of parents is processed once, not once per parent."""

    def work(times: int) -> None:
        text = {"|": "| x | y |\n|---|---|\n", "l": "```\n"}.get(unit[0], "") + unit * times
        document = spanwise.read_text(text)
        chunks = spanwise.chunk(document, "hierarchical", max_tokens=32, parent_tokens=64)
        records = [chunk.to_dict() for chunk in chunks]
        assert not broken_laws(document, records, tokenizer_of("cl100k"), 32, 64)

    assert_linear(work, 500)


def test_code_after_a_comment_keeps_its_indentation() -> None:
    document = spanwise.read_text("Text.\n\n<!-- c -->\n\n    code\n      more\n")
    chunks = spanwise.chunk(document, "hierarchical")
    assert [chunk.normalized_text for chunk in chunks] == [
        "Text.\n\n    code\n      more", "Text.", "    code\n      more",
    ]  # fmt: skip
    assert not [one for one in spanwise.check(chunks, document) if one.level == "violation"]


@pytest.mark.parametrize("space", ["\u2029", "\x0c", "\x85"])
def test_odd_white_space_after_the_indentation_of_code_is_kept(space: str) -> None:
    document = spanwise.read_text(f"Text.\n\n    {space}code")
    chunks = spanwise.chunk(document, "hierarchical")
    assert chunks[-1].normalized_text == f"    {space}code"
    assert not [one for one in spanwise.check(chunks, document) if one.level == "violation"]
