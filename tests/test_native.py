"""The compiled functions return exactly what their Python counterparts return."""

from __future__ import annotations

import subprocess
import sys
from array import array
from collections.abc import Callable
from itertools import accumulate, cycle, product
from typing import Any

import numpy
import pytest
from hypothesis import given
from hypothesis import strategies as st

import spanwise
from conftest import DEMO
from spanwise import native
from spanwise.chunking.pieces import PlannedCore, SettledChunk
from spanwise.chunking.strategies import STRATEGIES
from spanwise.documents.document import KINDS, LEFT_OUT_KINDS, LONGEST_NAME, Block, Document, Metadata, Part
from spanwise.native import compiled, plain
from spanwise.native.sections import DRAFTED_AS, SectionSizes
from spanwise.native.settled import Rules, Shown
from spanwise.readers.builder import Builder, FoundBlock
from spanwise.testing.made_markdown import markdown
from spanwise.text.markdown_events import markdown_events
from specifications import specification

BEGUN = array("B", [1, 0, 3, 7])
IDS = st.lists(st.integers(0, len(BEGUN) - 1)).map(lambda ids: array("I", ids).tobytes())
NOTES = "[[note#part|words]] ![[embedded]] ![[wörter]] `code` #tag <b>ü</b>\n\n- `x`\n\n      code\n"
LINKS = ["[[a]]", "![[ö]]", "[w](t)", "[**w** `c`](t)", "![p](i)", "<b>", "`c`", "#tag"]


@given(ids=IDS, base=st.integers(0, 1 << 20))
def test_tokens_end_at_the_same_characters(ids: bytes, base: int) -> None:
    assert compiled.token_ends(ids, BEGUN, base) == plain.token_ends(ids, BEGUN, base)


ENDS = st.lists(st.integers(0, 60)).map(lambda ends: array("i", sorted(ends)))
POSITIONS = st.integers(0, 60)
SIGNS = "aZ1²字_'/.,!|` \t\n\r\x1c\x7f\u0301\u3000，。🐢"


@given(ends=ENDS, start=POSITIONS, end=POSITIONS)
def test_tokens_between_two_positions_are_as_many(ends: array[int], start: int, end: int) -> None:
    assert compiled.tokens_between(ends, start, end) == plain.tokens_between(ends, start, end)


@given(ends=ENDS, positions=st.lists(POSITIONS))
def test_as_many_tokens_have_ended_at_each_position(ends: array[int], positions: list[int]) -> None:
    assert compiled.ended_at_each(ends, positions) == plain.ended_at_each(ends, positions)


@given(ends=ENDS, places=st.lists(st.tuples(POSITIONS, POSITIONS)))
def test_as_many_tokens_have_ended_at_the_edges(ends: array[int], places: list[tuple[int, int]]) -> None:
    assert compiled.ended_at_edges(ends, places) == plain.ended_at_edges(ends, places)
    for start, _ in places:
        assert compiled.ended_at(ends, start) == plain.ended_at(ends, start)


@given(text=st.text("a \t\n\r\x1c\u3000🐢", max_size=40), places=st.lists(st.integers(0, 42), min_size=2).map(sorted))
def test_ranges_are_trimmed_alike(text: str, places: list[int]) -> None:
    start, *cuts, end = places
    assert compiled.visible_range(text, start, end) == plain.visible_range(text, start, end)
    assert compiled.visible_ranges(text, cuts, start, end) == plain.visible_ranges(text, cuts, start, end)
    assert compiled.line_starts(text, start, end) == plain.line_starts(text, start, end)


EDGES = st.lists(st.integers(0, 12), min_size=4, max_size=12, unique=True).map(sorted)


