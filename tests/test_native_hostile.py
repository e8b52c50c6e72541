"""The compiled functions and their Python counterparts take the same hostile arguments in the same way."""

from __future__ import annotations

import sys
import time
from array import array
from typing import Any

import numpy
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spanwise.chunking.pieces import PlannedCore, SettledChunk
from spanwise.documents.document import LONGEST_NAME, Block, Part
from spanwise.native import compiled, plain
from spanwise.native.sections import SectionSizes
from spanwise.readers.builder import Builder, FoundBlock
from spanwise.readers.markdown.reader import KINDS, SHAPES
from spanwise.testing.made_markdown import markdown

HUGE = [edge + by for edge in (2**31, 2**32, 2**62, sys.maxsize, 10**30) for by in (-1, 0, 1)]
NUMBERS = st.integers(-4, 70) | st.sampled_from([*HUGE, *[-number for number in HUGE]])
SIGNS = "aB1½_字🐢`[]()\\<>&|~!*^#%-'/., \t\n\r\x00\x0b\x1c\x1e\x1f\x7f\x85\xa0\u0301\u2028\u3000\ufeff"
TEXTS = st.text(SIGNS, max_size=60) | st.text(max_size=30) | st.text("a \n", min_size=12, max_size=60)
WITH_SURROGATES = TEXTS | st.text(f"{SIGNS}\ud800\udbff\udc00\udfff", max_size=30)
ENDS = st.lists(st.integers(0, 70)).map(lambda ends: array("i", sorted(ends)))
PAIRS = st.lists(st.tuples(NUMBERS, NUMBERS), max_size=40)
KIND_NAMES = st.sampled_from(["paragraph", "html", "code", "list", "table", "heading", "rule", "comment", "unknown"])
ROWS = st.lists(st.tuples(KIND_NAMES, NUMBERS, NUMBERS), max_size=12).map(tuple)
HEADS = st.just(()) | st.booleans().map(lambda header: (Part(0, 9, header=header),))
BLOCKS = st.lists(
    st.builds(
        lambda kind, start, size, parts: tuple.__new__(
            Block, (kind, start, start + size, (), None, None, parts, *"xyz")
        ),
        KIND_NAMES,
        st.integers(0, 12),
        st.integers(0, 12),
        HEADS,
    ),
    max_size=6,
).map(tuple)
PLANS = st.lists(st.builds(PlannedCore, NUMBERS, NUMBERS, st.integers(-2, 7), st.integers(-2, 7), st.booleans()))
KNOWN = st.dictionaries(st.text("a \n", max_size=3), NUMBERS, max_size=20)
EVENTS = st.one_of(
    st.sampled_from(["SoftBreak", "HardBreak", "Rule", {"InlineHtml": "<br/>"}, {"InlineHtml": "<b>"}, {"Code": ""}]),
    st.builds(lambda name, words: {name: words}, st.sampled_from(["Text", "Code", "Html"]), WITH_SURROGATES),
    st.builds(
        lambda name, tag: {name: tag},
        st.sampled_from(["Start", "End"]),
        st.sampled_from(["Paragraph", "Strong", {"Image": {}}, {"Link": {}}, "Image", "Item"]),
    ),
)

