"""`spanwise check`."""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from functools import cached_property, lru_cache
from itertools import chain, islice
from pathlib import Path, PurePath
from typing import Any, Final

from spanwise.checks import RULES, Checker, CheckSettings, Finding
from spanwise.checks.findings import missing_names
from spanwise.checks.in_dialects import absent_fields, dialect_of, looks_like_chunk, other_ids
from spanwise.checks.settings import checked_with, judged
from spanwise.chunking.strategies import DEFAULT_STRATEGY, known_strategy, strategy_of
from spanwise.chunking.strategy import Strategy
from spanwise.cli.inputs import config_of, flags_of, patterns_of
from spanwise.cli.terminal import Screen, counted, one_line, print_json_lines
from spanwise.documents.document import LEFT_OUT_KINDS, Document
from spanwise.errors import SpanwiseError, UnreadableError
from spanwise.opening import path_text
from spanwise.options import typed, with_own_names
from spanwise.pipeline.settings import Config, Layer, in_force, settings_of
from spanwise.readers import ReadOptions, check_format, has_reader, input_formats, read_file
from spanwise.records.loaders import Recorded, no_chunks, read_records
from spanwise.sources.folder import FoundFiles, find_files
from spanwise.text.tokens import tokenizer_of

Record = dict[str, Any]
_LOOKED_AT: Final = 1000  # lines; if none of them is a chunk, the file is something else


def run(arguments: argparse.Namespace) -> int:
    """Check a file of chunks, report what is wrong, and sum up."""
    config, flags = config_of(arguments), flags_of(arguments)
    layers = [*config.layers(None), *flags]
    if any("strategy" in layer.values for layer in layers):  # else each record has its own, with options of its own
        settings_of(in_force(layers))
    settings_for = SettingsByRecord(config, flags)
    source = Sources(arguments, config) if arguments.source else None
    checker = Checker(settings_for, source.find if source else None, arguments.dialect, measure=arguments.offsets)
    report = _JsonReport(0) if arguments.json else _Report(arguments.most)
    for item in _chunks_in(arguments.chunks, arguments.dialect):
        for finding in checker.findings(item):
            report.add(finding)
    rest = source.unseen(settings_for({}).strategy.leaves_out) if source else ()
    for finding in (*checker.finish(), *rest):
        report.add(finding)
    if not checker.chunks and not source:
        raise UnreadableError(arguments.chunks, "holds no chunks")
    report.sum_up(checker.chunks, settings_for, beside=source is not None)
    return 1 if report.violations else 0


def _chunks_in(path: str, dialect: str | None) -> Iterator[Recorded]:
    """Yield what a file holds; raise UnreadableError if nothing near its beginning is a chunk, or none is whole."""
    items = read_records(path)
    head = list(islice(items, _LOOKED_AT))
    chunks = [item.record for item in head if looks_like_chunk(item.record)]
    if head and not chunks:
        raise no_chunks(path, head[0].number, head[0].fault or "no field of a chunk")
    absent = [absent_fields(record, dialect or dialect_of(record)) for record in chunks]
    if absent and all(absent):  # one that lacks a field among whole ones is a violation
        rule = f"can't be checked: in every record {missing_names(absent[0])}"
        raise UnreadableError(path, rule, hint="check what spanwise chunk writes without --fields and --texts")
    yield from chain(head, items)


