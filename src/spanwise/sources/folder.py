"""The files of folders that are documents: those that a reader knows, except ignored ones.

Every path is accounted for: it is found, it is passed over for a reason, or it can't be read.
"""

from __future__ import annotations

import errno
import os
from collections import Counter, deque
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import PurePath
from stat import S_ISDIR, S_ISREG
from typing import Final, NamedTuple

from spanwise.errors import UnreadableError
from spanwise.opening import lies_within, name_text, path_text
from spanwise.sources.ignoring import IGNORING, Patterns, Rules, given_rules, rules_of_file
from spanwise.sources.item import FileItem

OF_STORE: Final = "part of the store"
"""Why a file is left out that belongs to the store that is written: reading it would drop SQLite's locks."""
NO_FILE: Final = "no ordinary file"
LEAVING: Final = "link that leaves the folder"
LINKED_FOLDER: Final = "linked folder"
LINKED_TWICE: Final = "another name of a file"
NO_READER: Final = "no reader for"
_LONGEST_SUFFIX: Final = 12  # characters; a longer one says nothing


class Place(NamedTuple):
    """Where a file is."""

    location: str
    """Its real path."""
    own: str
    """The same, but for a link its own place."""
    top: str | None
    """The real path of the folder that it was found in and must lie in, "" for any; None if it was named itself."""


@dataclass
class FoundFiles:
    """The files that were found, in order; why others were passed over, by their places; what can't be read."""

    files: list[str] = field(default_factory=list)
    places: dict[str, Place] = field(default_factory=dict)
    passed: dict[str, str] = field(default_factory=dict)
    failed: list[UnreadableError] = field(default_factory=list)
    walked: frozenset[str] = frozenset()
    """The folders that were walked."""

    @property
    def passed_over(self) -> Counter[str]:
        """The numbers of files that were passed over, by reason; a folder counts as one."""
        return Counter(self.passed.values())

    def leave_out(self, paths: Container[str], reason: str) -> None:
        """Remove files, given by their real paths, and count them as passed over."""
        left = [file for file in self.files if self.places[file].location in paths]
        self.passed |= {self.places[file].own: reason for file in left}
        if left:
            self.files = [file for file in self.files if self.places[file].location not in paths]

    def items(self, format: str | None = None) -> Iterator[FileItem]:
        """Yield the files as source items; `format` is that of all of them, None where each name decides."""
        return (file_item(file, format, self.places[file]) for file in self.files)


def file_item(path: str, format: str | None = None, place: Place | None = None) -> FileItem:
    """Return a file as a source item; its place is given if it is known."""
    name, location, within = path_text(path), place and name_text(place.own), place and place.top
    return FileItem(name, _size(path), format, location, metadata={"file_path": name}, path=path, within=within)


def _size(file: str) -> int:
    """Return the size of a file in bytes; 0 if it can't be read."""
    with suppress(OSError):
        return os.stat(file).st_size  # noqa: PTH116 - a path object for each of many files costs
    return 0


def find_files(
    paths: Iterable[str],
    *,
    known: Callable[[str], bool],
    include: Sequence[str | Patterns] = (),
    exclude: Sequence[str | Patterns] = (),
    follow_links: bool = False,
) -> FoundFiles:
    """Find the files of paths, each once, ordered by name; a file that is a path itself is always included.

    Folders are walked recursively; hidden files and those that a `.gitignore` matches are passed over, and so are links
    that leave the folder, unless they are followed. `known` returns whether a reader takes a name.
    """
    walk = _Walk(known, _grouped(include), _grouped(exclude), follow_links)
    for path in paths:
        walk.add(path)
    return walk.result()


def _grouped(given: Sequence[str | Patterns]) -> list[Patterns]:
    lines = tuple(one for one in given if isinstance(one, str))
    return [one for one in (Patterns(lines), *(one for one in given if isinstance(one, Patterns))) if one.lines]


class _Name(NamedTuple):
    """A name of a file; of several the least is taken: no link if possible, whatever the order of paths."""

    is_link: bool
    file: str
    is_found: bool
    """Whether it was found in the folder `top`, and not named itself."""
    top: str
    own: str


class _Top(NamedTuple):
    """A folder that is walked: how names begin, its absolute path, its real one, and the patterns given for it."""

    prefix: str
    path: str
    real: str
    wanted: list[Rules]
    unwanted: list[Rules]


class _Folder(NamedTuple):
    """A folder on the way: its path below the top, its real path, each with a slash, and the rules in force."""

    inner: str
    real: str
    rules: list[Rules]
    link: str = ""
    """The place of the link that led to it."""


