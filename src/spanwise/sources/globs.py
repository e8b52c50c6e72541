"""Patterns of a `.gitignore` as regular expressions that match as git does, in time linear in the path.

git matches bytes: `?` is one byte. Only the last `*` of a part of the path, and the last `**` of the pattern, may have
to try again: those before take as little as they can, and what follows takes the rest.
"""

from __future__ import annotations

import re
import string
from functools import lru_cache
from typing import Final, NamedTuple

_LONGEST: Final = 4_096  # bytes of a pattern; no path that can be opened is longer
_SPECIAL: Final = re.compile(rb"[*?\[\\]")
_SLASH: Final = ord("/")
_RANGE: Final = re.compile(rb"-[^\]]", re.DOTALL)
_NAMED: Final = re.compile(rb"\[:([^\]]*):\]")
_CLASSES: Final = {
    b"alnum": string.ascii_letters + string.digits, b"alpha": string.ascii_letters, b"blank": " \t",
    b"cntrl": "".join(map(chr, (*range(32), 127))), b"digit": string.digits, b"lower": string.ascii_lowercase,
    b"graph": "".join(map(chr, range(33, 127))), b"print": "".join(map(chr, range(32, 127))),
    b"punct": string.punctuation, b"space": " \t\n\r", b"upper": string.ascii_uppercase, b"xdigit": string.hexdigits,
}  # fmt: skip


class Glob(NamedTuple):
    """A line of a `.gitignore`; its `regex` matches names if it holds in every folder, else paths."""

    literal: bytes | None
    """What it matches, if it has no wildcards."""
    regex: bytes
    ignores: bool
    folders_only: bool
    in_every_folder: bool


@lru_cache(maxsize=10_000)  # many folders have the same lines
def glob_of(line: bytes) -> Glob | None:
    """Return the pattern of a line; None for a comment. Raise ValueError for one that can match nothing."""
    if len(line) > _LONGEST:
        raise ValueError("it is longer than any path")
    if not line or line.startswith(b"#"):
        return None
    line = _trimmed(line.partition(b"\0")[0])
    ignores, line = not line.startswith(b"!"), line.removeprefix(b"!")
    folders_only, line = line.endswith(b"/"), line.removesuffix(b"/")
    is_name, line = b"/" not in line, line.removeprefix(b"/")
    if not line:
        raise ValueError("it has no name")
    special = _SPECIAL.search(line)
    if special is None:
        return Glob(line, re.escape(line), ignores, folders_only, is_name)
    plain, rest = line[: special.start()], line[special.start() :]  # git looks for `**` in the rest alone
    parts = _parts(rest)
    regex = _part_regex(parts[0].items) if is_name else _path_regex(parts)
    return Glob(None, re.escape(plain) + regex, ignores, folders_only, is_name)


def _trimmed(line: bytes) -> bytes:
    """Return a line without the spaces at its end; an escaped one stays."""
    bare = line.rstrip(b" ")
    is_escaped = (len(bare) - len(bare.rstrip(b"\\"))) % 2 == 1
    return bare + b" " if is_escaped and len(line) > len(bare) else bare


class _Part(NamedTuple):
    """What stands between two slashes: regular expressions of one byte each, None for a run of `*`."""

    items: list[bytes | None]
    is_folders: bool
    """Whether it is `**`: any number of folders, or all that is below."""
    slash_is_escaped: bool = False
    """Whether `\\/` ends it: after `**` at least one folder is meant then."""


def _parts(pattern: bytes) -> list[_Part]:
    """Divide a pattern at its slashes; those in brackets are none."""
    parts: list[_Part] = []
    items: list[bytes | None] = []
    index, begun = 0, 0
    while index < len(pattern):
        sign, start = pattern[index : index + 1], index
        index += 1
        if sign == b"*":
            while pattern[index : index + 1] == b"*":
                index += 1
            items.append(None)
        elif sign == b"?":
            items.append(b"[^/]")
        elif sign == b"[":
            found, index = _bracket(pattern, index)
            items.append(_any_of(found))
        elif sign == b"/" or pattern[start : start + 2] == b"\\/":
            index = start + 1 + (sign != b"/")
            parts.append(_Part(items, items == [None] and start - begun > 1, sign != b"/"))
            items, begun = [], index
        else:
            index += sign == b"\\"
            if index > len(pattern):
                raise ValueError("a backslash ends it")
            items.append(re.escape(pattern[index - 1 : index]))
    return [*parts, _Part(items, items == [None] and index - begun > 1)]


def _bracket(pattern: bytes, index: int) -> tuple[set[int], int]:
    """Return the bytes that a bracket matches, and the index after it; raise ValueError if it doesn't end."""
    negated = pattern[index : index + 1] in {b"!", b"^"}
    index += negated
    found: set[int] = set()
    before, first = -1, True
    while first or pattern[index : index + 1] != b"]":
        first = False
        if named := _NAMED.match(pattern, index):
            if named[1] not in _CLASSES:
                raise ValueError(f"[:{named[1].decode(errors='replace')}:] is not known")
            found.update(_CLASSES[named[1]].encode())
            before, index = -1, named.end()
            continue
        is_range = before >= 0 and _RANGE.match(pattern, index) is not None
        byte, index = _byte(pattern, index + is_range)
        found.update(range(before, byte + 1) if is_range else [byte])
        before = -1 if is_range else byte
    return (set(range(256)) - found if negated else found) - {_SLASH}, index + 1


def _byte(pattern: bytes, index: int) -> tuple[int, int]:
    """Return a byte, which may be escaped, and the index after it."""
    index += pattern[index : index + 1] == b"\\"
    if index >= len(pattern):
        raise ValueError("a bracket isn't closed")
    return pattern[index], index + 1


def _any_of(found: set[int]) -> bytes:
    others = found if len(found) < 128 else set(range(256)) - found
    listed = b"".join(b"\\x%02x" % byte for byte in sorted(others))
    return b"[%b%b]" % (b"" if others is found else b"^", listed) if found else b"(?!)"


def _part_regex(items: list[bytes | None]) -> bytes:
    """Return what matches a part of a path, to its end."""
    runs = [b""]
    for item in items:
        if item is None:
            runs.append(b"")
        else:
            runs[-1] += item
    first, *others = runs
    regex = first + b"".join(b"(?>[^/]*?%b)" % run for run in others[:-1])
    return regex + (b"[^/]*" + others[-1] if others else b"") + b"(?![^/])"


def _path_regex(parts: list[_Part]) -> bytes:
    """Return what matches a path, to the end of one of its parts."""
    groups: list[bytes] = [b""]  # what stands between two `**`
    folders: list[bytes] = []
    for number, part in enumerate(parts, 1):
        is_last = number == len(parts)
        if part.is_folders:
            folders.append(b".*" if is_last else b"(?:[^/]*/)+" if part.slash_is_escaped else b"(?:[^/]*/)*")
            groups.append(b"")
        else:
            groups[-1] += _part_regex(part.items) + (b"" if is_last else b"/")
    first, *others = groups
    early = (b"(?>%b?%b)" % pair for pair in zip(folders[:-1], others[:-1], strict=True))
    return b"".join([first, *early, *folders[-1:], *others[-1:]])
