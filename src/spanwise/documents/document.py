"""Document, Block, Page, Metadata: what a reader makes and everything else looks at.

A document owns its text once; a block is a range of it. All values are frozen and checked at birth. `Block`, `Part`
and `Page` are named tuples because a reader makes them by the ten thousand.
"""

from __future__ import annotations

import hashlib
import json
import re
from bisect import bisect_left, bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from datetime import datetime
from functools import cached_property
from operator import attrgetter, index
from types import MappingProxyType
from typing import Any, Final, NamedTuple

from spanwise.documents.span import Span
from spanwise.errors import DocumentError, OptionError, did_you_mean
from spanwise.native import is_text, misplaced

KINDS: Final = frozenset({
    "heading", "paragraph", "list", "table", "code", "quote", "figure", "rule",
    "html", "front_matter", "comment", "definition",
})  # fmt: skip
HEADING_LEVELS: Final = range(1, 7)
LEFT_OUT_KINDS: Final = frozenset({"front_matter", "comment", "definition"})
"""Kinds that are never content, in no strategy."""

_LABEL: Final = re.compile(r"^[ \t]{0,3}\[([^\]]+)\]:", re.MULTILINE)

BARRIER: Final = "\ufffc"
"""What a page shows as no text (a field of a form): the words on its two sides can't be searched for together."""

SourceRef = Mapping[str, Any]


class _PartFields(NamedTuple):
    start: int
    end: int
    parts: tuple[Part, ...]
    source_ref: SourceRef | None
    header: bool
    block_id: str | None


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
        block_id: str | None = None,
    ) -> Part:
        """Refuse an empty or reversed range."""
        start, end = index(start), index(end)
        if not 0 <= start < end:
            raise DocumentError("part", "must have 0 <= start < end", value=(start, end))
        return tuple.__new__(cls, (start, end, tuple(parts), source_ref, header, block_id))


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
        start, end = index(start), index(end)
        if not 0 <= start < end:
            raise DocumentError("block", "must have 0 <= start < end", value=(start, end))
        if (kind == "heading") != (level in HEADING_LEVELS) or (level is not None and kind != "heading"):
            raise DocumentError("level", "of a heading is 1 to 6, and nothing else has one", value=(kind, level))
        if any(part.start < start or part.end > end for part in parts):
            raise DocumentError("parts", "must lie inside their block", value=(start, end))
        return tuple.__new__(
            cls, (kind, start, end, headings_path, level, page, tuple(parts), section_type, block_id, source_ref)
        )

    @property
    def span(self) -> Span:
        """The block's range as a `Span`."""
        return Span(self.start, self.end)


def is_headless(block: Block) -> bool:
    """Whether a table goes on with one on the page before, where its head stands."""
    return block.kind == "table" and bool(block.parts) and not block.parts[0].header


def table_head(blocks: Sequence[Block], index: int) -> Part | None:
    """Find the head of a table: its own, or, where it goes on over pages, that of the table it goes on with."""
    while index >= 0 and blocks[index].kind == "table" and blocks[index].parts:
        if not is_headless(blocks[index]):
            return blocks[index].parts[0]
        index -= 1
    return None


def clipped(block: Block, start: int, end: int) -> Block:
    """Give what of a block lies in a range, with the parts that are there."""
    if start <= block.start and end >= block.end:
        return block
    start, end = max(start, block.start), min(end, block.end)
    return block._replace(start=start, end=end, parts=_clipped_parts(block.parts, start, end))


def _clipped_parts(parts: tuple[Part, ...], start: int, end: int) -> tuple[Part, ...]:
    """Find the parts of a range; only the first and the last can reach beyond it."""
    low = bisect_right(parts, start, key=lambda part: part.end)
    inside = list(parts[low : bisect_left(parts, end, low, key=lambda part: part.start)])
    for place in {0, len(inside) - 1} if inside else ():
        part = inside[place]
        if part.start < start or part.end > end:
            low, high = max(part.start, start), min(part.end, end)
            inside[place] = part._replace(start=low, end=high, parts=_clipped_parts(part.parts, low, high))
    return tuple(inside)


class Page(NamedTuple):
    """A page of a paged source: its number (from 1) and the range of its text, which may be empty."""

    number: int
    start: int
    end: int


class LeftOut(NamedTuple):
    """Something of the source that is not in the text, or not as it was, and why.

    What is `usual` (page numbers, running titles) is listed, but nobody needs to be warned of it.
    """

    reason: str
    text: str = ""
    source_ref: SourceRef | None = None
    usual: bool = False