class _Walk:
    """A walk over paths: what is found, passed over and failed, each by its real path."""

    def __init__(
        self, known: Callable[[str], bool], include: Sequence[Patterns], exclude: Sequence[Patterns], follow_links: bool
    ) -> None:
        self._known, self._include, self._exclude, self._follow_links = known, include, exclude, follow_links
        self._names: dict[str, _Name] = {}
        self._links: dict[str, str] = {}  # from the place of a link to that of its file
        self._passed: dict[str, str] = {}
        self._failed: dict[str, UnreadableError] = {}
        self._walked: set[str] = set()
        self._real_folders: dict[str, str] = {}

    def result(self) -> FoundFiles:
        """Return what was found; a path that one walk passed over and another one took was found."""
        for link, location in self._links.items():
            if self._names[location].own != link:
                self._passed[link] = LINKED_TWICE
        taken = {name.own for name in self._names.values()} | self._walked
        passed = {own: reason for own, reason in self._passed.items() if own not in taken}
        places = {
            name.file: Place(location, name.own, name.top if name.is_found else None)
            for location, name in self._names.items()
        }
        return FoundFiles(sorted(places), places, passed, list(self._failed.values()), frozenset(self._walked))

    def add(self, path: str) -> None:
        """Add a file or a folder; a missing or forbidden one fails, and the others go on."""
        name = PurePath(os.path.normpath(path)).as_posix() if path else path  # `./docs` and `docs` give the same ids
        try:
            is_folder = S_ISDIR(os.stat(name).st_mode)  # noqa: PTH116 - an empty name must not mean this folder
        except OSError as error:
            if not os.path.islink(name) or isinstance(error, PermissionError):  # noqa: PTH114 - for names of any length
                self._failed[name] = _unusable(path, error)
                return
            is_folder = False  # a link that leads nowhere: reading it raises the error
        if is_folder:
            self._walk(name)
            return
        folder, last = os.path.split(os.path.abspath(name))  # noqa: PTH100 - as they are written
        if folder not in self._real_folders:
            self._real_folders[folder] = os.path.realpath(folder).rstrip("/") + "/"
        own = self._real_folders[folder] + last
        location, mode = _target(name, own) if os.path.islink(name) else (own, 0)  # noqa: PTH114
        self._take(name, None, own, location if mode else own)

    def _take(self, file: str, top: str | None, own: str, location: str) -> None:
        name = _Name(location != own, file, top is not None, top or "", own)
        if location != own:
            self._links[own] = location
        self._names[location] = min(self._names.get(location, name), name)

    def _walk(self, top: str) -> None:
        """Take the files of a folder and all below it, with names that begin as `top` does."""
        path = os.path.abspath(top).rstrip("/") + "/"  # noqa: PTH100 - as it is written
        prefix = "" if top == "." else f"{top.rstrip('/')}/"
        wanted, unwanted = ([given_rules(one, path) for one in some] for some in (self._include, self._exclude))
        this = _Top(prefix, path, os.path.realpath(top), wanted, unwanted)
        waiting = [_Folder("", this.real.rstrip("/") + "/", self._rules_above(path))]
        linked: deque[_Folder] = deque()  # walked last, so that files have their own names if possible
        seen: set[str] = set()
        while waiting or linked:
            folder = waiting.pop() if waiting else linked.popleft()
            if folder.real not in seen:
                seen.add(folder.real)
                self._list(this, folder, waiting, linked)
            elif folder.link:
                self._passed.setdefault(folder.link, LINKED_FOLDER)
        self._walked.update(real.rstrip("/") for real in seen)

    def _list(self, top: _Top, folder: _Folder, waiting: list[_Folder], linked: deque[_Folder]) -> None:
        """Take the files of one folder, and add the folders in it to those that wait."""
        inner, real, rules, _ = folder
        entries = self._entries(top, folder)
        rules = [*rules, *self._rules_among(entries, top.path + inner, real)]
        folder = folder._replace(rules=rules)
        for entry in entries:
            name, path, own = entry.name, top.path + inner + entry.name, real + entry.name
            try:
                is_folder, is_file = entry.is_dir(follow_symlinks=False), entry.is_file(follow_symlinks=False)
            except OSError as error:  # some file systems list names whose kind they don't know
                self._failed[own] = _unopened(top.prefix + inner + name, error)
                continue
            reason = _ruled_out(name, path, is_folder, rules, top)
            if reason is None and is_folder:
                waiting.append(_Folder(f"{inner}{name}/", f"{own}/", rules))
            elif reason is None and entry.is_symlink():
                self._follow(top, folder, name, linked)
            elif reason := reason or self._unread(top, path, name, is_file):
                self._passed.setdefault(own, reason)
            else:
                self._take(top.prefix + inner + name, self._bound(top), own, own)

    def _entries(self, top: _Top, folder: _Folder) -> list[os.DirEntry[str]]:
        try:
            with os.scandir(top.path + folder.inner) as entries:
                return sorted((entry for entry in entries if entry.name != ".git"), key=lambda entry: entry.name)
        except OSError as error:
            self._failed[folder.real] = _unopened(top.prefix + folder.inner or ".", error)
            return []

    def _follow(self, top: _Top, folder: _Folder, name: str, linked: deque[_Folder]) -> None:
        """Take what a link leads to, unless it leaves the folder."""
        path, own = top.path + folder.inner + name, folder.real + name
        location, mode = _target(path, own)
        reason: str | None = None
        if not self._follow_links and not lies_within(location, top.real):
            reason = LEAVING
        elif "/.git/" in f"{location.removeprefix(top.real)}/":
            reason = "hidden"
        elif S_ISDIR(mode):
            reason = None if self._follow_links else LINKED_FOLDER
        else:
            reason = self._unread(top, path, name, not mode or S_ISREG(mode))
        if reason:
            self._passed.setdefault(own, reason)
        elif S_ISDIR(mode):
            linked.append(_Folder(f"{folder.inner}{name}/", f"{location.rstrip('/')}/", folder.rules, own))
        else:
            self._take(top.prefix + folder.inner + name, self._bound(top), own, location if mode else own)

    def _unread(self, top: _Top, path: str, name: str, is_file: bool) -> str | None:
        """Return why what no rule excludes is passed over; None if it isn't."""
        if not is_file:
            return NO_FILE
        if top.wanted and not any(rules.includes(path) for rules in top.wanted):
            return "not included"
        return None if self._known(name) else _no_reader(name)

    def _bound(self, top: _Top) -> str:
        return "" if self._follow_links else top.real

    def _rules_among(self, entries: list[os.DirEntry[str]], folder: str, real: str) -> list[Rules]:
        """Remove the `.gitignore` from the entries of a folder, and return its rules."""
        entry = next((entry for entry in entries if entry.name == IGNORING), None)
        if entry is None:
            return []
        entries.remove(entry)
        if entry.is_symlink() and not self._follow_links:
            self._passed[real + IGNORING] = "linked .gitignore"  # which git doesn't follow either
        elif not entry.is_file():
            self._passed[real + IGNORING] = NO_FILE
        else:
            return self._rules_in(folder)
        return []

    def _rules_in(self, folder: str) -> list[Rules]:
        """Read the `.gitignore` of a folder; one that can't be read fails, and nothing is ignored."""
        try:
            return [rules_of_file(folder, follow_links=self._follow_links)]
        except FileNotFoundError:
            return []
        except UnreadableError as error:
            self._failed[folder + IGNORING] = error
        except OSError as error:
            self._failed[folder + IGNORING] = _unopened(folder + IGNORING, error)
        return []

    def _rules_above(self, top: str) -> list[Rules]:
        """Read the `.gitignore` files above a folder, up to the root of its repository, outermost first."""
        above = [top]
        while not os.path.lexists(f"{above[-1]}.git"):
            if above[-1] == "/":
                return []  # no repository: files above have no effect
            above.append(above[-1].rstrip("/").rpartition("/")[0] + "/")
        return [rules for folder in reversed(above[1:]) for rules in self._rules_in(folder)]


