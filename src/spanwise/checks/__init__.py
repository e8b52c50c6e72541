"""Checks that a file of chunks keeps the laws of all chunks and the promises of each strategy.

Records are read one at a time; only ranges and names of a document are kept, so a file of any size can be checked.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Final, NamedTuple

from spanwise.checks.against_source import Range, StatedLinks, coverage_faults, source_faults, wrong_links
from spanwise.checks.findings import RULES, WARNINGS, Faults, Finding, Record
from spanwise.checks.in_dialects import ConfluenceCheck, DialectCheck, SpecCheck, dialect_of, source_lookup
from spanwise.checks.one_document import DocumentOrder
from spanwise.checks.one_record import piece_faults, record_faults, shape_faults
from spanwise.checks.parents import Nesting
from spanwise.checks.settings import (
    CheckSettings,
    JudgedStrategy,
    checked_with,
    judged,
    judged_by_name,
    settings_for_level,
)
from spanwise.checks.short_chunks import STRATEGY as SHORT_CHUNKS_OF
from spanwise.checks.short_chunks import ShortChunks
from spanwise.checks.strategy_promises import PROMISES, PromiseCheck
from spanwise.checks.text_dialects import FixedSizeCheck, NotesCheck, PagesCheck
from spanwise.checks.warnings import WarningCollector, empty_sections
from spanwise.chunking.strategies import DEFAULT_STRATEGY, as_counted, strategy_of
from spanwise.chunking.strategy import StrategyLike, StrategyTraits
from spanwise.documents.document import Document
from spanwise.documents.offsets import MEASURES
from spanwise.errors import OptionError, PluginError, SpanwiseError
from spanwise.options import options_of
from spanwise.records.chunk import Chunk
from spanwise.records.loaders import Recorded
from spanwise.records.record import is_parent, prefix_of
from spanwise.text.tokens import Tokenizer, tokenizer_of

__all__ = ["RULES", "WARNINGS", "CheckSettings", "Checker", "Finding", "check"]

DIALECT_CHECKS: Final[dict[str, type[DialectCheck]]] = {
    "spec-v1": SpecCheck,
    "confluence": ConfluenceCheck,
    "notes": NotesCheck,
    "fixed-size": FixedSizeCheck,
    "pages": PagesCheck,
}
DocumentLookup = Callable[[Record], Document | None]
"""Returns the document of a record, or None if there is none. A SpanwiseError that it raises becomes a finding."""


def check(
    chunks: Iterable[Chunk | Record],
    source: Iterable[Document] | Document = (),
    tokenizer: str | os.PathLike[str] | Tokenizer | None = None,
    *,
    strategy: StrategyLike | None = None,
    offsets: str | None = None,
    **options: Any,
) -> tuple[Finding, ...]:
    """Check chunks or their records, and return violations and warnings.

    With the documents that they were made from as `source`, far more can be checked. Records state their tokenizer
    and limit; a `tokenizer.json` or a tokenizer of your own must be given. `options` are those that the chunks were
    made with; the rest take the defaults of each record's own strategy. Without any, promises of a strategy that don't
    hold under its defaults are warnings. Records of a strategy of your own need that object as `strategy`, unless it is
    installed; chunks know enough of it to be judged by the laws. `offsets` is the unit of those in a dialect, if they
    are not characters.
    """
    if offsets is not None and offsets not in MEASURES:
        raise OptionError("offsets", f"must be {' or '.join(MEASURES)}", value=offsets)
    counting = None if tokenizer is None else tokenizer_of(tokenizer)
    given = None if strategy is None else strategy_of(strategy)
    own = {given.name: judged(given)} if given else {}
    usual = given.name if given else DEFAULT_STRATEGY
    met: dict[str, JudgedStrategy] = {}  # strategies that are known from their chunks alone

    def lookup(name: str) -> JudgedStrategy | None:
        return own.get(name) or judged_by_name(name) or met.get(name)

    def settings_for(record: Record) -> CheckSettings:
        name = record.get("strategy", usual)
        found = lookup(name) or judged(strategy_of(name))
        options_of(found.options, options)  # an unknown one is refused
        return checked_with(record, found, counting, options, {})

    checker = Checker(settings_for, source_lookup(source), measure=offsets, lookup=lookup)
    findings: list[Finding] = []
    for number, one in enumerate(chunks, 1):
        if isinstance(one, Chunk):
            met[one.strategy] = JudgedStrategy(one._run.traits)
        findings += checker.findings(Recorded(number, one.to_dict() if isinstance(one, Chunk) else one))
    return (*findings, *checker.finish())


class _OpenDocument(NamedTuple):
    """The document that the current records belong to."""

    key: str
    name: str
    order: DocumentOrder
    document: Document | None
    strategy: StrategyTraits
    nesting: Nesting
    cores: dict[bool, list[Range]]  # by whether they are cores of parents
    before: dict[bool, Record]
    links: list[StatedLinks]
    short: ShortChunks


class Checker:
    """A checker of the records of a file, in order."""

    def __init__(
        self,
        settings_for: Callable[[Record], CheckSettings],
        source: DocumentLookup | None = None,
        dialect: str | None = None,
        *,
        measure: str | None = None,
        lookup: Callable[[str], JudgedStrategy | None] = judged_by_name,
    ) -> None:
        """Check each record with its own settings, and against its source if there is one.

        `measure` is the unit of the offsets of a dialect, None for characters.
        """
        self._measure = measure
        self._settings_for, self._source, self._dialect, self._lookup = settings_for, source, dialect, lookup
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
            made = DIALECT_CHECKS[dialect]
            self._dialect_check = self._dialect_check or made(self._settings_for, self._source, self._measure)
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
        if not faults and (unknown := self._unknown(record["strategy"])):
            faults.append(("record", unknown))
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
        for rule, reason in faults:
            # a promise about options that nobody states can't be said to be broken
            level = "violation" if settings.known or rule != "promise" else "warning"
            yield Finding(level, rule, reason, chunk, name)
        if record["strategy"] == SHORT_CHUNKS_OF and not faults:
            yield from _too_short(record, settings, opened.short, name)
        smallest = 0 if parent else getattr(settings.options, "min_tokens", 0)
        least = min(smallest, getattr(settings.options, "target_tokens", 0) // 4)
        warnings = self._warnings[parent].add(self.chunks, record["normalized_text"], record["token_count"], least)
        yield from (finding._replace(chunk=chunk, document=name) for finding in warnings)
        opened.before[parent] = record

    def _unknown(self, name: str) -> str | None:
        """Return why chunks of a strategy can't be judged; None if they can."""
        try:
            return None if self._lookup(name) else f"strategy is not known: {name!r}"
        except PluginError as error:
            return f"strategy can't be used: {error}".replace("\n", "; ")

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
        against_source = list(source_faults(record, opened.document, settings))
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
        document = as_counted(document, settings.strategy) if document else None
        levels: dict[bool, list[Range]] = {True: [], False: []} if is_parent(record) else {False: []}
        size = getattr(settings.options, "core_tokens", 0)  # None where it could be set and isn't
        order = DocumentOrder(settings.tokenizer, distant=bool(size) or (size is None and not settings.known))
        self._open = _OpenDocument(
            key, name, order, document, settings.strategy, Nesting(), levels, {}, [], ShortChunks()
        )

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


def _too_short(record: Record, settings: CheckSettings, short: ShortChunks, name: str) -> Iterator[Finding]:
    """Yield chunks below the minimum; it is taken for the default where the limit is, and nobody states another."""
    usual = record.get("max_tokens") == type(settings.options)().max_tokens
    level = "violation" if settings.known or usual else "warning"
    prefix = prefix_of(record)
    for chunk, reason in short.faults(record, record["normalized_text"], prefix, settings):
        more = "" if settings.known else "; give --min-tokens if these chunks have another"
        yield Finding(level, "promise", reason + more, chunk, name)


def _name(record: Record) -> str:
    metadata = record.get("metadata")
    known = metadata if isinstance(metadata, dict) else {}
    return str(known.get("file_path") or known.get("source_url") or record.get("document_id"))
