"""The laws on chunks in a dialect, as far as its fields allow checking them."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import Any, Final

from spanwise.checks.against_source import Range, coverage_faults, described_by, excluded_kinds
from spanwise.checks.findings import Faults, Finding, Record, first_difference, missing_names, shortened
from spanwise.checks.one_record import missing_fields, plain_faults
from spanwise.checks.settings import CheckSettings
from spanwise.checks.short_chunks import STRATEGY as SHORT_CHUNKS_OF
from spanwise.checks.short_chunks import ShortChunks
from spanwise.chunking.strategies import as_counted
from spanwise.chunking.strategy import StrategyTraits
from spanwise.documents.document import Document
from spanwise.documents.offsets import MEASURES
from spanwise.documents.span import without
from spanwise.errors import SpanwiseError
from spanwise.records.dialects import FIELDS_OF, SPEC_TYPES
from spanwise.records.ids import chunk_id

_CONFLUENCE_ID: Final = re.compile(
    r"(?P<prefix>[^:]+):(?P<page>.*):(?P<first>\d+)-(?P<last>\d+)(?:\.(?P<part>\d+))?\Z", re.DOTALL
)
_ID_FIELDS: Final = ("document_id", "block_start_idx", "block_end_idx", "char_start", "char_end")
_MARKS: Final = {
    "token_estimate": "spec-v1", "full_heading_hierarchy": "confluence",
    "page_title": "confluence", "note_id": "notes", "chunkType": "fixed-size", "page_num": "pages",
    "md_text": "spec-v1",  # last: `confluence` has it too
}  # fmt: skip


_OWN_MARKS: Final = ("chunk_id", "content_id", "pieces", "normalized_text", "embedding_text")


def looks_like_chunk(record: Record) -> bool:
    """Whether a record has a field that only chunks have, in whatever dialect."""
    return any(name in record for name in (*_OWN_MARKS, *_MARKS))


def dialect_of(record: Record) -> str | None:
    """Return the dialect of a record by its fields; None for Spanwise's own records."""
    if "pieces" in record or "content_id" in record or not record:
        return None
    return next((dialect for mark, dialect in _MARKS.items() if mark in record), None)


def other_ids(document: Document) -> list[str]:
    """Return the names besides its id by which a dialect may know a document: that of its page, of its note."""
    named = document.metadata.page_id, document.metadata.extra.get("id")
    return [name for name in named if isinstance(name, str)]


def source_lookup(source: Iterable[Document] | Document) -> Callable[[Record], Document | None] | None:
    """Return what finds the document of a record; where a dialect names none, a single one is meant."""
    documents = [source] if isinstance(source, Document) else list(source)
    by_id = {document.document_id: document for document in documents}
    by_name = {name: document for document in reversed(documents) for name in other_ids(document)}

    def find(record: Record) -> Document | None:
        own = by_id.get(record["document_id"])
        if own or dialect_of(record) is None or "tenant_id" in record:
            return own
        return by_name.get(record["document_id"]) or (documents[0] if len(documents) == 1 else None)

    return find if documents else None


def absent_fields(record: Record, dialect: str | None) -> list[str]:
    """Return the names of the fields that a record of a dialect, or one of Spanwise's own, lacks."""
    return [name for name in FIELDS_OF[dialect] if name not in record] if dialect else missing_fields(record)


def missing_fault(record: Record, dialect: str) -> Faults:
    """Yield a fault if fields of the dialect are missing."""
    if missing := absent_fields(record, dialect):
        yield "record", missing_names(missing)


def wrong_kinds(record: Record, kinds: Mapping[type, tuple[str, ...]]) -> Faults:
    """Yield fields of the wrong type."""
    for kind, names in kinds.items():
        for name in names:
            if name in record and type(record[name]) is not kind:
                yield "record", f"{name} is {type(record[name]).__name__}, not {kind.__name__}"


def size_faults(count: int, limit: int | None, text: str) -> Faults:
    """Check the limit, which a figure may pass."""
    if limit is not None and count > limit and not text.lstrip().lower().startswith("<figure"):
        yield "limit", f"{count} tokens are over the limit of {limit}"


