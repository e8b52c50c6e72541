"""The files of a folder that are documents: those that a reader knows, except ignored ones.

Files that are passed over are counted by reason, so that none goes missing unnoticed.
"""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path, PurePath
from stat import S_ISDIR
from typing import Final, NamedTuple

from spanwise.errors import OptionError, UnreadableError
from spanwise.sources.item import FileItem

OF_STORE: Final = "part of the store"
"""Why a file is left out that belongs to the store that is written: reading it would drop SQLite's locks."""
_IGNORING: Final = ".gitignore"
_EVERYTHING: Final = frozenset({".", "(?P<ps_d>/)"})  # what pathspec makes of `*` and `*/`
_NOT_COUNTED: Final = frozenset({".git", _IGNORING})


@dataclass
class FoundFiles:
    """The files that were found, in order; the numbers of those passed over, by reason; what can't be read."""

    files: list[str] = field(default_factory=list)
    passed_over: Counter[str] = field(default_factory=Counter)
    failed: list[UnreadableError] = field(default_factory=list)

    def leave_out(self, paths: Container[str], reason: str) -> None:
        """Remove files, given by their real paths, and count them as passed over."""
        kept = [file for file in self.files if os.path.realpath(file) not in paths]
        if len(kept) < len(self.files):
            self.passed_over[reason] += len(self.files) - len(kept)
            self.files = kept

    def items(self, format: str | None = None) -> Iterator[FileItem]:
        """Yield the files as source items; `format` is that of all of them, None where each name decides."""
        return (file_item(file, format) for file in self.files)


def file_item(path: str, format: str | None = None) -> FileItem:
    """Return a file as a source item."""
    name = path_text(path)
    return FileItem(name, _size(path), format, metadata={"file_path": name}, path=path)


def path_text(path: str) -> str:
    """Return a path as text: a name on disk may be no text, and two that differ must not become one."""
    return PurePath(path).as_posix().encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")


def _size(file: str) -> int:
    """Return the size of a file in bytes; 0 if it can't be read."""
    with suppress(OSError):
        return os.stat(file).st_size  # noqa: PTH116 - a path object for each of many files costs
    return 0


class Patterns(NamedTuple):
    """Patterns as in a `.gitignore`, and the folder that paths are relative to; None: each folder that is walked."""

    lines: tuple[str, ...]
    folder: str | None = None


class _Rule(NamedTuple):
    """One line of a `.gitignore`."""

    pattern: re.Pattern[str]
    ignores: bool
    folders_only: bool
    inside: bool  # of a folder: `docs/**` doesn't match the folder itself

    def matches(self, name: str) -> bool:
        """Whether the line matches this path itself; the folders it lies in are matched during the walk."""
        found = self.pattern.search(f"{name}/" if self.folders_only else name)
        if not found or self.pattern.pattern in _EVERYTHING:
            return found is not None
        length = len(name) + self.folders_only
        return found.end() < length if self.inside else found.end() == length


class _Rules(NamedTuple):
    """The lines of one file, and the folder that they apply to, with a slash at its end."""

    folder: str
    rules: list[_Rule]

    def includes(self, path: str) -> bool:
        """Whether a path, or a folder that it lies in, is matched."""
        name = path.removeprefix(self.folder)
        return next((rule.ignores for rule in reversed(self.rules) if rule.pattern.search(name)), False)

    def decide(self, path: str, *, is_folder: bool) -> bool | None:
        """Whether a path is matched; None if no line applies, else the last one decides: `!` excludes from matching."""
        if not path.startswith(self.folder):
            return None
        name = path[len(self.folder) :]
        rules = (rule for rule in reversed(self.rules) if is_folder or not rule.folders_only)
        return next((rule.ignores for rule in rules if rule.matches(name)), None)


class _Walk:
    """A walk over folders; what it passes over and what can't be read, each path once."""

    def __init__(self, known: Callable[[str], bool], include: Sequence[Patterns], exclude: Sequence[Patterns]) -> None:
        self.known, self._include, self._exclude = known, include, exclude
        self.passed: dict[str, str] = {}
        self.failed: dict[str, UnreadableError] = {}

    def files(self, top: str) -> Iterator[str]:
        """Yield the files of a folder and all below it, as paths that begin as `top` does."""
        whole = Path(top).absolute().as_posix().rstrip("/") + "/"
        wanted = [_given_rules(patterns, whole) for patterns in self._include if patterns.lines]
        unwanted = [_given_rules(patterns, whole) for patterns in self._exclude if patterns.lines]
        prefix = "" if top == "." else f"{top.rstrip('/')}/"
        waiting = [("", _rules_above(whole))]
        while waiting:
            here, rules = waiting.pop()
            entries = self._entries(prefix + here or ".", whole + here)
            if any(entry.name == _IGNORING for entry in entries):
                rules = [*rules, *_rules_in(whole + here)]
            for entry in entries:
                path, is_folder = whole + here + entry.name, entry.is_dir(follow_symlinks=False)
                if reason := self._reason(entry, path, rules, wanted, unwanted):
                    self.passed.setdefault(path, reason)
                elif is_folder:
                    waiting.append((f"{here}{entry.name}/", rules))
                else:
                    yield PurePath(prefix + here + entry.name).as_posix()

    def _entries(self, name: str, path: str) -> list[os.DirEntry[str]]:
        try:
            with os.scandir(path) as entries:
                return [entry for entry in sorted(entries, key=lambda entry: entry.name) if entry.name != ".git"]
        except OSError as error:
            self.failed[path] = UnreadableError(PurePath(name).as_posix(), f"can't be opened ({error.strerror})")
            return []

    def _reason(
        self, entry: os.DirEntry[str], path: str, rules: list[_Rules], wanted: list[_Rules], unwanted: list[_Rules]
    ) -> str | None:
        """Return why an entry is passed over; None if it isn't."""
        is_folder = entry.is_dir(follow_symlinks=False)
        if entry.name.startswith("."):
            return "hidden" if entry.name not in _NOT_COUNTED else "never meant"
        if any(rule.decide(path, is_folder=is_folder) for rule in unwanted):
            return "excluded"
        decisions = (rule.decide(path, is_folder=is_folder) for rule in reversed(rules))
        if next((decision for decision in decisions if decision is not None), False):
            return "ignored by .gitignore"
        if is_folder:
            return None
        if entry.is_symlink() and os.path.isdir(path):  # noqa: PTH112 - a loop of links is no error here
            return "linked folder"
        if not entry.is_symlink() and not entry.is_file():
            return "no ordinary file"
        if wanted and not any(rule.includes(path) for rule in wanted):
            return "not included"
        return None if self.known(path) else f"no reader for {PurePath(path).suffix}"


