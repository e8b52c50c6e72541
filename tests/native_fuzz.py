"""Calls every compiled function with hostile arguments at random; made to run under sanitizers, see `sanitized.py`.

What comes back doesn't matter here (other tests compare it with the Python versions), only that nothing is read or
written that must not be. Arguments are of wrong types, too large, or change while they are read: their methods, and the
finalizers that the garbage collector runs, empty or refill the lists and dictionaries of the same call.
"""

from __future__ import annotations

import argparse
import gc
import random
import sys
import time
from array import array
from collections.abc import Callable, Iterator
from contextlib import suppress
from itertools import count
from typing import Any, Final

import numpy
import pyromark

import spanwise
from spanwise.chunking.pieces import PlannedCore, SettledChunk
from spanwise.chunking.strategies import STRATEGIES
from spanwise.documents.document import LONGEST_NAME, Block, Part
from spanwise.native import compiled
from spanwise.native.sections import SectionSizes
from spanwise.readers.builder import Builder, FoundBlock
from spanwise.readers.markdown.reader import KINDS, SHAPES
from spanwise.testing.made_markdown import WORDS

HUGE: Final = [edge + by for edge in (2**15, 2**31, 2**32, 2**62, sys.maxsize, 10**30) for by in (-1, 0, 1)]
SIGNS: Final = "aB1½_字🐢`[]()\\<>&|~!*^#%-'/., \t\n\n\r\x00\x1c\x1e\x85\u0301\u2028\u3000\ud800\udfff"
NAMES: Final = ["paragraph", "html", "code", "list", "table", "heading", "rule", "comment", "unknown", ""]
SHAPED: Final = [
    Part,
    Block,
    FoundBlock,
    PlannedCore,
    SettledChunk,
    tuple,
    int,
    time.struct_time,
    type(sys.version_info),
]
FLAGS: Final = (
    pyromark.Options(0),
    pyromark.Options.ENABLE_TABLES,
    pyromark.Options.ENABLE_TABLES | pyromark.Options.ENABLE_WIKILINKS,
)

chance = random.Random()
victims: list[Any] = []  # lists and dictionaries of the call
under_way: list[str] = []  # the function that is being called; arguments are harmless before and after


def strike() -> None:
    """Change the arguments of the call that is under way."""
    if not under_way:
        return
    for victim in chance.sample(victims, min(len(victims), 3)):
        change(victim)
    if chance.random() < 0.1:
        gc.collect()
    if chance.random() < 0.1:
        raise KeyError("hostile")


def change(victim: Any) -> None:
    """Empty or refill a list or a dictionary."""
    if chance.random() < 0.5:
        (list if isinstance(victim, list) else dict).clear(victim)
    elif isinstance(victim, list):
        list.extend(victim, range(99))
    else:
        dict.update(victim, {str(key): key for key in range(20)})


def number() -> Any:
    return chance.choice([chance.randint(-3, 60), chance.randint(-3, 60), chance.choice(HUGE), -chance.choice(HUGE)])


class Evil:
    """An object that strikes whatever is asked of it."""

    def __index__(self) -> int:
        strike()
        return int(number())

    def __bool__(self) -> bool:
        strike()
        return chance.random() < 0.5

    def __len__(self) -> int:
        strike()
        return chance.choice([0, 1, 7, 2**62])

    def __iter__(self) -> Iterator[Any]:
        for _ in range(chance.randint(0, 5)):
            strike()
            yield junk()

    def __getitem__(self, place: Any) -> Any:
        strike()
        return junk()

    def __eq__(self, other: object) -> bool:
        strike()
        return chance.random() < 0.5

    def __hash__(self) -> int:
        strike()
        return hash(chance.choice(["a", "", " ", "paragraph", "Heading", "start"]))

    def __getattr__(self, name: str) -> Any:
        strike()
        return junk()


class EvilInt(Evil, int):
    """An integer whose methods lie."""


class EvilStr(Evil, str):
    """A string whose methods lie."""


class EvilList(Evil, list[Any]):  # type: ignore[misc]
    """A list whose methods lie."""


class EvilTuple(Evil, tuple[Any, ...]):
    """A tuple whose methods lie."""


class EvilDict(Evil, dict[Any, Any]):  # type: ignore[misc]
    """A dictionary whose methods lie."""


class EvilShape(Block):
    """A named tuple with attributes and methods of its own."""

    def __new__(cls, *fields: Any) -> Any:
        strike()
        return None

    def __del__(self) -> None:
        quietly(strike)


class EvilBuilder(Builder):
    """A builder that changes while blocks are added."""

    def fill(self, end: int) -> None:
        strike()
        self.headings[:] = chance.choice([[], [(1, "a")] * 9, [junk()], [(junk(), "a")]])
        if chance.random() < 0.5:
            self.blocks.clear()
        super().fill(end)
        self.reached = chance.choice([self.reached, junk()])


class Garbage:
    """A cycle that strikes when it is collected."""

    def __init__(self) -> None:
        self.itself = self

    def __del__(self) -> None:
        quietly(strike)


