"""The public API: names, options and their errors, values, the record, ids, links, templates."""

from __future__ import annotations

import copy
import hashlib
import json
import pickle
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pytest

import spanwise
from proposing import offline
from spanwise import (
    Block,
    Chunk,
    Document,
    DocumentError,
    EndpointError,
    LimitError,
    Link,
    Metadata,
    MissingExtraError,
    OptionError,
    Page,
    Part,
    Piece,
    Span,
    SpanwiseError,
    StoreError,
    UnreadableError,
)
from spanwise.errors import ConnectionLostError
from spanwise.text.tokens import tokenizer_of

DEMO = sorted((Path(spanwise.__file__).parent / "cli" / "demo" / "documents").glob("*.md"))
STRATEGIES: tuple[Any, ...] = ("structure", "fixed", "simple")


def document_of(text: str, **metadata: Any) -> Document:
    return spanwise.read_text(text, **{"document_id": "d", **metadata})


TEXT = document_of("# Żółw\n\n" + "Zdanie o żółwiu i gęsi. " * 60 + "\n\n## Ó\n\n- a\n- b\n\nKoniec.")


# ── names ────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_all_is_sorted_and_every_name_is_there() -> None:
    assert list(spanwise.__all__) == sorted(spanwise.__all__)
    assert len(set(spanwise.__all__)) == len(spanwise.__all__)
    for name in spanwise.__all__:
        assert getattr(spanwise, name).__module__.startswith("spanwise.")
    assert dir(spanwise) == spanwise.__all__


def test_all_holds_what_the_contract_names() -> None:
    assert set(spanwise.__all__) == {
        "Block", "Chunk", "ChunkPlan", "ChunkingTask", "Chunks", "Document", "DocumentError", "DocumentReport",
        "Embedder", "EndpointError", "Estimate", "EvaluateEvent", "EvaluationReport", "Explanation", "Finding", "Hit",
        "Hits", "IndexEvent", "IndexReport", "LeftOut", "LimitError", "Link", "Metadata", "MissingExtraError",
        "OptionError", "Options", "Outcome", "Page", "Part", "Piece", "PlannedCore", "PluginError", "Proposer",
        "ProposerReport", "Reader", "Reranker", "ServicePlan", "SourceItem", "Span", "SpanwiseError", "Store",
        "StoreError", "StoreReader", "StoreWriter", "Strategy", "TokenMap", "Tokenizer", "UnreadableError", "Vault",
        "Weights", "Window", "check", "chunk", "chunk_files", "estimate", "evaluate", "index", "open_store", "option",
        "plan", "read", "read_pages", "read_text", "read_vault", "records_from_arrow", "search", "translate",
    }  # fmt: skip


def test_former_names_are_still_found() -> None:
    assert (spanwise.ChosenPlan, spanwise.Report) == (spanwise.ServicePlan, spanwise.ProposerReport)


def run(program: str) -> str:
    """Run a program in a fresh interpreter and return its output."""
    return subprocess.run(
        [sys.executable, "-W", "error", "-c", program], capture_output=True, text=True, check=True
    ).stdout.strip()


@pytest.mark.process
def test_nothing_else_is_public() -> None:
    program = "import spanwise; print(*[name for name in vars(spanwise) if not name.startswith('_')])"
    assert set(run(program).split()) <= {*spanwise.__all__, "annotations", "TYPE_CHECKING"}


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="has no attribute 'chunker'"):
        spanwise.chunker  # noqa: B018


@pytest.mark.process
def test_importing_loads_nothing_heavy() -> None:
    program = "import sys, spanwise; print(*sys.modules)"
    loaded = {name.split(".")[0] for name in run(program).split()}
    assert not loaded & {"numpy", "tokenizers", "splintr", "pyromark", "pyuegc", "charset_normalizer", "hypothesis"}


@pytest.mark.process
def test_reading_and_options_load_no_tokenizer() -> None:
    program = "import sys, spanwise; spanwise.read_text('ż', format='text'); print(*sys.modules)"
    assert not set(run(program).split()) & {"tokenizers", "splintr", "charset_normalizer"}


@pytest.mark.process
def test_star_import_gives_all() -> None:
    assert run("from spanwise import *; print(chunk.__name__, Document.__name__)") == "chunk Document"


def test_version_is_that_of_the_package() -> None:
    from importlib.metadata import version

    assert spanwise.__version__ == version("spanwise")


@pytest.mark.process
def test_the_library_prints_nothing() -> None:
    assert run("import spanwise; spanwise.chunk(spanwise.read_text('# A\\n\\nb'))") == ""


# ── options ──────────────────────────────────────────────────────────────────────────────────────────────────────


def refused(strategy: Any = "structure", tokenizer: Any = "approx", **options: Any) -> OptionError:
    """Return the error raised for these options; it must be an OptionError, a ValueError, and complete."""
    with pytest.raises(OptionError) as caught:
        spanwise.chunk(TEXT, strategy, tokenizer, **options)
    error = caught.value
    assert isinstance(error, ValueError)
    assert str(error).startswith(f"`{error.subject}` {error.rule}")
    assert error.hint
    assert str(error).endswith(f"\nhint: {error.hint}")
    return error


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("size", [15, 1, 0, -5])
def test_a_limit_below_sixteen_is_refused(strategy: str, size: int) -> None:
    error = refused(strategy, max_tokens=size)
    assert (error.subject, error.value) == ("max_tokens", size)
    assert "at least 16" in error.rule
    assert str(size) in str(error)


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_a_limit_of_sixteen_is_taken(strategy: Any) -> None:
    assert all(chunk.token_count <= 16 for chunk in spanwise.chunk(TEXT, strategy, "approx", max_tokens=16))


