"""The laws on chunks under other systems' names, as far as their fields can show them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any, Final, NamedTuple, Protocol

from spanwise.checks.against_source import Range, coverage_faults, never_taken
from spanwise.checks.findings import Faults, Finding, Record, shortened
from spanwise.chunking.strategies import as_counted
from spanwise.documents.document import Document
from spanwise.documents.span import without
from spanwise.errors import SpanwiseError, UnreadableError
from spanwise.records.dialects import FIELDS_OF, SPEC_TYPES
from spanwise.records.record import sha256
from spanwise.text.tokens import Tokenizer

_CONFLUENCE_ID: Final = re.compile(
    r"(?P<prefix>[^:]+):(?P<page>.*):(?P<first>\d+)-(?P<last>\d+)(?:\.(?P<part>\d+))?\Z", re.DOTALL
)


_MARKS: Final = {
    "md_text": "spec-v1", "token_estimate": "spec-v1", "full_heading_hierarchy": "confluence",
    "page_title": "confluence", "note_id": "notes", "chunkType": "fixed-size", "page_num": "pages",
}  # fmt: skip


class CheckSettings(NamedTuple):
    """What holds for a record: the tokenizer and the options of its strategy."""

    tokenizer: Tokenizer
    strategy: str
    options: Any


class DialectCheck(Protocol):
    """Checks the records of a dialect in order."""

    def findings(self, record: Record) -> Iterator[Finding]:
        """Check one record."""
        ...

    def finish(self) -> Iterator[Finding]:
        """Check what only shows at the end."""
        ...


def dialect_of(record: Record) -> str | None:
    """Tell the dialect by its fields; None for our own records."""
    if "pieces" in record or "content_id" in record or not record:
        return None
    for mark, dialect in _MARKS.items():
        if mark in record:
            if dialect not in DIALECT_CHECKS:
                rule = f"are written in the dialect {dialect}, which says too little to be checked"
                raise UnreadableError("chunks", rule, hint="check what spanwise chunk writes without --dialect")
            return dialect
    return None


def _missing(record: Record, dialect: str) -> Faults:
    for name in FIELDS_OF[dialect]:
        if name not in record:
            yield "record", f"{name} is missing"


def _wrong_kinds(record: Record, kinds: dict[type, tuple[str, ...]]) -> Faults:
    for kind, names in kinds.items():
        for name in names:
            if name in record and type(record[name]) is not kind:
                yield "record", f"{name} is {type(record[name]).__name__}, not {kind.__name__}"


def _size_faults(count: int, limit: int | None, text: str) -> Faults:
    if limit is not None and count > limit and not text.lstrip().lower().startswith("<figure"):
        yield "limit", f"{count} tokens are over the limit of {limit}"


def _trim_faults(text: str, *, indented: bool) -> Faults:
    bare = text.strip()
    if not bare:
        yield "trimmed", "the text is empty"
    elif text.rstrip() != text or (text != bare and not (indented and text.lstrip(" \t") == text.lstrip())):
        yield "trimmed", f"there is white space at its ends: {shortened(text[:20])} to {shortened(text[-20:])}"


class _Documents:
    """Finds documents, and tells once what can't be read."""

    def __init__(self, source: Callable[[Record], Document | None] | None) -> None:
        self._source = source

    def find(self, record: Record, strategy: str) -> tuple[Document | None, str | None]:
        if self._source is None:
            return None, None
        try:
            document = self._source(record)
        except SpanwiseError as error:
            return None, str(error).replace("\n", "; ")
        if document is None:
            return None, "its source is not there (--source FILE names it)"
        return as_counted(document, strategy), None


