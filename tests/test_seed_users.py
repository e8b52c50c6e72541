"""What users of the systems that Spanwise replaces rely on: their names, their fields, their examples."""

from __future__ import annotations

import subprocess
import sys
from collections import Counter
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import orjson
import pytest

import spanwise
from command import ran, records
from spanwise import Document
from spanwise.checks import check
from spanwise.embedding import embedder_of
from spanwise.embedding.plugin_embedder import PluginEmbedder
from spanwise.errors import OptionError
from spanwise.records.dialects import path_parts, translate
from spanwise.testing.laws import broken_laws
from spanwise.testing.store_documents import WordEmbedder
from spanwise.text.tokens import tokenizer_of
from test_seeds import sentence

DATA = Path(__file__).parent / "data"
Captured = pytest.CaptureFixture[str]


def chunked(text: Any, strategy: str, **options: Any) -> Any:
    """Chunk with names that the types don't know."""
    return spanwise.chunk(text, strategy, **options)  # type: ignore[call-overload]


# Names

SAME = [
    ("FIXED_SIZE", "fixed", {"TARGET_TOKENS": 40, "MAX_TOKENS": 60, "MIN_TOKENS": 10, "OVERLAP_RATIO": 0.1},
     {"target_tokens": 40, "max_tokens": 60, "min_tokens": 10, "overlap_ratio": 0.1}),
    ("HIERARCHICAL", "hierarchical", {}, {}),
    ("strategy_by_heading", "heading",
     {"target": 40, "max": 60, "split_level": 3, "strict_heading_split": True, "overlap": (50, 80)},
     {"target_tokens": 40, "max_tokens": 60, "split_level": 3, "strict": True}),
    ("by_heading", "heading", {"enable_smart_edge_allocation": False}, {"smart": False}),
    ("sliding_window", "window", {"max": 160, "overlap": (50, 80)}, {"max_tokens": 160, "overlap_tokens": 65}),
    ("structure", "structure",
     {"MAX_TOKENS_PER_CHUNK": 80, "TARGET_TOKENS_PER_CHUNK": 60, "MIN_TOKENS_PER_CHUNK": 20, "OVERLAP_TOKENS": 8},
     {"max_tokens": 80, "target_tokens": 60, "min_tokens": 20, "overlap_tokens": 8}),
    ("blocks", "blocks", {"CHUNK_OVERLAP": 5, "INCLUDE_PAGE_TAG": False, "MAX_HEADING_LEVELS": 1, "max": 40},
     {"overlap_tokens": 5, "include_page_tag": False, "max_heading_levels": 1, "max_tokens": 40}),
    ("SentenceTextSplitter", "sentence", {}, {}),
    ("SimpleTextSplitter", "simple", {"max_chars": 50}, {"max_chars": 50}),
]  # fmt: skip
TEXT = "# A\n\n" + "One sentence of a text. " * 20 + "\n\n## B\n\n" + "Another one for the second. " * 20


@pytest.mark.parametrize(("theirs", "ours", "given", "meant"), SAME, ids=[one[0] for one in SAME])
def test_names_of_other_systems(theirs: str, ours: str, given: dict[str, Any], meant: dict[str, Any]) -> None:
    document = spanwise.read_text(TEXT)
    found = [chunk.to_dict() for chunk in chunked(document, theirs, **given)]
    assert found == [chunk.to_dict() for chunk in chunked(document, ours, **meant)]
    assert {record["strategy"] for record in found} == {ours}


def test_an_option_can_not_be_given_twice() -> None:
    with pytest.raises(OptionError, match="`max_tokens` is given twice"):
        chunked("x", "structure", max=100, max_tokens=100)
    with pytest.raises(OptionError, match="`overlap_tokens` must be an integer"):
        chunked("x", "window", overlap=(50, 80, 90))
    with pytest.raises(OptionError, match="`strict_heading_split` is not an option"):
        chunked("x", "structure", strict_heading_split=True)