def trim_faults(text: str, *, indented: bool) -> Faults:
    """Check that a text has no white space at its ends, but for the indentation of code."""
    stripped = text.strip()
    if not stripped:
        yield "trimmed", "the text is empty"
    elif text.rstrip() != text or (text != stripped and not (indented and text.lstrip(" \t") == text.lstrip())):
        yield "trimmed", f"there is white space at its ends: {shortened(text[:20])} to {shortened(text[-20:])}"


def _foreign_line(text: str, source: str) -> str | None:
    """Return the first line of a text that is not in the source."""
    return next((line for line in text.splitlines() if line.strip() and line.strip() not in source), None)


class DialectCheck(ABC):
    """A check of the records of a dialect, in order."""

    def __init__(
        self,
        settings_for: Callable[[Record], CheckSettings],
        source: Callable[[Record], Document | None] | None,
        measure: str | None = None,
    ) -> None:
        """Start before the first record; `measure` is the unit of offsets, None for characters."""
        self._settings_for, self._source, self._measure = settings_for, source, measure
        self._short = ShortChunks()
        self._key: str | None = None
        self._name = ""
        self._strategy = StrategyTraits("")
        self._document: Document | None = None
        self._closed: set[str] = set()  # the documents that must not begin again
        self._ids: set[str] = set()
        self._reached = -1  # by the cores so far: a position or a block
        self._cores: list[Any] = []  # ranges, or texts where the dialect has no ranges

    @abstractmethod
    def findings(self, record: Record) -> Iterator[Finding]:
        """Check one record."""

    def finish(self) -> Iterator[Finding]:
        """Close the last document."""
        yield from self._close()

    @abstractmethod
    def _close(self) -> Iterator[Finding]:
        """Check what can only be checked after the last record of a document."""

    def _open_document(self, record: Record, key: str, name: str, settings: CheckSettings) -> Iterator[Finding]:
        """Close the previous document and open the next if a record begins another one."""
        if key == self._key:
            return
        yield from self._close()
        if key in self._closed:
            reason = "the chunks of this document don't stand together"
            yield Finding("violation", "twice", reason, id_of(record), name)
        self._short = ShortChunks()
        self._key, self._name, self._strategy = key, name, settings.strategy
        self._document, self._ids, self._reached, self._cores = None, set(), -1, []
        if self._source is None:
            return
        document, reason = None, "its source is not there (--source FILE names it)"
        try:
            document = self._source(record | {"document_id": key})
        except SpanwiseError as error:
            reason = str(error).replace("\n", "; ")
        if document is None:
            yield Finding("violation", "provenance", reason, id_of(record), name)
        else:
            self._document = as_counted(document, settings.strategy)

    def _characters(self, start: int, end: int) -> tuple[int, int]:
        """Return a range in characters of the document, from one in the unit of the offsets."""
        if self._measure is None or not self._document or self._document.text.isascii():
            return start, end
        return self._positions.get(start, -1), self._positions.get(end, -1)

    @property
    def _positions(self) -> Mapping[int, int]:
        """The characters that begin at each offset of the open document."""
        if self._measured_for != self._key:
            text = self._document.text if self._document else ""
            places = range(len(text) + 1)
            self._measured_for = self._key
            self._known_positions = dict(zip(MEASURES[self._measure or "utf16"](text, places), places, strict=True))
        return self._known_positions

    _measured_for: str | None = None
    _known_positions: Mapping[int, int] = MappingProxyType({})


def id_of(record: Record) -> str:
    """Return what a finding calls a record."""
    return str(next((record[name] for name in ("chunk_id", "id", "chunkIndex", "page_num") if name in record), "?"))


