"""Checks that a file of chunks keeps the laws of all chunks and the promises of each strategy.

Records are read one at a time; only ranges and names of a document are kept, so a file of any size can be checked.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

from spanwise.checks.against_source import Range, StatedLinks, coverage_faults, source_faults, wrong_links
from spanwise.checks.findings import RULES, WARNINGS, Faults, Finding, Record
from spanwise.checks.in_dialects import DIALECT_CHECKS, CheckSettings, dialect_of
from spanwise.checks.one_document import DocumentOrder
from spanwise.checks.one_record import piece_faults, record_faults, shape_faults
from spanwise.checks.parents import Nesting, settings_for_level
from spanwise.checks.strategy_promises import PROMISES, PromiseCheck
from spanwise.checks.warnings import WarningCollector, empty_sections
from spanwise.chunking.strategies import STRATEGIES, as_counted, strategy_of
from spanwise.documents.document import Document
from spanwise.errors import SpanwiseError
from spanwise.options import options_of
from spanwise.records.chunk import Chunk
from spanwise.records.loaders import Recorded
from spanwise.records.record import is_parent
from spanwise.text.tokens import Tokenizer, tokenizer_of

__all__ = ["RULES", "WARNINGS", "CheckSettings", "Checker", "Finding", "check"]

DocumentLookup = Callable[[Record], Document | None]
"""Returns the document of a record, or None if there is none. A SpanwiseError that it raises becomes a finding."""


def check(
    chunks: Iterable[Chunk | Record],
    source: Iterable[Document] | Document = (),
    tokenizer: str | os.PathLike[str] | Tokenizer = "cl100k",
    **options: Any,
) -> tuple[Finding, ...]:
    """Check chunks or their records, and return violations and warnings.

    With the documents that they were made from as `source`, far more can be checked. `options` are those that the
    chunks were made with; the rest take the defaults of each record's own strategy.
    """
    documents = {one.document_id: one for one in ((source,) if isinstance(source, Document) else source)}
    counting = tokenizer_of(tokenizer)

    def settings_for(record: Record) -> CheckSettings:
        strategy = strategy_of(record.get("strategy", "structure"))
        return CheckSettings(counting, strategy.name, options_of(strategy.options, options))

    checker = Checker(settings_for, (lambda record: documents.get(record["document_id"])) if documents else None)
    records = (one.to_dict() if isinstance(one, Chunk) else one for one in chunks)
    findings = [
        finding for number, record in enumerate(records, 1) for finding in checker.findings(Recorded(number, record))
    ]
    return (*findings, *checker.finish())


class _OpenDocument(NamedTuple):
    """The document that the current records belong to."""

    key: str
    name: str
    order: DocumentOrder
    document: Document | None
    strategy: str
    nesting: Nesting
    cores: dict[bool, list[Range]]  # by whether they are cores of parents
    before: dict[bool, Record]
    links: list[StatedLinks]


class Checker:
    """A checker of the records of a file, in order."""

    def __init__(
        self,
        settings_for: Callable[[Record], CheckSettings],
        source: DocumentLookup | None = None,
        dialect: str | None = None,
    ) -> None:
        """Check each record with its own settings, and against its source if there is one."""
        self._settings_for, self._source, self._dialect = settings_for, source, dialect
        self._open: _OpenDocument | None = None
        self._closed: set[str] = set()
        self._warnings = {False: WarningCollector(), True: WarningCollector("parent")}
        self._dialect_check: Any = None
        self.chunks = 0
        self.counts: Counter[str] = Counter()

    def findings(self, recorded: Recorded) -> Iterator[Finding]:
        """Check one record."""
        self.chunks += 1
        record = recorded.record
        if recorded.fault:
            yield self._counted(Finding("violation", "record", recorded.fault, place=recorded.number))
            return
        dialect = self._dialect or dialect_of(record)
        if dialect:
            self._dialect_check = self._dialect_check or DIALECT_CHECKS[dialect](self._settings_for, self._source)
        found = self._dialect_check.findings(record) if dialect else self._record_findings(record)
        for finding in found:
            yield self._counted(finding._replace(place=recorded.number))

    def finish(self) -> Iterator[Finding]:
        """Check what can only be checked after the last record."""
        rest = self._dialect_check.finish() if self._dialect_check else self._close()
        warnings = (finding for collector in self._warnings.values() for finding in collector.summary())
        for finding in (*rest, *warnings):
            yield self._counted(finding)

    def _record_findings(self, record: Record) -> Iterator[Finding]:
        name = _name(record)
        chunk = str(record.get("chunk_id") or record.get("chunk_index") or "?")
        faults = list(shape_faults(record))
        if not faults and record["strategy"] not in STRATEGIES:
            faults.append(("record", f"strategy is not known: {record['strategy']!r}"))
        if faults:
            yield from (Finding("violation", rule, reason, chunk, name) for rule, reason in faults)
            return
        settings, parent = settings_for_level(self._settings_for(record), record), is_parent(record)
        yield from self._open_document(record, name, settings)
        opened = self._open
        assert opened is not None  # opened just now
        if parent:
            yield from self._close_parent(opened)
            opened.nesting.begin(record)
        faults += self._faults(record, settings, opened)
        yield from (Finding("violation", rule, reason, chunk, name) for rule, reason in faults)
        smallest = 0 if parent else getattr(settings.options, "min_tokens", 0)
        least = min(smallest, getattr(settings.options, "target_tokens", 0) // 4)
        warnings = self._warnings[parent].add(self.chunks, record["normalized_text"], record["token_count"], least)
        yield from (finding._replace(chunk=chunk, document=name) for finding in warnings)
        opened.before[parent] = record

    def _faults(self, record: Record, settings: CheckSettings, opened: _OpenDocument) -> Faults:
        """Check one record by itself, against those before it, and against its source."""
        limit, broken = settings.options.max_tokens, list(piece_faults(record))
        yield from broken
        yield from record_faults(record, settings.tokenizer, limit)
        yield from opened.order.faults(record, limit)
        if not is_parent(record):
            yield from opened.nesting.faults(record)
        if not opened.document or broken:
            return
        against_source = list(source_faults(record, opened.document, settings.tokenizer, limit))
        yield from against_source
        if not against_source:
            core = record["char_start"], record["char_end"]
            opened.links.append(StatedLinks(record["chunk_id"], core, record["navigation"].get("url")))
        if not against_source and record["strategy"] in PROMISES:
            before, parent = opened.before.get(is_parent(record)), opened.nesting.parent
            case = PromiseCheck(record, before, opened.document, settings.tokenizer, settings.options, parent)
            yield from PROMISES[record["strategy"]](case)
        cores = opened.cores.setdefault(is_parent(record), [])
        cores.extend((piece["start"], piece["end"]) for piece in record["pieces"] if piece["role"] == "core")

    def _close_parent(self, opened: _OpenDocument) -> Iterator[Finding]:
        """Yield what is wrong with the last parent, after all its children were checked."""
        chunk = opened.nesting.parent["chunk_id"] if opened.nesting.parent else None
        for rule, reason in opened.nesting.end_faults():
            yield Finding("violation", rule, reason, chunk, opened.name)

    def _open_document(self, record: Record, name: str, settings: CheckSettings) -> Iterator[Finding]:
        """Close the previous document and open the next if a record begins another one."""
        key = record["document_id"]
        if self._open and self._open.key == key:
            return
        yield from self._close()
        if key in self._closed:
            reason = "the chunks of this document don't stand together, or its id is used twice"
            yield Finding("violation", "neighbours", reason, record["chunk_id"], name)
        document = None
        if self._source:
            try:
                document = self._source(record)
                if document is None:
                    reason = "its source is not there"
                    yield Finding("violation", "provenance", reason, record["chunk_id"], name)
            except SpanwiseError as error:
                yield Finding("violation", "provenance", f"its source: {error}".replace("\n", "; "), None, name)
        document = as_counted(document, strategy_of(record["strategy"])) if document else None
        levels: dict[bool, list[Range]] = {True: [], False: []} if is_parent(record) else {False: []}
        order = DocumentOrder(settings.tokenizer, distant=getattr(settings.options, "core_tokens", None) is not None)
        self._open = _OpenDocument(key, name, order, document, record["strategy"], Nesting(), levels, {}, [])

    def _close(self) -> Iterator[Finding]:
        opened, self._open = self._open, None
        if not opened:
            return
        self._closed.add(opened.key)
        yield from self._close_parent(opened)
        for chunk, (rule, reason) in opened.order.last_faults():
            yield Finding("violation", rule, reason, chunk, opened.name)
        if not opened.document:
            return
        for level, cores in opened.cores.items():
            for rule, reason in coverage_faults(opened.document, opened.strategy, cores):
                text = f"{reason} (of the parents)" if level else reason
                yield Finding("violation", rule, text, None, opened.name)
        for chunk, reason in wrong_links(opened.document, opened.links):
            yield Finding("violation", "place", reason, chunk, opened.name)
        for heading in empty_sections(opened.document):
            yield Finding("warning", "empty section", f"nothing stands under {heading!r}", None, opened.name)

    def _counted(self, finding: Finding) -> Finding:
        self.counts[finding.level] += 1
        return finding


def _name(record: Record) -> str:
    metadata = record.get("metadata")
    known = metadata if isinstance(metadata, dict) else {}
    return str(known.get("file_path") or known.get("source_url") or record.get("document_id"))
