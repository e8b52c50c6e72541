"""`check` finds every violation of the laws, and nothing in intact chunks."""

from __future__ import annotations

import copy
import hashlib
import json
from array import array
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import spanwise
from proposing import offline
from spanwise.checks import RULES, WARNINGS
from spanwise.chunking.strategies import STRATEGIES
from spanwise.cli import main
from spanwise.options import TEMPLATES

Record = dict[str, Any]
Damage = Callable[[list[Record]], object]

_TRIP = "Trip number {0} is booked in the portal. Dr. Novak approves it 👩‍👩‍👧 within {0} days."
TEXT = (
    "---\ntitle: Travel\n---\n\n# Travel handbook\n\n"
    + "\n\n".join(
        f"Trip number {n} is booked in the portal. Dr. Novak approves it 👩‍👩‍👧 within {n} days." for n in range(12)
    )
    + "\n\n## Rates\n\n| City | Rate |\n|------|-----:|\n"
    + "".join(f"| Town {n} | {n * 7} |\n" for n in range(40))
    + "\n<!-- internal -->\n\nAll rates are per day and hold for the whole year, breakfast included.\n\n"
    + "```python\n"
    + "".join(f"    line_{n} = {n}\n" for n in range(60))
    + "```\n\n---\n\n- first item\n- second item\n\n<figure><img src='a.png'></figure>\n\nThe end. 中文字符也在这里。\n"
)
OPTIONS: dict[str, Any] = {"max_tokens": 128}


@pytest.fixture
def document() -> spanwise.Document:
    return spanwise.read_text(TEXT, file_path="notes/travel.md")


@pytest.fixture
def records(document: spanwise.Document) -> list[Record]:
    return [chunk.to_dict() for chunk in spanwise.chunk(document, **OPTIONS)]


def rules(findings: tuple[spanwise.Finding, ...]) -> set[str]:
    return {finding.rule for finding in findings if finding.level == "violation"}


@pytest.mark.parametrize("template", TEMPLATES)
@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("max_tokens", [48, 128, 900])
def test_whole_chunks_have_no_violation(
    document: spanwise.Document, strategy: Any, template: str, max_tokens: int
) -> None:
    options: dict[str, Any] = {"max_tokens": max_tokens, "template": template}
    records = [chunk.to_dict() for chunk in spanwise.chunk(document, strategy, **offline(strategy), **options)]
    assert not rules(spanwise.check(records, document, **options))
    assert not rules(spanwise.check(records, **options))


@pytest.mark.parametrize("tokenizer", ["o200k", "words", "gpt-4o"])
@pytest.mark.parametrize("strategy", STRATEGIES)
def test_records_state_what_they_are_checked_with(document: spanwise.Document, strategy: Any, tokenizer: str) -> None:
    chunks = spanwise.chunk(document, strategy, tokenizer, **offline(strategy), max_tokens=64)
    assert not rules(spanwise.check(chunks, document))
    records = [chunk.to_dict() for chunk in chunks]
    largest = max(records, key=lambda record: record["token_count"])
    largest["max_tokens"] = largest["token_count"] - 1
    assert "limit" in rules(spanwise.check(records, document))


def test_a_limit_that_nobody_can_set_is_no_limit(records: list[Record]) -> None:
    records[0]["max_tokens"] = 15
    assert "limit" in rules(spanwise.check(records))


def test_what_is_given_overrides_what_records_state(records: list[Record]) -> None:
    assert "count" in rules(spanwise.check(records, tokenizer="words"))
    assert "limit" in rules(spanwise.check(records, max_tokens=64))


def test_a_parent_states_its_own_limit(document: spanwise.Document) -> None:
    chunks = spanwise.chunk(document, "hierarchical", max_tokens=64, parent_tokens=300)
    assert {chunk.max_tokens for chunk in chunks if chunk.parent_id is None} == {300}
    assert {chunk.max_tokens for chunk in chunks if chunk.parent_id is not None} == {64}
    assert not rules(spanwise.check(chunks, document))


def test_no_limit_is_stated_as_null(document: spanwise.Document) -> None:
    assert {chunk.max_tokens for chunk in spanwise.chunk(document, "simple")} == {None}


def test_records_without_tokenizer_and_limit_are_checked_by_the_defaults(records: list[Record]) -> None:
    for record in records:
        del record["tokenizer"], record["max_tokens"]
    assert not rules(spanwise.check(records))
    assert "limit" in rules(spanwise.check(records, max_tokens=64))