def _ruled_out(name: str, path: str, is_folder: bool, rules: Sequence[Rules], top: _Top) -> str | None:
    """Return why a path is passed over, whatever is there; None if it isn't."""
    if name.startswith("."):
        return "hidden"
    raw = os.fsencode(name)
    if any(rule.decide(path, raw, is_folder=is_folder) for rule in top.unwanted):
        return "excluded"
    for rule in reversed(rules):
        if (ignores := rule.decide(path, raw, is_folder=is_folder)) is not None:
            return "ignored by .gitignore" if ignores else None
    return None


def without_reader(passed: Mapping[str, str]) -> frozenset[str]:
    """Return the places of files that were passed over because no reader takes them."""
    return frozenset(own for own, reason in passed.items() if reason.startswith(NO_READER))


def _no_reader(name: str) -> str:
    suffix = PurePath(name).suffix
    usual = len(suffix) <= _LONGEST_SUFFIX and suffix[1:].isascii() and suffix[1:].isalnum()
    return f"{NO_READER} {suffix if usual else 'its extension'}"


def _target(path: str, own: str) -> tuple[str, int]:
    """Return the real path that a link leads to, and its mode; 0 if nothing is there, which reading it reports."""
    mode = 0
    try:
        mode = os.stat(path).st_mode  # noqa: PTH116 - for names of any length
    except OSError as error:
        if error.errno == errno.ELOOP:  # resolving a long chain of links would be too much for Python as well
            return own, 0
    return os.path.realpath(path), mode


def _unopened(path: str, error: OSError) -> UnreadableError:
    return UnreadableError(path_text(path), f"can't be opened ({error.strerror})")


def _unusable(path: str, error: OSError) -> UnreadableError:
    missing = isinstance(error, FileNotFoundError | NotADirectoryError) or not path
    rule = "does not exist" if missing else f"can't be opened ({error.strerror})"
    hint = "give files, folders, or - for what is piped in" if missing else None
    return UnreadableError(path, rule, hint=hint)