def test_the_same_names_on_the_command_line(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text(TEXT)
    theirs = ran("chunk", "a.md", "--strategy", "by_heading", "--strict_heading_split", "--max=60", "-q", cwd=tmp_path)
    ours = ran("chunk", "a.md", "--strategy", "heading", "--strict", "--max-tokens", "60", "-q", cwd=tmp_path)
    assert theirs.code == ours.code == 0
    assert theirs.out == ours.out
    capitals = ran(
        "chunk", "a.md", "--strategy", "blocks", "--CHUNK_OVERLAP", "5", "--no-INCLUDE_PAGE_TAG", "-q", cwd=tmp_path
    )
    small = ran(
        "chunk", "a.md", "--strategy", "blocks", "--overlap-tokens", "5", "--no-include-page-tag", "-q", cwd=tmp_path
    )
    assert capitals.out == small.out
    assert capitals.code == 0


def one_run(folder: Path, *arguments: str) -> list[dict[str, Any]]:
    found = ran("chunk", "a.md", "-q", *arguments, cwd=folder)
    assert found.code == 0, found.err
    return records(found.out)


def test_overlap_from_one_size_to_another(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text(TEXT)
    by_heading = one_run(tmp_path, "--strategy", "by_heading")
    window = one_run(tmp_path, "--strategy", "window", "--max-tokens=160", "--overlap-tokens=65")
    assert one_run(tmp_path, "--strategy", "by_heading", "--overlap", "50,80") == by_heading
    assert one_run(tmp_path, "--strategy", "sliding_window", "--max=160", "--overlap=(50, 80)") == window
    assert one_run(tmp_path, "--strategy", "sliding_window", "--max=160", "--overlap", "65") == window
    (tmp_path / "spanwise.toml").write_text("max = 160\noverlap = [50, 80]\n")
    assert one_run(tmp_path, "--strategy", "sliding_window") == window
    (tmp_path / "spanwise.toml").write_text('strategy = "strategy_by_heading"\noverlap = [50, 80]\n')
    assert one_run(tmp_path) == by_heading
    (tmp_path / "spanwise.toml").unlink()
    wrong = ran("chunk", "a.md", "--strategy", "fixed", "--overlap", "50", cwd=tmp_path)
    assert "`overlap` (command line) is not an option of the strategy fixed" in wrong.err
    assert "invalid number of tokens" in ran("chunk", "a.md", "--overlap", "much", cwd=tmp_path).err
    (tmp_path / "spanwise.toml").write_text('overlap = "much"\n')
    assert "`overlap_tokens` must be an integer" in ran("chunk", "a.md", cwd=tmp_path).err


def test_switches_with_a_value(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text(TEXT)
    for value, flag in (("true", "--include-page-tag"), ("off", "--no-include-page-tag")):
        theirs = one_run(tmp_path, "--strategy", "blocks", "--meta", "title=T", f"--INCLUDE_PAGE_TAG={value}")
        assert theirs == one_run(tmp_path, "--strategy", "blocks", "--meta", "title=T", flag)


def test_names_of_a_file_of_options_as_they_stand(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text(TEXT)
    (tmp_path / "x.env").write_text("strict_heading_split=true\nsplit_level=1\ntarget=7\nmax=9\n")
    assert one_run(tmp_path, "--strategy", "heading", "--env-file", "x.env") == one_run(
        tmp_path, "--strategy", "heading", "--strict", "--split-level", "1"
    )


def test_names_in_the_config_file(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text(TEXT)
    (tmp_path / "spanwise.toml").write_text('strategy = "sliding_window"\nmax = 160\noverlap = [50, 80]\n')
    found = orjson.loads(ran("config", "a.md", "--json", cwd=tmp_path).out)
    values = {one["setting"]: one["value"] for one in found["settings"]} if "settings" in found else found
    assert str(values).count("160") >= 1
    assert ran("chunk", "a.md", "-q", cwd=tmp_path).code == 0


def test_strategies_show_the_other_names(tmp_path: Path) -> None:
    out = ran("strategies", cwd=tmp_path).out.decode()
    for name in ("FIXED_SIZE", "SMART", "HIERARCHICAL", "strict_heading_split", "enable_smart_edge_allocation",
                 "CHUNK_OVERLAP", "MAX_TOKENS_PER_CHUNK", "SentenceTextSplitter"):  # fmt: skip
        assert name in out


ENV = """\
# of another system
export MAX_TOKENS_PER_CHUNK=120
CHUNK_OVERLAP="10"  # tokens
INCLUDE_PAGE_TAG='false'
MAX_HEADING_LEVELS = 3
API_KEY=secret
MODEL=gpt
TARGET=production
not a line
"""


def test_a_file_of_options(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text(TEXT)
    (tmp_path / ".env").write_text(ENV)
    more = ("--strategy", "blocks", "-q")
    by_file = ran("chunk", "a.md", "--env-file", ".env", *more, cwd=tmp_path)
    flags = ("--max-tokens", "120", "--overlap-tokens", "10", "--no-include-page-tag", "--max-heading-levels", "3")
    assert by_file.code == 0, by_file.err
    assert by_file.out == ran("chunk", "a.md", *flags, *more, cwd=tmp_path).out
    stronger = ran("chunk", "a.md", "--env-file", ".env", "--max-tokens", "60", *more, cwd=tmp_path)
    assert {one["max_tokens"] for one in records(stronger.out)} == {60}


def test_the_environment_is_never_read(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text(TEXT)
    plain = ran("chunk", "a.md", "-q", cwd=tmp_path)
    set_ = ran("chunk", "a.md", "-q", cwd=tmp_path, more={"MAX_TOKENS_PER_CHUNK": "50", "CHUNK_OVERLAP": "1"})
    assert plain.out == set_.out


def test_a_wrong_file_of_options(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text(TEXT)
    assert "can't be read" in ran("chunk", "a.md", "--env-file", "none.env", cwd=tmp_path).err
    (tmp_path / "x.env").write_text("MAX_TOKENS=many\n")
    wrong = ran("chunk", "a.md", "--env-file", "x.env", cwd=tmp_path)
    assert wrong.code == 2
    assert "max_tokens" in wrong.err
    (tmp_path / "y.env").write_text("INCLUDE_PAGE_TAG=true\n")
    other = ran("chunk", "a.md", "--env-file", "y.env", cwd=tmp_path)
    assert "y.env" in other.err
    assert "blocks" in other.err


# Chunk fields of a wiki

WIKI = """\
# Клинические исследования препарата X

Лечение проводилось в течение 3 месяцев.

## Результаты

### Эффективность

Медицинские исследования показывают эффективность нового препарата. Клинические испытания завершены успешно.

Побочные эффекты минимальны.

- первая группа
  - подгруппа
- вторая группа

## Выводы

Препарат **одобрен** [комиссией](https://example.org/k).
"""


@pytest.fixture
def wiki(tmp_path: Path) -> Path:
    document = spanwise.read_text(
        WIKI, page_id="12345", space_key="MED", page_version=4, updated_at="2026-01-28T10:00:00Z",
        source_url="https://wiki.example.org/x", labels=["госзакупки-2026"],
    )  # fmt: skip
    other = spanwise.read_text("# Склад\n\nОстатки на складе.", page_id="777", source_url="https://wiki.example.org/y")
    store = tmp_path / "wiki.db"
    spanwise.index([document, other], str(store), strategy="blocks", embedder=None, max_tokens=90, overlap_tokens=20)
    return store


def example(number: int) -> str:
    return (DATA / "seed_examples" / f"chunk_fields_{number}.py.txt").read_text()


def test_example_1_shows_what_was_found(wiki: Path, capsys: Captured) -> None:
    engine = SimpleNamespace(search=lambda query: spanwise.search(query, wiki, dialect="confluence"))
    exec(example(1), {"search_engine": engine})
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "Найдено в: Клинические исследования препарата X"
    assert lines[1].startswith("Раздел: ")
    assert any(line.startswith("Перейти: https://wiki.example.org/x#:~:text=") for line in lines)


def test_example_2_joins_without_duplicates() -> None:
    made = spanwise.chunk(WIKI, "blocks", max_tokens=60, overlap_tokens=15)
    chunks = translate(made, "confluence")
    assert len(chunks) >= 3
    assert any(one["overlap_prev_block_indices"] for one in chunks)
    names: dict[str, Any] = {f"chunk{number}": chunk for number, chunk in enumerate(chunks[:3], 1)}
    exec(example(2), names)
    for line in ("Побочные эффекты минимальны.", "Лечение проводилось в течение 3 месяцев."):
        assert names["combined_text"].count(line) <= 1
    assert "##" not in names["combined_text"]


def test_example_3_embeds_with_our_embedder(wiki: Path) -> None:
    (call,) = [line for line in example(3).splitlines() if line.startswith("chunk_embedding")]
    chunk = spanwise.search("эффективность", wiki, dialect="confluence")[0]["chunk"]
    for model in (embedder_of("universal"), PluginEmbedder(WordEmbedder(), "mine")):
        assert model is not None
        names: dict[str, Any] = {"model": model, "chunk": chunk}
        exec(call, names)
        assert names["chunk_embedding"].shape == (model.dimension,)
        assert abs(float((names["chunk_embedding"] ** 2).sum()) - 1) < 1e-3


def test_example_4_measures_overlap(wiki: Path, capsys: Captured) -> None:
    results = spanwise.search("группа подгруппа эффекты", wiki, dialect="confluence")
    for result in results:
        exec(example(4), {"chunk": result["chunk"]})
    out = capsys.readouterr().out
    assert "Перекрытие добавило" in out
    assert "Перекрытие добавило -" not in out


def test_search_in_the_dialect_gives_each_chunk_once(wiki: Path) -> None:
    results = spanwise.search("препарат", wiki, limit=10, dialect="confluence")
    assert [set(result) for result in results] == [{"chunk", "score"}] * len(results)
    ids = [result["chunk"]["chunk_id"] for result in results]
    assert len(set(ids)) == len(ids)
    assert [result["score"] for result in results] == sorted((result["score"] for result in results), reverse=True)


def test_search_in_the_dialect_equals_chunk(wiki: Path) -> None:
    document = spanwise.read_text(
        WIKI, page_id="12345", space_key="MED", page_version=4, updated_at="2026-01-28T10:00:00Z",
        source_url="https://wiki.example.org/x", labels=["госзакупки-2026"],
    )  # fmt: skip
    made = translate(spanwise.chunk(document, "blocks", max_tokens=90, overlap_tokens=20), "confluence")
    by_id = {one["chunk_id"]: one for one in made}
    found = [result["chunk"] for result in spanwise.search("эффективность препарата", wiki, dialect="confluence")]
    assert found
    assert all(by_id[chunk["chunk_id"]] == chunk for chunk in found)


def test_parts_of_one_block_keep_their_numbers(tmp_path: Path) -> None:
    document = spanwise.read_text(" ".join(f"Sentence {number} on it." for number in range(60)), page_id="1")
    spanwise.index(document, str(tmp_path / "s.db"), strategy="blocks", embedder=None, max_tokens=60)
    found = spanwise.search("Sentence", tmp_path / "s.db", limit=20, dialect="confluence")
    made = translate(spanwise.chunk(document, "blocks", max_tokens=60), "confluence")
    assert {one["chunk"]["chunk_id"] for one in found} == {one["chunk_id"] for one in made}
    assert "EDU:1:0-0.2" in {one["chunk_id"] for one in made}


def test_search_in_the_dialect_on_the_command_line(wiki: Path) -> None:
    found = ran("search", "препарат", "--store", wiki.name, "--dialect", "confluence", "--limit", "2", cwd=wiki.parent)
    hits = orjson.loads(found.out)["hits"]
    assert hits == spanwise.search("препарат", wiki, limit=2, dialect="confluence")


@pytest.mark.parametrize(("options", "rule"), [
    ({"dialect": "notes"}, "`dialect` is not known in search"),
    ({"dialect": "confluence", "budget": 100}, "`budget` can't be given with a dialect"),
    ({"dialect": "confluence", "parents": True}, "`parents` can't be given with a dialect"),
])  # fmt: skip
def test_search_refuses_what_no_dialect_has(wiki: Path, options: dict[str, Any], rule: str) -> None:
    with pytest.raises(OptionError, match=rule):
        spanwise.search("x", wiki, **options)


def test_a_label_finds_its_page(wiki: Path) -> None:
    (hit,) = spanwise.search("госзакупки-2026", wiki, limit=1)
    assert hit.title == "Клинические исследования препарата X"
    assert "госзакупки" not in hit.full_text


# Pages with figures


def sentence_chunks(text: str | list[str], **options: Any) -> list[str]:
    document = spanwise.read_text(text) if isinstance(text, str) else spanwise.read_pages(text)
    chunks = spanwise.chunk(document, "sentence", **options)
    limit = options.get("max_tokens", 500)
    assert broken_laws(document, [one.to_dict() for one in chunks], tokenizer_of("cl100k"), limit) == []
    assert check(chunks, document, **options) == ()
    return [chunk.normalized_text for chunk in chunks]


@pytest.mark.parametrize("text", [
    "Before.\n\n- an item. <figure><img src='a.png'></figure> After it.\n- another",
    "Before.\n\n> A quote. <figure>A\n> b</figure> After it.",
    "Before.\n\n| a | b |\n|---|---|\n| x <figure>f</figure> | y |\n| u | v |",
    "Before.\n\n1. one\n   - two <FIGURE class=x>f. g.</FIGURE> After it.",
])  # fmt: skip
def test_figures_are_whole_wherever_they_stand(text: str) -> None:
    for max_tokens in (16, 24, 500):
        chunks = sentence_chunks(text, max_tokens=max_tokens)
        for chunk in chunks:
            assert chunk.lower().count("<figure") == chunk.lower().count("</figure>")
            if "<figure" in chunk.lower():
                assert chunk.lower().endswith("</figure>")


def test_a_figure_in_code_or_without_an_end_is_text() -> None:
    assert len(sentence_chunks("- a `<figure>` b `</figure>` c\n- d")) == 1
    assert len(sentence_chunks("- a <figure> b\n- d")) == 1


def test_a_large_figure_in_a_list_is_alone() -> None:
    figure = f"<figure>{'word ' * 60}</figure>"
    document = spanwise.read_text(f"- One. {figure} Two.")
    chunks = spanwise.chunk(document, "sentence", max_tokens=30)
    assert [(chunk.normalized_text, chunk.oversize) for chunk in chunks] == [
        ("- One.", False), (figure, True), ("Two.", False),
    ]  # fmt: skip


def test_the_last_sentences_stay_with_a_figure() -> None:
    tokenizer = tokenizer_of("cl100k")
    sentences = [sentence(20, tokenizer), sentence(10, tokenizer), sentence(9, tokenizer)]
    for words, kept in ((22, 1), (30, 2)):  # all that fit: two sentences beside a small figure, one beside a larger
        figure = f"<figure>{'word ' * words}</figure>"
        first, second = sentence_chunks(f"{' '.join(sentences)}\n\n{figure}", max_tokens=50, overlap_ratio=0.0)
        assert first == " ".join(sentences[:kept])
        assert second == f"{' '.join(sentences[kept:])}\n\n{figure}"


@pytest.mark.parametrize("item", ["a) first", "b. second", "i) one", "v. five", "x. ten", "xxiv) much", "ż) last"])
def test_lettered_items_are_no_continuation(item: str) -> None:
    assert len(sentence_chunks(["The following is listed", item])) == 2


def test_a_divided_word_is_put_together() -> None:
    pages = ["Verarbeitung ist wichtig. Die Verar-", "beitung beginnt. Ende."]
    assert sentence_chunks(pages) == ["Verarbeitung ist wichtig. Die Verar-beitung beginnt. Ende."]
    assert sentence_chunks(["It is well-", "known, and well-known."]) == ["It is well-known, and well-known."]
    assert sentence_chunks(["It is abso-", "lutely so."]) == ["It is abso- lutely so."]


def test_overlap_over_a_divided_word_has_no_space_either() -> None:
    long = "x" * 30
    document = spanwise.read_pages([f"{long} processing {long} proces-", f"sing {long} goes {long} on and on."])
    chunks = spanwise.chunk(document, "sentence", max_chars=100, overlap_ratio=0.2)
    assert "proces-sing" in chunks[0].full_text


# Sections of notes

NOTE = """\
---
id: note-7
---
# Top / bottom

Opening.

## One

First. ^first

## Two \\ three

Second. ^second
"""


def test_notes_have_the_id_of_their_front_matter() -> None:
    (record,) = translate(spanwise.chunk(NOTE, "heading"), "notes")
    assert (record["id"], record["note_id"]) == ("note-7#c00", "note-7")


def test_block_ids_of_notes_are_those_of_the_first_section() -> None:
    (record,) = translate(spanwise.chunk(NOTE, "heading"), "notes")
    assert record["block_id"] is None  # the first packed section has none, the chunk has two
    apart = translate(spanwise.chunk(NOTE, "heading", strict=True), "notes")
    assert [one["block_id"] for one in apart] == [None, "first", "second"]
    (window,) = translate(spanwise.chunk(NOTE, "window"), "notes")
    assert window["block_id"] == "first"


def test_a_slash_in_a_heading_is_escaped() -> None:
    apart = translate(spanwise.chunk(NOTE, "heading", strict=True), "notes")
    assert apart[0]["section_path"] == r"/Top \/ bottom"
    assert path_parts(apart[2]["section_path"]) == ["Top / bottom", "Two \\ three"]
    assert path_parts("/") == []


def test_ids_that_several_notes_share_are_not_used(tmp_path: Path) -> None:
    for name, own in (("a", "same"), ("b", "same"), ("c", "other")):
        (tmp_path / f"{name}.md").write_text(f"---\nid: {own}\n---\nText of {name}.")
    for jobs in ("1", "2"):
        found = ran("chunk", ".", "--dialect", "notes", "--jobs", jobs, cwd=tmp_path)
        ids = [one["note_id"] for one in records(found.out)]
        assert ids[2] == "other"
        assert "same" not in ids
        assert len(set(ids)) == 3
        assert found.err.count("its id 'same' is that of another note") == 2
    outcomes = list(spanwise.chunk_files(tmp_path, dialect="notes"))
    assert [len(outcome.notes) for outcome in outcomes] == [1, 1, 0]
    assert b'"note_id":"other"' in (outcomes[2].value or b"")


# Offsets of JavaScript


def test_offsets_of_a_dialect_are_in_the_unit_that_is_asked_for(tmp_path: Path) -> None:
    text = "Zażółć 😀 gęślą. " * 40
    (tmp_path / "a.txt").write_text(text)
    units = text.encode("utf-16-le")
    found = records(ran("chunk", "a.txt", "--strategy", "fixed", "--max-tokens", "120", "--target-tokens", "80",
                        "--dialect", "fixed-size", "--offsets", "utf16", "-q", cwd=tmp_path).out)  # fmt: skip
    assert len(found) > 2
    for record in found:
        core = units[2 * record["startOffset"] : 2 * record["endOffset"]].decode("utf-16-le")
        assert record["content"].endswith(core)
    spec = translate(spanwise.chunk(text, offsets=["utf8"]), "spec-v1")
    assert spec[0]["char_end"] == len(text.strip().encode())
    with pytest.raises(OptionError, match="must name one unit"):
        translate(spanwise.chunk(text, offsets=["utf8", "utf16"]), "spec-v1")


# Checks of the dialects

LONG = "\n\n".join(["# Report", *[f"## Part {n}\n\n" + f"Sentence of part {n} with words. " * 30 for n in range(8)]])


@pytest.mark.parametrize(("dialect", "strategy"), [
    ("notes", "heading"), ("notes", "window"), ("fixed-size", "fixed"), ("pages", "sentence"), ("notes", "structure"),
    ("spec-v1", "structure"),
])  # fmt: skip
def test_check_reads_dialects(dialect: str, strategy: str, tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text(LONG)
    ran("chunk", "a.md", "--strategy", strategy, "--dialect", dialect, "-o", "c.jsonl", cwd=tmp_path)
    assert ran("check", "c.jsonl", "--source", "a.md", "--strategy", strategy, cwd=tmp_path).code == 0
    assert ran("check", "c.jsonl", cwd=tmp_path).code == 0
    lines = (tmp_path / "c.jsonl").read_text().splitlines(keepends=True)
    assert len(lines) > 3
    text = {"notes": "text", "fixed-size": "content", "pages": "text", "spec-v1": "md_text"}[dialect]
    altered = [orjson.loads(line) for line in lines]
    altered[2][text] = altered[2][text].replace("words", "wrods")
    damages = {
        "lost": [*lines[:2], *lines[3:]],
        "provenance": [(orjson.dumps(one) + b"\n").decode() for one in altered],
    }
    for rule, damaged in damages.items():
        (tmp_path / "d.jsonl").write_text("".join(damaged))
        found = ran("check", "d.jsonl", "--source", "a.md", "--strategy", strategy, cwd=tmp_path)
        assert found.code == 1
        assert f"violation: {rule}" in found.out.decode()


DIALECTS = [("notes", "heading"), ("fixed-size", "fixed"), ("pages", "sentence"), ("confluence", "blocks"),
            ("spec-v1", "structure")]  # fmt: skip


@pytest.mark.parametrize(("dialect", "strategy"), DIALECTS)
def test_check_finds_the_document_of_a_dialect_in_python(dialect: str, strategy: Any) -> None:
    document = spanwise.read_text("---\nid: mine\n---\n" + LONG.replace("with", "mit 😀"), page_id="55")
    other = spanwise.read_text("Something else.", page_id="56")
    made = translate(chunked(document, strategy, offsets=["utf16"]), dialect)
    assert check(made, document, strategy=strategy, offsets="utf16") == ()
    if dialect in {"notes", "confluence", "spec-v1"}:  # these name their documents
        assert check(made, [other, document], strategy=strategy, offsets="utf16") == ()
    names = {"notes": "text", "fixed-size": "content", "pages": "text", "confluence": "md_text", "spec-v1": "md_text"}
    made[1][names[dialect]] = made[1][names[dialect]].replace("words", "wrods")
    wrong = check(made, document, strategy=strategy, offsets="utf16")
    assert "provenance" in {finding.rule for finding in wrong if finding.level == "violation"}
    with pytest.raises(OptionError, match="`offsets` must be utf8 or utf16"):
        check(made, document, offsets="utf32")


def test_check_judges_by_options_under_other_names() -> None:
    made = translate(spanwise.chunk(LONG, "fixed"), "fixed-size")
    strategy: Any = "fixed"
    found = check(made, strategy=strategy, max=60, target=50, MIN_TOKENS_PER_CHUNK=10)
    assert "limit" in {finding.rule for finding in found}


def test_check_counts_and_limits_in_dialects() -> None:
    made = translate(spanwise.chunk(LONG, "fixed"), "fixed-size")
    made[0]["metadata"]["tokenCount"] += 1
    made[1]["chunkIndex"] = 5
    rules = {finding.rule for finding in check(made, strategy=None) if finding.level == "violation"}
    assert rules >= {"count", "neighbours"}
    notes = translate(spanwise.chunk(LONG, "heading"), "notes")
    notes[1]["id"] = "x#c09"
    assert {finding.rule for finding in check(notes)} == {"identity"}


# Chunks below the minimum

SHORT = f"# A\n\n{'Long enough for the minimum. ' * 30}\n\nShort one.\n\n{'Also long enough for it. ' * 30}"


def short_records(dialect: str | None) -> list[dict[str, Any]]:
    document = spanwise.read_text(SHORT, document_id="d")
    chunks = spanwise.chunk(document, target_tokens=1, min_tokens=1, overlap_tokens=0)
    assert len(chunks) == 3
    return translate(chunks, dialect) if dialect else [chunk.to_dict() for chunk in chunks]


@pytest.mark.parametrize("dialect", [None, "spec-v1"])
def test_check_finds_chunks_that_are_too_short(dialect: str | None) -> None:
    (finding,) = [one for one in check(short_records(dialect)) if one.level == "violation"]
    assert finding.rule == "promise"
    assert "below min_tokens (120)" in finding.reason
    assert finding.chunk == short_records(dialect)[1]["chunk_id"]
    assert [one for one in check(short_records(dialect), min_tokens=1) if one.level == "violation"] == []


@pytest.mark.parametrize("text", [
    "# A\n\nShort.\n\n# B\n\nShort too.",  # the last of their sections
    f"# A\n\nShort.\n\n| a | b |\n|---|---|\n{'| c | d |' * 3}\n\nShort.",  # beside a table
    "# A\n\nShort.\n\n```\ncode\n```\n\nShort.",
    f"# A\n\n{'word ' * 870}.\n\nShort.\n\n{'word ' * 870}.",  # no neighbour has room
])  # fmt: skip
def test_short_chunks_that_are_allowed(text: str) -> None:
    document = spanwise.read_text(text)
    chunks = spanwise.chunk(document)
    assert [one for one in check(chunks, document) if one.level == "violation"] == []


def test_an_unknown_type_is_a_violation() -> None:
    for dialect in (None, "spec-v1"):
        made = short_records(dialect)
        made[0]["chunk_type"] = "poem"
        rules = [one.reason for one in check(made, min_tokens=1) if one.level == "violation"]
        assert len(rules) == 1
        assert "poem" in rules[0]


# Long paragraphs


def test_a_long_paragraph_is_filled_up_to_the_limit() -> None:
    tokenizer = tokenizer_of("cl100k")
    document = spanwise.read_text(" ".join([sentence(20, tokenizer)] * 100))
    sizes = [tokenizer.count(chunk.normalized_text) for chunk in spanwise.chunk(document)]
    assert sizes[:-2] == [900]
    assert abs(sizes[-1] - sizes[-2]) <= 20
    assert len(sizes) == 3


# Languages by paragraph


FILLERS = {
    "en": "The road goes on and on for the travellers of the old town.",
    "de": "Der Weg führt immer weiter durch den Wald und die Stadt.",
    "pl": "Droga prowadzi dalej i dalej przez stary las.",
    "ru": "Дорога идёт дальше и дальше через весь город.",
}
ABBREVIATED = {
    "de": ["Das gilt z. B. Herrn Müller und Dr. Schmidt.", "Die Fa. Meier liefert ggf. Ersatz.",
           "Dort wohnen die Gebr. Grimm und der stellv. Leiter nicht.", "Er ist am Hbf. Köln und wird erwartet."],
    "pl": ["Biuro jest przy ul. Długiej w Łodzi.", "Pani dr Nowak i prof. Kowalski są w tzw. Domu.",
           "To był tow. Gomułka oraz kard. Wyszyński.", "Jest tam ppor. Kot i nadkom. Wilk."],
    "ru": ["Тов. Иванов выступил с докладом.", "Он живёт на ул. Ленина в г. Казани.",
           "Докладывал инж. Петров из отд. Кадров.",
           "Это сказал чл.-корр. Павлов, а гр-н Сидоров и нач. Цеха молчали."],
}  # fmt: skip


@pytest.mark.parametrize("outer", FILLERS)
@pytest.mark.parametrize("inner", ABBREVIATED)
@pytest.mark.parametrize("mark", ["", "- ", "> "])
def test_sentences_follow_the_language_of_their_paragraph(outer: str, inner: str, mark: str) -> None:
    sentences = [sentence for one in ABBREVIATED[inner] for sentence in (FILLERS[inner], one, one)] * 6
    text = "\n\n".join([" ".join([FILLERS[outer]] * 30), mark + " ".join(sentences), " ".join([FILLERS[outer]] * 9)])
    begins = {sentence.split()[0] + " " + sentence.split()[1] for sentence in (*sentences, FILLERS[outer])}
    for strategy in ("structure", "fixed", "blocks", "heading", "window"):
        for max_tokens in (90, 120, 150):
            for chunk in spanwise.chunk(text, strategy, max_tokens=max_tokens):
                assert " ".join(chunk.normalized_text.removeprefix(mark).split()[:2]) in begins


# Tables, lists and places


def test_a_table_without_a_head_gets_no_leaf_for_one() -> None:
    rows = "".join(f"<tr><td>{name}</td><td>{name * 2}</td></tr>" for name in "abcdefgh")
    document = spanwise.read_text(f"<html><body><table>{rows}</table></body></html>", "html")
    chunks = spanwise.chunk(document, "blocks", max_tokens=30, overlap_tokens=0)
    assert len(chunks) > 1
    assert all(any(character.isalpha() for character in chunk.normalized_text) for chunk in chunks)
    assert chunks[0].core_block_indices[0] == 0
    assert chunks[-1].core_block_indices[-1] == 7  # a leaf for each row
    assert chunks[0].navigation["xpath_start"].endswith("/tr[1]")


def test_a_nested_item_keeps_its_indentation_in_overlap() -> None:
    text = "\n".join(f"- item {number}\n  - nested {number} in it" for number in range(12))
    document = spanwise.read_text(text)
    chunks = spanwise.chunk(document, "blocks", max_tokens=60, overlap_tokens=12)
    assert check(chunks, document, max_tokens=60, overlap_tokens=12) == ()
    nested = [line for chunk in chunks for line in chunk.full_text.splitlines()[1:] if "nested" in line]
    assert nested
    assert all(line.startswith("  - nested") for line in nested)
    around = [piece for chunk in chunks for piece in chunk.pieces if piece.role.startswith("overlap")]
    assert around


def test_pages_of_storage_alone_have_their_places() -> None:
    inner = "<ac:rich-text-body><p>In.</p></ac:rich-text-body>"
    page = f'<h1>A</h1><p>One.</p><ac:structured-macro ac:name="info">{inner}</ac:structured-macro>'
    chunks = spanwise.chunk(spanwise.read_text(page, "confluence"), "structure", min_tokens=0, target_tokens=1)
    places = [(chunk.navigation["xpath_start"], chunk.navigation["css_selector_start"]) for chunk in chunks]
    assert places[0] == ("/p[1]", "p:nth-of-type(1)")
    assert places[1] == ("/ac:structured-macro[1]", "ac\\:structured-macro:nth-of-type(1)")


# Two of the seven documents as real files

REAL = {
    "developing-a-service.html": Counter({"code": 9, "mixed": 12, "paragraph": 25, "quote": 4, "table": 9}),
    "invoice.pdf": Counter({"table": 2, "mixed": 2, "paragraph": 1}),
}


def real(name: str) -> Document:
    return spanwise.read(DATA / "seven" / name, document_id=name)


@pytest.mark.parametrize("name", REAL)
def test_real_files_number_types_limits_and_ids(name: str) -> None:
    document = real(name)
    chunks = spanwise.chunk(document)
    made = [chunk.to_dict() for chunk in chunks]
    assert broken_laws(document, made, tokenizer_of("cl100k"), 900) == []
    assert Counter(chunk.chunk_type for chunk in chunks) == REAL[name]
    assert [one for one in check(chunks, document) if one.level == "violation"] == []
    program = (
        "import spanwise, sys; document = spanwise.read(sys.argv[1], document_id=sys.argv[2]);"
        "print(*[chunk.chunk_id for chunk in spanwise.chunk(document)])"
    )
    call = [sys.executable, "-c", program, str(DATA / "seven" / name), name]
    again = subprocess.run(call, capture_output=True, text=True, check=True)
    assert again.stdout.split() == [chunk.chunk_id for chunk in chunks]


def test_the_real_page_has_sections_and_links() -> None:
    document = real("developing-a-service.html")
    chunks = spanwise.chunk(document)
    assert len({chunk.headings_path for chunk in chunks}) > 20
    links = {link.target for chunk in chunks for link in chunk.metadata.links}
    assert "http://java.sun.com/javaee/5/docs/api/javax/xml/ws/WebFault.html" in links


def test_what_is_shown_of_the_next_chunk_ends_with_a_word() -> None:
    text = f"Zdanie pierwsze jest tutaj i ma długość. Adres to {'x' * 300} koniec."
    first = spanwise.chunk(text, "sentence", max_chars=60, overlap_ratio=0.5)[0]
    assert first.full_text == "Zdanie pierwsze jest tutaj i ma długość. Adres to"