def quietly(act: Callable[..., Any], *arguments: Any) -> bool:
    """Run, and return whether there was no error."""
    try:
        act(*arguments)
    except Exception:
        return False
    return True


def junk() -> Any:
    """Return a value that most functions don't expect."""
    inner = [chance.choice([1, "a", None, (1, 2)]) for _ in range(chance.randint(0, 6))]
    evil = [Evil(), EvilInt(chance.randint(-2, 9)), EvilStr("a b"), EvilList(inner), EvilTuple(inner)]
    if chance.random() < 0.3:
        return chance.choice([*evil, EvilDict(enumerate(inner))])
    simple = [None, 1.5, "x", b"xxxx", b"xxx", object(), (), [], {}, {7}, int, float("nan"), 2j]
    return chance.choice([*simple, number(), number(), text()])


def mangled(value: Any, depth: int = 0) -> Any:
    """Return a value with some of what is inside replaced, and remember what can be changed."""
    if chance.random() < 0.03:
        return junk()
    if depth > 5 or isinstance(value, str | bytes | type):
        return EvilStr(value) if isinstance(value, str) and chance.random() < 0.03 else value
    if isinstance(value, list):
        value = [mangled(one, depth + 1) for one in value]
    elif isinstance(value, tuple):
        value = tuple.__new__(type(value), [mangled(one, depth + 1) for one in value])
    elif isinstance(value, dict):
        value = {mangled_key(key): mangled(one, depth + 1) for key, one in value.items()}
    if isinstance(value, list | dict):
        victims.append(value)
    return value


def mangled_key(key: Any) -> Any:
    return chance.choice([Evil(), EvilStr(key)]) if chance.random() < 0.04 else key


# ── arguments ────────────────────────────────────────────────────────────────────────────────────────────────────


def text() -> str:
    kind = chance.randrange(4)
    if kind == 0:
        return "".join(chance.choices("ab c\n\n#-`", k=chance.randint(0, 200)))
    if kind == 1:
        return "".join(chance.choices(SIGNS, k=chance.randint(0, 80)))
    if kind == 2:
        return "".join(chr(chance.choice([chance.randrange(0x250), chance.randrange(0x110000)])) for _ in range(20))
    return markdown()


def markdown() -> str:
    marks = ["\n\n", "\n\n", "\n", " ", " ", "\n- ", "\n  - ", "\n# ", "\n> ", "\n| ", " | ", "\n|---|---|\n", "\n    "]
    return "".join(chance.choice(WORDS) + chance.choice(marks) for _ in range(chance.randint(0, 40)))


def ends() -> Any:
    values = sorted(chance.choices(range(90), k=chance.randint(0, 60)))
    if chance.random() < 0.2:
        chance.shuffle(values)
    kind = chance.randrange(12)
    if kind > 4:
        return array("i", values)
    odd = memoryview(b"x" + array("i", values).tobytes())[1:]
    others = [odd.cast("i"), array(chance.choice("Iqlfb"), values), numpy.array(values, ">i4"), odd.tobytes()]
    return [*others, numpy.array(values, "i4")[::2]][kind]


def pairs() -> list[Any]:
    return [(number(), number()) for _ in range(chance.randint(0, 50))]


def rows() -> tuple[Any, ...]:
    reached, made = 0, []
    for _ in range(chance.randint(0, 20)):
        start = reached + chance.randint(0, 3)
        reached = start + chance.randint(-1, 20)
        parts = chance.choice([(), (Part(0, 9, header=chance.random() < 0.5),)])
        fields = chance.choice(NAMES), start, reached, (), None, None, parts, None, None, None
        made.append(tuple.__new__(Block, fields))
    return tuple(made)


def found() -> list[Any]:
    level = chance.choice([None, 1, 2, 6, number()])
    return [tuple.__new__(FoundBlock, (*row[:3], level, text(), ())) for row in rows()]


def plans() -> list[Any]:
    numbers = [
        (number(), number(), chance.randint(-1, 20), chance.randint(-1, 20)) for _ in range(chance.randint(0, 9))
    ]
    return [PlannedCore(*one, chance.random() < 0.3) for one in numbers]


def known(words: str) -> dict[Any, Any]:
    return {words[at : at + size]: chance.randint(0, 9) for at in range(len(words)) for size in range(1, 5)}


def builder() -> Any:
    made: Any = chance.choice([Builder, Builder, EvilBuilder])(text())
    if chance.random() < 0.2:
        setattr(made, chance.choice(Builder.__slots__), junk())
    victims.extend(one for one in (made.headings, made.blocks) if isinstance(one, list))
    return made


def events(words: str, ranges: bool) -> list[Any]:
    words = words.encode(errors="replace").decode()
    parse = pyromark.events_with_range if ranges else pyromark.events
    return list(parse(words, options=chance.choice(FLAGS)))


def prefixes() -> Any:
    return chance.choice([None, [(chance.choice(["", "a\n"]), number()) for _ in range(chance.randint(0, 9))]])


def by_path() -> Any:
    return chance.choice([None, {(): ("a\n", number())}])