@pytest.mark.parametrize("strategy", ["structure", "fixed"])
@pytest.mark.parametrize(
    ("options", "subject", "other"),
    [
        ({"target_tokens": 300, "max_tokens": 200}, "target_tokens", "max_tokens"),
        ({"min_tokens": 300, "target_tokens": 200}, "min_tokens", "target_tokens"),
        ({"min_tokens": 300, "max_tokens": 200}, "min_tokens", "max_tokens"),
        ({"min_tokens": 300, "target_tokens": 200, "max_tokens": 400}, "min_tokens", "target_tokens"),
    ],
)
def test_sizes_that_contradict_each_other_are_refused(
    strategy: str, options: dict[str, int], subject: str, other: str
) -> None:
    error = refused(strategy, **options)
    assert (error.subject, error.value) == (subject, options[subject])
    assert f"`{other}` ({options[other]})" in error.rule


def test_too_much_overlap_is_refused() -> None:
    error = refused(max_tokens=200, overlap_tokens=101)
    assert (error.subject, error.value) == ("overlap_tokens", 101)
    assert "half of `max_tokens`" in error.rule
    assert refused("fixed", overlap_ratio=0.9).subject == "overlap_ratio"
    assert refused("fixed", overlap_ratio=-0.1).subject == "overlap_ratio"
    assert refused("fixed", overlap_ratio=float("nan")).subject == "overlap_ratio"


@pytest.mark.parametrize(
    ("strategy", "options"),
    [
        ("structure", {"max_tokens": 100}), ("structure", {"max_tokens": 16}), ("structure", {"target_tokens": 2000}),
        ("structure", {"min_tokens": 1500}), ("structure", {"target_tokens": 50}), ("structure", {"min_tokens": 0}),
        ("structure", {"overlap_tokens": 0}),
        ("structure", {"max_tokens": 200, "target_tokens": 200, "min_tokens": 200}),
        ("fixed", {"max_tokens": 50}), ("fixed", {"target_tokens": 1000}), ("fixed", {"min_tokens": 900}),
        ("fixed", {"overlap_ratio": 0}), ("simple", {"max_tokens": None}), ("simple", {"max_chars": 1}),
        ("simple", {"max_tokens": 16, "max_chars": 5000}),
    ],
)  # fmt: skip
def test_defaults_adapt_to_given_options(strategy: Any, options: dict[str, Any]) -> None:
    limit = options.get("max_tokens") or max(900, *(value or 0 for value in options.values()))
    for chunk in spanwise.chunk(TEXT, strategy, "approx", **options):
        assert chunk.token_count <= limit


def test_a_larger_target_raises_the_limit() -> None:
    text = document_of("Zdanie o żółwiu. " * 1000)
    assert max(chunk.token_count for chunk in spanwise.chunk(text, tokenizer="approx", target_tokens=2000)) > 900


@pytest.mark.parametrize(
    ("strategy", "typo", "meant"),
    [
        ("structure", "max_token", "max_tokens"), ("structure", "overlaps", "overlap_tokens"),
        ("fixed", "overlap_ration", "overlap_ratio"),
        ("structure", "mixcode", "mix_code"), ("simple", "max_char", "max_chars"), ("simple", "templat", "template"),
    ],
)  # fmt: skip
def test_a_misspelt_option_gets_the_right_one_as_a_hint(strategy: str, typo: str, meant: str) -> None:
    error = refused(strategy, **{typo: 100})
    assert error.subject == typo
    assert error.hint == f"did you mean `{meant}`?"


@pytest.mark.parametrize(
    ("strategy", "name"), [("fixed", "overlap_tokens"), ("simple", "target_tokens"), ("structure", "max_chars")]
)
def test_an_option_of_another_strategy_is_refused(strategy: str, name: str) -> None:
    assert refused(strategy, **{name: 100}).subject == name


@pytest.mark.parametrize(
    ("strategy", "name", "value"),
    [
        ("structure", "max_tokens", "512"), ("structure", "max_tokens", 512.0), ("structure", "max_tokens", True),
        ("structure", "max_tokens", None), ("structure", "min_tokens", False), ("structure", "mix_code", 1),
        ("structure", "mix_code", "yes"), ("structure", "template", 5), ("structure", "template", None),
        ("structure", "max_heading_levels", "2"), ("fixed", "overlap_ratio", "0.1"), ("fixed", "overlap_ratio", True),
        ("fixed", "target_tokens", [500]), ("simple", "max_chars", 10.5), ("simple", "max_chars", None),
    ],
)  # fmt: skip
def test_an_option_of_the_wrong_type_is_refused(strategy: str, name: str, value: Any) -> None:
    error = refused(strategy, **{name: value})
    assert (error.subject, error.value) == (name, value)
    assert error.rule.startswith("must be ")


@pytest.mark.parametrize(
    ("name", "value"), [("max_heading_levels", 0), ("max_heading_levels", 7), ("target_tokens", 0)]
)
def test_an_option_out_of_range_is_refused(name: str, value: int) -> None:
    options: dict[str, Any] = {name: value}
    assert refused(**options).subject == name
    assert refused("simple", max_chars=0).subject == "max_chars"


@pytest.mark.parametrize(("strategy", "hint"), [("strucutre", "structure"), ("Fixed", "fixed"), ("simpel", "simple")])
def test_a_misspelt_strategy_gets_the_right_one_as_a_hint(strategy: str, hint: str) -> None:
    error = refused(strategy)
    assert (error.subject, error.value, error.hint) == ("strategy", strategy, f"did you mean `{hint}`?")


@pytest.mark.parametrize("strategy", ["", "zzz", 5, ["structure"]])
def test_an_unknown_strategy_is_refused(strategy: Any) -> None:
    assert refused(strategy).subject == "strategy"


def test_an_unknown_tokenizer_is_refused() -> None:
    assert refused(tokenizer="cl10k").subject == "tokenizer"