class SettingsByRecord:
    """Finds the settings for a record: flags, then what it states itself, then the config file, then the defaults."""

    def __init__(self, config: Config, flags: list[Layer]) -> None:
        """Raise OptionError for a tokenizer that can't be used."""
        self._given = {name: value for layer in flags for name, value in layer.values.items()}
        self._tokenizer = tokenizer_of(self._given["tokenizer"]) if "tokenizer" in self._given else None
        self._config, self._usual = config, lru_cache(maxsize=256)(self._configured)
        self.assumed: dict[str, Any] = {}
        """Defaults that were taken for what neither the records nor the user say."""
        self.strategy: str | None = None
        """The strategy, where it was taken so."""

    def _configured(self, file: str | None) -> dict[str, Any]:
        return {name: value for layer in self._config.layers(file) for name, value in layer.values.items()}

    def __call__(self, record: Record) -> CheckSettings:
        """Return the settings for a record."""
        usual = self._usual(_metadata(record).get("file_path") if self._config.special else None)
        strategy = _strategy(record, {**usual, **self._given}.get("strategy", DEFAULT_STRATEGY))
        counting = self._tokenizer
        if counting is None and "tokenizer" not in record and "tokenizer" in usual:
            counting = tokenizer_of(usual["tokenizer"])
        declared = strategy.options.__dataclass_fields__
        own = with_own_names(self._given, declared, strategy.options.ignored)
        given = {key: typed(declared[key], value) if key in declared else value for key, value in own.items()}
        settings = checked_with(record, judged(strategy), counting, given, usual)
        known = {*record, *usual, *self._given}
        if record and not {"tokenizer", "max_tokens"} <= known:
            values = {"tokenizer": settings.tokenizer.name, "max_tokens": settings.options.max_tokens}
            self.strategy = None if "strategy" in known else strategy.name
            self.assumed |= {name: value for name, value in values.items() if name not in known}
        return settings


def _strategy(record: Record, usual: str) -> Strategy:
    """Return the strategy that a record states, else the usual one."""
    name = record.get("strategy")
    return (known_strategy(name) if isinstance(name, str) else None) or strategy_of(usual)


def _metadata(record: Record) -> Record:
    """Return the metadata of a record; in some dialects its fields are those of the record itself."""
    metadata = record.get("metadata")
    return metadata if isinstance(metadata, dict) else record


class Sources:
    """The documents that chunks were made from: one file, or a folder in which they are found by their paths."""

    def __init__(self, arguments: argparse.Namespace, config: Config) -> None:
        """Raise UnreadableError if the path doesn't exist, PluginError for a format that can't be loaded."""
        self._path, self._format = Path(arguments.source), arguments.input_format
        self._options = ReadOptions(arguments.password, arguments.figures, arguments.keep_all)
        self._patterns = patterns_of(config, arguments)
        if not self._path.exists():
            hint = "--source is the file or folder that was chunked"
            raise UnreadableError(arguments.source, "does not exist", hint=hint)
        check_format(self._format)
        self._seen: set[str] = set()

    def find(self, record: Record) -> Document | None:
        """Read the document of a record."""
        metadata = _metadata(record)
        file = self._file(metadata.get("file_path"), record.get("document_id"))
        if file is None:
            return None
        self._seen.add(str(file.resolve()))
        source_type = metadata.get("source_type")
        given = {name: metadata.get(name) for name in ("source_url", "language")}
        stated = source_type if source_type in input_formats() else None
        return read_file(file, self._format or stated, given, self._options)

    def _file(self, name: str | None, document_id: str | None) -> Path | None:
        if self._path.is_file():
            return self._path
        if name is None:
            known = self._by_id()
            return known.get(str(document_id)) or (next(iter(known.values())) if len(known) == 1 else None)
        parts = PurePath(name).parts
        paths = [self._path.joinpath(*parts[at:]) for at in range(len(parts)) if parts[at] not in {"/", ".."}]
        if there := next((path for path in paths if path.is_file()), None):
            return there
        return next((self._escaped[text] for path in paths if (text := path_text(path)) in self._escaped), None)

    @cached_property
    def _escaped(self) -> dict[str, Path]:
        """The files whose names on disk are no text, by the names that records have."""
        return {text: Path(file) for file in self._files().files if (text := path_text(file)) != file}

    def _by_id(self) -> dict[str, Path]:
        """Return the files by the ids that their documents get if none is given."""
        if not hasattr(self, "_ids"):
            self._ids: dict[str, Path] = {}
            for file in self._files().files:
                with suppress(SpanwiseError):  # what can't be read has no chunks
                    document = self._read(file)
                    self._ids[document.document_id] = Path(file)
                    for name in other_ids(document):
                        self._ids.setdefault(name, Path(file))
        return self._ids

    def _read(self, file: str) -> Document:
        return read_file(file, self._format, {}, self._options)

    def _files(self) -> FoundFiles:
        return find_files([str(self._path)], known=has_reader, **self._patterns)

    def unseen(self, left_out: frozenset[str]) -> Iterator[Finding]:
        """Yield findings for documents of the source that have no chunk."""
        found = self._files()
        for file in found.files:
            if found.places[file].location in self._seen:
                continue
            try:
                document = self._read(file)
            except SpanwiseError as error:
                yield Finding("warning", "no chunks", f"can't be read: {error.rule}", None, path_text(file))
                continue
            kinds = {block.kind for block in document.blocks} - LEFT_OUT_KINDS
            if kinds - left_out:
                yield Finding("violation", "lost", "the document has content, but no chunk", None, path_text(file))
            else:
                what = "only headings" if kinds else "no content"
                yield Finding("warning", "no chunks", f"the document has {what}", None, path_text(file))


