"""PluginStrategy: a strategy of another package, or of the user, that keeps the laws whatever it returns."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from operator import index
from typing import Any, Final

from spanwise.chunking.pieces import NO_CONTEXT, PlannedCore, RepeatedContext
from spanwise.chunking.span_plan import cores_of_spans, whole_position
from spanwise.chunking.strategy import ChunkPlan, Note, Strategy
from spanwise.chunking.task import ChunkingTask
from spanwise.documents.document import Document
from spanwise.errors import OptionError, PluginError
from spanwise.options import Options, declared
from spanwise.plugins import calling

MAY_LEAVE_OUT: Final = frozenset({"heading", "rule"})
"""Kinds of blocks that a strategy may leave out; all others that are left out are no content anywhere."""
RESERVED: Final = frozenset({
    "dialect", "document", "embedder", "exclude", "file_memory", "file_timeout", "files", "glob", "include", "jobs",
    "meta", "offsets", "plans", "progress", "proposer", "search", "source", "sources", "store", "strategy", "tenant",
    "tenants", "tokenizer", "wait",
})  # fmt: skip
"""Names that no option of a plug-in may have: they are arguments beside the options, or keys of the config file."""


class PluginStrategy(Strategy):
    """A strategy that delegates to an object, and checks what it returns."""

    def __init__(self, inner: Any, who: str, name: str) -> None:
        """Raise PluginError if the object lacks something; `who` is how messages call it, `name` that in records."""
        self._inner, self._who = inner, who
        self.name, self.options = name, _options_of(inner, who)
        with calling(who):
            self.leaves_out = frozenset(getattr(inner, "leaves_out", ()))
        self.leafwise = bool(getattr(inner, "leafwise", False))
        repeats = getattr(type(inner), "repeat", Strategy.repeat) is not Strategy.repeat
        self.repeating = None if repeats else frozenset()
        if more := self.leaves_out - MAY_LEAVE_OUT:
            rule = f"may leave out {' and '.join(sorted(MAY_LEAVE_OUT))} only"
            raise PluginError(who, rule, value=sorted(map(str, more)))
        for unusable in ("has_parents", "asks_model"):
            if getattr(inner, unusable, False):
                raise PluginError(who, f"has `{unusable}`, which only built-in strategies may")

    @property
    def purpose(self) -> str:
        """What it is for, as the docstring of its class says."""
        return type(self._inner).__doc__ or ""

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle as the object: its options are declared anew in the other process."""
        return PluginStrategy, (self._inner, self._who, self.name)

    def plan(self, task: ChunkingTask) -> ChunkPlan:
        """Return what the object plans, checked."""
        with calling(self._who, _name_of(task.document)):
            found = self._inner.plan(task)
            if not isinstance(found, ChunkPlan):
                return ChunkPlan(cores_of_spans(task, _iterable(found, self._who), self._who))
            if found.parents:
                raise PluginError(self._who, "plans parents, which only built-in strategies may")
            notes = sorted(Note(index(start), index(end), str(reason)) for start, end, reason in found.notes)
            return ChunkPlan(cores_of_spans(task, found.cores, self._who), notes=notes)

    def overlap_start(self, task: ChunkingTask, previous: PlannedCore, free: int) -> int | None:
        """Return where the object lets overlap start, moved back to where a character begins."""
        if not hasattr(self._inner, "overlap_start"):
            return None
        with calling(self._who, _name_of(task.document)):
            found = self._inner.overlap_start(task, previous, free)
            if found is None:
                return None
            if not 0 <= index(found) < previous.end:
                rule = f"starts overlap outside the text before {previous.end}"
                raise PluginError(self._who, rule, value=found)
            return whole_position(task.text, index(found))

    def repeat(self, task: ChunkingTask, core: PlannedCore) -> RepeatedContext:
        """Return what the object repeats around a core, in whole characters."""
        if self.repeating is not None:
            return NO_CONTEXT
        with calling(self._who, _name_of(task.document)):
            found = self._inner.repeat(task, core)
            if not (found.before or found.after):
                return NO_CONTEXT if not found.dropped else found._replace(before=(), after=())
            before, after = (_whole(task.text, ranges, self._who) for ranges in (found.before, found.after))
            return RepeatedContext(before, after, bool(found.dropped), found.joiner)


def plugin_strategy(wanted: Any, who: str, name: str | None = None) -> PluginStrategy:
    """Return an object as a strategy; raise PluginError if it can't be one. `name` overrides its own."""
    if isinstance(wanted, type):
        raise PluginError(who, "is a class, and an object is needed", hint=f"try {wanted.__name__}()")
    own = getattr(wanted, "name", None)
    if name is None and not (isinstance(own, str) and own.strip()):
        raise PluginError(who, "must have a `name`", value=own)
    if not callable(getattr(wanted, "plan", None)):
        raise PluginError(who, "must have a method `plan(task)`", hint="see spanwise.Strategy")
    return PluginStrategy(wanted, who, name or str(own))


def _options_of(inner: Any, who: str) -> type[Options]:
    kind = getattr(inner, "options", None)
    if not (isinstance(kind, type) and issubclass(kind, Options)):
        raise PluginError(who, "must have `options`, a subclass of spanwise.Options", value=kind)
    try:
        kind = declared(kind)
    except OptionError as error:
        rule = f"has an option `{error.subject}` that {error.rule}"
        raise PluginError(who, rule, value=error.value, hint=error.hint) from error
    for name in kind.__dataclass_fields__:
        if name in RESERVED:
            raise PluginError(who, f"has an option `{name}`, which is the name of something else", hint="rename it")
    return kind


def _iterable(found: object, who: str) -> Iterable[Any]:
    if not isinstance(found, Iterable) or isinstance(found, str):
        rule = "must return spans, or a ChunkPlan, from `plan`"
        raise PluginError(who, rule, value=type(found).__name__, hint="return a list of pairs: (start, end)")
    return found


def _whole(text: str, ranges: Sequence[tuple[int, int]], who: str) -> tuple[tuple[int, int], ...]:
    """Return ranges of whole characters; those in the middle of a very long one are left out."""
    found = []
    for start, end in ranges:
        if not 0 <= index(start) <= index(end) <= len(text):
            raise PluginError(who, "repeats a range outside the text", value=(start, end))
        low, high = whole_position(text, index(start)), whole_position(text, index(end))
        if low is not None and high is not None and low < high:
            found.append((low, high))
    return tuple(found)


def _name_of(document: Document) -> str:
    metadata = document.metadata
    return metadata.file_path or metadata.source_url or f"document {document.document_id}"