def test_an_unknown_template_is_refused() -> None:
    error = refused(template="tag")
    assert (error.subject, error.hint) == ("template", "did you mean `tags`?")


@pytest.mark.parametrize("offsets", [("utf9",), "utf32", ("utf8", "utf-16"), 5, [["utf8"]], [8]])
def test_an_unknown_measure_is_refused(offsets: Any) -> None:
    assert refused(offsets=offsets).subject == "offsets"


@pytest.mark.parametrize("document", [None, {"text": "x"}, b"text"])
def test_non_documents_are_refused(document: Any) -> None:
    with pytest.raises(OptionError, match=r"spanwise\.read_text") as caught:
        spanwise.chunk(document)
    assert caught.value.subject == "document"


def test_a_character_larger_than_the_limit_is_a_limit_error() -> None:
    class Greedy:
        name, added, seam = "greedy", 0, None

        def count(self, text: str) -> int:
            return 20 * len(text)

        def ends(self, text: str) -> Any:
            from array import array

            return array("i", [place for place in range(1, len(text) + 1) for _ in range(20)])

    with pytest.raises(LimitError, match="max_tokens") as caught:
        spanwise.chunk(document_of("żółw"), tokenizer=Greedy(), max_tokens=16)
    assert caught.value.hint


# ── errors ───────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    "kind",
    [
        SpanwiseError,
        OptionError,
        UnreadableError,
        DocumentError,
        LimitError,
        StoreError,
        ConnectionLostError,
        EndpointError,
        MissingExtraError,
    ],
)
def test_errors_can_be_pickled_and_copied(kind: type[SpanwiseError]) -> None:
    error = kind("max_tokens", "must be ż", value=[1, "ó"], hint="try 5")
    for other in (pickle.loads(pickle.dumps(error)), copy.copy(error), copy.deepcopy(error)):
        assert type(other) is kind
        parts = (other.subject, other.rule, other.value, other.hint)
        assert parts == ("max_tokens", "must be ż", [1, "ó"], "try 5")
        assert str(other) == str(error) == "`max_tokens` must be ż: [1, 'ó']\nhint: try 5"


def test_the_tree_of_errors() -> None:
    for kind in (OptionError, UnreadableError, DocumentError, LimitError):
        assert issubclass(kind, SpanwiseError)
        assert issubclass(kind, ValueError)
    assert issubclass(MissingExtraError, ImportError)
    assert issubclass(MissingExtraError, SpanwiseError)
    assert issubclass(StoreError, SpanwiseError)
    assert issubclass(ConnectionLostError, StoreError)
    assert issubclass(EndpointError, SpanwiseError)


def test_an_error_shortens_a_long_value() -> None:
    assert len(str(OptionError("a", "b", value="x" * 10_000))) < 200


def test_a_raised_error_can_be_pickled() -> None:
    error = refused(max_tokens=5)
    assert str(pickle.loads(pickle.dumps(error))) == str(error)


# ── values ───────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(("start", "end"), [(5, 5), (5, 4), (-1, 4), (-5, -2)])
@pytest.mark.parametrize("make", [Span, Part, Piece, lambda start, end: Block("paragraph", start, end)])
def test_empty_reversed_and_negative_ranges_are_refused(
    make: Callable[[int, int], object], start: int, end: int
) -> None:
    with pytest.raises(DocumentError) as caught:
        make(start, end)
    assert caught.value.value == (start, end)


VALUES: list[tuple[Any, str]] = [
    (Span(0, 1), "start"), (Part(0, 1), "end"), (Piece(0, 1), "role"), (Block("paragraph", 0, 1), "kind"),
    (Page(1, 0, 5), "number"), (Link("a", "b"), "target"), (Metadata(document_id="d"), "title"), (TEXT, "text"),
    (spanwise.chunk(TEXT)[0], "token_count"), (spanwise.chunk(TEXT)[0], "anything"),
]  # fmt: skip


@pytest.mark.parametrize(("value", "name"), VALUES, ids=[f"{type(value).__name__}.{name}" for value, name in VALUES])
def test_values_are_frozen(value: Any, name: str) -> None:
    with pytest.raises(AttributeError):
        setattr(value, name, 5)
    with pytest.raises((AttributeError, TypeError)):
        delattr(value, name)


def test_span_algebra() -> None:
    assert Span(2, 8).contains(Span(2, 8))
    assert not Span(2, 8).contains(Span(1, 3))
    assert Span(2, 8).overlaps(Span(7, 9))
    assert not Span(2, 8).overlaps(Span(8, 9))
    assert Span(2, 8) == (2, 8)


@pytest.mark.parametrize("kind", ["paragraf", "", "Heading", None])
def test_an_unknown_kind_of_block_is_refused(kind: Any) -> None:
    with pytest.raises(DocumentError) as caught:
        Block(kind, 0, 1)
    assert caught.value.hint


@pytest.mark.parametrize("level", [None, 0, 7, -1])
def test_a_heading_has_a_level_from_one_to_six(level: int | None) -> None:
    with pytest.raises(DocumentError):
        Block("heading", 0, 1, ("a",), level)


def test_only_headings_have_a_level() -> None:
    with pytest.raises(DocumentError):
        Block("paragraph", 0, 1, (), 2)


@pytest.mark.parametrize(("role", "joiner"), [("kern", ""), ("core", "x"), ("core", " x "), ("", "")])
def test_a_piece_has_a_known_role_and_a_white_joiner(role: str, joiner: str) -> None:
    with pytest.raises(DocumentError):
        Piece(0, 1, role, joiner)


def test_a_piece_of_each_role() -> None:
    for role in ("core", "overlap_prev", "overlap_next", "context"):
        assert Piece(0, 1, role, "\n\n").role == role