def test_a_tokenizer_that_has_no_name_must_be_given(document: spanwise.Document) -> None:
    class Letters:
        name, added, seam = "letters@home", 0, None

        def count(self, text: str) -> int:
            return len(text)

        def ends(self, text: str) -> array[int]:
            return array("i", range(1, len(text) + 1))

    chunks = spanwise.chunk(document, tokenizer=Letters(), max_tokens=600)
    with pytest.raises(spanwise.OptionError, match="letters@home"):
        spanwise.check(chunks)
    assert not rules(spanwise.check(chunks, document, Letters()))


def change(index: int, **values: Any) -> Damage:
    return lambda records: records[index].update(values)


def change_piece(index: int, **values: Any) -> Damage:
    return lambda records: core_of(records[index]).update(values)


def core_of(record: Record) -> Record:
    piece: Record = next(piece for piece in record["pieces"] if piece["role"] == "core")
    return piece


def alter(index: int, name: str, how: Callable[[Any], Any]) -> Damage:
    return lambda records: records[index].update({name: how(records[index][name])})


def alter_core(index: int, name: str, by: int) -> Damage:
    return lambda records: core_of(records[index]).update({name: core_of(records[index])[name] + by})


def rehashed(record: Record) -> None:
    key = [record[name] for name in ("document_id", "block_start_idx", "block_end_idx", "char_start", "char_end")]
    record["chunk_id"] = hashlib.sha256(":".join(map(str, key)).encode()).hexdigest()
    record["content_hash"] = hashlib.sha256(record["embedding_text"].encode()).hexdigest()


def swapped(records: list[Record]) -> None:
    records[1], records[2] = records[2], records[1]


def repeated(records: list[Record]) -> None:
    records.insert(2, copy.deepcopy(records[1]))


def reaching_back(records: list[Record]) -> None:
    """Make a core start inside the previous one, with matching texts and hashes."""
    record = records[1]
    core = core_of(record)
    new = {"start": core["start"] - 8, "end": core["end"], "role": "core", "joiner": ""}
    text = TEXT[new["start"] : new["end"]]
    record.update(pieces=[new], char_start=new["start"], normalized_text=text, full_text=text, embedding_text=text)
    record["block_indices"], record["overlap_prev_block_indices"] = record["core_block_indices"], []
    rehashed(record)


def reworded(records: list[Record]) -> None:
    """Replace a word of a chunk by one of the same length, with matching hashes."""
    record = records[0]
    for name in ("normalized_text", "full_text", "embedding_text"):
        record[name] = record[name].replace("Trip", "Tour")
    rehashed(record)


def lengthened(records: list[Record]) -> None:
    record = records[0]
    record["embedding_text"] = "word " * 200 + record["full_text"]
    rehashed(record)


def untrimmed(records: list[Record]) -> None:
    record = records[0]
    core = core_of(record)
    core["end"] += 1
    record["char_end"] += 1
    for name in ("normalized_text", "full_text", "embedding_text"):
        record[name] += "\n"
    rehashed(record)


def torn(records: list[Record]) -> None:
    """Move the cut between two chunks into an emoji sequence."""
    left, right = records[0], records[1]
    cut = TEXT.index("👩‍👩‍👧", left["char_start"]) + 1
    right["pieces"] = [{"start": cut, "end": right["char_end"], "role": "core", "joiner": ""}]
    left["pieces"] = [{"start": left["char_start"], "end": cut, "role": "core", "joiner": ""}]
    left["char_end"], right["char_start"] = cut, cut
    for record in (left, right):
        text = TEXT[record["char_start"] : record["char_end"]]
        record.update(normalized_text=text, full_text=text, embedding_text=text)
        rehashed(record)


def first_of(records: list[Record], kind: str) -> Record:
    return next(record for record in records if record["chunk_type"] == kind)