class SpecCheck:
    """Checks `spec-v1`."""

    def __init__(
        self, terms: Callable[[Record], CheckSettings], source: Callable[[Record], Document | None] | None
    ) -> None:
        """Begin before the first record."""
        self._terms, self._documents = terms, _Documents(source)
        self._key: str | None = None
        self._closed: set[str] = set()
        self._document: Document | None = None
        self._strategy = ""
        self._end = 0
        self._cores: list[Range] = []
        self._ids: set[str] = set()

    def findings(self, record: Record) -> Iterator[Finding]:
        """Check one record."""
        numbers = ("char_start", "char_end", "block_start_idx", "block_end_idx", "token_estimate")
        kinds: dict[type, tuple[str, ...]] = {
            int: numbers, str: ("chunk_id", "document_id", "chunk_type", "md_text"), list: ("headings_path",),
        }  # fmt: skip
        faults = [*_missing(record, "spec-v1"), *_wrong_kinds(record, kinds)]
        chunk, name = (
            str(record.get("chunk_id")),
            str(record.get("file_path") or record.get("source_url") or record.get("document_id")),
        )
        if not faults:
            terms = self._terms(record)
            yield from self._turned_to(record, name, terms)
            faults += self._faults(record, terms)
        yield from (Finding("violation", rule, reason, chunk, name) for rule, reason in faults)

    def finish(self) -> Iterator[Finding]:
        """Close the last document."""
        yield from self._close()

    def _turned_to(self, record: Record, name: str, terms: CheckSettings) -> Iterator[Finding]:
        if record["document_id"] == self._key:
            return
        yield from self._close()
        if record["document_id"] in self._closed:
            yield Finding(
                "violation", "twice", "the chunks of this document don't stand together", record["chunk_id"], name
            )
        self._key, self._end, self._cores, self._strategy, self._ids = (
            record["document_id"],
            0,
            [],
            terms.strategy,
            set(),
        )
        self._name = name
        self._document, reason = self._documents.find(record, terms.strategy)
        if reason:
            yield Finding("violation", "provenance", reason, record["chunk_id"], name)

    def _close(self) -> Iterator[Finding]:
        if self._key is not None:
            self._closed.add(self._key)
        if self._document:
            for rule, reason in coverage_faults(self._document, self._strategy, self._cores):
                yield Finding("violation", rule, reason, None, self._name)
        self._document = None

    def _faults(self, record: Record, terms: CheckSettings) -> Faults:
        start, end, text = record["char_start"], record["char_end"], record["md_text"]
        place = [record[name] for name in ("document_id", "block_start_idx", "block_end_idx", "char_start", "char_end")]
        if record["chunk_id"] != sha256(":".join(map(str, place))):
            yield "identity", "chunk_id is not the hash of document, blocks and range"
        if record["chunk_id"] in self._ids:
            yield "identity", "chunk_id stands twice in this document"
        self._ids.add(record["chunk_id"])
        if record["chunk_type"] not in SPEC_TYPES:
            yield "record", f"chunk_type is none of the six: {shortened(str(record['chunk_type']))}"
        if not 0 <= start < end or record["block_start_idx"] > record["block_end_idx"]:
            yield "provenance", f"[{start}:{end}] or its blocks are no range"
            return
        if start < self._end:
            yield "twice", f"the core starts at {start}, before the end of the one before it ({self._end})"
        self._end = max(self._end, end)
        yield from _trim_faults(text, indented=record["chunk_type"] not in {"table", "quote"})
        count = terms.tokenizer.count(text)
        if count != record["token_estimate"] and terms.options.template == "plain":
            yield "count", f"token_estimate is {record['token_estimate']}, but md_text has {count} tokens"
        yield from _size_faults(max(count, record["token_estimate"]), terms.options.max_tokens, text)
        if self._document:
            yield from self._beside(record, self._document)

    def _beside(self, record: Record, document: Document) -> Faults:
        start, end, blocks = record["char_start"], record["char_end"], document.blocks
        if end > len(document.text) or record["block_end_idx"] >= len(blocks):
            yield "provenance", f"it ends behind the source ({len(document.text)} characters, {len(blocks)} blocks)"
            return
        inside = blocks[record["block_start_idx"] : record["block_end_idx"] + 1]
        holes = [(block.start, block.end) for block in inside if block.kind in never_taken(self._strategy)]
        cores = [span for span in without(holes, start, end) if document.text[slice(*span)].strip()]
        self._cores += cores
        yield from _made_of(record["md_text"], document.text, cores)
        if not (inside[0].start <= start < inside[0].end and inside[-1].start < end <= inside[-1].end):
            yield "place", "block_start_idx and block_end_idx are not the blocks of the range"
        elif record["headings_path"] != list(inside[0].headings_path):
            yield "place", f"headings_path is {record['headings_path']}, in the source {list(inside[0].headings_path)}"


def _made_of(text: str, source: str, cores: list[Range]) -> Faults:
    """Check that a text holds the core, and around it nothing but the source's own lines."""
    reached = 0
    for start, end in cores:
        core = source[start:end].strip()
        found = text.rfind(core) if (start, end) == cores[0] and len(cores) == 1 else text.find(core, reached)
        if found < reached:
            yield "provenance", f"the text doesn't hold what the source says at {start}: {shortened(core)}"
            return
        for line in text[reached:found].splitlines():
            if line.strip() and line.strip() not in source:
                yield "provenance", f"something stands in the text that the source doesn't say: {shortened(line)}"
                return
        reached = found + len(core)
    for line in text[reached:].splitlines():
        if line.strip() and line.strip() not in source:
            yield "provenance", f"something stands in the text that the source doesn't say: {shortened(line)}"
            return


