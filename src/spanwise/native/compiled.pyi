from array import array
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from spanwise.native.plain import FoundLink, Part, Range, Row, Shapes

def add_blocks(builder: Any, seen: Sequence[Any], shape: Callable[..., object], longest: int) -> None: ...
def items(text: str, ranges: list[Range], shape: Callable[..., Part]) -> tuple[Part, ...]: ...
def token_ends(ids: bytes, begun: array[int], base: int) -> bytes: ...
def walk(
    text: str,
    events: Iterable[tuple[Any, Any]],
    kinds: Mapping[str, str],
    shapes: Shapes[Row, Part],
    tagged: bool,
    coded: bool,
    embeds: bool,
) -> tuple[list[Row], list[FoundLink], list[Range], list[Range]]: ...
