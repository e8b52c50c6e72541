"""What a command line names: a config file, settings, files; and how what is wrong with one of them is said."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from spanwise.cli.terminal import Progress, Screen, one_line
from spanwise.errors import OptionError, SpanwiseError, UnreadableError
from spanwise.pipeline.settings import (
    Config,
    Layer,
    declared_options,
    find_config,
    load_config,
    plan_layer,
    tenants_plan,
)
from spanwise.readers import EXTENSIONS, ReadOptions, has_reader, piped_format
from spanwise.sources.folder import FoundFiles, Patterns, find_files
from spanwise.sources.item import SourceItem


def config_of(arguments: argparse.Namespace, *, any_tenant: bool = False) -> Config:
    """Read the config file that was named, else the nearest one, with the plan that was chosen or that the tenant has.

    With `any_tenant` one who has no plan is no mistake: the general settings hold for their documents.
    """
    path = Path(arguments.config).absolute() if arguments.config else find_config(Path.cwd())
    config = load_config(path) if path else Config()
    plan, tenant = getattr(arguments, "plan", None), getattr(arguments, "tenant", None)
    if plan is None and (tenant is None or (any_tenant and tenant not in config.tenants)):
        return config
    layer = plan_layer(config, plan if plan is not None else tenants_plan(config, tenant or ""))
    named = {"meta": {**layer.values.get("meta", {}), "tenant_id": tenant}} if tenant is not None else {}
    return replace(config, chosen=Layer(layer.origin, {**layer.values, **named}))


def flags_of(arguments: argparse.Namespace) -> list[Layer]:
    """Give what was said on the command line, each flag a layer of its own so that its name is known."""
    names = ("strategy", "tokenizer", "dialect", *declared_options())
    said_values = {name: getattr(arguments, name, None) for name in names}
    values: dict[str, Any] = {name: value for name, value in said_values.items() if value is not None}
    if pairs := getattr(arguments, "meta", None):
        values["meta"] = dict(map(_pair, pairs))
    return [Layer("command line", values)] if values else []


def _pair(words: str) -> tuple[str, Any]:
    name, sign, value = words.partition("=")
    if not sign or not name:
        raise OptionError("--meta", "must be a name and a value", value=words, hint="try --meta tenant_id=acme")
    return name, _META_KINDS.get(name, str)(value)


def _page_version(words: str) -> int:
    try:
        return int(words)
    except ValueError:
        raise OptionError("--meta page_version", "must be an integer", value=words) from None


def _no_links(words: str) -> Any:
    raise OptionError("--meta links", "can't be given: they are read from the document", value=words)


def _no_extra(words: str) -> Any:
    raise OptionError("--meta extra", "can't be given", value=words, hint="keys of your own get there by themselves")


_META_KINDS: Final[Mapping[str, Callable[[str], Any]]] = {
    "labels": lambda words: [label.strip() for label in words.split(",") if label.strip()],
    "page_version": _page_version,
    "links": _no_links,
    "extra": _no_extra,
}


def patterns_of(config: Config, arguments: argparse.Namespace, name: str) -> list[str | Patterns]:
    """Give the patterns of the command line, and those of the config file as seen from there."""
    given: list[str | Patterns] = [*getattr(arguments, name)]
    if config.path and (lines := (config.general or {}).get(name)):
        given.append(Patterns(tuple(lines), config.path.parent.as_posix()))
    return given


def prepared_folder(folder: str | None) -> str | None:
    """Make the folder for figures, so that one that can't be used is told once, before any work."""
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
    include, exclude = (patterns_of(config, arguments, name) for name in ("include", "exclude"))
    known = (lambda _: True) if arguments.input_format and arguments.include else has_reader
    return find_files(paths, known=known, include=include, exclude=exclude)


def reading_of(arguments: argparse.Namespace) -> ReadOptions:
    """Return how files are to be read."""
    return ReadOptions(arguments.password, prepared_folder(arguments.figures), arguments.keep_all)


def piped_item(arguments: argparse.Namespace) -> SourceItem:
    """Return what is piped in as a source item."""
    if sys.stdin is None:
        raise UnreadableError("-", "can't be read: stdin is closed")
    data = sys.stdin.buffer.read()
    return SourceItem("-", len(data), arguments.input_format or piped_format(data), data=data)


def refuse_to_overwrite(output: str | None, files: list[str], flag: str = "-o") -> None:
    """Refuse to write chunks over the document that they come from."""
    if output and os.path.exists(output):  # noqa: PTH110 - the other way raises for a name that is too long
        place = os.path.realpath(output)
        if any(os.path.realpath(file) == place for file in files):
            raise OptionError(flag, "is one of the documents", value=output, hint="name another file")


def nothing_found(found: FoundFiles) -> str:
    """Say why there are no documents."""
    reasons = ", ".join(f"{reason} {count:,}" for reason, count in sorted(found.passed_over.items()))
    known = ", ".join(sorted(filter(None, EXTENSIONS)))
    return f"left out: {reasons}; readers know {known}" if reasons else f"readers know {known}"


def tell(screen: Screen, progress: Progress, error: SpanwiseError, file: str = "") -> str:
    """Tell in one line what failed, where, why, and what to do."""
    words = one_line(str(error).replace("\nhint: ", "; hint: ").replace("say its format: ", "say --input-format "))
    name = f"{one_line(file)}: " if file and one_line(file) not in words else ""
    progress.clear()
    screen.line(f"{screen.painted('error:', 'error')} {name}{words}")
    return words