def paragraph(start: int, end: int) -> Block:
    return Block("paragraph", start, end)


@pytest.mark.parametrize(
    "blocks", [(paragraph(0, 3), paragraph(2, 4)), (paragraph(2, 4), paragraph(0, 1)), (paragraph(0, 99),)]
)
def test_blocks_that_overlap_or_leave_the_text_are_refused(blocks: tuple[Block, ...]) -> None:
    with pytest.raises(DocumentError):
        Document("abcd", blocks, metadata=Metadata(document_id="d"))


def test_a_visible_character_without_a_block_is_refused() -> None:
    with pytest.raises(DocumentError):
        Document("ab cd", (paragraph(0, 2),), metadata=Metadata(document_id="d"))


def test_parts_that_leave_their_block_are_refused() -> None:
    with pytest.raises(DocumentError):
        Document(
            "- a\n- b", (Block("list", 0, 7, parts=(Part(0, 3), Part(4, 99))),), metadata=Metadata(document_id="d")
        )


def test_pages_that_leave_the_text_are_refused() -> None:
    with pytest.raises(DocumentError):
        Document("ab", (paragraph(0, 2),), pages=(Page(1, 0, 99),), metadata=Metadata(document_id="d"))


def test_a_document_without_an_id_gets_that_of_its_source_or_text() -> None:
    one, other = Document("a", (paragraph(0, 1),)), Document("b", (paragraph(0, 1),))
    assert one.document_id == spanwise.read_text("a", format="text").document_id != other.document_id
    named = Document("a", (paragraph(0, 1),), metadata=Metadata(file_path="x.ini"))
    assert named.document_id == spanwise.read_text("other", format="text", file_path="x.ini").document_id


def test_a_document_is_shown_in_one_line() -> None:
    document = spanwise.read_text("# Tea\n\nBoil water.\n" * 100, document_id="d")
    assert repr(document) == "Document('d', 'Tea', 1,900 characters, 200 blocks, 0 pages)"
    assert repr(spanwise.read_pages(["a", "b"], document_id="p")) == "Document('p', 4 characters, 2 blocks, 2 pages)"


def test_blocks_given_as_a_list_can_t_be_changed_later() -> None:
    document = Document("ab", [paragraph(0, 2)], metadata=Metadata(document_id="d"))  # type: ignore[arg-type]
    assert isinstance(document.blocks, tuple)


def test_a_document_made_by_hand_can_be_chunked() -> None:
    text = "Tytuł\nŻółw."
    blocks = (Block("heading", 0, 5, ("Tytuł",), 1), Block("paragraph", 6, 11, ("Tytuł",)))
    (chunk,) = spanwise.chunk(Document(text, blocks, metadata=Metadata(document_id="d")))
    assert (chunk.normalized_text, chunk.headings_path) == ("Żółw.", ("Tytuł",))


def test_chunks_compare_hash_copy_and_pickle() -> None:
    first, again = spanwise.chunk(TEXT, max_tokens=100), spanwise.chunk(TEXT, max_tokens=100)
    assert first == again
    assert len(set(first) | set(again)) == len(first)
    assert first[0] != first[1]
    assert first[0] != "chunk"
    assert repr(first[0]).startswith("Chunk(0, [")
    travelled: Chunk = pickle.loads(pickle.dumps(first[1]))
    assert travelled.to_dict() == first[1].to_dict()


# ── the record ───────────────────────────────────────────────────────────────────────────────────────────────────

RECORD: dict[str, Any] = {
    "chunk_id": str, "content_id": str, "content_hash": str, "document_id": str, "tenant_id": str, "chunk_index": int,
    "strategy": str, "chunk_type": str, "headings_path": list, "section_type": type(None), "block_id": type(None),
    "char_start": int, "char_end": int, "pieces": list, "block_start_idx": int, "block_end_idx": int,
    "block_indices": list, "core_block_indices": list, "overlap_prev_block_indices": list,
    "overlap_next_block_indices": list, "page_start": type(None), "page_end": type(None), "normalized_text": str,
    "plain_text": str, "full_text": str, "embedding_text": str, "token_count": int, "tokenizer": str,
    "max_tokens": (int, type(None)), "oversize": bool, "context_dropped": bool,
    "prev_chunk_id": (str, type(None)), "next_chunk_id": (str, type(None)), "parent_id": type(None),
    "navigation": dict, "metadata": dict,
}  # fmt: skip


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_the_record_has_exactly_the_fields_of_the_contract(strategy: Any) -> None:
    document = spanwise.read(DEMO[0], tenant_id="t", source_url="https://a.example/b", extra={"mine": 1})
    for chunk in spanwise.chunk(document, strategy, max_tokens=200):
        record = chunk.to_dict()
        assert set(record) == set(RECORD)
        for name, kind in RECORD.items():
            assert isinstance(record[name], kind), name
        assert json.loads(json.dumps(record)) == record
        assert all(set(piece) == {"start", "end", "role", "joiner"} for piece in record["pieces"])
        assert set(record["navigation"]) == {
            "url", "xpath_start", "css_selector_start", "text_offset_start", "text_length", "highlight_metadata",
        }  # fmt: skip
        assert set(record["navigation"]["highlight_metadata"]) == {"text_fragment", "block_type", "text_offset"}
        assert record["metadata"]["extra"] == {"mine": 1}


def test_attributes_and_record_agree() -> None:
    for chunk in spanwise.chunk(TEXT, max_tokens=100):
        record = chunk.to_dict()
        for name in RECORD.keys() - {"pieces", "headings_path", "metadata"}:
            assert getattr(chunk, name) == record[name], name
        assert chunk.metadata.to_dict() == record["metadata"]
        assert list(chunk.headings_path) == record["headings_path"]
        assert [piece._asdict() for piece in chunk.pieces] == record["pieces"]