class SpecCheck(DialectCheck):
    """The check of `spec-v1`."""

    def findings(self, record: Record) -> Iterator[Finding]:
        """Check one record."""
        numbers = ("char_start", "char_end", "block_start_idx", "block_end_idx", "token_estimate")
        kinds: dict[type, tuple[str, ...]] = {
            int: numbers, str: ("chunk_id", "document_id", "chunk_type", "md_text"), list: ("headings_path",),
        }  # fmt: skip
        faults = [*missing_fault(record, "spec-v1"), *wrong_kinds(record, kinds)]
        chunk = str(record.get("chunk_id"))
        name = str(record.get("file_path") or record.get("source_url") or record.get("document_id"))
        if not faults:
            settings = self._settings_for(record)
            yield from self._open_document(record, record["document_id"], name, settings)
            faults += self._faults(record, settings)
            if not faults and settings.strategy.name == SHORT_CHUNKS_OF:
                size = record["char_end"] - record["char_start"]  # overlap and context stand before the core
                short = self._short.faults(record, record["md_text"][-size:], "", settings)
                yield from (Finding("violation", "promise", reason, one, name) for one, reason in short)
        yield from (Finding("violation", rule, reason, chunk, name) for rule, reason in faults)

    def _close(self) -> Iterator[Finding]:
        if self._key is not None:
            self._closed.add(self._key)
        if self._document:
            for rule, reason in coverage_faults(self._document, self._strategy, self._cores):
                yield Finding("violation", rule, reason, None, self._name)
        self._document = None

    def _faults(self, record: Record, settings: CheckSettings) -> Faults:
        start, end = self._characters(record["char_start"], record["char_end"])
        record = record | {"char_start": start, "char_end": end}
        text, provable = record["md_text"], self._measure is None or self._document is not None
        if provable and record["chunk_id"] != chunk_id(*(record[name] for name in _ID_FIELDS)):
            yield "identity", "chunk_id is not the hash of document, blocks and range"
        if record["chunk_id"] in self._ids:
            yield "identity", "chunk_id stands twice in this document"
        self._ids.add(record["chunk_id"])
        if record["chunk_type"] not in SPEC_TYPES:
            yield "record", f"chunk_type is none of the six: {shortened(str(record['chunk_type']))}"
        if not 0 <= start < end or record["block_start_idx"] > record["block_end_idx"]:
            yield "provenance", f"[{start}:{end}] or its blocks are no range"
            return
        if start < self._reached:
            yield "twice", f"the core starts at {start}, before the end of the one before it ({self._reached})"
        self._reached = max(self._reached, end)
        yield from trim_faults(text, indented=record["chunk_type"] not in {"table", "quote"})
        count = settings.tokenizer.count(text)
        if count != record["token_estimate"]:
            yield "count", f"token_estimate is {record['token_estimate']}, but md_text has {count} tokens"
        yield from size_faults(max(count, record["token_estimate"]), settings.options.max_tokens, text)
        if self._document:
            yield from self._source_faults(record, self._document)

    def _source_faults(self, record: Record, document: Document) -> Faults:
        start, end, blocks = record["char_start"], record["char_end"], document.blocks
        if end > len(document.text) or record["block_end_idx"] >= len(blocks):
            yield "provenance", f"it ends behind the source ({len(document.text)} characters, {len(blocks)} blocks)"
            return
        inside = blocks[record["block_start_idx"] : record["block_end_idx"] + 1]
        excluded = [(block.start, block.end) for block in inside if block.kind in excluded_kinds(self._strategy)]
        cores = [span for span in without(excluded, start, end) if document.text[slice(*span)].strip()]
        self._cores += cores
        yield from _made_of(record["md_text"], document.text, cores)
        if not (inside[0].start <= start < inside[0].end and inside[-1].start < end <= inside[-1].end):
            yield "place", "block_start_idx and block_end_idx are not the blocks of the range"
            return
        described = described_by(document, self._strategy, record["block_start_idx"], record["block_end_idx"])
        if record["headings_path"] != (path := list(described.headings_path)):
            yield "place", f"headings_path is {record['headings_path']}, in the source {path}"


def _made_of(text: str, source: str, cores: list[Range]) -> Faults:
    """Check that a text contains the core, and around it only lines of the source."""
    reached = 0
    for start, end in cores:
        core = source[start:end].strip()
        found = text.rfind(core) if (start, end) == cores[0] and len(cores) == 1 else text.find(core, reached)
        if found < reached:
            yield "provenance", f"the text doesn't hold what the source says at {start}: {shortened(core)}"
            return
        if line := _foreign_line(text[reached:found], source):
            break
        reached = found + len(core)
    else:
        line = _foreign_line(text[reached:], source)
    if line:
        yield "provenance", f"something stands in the text that the source doesn't say: {shortened(line)}"


