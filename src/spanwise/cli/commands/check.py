"""`spanwise check`."""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import fields
from functools import lru_cache
from pathlib import Path, PurePath
from typing import Any

from spanwise.checks import RULES, Checker, CheckSettings, Finding
from spanwise.chunking.strategies import STRATEGIES
from spanwise.cli.inputs import config_of, flags_of, patterns_of
from spanwise.cli.terminal import Screen, counted, print_json_lines, printable
from spanwise.documents.document import LEFT_OUT_KINDS, Document
from spanwise.errors import SpanwiseError, UnreadableError
from spanwise.options import options_of
from spanwise.pipeline.settings import Config, Layer, in_force, settings_of
from spanwise.readers import INPUTS, ReadOptions, has_reader, read_file
from spanwise.records.loaders import read_records
from spanwise.sources.folder import find_files
from spanwise.text.tokens import tokenizer_of

Record = dict[str, Any]


def run(arguments: argparse.Namespace) -> int:
    """Check a file of chunks, report what is wrong, and sum up."""
    config, flags = config_of(arguments), flags_of(arguments)
    settings_of(in_force([*config.layers(None), *flags]))
    settings_for = settings_under(config, flags)
    source = Sources(arguments, config) if arguments.source else None
    checker = Checker(settings_for, source.find if source else None, arguments.dialect)
    report = _JsonReport(0) if arguments.json else _Report(arguments.most)
    for item in read_records(arguments.chunks):
        for finding in checker.findings(item):
            report.add(finding)
    rest = source.unseen(STRATEGIES[settings_for({}).strategy].leaves_out) if source else ()
    for finding in (*checker.finish(), *rest):
        report.add(finding)
    if not checker.chunks and not source:
        raise UnreadableError(arguments.chunks, "holds no chunks")
    report.sum_up(checker.chunks, beside=source is not None)
    return 1 if report.violations else 0


def settings_under(config: Config, flags: list[Layer]) -> Callable[[Record], CheckSettings]:
    """Return what finds the settings for a record: its own strategy, with all given options that this strategy has."""

    @lru_cache(maxsize=256)
    def known(strategy: str | None, file: str | None) -> CheckSettings:
        layers = [*config.layers(file), *flags]
        given = in_force(layers)
        name = strategy or given["strategy"].value
        options = STRATEGIES[name].options
        names = {item.name for item in fields(options)}
        values = {key: value for layer in layers for key, value in layer.values.items() if key in names}
        return CheckSettings(tokenizer_of(given["tokenizer"].value), name, options_of(options, values))

    def settings_for(record: Record) -> CheckSettings:
        strategy, file = record.get("strategy"), _metadata(record).get("file_path")
        return known(strategy if strategy in STRATEGIES else None, file if config.special else None)

    return settings_for


def _metadata(record: Record) -> Record:
    """Return the metadata of a record; in some dialects its fields are those of the record itself."""
    metadata = record.get("metadata")
    return metadata if isinstance(metadata, dict) else record


class Sources:
    """The documents that chunks were made from: one file, or a folder in which they are found by their paths."""

    def __init__(self, arguments: argparse.Namespace, config: Config) -> None:
        """Raise UnreadableError if the path doesn't exist."""
        self._path, self._format = Path(arguments.source), arguments.input_format
        self._options = ReadOptions(arguments.password, arguments.figures, arguments.keep_all)
        self._patterns = patterns_of(config, arguments)
        if not self._path.exists():
            hint = "--source is the file or folder that was chunked"
            raise UnreadableError(arguments.source, "does not exist", hint=hint)
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
        return read_file(file, self._format or (source_type if source_type in INPUTS else None), given, self._options)

    def _file(self, name: str | None, document_id: str | None) -> Path | None:
        if self._path.is_file():
            return self._path
        if name is None:
            known = self._by_id()
            return known.get(str(document_id)) or (next(iter(known.values())) if len(known) == 1 else None)
        parts = PurePath(name).parts
        paths = (self._path.joinpath(*parts[at:]) for at in range(len(parts)) if parts[at] not in {"/", ".."})
        return next((path for path in paths if path.is_file()), None)

    def _by_id(self) -> dict[str, Path]:
        """Return the files by the ids that their documents get if none is given."""
        if not hasattr(self, "_ids"):
            self._ids = {self._read(file).document_id: Path(file) for file in self._files()}
        return self._ids

    def _read(self, file: str) -> Document:
        return read_file(file, self._format, {}, self._options)

    def _files(self) -> list[str]:
        return find_files([str(self._path)], known=has_reader, **self._patterns).files

    def unseen(self, left_out: frozenset[str]) -> Iterator[Finding]:
        """Yield findings for documents of the source that have no chunk."""
        for file in self._files():
            if str(Path(file).resolve()) in self._seen:
                continue
            try:
                document = self._read(file)
            except SpanwiseError as error:
                yield Finding("warning", "no chunks", f"can't be read: {error.rule}", None, file)
                continue
            kinds = {block.kind for block in document.blocks} - LEFT_OUT_KINDS
            if kinds - left_out:
                yield Finding("violation", "lost", "the document has content, but no chunk", None, file)
            else:
                what = "only headings" if kinds else "no content"
                yield Finding("warning", "no chunks", f"the document has {what}", None, file)


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
        text = f"{printable(where)}{': ' if where else ''}{printable(finding.reason)}"
        colour = "error" if finding.level == "violation" else "head"
        self._screen.labelled(f"{finding.level}: {finding.rule}", text, colour)

    def sum_up(self, chunks: int, *, beside: bool) -> None:
        for (level, rule), number in sorted(self._reported.items()):
            if self._most and number > self._most:
                self._screen.line(f"… {number - self._most:,} more: {level}: {rule} (--most 0 shows all)")
        found = f"{counted(self.violations, 'violation')}, {counted(self.warnings, 'warning')}"
        self._screen.line(f"{counted(chunks, 'chunk')} checked, {found}", "error" if self.violations else "good")
        for rule in sorted(rule for level, rule in self._reported if level == "violation"):
            self._screen.line(f"  {rule}: {RULES[rule]}")
        if not beside:
            self._screen.line("without the source nobody can say whether text is lost or altered; --source PATH can")


class _JsonReport(_Report):
    """Findings for programs: a record a line, then the summary."""

    def _write(self, finding: Finding) -> None:
        print_json_lines([finding._asdict()], flush=False)

    def sum_up(self, chunks: int, *, beside: bool) -> None:
        counts = {"chunks": chunks, "violations": self.violations, "warnings": self.warnings, "source": beside}
        print_json_lines([{"summary": counts}])
