"""What a command line names: a config file, settings, files, and what is piped in."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import count
from pathlib import Path
from typing import Any, Final, TypedDict

from spanwise.cli.env_file import env_layer
from spanwise.cli.parser import OPTION
from spanwise.cli.progress import Progress
from spanwise.cli.terminal import Screen, one_line, reason_counts
from spanwise.errors import OptionError, UnreadableError
from spanwise.opening import read_to_end
from spanwise.pipeline.guard import Limits
from spanwise.pipeline.jobs import Job
from spanwise.pipeline.settings import (
    Config,
    Layer,
    find_config,
    load_config,
    plan_layer,
    tenants_plan,
)
from spanwise.readers import (
    ReadOptions,
    broken_readers,
    check_format,
    has_reader,
    known_suffixes,
    missing_extra,
    piped_format,
)
from spanwise.sources.folder import FoundFiles, find_files, without_reader
from spanwise.sources.ignoring import Patterns
from spanwise.sources.item import SourceItem

_READ_ONLY: Final = {
    "links": ("can't be given: they are read from the document", None),
    "extra": ("can't be given", "keys of your own get there by themselves"),
}  # fields of the metadata that --meta can't set: why, and a hint


def config_of(arguments: argparse.Namespace, *, any_tenant: bool = False) -> Config:
    """Read the config file that was named, else the nearest one, with the plan that was chosen or that the tenant has.

    With `any_tenant` a tenant without a plan is no error: the general settings hold for its documents.
    """
    path = Path(arguments.config).absolute() if arguments.config else find_config(Path.cwd())
    config = load_config(path) if path else Config()
    plan, tenant = getattr(arguments, "plan", None), getattr(arguments, "tenant", None)
    if plan is None and (tenant is None or (any_tenant and tenant not in config.tenants)):
        return config
    layer = plan_layer(config, plan if plan is not None else tenants_plan(config, tenant or ""))
    named = {"meta": {**layer.values.get("meta", {}), "tenant_id": tenant}} if tenant is not None else {}
    return replace(config, chosen=Layer(layer.origin, {**layer.values, **named}))


def configured_store(arguments: argparse.Namespace) -> str:
    """Return the store that the config file names; raise OptionError if none does."""
    named = getattr(arguments, "config", None)
    path = Path(named).absolute() if named else find_config(Path.cwd())
    store = (load_config(path).general or {}).get("store") if path else None
    if store is None:
        hint = 'say --store docs.db, or write store = "docs.db" in spanwise.toml'
        raise OptionError("--store", "must name the store", hint=hint)
    return str(store)


def flags_of(arguments: argparse.Namespace) -> list[Layer]:
    """Return the settings given by a file of options and on the command line as layers; none if there are none."""
    names = ("strategy", "tokenizer", "dialect", "proposer")
    values: dict[str, Any] = {name: value for name in names if (value := getattr(arguments, name, None)) is not None}
    given = {name: value for name, value in vars(arguments).items() if value is not None}
    values |= {name.removeprefix(OPTION): value for name, value in given.items() if name.startswith(OPTION)}
    if pairs := getattr(arguments, "meta", None):
        values["meta"] = dict(map(_pair, pairs))
    layers = [env_layer(path)] if (path := getattr(arguments, "env_file", None)) is not None else []
    return [*layers, *([Layer("command line", values)] if values else [])]


def _pair(text: str) -> tuple[str, Any]:
    name, sign, value = text.partition("=")
    if not sign or not name:
        raise OptionError("--meta", "must be a name and a value", value=text, hint="try --meta tenant_id=acme")
    if name in _READ_ONLY:
        rule, hint = _READ_ONLY[name]
        raise OptionError(f"--meta {name}", rule, value=value, hint=hint)
    if name == "labels":
        return name, [label.strip() for label in value.split(",") if label.strip()]
    try:
        return name, int(value) if name == "page_version" else value
    except ValueError:
        raise OptionError(f"--meta {name}", "must be an integer", value=value) from None


class PatternOptions(TypedDict):
    """The patterns of a command."""

    include: list[str | Patterns]
    exclude: list[str | Patterns]


def patterns_of(config: Config, arguments: argparse.Namespace) -> PatternOptions:
    """Return the patterns of the command line, and those of the config file as seen from there."""

    def given(name: str) -> list[str | Patterns]:
        lines = (config.general or {}).get(name) if config.path else None
        folder = config.path.parent.as_posix() if config.path else None
        return [*getattr(arguments, name), *([Patterns(tuple(lines), folder)] if lines else [])]

    return {"include": given("include"), "exclude": given("exclude")}


def _prepared_folder(folder: str | None) -> str | None:
    """Make the folder for figures, so that one that can't be used is reported once, before any work."""
    if folder is None:
        return None
    hint = "name a folder that can be written to"
    if not folder:
        raise OptionError("--figures", "must name a folder", value=folder, hint=hint)
    try:
        Path(folder).mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OptionError("--figures", f"can't be made ({error.strerror})", value=folder, hint=hint) from error
    if not os.access(folder, os.W_OK | os.X_OK):
        raise OptionError("--figures", "can't be written to", value=folder, hint=hint)
    return folder