@given(st.text("a \n", min_size=12, max_size=12), EDGES, st.data())
def test_the_same_cores_are_chunks_as_they_stand(text: str, edges: list[int], data: st.DataObject) -> None:
    heads = st.booleans().map(lambda header: (Part(0, 12, header=header),))
    blocks = tuple(
        Block(data.draw(st.sampled_from(["paragraph", "paragraph", "code", "comment", "table"])), start, end)._replace(
            parts=data.draw(st.just(()) | heads)
        )
        for start, end in zip(edges[::2], edges[1::2], strict=False)
    )
    numbers = st.integers(0, len(blocks) - 1)
    moves = st.sampled_from([0, 0, 0, 1, -1])
    plans = [
        PlannedCore(blocks[low].start + before, blocks[high].end + after, low, high, overlap)
        for low, high, before, after, overlap in data.draw(
            st.lists(st.tuples(numbers, numbers, moves, moves, st.sampled_from([False, False, True])))
        )
        if low <= high
    ]
    known = {text[low:high]: high - low for low in range(12) for high in range(low, 13, data.draw(st.integers(1, 2)))}
    ends = array("i", range(1, len(text) + 1))
    prefixes = data.draw(st.none() | st.just([(data.draw(PREFIXES), 2) for _ in plans]))
    rules = Rules(
        frozenset({"code", "table"}), frozenset({"comment"}), 8, prefixes, data.draw(st.none() | shown_of(text))
    )
    given = text, ends, known, blocks, plans, rules, SettledChunk
    assert compiled.settled_alone(*given) == plain.settled_alone(*given)


PREFIXES = st.sampled_from(["", "b\n", "b ", "/"])


def shown_of(text: str) -> st.SearchStrategy[Shown | None]:
    """Return what a page may show of a text, with a token for each character."""

    def made(kept: list[tuple[int, int]], changed: list[tuple[int, int, str]]) -> Shown | None:
        kept_bytes = array("q", [edge for pair in kept for edge in pair]).tobytes()
        shown, *places, _ = plain.without_hidden(text, kept_bytes, changed, [])
        if shown is None:
            return None
        starts, stops, after = (array("q", one) for one in places)
        return shown, array("i", range(1, len(shown) + 1)), starts, stops, after

    edge = st.integers(0, len(text))
    texts = st.sampled_from(["", " ", "a", "a\n"])
    return st.builds(made, st.lists(st.tuples(edge, edge)), st.lists(st.tuples(edge, edge, texts), max_size=2))


PATHS = st.sampled_from([(), ("a",), ("a", "b")])


@given(
    rows=st.lists(
        st.tuples(st.sampled_from([*sorted(KINDS), "paragraph", "paragraph", "list", "code"]), st.integers(1, 60)),
        min_size=5,
    ),
    gap=st.integers(0, 3),
    sizes=st.tuples(st.integers(40, 200), st.integers(20, 150), st.integers(0, 60), st.integers(0, 2)),
    wishes=st.tuples(st.booleans(), st.booleans()),
    low=st.integers(0, 2),
    prefixes=st.none() | st.dictionaries(PATHS, st.tuples(st.just("a\n"), st.integers(0, 30) | st.just(10**12))),
)
def test_sections_are_planned_alike(
    rows: list[tuple[str, int]],
    gap: int,
    sizes: tuple[int, int, int, int],
    wishes: tuple[bool, bool],
    low: int,
    prefixes: Any,
) -> None:
    ends = accumulate((length + gap for _, length in rows), initial=0)
    paths = cycle([(), ("a",), ("a", "b")])
    blocks = tuple(
        (kind, start, start + length, next(paths)) for (kind, length), start in zip(rows, ends, strict=False)
    )
    tokens = array("i", range(1, 4000))
    given = blocks, low, len(blocks), tokens, SectionSizes(*sizes, *wishes), prefixes, PlannedCore
    found, wanted = compiled.plans_at_sight(*given), plain.plans_at_sight(*given)
    assert found == wanted
    assert list(map(type, found)) == list(map(type, wanted))


def test_every_kind_that_is_content_gets_a_draft() -> None:
    assert set(DRAFTED_AS) == KINDS - LEFT_OUT_KINDS


