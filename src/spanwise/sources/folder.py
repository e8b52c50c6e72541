"""Which files of a folder are documents: every one that a reader knows, but for those that are ignored.

What is passed over is counted with its reason, so that nothing goes missing in silence.
"""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path, PurePath
from stat import S_ISDIR
from typing import Final, NamedTuple

from spanwise.errors import OptionError, UnreadableError
from spanwise.sources.item import SourceItem

_IGNORING: Final = ".gitignore"
_EVERYTHING: Final = frozenset({".", "(?P<ps_d>/)"})  # what pathspec makes of `*` and `*/`
_NEVER_MEANT: Final = frozenset({".git", _IGNORING})


@dataclass
class FoundFiles:
    """The files that were found, in order; how many were passed over for which reason; what can't be read."""

    files: list[str] = field(default_factory=list)
    passed_over: Counter[str] = field(default_factory=Counter)
    failed: list[UnreadableError] = field(default_factory=list)

    def items(self, format: str | None = None) -> Iterator[SourceItem]:
        """Yield the files as source items; `format` is that of all of them, None where each name decides."""
        return (SourceItem(file, _size(file), format, metadata={"file_path": path_text(file)}) for file in self.files)


def path_text(path: str) -> str:
    """Return a path as text: names on disk may be none, and two that differ must not become one."""
    return PurePath(path).as_posix().encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")


def _size(file: str) -> int:
    """Return the size of a file in bytes; 0 if it can't be read."""
    with suppress(OSError):
        return os.stat(file).st_size  # noqa: PTH116 - a path object for each of many files costs
    return 0


class Patterns(NamedTuple):
    """Patterns as in a `.gitignore`, and the folder from which paths are seen; None: each folder that is walked."""

    lines: tuple[str, ...]
    home: str | None = None


class _Rule(NamedTuple):
    """One line of a `.gitignore`."""

    pattern: re.Pattern[str]
    ignores: bool
    folders_only: bool
    inside: bool  # of a folder: `docs/**` doesn't mean the folder itself

    def matches(self, name: str) -> bool:
        """Whether the line means this very path; that it lies in a folder that is meant is found out on the way."""
        found = self.pattern.search(f"{name}/" if self.folders_only else name)
        if not found or self.pattern.pattern in _EVERYTHING:
            return found is not None
        length = len(name) + self.folders_only
        return found.end() < length if self.inside else found.end() == length


class _Rules(NamedTuple):
    """The lines of one file, and the folder that they speak of, with a slash at its end."""

    home: str
    rules: list[_Rule]

    def means(self, path: str) -> bool:
        """Whether a path, or a folder that it lies in, is matched."""
        name = path.removeprefix(self.home)
        return next((rule.ignores for rule in reversed(self.rules) if rule.pattern.search(name)), False)

    def decide(self, path: str, *, is_folder: bool) -> bool | None:
        """Whether a path is matched, expressly not matched, or not spoken of; the last line that speaks decides."""
        if not path.startswith(self.home):
            return None
        name = path[len(self.home) :]
        for rule in reversed(self.rules):
            if (is_folder or not rule.folders_only) and rule.matches(name):
                return rule.ignores
        return None


class _Walk:
    """What is asked at every entry of the folders, and what was passed over, each path once."""

    def __init__(self, known: Callable[[str], bool], include: Sequence[Patterns], exclude: Sequence[Patterns]) -> None:
        self.known, self._include, self._exclude = known, include, exclude
        self.passed: dict[str, str] = {}
        self.failed: dict[str, UnreadableError] = {}

    def files(self, top: str) -> Iterator[str]:
        """Give the files of a folder and all below it, as paths that begin as `top` does."""
        whole = Path(top).absolute().as_posix().rstrip("/") + "/"
        wanted = [_written(patterns, whole) for patterns in self._include if patterns.lines]
        unwanted = [_written(patterns, whole) for patterns in self._exclude if patterns.lines]
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
            name = PurePath(name).as_posix()
            self.failed[path] = UnreadableError(name, f"can't be opened ({error.strerror})")
            return []

    def _reason(
        self, entry: os.DirEntry[str], path: str, rules: list[_Rules], wanted: list[_Rules], unwanted: list[_Rules]
    ) -> str | None:
        """Say why an entry is passed over; None if it isn't."""
        is_folder = entry.is_dir(follow_symlinks=False)
        if entry.name.startswith("."):
            return "hidden" if entry.name not in _NEVER_MEANT else "never meant"
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
        if wanted and not any(rule.means(path) for rule in wanted):
            return "not included"
        return None if self.known(path) else f"no reader for {PurePath(path).suffix}"


