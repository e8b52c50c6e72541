"""What a page shows: a document, the records of its chunks, what they were told, and how its pages look."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Final, NamedTuple

from spanwise.documents.document import Document
from spanwise.readers.pdf.page_images import Picture

PALETTE: Final = 6
"""How many colours page.css has for chunks."""

Record = Mapping[str, Any]


class TargetSizes(NamedTuple):
    """The sizes that chunks were to have, in tokens; None where the strategy has no such size."""

    most: int | None = None
    target: int | None = None
    least: int | None = None
    parent: int | None = None


@dataclass(frozen=True)
class Inspection:
    """All that a page shows; records carry UTF-16 offsets as well, because JavaScript counts in these."""

    document: Document
    records: Sequence[Record]
    strategy: str
    tokenizer: str
    options: Mapping[str, Any] = field(default_factory=dict)
    sizes: TargetSizes = field(default_factory=TargetSizes)
    name: str = ""
    picture: Callable[[int], Picture] | None = None
    pictures_up_to: int = 0
    looks: str | None = None
    """The HTML of a page, as a browser takes it."""

    @cached_property
    def parents(self) -> frozenset[str]:
        """The ids of chunks that others lie in: they are named where they start, and their children are painted."""
        return frozenset(record["parent_id"] for record in self.records if record["parent_id"])

    @cached_property
    def painted(self) -> list[Record]:
        """The chunks whose cores are painted; no two of these share a character."""
        return [record for record in self.records if record["chunk_id"] not in self.parents]

    @cached_property
    def colours(self) -> dict[int, int]:
        """The colour of each painted chunk, so that neighbours differ."""
        return {record["chunk_index"]: place % PALETTE for place, record in enumerate(self.painted)}

    @cached_property
    def title(self) -> str:
        """What the document is called."""
        return self.document.metadata.title or self.name or "Untitled"