@given(
    text=st.text(SIGNS, max_size=40)
    | st.text(max_size=40)
    | st.text("a ", max_size=12).map(lambda ends: ends + "a" * 70 + ends),
    ends=ENDS,
    start=st.integers(-1, 80),
    size=st.integers(-1, 80),
    joiner=st.sampled_from(["", "\n", " "]),
    everything=st.booleans(),
)
def test_the_same_spans_are_counted_exactly(
    text: str, ends: array[int], start: int, size: int, joiner: str, everything: bool
) -> None:
    texts = [
        text[low:high] + after for low in range(len(text)) for high in range(low, low + 70) for after in ("", joiner)
    ]
    known = {part: len(part) for part in texts if everything or len(part) < 3}
    given = text, ends, known, start, start + size, joiner
    assert compiled.exact_tokens(*given) == plain.exact_tokens(*given)


def test_every_pair_of_characters_is_the_same_seam() -> None:
    signs = [*map(chr, range(0x250)), *"\u0301\u0660\u1680\u2028\u3000，。、；：！？字🐢Ⅷ½\u200b\ufeff"]
    ends = array("i", [2])
    for first, second in product(signs, signs):
        text = first + second
        assert compiled.exact_tokens(text, ends, {}, 1, 2, "") == plain.exact_tokens(text, ends, {}, 1, 2, ""), text


@pytest.mark.parametrize(
    "wrong", [(), ("a",), ("a", ENDS, {}, 0, 1), (b"a", array("i"), {}, 0, 1, ""), ("a", 5, {}, 0, 1, "")]
)
def test_what_is_no_text_or_no_ends_is_refused(wrong: tuple[Any, ...]) -> None:
    with pytest.raises(TypeError):
        compiled.exact_tokens(*wrong)


def test_an_unknown_token_is_refused() -> None:
    with pytest.raises(IndexError):
        compiled.token_ends(array("I", [4]).tobytes(), BEGUN, 0)


def walked(walk: Callable[..., Any], text: str, switches: tuple[bool, ...]) -> Any:
    import pyromark

    from spanwise.readers.markdown.reader import KINDS as NAMES
    from spanwise.readers.markdown.reader import SHAPES

    flags = pyromark.Options
    options = flags.ENABLE_TABLES | flags.ENABLE_FOOTNOTES | flags.ENABLE_TASKLISTS | flags.ENABLE_WIKILINKS
    rows, *others = walk(text, pyromark.events_with_range(text, options=options), NAMES, SHAPES, *switches)
    return [(type(row), row, [type(part) for part in row.parts]) for row in rows], others


def alike(text: str) -> None:
    for switches in product((False, True), repeat=4):
        assert walked(compiled.walk, text, switches) == walked(plain.walk, text, switches)


@pytest.mark.slow
@given(markdown(), st.lists(st.sampled_from(LINKS), max_size=8))
def test_markdown_is_walked_alike(text: str, links: list[str]) -> None:
    alike(text)
    alike(f"# ż {' '.join(links)}\n\n- {' '.join(links)}\n  - 字 {text}")


@given(st.text())
def test_any_text_is_walked_alike(text: str) -> None:
    alike(text)


HTML = ["<br>", "<BR/>", "<bra>", "<b>", "</b>", "<!-- a -->", "<!--", "-->", "<script>", "</style>", "<ſtyle>",
        "<b ż>", "<ż>", "&amp;", "&#65;", "&ż;", "&", "<", ">", "<a", "text", "字", "`", "`` ` ``", "\\|", "|", " ",
        "\n", "1. a", "\n\n| a | `b\\|` |\n|---|---|\n| c", "<div>", "==", "%%", "^a", "{#b}", "# c {#d}"]  # fmt: skip
MARKS = st.tuples(*[st.integers(0, 20)] * 4)


@given(markdown() | st.lists(st.sampled_from(HTML), max_size=20).map("".join))
def test_what_a_page_shows_is_found_alike(text: str) -> None:
    events = list(markdown_events(text, 0, wiki=True)[1])
    kept, changed, tags = compiled.kept_ranges(text, events)
    assert (kept, changed, tags) == plain.kept_ranges(text, events)
    assert compiled.without_hidden(text, kept, changed, []) == plain.without_hidden(text, kept, changed, [])
    assert compiled.mark_hints(text) == plain.mark_hints(text)


