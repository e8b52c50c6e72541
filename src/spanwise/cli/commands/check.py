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
from spanwise.cli.terminal import Screen, counted, printable
from spanwise.documents.document import LEFT_OUT_KINDS, Document
from spanwise.errors import SpanwiseError, UnreadableError
from spanwise.options import options_of
from spanwise.pipeline.settings import Config, Layer, in_force, settings_of
from spanwise.readers import INPUTS, ReadOptions, has_reader, read_file
from spanwise.records.loaders import recorded
from spanwise.sources.folder import find_files
from spanwise.text.tokens import tokenizer_of

Record = dict[str, Any]


def run(arguments: argparse.Namespace) -> int:
    """Check a file of chunks, say what is wrong, and sum up."""
    config, flags = config_of(arguments), flags_of(arguments)
    settings_of(in_force([*config.layers(None), *flags]))
    terms = terms_under(config, flags)
    source = Sources(arguments, config) if arguments.source else None
    checker = Checker(terms, source.find if source else None, arguments.dialect)
    report = _JsonReport() if arguments.json else _Report(Screen(sys.stdout), arguments.most)
    for item in recorded(arguments.chunks):
        for finding in checker.findings(item):
            report.tell(finding)
    rest = source.unseen(STRATEGIES[terms({}).strategy].leaves_out) if source else ()
    for finding in (*checker.finish(), *rest):
        report.tell(finding)
    if not checker.chunks and not source:
        raise UnreadableError(arguments.chunks, "holds no chunks")
    report.sum_up(checker.chunks, beside=source is not None)
    return 1 if report.violations else 0


def terms_under(config: Config, flags: list[Layer]) -> Callable[[Record], CheckSettings]:
    """Give what holds for a record: its own strategy, and of what was said all that this strategy knows."""

    @lru_cache(maxsize=256)
    def known(strategy: str | None, file: str | None) -> CheckSettings:
        said_values = in_force([*config.layers(file), *flags])
        name = strategy or said_values["strategy"].value
        options = {item.name for item in fields(STRATEGIES[name].options)}
        every = [*config.layers(file), *flags]
        values = {key: value for layer in every for key, value in layer.values.items() if key in options}
        return CheckSettings(
            tokenizer_of(said_values["tokenizer"].value), name, options_of(STRATEGIES[name].options, values)
        )

    def terms(record: Record) -> CheckSettings:
        metadata = record.get("metadata")
        file = (metadata if isinstance(metadata, dict) else record).get("file_path")
        strategy = record.get("strategy")
        return known(strategy if strategy in STRATEGIES else None, file if config.special else None)

    return terms


class Sources:
    """The documents that chunks were made from: one file, or a folder in which they are found by their paths."""

    def __init__(self, arguments: argparse.Namespace, config: Config) -> None:
        """Refuse a path where nothing is."""
        self._path, self._form = Path(arguments.source), arguments.input_format
        self._access = ReadOptions(arguments.password, arguments.figures, arguments.keep_all)
        self._include = patterns_of(config, arguments, "include")
        self._exclude = patterns_of(config, arguments, "exclude")
        if not self._path.exists():
            raise UnreadableError(
                arguments.source, "does not exist", hint="--source is the file or folder that was chunked"
            )
        self._seen: set[str] = set()

    def find(self, record: Record) -> Document | None:
        """Read the document of a record."""
        metadata = record["metadata"] if isinstance(record.get("metadata"), dict) else record
        file = self._file(metadata.get("file_path"), record.get("document_id"))
        if file is None:
            return None
        self._seen.add(str(file.resolve()))
        form = metadata.get("source_type")
        given = {name: metadata.get(name) for name in ("source_url", "language")}
        return read_file(file, self._form or (form if form in INPUTS else None), given, self._access)

    def _file(self, name: str | None, document_id: str | None) -> Path | None:
        if self._path.is_file():
            return self._path
        if name is None:
            known = self._by_id()
            return known.get(str(document_id)) or (next(iter(known.values())) if len(known) == 1 else None)
        parts = PurePath(name).parts
        places = (self._path.joinpath(*parts[at:]) for at in range(len(parts)) if parts[at] not in {"/", ".."})
        return next((place for place in places if place.is_file()), None)

    def _by_id(self) -> dict[str, Path]:
        """Find files by the ids that their documents get when nobody gives them one."""
        if not hasattr(self, "_ids"):
            self._ids = {
                read_file(file, self._form, {}, self._access).document_id: Path(file) for file in self._files()
            }
        return self._ids

    def _files(self) -> list[str]:
        found = find_files([str(self._path)], known=has_reader, include=self._include, exclude=self._exclude)
        return found.files

    def unseen(self, left_out: frozenset[str]) -> Iterator[Finding]:
        """Find documents of the source that have content and no chunk."""
        for file in self._files():
            if str(Path(file).resolve()) in self._seen:
                continue
            try:
                document = read_file(file, self._form, {}, self._access)
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
    """Findings for people: so many of each rule, then how many more there are."""

    def __init__(self, screen: Screen, most: int) -> None:
        self._screen, self._most = screen, most
        self._told: Counter[tuple[str, str]] = Counter()

    @property
    def violations(self) -> int:
        return sum(number for (level, _), number in self._told.items() if level == "violation")

    def tell(self, finding: Finding) -> None:
        key = finding.level, finding.rule
        self._told[key] += 1
        if self._most and self._told[key] > self._most:
            return
        colour = "error" if finding.level == "violation" else "head"
        place = f"line {finding.place}" if finding.place else ""
        chunk = f"chunk {finding.chunk[:12]}" if finding.chunk else ""
        where = ", ".join(filter(None, (place, chunk, finding.document)))
        head = self._screen.painted(f"{finding.level}: {finding.rule}:", colour)
        self._screen.line(f"{head} {printable(where)}{': ' if where else ''}{printable(finding.reason)}")

    def sum_up(self, chunks: int, *, beside: bool) -> None:
        for (level, rule), number in sorted(self._told.items()):
            if self._most and number > self._most:
                self._screen.line(f"… {number - self._most:,} more: {level}: {rule} (--most 0 shows all)")
        warnings = sum(self._told.values()) - self.violations
        found = f"{counted(self.violations, 'violation')}, {counted(warnings, 'warning')}"
        self._screen.line(f"{counted(chunks, 'chunk')} checked, {found}", "error" if self.violations else "good")
        broken = sorted({rule for level, rule in self._told if level == "violation"})
        for rule in broken:
            self._screen.line(f"  {rule}: {RULES[rule]}")
        if not beside:
            self._screen.line("without the source nobody can say whether text is lost or altered; --source PATH can")


class _JsonReport:
    """Findings for programs: a record a line, then the summary."""

    def __init__(self) -> None:
        self.violations = self._warnings = 0

    def tell(self, finding: Finding) -> None:
        if finding.level == "violation":
            self.violations += 1
        else:
            self._warnings += 1
        self._write(finding._asdict())

    def sum_up(self, chunks: int, *, beside: bool) -> None:
        self._write({
            "summary": {"chunks": chunks, "violations": self.violations, "warnings": self._warnings, "source": beside}
        })  # fmt: skip

    def _write(self, record: Record) -> None:
        import orjson

        sys.stdout.buffer.write(orjson.dumps(record, option=orjson.OPT_APPEND_NEWLINE))
