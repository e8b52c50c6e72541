"""`spanwise chunk`."""

from __future__ import annotations

import argparse
import os
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path, PurePath
from typing import Any, Final

from spanwise.batches import Job, Order, Outcome, chunk_all, is_smart
from spanwise.cli.planning import dry_run, report_line
from spanwise.cli.terminal import Progress, Screen, for_people, one_line, said, shown
from spanwise.cli.view import LEGEND
from spanwise.cli.writing import Writer, opened, writer_of
from spanwise.errors import OptionError, SpanwiseError, UnreadableError
from spanwise.folders import Found, Patterns, find_files
from spanwise.proposals import Proposer, terms_of
from spanwise.readers import EXTENSIONS
from spanwise.settings import (
    Config,
    Layer,
    Settings,
    check_metadata,
    declared_options,
    find_config,
    in_force,
    load_config,
    plan_layer,
    settings_of,
    tenants_plan,
    with_extra,
)
from spanwise.strategies.smart import ASKING
from spanwise.tokens import TOKENIZERS, tokenizer_of

_WORTH_A_WORKER: Final = 2_000_000  # bytes of text; a process more costs about a fifth of a second
_NAMING: Final = ("document_id", "source_url", "file_path", "page_id")


def run(arguments: argparse.Namespace) -> int:
    """Chunk what is meant, tell what failed, and sum up."""
    config, flags = config_of(arguments), flags_of(arguments)
    general = in_force([*config.layers(None), *flags])
    dialect = general["dialect"].value if "dialect" in general else None
    form = arguments.format or _usual_format(arguments.output, dialect)
    offsets, form_given = tuple(arguments.offsets), arguments.input_format
    figures = prepared_folder(arguments.figures)
    order = Order(dialect, arguments.id_prefix, form_given, offsets, arguments.password, figures, arguments.keep_all)
    if (tokenizer := settings_of(general).tokenizer) not in TOKENIZERS:
        tokenizer_of(tokenizer)  # a wrong file is told once, not for every document; known names need no loading here
    piped = "-" in arguments.paths
    include, exclude = (patterns_of(config, arguments, name) for name in ("include", "exclude"))
    known = (lambda _: True) if arguments.input_format and arguments.include else has_reader
    found = find_files([path for path in arguments.paths if path != "-"], known=known, include=include, exclude=exclude)
    refuse_to_overwrite(arguments.output, found.files)
    jobs = jobs_of(found.files, config, flags, order, piped=piped)
    if not jobs and found.failed:  # nothing is written then, not even an empty file
        screen, progress = for_people(), Progress(0)
        return 1 if [tell(screen, progress, error) for error in found.failed] else 0
    if not jobs:
        raise UnreadableError(", ".join(arguments.paths), "holds no documents", hint=nothing_found(found))
    if arguments.dry_run:
        return _dry(jobs, found, arguments)
    with proposing(jobs) as proposer:
        return _chunk_all(jobs, found, form, arguments, proposer)


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


def _usual_format(output: str | None, dialect: str | None) -> str:
    """Take the format that a file's ending names; people at a terminal want to look."""
    ending = PurePath(output or "").suffix[1:].lower()
    if ending in {"json", "parquet"}:
        return ending
    watched = output is None and sys.stdout is not None and sys.stdout.isatty()
    return "view" if watched and not dialect else "jsonl"


def _chunk_all(
    jobs: list[Job], found: Found, form: str, arguments: argparse.Namespace, proposer: Proposer | None
) -> int:
    sizes = [(job, len(job.data) if job.data is not None else size_of(job.file)) for job in jobs]
    workers = workers_for(arguments.jobs, sum(size for _, size in sizes), len(jobs))
    on_screen = arguments.output is None and sys.stdout is not None and sys.stdout.isatty()
    if form == "parquet" and on_screen:
        raise OptionError("--format", "parquet can't be read on a terminal", hint="try -o chunks.parquet")
    progress = Progress(len(jobs), silent=arguments.quiet or on_screen)
    screen = for_people()
    failed = [tell(screen, progress, error) for error in found.failed]
    with opened(arguments.output) as file:
        order = jobs[0].order if jobs else Order()
        writer = writer_of(form, file, order.dialect, lines=arguments.lines, offsets=order.offsets)
        for outcome in chunk_all(sizes, workers, _lost, proposer):
            if outcome.error:
                failed.append(tell(screen, progress, outcome.error, outcome.file))
            else:
                _written(writer, outcome, screen, progress)
        writer.finish()
    progress.clear()
    if not arguments.quiet:
        _sum_up(screen, progress, found, len(failed), legend=form == "view")
        if proposer is not None:
            screen.line(report_line(proposer.report), "head" if proposer.report.fallbacks else "dim")
    return 1 if failed else 0


@contextmanager
def proposing(jobs: list[Job]) -> Iterator[Proposer | None]:
    """Give whoever proposes for all files of `smart`; refuse before any work what can't be asked."""
    settings = {id(job.settings): job.settings for job in jobs if is_smart(job)}
    asking = [terms_of(one.options) for one in settings.values()]
    if not asking:
        yield None
        return
    with Proposer(**{name: getattr(asking[0], name) for name in ASKING}) as proposer:
        yield proposer


