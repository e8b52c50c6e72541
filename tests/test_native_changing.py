"""Arguments that change while the compiled functions read them do no harm."""

from __future__ import annotations

import gc
from array import array
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from spanwise.chunking.pieces import PlannedCore, SettledChunk
from spanwise.documents.document import Block, Part
from spanwise.native import compiled
from spanwise.native.settled import Rules
from spanwise.readers.builder import Builder, FoundBlock
from spanwise.readers.markdown.reader import KINDS, SHAPES


class Clearing:
    """A number, and a truth value, that empties a list or dictionary when it is read."""

    def __init__(self, victim: Any, number: int = 1) -> None:
        self.victim = victim
        self.number = number

    def __index__(self) -> int:
        self.victim.clear()
        return self.number

    def __bool__(self) -> bool:
        self.victim.clear()
        return True


class Raising:
    """Neither a number nor a truth value."""

    def __index__(self) -> int:
        raise KeyError

    def __bool__(self) -> bool:
        raise KeyError


def settled(header: object, plans: list[Any]) -> Any:
    part: Any = tuple.__new__(Part, (0, 3, (), None, header, None))
    block = Block("table", 0, 3)._replace(parts=(part,))
    rules = Rules(frozenset({"table"}), frozenset(), 100)
    plans += [tuple.__new__(PlannedCore, (0, 3, 0, 0, False, None)) for _ in range(200)]
    return compiled.settled_alone("aaa", array("i", [3]), {}, (block,), plans, rules, SettledChunk)


def test_plans_that_vanish_are_settled() -> None:
    plans: list[Any] = []
    assert settled(Clearing(plans), plans) == [SettledChunk(0, 3, 0, 0, 1)] * 200


@pytest.mark.parametrize("place", [4, 0, 2])
def test_plans_that_can_not_be_read_are_an_error(place: int) -> None:
    plan: list[Any] = [0, 3, 0, 0, False, None]
    plan[place] = Raising()
    rules = Rules(frozenset(), frozenset(), 100)
    with pytest.raises(KeyError):
        compiled.settled_alone("aaa", array("i"), {}, (Block("code", 0, 3),), [tuple(plan)], rules, SettledChunk)
    with pytest.raises(KeyError):
        settled(Raising(), [])


@pytest.mark.parametrize(
    "call",
    [
        lambda victim: compiled.ended_at_each(array("i", [1]), victim),
        lambda victim: compiled.visible_ranges("a b c", victim, 0, 5),
    ],
)
def test_positions_that_vanish_are_read(call: Callable[[list[Any]], list[Any]]) -> None:
    victim: list[Any] = []
    victim += [Clearing(victim), *range(100)]
    assert call(victim)
    assert victim == []


@pytest.mark.parametrize(
    "call",
    [
        lambda victim: compiled.items("a b", victim, Part),
        lambda victim: compiled.ended_at_edges(array("i", [1]), victim),
    ],
)
def test_ranges_that_vanish_are_read(call: Callable[[list[Any]], Any]) -> None:
    victim: list[Any] = []
    victim += [(Clearing(victim, 0), 1)] + [(2, 3)] * 50
    assert len(call(victim)) > 1
    assert victim == []


def test_blocks_and_headings_that_vanish_are_added() -> None:
    class Emptying(Builder):
        def fill(self, end: int) -> None:
            super().fill(end)
            found.clear()
            self.headings[:] = [7]  # type: ignore[list-item]

    found = [FoundBlock("paragraph", 0, 1), *[FoundBlock("paragraph", 2, 3) for _ in range(50)]]
    builder = Emptying("axb" + " " * 9)
    found.insert(1, FoundBlock("code", 2, 2))
    compiled.add_blocks(builder, found, Block, 9)
    assert len(builder.blocks) == 53
    with pytest.raises(TypeError, match="pairs of a level and a name"):
        compiled.add_blocks(builder, [FoundBlock("heading", 3, 4, 1, "t")], Block, 9)
    builder = Emptying("abc")
    builder.headings += [(1, "a"), (1, "b"), (1, "c")]
    level: Any = Clearing(builder.headings)
    compiled.add_blocks(builder, [FoundBlock("heading", 0, 1, level, "t")], Block, 9)
    assert builder.headings == [(1, "t")]


def test_kinds_and_events_that_vanish_are_walked() -> None:
    kinds = {name: f"{kind[:1]}{kind[1:]}" for name, kind in KINDS.items()}  # strings that nobody else holds

    def events() -> Iterator[Any]:
        start: dict[str, Any] = {"Heading": {"level": "H2"}}
        yield ({"Start": start}, {"start": 0, "end": 3})
        start.clear()
        kinds.clear()
        yield ({"Text": "a"}, {"start": 0, "end": 1})

    rows, *_ = compiled.walk("abc", events(), kinds, SHAPES, False, False, False, True)
    assert rows == [FoundBlock("heading", 0, 3, 2, "a")]


@pytest.mark.parametrize("place", [4, 5, 6, 7])
def test_wishes_that_are_neither_true_nor_false_are_an_error(place: int) -> None:
    arguments: list[Any] = ["abc", [], KINDS, SHAPES, False, False, False, False]
    arguments[place] = Raising()
    with pytest.raises(KeyError):
        compiled.walk(*arguments)


class Watching:
    """A number that records how many lists of a length the garbage collector knows when it is read."""

    def __init__(self, length: int) -> None:
        self.length = length
        self.seen = 0

    def __index__(self) -> int:
        self.seen = sum(type(one) is list and len(one) == self.length for one in gc.get_objects())
        return 3


@pytest.mark.parametrize(
    "call",
    [
        lambda last: compiled.ended_at_each(array("i", [1]), (*[2] * 4320, last)),  # type: ignore[arg-type]
        lambda last: compiled.ended_at_edges(array("i", [1]), (*[(2, 2)] * 4320, (last, 2))),  # type: ignore[arg-type]
        lambda last: compiled.settled_alone(
            "aaa",
            array("i", [3]),
            {},
            (Block("code", 0, 3),),
            ((0, 3, 0, 0, False, None),) * 4320 + ((0, last, 0, 0, False, None),),  # type: ignore[arg-type]
            Rules(frozenset(), frozenset(), 100),
            SettledChunk,
        ),
    ],
)
def test_no_list_with_empty_places_can_be_found(call: Callable[[Watching], Any]) -> None:
    last = Watching(4321)
    call(last)
    assert last.seen == 0


def test_a_link_that_vanishes_when_garbage_is_collected_is_kept() -> None:
    class Emptying:
        def __init__(self, victim: dict[str, Any]) -> None:
            self.victim = victim
            self.itself = self

        def __del__(self) -> None:
            self.victim.clear()

    def events() -> Iterator[Any]:
        yield ({"Start": "Paragraph"}, {"start": 0, "end": 3})
        link: dict[str, Any] = {"dest_url": "".join(["tar", "get"]), "link_type": "Inline"}
        event = ({"Start": {"Link": link}}, {"start": 0, "end": 1})
        Emptying(link)
        held.extend([] for _ in range(1000))  # the next list is new memory, for which Python 3.11 collects at once
        gc.enable()
        yield event

    held: list[Any] = []
    gc.disable()
    try:
        _, links, *_ = compiled.walk("abc", events(), KINDS, SHAPES, False, False, False, True)
    finally:
        gc.enable()
    assert links == [("target", [], False, 0)]