def find_files(
    paths: Iterable[str],
    *,
    known: Callable[[str], bool],
    include: Sequence[str | Patterns] = (),
    exclude: Sequence[str | Patterns] = (),
) -> FoundFiles:
    """Find the files that are meant; those named one by one are always taken, each once, in the order of their names.

    A folder is walked to the bottom; hidden files and those that a `.gitignore` names are passed over.
    """
    walk, seen = _Walk(known, _grouped(include), _grouped(exclude)), dict[str, str]()
    for path in paths:
        name = PurePath(os.path.normpath(path)).as_posix() if path else path  # `./docs` and `docs` give the same ids
        for file in walk.files(name) if _is_folder(name, path, walk.failed) else [name]:
            if name not in walk.failed:
                place = os.path.realpath(file)
                seen[place] = min(seen.get(place, file), file)  # of several names always the same
    counted = Counter(reason for reason in walk.passed.values() if reason != "never meant")
    return FoundFiles(sorted(seen.values()), counted, list(walk.failed.values()))


def _grouped(given: Sequence[str | Patterns]) -> list[Patterns]:
    lines = tuple(one for one in given if isinstance(one, str))
    return [Patterns(lines), *(one for one in given if isinstance(one, Patterns))]


def _is_folder(name: str, path: str, failed: dict[str, UnreadableError]) -> bool:
    """Whether a path is a folder; what isn't there or may not be looked at fails alone."""
    try:
        return S_ISDIR(os.stat(name).st_mode)  # noqa: PTH116 - an empty name must not mean this folder
    except OSError as error:
        missing = isinstance(error, FileNotFoundError | NotADirectoryError) or not name
        if os.path.islink(name) and not isinstance(error, PermissionError):  # noqa: PTH114 - for names of any length
            return False  # a link that leads nowhere: whoever reads it is told
        rule = "does not exist" if missing else f"can't be opened ({error.strerror})"
        hint = "give files, folders, or - for what is piped in" if missing else None
        failed[name] = UnreadableError(path, rule, hint=hint)
        return False


def _written(patterns: Patterns, top: str) -> _Rules:
    """Read patterns that somebody gave: a wrong one is refused."""
    rules = []
    for line in patterns.lines:
        try:
            rules += _rule(line)
        except ValueError as error:
            raise OptionError(line, "is not a pattern", hint="write it as in .gitignore: *.md, drafts/") from error
    return _Rules(top if patterns.home is None else patterns.home.rstrip("/") + "/", rules)


def check_patterns(lines: Sequence[str]) -> None:
    """Refuse patterns that mean nothing."""
    _written(Patterns(tuple(lines)), "/")


def _rule(line: str) -> list[_Rule]:
    """Read one line; a comment gives none."""
    from pathspec.patterns.gitignore.spec import GitIgnoreSpecPattern

    found = GitIgnoreSpecPattern(line)
    if found.regex is None or found.include is None:
        return []
    bare = line.rstrip()
    return [_Rule(found.regex, found.include, bare.endswith("/"), bare.endswith(("/**", "/**/")))]


def _rules_in(folder: str) -> list[_Rules]:
    """Read a `.gitignore`; lines that mean nothing are passed over, as git does."""
    try:
        lines = Path(folder, _IGNORING).read_text(encoding="utf-8-sig", errors="replace").splitlines()
    except OSError:  # not there, or no permission: then it says nothing
        return []
    rules: list[_Rule] = []
    for line in lines:
        try:
            rules += _rule(line)
        except ValueError:
            continue
    return [_Rules(folder, rules)] if rules else []


def _rules_above(top: str) -> list[_Rules]:
    """Read the `.gitignore` files above a folder, up to the root of its repository, outermost first."""
    inside = Path(top)
    rules: list[_Rules] = []
    for folder in (inside, *inside.parents):
        rules += _rules_in(folder.as_posix().rstrip("/") + "/") if folder != inside else []
        if os.path.lexists(folder / ".git"):
            return rules[::-1]
    return []  # no repository: what lies above has no say
