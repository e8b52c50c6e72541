"""Checks of dialects that have texts and little else: `notes`, `fixed-size`, `pages`."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Mapping
from typing import ClassVar

from spanwise.checks.against_source import excluded_kinds
from spanwise.checks.findings import Faults, Finding, Record, shortened
from spanwise.checks.in_dialects import DialectCheck, id_of, missing_fault, size_faults, trim_faults, wrong_kinds
from spanwise.checks.settings import CheckSettings
from spanwise.checks.text_walk import TextWalk
from spanwise.records.dialects import path_parts


class TextCheck(DialectCheck):
    """The check of a dialect that has texts and little else: they must follow each other in the source."""

    dialect: str
    text: str
    tokens: str | None = None
    kinds: ClassVar[Mapping[type, tuple[str, ...]]]

    @abstractmethod
    def _document_of(self, record: Record) -> str:
        """Return what distinguishes the document of a record from that of the one before."""

    @abstractmethod
    def _own_faults(self, record: Record) -> Faults:
        """Check what only this dialect has."""

    def _stated_tokens(self, record: Record) -> int | None:
        return None if self.tokens is None else record[self.tokens]

    def findings(self, record: Record) -> Iterator[Finding]:
        """Check one record."""
        faults = [*missing_fault(record, self.dialect), *wrong_kinds(record, self.kinds)]
        name = self._name
        if not faults:
            settings = self._settings_for(record)
            key = self._document_of(record)
            name = str(record.get("note_id") or f"document {key}")
            yield from self._open_document(record, key, name, settings)
            faults += self._own_faults(record)
            faults += self._text_faults(record[self.text], self._stated_tokens(record), settings)
        yield from (Finding("violation", rule, reason, id_of(record), name) for rule, reason in faults)

    def _text_faults(self, text: str, stated: int | None, settings: CheckSettings) -> Faults:
        yield from trim_faults(text, indented=True)
        count = settings.tokenizer.count(text)
        if stated is not None and count != stated:
            yield "count", f"{stated} tokens are stated, but {self.text} has {count}"
        yield from size_faults(count, settings.options.max_tokens, text)
        if self._document:
            self._walk = self._walk or TextWalk(self._document, excluded_kinds(self._strategy))
            yield from self._walk.faults(text)

    _walk: TextWalk | None = None

    def _close(self) -> Iterator[Finding]:
        if self._key is not None:
            self._closed.add(self._key)
        walk, self._walk = self._walk, None
        if walk and (rest := walk.rest()):
            yield Finding("violation", "lost", f"the end of the source is in no chunk: {rest}", None, self._name)
        self._document = None


class NotesCheck(TextCheck):
    """The check of `notes`."""

    dialect, text, tokens = "notes", "text", "token_count"
    kinds: ClassVar[Mapping[type, tuple[str, ...]]] = {
        str: ("id", "note_id", "text", "window", "section_path"),
        int: ("index", "token_count"),
    }

    def _document_of(self, record: Record) -> str:
        return str(record["note_id"])

    def _own_faults(self, record: Record) -> Faults:
        index, note, path = record["index"], record["note_id"], path_parts(record["section_path"])
        if record["id"] != f"{note}#c{index:02d}":
            yield "identity", f"id is not note_id and index: {shortened(record['id'])}"
        if index != self._reached + 1:
            yield "neighbours", f"index is {index}, not {self._reached + 1}: a chunk is missing or out of order"
        self._reached = index
        if record["neighbors_prev"] != (f"{note}#c{index - 1:02d}" if index else None):
            yield "neighbours", "neighbors_prev is not the chunk before"
        if record["neighbors_next"] not in {None, f"{note}#c{index + 1:02d}"}:
            yield "neighbours", "neighbors_next is not the chunk after"
        if record["section_title"] != (path[-1] if path else None):
            yield "place", "section_title is not the last part of section_path"
        if not record["window"].endswith(record["text"]):
            yield "provenance", "window doesn't end with text"


class FixedSizeCheck(TextCheck):
    """The check of `fixed-size`."""

    dialect, text = "fixed-size", "content"
    kinds: ClassVar[Mapping[type, tuple[str, ...]]] = {
        str: ("content", "chunkType"),
        int: ("chunkIndex", "startOffset", "endOffset"),
        dict: ("metadata",),
    }
    _number = 0

    def _document_of(self, record: Record) -> str:
        self._number += record["chunkIndex"] == 0
        return str(self._number)

    def _stated_tokens(self, record: Record) -> int | None:
        count = record["metadata"].get("tokenCount")
        return count if type(count) is int else -1

    def _own_faults(self, record: Record) -> Faults:
        index, (start, end) = record["chunkIndex"], self._characters(record["startOffset"], record["endOffset"])
        if record["chunkType"] != "fixed-size" or record["metadata"].get("strategy") != "FIXED_SIZE":
            yield "record", "chunkType or metadata.strategy is not that of this dialect"
        if index != len(self._cores):
            yield "neighbours", f"chunkIndex is {index}, not {len(self._cores)}: a chunk is missing or out of order"
        if not 0 <= start < end or (self._document and end > len(self._document.text)):
            yield "provenance", f"[{start}:{end}] is no range"
        elif start < self._reached:
            yield "twice", f"it starts at {start}, before the end of the one before it ({self._reached})"
        self._reached = max(self._reached, end)
        self._cores.append((start, end))
        if (
            self._document
            and 0 <= start < end
            and self._document.text[start:end].split()[-1:] != record["content"].split()[-1:]
        ):
            yield "provenance", f"content doesn't end as the source does at {end}"


class PagesCheck(TextCheck):
    """The check of `pages`."""

    dialect, text = "pages", "text"
    kinds: ClassVar[Mapping[type, tuple[str, ...]]] = {str: ("text",), int: ("page_num",)}
    _number = 1
    _page = 1

    def _document_of(self, record: Record) -> str:
        self._number += record["page_num"] < self._page
        self._page = record["page_num"]
        return str(self._number)

    def _own_faults(self, record: Record) -> Faults:
        if record["page_num"] < 1:
            yield "place", f"page_num is {record['page_num']}, and pages count from 1"