class ConfluenceCheck:
    """Checks `confluence`."""

    def __init__(
        self, terms: Callable[[Record], CheckSettings], source: Callable[[Record], Document | None] | None
    ) -> None:
        """Begin before the first record."""
        self._terms, self._documents = terms, _Documents(source)
        self._page: str | None = None
        self._document: Document | None = None
        self._strategy = ""
        self._last = -1
        self._said: list[str] = []
        self._ids: set[str] = set()

    def findings(self, record: Record) -> Iterator[Finding]:
        """Check one record."""
        indices = tuple(name for name in FIELDS_OF["confluence"] if name.endswith("_indices"))
        kinds: dict[type, tuple[str, ...]] = {
            str: ("chunk_id", "normalized_text", "full_text", "embedding_text"), int: ("text_length",),
            list: (*indices, "full_heading_hierarchy", "text_heading_hierarchy"), dict: ("navigation",),
        }  # fmt: skip
        faults = [*_missing(record, "confluence"), *_wrong_kinds(record, kinds)]
        chunk = str(record.get("chunk_id"))
        named = _CONFLUENCE_ID.match(chunk)
        if not faults and not named:
            faults.append(("identity", "chunk_id is not PREFIX:page:first-last"))
        if not faults and named:
            terms = self._terms(record)
            yield from self._turned_to(record, named["page"], terms)
            faults += self._faults(record, named, terms)
        name = str(record.get("page_title") or record.get("page_id") or (named and named["page"]))
        yield from (Finding("violation", rule, reason, chunk, name) for rule, reason in faults)

    def finish(self) -> Iterator[Finding]:
        """Close the last page."""
        yield from self._close()

    def _turned_to(self, record: Record, page: str, terms: CheckSettings) -> Iterator[Finding]:
        if page == self._page:
            return
        yield from self._close()
        self._page, self._last, self._said, self._ids, self._strategy = page, -1, [], set(), terms.strategy
        self._document, reason = self._documents.find(record | {"document_id": page}, terms.strategy)
        if reason:
            yield Finding("violation", "provenance", reason, record["chunk_id"], page)

    def _close(self) -> Iterator[Finding]:
        """Compare all cores with the page's content: visible character by visible character."""
        if not self._document:
            return
        document, taken = self._document, never_taken(self._strategy)
        content = [document.text[block.start : block.end] for block in document.blocks if block.kind not in taken]
        wanted, said = ("".join("".join(words).split()) for words in (content, self._said))
        self._document = None
        if wanted != said:
            place = next(
                (at for at, (left, right) in enumerate(zip(wanted, said, strict=False)) if left != right), None
            )
            place = min(len(wanted), len(said)) if place is None else place
            rule = "lost" if len(said) < len(wanted) else "twice"
            wanted, said = shortened(wanted[place : place + 20]), shortened(said[place : place + 20])
            reason = f"the cores and the page differ: {said} stands where the page says {wanted}"
            yield Finding("violation", rule, reason, None, self._page)

    def _faults(self, record: Record, named: re.Match[str], terms: CheckSettings) -> Faults:
        core, before, after = (record[f"{role}_block_indices"] for role in ("core", "overlap_prev", "overlap_next"))
        if record["chunk_id"] in self._ids:
            yield "identity", "chunk_id stands twice on this page"
        self._ids.add(record["chunk_id"])
        if not core or [int(named["first"]), int(named["last"])] != [core[0], core[-1]]:
            yield "identity", "chunk_id doesn't name the first and last core block"
        elif core != sorted(set(core)) or core[0] < self._last:
            yield "twice", f"core blocks {shortened(str(core))} don't ascend after block {self._last}"
        self._last = max([self._last, *core])
        if record["block_indices"] != sorted({*core, *before, *after}):
            yield "place", "block_indices are not the union of core and overlap"
        normal, full, embedded = record["normalized_text"], record["full_text"], record["embedding_text"]
        self._said.append(normal)
        yield from _trim_faults(normal, indented=True)
        if "".join(normal.split()) not in "".join(full.split()):
            yield "provenance", "full_text doesn't hold normalized_text"
        if not embedded.endswith(full):
            yield "provenance", "embedding_text doesn't end with full_text"
        if record["text_length"] != len(normal) or record["navigation"].get("text_length") != len(normal):
            yield "place", f"text_length is not that of normalized_text ({len(normal)})"
        whole, part = record["full_heading_hierarchy"], record["text_heading_hierarchy"]
        if part and whole[-len(part) :] != part:
            yield "place", "text_heading_hierarchy is not the end of full_heading_hierarchy"
        yield from _size_faults(terms.tokenizer.count(embedded), terms.options.max_tokens, normal)
        if self._document:
            yield from self._beside(record, core, self._document)

    def _beside(self, record: Record, core: list[int], document: Document) -> Faults:
        if core and core[-1] >= len(document.blocks):
            yield "place", f"block {core[-1]} is not there: the page has {len(document.blocks)}"
            return
        for line in record["full_text"].splitlines():
            if line.strip() and line.strip() not in document.text:
                yield "provenance", f"something stands in the text that the page doesn't say: {shortened(line)}"
                return
        first = document.blocks[core[0]]
        if record["full_heading_hierarchy"] != list(first.headings_path):
            yield "place", f"full_heading_hierarchy is not the page's: {list(first.headings_path)}"


DIALECT_CHECKS: Final[dict[str, Callable[..., DialectCheck]]] = {"spec-v1": SpecCheck, "confluence": ConfluenceCheck}