class ConfluenceCheck(DialectCheck):
    """The check of `confluence`."""

    def findings(self, record: Record) -> Iterator[Finding]:
        """Check one record."""
        indices = tuple(name for name in FIELDS_OF["confluence"] if name.endswith("_indices"))
        kinds: dict[type, tuple[str, ...]] = {
            str: ("chunk_id", "normalized_text", "full_text", "md_text", "embedding_text"), int: ("text_length",),
            list: (*indices, "full_heading_hierarchy", "text_heading_hierarchy"), dict: ("navigation",),
        }  # fmt: skip
        faults = [*missing_fault(record, "confluence"), *wrong_kinds(record, kinds)]
        chunk = str(record.get("chunk_id"))
        named = _CONFLUENCE_ID.match(chunk)
        if not faults and not named:
            faults.append(("identity", "chunk_id is not PREFIX:page:first-last"))
        if not faults and named:
            settings = self._settings_for(record)
            yield from self._open_document(record, named["page"], named["page"], settings)
            faults += self._faults(record, named, settings)
        name = str(record.get("page_title") or record.get("page_id") or (named and named["page"]))
        yield from (Finding("violation", rule, reason, chunk, name) for rule, reason in faults)

    def _close(self) -> Iterator[Finding]:
        """Compare all cores with the page's content, character by character without white space."""
        if not self._document:
            return
        document, excluded = self._document, excluded_kinds(self._strategy)
        content = [document.text[block.start : block.end] for block in document.blocks if block.kind not in excluded]
        wanted, found = ("".join("".join(texts).split()) for texts in (content, self._cores))
        self._document = None
        if wanted != found:
            rule = "lost" if len(found) < len(wanted) else "twice"
            wanted, found = first_difference(wanted, found)
            reason = f"the cores and the page differ: {found} stands where the page says {wanted}"
            yield Finding("violation", rule, reason, None, self._name)

    def _faults(self, record: Record, named: re.Match[str], settings: CheckSettings) -> Faults:
        core, before, after = (record[f"{role}_block_indices"] for role in ("core", "overlap_prev", "overlap_next"))
        if record["chunk_id"] in self._ids:
            yield "identity", "chunk_id stands twice on this page"
        self._ids.add(record["chunk_id"])
        if not core or [int(named["first"]), int(named["last"])] != [core[0], core[-1]]:
            yield "identity", "chunk_id doesn't name the first and last core block"
        elif core != sorted(set(core)) or core[0] < self._reached:
            yield "twice", f"core blocks {shortened(str(core))} don't ascend after block {self._reached}"
        self._reached = max([self._reached, *core])
        if record["block_indices"] != sorted({*core, *before, *after}):
            yield "place", "block_indices are not the union of core and overlap"
        normal, full, embedded = record["normalized_text"], record["full_text"], record["embedding_text"]
        core_text = record["md_text"]
        self._cores.append(core_text)
        yield from trim_faults(core_text, indented=True)
        if "".join(normal.split()) not in "".join(full.split()):
            yield "provenance", "full_text doesn't hold normalized_text"
        yield from plain_faults(normal, core_text, "normalized_text")
        yield from plain_faults(full, embedded, "full_text")
        if record["text_length"] != len(normal) or record["navigation"].get("text_length") != len(normal):
            yield "place", f"text_length is not that of normalized_text ({len(normal)})"
        whole, part = record["full_heading_hierarchy"], record["text_heading_hierarchy"]
        if part and whole[-len(part) :] != part:
            yield "place", "text_heading_hierarchy is not the end of full_heading_hierarchy"
        yield from size_faults(settings.tokenizer.count(embedded), settings.options.max_tokens, core_text)
        if self._document:
            yield from self._source_faults(record, core, self._document)

    def _source_faults(self, record: Record, core: list[int], document: Document) -> Faults:
        if core and core[-1] >= len(document.blocks):
            yield "place", f"block {core[-1]} is not there: the page has {len(document.blocks)}"
            return
        if line := _foreign_line(record["md_text"], document.text):
            yield "provenance", f"something stands in the text that the page doesn't say: {shortened(line)}"
            return
        path = list(described_by(document, self._strategy, core[0], core[-1]).headings_path)
        if record["full_heading_hierarchy"] != path:
            yield "place", f"full_heading_hierarchy is not the page's: {path}"
