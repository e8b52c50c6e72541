"""What a command line names: a config file, settings, files, and what is piped in."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from spanwise.cli.terminal import Progress, reason_counts
from spanwise.errors import OptionError, UnreadableError
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


def flags_of(arguments: argparse.Namespace) -> list[Layer]:
    """Return the settings given on the command line as a layer; none if there are none."""
    names = ("strategy", "tokenizer", "dialect", *declared_options())
    values: dict[str, Any] = {name: value for name in names if (value := getattr(arguments, name, None)) is not None}
    if pairs := getattr(arguments, "meta", None):
        values["meta"] = dict(map(_pair, pairs))
    return [Layer("command line", values)] if values else []


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


def patterns_of(config: Config, arguments: argparse.Namespace) -> dict[str, list[str | Patterns]]:
    """Return the patterns of the command line, and those of the config file as seen from there."""
    given: dict[str, list[str | Patterns]] = {name: [*getattr(arguments, name)] for name in ("include", "exclude")}
    for name, patterns in given.items():
        if config.path and (lines := (config.general or {}).get(name)):
            patterns.append(Patterns(tuple(lines), config.path.parent.as_posix()))
    return given


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
    known = (lambda _: True) if arguments.input_format and arguments.include else has_reader
    return find_files(paths, known=known, **patterns_of(config, arguments))


def reading_of(arguments: argparse.Namespace) -> ReadOptions:
    """Return how files are to be read."""
    return ReadOptions(arguments.password, _prepared_folder(arguments.figures), arguments.keep_all)


def piped_bytes(most: int = -1) -> bytes:
    """Read what is piped in, at most so many bytes."""
    if sys.stdin is None:
        raise UnreadableError("-", "can't be read: stdin is closed")
    return sys.stdin.buffer.read(most)


def piped_item(arguments: argparse.Namespace) -> SourceItem:
    """Return what is piped in as a source item."""
    data = piped_bytes()
    return SourceItem("-", len(data), arguments.input_format or piped_format(data), data=data)


def refuse_to_overwrite(output: str | None, files: list[str], flag: str = "-o") -> None:
    """Raise OptionError if the output is one of the documents."""
    if output and os.path.exists(output):  # noqa: PTH110 - the other way raises for a name that is too long
        path = os.path.realpath(output)
        if any(os.path.realpath(file) == path for file in files):
            raise OptionError(flag, "is one of the documents", value=output, hint="name another file")


def no_documents(paths: Sequence[str], found: FoundFiles) -> int:
    """Report what failed and return the exit code; raise UnreadableError if nothing did."""
    progress = Progress()
    progress.report_errors(*found.failed)
    if not progress.failed:
        left_out = f"left out: {reason_counts(found.passed_over)}; " if found.passed_over else ""
        known = ", ".join(sorted(filter(None, EXTENSIONS)))
        raise UnreadableError(", ".join(paths), "holds no documents", hint=f"{left_out}readers know {known}")
    return 1