class Shown(NamedTuple):
    """Text that a page shows in one stretch; `offset` characters of the page stand before it."""

    offset: int
    text: str
    code: bool = False


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
    extra: Mapping[str, Any] = field(default_factory=dict, hash=False)

    def __post_init__(self) -> None:
        """Check every field's type; make lists tuples and `extra` read-only."""
        words = _words_of(self)
        if not ({*map(type, words)} <= _WORD_TYPES and is_text("".join(filter(None, words)))):  # one step for all
            for name, value in zip(_WORDS, words, strict=True):
                if value is not None and not (isinstance(value, str) and is_text(value)):
                    raise OptionError(name, "must be a string of whole characters", value=value)
        for name, kind in (("labels", str), ("links", Link)):
            values = getattr(self, name)
            if values == ():
                continue
            if not isinstance(values, list | tuple) or not all(
                issubclass(found, kind) for found in {*map(type, values)}
            ):
                rule = f"must be a list of {'strings' if kind is str else 'Link'}"
                raise OptionError(name, rule, value=values, hint='try ["hr", "policy"]' if kind is str else None)
            object.__setattr__(self, name, tuple(values))
        if self.page_version is not None and type(self.page_version) is not int:
            raise OptionError("page_version", "must be an integer", value=self.page_version)
        if self.updated_at is not None and not _is_iso(self.updated_at):
            raise OptionError("updated_at", "must be ISO 8601", value=self.updated_at, hint="try 2026-01-28T10:00:00Z")
        if not isinstance(self.extra, Mapping):
            raise OptionError("extra", "must be a dictionary", value=self.extra, hint='try {"team": "hr"}')
        extra = dict(self.extra)
        if extra and not _is_json(extra):
            raise OptionError("extra", "must hold what JSON can say", value=extra, hint='try {"team": "hr"}')
        object.__setattr__(self, "extra", MappingProxyType(extra))

    def __reduce__(self) -> tuple[Any, ...]:
        """Let the metadata travel: a read-only view can't be pickled, what it shows can."""
        return Metadata.of, ({name: getattr(self, name) for name in _METADATA} | {"extra": dict(self.extra)},)

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
_words_of: Final = attrgetter(*_WORDS)
_WORD_TYPES: Final = {str, type(None)}


def _is_json(value: object) -> bool:
    try:
        json.dumps(value)
    except (TypeError, ValueError, RecursionError):
        return False
    return True


def _is_iso(stamp: str) -> bool:
    try:
        datetime.fromisoformat(stamp)
    except ValueError:
        return False
    return True


def derived_document_id(metadata: Mapping[str, Any], text: str) -> str:
    """Name a document by its tenant and source, or, without a source, by its text; never by time or chance."""
    source = metadata.get("source_url") or metadata.get("file_path")
    kind, name = ("source", str(source)) if source else ("text", text)
    digest = hashlib.sha256(_bytes(f"{metadata.get('tenant_id') or ''}\x1f{kind}:"))
    digest.update(_bytes(name))  # apart, because the text is long and its bytes may be known already
    return digest.hexdigest()[:32]


def _bytes(words: str) -> bytes:
    return words.encode() if is_text(words) else words.encode("utf-8", "surrogatepass")  # refused afterwards


def _misplaced(text: str, blocks: tuple[Block, ...], wrong: int) -> DocumentError:
    """Say what is wrong with a block, or with what stands after the last."""
    reached = blocks[wrong - 1].end if wrong else 0
    start, end = (blocks[wrong].start, blocks[wrong].end) if wrong < len(blocks) else (len(text), len(text) + 1)
    if start < reached or end <= start:
        return DocumentError("blocks", "must ascend and not overlap", value=tuple(blocks[wrong][:3]))
    if lost := text[reached:start].strip():
        return DocumentError("blocks", "must hold every visible character", value=lost)
    return DocumentError("blocks", f"must end inside the text ({len(text)} characters)", value=end)


@dataclass(frozen=True)
class Document:
    """Normalized text, its blocks and pages, and what is known of it."""

    text: str
    blocks: tuple[Block, ...]
    pages: tuple[Page, ...] = ()
    metadata: Metadata = field(default_factory=Metadata)
    left_out: tuple[LeftOut, ...] = ()
    link_starts: tuple[int, ...] = ()
    """Where each of `metadata.links` stands in the text; empty where that isn't known."""
    shown: tuple[Shown, ...] = field(default=(), repr=False)
    """All that the source's page shows, with what was left out; empty where the text says it itself."""

    def __post_init__(self) -> None:
        """Check that blocks ascend inside the text and leave nothing visible out, and that the document has an id."""
        object.__setattr__(self, "blocks", tuple(self.blocks))
        object.__setattr__(self, "pages", tuple(self.pages))
        text = self.text
        if not all(issubclass(kind, Block) for kind in {*map(type, self.blocks)}):
            raise DocumentError("blocks", "must be values of Block", value=self.blocks[:1])
        if (wrong := misplaced(text, self.blocks)) >= 0:
            raise _misplaced(text, self.blocks, wrong)
        if any(not 0 <= page.start <= page.end <= len(text) for page in self.pages):
            raise DocumentError("pages", f"must lie inside the text ({len(text)} characters)", value=self.pages)
        if self.link_starts and len(self.link_starts) != len(self.metadata.links):
            raise DocumentError("link_starts", "must be one for each link", value=len(self.link_starts))
        if not self.metadata.document_id:
            raise DocumentError("document_id", "must not be empty")

    @property
    def document_id(self) -> str:
        """The id that all chunks of this document carry."""
        return self.metadata.document_id

    @cached_property
    def link_labels(self) -> frozenset[str]:
        """The labels that link reference definitions give, in lower case."""
        spans = (self.text[block.start : block.end] for block in self.blocks if block.kind == "definition")
        return frozenset(label.casefold() for span in spans for label in _LABEL.findall(span))

    @cached_property
    def block_starts(self) -> list[int]:
        """Where each block starts, for finding blocks by position."""
        return [block.start for block in self.blocks]