DAMAGE: dict[str, tuple[str, Damage]] = {
    "a field is missing": ("record", lambda records: records[0].pop("full_text")),
    "a field is of the wrong kind": ("record", change(0, token_count="12")),
    "a flag is a number": ("record", change(0, oversize=0)),
    "a piece has no role": ("record", lambda records: core_of(records[0]).pop("role")),
    "the strategy is unknown": ("record", change(0, strategy="magic")),
    "text is altered": ("provenance", reworded),
    "a piece is moved": ("provenance", alter_core(0, "start", 1)),
    "a piece ends too early": ("provenance", alter_core(0, "end", -3)),
    "a piece is turned around": ("provenance", change_piece(0, start=50, end=40)),
    "a role is unknown": ("provenance", change_piece(0, role="kern")),
    "a joiner says something": ("provenance", lambda records: records[1]["pieces"][-1].update(joiner=" and ")),
    "the range is not the core's": ("provenance", alter(1, "char_start", lambda place: place - 2)),
    "the core's text is cut": ("provenance", change(0, normalized_text="Trip number 0")),
    "the full text says more": ("provenance", alter(1, "full_text", lambda text: text + " And more.")),
    "the embedded text says something before": (
        "provenance",
        lambda records: records[0].update(embedding_text="Summary: a trip.\n\n" + records[0]["full_text"]),
    ),
    "a piece is behind the source": ("provenance", change_piece(0, start=10**6, end=10**6 + 5)),
    "a chunk is missing": ("lost", lambda records: records.pop(2)),
    "the last chunk is missing": ("lost", lambda records: records.pop()),
    "the first chunk is missing": ("lost", lambda records: records.pop(0)),
    "a chunk comes twice": ("twice", repeated),
    "two chunks are swapped": ("twice", swapped),
    "a core reaches into the one before": ("twice", reaching_back),
    "the core has white space at its end": ("trimmed", untrimmed),
    "the core is empty": ("trimmed", change(0, normalized_text="  ", full_text="  ", embedding_text="  ")),
    "there is no core": ("trimmed", lambda records: [piece.update(role="context") for piece in records[0]["pieces"]]),
    "it is over the limit": ("limit", lengthened),
    "it says oversize and isn't": ("limit", change(0, oversize=True)),
    "the count is wrong": ("count", alter(0, "token_count", lambda count: count - 1)),
    "a character is torn": ("character", torn),
    "the chunk id is wrong": ("identity", change(0, chunk_id="0" * 64)),
    "the content id is wrong": ("identity", change(0, content_id="0" * 64)),
    "the content hash is wrong": ("identity", change(0, content_hash="0" * 64)),
    "the tenant is another one": ("identity", change(0, tenant_id="other")),
    "the index is wrong": ("neighbours", change(1, chunk_index=7)),
    "prev is wrong": ("neighbours", change(1, prev_chunk_id="0" * 64)),
    "next is wrong": ("neighbours", change(1, next_chunk_id=None)),
    "the block numbers are wrong": ("place", change(0, block_start_idx=0)),
    "the core blocks are wrong": ("place", change(0, core_block_indices=[1, 2], block_indices=[1, 2])),
    "the union is wrong": ("place", change(0, block_indices=[99])),
    "the kind is wrong": ("place", lambda records: first_of(records, "table").update(chunk_type="list")),
    "the headings are wrong": ("place", change(0, headings_path=["Elsewhere"])),
    "the headings are gone": ("place", change(0, headings_path=[])),
    "the page is wrong": ("place", change(0, page_start=4, page_end=4)),
    "the block id is invented": ("place", change(0, block_id="abc")),
    "the navigation is wrong": ("place", lambda records: records[0]["navigation"].update(text_offset_start=3)),
    "the length is wrong": ("place", lambda records: records[0]["navigation"].update(text_length=3)),
    "a parent is named where there are none": ("parent", change(0, parent_id="0" * 64)),
    "the link is another's": ("place", lambda records: records[0]["navigation"].update(url="https://x.example#y")),
    "a table's head is gone": (
        "promise",
        lambda records: without_context([one for one in records if one["chunk_type"] == "table"][-1]),
    ),
}  # fmt: skip


def without_context(record: Record) -> None:
    """Remove the repeated head, with matching texts and hashes."""
    record["pieces"] = [{**piece, "joiner": ""} for piece in record["pieces"] if piece["role"] == "core"]
    text = record["normalized_text"]
    tokens = spanwise.chunk(spanwise.read_text(text, "text"), "simple", max_chars=10**6)[0].token_count
    record.update(full_text=text, embedding_text=text, token_count=tokens)
    rehashed(record)


@pytest.mark.parametrize("name", DAMAGE)
def test_damage_is_found(name: str, document: spanwise.Document, records: list[Record]) -> None:
    rule, damage = DAMAGE[name]
    damage(records)
    findings = spanwise.check(records, document, **OPTIONS)
    assert rule in rules(findings), findings
    named = [finding for finding in findings if finding.rule == rule]
    assert all(finding.reason and finding.document for finding in named)


SHOWS_BY_ITSELF = [name for name, (rule, _) in DAMAGE.items() if rule not in {"lost", "promise"}]


