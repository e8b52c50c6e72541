"""Document, Block, Part, Page, Metadata and Link: the result of reading a source.

A document owns its text once; a block is a range of it. All values are frozen and checked on creation. `Block`, `Part`
and `Page` are named tuples because a reader creates them by the ten thousand.
"""

from __future__ import annotations

import hashlib
import json
import re
from bisect import bisect_left, bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
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
"""Kinds that are not content in any strategy."""
LONGEST_NAME: Final = 1000  # characters of a title or heading
AS_WRITTEN: Final = frozenset({"text", "json", "jsonl"})
"""The `source_type` of documents whose text has no marks: a page shows it as it is."""
CHUNK_TYPES: Final = tuple(sorted((KINDS - LEFT_OUT_KINDS - {"html"}) | {"mixed"}))
_DESCRIBED_BY_THE_NEXT: Final = LEFT_OUT_KINDS | {"heading"}

_LABEL: Final = re.compile(r"^[ \t]{0,3}\[([^\]]+)\]:", re.MULTILINE)

BARRIER: Final = "\ufffc"
"""Stands for something visible that is no text (a form field): the texts on its two sides can't be found together."""

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

    The first row of a table includes its delimiter row, and has `header` set.
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
        """Raise DocumentError if the range is empty or reversed."""
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
        """Raise DocumentError for an unknown kind, an empty range, a wrong level, or parts outside the range."""
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
    """Whether a block is a table that continues one on the page before, which has the head."""
    return block.kind == "table" and bool(block.parts) and not block.parts[0].header


def table_head(blocks: Sequence[Block], index: int) -> Part | None:
    """Return the head of a table: its own, or that of the table it continues from the page before."""
    while index >= 0 and blocks[index].kind == "table" and blocks[index].parts:
        if not is_headless(blocks[index]):
            return blocks[index].parts[0]
        index -= 1
    return None


def clipped(block: Block, start: int, end: int) -> Block:
    """Return the part of a block inside a range, with its parts clipped as well."""
    if start <= block.start and end >= block.end:
        return block
    start, end = max(start, block.start), min(end, block.end)
    return block._replace(start=start, end=end, parts=_clipped_parts(block.parts, start, end))


def _clipped_parts(parts: tuple[Part, ...], start: int, end: int) -> tuple[Part, ...]:
    """Return the parts inside a range; only the first and the last can reach beyond it."""
    low = bisect_right(parts, start, key=lambda part: part.end)
    inside = list(parts[low : bisect_left(parts, end, low, key=lambda part: part.start)])
    for number in {0, len(inside) - 1} if inside else ():
        part = inside[number]
        if part.start < start or part.end > end:
            low, high = max(part.start, start), min(part.end, end)
            inside[number] = part._replace(start=low, end=high, parts=_clipped_parts(part.parts, low, high))
    return tuple(inside)


class Page(NamedTuple):
    """A page of a paged source: its number (from 1) and the range of its text, which may be empty."""

    number: int
    start: int
    end: int


class LeftOut(NamedTuple):
    """Something of the source that is not in the text, or was changed, and why.

    What is `usual` (page numbers, running titles) is listed without a warning.
    """

    reason: str
    text: str = ""
    source_ref: SourceRef | None = None
    usual: bool = False


class VisibleText(NamedTuple):
    """A run of visible text of the rendered page, with its offset in characters of the page."""

    offset: int
    text: str
    code: bool = False


class Link(NamedTuple):
    """An outgoing link; `heading` and `block_id` only where the source states them separately."""

    target: str
    text: str
    heading: str | None = None
    block_id: str | None = None

    def to_dict(self) -> dict[str, str | None]:
        """Return the link as JSON-ready values; `heading` and `block_id` only when one is known."""
        record: dict[str, str | None] = {"target": self.target, "text": self.text}
        if self.heading is not None or self.block_id is not None:
            record |= {"heading": self.heading, "block_id": self.block_id}
        return record


@dataclass(frozen=True, slots=True, kw_only=True)
class Metadata:
    """The metadata of a document; keys of your own go into `extra`."""

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
        """Check the type of every field; convert lists to tuples and make `extra` read-only."""
        texts = _texts_of(self)
        if not ({*map(type, texts)} <= _TEXT_TYPES and is_text("".join(filter(None, texts)))):  # one check for all
            for name, value in zip(_TEXT_FIELDS, texts, strict=True):
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
            if kind is str and not is_text("".join(values)):
                raise OptionError(name, "must be strings of whole characters", value=values)
            object.__setattr__(self, name, tuple(values))
        if self.page_version is not None and type(self.page_version) is not int:
            raise OptionError("page_version", "must be an integer", value=self.page_version)
        if self.updated_at is not None and not is_iso(self.updated_at):
            raise OptionError("updated_at", "must be ISO 8601", value=self.updated_at, hint="try 2026-01-28T10:00:00Z")
        if not isinstance(self.extra, Mapping):
            raise OptionError("extra", "must be a dictionary", value=self.extra, hint='try {"team": "hr"}')
        extra = dict(self.extra)
        if extra and not _is_json(extra):
            raise OptionError("extra", "must hold what JSON can say", value=extra, hint='try {"team": "hr"}')
        object.__setattr__(self, "extra", MappingProxyType(extra))

    def __reduce__(self) -> tuple[Any, ...]:
        """Support pickling: a read-only view can't be pickled, a copy of it can."""
        return Metadata.of, ({name: getattr(self, name) for name in _METADATA} | {"extra": dict(self.extra)},)

    @classmethod
    def of(cls, given: Mapping[str, Any]) -> Metadata:
        """Build from keywords; raise OptionError for an unknown one, which is most likely a typo."""
        for name in given:
            if name not in _METADATA:
                hint = f'{did_you_mean(name, _METADATA)} (keys of your own: extra={{"{name}": …}})'
                raise OptionError(name, "is not a metadata field", hint=hint)
        return cls(**given)

    def to_dict(self) -> dict[str, Any]:
        """Return all fields as JSON-ready values."""
        record = {name: getattr(self, name) for name in _METADATA}
        return record | {
            "labels": list(self.labels),
            "links": [link.to_dict() for link in self.links],
            "extra": dict(self.extra),
        }