@given(st.text("a|\n żx字🐢", min_size=20, max_size=20), st.data(), st.lists(MARKS, max_size=3))
def test_the_same_is_removed(text: str, data: st.DataObject, marks: list[tuple[int, int, int, int]]) -> None:
    begins = [0, *accumulate(len(sign.encode()) for sign in text)]
    edge = st.sampled_from(begins)
    ranges = data.draw(st.lists(st.tuples(edge, edge | edge.map(lambda end: ~end)), max_size=6))
    changed = data.draw(st.lists(st.tuples(edge, edge, st.sampled_from(["", " ", "字", "ab"])), max_size=4))
    kept = array("q", [number for one in ranges for number in one]).tobytes()
    found = compiled.without_hidden(text, kept, changed, marks)
    assert found == plain.without_hidden(text, kept, changed, marks)
    assert [type(one) for one in found[1:]] == [bytes, bytes, bytes, dict]


@given(st.text(st.sampled_from("[!%#^<fFa1-_/ \n\x00żü字🐢"), max_size=12) | st.text())
def test_hints_are_alike(text: str) -> None:
    assert compiled.hints(text) == plain.hints(text)


@given(st.text(st.sampled_from("aż字🐢\ud800\udfff\udc80"), max_size=8))
def test_whole_characters_are_recognised_alike(text: str) -> None:
    assert compiled.is_text(text) == plain.is_text(text)


@given(st.text("a \n", max_size=12), st.lists(st.tuples(st.just("code"), st.integers(0, 14), st.integers(0, 14))))
def test_misplaced_blocks_are_found_alike(text: str, rows: list[tuple[str, int, int]]) -> None:
    for blocks in (tuple(rows), tuple(sorted(rows, key=lambda row: row[1:]))):
        assert compiled.misplaced(text, blocks) == plain.misplaced(text, blocks)


@pytest.mark.parametrize("name", ["commonmark", "gfm"])
def test_the_specifications_are_walked_alike(name: str) -> None:
    for examples in specification(name).values():
        for example in [*examples, "\n\n".join(examples), NOTES]:
            alike(example)


@pytest.mark.slow
@given(markdown())
def test_blocks_are_built_alike(text: str) -> None:
    text = f"# A\n[a]: /b\n### {'long ' * 300}\n[c]: /d\n##\nx\n{text}"
    seen = walked(compiled.walk, text, (False, False, False, False))[0]
    builders = Builder(text), Builder(text)
    for builder, module in zip(builders, (compiled, plain), strict=True):
        module.add_blocks(builder, [row for _, row, _ in seen], Block, LONGEST_NAME)
    assert builders[0].blocks == builders[1].blocks
    assert [type(block) for block in builders[0].blocks] == [Block] * len(builders[0].blocks)
    assert builders[0].path == builders[1].path
    assert builders[0].headings == builders[1].headings
    assert builders[0].reached == builders[1].reached


@given(st.text("a \n", max_size=60), st.lists(st.tuples(st.integers(0, 60), st.integers(0, 60)), max_size=50))
def test_items_are_nested_alike(text: str, pairs: list[tuple[int, int]]) -> None:
    ranges = sorted((min(pair), max(pair)) for pair in pairs)
    nested = [span for span in ranges if all(not (s < span[0] < e < span[1]) for s, e in ranges)]
    assert compiled.items(text, nested, Part) == plain.items(text, nested, Part)


@pytest.mark.parametrize(
    "events",
    [
        [("Rule", {"start": 0, "end": 99})],
        [("Rule", {"start": -1, "end": 1})],
        [("Rule", {})],
        [("Rule",)],
        [(7, {"start": 0, "end": 1})],
        [({"Start": {"Heading": {}}}, {"start": 0, "end": 1})],
        [({"Start": "Paragraph"}, {"start": 0, "end": 2}), ({"Start": {"Link": {}}}, {"start": 0, "end": 1})],
        None,
    ],
)
def test_events_of_another_parser_are_refused(events: Any) -> None:
    from spanwise.readers.markdown.reader import KINDS as NAMES
    from spanwise.readers.markdown.reader import SHAPES

    with pytest.raises((TypeError, ValueError)):
        compiled.walk("abc", events, NAMES, SHAPES, True, True, True, True)