def test_records_can_be_changed_without_changing_the_chunk() -> None:
    chunk = spanwise.chunk(TEXT)[0]
    record = chunk.to_dict()
    record["pieces"][0]["start"] = 99
    record["metadata"]["labels"].append("x")
    record["navigation"].clear()
    assert chunk.to_dict() != record
    assert chunk.to_dict()["metadata"]["labels"] == []


def test_hashes_are_made_as_promised() -> None:
    for chunk in spanwise.chunk(TEXT, max_tokens=100, template="tags"):
        key = f"d:{chunk.block_start_idx}:{chunk.block_end_idx}:{chunk.char_start}:{chunk.char_end}"
        assert chunk.chunk_id == hashlib.sha256(key.encode()).hexdigest()
        assert chunk.content_hash == hashlib.sha256(chunk.embedding_text.encode()).hexdigest()
        assert re.fullmatch(r"[0-9a-f]{64}", chunk.content_id)


def test_neighbours_are_named() -> None:
    chunks = spanwise.chunk(TEXT, max_tokens=100)
    ids = [chunk.chunk_id for chunk in chunks]
    assert len(ids) > 3
    assert [chunk.prev_chunk_id for chunk in chunks] == [None, *ids[:-1]]
    assert [chunk.next_chunk_id for chunk in chunks] == [*ids[1:], None]
    assert [chunk.chunk_index for chunk in chunks] == list(range(len(chunks)))


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("ż", "paragraph"), ("- ż", "list"), ("| ż |\n|---|\n| a |", "table"), ("```\nż\n```", "code"),
        ("> ż", "quote"), ("<div>ż</div>", "paragraph"), ("<figure>ż</figure>", "figure"),
        ("ż\n\n<div>b</div>", "paragraph"), ("ż\n\n- a", "mixed"), ("ż\n\n[a]: /b\n\nó", "paragraph"),
        ("ż\n\n<!-- c -->\n\nó", "paragraph"),
    ],
)  # fmt: skip
def test_chunk_type(text: str, kind: str) -> None:
    (chunk,) = spanwise.chunk(document_of(text))
    assert chunk.chunk_type == kind


def test_what_is_not_content_is_in_no_piece() -> None:
    document = document_of("---\na: b\n---\nŻ\n\n<!-- c -->\n\nÓ\n\n[a]: /b")
    for strategy in STRATEGIES:
        (chunk,) = spanwise.chunk(document, strategy)
        assert chunk.normalized_text == chunk.full_text == "Ż\n\nÓ"
        assert (chunk.block_start_idx, chunk.block_end_idx) == (1, 3)
        assert chunk.core_block_indices == [1, 3]


# ── content ids ──────────────────────────────────────────────────────────────────────────────────────────────────

SECTIONS = [f"## Ż{number}\n\n" + f"Zdanie {number} o żółwiu. " * 12 for number in range(6)]


@pytest.mark.parametrize("place", [0, 3, 6])
def test_content_ids_survive_a_change_elsewhere(place: int) -> None:
    before = spanwise.chunk(document_of("\n\n".join(SECTIONS)))
    more = [*SECTIONS[:place], "## Nowe\n\nZupełnie nowy akapit.", *SECTIONS[place:]]
    after = spanwise.chunk(document_of("\n\n".join(more)))
    assert len(after) == len(before) + 1
    assert {chunk.content_id for chunk in before} < {chunk.content_id for chunk in after}
    assert {chunk.content_hash for chunk in before} < {chunk.content_hash for chunk in after}
    if place < 6:
        assert {chunk.chunk_id for chunk in before} != {chunk.chunk_id for chunk in after}


def test_content_ids_depend_on_document_path_and_text() -> None:
    def content_id(text: str, **metadata: Any) -> str:
        return spanwise.chunk(document_of(text, **metadata))[0].content_id

    base = content_id("# Ż\n\na")
    assert content_id("# Ż\n\na", title="other", source_url="https://a.example") == base
    assert content_id("# Ż\n\n\n\na\n") == base
    assert content_id("# Ż\n\na", document_id="e") != base
    assert content_id("# Ó\n\na") != base
    assert content_id("# Ż\n\nb") != base


def test_equal_chunks_have_different_content_ids() -> None:
    chunks = spanwise.chunk(document_of("# Ż\n\na\n\n---\n\na\n\n---\n\na"))
    assert [chunk.normalized_text for chunk in chunks] == ["a"] * 3
    assert len({chunk.content_id for chunk in chunks}) == 3
    assert len({chunk.content_hash for chunk in chunks}) == 1


# ── other measures ───────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("path", DEMO, ids=[path.name for path in DEMO])
def test_other_offsets_point_at_the_same_text(strategy: Any, path: Path) -> None:
    document = spanwise.read(path)
    utf8, utf16 = document.text.encode(), document.text.encode("utf-16-le")
    for chunk in spanwise.chunk(document, strategy, max_tokens=120, offsets=("utf8", "utf16")):
        record = chunk.to_dict()
        core = document.text[record["char_start"] : record["char_end"]]
        assert utf8[record["utf8_start"] : record["utf8_end"]].decode() == core
        assert utf16[2 * record["utf16_start"] : 2 * record["utf16_end"]].decode("utf-16-le") == core
        for piece in record["pieces"]:
            text = document.text[piece["start"] : piece["end"]]
            assert utf8[piece["utf8_start"] : piece["utf8_end"]].decode() == text
            assert utf16[2 * piece["utf16_start"] : 2 * piece["utf16_end"]].decode("utf-16-le") == text
        extra = {"utf8_start", "utf8_end", "utf16_start", "utf16_end"}
        assert set(record) == {*RECORD, *extra}


