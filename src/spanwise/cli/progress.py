"""How far the work is, in a line on a terminal's stderr; and what is to be reported of single files meanwhile."""

from __future__ import annotations

import os
import shutil
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import PurePath
from typing import TYPE_CHECKING, TypeVar

from spanwise.cli.terminal import bar, counted, fitted, one_line, stderr_screen, write_stderr
from spanwise.errors import MissingExtraError, SpanwiseError

if TYPE_CHECKING:
    from spanwise.indexing.index import IndexEvent

T = TypeVar("T")


class Progress:
    """A line on a terminal's stderr that shows how far the work is, if it takes over two seconds.

    Errors and warnings about single documents are written through it: they take the place of the line.
    """

    def __init__(self, total: int = 0, *, silent: bool = False, clock: Callable[[], float] = time.monotonic) -> None:
        """Start to count."""
        self.total, self._clock, self.screen = total, clock, stderr_screen()
        self._begun = self._drawn = clock()
        terminal = sys.stderr is not None and sys.stderr.isatty() and os.environ.get("TERM") != "dumb"
        self._wanted = terminal and not silent
        self._visible = False
        self._missing: Counter[tuple[str, str]] = Counter()  # files by extra and suffix
        self.documents = self.chunks = self.size = self.failed = 0

    def advance(self, chunks: int, size: int) -> None:
        """Count a document."""
        self.documents += 1
        self.chunks += chunks
        self.size += size
        self.draw()

    def draw(self, text: str = "") -> None:
        """Show how far the work is, if it takes long and not too often."""
        now = self._clock()
        if self._wanted and now - self._begun > 2 and now - self._drawn > 0.1:
            self._drawn, self._visible = now, True
            width = shutil.get_terminal_size((100, 24)).columns
            write_stderr(f"\r\x1b[K{fitted(text or self.text(), width - 3)}")

    def text(self) -> str:
        """Return how far the work is, in a line."""
        speed = self.size / max(self.seconds, 1e-6) / 1e6
        counts = f"{self.documents:,}/{self.total:,} documents", counted(self.chunks, "chunk"), f"{speed:.1f} MB/s"
        return " · ".join((share_of(self.documents / max(self.total, 1)), *counts))

    @property
    def seconds(self) -> float:
        """How long the work has taken so far."""
        return self._clock() - self._begun

    def each(self, what: str, items: Sequence[T]) -> Iterator[T]:
        """Yield items, and show how many there were so far."""
        for number, item in enumerate(items, 1):
            self.draw(f"{what}: {number:,}/{len(items):,}")
            yield item

    def clear(self) -> None:
        """Remove the line."""
        if self._visible:
            write_stderr("\r\x1b[K")
            self._visible = False

    def finish(self) -> None:
        """Remove the line, and report once for each extra that is missing how many files need it."""
        self.clear()
        for extra in sorted({extra for extra, _ in self._missing}):
            files = {suffix: number for (name, suffix), number in self._missing.items() if name == extra}
            self.screen.labelled("error", needed_by(files, extra), "error")
        self._missing.clear()

    def report_errors(self, *errors: SpanwiseError, file: str = "") -> None:
        """Write for each error in one line what failed, where, why, and what to do; missing extras are counted."""
        for error in errors:
            self.failed += 1
            if file and isinstance(error, MissingExtraError) and error.extra:
                self._missing[error.extra, PurePath(file).suffix.lower()] += 1
                continue
            text = str(error).replace("\nhint: ", "; hint: ").replace("say its format: ", "say --input-format ")
            name = f"{one_line(file)}: " if file and one_line(file) not in one_line(text) else ""
            self.clear()
            self.screen.labelled("error", name + one_line(text), "error")

    def report_warnings(self, name: str, notes: Iterable[str]) -> None:
        """Write a line for each note on a document."""
        for note in notes:
            self.clear()
            self.screen.labelled("warning", f"{one_line(name)}: {one_line(note)}")


class Stages(Progress):
    """Progress of indexing: documents read, chunks made, and of those the ones that are embedded and written.

    How many chunks there will be is estimated from those of the documents so far; it is known when all are read.
    """

    def __init__(self, *, silent: bool, embedding: bool, clock: Callable[[], float] = time.monotonic) -> None:
        """Start to count; the total is set when it is known."""
        super().__init__(silent=silent, clock=clock)
        self._counts: Counter[str] = Counter()
        self._verb = "embedded" if embedding else "written"
        self._written_with, self._working_since = 0, self._begun

    def start(self, total: int) -> None:
        """Begin with so many documents; what came before, such as a search for files, isn't part of the speed."""
        self.total, self._working_since = total, self._clock()

    def show(self, event: IndexEvent) -> None:
        """Show how far a stage is."""
        self._counts[event.stage] = event.done
        self.documents = self._counts["read"]
        if event.stage == "write":
            self._written_with = self._counts["embed"]
        if event.stage != "read":
            self.draw()

    @property
    def done(self) -> int:
        """How many chunks are written, or embedded and about to be."""
        return self._counts["write"] + self._counts["embed"] - self._written_with

    def text(self) -> str:
        """Return the share that is done, documents, chunks, chunks a second and the time left, in a line."""
        expected = max(self._counts["chunk"] * self.total / max(self.documents, 1), self.done, 1)
        speed = self.done / max(self._clock() - self._working_since, 1e-6)
        parts = [share_of(self.done / expected, 14), f"{counted(self.done, 'chunk')} {self._verb}"]
        if self.done:
            rate = f"{speed:,.0f}/s" if speed >= 1 else f"one in {1 / speed:.0f} s"
            parts += [rate, f"{duration((expected - self.done) / speed)} left"]
        return " · ".join((*parts, f"{self.documents:,}/{self.total:,} read"))


def share_of(done: float, width: int = 20) -> str:
    """Return a share as a bar and in percent."""
    return f"{bar(done, width):<{width}} {min(done, 1.0):4.0%}"


def duration(seconds: float) -> str:
    """Return a time as people say it, to two digits or so: `8 s`, `3 min`, `1 h 20 min`."""
    minutes = round(seconds / 60)
    if seconds < 60:
        return f"{seconds:.0f} s"
    return f"{minutes} min" if minutes < 60 else f"{minutes // 60} h {minutes % 60} min"


def needed_by(files: dict[str, int], extra: str) -> str:
    """Return in one line how many files, given by suffix, need an extra: `12 .pdf files need the extra pdf: …`."""
    number = sum(files.values())
    kinds = " and ".join(suffix for suffix in sorted(files) if suffix)
    what = f"{number:,} {kinds}{' ' if kinds else ''}{'file needs' if number == 1 else 'files need'}"
    return f'{what} the extra {extra}: pip install "spanwise[{extra}]"'