def places() -> Any:
    values = sorted(chance.choices(range(90), k=5))
    return chance.choice([array("q", values), array("q", values), array(chance.choice("iQd"), values), bytes(40)])


def shown() -> Any:
    return chance.choice([None, (text(), ends(), places(), places(), places())])


def kept(words: str) -> bytes:
    length = len(words.encode(errors="replace"))
    edges = [chance.randint(0, length + (chance.random() < 0.1)) for _ in range(2 * chance.randint(0, 20))]
    return array("q", [~edge if chance.random() < 0.2 else edge for edge in edges]).tobytes()


def changed() -> list[Any]:
    return [(number(), number(), text()[:3]) for _ in range(chance.randint(0, 4))]


def marks() -> list[Any]:
    return [(number(), number(), number(), number()) for _ in range(chance.randint(0, 4))]


def shape(usual: Any) -> Any:
    return usual if chance.random() < 0.9 else chance.choice([*SHAPED, EvilShape])


def arguments(name: str) -> tuple[Any, ...]:
    words = text()
    rules = frozenset({"code", "table"}), frozenset({"comment"}), number(), prefixes(), shown()
    sizes = tuple.__new__(SectionSizes, (*(number() for _ in range(4)), chance.random() < 0.5, True))
    wishes = [chance.random() < 0.7 for _ in range(4)]
    ids = array("I", chance.choices(range(5), k=chance.randint(0, 30))).tobytes()
    made: dict[str, Callable[[], tuple[Any, ...]]] = {
        "add_blocks": lambda: (builder(), found(), shape(Block), chance.choice([LONGEST_NAME, 3, number()])),
        "collapsed": lambda: (words, number()),
        "ended_at": lambda: (ends(), number()),
        "ended_at_each": lambda: (ends(), [number() for _ in range(chance.randint(0, 60))]),
        "ended_at_edges": lambda: (ends(), pairs()),
        "exact_tokens": lambda: (words, ends(), known(words), number(), number(), chance.choice(["", "\n", "字"])),
        "hints": lambda: (words,),
        "is_text": lambda: (words,),
        "items": lambda: (words, pairs(), shape(Part)),
        "kept_ranges": lambda: (words, events(words, True)),
        "line_starts": lambda: (words, number(), number()),
        "mark_hints": lambda: (words,),
        "misplaced": lambda: (words, rows()),
        "plain_words": lambda: (words, number()),
        "plans_at_sight": lambda: (rows(), number(), number(), ends(), sizes, by_path(), shape(PlannedCore)),
        "settled_alone": lambda: (words, ends(), known(words), rows(), plans(), rules, shape(SettledChunk)),
        "token_ends": lambda: (ids[chance.choice([0, 0, 1]) :], array("B", chance.randbytes(5)), number()),
        "tokens_between": lambda: (ends(), number(), number()),
        "visible_range": lambda: (words, number(), number()),
        "visible_ranges": lambda: (words, [number() for _ in range(chance.randint(0, 60))], number(), number()),
        "walk": lambda: (words, events(words, True), dict(KINDS), (shape(SHAPES[0]), shape(SHAPES[1])), *wishes),
        "without_hidden": lambda: (words, kept(words), changed(), marks()),
        "words_of": lambda: (events(words, False), number(), wishes[0]),
    }
    return made[name]()


def call(name: str) -> bool:
    """Call a function once, and look at all that it returned; return whether it returned."""
    victims.clear()
    given = tuple(mangled(one) for one in arguments(name))
    if chance.random() < 0.02:
        given = given[: chance.randrange(len(given) + 1)]
    Garbage()
    under_way.append(name)
    returned = quietly(lambda: repr(getattr(compiled, name)(*given)))
    under_way.clear()
    return returned


def use() -> None:
    """Read and chunk a document as a program would."""
    document = spanwise.read_text(markdown() * chance.randint(1, 9))
    strategy: Any
    for strategy in sorted(set(STRATEGIES) - {"smart"}):
        tokenizer, most = chance.choice(["cl100k", "words", "approx"]), chance.choice([16, 64, 900])
        with suppress(spanwise.LimitError):
            for chunk in spanwise.chunk(document, strategy, tokenizer, max_tokens=most):
                chunk.to_dict()


def main() -> None:
    """Run so many rounds, or for so many seconds; a round calls each function ten times."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int)
    parser.add_argument("--seconds", type=float, default=30)
    parser.add_argument("--seed", type=int, default=0)
    asked = parser.parse_args()
    chance.seed(asked.seed)
    gc.set_threshold(20)
    names = sorted(name for name in vars(compiled) if not name.startswith("_"))
    calls = returned = 0
    until = time.monotonic() + asked.seconds
    for done in count():
        if done == asked.rounds or (asked.rounds is None and time.monotonic() > until):
            break
        for name in names * 10:
            calls, returned = calls + 1, returned + call(name)
        use()
    sys.stdout.write(f"{calls} calls of {len(names)} functions, {returned} of them without an error\n")


if __name__ == "__main__":
    main()