def files_of(config: Config, arguments: argparse.Namespace, paths: Sequence[str]) -> FoundFiles:
    """Return the files that paths name, by the patterns of the command line and the config file."""
    check_format(arguments.input_format)
    everything = bool(arguments.input_format and arguments.include)
    progress, seen = Progress(silent=arguments.quiet), count(1)

    def known(path: str) -> bool:
        progress.draw(f"looking for documents: {next(seen):,} files seen")
        return everything or has_reader(path)

    found = find_files(paths, known=known, follow_links=arguments.follow_links, **patterns_of(config, arguments))
    progress.clear()
    return found


def reading_of(arguments: argparse.Namespace) -> ReadOptions:
    """Return how files are to be read."""
    return ReadOptions(arguments.password, _prepared_folder(arguments.figures), arguments.keep_all)


def limits_of(arguments: argparse.Namespace) -> Limits:
    """Return what a file may take."""
    return Limits(arguments.file_timeout, arguments.file_memory)


def piped_bytes(most: int) -> bytes:
    """Read what is piped in, at most so many bytes."""
    if sys.stdin is None:
        raise UnreadableError("-", "can't be read: stdin is closed")
    return sys.stdin.buffer.read(most)


def piped_item(arguments: argparse.Namespace) -> SourceItem:
    """Return what is piped in as a source item; raise UnreadableError if it is too large."""
    data = read_to_end(piped_bytes, "-")
    return SourceItem("-", len(data), arguments.input_format or piped_format(data), data=data)


def refuse_to_overwrite(output: str | None, files: list[str], flag: str = "-o") -> None:
    """Raise OptionError if the output is one of the documents."""
    if output and os.path.exists(output):  # noqa: PTH110 - the other way raises for a name that is too long
        written = os.stat(output)  # noqa: PTH116 - for names of any length
        if any(_is(file, written) for file in files):
            raise OptionError(flag, "is one of the documents", value=output, hint="name another file")


def _is(file: str, status: os.stat_result) -> bool:
    with suppress(OSError):
        return os.path.samestat(os.stat(file), status)  # noqa: PTH116 - a path object for each of many files costs
    return False


def all_need_extras(jobs: Sequence[Job]) -> bool:
    """Whether nothing can be read for lack of extras, which are reported then: it is known before any work."""
    missing = [missing_extra(job.item.name, job.item.format) for job in jobs]
    if not missing or None in missing:
        return False
    progress = Progress()
    for job, error in zip(jobs, missing, strict=True):
        progress.report_errors(*filter(None, [error]), file=job.item.name)
    progress.finish()
    return True


def check_asked(arguments: argparse.Namespace, jobs: Sequence[Job]) -> None:
    """Raise OptionError for a proposer that nobody would ask."""
    if arguments.proposer and jobs and not any(job.asks_model for job in jobs):
        rule = f"is not for the strategy {jobs[0].settings.strategy_name}"
        raise OptionError("--proposer", rule, hint="it is one of smart")


def show_left_out(screen: Screen, found: FoundFiles) -> None:
    """Show how many files were passed over; if some have no reader, also which readers can't be loaded."""
    if found.passed_over:
        screen.line(one_line(f"left out: {reason_counts(found.passed_over)}"), "dim")
    for reason in broken_readers() if without_reader(found.passed) else ():
        screen.labelled("warning", one_line(reason))


def no_documents(paths: Sequence[str], found: FoundFiles) -> int:
    """Report what failed and return the exit code; raise UnreadableError if nothing did."""
    progress = Progress()
    progress.report_errors(*found.failed)
    if not progress.failed:
        left_out = f"left out: {reason_counts(found.passed_over)}; " if found.passed_over else ""
        known = ", ".join(known_suffixes())
        raise UnreadableError(", ".join(paths), "holds no documents", hint=f"{left_out}readers know {known}")
    return 1