def _dry(jobs: list[Job], found: Found, arguments: argparse.Namespace) -> int:
    """Say what would be sent, and tell what can't be read."""
    failed = dry_run(jobs, as_json=arguments.format in {"json", "jsonl"})
    screen, progress = for_people(), Progress(0)
    told = [tell(screen, progress, error) for error in found.failed]
    told += [tell(screen, progress, outcome.error, outcome.file) for outcome in failed if outcome.error]
    return 1 if told else 0


def _written(writer: Writer, outcome: Outcome, screen: Screen, progress: Progress) -> None:
    writer.write(outcome)
    progress.advance(outcome.chunks, outcome.size)
    for note in outcome.notes:
        progress.clear()
        screen.line(f"{screen.painted('warning:', 'head')} {one_line(outcome.file)}: {one_line(note)}")


def tell(screen: Screen, progress: Progress, error: SpanwiseError, file: str = "") -> str:
    """Tell in one line what failed, where, why, and what to do."""
    words = one_line(str(error).replace("\nhint: ", "; hint: ").replace("say its format: ", "say --input-format "))
    name = f"{one_line(file)}: " if file and one_line(file) not in words else ""
    progress.clear()
    screen.line(f"{screen.painted('error:', 'error')} {name}{words}")
    return words


def _lost(job: Job) -> Outcome:
    rule = "ended the process that read it (out of memory?)"
    return Outcome(job.file, error=UnreadableError(job.file, rule, hint="try it alone, with --jobs 1"))


def _sum_up(screen: Screen, progress: Progress, found: Found, failed: int, *, legend: bool) -> None:
    parts = [
        f"{said(progress.documents, 'document')} read",
        said(progress.chunks, "chunk"),
        f"{found.passed_over.total():,} left out",
        f"{failed:,} failed",
    ]
    speed = f"{progress.size / 1e6:.1f} MB in {progress.seconds:.1f} s"
    screen.line(screen.painted(", ".join(parts), "strong") + f" ({speed})")
    if found.passed_over:
        reasons = ", ".join(f"{reason} {count:,}" for reason, count in sorted(found.passed_over.items()))
        screen.line(shown(f"left out: {reasons}"), "dim")
    if legend:
        screen.line(LEGEND, "dim")


def jobs_of(files: list[str], config: Config, flags: list[Layer], order: Order, *, piped: bool) -> list[Job]:
    """Give each file what is in force for it; equal settings are worked out once."""
    known: dict[tuple[str, ...], Settings] = {}
    jobs = []
    for file in files:
        layers = config.layers(file)
        key = tuple(layer.origin for layer in layers)
        if key not in known:
            known[key] = with_checked_extra(settings_of(in_force([*layers, *flags])))
        jobs.append(Job(file, known[key], order))
    _refuse_shared_names(jobs)
    if piped:
        if sys.stdin is None:
            raise UnreadableError("-", "can't be read: stdin is closed")
        settings = with_checked_extra(settings_of(in_force([*config.layers(None), *flags])))
        jobs.append(Job("-", settings, order, sys.stdin.buffer.read()))
    return jobs


def _refuse_shared_names(jobs: list[Job]) -> None:
    """Refuse to give several documents what only one can have: their chunks would get the same ids."""
    for name in _NAMING:
        named = Counter(job.settings.metadata[name] for job in jobs if name in job.settings.metadata)
        if (times := max(named.values(), default=0)) > 1:
            rule = f"names one document, but {times:,} would get it"
            raise OptionError(f"meta {name}", rule, hint="give it for one file, or a [[files]] entry for each")


def with_checked_extra(settings: Settings) -> Settings:
    """Check metadata once, not for every file, and put those of one's own in their place."""
    check_metadata(settings.metadata)
    return Settings(settings.strategy, settings.tokenizer, settings.options, with_extra(settings.metadata))


def workers_for(asked: int, size: int, files: int) -> int:
    """Say how many processes are worth their start."""
    most = asked or min(os.cpu_count() or 1, size // _WORTH_A_WORKER)
    return max(1, min(most, files))


def has_reader(file: str) -> bool:
    """Whether a file's extension is one that a reader knows."""
    return PurePath(file).suffix.lower() in EXTENSIONS


def size_of(file: str) -> int:
    """Give a file's bytes; none where it can't be seen."""
    with suppress(OSError):
        return Path(file).stat().st_size
    return 0


def nothing_found(found: Found) -> str:
    """Say why there are no documents."""
    reasons = ", ".join(f"{reason} {count:,}" for reason, count in sorted(found.passed_over.items()))
    known = ", ".join(sorted(filter(None, EXTENSIONS)))
    return f"left out: {reasons}; readers know {known}" if reasons else f"readers know {known}"


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


def refuse_to_overwrite(output: str | None, files: list[str], flag: str = "-o") -> None:
    """Refuse to write chunks over the document that they come from."""
    if output and os.path.exists(output):  # noqa: PTH110 - the other way raises for a name that is too long
        place = os.path.realpath(output)
        if any(os.path.realpath(file) == place for file in files):
            raise OptionError(flag, "is one of the documents", value=output, hint="name another file")