class _Report:
    """Findings for people: at most `most` of each rule, 0 for all, then how many more there are."""

    def __init__(self, most: int) -> None:
        self._screen, self._most = Screen(sys.stdout), most
        self._reported: Counter[tuple[str, str]] = Counter()

    @property
    def violations(self) -> int:
        return sum(number for (level, _), number in self._reported.items() if level == "violation")

    @property
    def warnings(self) -> int:
        return self._reported.total() - self.violations

    def add(self, finding: Finding) -> None:
        key = finding.level, finding.rule
        self._reported[key] += 1
        if not self._most or self._reported[key] <= self._most:
            self._write(finding)

    def _write(self, finding: Finding) -> None:
        line = f"line {finding.place}" if finding.place else ""
        chunk = f"chunk {finding.chunk[:12]}" if finding.chunk else ""
        where = ", ".join(filter(None, (line, chunk, finding.document)))
        text = f"{one_line(where)}{': ' if where else ''}{one_line(finding.reason)}"
        colour = "error" if finding.level == "violation" else "head"
        self._screen.labelled(f"{finding.level}: {finding.rule}", text, colour)

    def sum_up(self, chunks: int, settings: SettingsByRecord, *, beside: bool) -> None:
        for (level, rule), number in sorted(self._reported.items()):
            if self._most and number > self._most:
                self._screen.line(f"… {number - self._most:,} more: {level}: {rule} (--most 0 shows all)")
        found = f"{counted(self.violations, 'violation')}, {counted(self.warnings, 'warning')}"
        self._screen.line(f"{counted(chunks, 'chunk')} checked, {found}", "error" if self.violations else "good")
        for rule in sorted(rule for level, rule in self._reported if level == "violation"):
            self._screen.line(f"  {rule}: {RULES[rule]}")
        if ("warning", "promise") in self._reported:
            self._screen.labelled("note", "promises were judged by the defaults; give the options of these chunks")
        if settings.assumed:
            taken = ({"strategy": settings.strategy} if settings.strategy else {}) | settings.assumed
            flags = " ".join(f"--{name.replace('_', '-')} {value}" for name, value in taken.items())
            what = f"judged by {flags}, which these records don't state; give them if they were others"
            self._screen.labelled("note", what)
        if not beside:
            self._screen.line("without the source nobody can say whether text is lost or altered; --source PATH can")


class _JsonReport(_Report):
    """Findings for programs: a record a line, then the summary."""

    def _write(self, finding: Finding) -> None:
        print_json_lines([finding._asdict()], flush=False)

    def sum_up(self, chunks: int, settings: SettingsByRecord, *, beside: bool) -> None:
        counts = {"chunks": chunks, "violations": self.violations, "warnings": self.warnings, "source": beside}
        print_json_lines([{"summary": counts | ({"assumed": settings.assumed} if settings.assumed else {})}])
