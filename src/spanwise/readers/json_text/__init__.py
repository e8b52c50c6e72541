"""The readers of JSON and JSON Lines: the text is the file, divided at members, with the keys as headings path.

An object or array that is long has blocks of its own, whose path ends with its key; short ones stay together with
their neighbours, in one block with a part for each.
"""

from __future__ import annotations

import json
import re
from array import array
from collections.abc import Sequence
from typing import Final

from spanwise.documents.document import LONGEST_NAME, Block, Part
from spanwise.errors import UnreadableError
from spanwise.readers.builder import ReadResult
from spanwise.readers.json_text.scanning import Container, key_at, scanned
from spanwise.text.cuts import trimmed

_LONG_RECORD: Final = 2000  # characters: what is longer has blocks of its own in an array, and so has a long string
_DEEPEST: Final = 16  # levels that are divided into blocks: paths must not grow without bound
_PART_COST: Final = 256  # about the bytes of a part
_MOST_COST: Final = 16  # bytes of parts for each character: a long list of numbers has none
_LINE: Final = re.compile(r"[^\n]*\S[^\n]*")
_LONE: Final = re.compile("[\ud800-\udfff]")


def read_json(text: str) -> ReadResult:
    """Read a JSON text; raise UnreadableError with line and column if it isn't one."""
    root = scanned(text, 0, len(text))
    blocks = _Blocks(text)
    if root:
        blocks.divide(root, (0, len(text)), "", ())
    else:
        blocks.add((0, len(text)), "", ())
    return ReadResult(text, tuple(blocks.done), {})


def read_json_lines(text: str) -> ReadResult:
    """Read a text with a JSON value on every line that isn't blank; its pointers begin with the line, from 0."""
    root = Container(0, is_object=False, end=len(text))
    numbers, line, counted = array("q"), 0, 0
    for found in _LINE.finditer(text):
        start, end = found.span()
        line += text.count("\n", counted, start)
        counted = start
        if child := scanned(text, start, end, only_long=True):
            root.children[len(root.starts)] = child
        root.starts.append(start)
        numbers.append(line)
    blocks = _Blocks(text, numbers)
    if root.starts:
        blocks.divide(root, (root.starts[0], len(text)), "", ())
    return ReadResult(text, tuple(blocks.done), {})


class _Blocks:
    """The blocks of a text, as they are found; `lines` are the numbers of the members of the outermost array."""

    def __init__(self, text: str, lines: Sequence[int] | None = None) -> None:
        self.text = text
        self.done: list[Block] = []
        self._lines = lines

    def add(self, span: tuple[int, int], pointer: str, path: tuple[str, ...], parts: tuple[Part, ...] = ()) -> None:
        """Add a range as a block."""
        if found := trimmed(self.text, *span):
            self.done.append(Block("code", *found, headings_path=path, parts=parts, source_ref={"pointer": pointer}))

    def divide(
        self,
        whole: Container,
        span: tuple[int, int],
        pointer: str,
        path: tuple[str, ...],
        depth: int = 1,
        inside: bool = False,
    ) -> None:
        """Add the blocks of a container: one for each long member, one for each run of the others.

        What is `inside` an array is a record, which stays whole unless it is very long.
        """
        inside = inside or not whole.is_object
        starts, count = whole.starts, len(whole.starts)
        edges = [span[0], *starts[1:], span[1]] if count else list(span)
        first = 0
        for number in self._alone(whole, edges, pointer, depth, inside=inside):
            self._add_run(whole, edges, (first, number), pointer, path)
            name = self._token(whole, number, pointer)
            below = f"{pointer}/{name.replace('~', '~0').replace('/', '~1')}"
            title = " ".join(name.split())[:LONGEST_NAME] if whole.is_object else ""
            inner, inner_path = (edges[number], edges[number + 1]), (*path, title) if title else path
            if child := whole.children.get(number):
                self.divide(child, inner, below, inner_path, depth + 1, inside)
            else:
                self.add(inner, below, inner_path)
            first = number + 1
        self._add_run(whole, edges, (first, max(count, 1)), pointer, path)

    def _alone(self, whole: Container, edges: Sequence[int], pointer: str, depth: int, *, inside: bool) -> list[int]:
        """Return the numbers of the members that have blocks of their own."""
        if depth > _DEEPEST or len(pointer) > LONGEST_NAME:
            return []
        longs = [at for at in range(len(whole.starts)) if edges[at + 1] - edges[at] > _LONG_RECORD]
        texts = [at for at in longs if whole.is_object and at not in whole.children]
        return sorted([*(at for at in (longs if inside else whole.children) if at in whole.children), *texts])

    def _add_run(
        self, whole: Container, edges: Sequence[int], run: tuple[int, int], pointer: str, path: tuple[str, ...]
    ) -> None:
        """Add a run of members as one block."""
        first, after = run
        if first < after:
            span = edges[first], edges[after]
            self.add(span, pointer, path, self._parts(whole, edges, run, pointer))

    def _parts(self, whole: Container, edges: Sequence[int], run: tuple[int, int], pointer: str) -> tuple[Part, ...]:
        """Return a part for each member of a run, unless the parts would be much larger than their text."""
        first, after = run
        size, cost = edges[after] - edges[first], (after - first) * (len(pointer) + _PART_COST)
        if not whole.starts or cost > max(size, _PART_COST) * _MOST_COST:
            return ()
        parts = []
        for number in range(first, after):
            name = self._token(whole, number, pointer).replace("~", "~0").replace("/", "~1")
            if span := trimmed(self.text, edges[number], edges[number + 1]):
                parts.append(Part(*span, source_ref={"pointer": f"{pointer}/{name}"}))
        return tuple(parts)

    def _token(self, whole: Container, number: int, pointer: str) -> str:
        """Return the key or the number of a member."""
        if not whole.is_object:
            return str(number if self._lines is None or pointer else self._lines[number])
        raw = key_at(self.text, whole.starts[number])
        return _LONE.sub("\ufffd", json.loads(raw)) if "\\" in raw else raw[1:-1]


def decoded_json(data: bytes, name: str) -> str | None:
    """Decode a JSON file that is UTF-16 or UTF-32 without a byte order mark; None if it is neither."""
    if b"\x00" not in data[:4] or data.startswith((b"\xff\xfe", b"\xfe\xff", b"\x00\x00\xfe\xff")):
        return None
    encoding = json.detect_encoding(data)
    try:
        return data.decode(encoding)
    except UnicodeDecodeError as error:
        rule = f"looks like {encoding}, but byte {error.start} is not"
        raise UnreadableError(name, rule, hint="the file is damaged or cut off; save it again as UTF-8") from error