ARGUMENTS: dict[str, tuple[st.SearchStrategy[Any], ...]] = {
    "collapsed": (WITH_SURROGATES, NUMBERS),
    "ended_at": (ENDS, NUMBERS),
    "ended_at_each": (ENDS, st.lists(NUMBERS)),
    "ended_at_edges": (ENDS, PAIRS),
    "exact_tokens": (WITH_SURROGATES, ENDS, KNOWN, NUMBERS, NUMBERS, st.sampled_from(["", "\n", " "])),
    "hints": (WITH_SURROGATES,),
    "is_text": (WITH_SURROGATES,),
    "items": (WITH_SURROGATES, PAIRS, st.just(Part)),
    "line_starts": (WITH_SURROGATES, NUMBERS, NUMBERS),
    "mark_hints": (WITH_SURROGATES,),
    "misplaced": (WITH_SURROGATES, ROWS),
    "plain_words": (WITH_SURROGATES | st.text("ab\n ", max_size=9), NUMBERS),
    "plans_at_sight": (
        ROWS,
        NUMBERS,
        NUMBERS,
        ENDS,
        st.builds(SectionSizes, NUMBERS, NUMBERS, NUMBERS, NUMBERS, st.booleans(), st.booleans()),
        st.none() | st.dictionaries(st.just(()), st.tuples(st.just("a\n"), NUMBERS)),
        st.just(PlannedCore),
    ),
    "settled_alone": (
        st.text("a \n", min_size=12, max_size=40),
        ENDS,
        KNOWN,
        BLOCKS,
        PLANS,
        st.tuples(
            st.just(frozenset({"code", "table"})),
            st.just(frozenset({"comment"})),
            NUMBERS,
            st.none() | st.lists(st.tuples(st.sampled_from(["", "a\n"]), NUMBERS)),
            st.none(),
        ),
        st.just(SettledChunk),
    ),
    "token_ends": (st.binary(max_size=16), st.binary(max_size=9).map(lambda begun: array("B", begun)), NUMBERS),
    "tokens_between": (ENDS, NUMBERS, NUMBERS),
    "visible_range": (WITH_SURROGATES, NUMBERS, NUMBERS),
    "visible_ranges": (WITH_SURROGATES, st.lists(NUMBERS), NUMBERS, NUMBERS),
    "without_hidden": (
        WITH_SURROGATES,
        st.binary(max_size=48).map(lambda kept: kept + bytes(-len(kept) % 16))
        | st.lists(NUMBERS).map(lambda kept: array("q", [max(min(one, 9), -9) for one in kept + kept]).tobytes()),
        st.lists(st.tuples(NUMBERS, NUMBERS, WITH_SURROGATES)),
        st.lists(st.tuples(NUMBERS, NUMBERS, NUMBERS, NUMBERS)),
    ),
    "words_of": (st.lists(EVENTS, max_size=20), NUMBERS, st.booleans()),
}
OF_OBJECTS = {"walk", "add_blocks", "kept_ranges"}  # tested one by one below
ATTRIBUTES: st.SearchStrategy[Any] = st.sampled_from(
    [
        None,
        7,
        {},
        {"level": "H2"},
        {"level": "H9"},
        {"level": 2},
        {"link_type": "Inline"},
        {"link_type": {}},
        {"dest_url": "t"},
        {"dest_url": "t", "link_type": {}},
        {"dest_url": 7, "link_type": "Inline"},
    ]
)
STARTED = st.sampled_from(
    ["Heading", "Link", "Image", "Item", "List", "Table", "TableRow", "Paragraph", "CodeBlock", "?"]
)
NO_EVENTS: st.SearchStrategy[Any] = (
    st.sampled_from(
        [7, None, "", "?", "Rule", "Start", (), [], {}, {7: 7}, {"Start": 7}, {"Start": {}}, {"Start": {7: 7}}]
    )
    | st.builds(
        lambda name, value: {name: value},
        st.sampled_from(["Text", "Code", "InlineHtml"]),
        st.sampled_from(["", "a", "<b>"]),
    )
    | st.builds(lambda tag: {"Start": tag}, STARTED)
    | st.builds(lambda tag, more: {"Start": {tag: more}}, STARTED, ATTRIBUTES)
)
JUNK = [
    None,
    7,
    -1,
    1.5,
    "x",
    b"xxxx",
    [],
    [7],
    ["x"],
    (),
    (7,),
    ((1, 2, 3),),
    {},
    {"a": "b"},
    {7},
    object(),
    int,
    Part,
]


def outcome(module: Any, name: str, arguments: tuple[Any, ...]) -> tuple[Any, type[Exception] | None]:
    """Return what a function returns, or the type of the error that it raises."""
    try:
        return getattr(module, name)(*arguments), None
    except Exception as error:
        return None, type(error)


def refused_or_equal(name: str, arguments: tuple[Any, ...]) -> None:
    """Assert that C refuses what Python refuses; Python also takes what only behaves alike."""
    found, error = outcome(compiled, name, arguments)
    wanted, wanted_error = outcome(plain, name, arguments)
    if wanted_error is not None:
        assert error is not None
    else:
        assert error in (TypeError, ValueError) or (found, error) == (wanted, None)


@pytest.mark.parametrize("name", ARGUMENTS)
@given(data=st.data())
def test_any_values_give_the_same_result_or_the_same_error(name: str, data: st.DataObject) -> None:
    arguments = data.draw(st.tuples(*ARGUMENTS[name]))
    assert outcome(compiled, name, arguments) == outcome(plain, name, arguments)


@pytest.mark.parametrize("name", ARGUMENTS)
@given(data=st.data())
def test_what_is_no_argument_is_refused_by_both(name: str, data: st.DataObject) -> None:
    arguments = list(data.draw(st.tuples(*ARGUMENTS[name])))
    arguments[data.draw(st.integers(0, len(arguments) - 1))] = data.draw(st.sampled_from(JUNK))
    refused_or_equal(name, tuple(arguments))


def test_every_compiled_function_is_tested() -> None:
    assert {name for name in vars(compiled) if not name.startswith("_")} == {*ARGUMENTS, *OF_OBJECTS}


