"""The laws of chunks and each strategy's promises, as code that anybody can run on any file of chunks.

Records go by one at a time; of a document only ranges and names are kept, so a file of any size can be checked.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

from spanwise.checks.against_source import Range, StatedLinks, coverage_faults, source_faults, wrong_links
from spanwise.checks.findings import RULES, WARNINGS, Faults, Finding, Record
from spanwise.checks.in_dialects import DIALECT_CHECKS, CheckSettings, dialect_of
from spanwise.checks.one_document import Together
from spanwise.checks.one_record import alone_faults, piece_faults, shape_faults
from spanwise.checks.parents import Nesting, terms_at
from spanwise.checks.strategy_promises import PROMISES, PromiseCheck
from spanwise.checks.warnings import Oddities, empty_sections
from spanwise.chunking.strategies import STRATEGIES, as_counted, strategy_of
from spanwise.documents.document import Document
from spanwise.errors import SpanwiseError
from spanwise.options import options_of
from spanwise.records.loaders import Recorded
from spanwise.records.record import is_parent
from spanwise.text.tokens import Tokenizer, tokenizer_of

__all__ = ["RULES", "WARNINGS", "CheckSettings", "Checker", "Finding", "check"]

Source = Callable[[Record], Document | None]
"""Finds the document that a record comes from; None if there is none. It may raise a SpanwiseError, which is told."""


def check(
    records: Iterable[Record],
    source: Iterable[Document] | Document = (),
    tokenizer: str | os.PathLike[str] | Tokenizer = "cl100k",
    **options: Any,
) -> tuple[Finding, ...]:
    """Check records of chunks, and give what is wrong or odd.

    With the documents that they were made from as `source` much more can be proven. `options` are those that the
    chunks were made with; what isn't given is the default of each record's own strategy.
    """
    documents = {one.document_id: one for one in ((source,) if isinstance(source, Document) else source)}
    counting = tokenizer_of(tokenizer)

    def terms(record: Record) -> CheckSettings:
        strategy = strategy_of(record.get("strategy", "structure"))
        return CheckSettings(counting, strategy.name, options_of(strategy.options, options))

    checker = Checker(terms, (lambda record: documents.get(record["document_id"])) if documents else None)
    findings = [
        finding for place, record in enumerate(records, 1) for finding in checker.findings(Recorded(place, record))
    ]
    return (*findings, *checker.finish())


class _Open(NamedTuple):
    """The document whose records go by."""

    key: str
    name: str
    together: Together
    document: Document | None
    strategy: str
    nesting: Nesting
    cores: dict[bool, list[Range]]  # by whether they are those of parents
    before: dict[bool, Record]
    links: list[StatedLinks]


class Checker:
    """Takes the records of a file in order and gives what it finds."""

    def __init__(
        self, terms: Callable[[Record], CheckSettings], source: Source | None = None, dialect: str | None = None
    ) -> None:
        """Check under the terms that hold for a record, and beside the source if there is one."""
        self._terms, self._source, self._dialect = terms, source, dialect
        self._open: _Open | None = None
        self._closed: set[str] = set()
        self._oddities = {False: Oddities(), True: Oddities("parent")}
        self._foreign: Any = None
        self.chunks = 0
        self.counts: Counter[str] = Counter()

    def findings(self, recorded: Recorded) -> Iterator[Finding]:
        """Check one record."""
        self.chunks += 1
        record = recorded.record
        if recorded.fault:
            yield self._counted(Finding("violation", "record", recorded.fault, place=recorded.place))
            return
        dialect = self._dialect or dialect_of(record)
        if dialect:
            self._foreign = self._foreign or DIALECT_CHECKS[dialect](self._terms, self._source)
            for finding in self._foreign.findings(record):
                yield self._counted(finding._replace(place=recorded.place))
            return
        for finding in self._own(record):
            yield self._counted(finding._replace(place=recorded.place))

    def finish(self) -> Iterator[Finding]:
        """Check what only shows at the end."""
        rest = self._foreign.finish() if self._foreign else self._close()
        odd = (finding for oddities in self._oddities.values() for finding in oddities.summary())
        for finding in (*rest, *odd):
            yield self._counted(finding)

    def _own(self, record: Record) -> Iterator[Finding]:
        name = _name(record)
        chunk = str(record.get("chunk_id") or record.get("chunk_index") or "?")
        faults = list(shape_faults(record))
        if not faults and record["strategy"] not in STRATEGIES:
            faults.append(("record", f"strategy is not known: {record['strategy']!r}"))
        if faults:
            yield from (Finding("violation", rule, reason, chunk, name) for rule, reason in faults)
            return
        terms, parent = terms_at(self._terms(record), record), is_parent(record)
        yield from self._turned_to(record, name, terms)
        opened = self._open
        assert opened is not None  # turned to just now
        if parent:
            yield from self._parent_closed(opened)
            opened.nesting.begin(record)
        faults += self._faults(record, terms, opened)
        yield from (Finding("violation", rule, reason, chunk, name) for rule, reason in faults)
        smallest = 0 if parent else getattr(terms.options, "min_tokens", 0)
        least = min(smallest, getattr(terms.options, "target_tokens", 0) // 4)
        odd = self._oddities[parent].look(self.chunks, record["normalized_text"], record["token_count"], least)
        yield from (finding._replace(chunk=chunk, document=name) for finding in odd)
        opened.before[parent] = record

    def _faults(self, record: Record, terms: CheckSettings, opened: _Open) -> Faults:
        """Check one record: alone, beside those before it, and beside its source."""
        limit, broken = terms.options.max_tokens, list(piece_faults(record))
        yield from broken
        yield from alone_faults(record, terms.tokenizer, limit)
        yield from opened.together.faults(record, limit)
        if not is_parent(record):
            yield from opened.nesting.faults(record)
        if not opened.document or broken:
            return
        beside = list(source_faults(record, opened.document, terms.tokenizer, limit))
        yield from beside
        if not beside:
            core = record["char_start"], record["char_end"]
            opened.links.append(StatedLinks(record["chunk_id"], core, record["navigation"].get("url")))
        if not beside and record["strategy"] in PROMISES:
            before = opened.before.get(is_parent(record))
            case = PromiseCheck(record, before, opened.document, terms.tokenizer, terms.options, opened.nesting.parent)
            yield from PROMISES[record["strategy"]](case)
        cores = opened.cores.setdefault(is_parent(record), [])
        cores.extend((piece["start"], piece["end"]) for piece in record["pieces"] if piece["role"] == "core")

    def _parent_closed(self, opened: _Open) -> Iterator[Finding]:
        """Say what is wrong with the last parent, now that all its children went by."""
        chunk = opened.nesting.parent["chunk_id"] if opened.nesting.parent else None
        for rule, reason in opened.nesting.end_faults():
            yield Finding("violation", rule, reason, chunk, opened.name)

    def _turned_to(self, record: Record, name: str, terms: CheckSettings) -> Iterator[Finding]:
        """Close the document before, when a record begins another one."""
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
        document = as_counted(document, record["strategy"]) if document else None
        levels: dict[bool, list[Range]] = {True: [], False: []} if is_parent(record) else {False: []}
        together = Together(terms.tokenizer, afar=getattr(terms.options, "core_tokens", None) is not None)
        self._open = _Open(key, name, together, document, record["strategy"], Nesting(), levels, {}, [])

    def _close(self) -> Iterator[Finding]:
        opened, self._open = self._open, None
        if not opened:
            return
        self._closed.add(opened.key)
        yield from self._parent_closed(opened)
        for chunk, (rule, reason) in opened.together.last_faults():
            yield Finding("violation", rule, reason, chunk, opened.name)
        if not opened.document:
            return
        for level, cores in opened.cores.items():
            for rule, reason in coverage_faults(opened.document, opened.strategy, cores):
                words = f"{reason} (of the parents)" if level else reason
                yield Finding("violation", rule, words, None, opened.name)
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
