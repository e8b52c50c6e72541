"""Document, Block, Page, Metadata: what a reader makes and everything else looks at.

A document owns its text once; a block is a range of it. All values are frozen and checked at birth. `Block`, `Part`
and `Page` are named tuples because a reader makes them by the ten thousand.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from functools import cached_property
from types import MappingProxyType
from typing import Any, Final, NamedTuple

from spanwise.errors import DocumentError, OptionError, did_you_mean
from spanwise.spans import Span

KINDS: Final = frozenset({
    "heading", "paragraph", "list", "table", "code", "quote", "figure", "rule",
    "html", "front_matter", "comment", "definition",
})  # fmt: skip
LEFT_OUT_KINDS: Final = frozenset({"front_matter", "comment", "definition"})
"""Kinds that are never content, in no strategy."""

SourceRef = Mapping[str, Any]


class _PartFields(NamedTuple):
    start: int
    end: int
    parts: tuple[Part, ...]
    source_ref: SourceRef | None
    header: bool


class Part(_PartFields):
    """An item of a list (its nested items are its own `parts`) or a row of a table.

    The header row of a table holds its delimiter row too, and says so with `header`.
    """

    __slots__ = ()

    def __new__(
        cls,
        start: int,
        end: int,
        parts: tuple[Part, ...] = (),
        source_ref: SourceRef | None = None,
        header: bool = False,
    ) -> Part:
        """Refuse an empty or reversed range."""
        if not 0 <= start < end:
            raise DocumentError("part", "must have 0 <= start < end", value=(start, end))
        return tuple.__new__(cls, (start, end, parts, source_ref, header))


class _BlockFields(NamedTuple):
    kind: str
    start: int
    end: int
    headings_path: tuple[str, ...]
    level: int | None
    page: int | None
    parts: tuple[Part, ...]
    section_type: str | None
    block_id: str | None
    source_ref: SourceRef | None


class Block(_BlockFields):
    """One structural element of a document and the range of its text."""

    __slots__ = ()

    def __new__(
        cls,
        kind: str,
        start: int,
        end: int,
        headings_path: tuple[str, ...] = (),
        level: int | None = None,
        page: int | None = None,
        parts: tuple[Part, ...] = (),
        section_type: str | None = None,
        block_id: str | None = None,
        source_ref: SourceRef | None = None,
    ) -> Block:
        """Refuse an unknown kind, an empty range, and a level where there is no heading."""
        if kind not in KINDS:
            raise DocumentError("kind", "is not a kind of block", value=kind, hint=did_you_mean(str(kind), KINDS))
        if not 0 <= start < end:
            raise DocumentError("block", "must have 0 <= start < end", value=(start, end))
        if (level is not None) != (kind == "heading"):
            raise DocumentError("level", "belongs to headings, and every heading has one", value=(kind, level))
        return tuple.__new__(
            cls, (kind, start, end, headings_path, level, page, parts, section_type, block_id, source_ref)
        )

    @property
    def span(self) -> Span:
        """The block's range as a `Span`."""
        return Span(self.start, self.end)


class Page(NamedTuple):
    """A page of a paged source: its number (from 1) and the range of its text, which may be empty."""

    number: int
    start: int
    end: int


class LeftOut(NamedTuple):
    """Something of the source that is not in the text, or not as it was, and why."""

    reason: str
    text: str = ""
    source_ref: SourceRef | None = None


class Link(NamedTuple):
    """An outgoing link; `heading` and `block_id` only where the source names them apart."""

    target: str
    text: str
    heading: str | None = None
    block_id: str | None = None

    def to_dict(self) -> dict[str, str | None]:
        """Give the link as JSON-ready values; `heading` and `block_id` only when they are known."""
        record: dict[str, str | None] = {"target": self.target, "text": self.text}
        if self.heading is not None or self.block_id is not None:
            record |= {"heading": self.heading, "block_id": self.block_id}
        return record


@dataclass(frozen=True, slots=True, kw_only=True)
class Metadata:
    """What is known of a document besides its text; keys of your own go into `extra`."""

    document_id: str = ""
    tenant_id: str | None = None
    source_type: str | None = None
    source_url: str | None = None
    file_path: str | None = None
    title: str | None = None
    author: str | None = None
    updated_at: str | None = None
    labels: tuple[str, ...] = ()
    space_key: str | None = None
    page_id: str | None = None
    page_version: int | None = None
    language: str | None = None
    links: tuple[Link, ...] = ()
    extra: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Check every field's type; make lists tuples and `extra` read-only."""
        for name in _WORDS:
            if not isinstance(value := getattr(self, name), str | None):
                raise OptionError(name, "must be a string", value=value)
        if isinstance(self.labels, str) or not all(isinstance(label, str) for label in self.labels):
            raise OptionError("labels", "must be a list of strings", value=self.labels, hint='try ["hr", "policy"]')
        if self.page_version is not None and type(self.page_version) is not int:
            raise OptionError("page_version", "must be an integer", value=self.page_version)
        object.__setattr__(self, "labels", tuple(self.labels))
        object.__setattr__(self, "links", tuple(self.links))
        object.__setattr__(self, "extra", MappingProxyType(dict(self.extra)))

    @classmethod
    def of(cls, given: Mapping[str, Any]) -> Metadata:
        """Build from keywords; an unknown one is refused, because it is most likely a typo."""
        for name in given:
            if name not in _METADATA:
                hint = f'{did_you_mean(name, _METADATA)} (keys of your own: extra={{"{name}": …}})'
                raise OptionError(name, "is not a metadata field", hint=hint)
        return cls(**given)

    def to_dict(self) -> dict[str, Any]:
        """Give all fields as JSON-ready values."""
        record = {name: getattr(self, name) for name in _METADATA}
        return record | {
            "labels": list(self.labels),
            "links": [link.to_dict() for link in self.links],
            "extra": dict(self.extra),
        }


_METADATA: Final = tuple(f.name for f in fields(Metadata))
_WORDS: Final = tuple(name for name in _METADATA if name not in {"labels", "page_version", "links", "extra"})


def derived_document_id(metadata: Mapping[str, Any], text: str) -> str:
    """Name a document by its tenant and source, or, without a source, by its text; never by time or chance."""
    source = metadata.get("source_url") or metadata.get("file_path")
    origin = f"source:{source}" if source else f"text:{text}"
    return hashlib.sha256(f"{metadata.get('tenant_id') or ''}\x1f{origin}".encode()).hexdigest()[:32]


@dataclass(frozen=True)
class Document:
    """Normalized text, its blocks and pages, and what is known of it."""

    text: str
    blocks: tuple[Block, ...]
    pages: tuple[Page, ...] = ()
    metadata: Metadata = field(default_factory=Metadata)
    left_out: tuple[LeftOut, ...] = ()

    def __post_init__(self) -> None:
        """Check that blocks ascend inside the text, and that the document has an id."""
        reached = 0
        for block in self.blocks:
            if block.start < reached or block.end <= block.start:
                raise DocumentError("blocks", "must ascend and not overlap", value=tuple(block[:3]))
            reached = block.end
        if reached > len(self.text):
            raise DocumentError("blocks", f"must end inside the text ({len(self.text)} characters)", value=reached)
        if not self.metadata.document_id:
            raise DocumentError("document_id", "must not be empty")

    @property
    def document_id(self) -> str:
        """The id that all chunks of this document carry."""
        return self.metadata.document_id

    @cached_property
    def block_starts(self) -> list[int]:
        """Where each block starts, for finding blocks by position."""
        return [block.start for block in self.blocks]