@given(st.text("a \n#*`-ż|", max_size=60) | markdown(), st.data())
def test_events_with_wrong_ranges_are_walked_alike(text: str, data: st.DataObject) -> None:
    import pyromark

    size = len(text.encode())
    events = list(pyromark.events_with_range(text, options=pyromark.Options.ENABLE_TABLES))
    for place in data.draw(st.lists(st.integers(0, max(len(events) - 1, 0)), max_size=4)):
        if events:
            start, end = data.draw(st.tuples(st.integers(0, size), st.integers(0, size)))
            events[place] = (events[place][0], {"start": start, "end": end})
    switches = data.draw(st.tuples(st.booleans(), st.booleans(), st.booleans()))
    arguments = text, events, KINDS, SHAPES, *switches
    assert outcome(compiled, "walk", arguments) == outcome(plain, "walk", arguments)


@given(st.text("a \n#*`-ż|[]()!", max_size=60) | markdown(), st.data())
def test_what_is_no_event_is_refused_by_both(text: str, data: st.DataObject) -> None:
    import pyromark

    events: list[Any] = list(pyromark.events_with_range(text, options=pyromark.Options.ENABLE_WIKILINKS))
    for _ in range(data.draw(st.integers(1, 3))):
        place = data.draw(st.integers(0, len(events)))
        name, where = data.draw(NO_EVENTS), events[place][1] if place < len(events) else {"start": 0, "end": 0}
        events[place : place + data.draw(st.integers(0, 1))] = [(name, where)]
    switches = data.draw(st.tuples(st.booleans(), st.booleans(), st.booleans()))
    refused_or_equal("walk", (text, events, KINDS, SHAPES, *switches))


@given(st.text("a \n", min_size=1, max_size=30), st.data())
def test_what_is_no_block_is_refused_by_both(text: str, data: st.DataObject) -> None:
    fields = [KIND_NAMES, st.integers(0, 9), st.integers(9, 20), st.none() | st.integers(1, 6), st.text(max_size=3)]
    rows = data.draw(st.lists(st.tuples(*fields, st.just(())), min_size=1, max_size=6))
    place, field = data.draw(st.integers(0, len(rows) - 1)), data.draw(st.integers(0, 5))
    wrong = (*rows[place][:field], data.draw(st.sampled_from(JUNK)), *rows[place][field + 1 :])
    rows[place] = data.draw(st.sampled_from([wrong, wrong[:-1], (*wrong, None)]))
    builders = Builder(text), Builder(text)
    results = [
        outcome(module, "add_blocks", (builder, rows, Block, LONGEST_NAME))
        for module, builder in zip((compiled, plain), builders, strict=True)
    ]
    if results[1][1] is not None:
        assert results[0][1] is not None
    elif results[0][1] is None:
        assert builders[0].blocks == builders[1].blocks
        assert (builders[0].path, builders[0].headings) == (builders[1].path, builders[1].headings)


@given(st.text("a \n", min_size=1, max_size=30), ROWS)
def test_blocks_with_any_range_are_added_alike(text: str, rows: tuple[tuple[str, int, int], ...]) -> None:
    builders = Builder(text), Builder(text)
    found = [FoundBlock(*row, level=2 if row[0] == "heading" else None, title="t") for row in rows]
    results = [
        outcome(module, "add_blocks", (builder, found, Block, LONGEST_NAME))
        for module, builder in zip((compiled, plain), builders, strict=True)
    ]
    assert results[0] == results[1]
    if results[0][1] is None:
        assert builders[0].blocks == builders[1].blocks
        assert (builders[0].path, builders[0].headings) == (builders[1].path, builders[1].headings)


def test_arrays_may_lie_at_any_address() -> None:
    ids, ends = array("I", [0, 1, 2]).tobytes(), array("i", [1, 2, 9]).tobytes()
    begun = array("B", [1, 0, 3])
    shifted = memoryview(b"x" + ids)[1:]
    assert compiled.token_ends(shifted, begun, 4) == array("i", [5, 5, 8]).tobytes()  # type: ignore[arg-type]
    for position in range(11):
        odd: Any = memoryview(b"x" + ends)[1:].cast("i")
        assert compiled.ended_at(odd, position) == sum(end <= position for end in [1, 2, 9])


@pytest.mark.parametrize("typecode", ["I", "f", "q", "B"])
def test_ends_of_another_type_are_refused(typecode: str) -> None:
    with pytest.raises(TypeError, match="ends are 32-bit integers"):
        compiled.ended_at(array(typecode, [1]), 1)


@pytest.mark.parametrize("order", [">i4", ">u4", "<f4"])
def test_ends_in_another_order_of_bytes_are_refused(order: str) -> None:
    with pytest.raises(TypeError, match="ends are 32-bit integers"):
        compiled.ended_at(numpy.array([1, 2], order), 1)  # type: ignore[arg-type]


@pytest.mark.parametrize("shape", [time.struct_time, type(sys.version_info), int, Part(0, 1)])
def test_shapes_that_are_no_named_tuples_are_refused(shape: Any) -> None:
    """A struct sequence is a tuple with hidden fields, which nobody would fill."""
    with pytest.raises(TypeError, match="a shape"):
        compiled.items("abc", [(0, 1)], shape)
