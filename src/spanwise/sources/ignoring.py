"""Rules: the patterns of a `.gitignore` or an option, and what they decide about a path."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Sequence
from contextlib import suppress
from functools import cached_property
from typing import Final, NamedTuple

from spanwise.errors import OptionError, UnreadableError
from spanwise.opening import path_text, read_file_bytes
from spanwise.sources.globs import Glob, glob_of

IGNORING: Final = ".gitignore"
_MOST_BYTES: Final = 1 << 20
_MOST_WILDCARDS: Final = 10_000  # patterns that must be tried for every path; others are looked up


class Patterns(NamedTuple):
    """Patterns as in a `.gitignore`, and the folder that paths are relative to; None: each folder that is walked."""

    lines: tuple[str, ...]
    folder: str | None = None


class _Rule(NamedTuple):
    number: int
    glob: Glob
    regex: re.Pattern[bytes]


class Rules:
    """Patterns and the folder that they apply to, with a slash at its end; the last one that matches decides."""

    def __init__(self, folder: str, globs: Sequence[Glob]) -> None:
        self.folder, self._globs = folder, globs
        self._names: dict[bytes, list[int]] = {}
        self._paths: dict[bytes, list[int]] = {}
        self._wild: list[_Rule] = []  # the last one first
        for number, glob in enumerate(globs):
            if glob.literal is None:
                self._wild.insert(0, _Rule(number, glob, re.compile(glob.regex, re.DOTALL)))
            else:
                (self._names if glob.in_every_folder else self._paths).setdefault(glob.literal, []).append(number)

    def decide(self, path: str, name: bytes, *, is_folder: bool) -> bool | None:
        """Whether a path, whose last part is `name`, is matched; None if no pattern applies: `!` stands for no match.

        The folders that it lies in are not looked at.
        """
        if not path.startswith(self.folder):
            return None
        inner = os.fsencode(path[len(self.folder) :])
        found = [*self._names.get(name, ()), *self._paths.get(inner, ())]
        last = max((number for number in found if is_folder or not self._globs[number].folders_only), default=-1)
        for number, glob, regex in self._wild:
            if number < last:
                break
            if (is_folder or not glob.folders_only) and regex.fullmatch(name if glob.in_every_folder else inner):
                return glob.ignores
        return self._globs[last].ignores if last >= 0 else None

    def includes(self, path: str) -> bool:
        """Whether the path of a file, or a folder that it lies in, is matched."""
        if not path.startswith(self.folder):
            return False
        inner = os.fsencode(path[len(self.folder) :])
        return next((ignores for regex, ignores in self._inside if regex.match(inner)), False)

    @cached_property
    def _inside(self) -> list[tuple[re.Pattern[bytes], bool]]:
        """What matches a path from its beginning to the end of a part that is matched; the last pattern first."""
        found = []
        for glob in reversed(self._globs):
            above = b"(?:[^/]*/)*" if glob.in_every_folder else b""
            regex = b"%b(?:%b)%b" % (above, glob.regex, b"/" if glob.folders_only else rb"(?:/|\Z)")
            found.append((re.compile(regex, re.DOTALL), glob.ignores))
        return found


def given_rules(patterns: Patterns, top: str) -> Rules:
    """Return the rules of given patterns; raise OptionError for a wrong one."""
    globs = []
    for line in patterns.lines:
        try:
            globs.append(glob_of(os.fsencode(line)))
        except ValueError as error:
            raise OptionError(line, "is not a pattern", hint="write it as in .gitignore: *.md, drafts/") from error
    folder = top if patterns.folder is None else patterns.folder
    return Rules(folder.rstrip("/") + "/", [glob for glob in globs if glob])


def check_patterns(lines: Sequence[str]) -> None:
    """Raise OptionError for a wrong pattern."""
    given_rules(Patterns(tuple(lines)), "/")


def rules_of_file(folder: str, *, follow_links: bool = False) -> Rules:
    """Read the `.gitignore` of a folder; lines that can match nothing are skipped, as git does.

    Raise UnreadableError if it is no file or too large, and OSError if it can't be opened.
    """
    path = folder + IGNORING
    data = read_file_bytes(path, within="", links=follow_links, most=_MOST_BYTES)
    globs = _globs(data.removeprefix(b"\xef\xbb\xbf").split(b"\n"))
    if sum(glob.literal is None for glob in globs) > _MOST_WILDCARDS:
        rule = f"has more than {_MOST_WILDCARDS:,} patterns with wildcards"
        raise UnreadableError(path_text(path), rule, hint="name folders, not each of their files")
    return Rules(folder, globs)


def _globs(lines: Iterable[bytes]) -> list[Glob]:
    globs: list[Glob] = []
    for line in reversed(dict.fromkeys(reversed(list(lines)))):  # of equal lines only the last one can decide
        with suppress(ValueError):
            glob = glob_of(line.removesuffix(b"\r"))
            globs += [glob] if glob else []
    return globs