def test_a_single_offset_unit_may_be_named() -> None:
    record = spanwise.chunk(document_of("🐢 ż"), offsets="utf16")[0].to_dict()
    assert (record["utf16_start"], record["utf16_end"], "utf8_start" in record) == (0, 4, False)
    assert (record["char_start"], record["char_end"]) == (0, 3)


# ── navigation ───────────────────────────────────────────────────────────────────────────────────────────────────


def navigation(text: str, strategy: Any = "structure", **metadata: Any) -> dict[str, Any]:
    metadata.setdefault("source_url", "https://a.example/b")
    return spanwise.chunk(document_of(text, **metadata), strategy)[0].navigation


def test_a_link_opens_the_page_at_the_text() -> None:
    found = navigation("# A\n\nŻółw **i** [gęś](/x) po-go, 100 % & *ó*")
    assert found["url"].startswith(
        "https://a.example/b#:~:text=%C5%BB%C3%B3%C5%82w%20i%20g%C4%99%C5%9B%20po%2Dgo%2C%20100%20%25"
    )
    assert found["highlight_metadata"]["text_fragment"] == "Żółw i gęś po-go, 100 % & ó"
    assert found["highlight_metadata"]["block_type"] == "p"
    assert found["text_offset_start"] == found["highlight_metadata"]["text_offset"] == 5
    assert found["text_length"] == len("Żółw **i** [gęś](/x) po-go, 100 % & *ó*")
    assert found["xpath_start"] is found["css_selector_start"] is None


def test_without_a_url_there_is_no_link() -> None:
    assert navigation("ż", source_url=None)["url"] is None
    assert navigation("ż", source_url=None)["highlight_metadata"]["text_fragment"] == "ż"


def test_only_a_web_address_gets_a_fragment() -> None:
    assert navigation("ż", source_url="file:///a.md")["url"] == "file:///a.md"


def test_an_address_with_an_anchor_keeps_it() -> None:
    assert navigation("abc", source_url="https://a.example/#top")["url"] == "https://a.example/#top:~:text=abc"


def fragment(text: str, strategy: str = "structure", **metadata: Any) -> str:
    found: str = navigation(text, strategy, **metadata)["highlight_metadata"]["text_fragment"]
    return found


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        # an image is visible, not its description
        ("**Ż** _b_ `c` ~~d~~ ![e](f) [g](h) <b>i</b>", "Ż b c d g i"), ("- [x] ż\n- **b**", "ż b"),
        ("> ż\n> b", "ż b"), ("1. ż\n2. b", "ż b"), ("- ż\n  - b", "ż b"),
        ("| ż | b |\n|---|---|\n| c | d |", "ż b c d"), ("a &amp; ż", "a & ż"),
        ("```python\nżółw = 1\n```", "żółw = 1"), ("    żółw = 1", "żółw = 1"), ("<div>Ż <b>b</b></div>", "Ż b"),
        ("<figure><img src='a'><figcaption>Rys. ż</figcaption></figure>", "Rys. ż"), ("\\*ż\\*", "*ż*"),
        ("Ż [b][c] d.\n\n[c]: /u", "Ż b d."), ("Ż [c].\n\n# N\n\n[c]: /u", "Ż c."),
        ("Ż[^1] b\n\n# N\n\n[^1]: n", "Ż b"),
    ],
)  # fmt: skip
def test_fragment_is_the_visible_text(text: str, shown: str) -> None:
    assert fragment(text) == shown


def test_a_heading_is_shown_without_its_anchor() -> None:
    assert fragment("# Żółw {#a}\n\n" + "Zdanie. " * 20, "fixed").startswith("Żółw Zdanie.")


def test_later_rows_of_a_table_are_shown_without_pipes() -> None:
    rows = "".join(f"| wiersz {number} | komórka ż {number} |\n" for number in range(40))
    document = document_of(f"| a | b |\n|---|---|\n{rows}", source_url="https://a.example")
    chunks = spanwise.chunk(document, max_tokens=100)
    assert len(chunks) > 2
    for chunk in chunks:
        assert "|" not in chunk.navigation["highlight_metadata"]["text_fragment"]
        assert "%7C" not in chunk.navigation["url"]


def test_later_lines_of_code_are_shown_as_they_are() -> None:
    document = document_of("```\n" + "".join(f"x[{number}] = *ż*\n" for number in range(60)) + "```")
    for chunk in spanwise.chunk(document, max_tokens=100):
        assert chunk.navigation["highlight_metadata"]["text_fragment"].startswith("x[")


def test_plain_text_is_shown_as_it_is() -> None:
    document = spanwise.read_text("Ż *b* `c`\n# d", format="text", source_url="https://a.example")
    assert spanwise.chunk(document)[0].navigation["highlight_metadata"]["text_fragment"] == "Ż *b* `c` # d"


def test_a_fragment_has_at_most_a_hundred_characters_and_whole_words_in_the_link() -> None:
    words = [f"słowo{number:04}" for number in range(50)]
    found = navigation(" ".join(words))
    assert len(found["highlight_metadata"]["text_fragment"]) <= 100
    linked = unquote(found["url"].split("text=")[1])
    assert linked.split(" ") == words[: len(linked.split(" "))]


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("- ż", "li"),
        ("| ż |\n|---|", "tr"),
        ("```\nż\n```", "pre"),
        ("> ż", "blockquote"),
        ("<figure>ż</figure>", "figure"),
    ],
)
def test_the_element_of_a_block(text: str, kind: str) -> None:
    assert navigation(text)["highlight_metadata"]["block_type"] == kind


def test_the_element_of_a_heading() -> None:
    assert navigation("### Ż\n\na", "fixed")["highlight_metadata"]["block_type"] == "h3"


# ── templates ────────────────────────────────────────────────────────────────────────────────────────────────────