@pytest.mark.parametrize(
    "name",
    [
        name
        for name in SHOWS_BY_ITSELF
        if name
        not in {
            "text is altered",  # of the same length, with matching hashes
            "a piece is moved", "the kind is wrong", "the page is wrong", "the block id is invented",
            "the navigation is wrong", "the link is another's", "a piece is behind the source",
        }
    ],
)  # fmt: skip
def test_most_damage_is_found_without_the_source(name: str, records: list[Record]) -> None:
    _, damage = DAMAGE[name]
    damage(records)
    assert rules(spanwise.check(records, **OPTIONS)), name


def test_a_missing_chunk_is_found_without_the_source(records: list[Record]) -> None:
    records.pop(2)
    assert "neighbours" in rules(spanwise.check(records, **OPTIONS))


def test_a_missing_last_chunk_is_found_without_the_source(records: list[Record]) -> None:
    records.pop()
    assert rules(spanwise.check(records, **OPTIONS)) == {"neighbours"}


def test_chunks_of_a_document_must_be_adjacent(records: list[Record]) -> None:
    other = [chunk.to_dict() for chunk in spanwise.chunk(spanwise.read_text("Another text."))]
    mixed = [*records[:2], *other, *records[2:]]
    assert "neighbours" in rules(spanwise.check(mixed, **OPTIONS))


def test_every_rule_is_tested() -> None:
    assert {rule for rule, _ in DAMAGE.values()} == set(RULES)


def test_warnings(document: spanwise.Document) -> None:
    text = "# A\n\n## Empty\n\n## B\n\n" + "This sentence stands here with quite a few words in it, twice over. " * 3
    twice = spanwise.read_text(f"{text}\n\n## C\n\n{text.split('## B')[1]}\n\n## D\n\nShort.", file_path="a.md")
    records = [chunk.to_dict() for chunk in spanwise.chunk(twice)]
    warned = {finding.rule for finding in spanwise.check(records, twice) if finding.level == "warning"}
    assert {"empty section", "near-duplicate", "short"} <= warned <= set(WARNINGS)


# on files


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "travel.md").write_text(TEXT, encoding="utf-8")
    (tmp_path / "notes" / "other.md").write_text("# Other\n\nA paragraph of its own.\n", encoding="utf-8")
    return tmp_path


def written(folder: Path, *arguments: str) -> Path:
    path = folder / "chunks.jsonl"
    assert main(["chunk", "notes", "-q", "-o", str(path), "--max-tokens", "128", *arguments]) == 0
    return path


@pytest.mark.parametrize("form", ["jsonl", "json", "parquet"])
def test_whole_files_pass(folder: Path, form: str, capsys: pytest.CaptureFixture[str]) -> None:
    path = written(folder, "--format", form)
    assert main(["check", str(path), "--source", "notes", "--max-tokens", "128"]) == 0
    assert "0 violations" in capsys.readouterr().out


@pytest.mark.usefixtures("endpoint")
@pytest.mark.parametrize("dialect", ["spec-v1", "confluence"])
@pytest.mark.parametrize("strategy", STRATEGIES)
def test_whole_dialects_pass(folder: Path, dialect: str, strategy: str, capsys: pytest.CaptureFixture[str]) -> None:
    path = written(folder, "--dialect", dialect, "--strategy", strategy)
    flags = ["--max-tokens", "128", "--strategy", strategy]
    assert main(["check", str(path), *flags]) == 0
    assert main(["check", str(path), "--source", "notes", *flags]) == 0, capsys.readouterr().out


def damaged(path: Path, damage: Damage) -> None:
    lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    damage(lines)
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")