_METADATA: Final = tuple(f.name for f in fields(Metadata))
_TEXT_FIELDS: Final = tuple(name for name in _METADATA if name not in {"labels", "page_version", "links", "extra"})
_texts_of: Final = attrgetter(*_TEXT_FIELDS)
_TEXT_TYPES: Final = {str, type(None)}


def _is_json(value: object) -> bool:
    try:
        return is_text(json.dumps(value, ensure_ascii=False))
    except (TypeError, ValueError, RecursionError):
        return False


def is_iso(stamp: str) -> bool:
    """Whether a text is a date, or a date and time, of ISO 8601."""
    try:
        datetime.fromisoformat(stamp)
    except ValueError:
        return False
    return True


def title_of_file(path: object) -> str | None:
    """Return the name of a file in words, for a document that has no other title; None if it has no letter or digit."""
    name = re.split(r"[/\\]", path)[-1] if isinstance(path, str) else ""
    words = re.sub(r"[\s_+-]+|%20", " ", name.rpartition(".")[0] or name).strip()
    return words[:LONGEST_NAME] if any(map(str.isalnum, words)) else None


def derived_document_id(metadata: Mapping[str, Any], text: str) -> str:
    """Return the id of a document: a hash of its tenant and source, or, without a source, of its tenant and text."""
    source = metadata.get("source_url") or metadata.get("file_path")
    kind, name = ("source", str(source)) if source else ("text", text)
    digest = hashlib.sha256(_bytes(f"{metadata.get('tenant_id') or ''}\x1f{kind}:"))
    digest.update(_bytes(name))  # separate, because the text is long and Python may have its bytes cached
    return digest.hexdigest()[:32]


def _bytes(text: str) -> bytes:
    return text.encode() if is_text(text) else text.encode("utf-8", "surrogatepass")  # rejected afterwards


def _misplaced(text: str, blocks: tuple[Block, ...], wrong: int) -> DocumentError:
    """Return the error for the block at index `wrong`, or for the text after the last block."""
    reached = blocks[wrong - 1].end if wrong else 0
    start, end = (blocks[wrong].start, blocks[wrong].end) if wrong < len(blocks) else (len(text), len(text) + 1)
    if start < reached or end <= start:
        return DocumentError("blocks", "must ascend and not overlap", value=tuple(blocks[wrong][:3]))
    if lost := text[reached:start].strip():
        return DocumentError("blocks", "must hold every visible character", value=lost)
    return DocumentError("blocks", f"must end inside the text ({len(text)} characters)", value=end)


def is_described_by_next(block: Block) -> bool:
    """Whether a chunk that begins with this block, and goes on, has the headings path of a later one."""
    return block.kind in _DESCRIBED_BY_THE_NEXT


def describing_block(blocks: Sequence[Block], first: int, last: int) -> int:
    """Return the index of the block whose headings and section type a core from `first` to `last` has.

    It is the first that is no heading, because a heading is only the beginning of what it stands above; of headings
    alone it is the last.
    """
    while first < last and blocks[first].kind in _DESCRIBED_BY_THE_NEXT:
        first += 1
    return first


@dataclass(frozen=True, repr=False)
class Document:
    """A normalized text with its blocks, pages and metadata."""

    text: str
    blocks: tuple[Block, ...]
    pages: tuple[Page, ...] = ()
    metadata: Metadata = field(default_factory=Metadata)
    left_out: tuple[LeftOut, ...] = ()
    link_starts: tuple[int, ...] = ()
    """The position of each of `metadata.links` in the text; empty where it isn't known."""
    visible: tuple[VisibleText, ...] = ()
    """All visible text of the rendered source, with what was left out; empty where it is that of `text`."""

    def __post_init__(self) -> None:
        """Raise DocumentError unless blocks ascend and cover all visible text; without an id it gets one."""
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
            known = {name: getattr(self.metadata, name) for name in _METADATA}
            named = replace(self.metadata, document_id=derived_document_id(known, text))
            object.__setattr__(self, "metadata", named)

    def __repr__(self) -> str:
        """Return in one line what the document is, without its text."""
        title = f"{self.metadata.title!r}, " if self.metadata.title else ""
        sizes = f"{len(self.text):,} characters, {len(self.blocks):,} blocks, {len(self.pages):,} pages"
        return f"Document({self.document_id!r}, {title}{sizes})"

    @property
    def document_id(self) -> str:
        """The id that all chunks of this document share."""
        return self.metadata.document_id

    @cached_property
    def link_labels(self) -> frozenset[str]:
        """The labels of link reference definitions, in lower case."""
        spans = (self.text[block.start : block.end] for block in self.blocks if block.kind == "definition")
        return frozenset(label.casefold() for span in spans for label in _LABEL.findall(span))

    @cached_property
    def block_starts(self) -> list[int]:
        """The start of each block, for finding blocks by position."""
        return [block.start for block in self.blocks]