def test_wrong_arguments_are_refused() -> None:
    empty, wrong = Builder("abc"), Builder("abc")
    wrong.headings = [(1,)]  # type: ignore[list-item]
    calls: list[Callable[[], Any]] = [
        lambda: compiled.walk("", [], {}, (int, int), False, False, False, False),
        lambda: compiled.items("", [(1,)], Part),  # type: ignore[list-item]
        lambda: compiled.items("", 7, Part),  # type: ignore[arg-type]
        lambda: compiled.token_ends(b"", bytes(4), "0"),  # type: ignore[arg-type]
        lambda: compiled.add_blocks(empty, [(1,)], Block, 9),
        lambda: compiled.add_blocks(wrong, [FoundBlock("heading", 0, 1, 2, "b")], Block, 9),
        lambda: compiled.misplaced("", [Block("code", 0, 1)]),  # type: ignore[arg-type]
        lambda: compiled.misplaced("a", ((1,),)),
        lambda: compiled.hints(b""),  # type: ignore[arg-type]
        lambda: compiled.is_text(None),  # type: ignore[arg-type]
        lambda: compiled.ended_at(array("q", [1]), 2),
    ]
    for call in calls:
        with pytest.raises(TypeError):
            call()


@pytest.mark.parametrize("row", [(0, -(10**12)), (-3, 2), (99, 100), (2, 1)])
def test_ranges_outside_of_the_text_are_refused(row: tuple[int, int]) -> None:
    with pytest.raises(ValueError, match="a block"):
        compiled.add_blocks(
            Builder("abcdefgh"), [FoundBlock("paragraph", *row), FoundBlock("paragraph", 6, 7)], Block, 9
        )


def test_limits_larger_than_any_machine_are_taken() -> None:
    document = spanwise.read_text("# A\n\nb\n\n```\nc\n```\n" * 3)
    strategy: Any
    for strategy in set(STRATEGIES) - {"smart"}:
        assert spanwise.chunk(document, strategy, max_tokens=10**30)


def test_positions_may_be_integers_of_any_kind() -> None:
    start: Any = numpy.int64(0)
    block = Block("paragraph", start, start + 3)
    chunks = spanwise.chunk(Document("abc", (block,), metadata=Metadata(document_id="x")))
    assert [chunk.normalized_text for chunk in chunks] == ["abc"]


def test_what_is_compiled_is_used() -> None:
    names = {name for name in vars(plain) if not name.startswith("_")}
    assert {name for name in vars(compiled) if not name.startswith("_")} == names
    for name in names:
        assert getattr(native, name) is getattr(compiled, name)


RECORDS = """
import hashlib, pathlib, sys
sys.modules.update({blocked})
import spanwise
from spanwise import native
digest = hashlib.sha256()
for path in sorted(pathlib.Path({documents!r}).glob("*.md")):
    document = spanwise.read(path)
    for strategy in {strategies}:
        for tokenizer in ("cl100k", "words"):
            for chunk in spanwise.chunk(document, strategy, tokenizer, max_tokens=64):
                digest.update(repr(chunk.to_dict()).encode())
print(digest.hexdigest(), native.walk.__module__)
"""


def records_in_a_new_process(blocked: dict[str, None]) -> list[str]:
    strategies = [name for name in STRATEGIES if name != "smart"]
    code = RECORDS.format(blocked=blocked, documents=str(DEMO), strategies=strategies)
    return subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout.split()


@pytest.mark.process
def test_without_a_compiler_the_same_records_are_made() -> None:
    without = records_in_a_new_process({"spanwise.native.compiled": None})
    usual = records_in_a_new_process({})
    assert without[0] == usual[0]
    assert (without[1], usual[1]) == ("spanwise.native.events", "spanwise.native.compiled")


def test_values_made_in_c_hash_as_those_made_in_python() -> None:
    document = spanwise.read_text("# A\n\n- one\n- two\n\nText.")
    for block in document.blocks:
        assert hash(tuple(block)) == hash(block) == hash(Block(*block))
        assert all(hash(tuple(part)) == hash(part) for part in block.parts)