SPEC_DAMAGE: dict[str, tuple[str, Damage]] = {
    "a field is missing": ("record", lambda records: records[2].pop("md_text")),
    "a kind is unknown": ("record", change(2, chunk_type="figure")),
    "text is altered": ("provenance", alter(2, "md_text", lambda text: text.replace("Trip", "Tour"))),
    "a chunk is missing": ("lost", lambda records: records.pop(2)),
    "a chunk comes twice": ("twice", lambda records: records.insert(3, dict(records[2]))),
    "white space at the end": ("trimmed", alter(2, "md_text", lambda text: text + "\n")),
    "over the limit": ("limit", alter(2, "md_text", lambda text: text * 9)),
    "the count is wrong": ("count", change(2, token_estimate=1)),
    "the id is wrong": ("identity", change(2, chunk_id="x")),
    "the headings are wrong": ("place", change(2, headings_path=["X"])),
}  # fmt: skip
CONFLUENCE_DAMAGE: dict[str, tuple[str, Damage]] = {
    "a field is missing": ("record", lambda records: records[2].pop("navigation")),
    "text is altered": ("provenance", change(2, full_text="Nobody said this.")),
    "the embedded text is another": ("provenance", change(2, embedding_text="x")),
    "a chunk is missing": ("lost", lambda records: records.pop(2)),
    "a chunk comes twice": ("identity", lambda records: records.insert(3, dict(records[2]))),
    "cores go back": ("twice", lambda records: records.append(records.pop(1))),
    "white space at the end": ("trimmed", alter(2, "md_text", lambda text: text + " ")),
    "white space is put in": ("provenance", alter(2, "normalized_text", lambda text: text + "  x")),
    "over the limit": ("limit", alter(2, "embedding_text", lambda text: "word " * 300 + text)),
    "the id is wrong": ("identity", change(2, chunk_id="EDU:1:5")),
    "the id names other blocks": ("identity", alter(2, "chunk_id", lambda name: name[: name.rindex(":")] + ":90-91")),
    "the length is wrong": ("place", change(2, text_length=1)),
    "the union is wrong": ("place", change(2, block_indices=[])),
    "the headings are wrong": ("place", change(2, full_heading_hierarchy=["X"], text_heading_hierarchy=["X"])),
}  # fmt: skip


@pytest.mark.parametrize(
    ("dialect", "name"),
    [("spec-v1", name) for name in SPEC_DAMAGE] + [("confluence", name) for name in CONFLUENCE_DAMAGE],
)
def test_damage_in_dialects_is_found(folder: Path, dialect: str, name: str, capsys: pytest.CaptureFixture[str]) -> None:
    rule, damage = (SPEC_DAMAGE if dialect == "spec-v1" else CONFLUENCE_DAMAGE)[name]
    path = written(folder, "--dialect", dialect)
    damaged(path, damage)
    assert main(["check", str(path), "--source", "notes", "--max-tokens", "128"]) == 1
    assert f"violation: {rule}:" in capsys.readouterr().out


def test_a_document_without_chunks_is_lost(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = written(folder)
    (folder / "notes" / "new.md").write_text("New content.\n", encoding="utf-8")
    (folder / "notes" / "bare.md").write_text("# Only a heading\n", encoding="utf-8")
    assert main(["check", str(path), "--source", "notes", "--max-tokens", "128"]) == 1
    output = capsys.readouterr().out
    assert "violation: lost: notes/new.md" in output
    assert "warning: no chunks: notes/bare.md: the document has only headings" in output


def test_a_changed_source_is_reported(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = written(folder)
    (folder / "notes" / "other.md").write_text("# Other\n\nA paragraph of its owner.\n", encoding="utf-8")
    assert main(["check", str(path), "--source", "notes", "--max-tokens", "128"]) == 1
    assert "violation: " in capsys.readouterr().out


def test_an_invalid_record_is_reported(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = written(folder)
    path.write_bytes(path.read_bytes() + b'{"chunk_id": \n[1, 2]\n')
    assert main(["check", str(path), "--max-tokens", "128"]) == 1
    output = capsys.readouterr().out
    assert "not JSON" in output
    assert "not an object but list" in output


def test_findings_as_json(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = written(folder)
    damaged(path, change(0, content_hash="0"))
    assert main(["check", str(path), "--json", "--max-tokens", "128"]) == 1
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert lines[-1]["summary"]["violations"] == 1
    found = next(line for line in lines if line.get("rule") == "identity")
    assert found["place"] == 1
    assert found["document"] == "notes/other.md"
    assert found["chunk"]


def test_a_first_line_that_is_a_heading_is_no_prefix() -> None:
    document = spanwise.read_text("# \n\n# lorem zażółć\n\n# lorem")
    options: dict[str, Any] = {"max_tokens": 16, "parent_tokens": 16, "template": "plain"}
    chunks = spanwise.chunk(document, "hierarchical", **options)
    assert [one for one in spanwise.check(chunks, document, **options) if one.level == "violation"] == []


def test_a_figure_that_fits_without_its_heading_is_not_oversize() -> None:
    document = spanwise.read_text("## A heading of a few words\n\n<figure>" + "word " * 9 + "</figure>\n")
    for strategy in ("heading", "structure", "window"):
        for size in range(16, 40):
            chunks = spanwise.chunk(document, strategy, max_tokens=size)
            assert [one for one in spanwise.check(chunks, document) if one.level == "violation"] == [], (strategy, size)