def embedded(text: str, template: str, **more: Any) -> str:
    options = {name: more.pop(name) for name in ("max_tokens", "max_heading_levels") if name in more}
    chunks = spanwise.chunk(document_of(text, **more), template=template, tokenizer="words", **options)
    for chunk in chunks:
        assert chunk.token_count == tokenizer_of("words").count(chunk.embedding_text)
        assert chunk.embedding_text.endswith(chunk.full_text)
    return chunks[-1].embedding_text


@pytest.mark.parametrize(
    ("text", "title", "expected"),
    [
        ("# A\n\n## B\n\n### C\n\nż", "T", "[PAGE] T\n[SECTION] B > C\n[TEXT] ż"), ("ż", "T", "[PAGE] T\n[TEXT] ż"),
        ("## B\n\nż", None, "[SECTION] B\n[TEXT] ż"), ("ż", None, "ż"),
        ("# A\n\nż", None, "[PAGE] A\n[SECTION] A\n[TEXT] ż"),
    ],
)  # fmt: skip
def test_tags(text: str, title: str | None, expected: str) -> None:
    assert embedded(text, "tags", title=title) == expected


@pytest.mark.parametrize(("levels", "section"), [(1, "C"), (2, "B > C"), (3, "A > B > C"), (6, "A > B > C")])
def test_tags_name_the_last_headings(levels: int, section: str) -> None:
    text = embedded("# A\n\n## B\n\n### C\n\nż", "tags", title="T", max_heading_levels=levels)
    assert text == f"[PAGE] T\n[SECTION] {section}\n[TEXT] ż"


@pytest.mark.parametrize(
    ("text", "title", "expected"),
    [
        ("# A\n\n## B\n\nż", "T", "T > B\nż"), ("# A\n\nż", None, "A\nż"), ("# A\n\nż", "A", "A\nż"),
        ("ż", "T", "T\nż"), ("## B\n\nż", None, "B\nż"), ("ż", None, "ż"),
        ("# A\n\n## B\n\n### C\n\nż", "A", "A > C\nż"),
    ],
)  # fmt: skip
def test_breadcrumb(text: str, title: str | None, expected: str) -> None:
    assert embedded(text, "breadcrumb", title=title) == expected


DEFAULTS = {
    "structure": "T > A\nż [1]", "smart": "T > A\nż [1]", "hierarchical": "T > A\nA\n\nż [1]",
    "blocks": "[PAGE] T\n[SECTION] A\n[TEXT] A\n\nż [1]", "heading": "T > A\n# A\n\n*ż* [\\[1\\]](x.md)",
    "window": "T > A\n# A\n\n*ż* [\\[1\\]](x.md)",
}  # fmt: skip


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_the_default_of_each_strategy(strategy: Any) -> None:
    text = "# A\n\n*ż* [\\[1\\]](x.md)"
    chunks = spanwise.chunk(document_of(text, title="T"), strategy, **offline(strategy))
    assert {chunk.embedding_text for chunk in chunks} == {DEFAULTS.get(strategy, text)}


def test_the_path_has_every_heading_and_a_title_once() -> None:
    assert embedded("# A\n\n## B\n\n### C\n\nż", "path", title="T") == "T > A > B > C\nż"
    assert embedded("# A\n\n## B\n\nż", "path", title="A") == "A > B\nż"
    assert embedded("ż", "path", title="T") == "T\nż"
    assert embedded("# A\n\nż", "path") == "A\nż"
    assert embedded("ż", "path") == "ż"


def test_what_shows_nothing_is_embedded_as_it_is() -> None:
    (chunk,) = spanwise.chunk(document_of("[](x.md)", title="T"))
    assert (chunk.plain_text, chunk.embedding_text) == ("", "T\n[](x.md)")


def test_the_limit_holds_for_the_source_and_for_what_is_embedded() -> None:
    class Letters:
        """Counts what most tokenizers do not: marks are free, so the plain text is never smaller."""

        name = "letters"

        def count(self, text: str) -> int:
            return sum(character.isalpha() for character in text)

        def ends(self, text: str) -> list[int]:
            return [index + 1 for index, character in enumerate(text) if character.isalpha()]

    document = document_of("# A\n\n" + "**bold** words with [a link](x.md). " * 30)
    words = tokenizer_of("words")
    for tokenizer in (Letters(), words):
        for chunk in spanwise.chunk(document, tokenizer=tokenizer, max_tokens=40):
            prefix = chunk.embedding_text[: chunk.embedding_text.index("\n") + 1]
            assert prefix == "A\n"
            assert max(tokenizer.count(chunk.embedding_text), tokenizer.count(prefix + chunk.full_text)) <= 40
            assert chunk.token_count == tokenizer.count(chunk.embedding_text)


def test_plain() -> None:
    assert embedded("# A\n\nż", "plain", title="T") == "ż"
    for strategy in STRATEGIES:
        given = {"template": "plain", "embed": "source", **offline(strategy)}
        chosen: Any = strategy
        for chunk in spanwise.chunk(document_of("# A\n\nż", title="T"), chosen, **given):
            assert chunk.embedding_text == chunk.full_text


def prefix_of(text: str) -> str:
    return text[: text.index("[TEXT]") + len("[TEXT]")]


def test_tags_take_at_most_half_and_outer_headings_go_first() -> None:
    text = "# jeden dwa trzy cztery\n\n## B c\n\n" + "słowo " * 60
    found = embedded(text, "tags", title="T", max_tokens=16)
    assert prefix_of(found) == "[PAGE] T\n[SECTION] B c\n[TEXT]"
    assert prefix_of(embedded(text, "tags", title="T", max_tokens=32)) == (
        "[PAGE] T\n[SECTION] jeden dwa trzy cztery > B c\n[TEXT]"
    )