def find_files(
    paths: Iterable[str],
    *,
    known: Callable[[str], bool],
    include: Sequence[str | Patterns] = (),
    exclude: Sequence[str | Patterns] = (),
) -> FoundFiles:
    """Find the files of paths, each once, ordered by name; a file that is a path itself is always included.

    Folders are walked recursively; hidden files and those that a `.gitignore` matches are passed over.
    """
    walk, seen = _Walk(known, _grouped(include), _grouped(exclude)), dict[str, str]()
    for path in paths:
        name = PurePath(os.path.normpath(path)).as_posix() if path else path  # `./docs` and `docs` give the same ids
        for file in walk.files(name) if _is_folder(name, path, walk.failed) else [name]:
            if name not in walk.failed:
                location = os.path.realpath(file)
                seen[location] = min(seen.get(location, file), file)  # of several names always the same
    counted = Counter(reason for reason in walk.passed.values() if reason != "never meant")
    return FoundFiles(sorted(seen.values()), counted, list(walk.failed.values()))


def _grouped(given: Sequence[str | Patterns]) -> list[Patterns]:
    lines = tuple(one for one in given if isinstance(one, str))
    return [Patterns(lines), *(one for one in given if isinstance(one, Patterns))]


def _is_folder(name: str, path: str, failed: dict[str, UnreadableError]) -> bool:
    """Whether a path is a folder; a missing or forbidden one is added to `failed`, and the others go on."""
    try:
        return S_ISDIR(os.stat(name).st_mode)  # noqa: PTH116 - an empty name must not mean this folder
    except OSError as error:
        missing = isinstance(error, FileNotFoundError | NotADirectoryError) or not name
        if os.path.islink(name) and not isinstance(error, PermissionError):  # noqa: PTH114 - for names of any length
            return False  # a link that leads nowhere: reading it raises the error
        rule = "does not exist" if missing else f"can't be opened ({error.strerror})"
        hint = "give files, folders, or - for what is piped in" if missing else None
        failed[name] = UnreadableError(path, rule, hint=hint)
        return False


def _given_rules(patterns: Patterns, top: str) -> _Rules:
    """Compile given patterns; raise OptionError for a wrong one."""
    rules = []
    for line in patterns.lines:
        try:
            rules += _rule(line)
        except ValueError as error:
            raise OptionError(line, "is not a pattern", hint="write it as in .gitignore: *.md, drafts/") from error
    return _Rules(top if patterns.folder is None else patterns.folder.rstrip("/") + "/", rules)


def check_patterns(lines: Sequence[str]) -> None:
    """Raise OptionError for a wrong pattern."""
    _given_rules(Patterns(tuple(lines)), "/")


def _rule(line: str) -> list[_Rule]:
    """Return the rule of a line; none for a comment."""
    from pathspec.patterns.gitignore.spec import GitIgnoreSpecPattern

    found = GitIgnoreSpecPattern(line)
    if found.regex is None or found.include is None:
        return []
    line = line.rstrip()
    return [_Rule(found.regex, found.include, line.endswith("/"), line.endswith(("/**", "/**/")))]


def _rules_in(folder: str) -> list[_Rules]:
    """Read a `.gitignore`; wrong lines are skipped, as git does."""
    try:
        lines = Path(folder, _IGNORING).read_text(encoding="utf-8-sig", errors="replace").splitlines()
    except OSError:  # not there, or no permission: then nothing is ignored
        return []
    rules: list[_Rule] = []
    for line in lines:
        with suppress(ValueError):
            rules += _rule(line)
    return [_Rules(folder, rules)] if rules else []


def _rules_above(top: str) -> list[_Rules]:
    """Read the `.gitignore` files above a folder, up to the root of its repository, outermost first."""
    inside = Path(top)
    rules: list[_Rules] = []
    for folder in (inside, *inside.parents):
        rules += _rules_in(folder.as_posix().rstrip("/") + "/") if folder != inside else []
        if os.path.lexists(folder / ".git"):
            return rules[::-1]
    return []  # no repository: files above have no effect
