"""The input of a page: a document, the records of its chunks, their options, and its rendered pages."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Final, NamedTuple

from spanwise.documents.document import Document
from spanwise.readers.pdf.page_images import PageImage

PALETTE: Final = 6
"""The number of colours for chunks in page.css."""

Record = Mapping[str, Any]


class TargetSizes(NamedTuple):
    """The sizes asked for, in tokens; None where the strategy has no such size."""

    most: int | None = None
    target: int | None = None
    least: int | None = None
    parent: int | None = None


@dataclass(frozen=True)
class Inspection:
    """Everything that a page shows; records include UTF-16 offsets, because JavaScript counts in these."""

    document: Document
    records: Sequence[Record]
    strategy: str
    tokenizer: str
    options: Mapping[str, Any] = field(default_factory=dict)
    sizes: TargetSizes = field(default_factory=TargetSizes)
    name: str = ""
    picture: Callable[[int], PageImage] | None = None
    pictures_up_to: int = 0
    rendered_html: str | None = None
    """The HTML of a web page, as a browser reads it."""

    @cached_property
    def parents(self) -> frozenset[str]:
        """The ids of chunks with children: these have a label where they start, and their children are painted."""
        return frozenset(record["parent_id"] for record in self.records if record["parent_id"])

    @cached_property
    def painted(self) -> list[Record]:
        """The chunks whose cores are painted; no two of these share a character."""
        return [record for record in self.records if record["chunk_id"] not in self.parents]

    @cached_property
    def colours(self) -> dict[int, int]:
        """The colour of each painted chunk; neighbours differ."""
        return {record["chunk_index"]: index % PALETTE for index, record in enumerate(self.painted)}

    @cached_property
    def title(self) -> str:
        """The title of the document, else its name."""
        return self.document.metadata.title or self.name or "Untitled"
