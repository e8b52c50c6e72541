"""Plug-ins: found by name, loaded when they are asked for, and under the laws whatever they return."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from collections.abc import Iterable, Sequence
from itertools import count, pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from acme_spanwise.embedder import LetterEmbedder
from acme_spanwise.reader import IniReader
from acme_spanwise.strategy import ByLines, ByLinesOptions, ByShare
from acme_spanwise.tokenizer import LetterTokenizer
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

import spanwise
from plugging import Install
from spanwise import ChunkPlan, Document, OptionError, PlannedCore, PluginError, UnreadableError, plugins
from spanwise.chunking.pieces import OverlapChoices, RepeatedContext
from spanwise.chunking.proposers import proposer_of
from spanwise.chunking.strategies import STRATEGIES, plugin_strategies, strategy_names, strategy_of
from spanwise.embedding import embedder_of
from spanwise.readers import has_reader, input_formats, known_suffixes
from spanwise.stores import open_store
from spanwise.testing import MemoryStore, broken_laws
from spanwise.testing.made_markdown import markdown
from spanwise.text.tokens import tokenizer_of

TEXT = (
    "# Tea\n\nBoil fresh water.\nTake your time.\n\n<!-- never -->\n\nGreen tea takes two minutes.\n\n"
    "## Milk\n\nNo milk.\n"
)


class Planning(ByLines):
    """A strategy that returns what it is given."""

    name = "planning"

    def __init__(self, found: Any) -> None:
        self.found = found

    def plan(self, task: spanwise.ChunkingTask) -> Any:
        return self.found(task) if callable(self.found) else self.found


def cores(document: Document, strategy: Any, **options: Any) -> list[str]:
    return [chunk.normalized_text for chunk in spanwise.chunk(document, strategy, **options)]


# ── names ────────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.process
def test_built_in_names_need_no_look_at_what_is_installed() -> None:
    program = (
        "import sys, spanwise; from spanwise.readers import has_reader\n"
        "spanwise.chunk('a', 'fixed', 'approx'); has_reader('a.md')\n"
        "print('importlib.metadata' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


@pytest.mark.usefixtures("acme")
def test_a_name_finds_each_kind(tmp_path: Path) -> None:
    file = tmp_path / "a.ini"
    file.write_text("[tea]\nwater = fresh\ntime = 2\n")
    document = spanwise.read(file)
    assert (document.metadata.source_type, document.metadata.file_path) == ("ini", file.as_posix())
    assert document.text == "# tea\n\n- water: fresh\n- time: 2\n"
    strategy: Any = "by-lines"
    chunks = spanwise.chunk(document, strategy, "letters", lines=3)
    assert [chunk.normalized_text for chunk in chunks] == ["# tea\n\n- water: fresh", "- time: 2"]
    assert (chunks[1].strategy, chunks[1].tokenizer, chunks[1].token_count) == ("by-lines", "letters", 9)
    embedder = embedder_of("letters:abc")
    assert embedder is not None
    assert (embedder.name, embedder.dimension) == ("letters:abc", 3)
    assert embedder.embed(["aab"])[0].tolist() == pytest.approx([2 / 5**0.5, 1 / 5**0.5, 0])
    store = open_store(f"pickled://{tmp_path / 'x.pickle'}", create=True)
    assert store.status()["documents"] == 0
    found = cores(spanwise.read_text("One.\n\nTwo.\n\nThree.\n"), "smart", proposer="every:2", min_tokens=0)
    assert found == ["One.", "Two.\n\nThree."]


@pytest.mark.usefixtures("acme")
def test_a_built_in_name_wins() -> None:
    assert strategy_of("fixed") is STRATEGIES["fixed"]
    assert strategy_names() == [*STRATEGIES, "acme-broken", "by-lines", "by-share"]


@pytest.mark.usefixtures("acme")
def test_a_plug_in_that_can_t_be_loaded_harms_only_those_who_ask_for_it(tmp_path: Path) -> None:
    (tmp_path / "a.xyz").write_text("a")
    for ask in (lambda: strategy_of("acme-broken"), lambda: spanwise.read(tmp_path / "a.xyz", format="acme-broken")):
        with pytest.raises(PluginError) as caught:
            ask()
        for part in ("acme-broken", "acme-spanwise 1.2", "ImportError: this needs a library that isn't there"):
            assert part in str(caught.value)
    with pytest.raises(PluginError, match="strategy acme-broken"):
        strategy_of("acme-broken")
    found = plugin_strategies()
    assert isinstance(found["acme-broken"], PluginError)
    assert found["by-lines"] is strategy_of("by-lines")
    assert {".ini", ".cfg"} <= {*known_suffixes()}
    with pytest.raises(UnreadableError, match=r"no reader knows") as unknown:
        spanwise.read(tmp_path / "a.xyz")
    assert "reader acme-broken (acme-spanwise 1.2)" in str(unknown.value.hint)
    assert ".ini" in str(unknown.value.hint)


def test_what_two_packages_offer_is_refused(install: Install) -> None:
    entry = {"strategies": {"by-lines": "acme_spanwise.strategy:ByLines"}}
    install("one 1.0", entry)
    install("two 2.0", entry)
    with pytest.raises(PluginError, match=r"one 1.0 and two 2.0.*offered by two packages"):
        strategy_of("by-lines")


@pytest.mark.usefixtures("acme")
@pytest.mark.parametrize(
    ("use", "hint"),
    [
        (lambda: strategy_of("by-line"), "did you mean `by-lines`?"),
        (lambda: tokenizer_of("leters"), "did you mean `letters`?"),
        (lambda: embedder_of("leters:x"), "did you mean `letters`?"),
        (lambda: open_store("pickle:///x"), "did you mean `pickled`?"),
        (lambda: cores(spanwise.read_text("a"), "smart", proposer="evry"), "did you mean `every`?"),
        (lambda: spanwise.read_text("a", "inii"), "did you mean `ini`?"),
    ],
)
def test_plug_ins_are_among_the_hints(use: Any, hint: str) -> None:
    with pytest.raises(OptionError) as caught:
        use()
    assert hint in str(caught.value.hint)


# ── strategies ───────────────────────────────────────────────────────────────────────────────────────────────────


def test_an_object_is_a_strategy() -> None:
    document = spanwise.read_text(TEXT)
    assert cores(document, ByLines(), lines=4) == [
        "# Tea\n\nBoil fresh water.\nTake your time.",
        "Green tea takes two minutes.",
        "## Milk\n\nNo milk.",
    ]
    assert cores(document, ByShare(), max_chars=1.0) == [
        "Boil fresh water.\nTake your time.\n\nGreen tea takes two minutes.\n\nNo milk."
    ]
    with pytest.raises(OptionError, match="`line` is not an option") as caught:
        cores(document, ByLines(), line=4)
    assert caught.value.hint == "did you mean `lines`?"
    with pytest.raises(OptionError, match=r"between 0\.01 and 1\.0: 2\.0"):
        cores(document, ByShare(), max_chars=2.0)


@settings(max_examples=80)
@given(markdown(), st.lists(st.integers(0, 3000)), st.sampled_from((16, 40, 200)), st.sampled_from(("plain", "tags")))
def test_the_laws_hold_wherever_it_cuts(text: str, cuts: list[int], limit: int, template: str) -> None:
    document = spanwise.read_text(text)
    edges = sorted({0, len(document.text), *(cut % (len(document.text) + 1) for cut in cuts)})
    for leaves_out in ((), {"heading", "rule"}):
        strategy: Any = Planning([*pairwise(edges)])
        strategy.leaves_out = frozenset(leaves_out)
        chunks = spanwise.chunk(document, strategy, max_tokens=limit, template=template)
        records = [chunk.to_dict() for chunk in chunks]
        assert broken_laws(document, records, tokenizer_of("cl100k"), limit, leaves_out=set(leaves_out)) == []


def test_cuts_are_moved_out_of_characters_and_figures() -> None:
    document = spanwise.read_text("👩‍👩‍👧a\n\n<figure>one two</figure>\n\nb")
    middle = document.text.index("two")
    spans = [(0, 3), (3, middle), (middle, len(document.text))]
    assert cores(document, Planning(spans)) == ["👩‍👩‍👧a", "<figure>one two</figure>\n\nb"]


def test_a_core_over_the_limit_is_cut_again() -> None:
    document = spanwise.read_text("One sentence of a few words. " * 30)
    chunks = spanwise.chunk(document, Planning([(0, len(document.text))]), max_tokens=40)
    assert len(chunks) > 3
    assert max(chunk.token_count for chunk in chunks) <= 40


LENGTH = len(TEXT)


@pytest.mark.parametrize(
    ("plan", "message"),
    [
        ([(0, 50), (40, LENGTH)], rf"begins before the end of the one before it, at 50: \(40, {LENGTH}\)"),
        ([(50, LENGTH), (0, 50)], "leaves out a heading at 0"),
        ([(0, 30), (25, 60), (60, LENGTH)], "begins before the end"),
        ([(0, LENGTH + 1)], rf"outside the text, which has {LENGTH} characters"),
        ([(-1, LENGTH)], "outside the text"),
        ([(0, LENGTH), (9, 3)], "outside the text"),
        ([(0, 20)], "leaves out a paragraph at 20"),
        ([(0, 60), (70, LENGTH)], "leaves out a paragraph at 60"),
        ([(0, 5.5)], "is no span"),
        ([(0, LENGTH, 3)], "is no span"),
        (["ab"], "is no span"),
        ([3], "is no span"),
        (None, "must return spans"),
        ("text", "must return spans"),
        (lambda task: ((number, number + 1) for number in count()), "outside the text"),
        (lambda task: ((0, 0) for _ in range(3)), "leaves out a heading at 0"),
        (ChunkPlan([PlannedCore(0, LENGTH, 0, 9, around=OverlapChoices())]), "with `around`"),
        (lambda task: task.nothing, "raised AttributeError"),
    ],
)
def test_a_plan_that_breaks_a_rule_is_refused(plan: Any, message: str) -> None:
    with pytest.raises(PluginError, match=message) as caught:
        spanwise.chunk(spanwise.read_text(TEXT), Planning(plan))
    assert caught.value.subject == "strategy planning"


def test_what_it_raises_names_it_and_the_document() -> None:
    def fails(task: spanwise.ChunkingTask) -> Iterable[tuple[int, int]]:
        yield 0, 5
        raise KeyError("x")

    with pytest.raises(PluginError, match=r"`strategy planning` raised KeyError: 'x', for notes/a.md") as caught:
        spanwise.chunk(spanwise.read_text(TEXT, file_path="notes/a.md"), Planning(fails))
    assert isinstance(caught.value.__cause__, KeyError)
    with pytest.raises(MemoryError):
        spanwise.chunk(TEXT, Planning(lambda task: bytearray(2**62)))


class OptionsWithPlainField(spanwise.Options):
    """Options of which one is not declared."""

    size: int = 5


class OptionsWithWrongDefault(spanwise.Options):
    """Options of which one has a default that it refuses."""

    size: int = spanwise.option(1, "too small", low=5)


class OptionsWithReservedName(spanwise.Options):
    """Options of which one is named as an argument."""

    tokenizer: str = spanwise.option("x", "not possible")


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"name": ""}, "must have a `name`"),
        ({"name": None}, "must have a `name`"),
        ({"name": "fixed"}, "has the name of a built-in strategy"),
        ({"plan": 3}, "must have a method `plan"),
        ({"options": None}, "must have `options`"),
        ({"options": dict}, "must have `options`"),
        ({"options": OptionsWithPlainField}, "option `size` that must be declared by `option`"),
        ({"options": OptionsWithWrongDefault}, "option `size` that must be at least 5, its default too: 1"),
        ({"options": OptionsWithReservedName}, "option `tokenizer`, which is the name of something else"),
        ({"leaves_out": 5}, "raised TypeError: 'int' object is not iterable"),
        ({"leaves_out": {"table"}}, "may leave out heading and rule only"),
        ({"has_parents": True}, "only built-in strategies may"),
        ({"asks_model": True}, "only built-in strategies may"),
    ],
)
def test_an_object_that_is_no_strategy_is_refused(changes: dict[str, Any], message: str) -> None:
    wrong: Any = type("Wrong", (ByLines,), changes)()
    with pytest.raises(PluginError, match=message):
        spanwise.chunk(TEXT, wrong)


@pytest.mark.parametrize("thing", [3, object(), b"fixed", ["fixed"]])
def test_what_is_neither_a_name_nor_a_strategy_is_refused(thing: Any) -> None:
    with pytest.raises(OptionError, match="must be a name, or an object"):
        spanwise.chunk(TEXT, thing)


def test_a_class_in_place_of_an_object_is_refused() -> None:
    wrong: Any = ByLines
    with pytest.raises(PluginError, match="is a class") as caught:
        spanwise.chunk(TEXT, wrong)
    assert caught.value.hint == "try ByLines()"


def test_an_option_of_another_type_is_refused_where_it_is_declared() -> None:
    with pytest.raises(OptionError, match="must be an integer, a number"):
        spanwise.option([1], "a list")


class WithOverlap(spanwise.Strategy):
    """Whole paragraphs, with some words of the one before, and the first heading repeated."""

    name = "with-overlap"
    options = spanwise.Options

    def plan(self, task: spanwise.ChunkingTask) -> ChunkPlan:
        blocks = task.document.blocks
        edges = [block.start for block in blocks] + [len(task.text)]
        return ChunkPlan([PlannedCore(start, end, 0, 0, overlap=start > 0) for start, end in pairwise(edges)])

    def overlap_start(self, task: spanwise.ChunkingTask, previous: PlannedCore, free: int) -> int | None:
        return max(previous.start, previous.end - 3)

    def repeat(self, task: spanwise.ChunkingTask, core: PlannedCore) -> RepeatedContext:
        return RepeatedContext(((0, 1),)) if core.start else RepeatedContext()


def test_overlap_and_context_are_whole_characters() -> None:
    document = spanwise.read_text("e\u0301a 👩‍👩‍👧\n\nb\n\nc")
    chunks = spanwise.chunk(document, WithOverlap(), max_tokens=100)
    assert [chunk.full_text for chunk in chunks] == ["e\u0301a 👩‍👩‍👧", "👩‍👩‍👧\n\nb", "b\n\nc"]
    assert broken_laws(document, [chunk.to_dict() for chunk in chunks], tokenizer_of("cl100k"), 100) == []


# ── readers ──────────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_reader_is_a_format(tmp_path: Path) -> None:
    file = tmp_path / "a.txt"
    file.write_text("[tea]\nwater = fresh\n")
    document = spanwise.read(file, format=IniReader(), title="Mine", extra={"team": "a"})
    assert document.blocks[0].kind == "heading"
    known = document.metadata
    assert (known.source_type, known.title, dict(known.extra)) == ("IniReader", "Mine", {"team": "a"})
    assert document.document_id == spanwise.read(file).document_id
    assert spanwise.read_text("[a]\nb=1", IniReader()).text == "# a\n\n- b: 1\n"
    (outcome,) = spanwise.chunk_files(
        spanwise.SourceItem("x", format=IniReader(), data=b"[a]\nb=1", metadata={"source_url": "https://x.example"})
    )
    assert outcome.error is None
    assert b'"source_url":"https://x.example"' in (outcome.value or b"")


@pytest.mark.usefixtures("acme")
def test_folders_hold_what_plug_ins_read(tmp_path: Path) -> None:
    for name in ("a.ini", "b.CFG", "c.md", "d.xyz"):
        (tmp_path / name).write_text("[a]\nb = 1\n")
    found = [Path(outcome.name).name for outcome in spanwise.chunk_files(tmp_path)]
    assert found == ["a.ini", "b.CFG", "c.md"]
    assert has_reader("x/A.INI")
    assert input_formats()[-1] == "ini"


@pytest.mark.usefixtures("acme")
@pytest.mark.parametrize("jobs", [1, 2])
def test_a_file_that_a_reader_fails_on_does_not_stop_the_rest(jobs: int, tmp_path: Path) -> None:
    for name, text in {"a.ini": "[a]\nb = 1\n", "b.ini": "no section\n", "c.ini": "[c]\nd = 1\n"}.items():
        (tmp_path / name).write_text(text)
    outcomes = [*spanwise.chunk_files(tmp_path, ByLines(), jobs=jobs)]
    assert [outcome.error is None for outcome in outcomes] == [True, False, True]
    message = str(outcomes[1].error)
    assert "reader ini (acme-spanwise 1.2)" in message
    assert "MissingSectionHeaderError" in message
    assert "b.ini" in message
    assert isinstance(outcomes[1].error, PluginError)


def test_two_readers_of_one_extension_are_asked_for_by_name(install: Install, tmp_path: Path) -> None:
    install("one 1.0", {"readers": {"ini": "acme_spanwise.reader:IniReader"}})
    install("two 1.0", {"readers": {"ini2": "acme_spanwise.reader:IniReader"}})
    (tmp_path / "a.ini").write_text("[a]\nb = 1\n")
    with pytest.raises(UnreadableError, match="could be read by ini and ini2"):
        spanwise.read(tmp_path / "a.ini")
    assert spanwise.read(tmp_path / "a.ini", format="ini2").metadata.source_type == "ini2"


class Returning:
    """A reader that returns what it is given."""

    suffixes = (".any",)

    def __init__(self, found: Any, suffixes: Any = (".any",)) -> None:
        self.found, self.suffixes = found, suffixes

    def read(self, data: bytes, **metadata: Any) -> Any:
        return self.found


@pytest.mark.parametrize(
    ("reader", "error", "message"),
    [
        (Returning("text"), PluginError, "must return a Document for .*a.txt: 'str'"),
        (Returning(None, "ini"), PluginError, "must have `suffixes`"),
        (Returning(None, None), PluginError, "must have `suffixes`"),
        (Returning(None, ["ini"]), PluginError, "must have extensions"),
        (Returning(None, [""]), PluginError, "must have extensions"),
        (object(), OptionError, "must be a name, or an object with `read"),
        (3, OptionError, "must be a name, or an object with `read"),
    ],
)
def test_an_object_that_is_no_reader_is_refused(reader: Any, error: Any, message: str, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("a")
    with pytest.raises(error, match=message):
        spanwise.read(tmp_path / "a.txt", format=reader)


def test_a_document_of_a_reader_is_completed(tmp_path: Path) -> None:
    file = tmp_path / "a.any"
    file.write_text("x")
    block = spanwise.Block("paragraph", 0, 1)
    made = Document("x", (block,), metadata=spanwise.Metadata(title="T", labels=("l",)))
    document = spanwise.read(file, format=Returning(made), tenant_id="acme")
    assert document.document_id == spanwise.read_text("", file_path=file.as_posix(), tenant_id="acme").document_id
    assert (document.metadata.title, document.metadata.labels) == ("T", ("l",))
    named = Document("x", (block,), metadata=spanwise.Metadata(document_id="message-7"))
    assert spanwise.read(file, format=Returning(named)).document_id == "message-7"


# ── tokenizers ───────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_tokenizer_needs_three_attributes() -> None:
    chunks = spanwise.chunk(TEXT, "structure", LetterTokenizer(), max_tokens=40)
    assert {chunk.tokenizer for chunk in chunks} == {"letters"}
    assert all(chunk.token_count == len(chunk.embedding_text) <= 40 for chunk in chunks)
    findings = spanwise.check(chunks, spanwise.read_text(TEXT), LetterTokenizer())
    assert not any(one.level == "violation" for one in findings)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"ends": lambda self, text: [3, 2]}, r"ends that ascend inside the text: \(3, 2\)"),
        ({"ends": lambda self, text: [len(text) + 1]}, "ends that ascend"),
        ({"ends": lambda self, text: [-1]}, "ends that ascend"),
        ({"ends": lambda self, text: ["a"]}, "raised TypeError"),
        ({"ends": lambda self, text: 1 / 0}, "raised ZeroDivisionError"),
        ({"count": lambda self, text: "three"}, "must count a text with a number: 'three'"),
        ({"count": lambda self, text: -1}, "must count"),
        ({"count": lambda self, text: text.nothing}, "raised AttributeError"),
        ({"name": ""}, "must have a name"),
        ({"added": -1}, "must have a name"),
        ({"seam": "\n"}, "must have as `seam` a compiled pattern"),
    ],
)
def test_a_tokenizer_that_breaks_a_rule_is_refused(changes: dict[str, Any], message: str) -> None:
    wrong: Any = type("Wrong", (LetterTokenizer,), changes)()
    with pytest.raises(PluginError, match=message):
        spanwise.chunk(TEXT, "structure", wrong, max_tokens=20)


# ── embedders ────────────────────────────────────────────────────────────────────────────────────────────────────


class Failing(LetterEmbedder):
    """An embedder that fails on some texts."""

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        if any("poison" in text for text in texts):
            raise ValueError("this can't be embedded")
        return super().embed(texts)


def test_a_document_that_an_embedder_fails_on_does_not_stop_the_rest(tmp_path: Path) -> None:
    documents = [
        spanwise.read_text(text, document_id=name) for name, text in zip("abc", ("a b", "poison", "c d"), strict=True)
    ]
    store = MemoryStore()
    report = spanwise.index(documents, store, embedder=Failing(""))
    assert (report.added, report.failed, report.embedded) == (2, 1, 2)
    assert [one.document_id for one in report.documents if one.error] == ["b"]
    assert "`embedder letters` raised ValueError: this can't be embedded" in str(report.documents[1].error)
    assert [one.document_id for one in store.reading("").documents()] == ["a", "c"]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"embed": lambda self, texts: np.zeros((1, 3))}, r"2 vectors of 26 numbers: \(1, 3\)"),
        ({"embed": lambda self, texts: [[float("nan")] * 26] * 2}, "must return finite numbers"),
        ({"embed": lambda self, texts: "vectors"}, "raised ValueError"),
        ({"dimension": property(lambda self: 0, lambda self, value: None)}, "must have as `dimension`"),
    ],
)
def test_an_embedder_that_breaks_a_rule_is_refused(changes: dict[str, Any], message: str) -> None:
    wrong: Any = type("Wrong", (LetterEmbedder,), changes)("")
    embedder = embedder_of(wrong)
    assert embedder is not None
    with pytest.raises(PluginError, match=message):
        embedder.embed(["a", "b"])
    nameless: Any = type("Nameless", (LetterEmbedder,), {"name": property(lambda self: 3, lambda self, value: None)})(
        ""
    )
    with pytest.raises(PluginError, match="must have a `name`: 3"):
        spanwise.index([], MemoryStore(), embedder=nameless)
    with pytest.raises(OptionError, match="an object with `dimension`"):
        spanwise.index([], MemoryStore(), embedder=LetterTokenizer())  # type: ignore[call-overload]


# ── stores ───────────────────────────────────────────────────────────────────────────────────────────────────────


class Torn(MemoryStore):
    """A store that fails."""

    def tenants(self) -> list[str]:
        raise ValueError("torn")

    def reading(self, tenant: str) -> Any:
        raise ValueError("torn")


def test_what_a_store_raises_names_it() -> None:
    with pytest.raises(PluginError, match="`store Torn` raised ValueError: torn"):
        spanwise.search("a", Torn())
    with pytest.raises(PluginError, match="must have a method `model`"):
        spanwise.search("a", type("Half", (), {"reading": 1})())
    with pytest.raises(OptionError, match="has an address of a kind that no store has"):
        open_store("mysql://localhost/x")


@pytest.mark.usefixtures("acme")
def test_a_store_of_a_plug_in_is_indexed_and_searched(tmp_path: Path) -> None:
    address = f"pickled://{tmp_path / 'x.pickle'}"
    with pytest.raises(spanwise.StoreError, match="doesn't exist"):
        spanwise.search("tea", address)
    (tmp_path / "a.md").write_text(TEXT)
    assert spanwise.index(tmp_path / "a.md", address, embedder="letters").added == 1
    assert spanwise.index(tmp_path / "a.md", address).unchanged == 1
    hits = spanwise.search("green tea", address)
    assert hits[0].normalized_text.startswith("Boil fresh water")
    assert not hits.notes


# ── proposers ────────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_function_proposes_for_many_documents(tmp_path: Path) -> None:
    def last(window: spanwise.Window) -> list[int]:
        return [len(window.lines)]

    for name in "ab":
        (tmp_path / f"{name}.md").write_text("One.\n\nTwo.\n\nThree.\n")
    outcomes = [*spanwise.chunk_files(tmp_path, "smart", proposer=last, min_tokens=0)]
    assert [(outcome.value or b"").count(b"\n") for outcome in outcomes] == [2, 2]
    report = spanwise.index(tmp_path, MemoryStore(), strategy="smart", proposer=last, embedder=None, min_tokens=0)
    assert (report.added, report.chunks) == (2, 4)
    with pytest.raises(OptionError, match="is not for the strategy fixed"):
        spanwise.chunk_files(tmp_path, "fixed", proposer=last)  # type: ignore[call-overload]
    with pytest.raises(OptionError, match="`model` is for the proposer that is given"):
        [*spanwise.chunk_files(tmp_path, "smart", proposer=last, model="m")]


def test_what_a_proposer_raises_is_the_error_of_its_file(tmp_path: Path) -> None:
    def picky(window: spanwise.Window) -> list[int]:
        return [] if "Tea" in window.lines[0] else [int(window.lines[0])]

    (tmp_path / "a.md").write_text("Tea.\n\nMilk.\n")
    (tmp_path / "b.md").write_text("Milk.\n\nTea.\n")
    good, bad = spanwise.chunk_files(tmp_path, "smart", proposer=picky)
    assert good.error is None
    assert "`proposer picky` raised ValueError" in str(bad.error)


# ── checks ───────────────────────────────────────────────────────────────────────────────────────────────────────


def test_chunks_of_an_object_are_judged_by_the_laws() -> None:
    document = spanwise.read_text(TEXT)
    for strategy in (ByLines(), ByShare()):
        chunks = spanwise.chunk(document, strategy)
        assert [one for one in spanwise.check(chunks, document) if one.level == "violation"] == []
        records = [chunk.to_dict() for chunk in chunks]
        (first, *_) = spanwise.check(records, document)
        assert (first.rule, first.reason) == ("record", f"strategy is not known: {strategy.name!r}")
        assert [one for one in spanwise.check(records, document, strategy=strategy) if one.level == "violation"] == []
    records[0]["normalized_text"] = "something else"
    assert any(one.level == "violation" for one in spanwise.check(records, document, strategy=ByShare()))


@pytest.mark.usefixtures("acme")
def test_records_of_a_plug_in_are_judged_by_its_name() -> None:
    document = spanwise.read_text(TEXT)
    records = [chunk.to_dict() for chunk in spanwise.chunk(document, ByLines(), "letters")]
    assert [one for one in spanwise.check(records, document, lines=3) if one.level == "violation"] == []
    with pytest.raises(OptionError, match="`line` is not an option"):
        spanwise.check(records, document, line=3)
    records[0]["strategy"] = "acme-broken"
    (found, *_) = spanwise.check(records[:1])
    assert "acme-spanwise 1.2" in found.reason


# ── indexing again ───────────────────────────────────────────────────────────────────────────────────────────────


def test_another_version_of_a_plug_in_indexes_again(install: Install, tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text(TEXT)
    store: Any = MemoryStore()
    strategy: Any = "by-lines"

    def indexed() -> int:
        return spanwise.index(tmp_path, store, strategy=strategy, embedder=None).unchanged

    install("acme 1.0", {"strategies": {"by-lines": "acme_spanwise.strategy:ByLines"}})
    assert (indexed(), indexed()) == (0, 1)
    folder = Path(next(one for one in sys.path if "installed" in one))
    os.rename(folder / "acme-1.0.dist-info", folder / "gone")  # noqa: PTH104 - a name that no distribution has
    install("acme 2.0", {"strategies": {"by-lines": "acme_spanwise.strategy:ByLines"}})
    assert (plugins.origin("strategies", "by-lines"), indexed(), indexed()) == ("acme 2.0", 0, 1)


def test_plain_options_are_declared_once() -> None:
    assert strategy_of(ByLines()).options is ByLinesOptions
    assert [*ByLinesOptions.__dataclass_fields__][-2:] == ["lines", "headings"]
    assert ByLinesOptions(lines=4).lines == 4  # type: ignore[call-arg]


# ── what a stranger would try ────────────────────────────────────────────────────────────────────────────────────


class TargetOnly(spanwise.Options):
    """Sizes without a limit of their own."""

    target_tokens: int = spanwise.option(100, "wanted size", low=1)
    overlap_tokens: int = spanwise.option(10, "overlap", low=0)


class NamedTarget(spanwise.Options):
    """A size that is a name."""

    target_tokens: str = spanwise.option("small", "wanted size", choices=("small", "large"))


@pytest.mark.parametrize("given", [{}, {"target_tokens": 5}, {"overlap_tokens": 5}, {"max_tokens": 20}])
def test_sizes_without_a_default_limit(given: dict[str, int]) -> None:
    strategy = Planning(lambda task: [(0, len(task.text))])
    strategy.options = TargetOnly  # type: ignore[assignment]
    (chunk,) = spanwise.chunk("One. Two.", strategy, **given)  # type: ignore[call-overload]
    assert (chunk.normalized_text, chunk.max_tokens) == ("One. Two.", given.get("max_tokens"))
    strategy.options = NamedTarget  # type: ignore[assignment]
    with pytest.raises(PluginError, match="option `target_tokens` that must be an integer"):
        spanwise.chunk("One. Two.", strategy)


@pytest.mark.parametrize("now", ["acme_spanwise.broken:Reader", None])
def test_documents_of_a_lost_reader_stay(now: str | None, install: Install, tmp_path: Path) -> None:
    docs, store = tmp_path / "docs", tmp_path / "s.db"
    docs.mkdir()
    (docs / "a.ini").write_text("[tea]\nwater = fresh\n")
    (docs / "b.md").write_text("Milk.")
    install("acme 1.0", {"readers": {"ini": "acme_spanwise.reader:IniReader"}})
    assert spanwise.index(docs, store, embedder=None).added == 2
    folder = Path(next(one for one in sys.path if "installed" in one))
    os.rename(folder / "acme-1.0.dist-info", folder / "gone")  # noqa: PTH104 - a name that no distribution has
    install("acme 2.0", {"readers": {"ini": now}} if now else {})
    report = spanwise.index(docs, store, embedder=None)
    assert (report.unchanged, report.deleted, report.failed) == (1, 0, 1)
    (lost,) = [one for one in report.documents if one.status == "failed"]
    assert "no reader takes its extension now" in str(lost.error)
    assert ("acme 2.0" in str(lost.error)) is bool(now)
    assert [hit.title for hit in spanwise.search("water", store)]
    (docs / "a.ini").unlink()
    assert spanwise.index(docs, store, embedder=None).deleted == 1


def test_a_reader_with_a_built_in_name_takes_no_files(install: Install) -> None:
    install("acme 1.0", {"readers": {"markdown": "acme_spanwise.reader:IniReader"}})
    assert not has_reader("a.ini")


def test_a_wrong_document_names_its_reader(tmp_path: Path) -> None:
    class Beyond:
        suffixes = (".x",)

        def read(self, data: bytes, **metadata: Any) -> Document:
            return Document("abc", (spanwise.Block("paragraph", 0, 30),))

    (tmp_path / "a.x").write_text("abc")
    with pytest.raises(PluginError, match=r"reader Beyond.*a\.x.*blocks.*must end inside the text"):
        spanwise.read(tmp_path / "a.x", format=Beyond())
    with pytest.raises(PluginError, match=r"reader Beyond.*is a class.*\n.*Beyond\(\)"):
        spanwise.read(tmp_path / "a.x", format=Beyond)  # type: ignore[arg-type]


def test_a_module_that_fails_is_loaded_once_and_prints_on_stderr(
    install: Install, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "acme_spanwise_noisy.py").write_text("print('noise')\nraise SystemExit(3)\n")
    monkeypatch.syspath_prepend(tmp_path)
    install("noisy 1.0", {"strategies": {"noisy": "acme_spanwise_noisy:X"}})
    for _ in range(3):
        with pytest.raises(PluginError, match="SystemExit: 3"):
            strategy_of("noisy")
    printed = capsys.readouterr()
    assert (printed.out, printed.err) == ("", "noise\n")


def test_wrong_answers_of_a_proposer_name_it() -> None:
    def wrong(window: Any) -> list[int]:
        return [0, -3]

    with proposer_of(wrong) as proposer:
        spanwise.chunk("One.\n\nTwo.", "smart", proposer=proposer)
        (reason,) = proposer.report.reasons
    assert reason == "the answer was wrong twice: proposer wrong: the numbers don't ascend"


def test_some_chunks_are_chunks() -> None:
    chunks = spanwise.chunk(TEXT, ByLines(), lines=1)
    some = chunks[1:3]
    assert some.to_arrow().to_pylist() == chunks.to_arrow().to_pylist()[1:3]
    assert chunks[::-1].to_arrow().column("chunk_id").to_pylist()[0] == chunks[-1].chunk_id
    assert [one.chunk_id for one in pickle.loads(pickle.dumps(some))] == [one.chunk_id for one in some]