def test_then_the_title_is_shortened_at_a_word() -> None:
    text = "# A b\n\n## C d\n\n" + "słowo " * 60
    found = embedded(text, "tags", title=" ".join(f"t{number}" for number in range(50)), max_tokens=16)
    assert re.fullmatch(r"\[PAGE\] t0( t\d+)*\n\[SECTION\] C d\n\[TEXT\]", prefix_of(found))
    assert len(prefix_of(found).split()) == 8


@pytest.mark.parametrize("template", ["tags", "breadcrumb"])
@pytest.mark.parametrize("limit", [16, 40, 100])
def test_a_huge_heading_and_title_leave_half_for_the_text(template: str, limit: int) -> None:
    text = "# " + "bardzo " * 200 + "\n\n## " + "długi " * 200 + "\n\n" + "Zdanie o żółwiu. " * 50
    for strategy in STRATEGIES:
        chunks = spanwise.chunk(document_of(text, title="ty tuł " * 100), strategy, template=template, max_tokens=limit)
        for chunk in chunks:
            prefix = chunk.embedding_text.removesuffix(chunk.full_text)
            assert chunk.token_count <= limit
            assert tokenizer_of("cl100k").count(prefix) <= limit // 2 + 1


@pytest.mark.parametrize("text", ["Zdanie o żółwiu. " * 1000, "```\n" + "x = 1\n" * 2000 + "```", "- ż\n" * 2000])
def test_simple_fills_its_chunks_when_a_token_limit_is_given(text: str) -> None:
    chunks = spanwise.chunk(document_of(text), "simple", max_tokens=64)
    assert sum(chunk.token_count for chunk in chunks) / len(chunks) > 32


@pytest.mark.parametrize("limit", [64, 200, 300, 512])
@pytest.mark.parametrize("gap", ["\n\n", " "])
def test_fixed_stays_balanced_when_the_limit_is_below_the_target(limit: int, gap: str) -> None:
    text = gap.join(f"Zdanie o żółwiu i gęsi numer {number}." for number in range(600))
    sizes = [
        chunk.token_count for chunk in spanwise.chunk(document_of(text), "fixed", max_tokens=limit, overlap_ratio=0)
    ]
    assert min(sizes) >= limit / 2


def test_simple_with_one_huge_slice_and_a_small_limit_takes_linear_work() -> None:
    class Counting:
        name, added, seam = "counting", 0, None
        work = 0

        def count(self, text: str) -> int:
            self.work += len(text)
            return tokenizer_of("approx").count(text)

        def ends(self, text: str) -> Any:
            return tokenizer_of("approx").ends(text)

    document, tokenizer = document_of("Zdanie o żółwiu i gęsi, krótkie.\n\n" * 500), Counting()
    spanwise.chunk(document, "simple", tokenizer, max_chars=10**7, max_tokens=16)
    assert tokenizer.work < 30 * len(document.text)


@pytest.mark.parametrize("language", ["xx", "PL", "pl-PL", ""])
def test_a_language_without_rules_of_its_own_is_no_error(language: str) -> None:
    document = document_of("Zdanie o żółwiu. Drugie zdanie. " * 20, language=language)
    for strategy in STRATEGIES:
        assert spanwise.chunk(document, strategy, max_tokens=32)


@pytest.mark.process
def test_the_same_input_gives_the_same_bytes_in_another_process() -> None:
    path = DEMO[0]
    program = (
        "import hashlib, json, spanwise\n"
        f"chunks = spanwise.chunk(spanwise.read({str(path)!r}), max_tokens=200, template='tags')\n"
        "print(hashlib.sha256(json.dumps([chunk.to_dict() for chunk in chunks]).encode()).hexdigest())"
    )
    chunks = spanwise.chunk(spanwise.read(str(path)), max_tokens=200, template="tags")
    here = hashlib.sha256(json.dumps([chunk.to_dict() for chunk in chunks]).encode()).hexdigest()
    assert run(program) == here


def test_a_long_title_without_spaces_is_shortened_not_dropped() -> None:
    document = document_of("# " + "数据安全与权限管理手册" * 8 + "\n\n文本。")
    first = spanwise.chunk(document, template="tags", max_tokens=64)[0].embedding_text
    assert first.startswith("[PAGE] 数据安全")


def test_a_region_follows_its_language() -> None:
    text = "Er kam am 3. Oktober und z. B. am 4. November zurück. Dann ging er. " * 6
    plain, austrian = (
        [chunk.char_start for chunk in spanwise.chunk(document_of(text, language=language), max_tokens=32)]
        for language in ("de", "de-AT")
    )
    assert plain == austrian


def test_none_is_shown_as_the_value_that_is_wrong() -> None:
    with pytest.raises(OptionError, match="must be an integer: None"):
        spanwise.chunk(TEXT, max_tokens=None)  # type: ignore[call-overload]


def test_a_lone_surrogate_in_a_hand_made_document_is_refused() -> None:
    metadata = Metadata(document_id="d")
    document = Document("a\ud800b", (Block("paragraph", 0, 3),), metadata=metadata)
    with pytest.raises(SpanwiseError, match="surrogate"):
        spanwise.chunk(document)


def test_a_link_looks_for_nothing_that_crosses_a_cell_or_an_item() -> None:
    for text in ("| żółw | gęś |\n|---|---|\n| c | d |", "- żółw\n- gęś", "żółw  \ngęś"):
        url = navigation(text)["url"]
        assert unquote(url.split("text=")[1]) == "żółw"


def test_fixed_keeps_indentation_only_at_the_start_of_a_line() -> None:
    command = "kubectl get pods --all-namespaces -o wide --show-labels --sort-by=.metadata.name "
    for chunk in spanwise.chunk(document_of(f"```\n{command * 3}\n```"), "fixed", max_tokens=32):
        assert chunk.normalized_text == chunk.normalized_text.strip()
