"""Which files of a folder are documents: every one that a reader knows, but for those that are ignored.

What is passed over is counted with its reason, so that nothing goes missing in silence.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Final, NamedTuple

from spanwise.errors import UnreadableError

if TYPE_CHECKING:
    import pathspec

_IGNORING: Final = ".gitignore"
_NEVER_MEANT: Final = frozenset({".git/", _IGNORING})


@dataclass
class Found:
    """The files that were found, in order; how many were passed over for which reason; folders that can't be read."""

    files: list[str] = field(default_factory=list)
    passed_over: Counter[str] = field(default_factory=Counter)
    failed: list[UnreadableError] = field(default_factory=list)


class _Rules(NamedTuple):
    """Patterns, and how a path below the walked folder reads from where they are written."""

    patterns: pathspec.GitIgnoreSpec
    above: str = ""  # what lies between the place of the patterns and the walked folder
    below: int = 0  # how many characters of the path lie above the place of the patterns

    def decides(self, path: str) -> bool | None:
        """Whether a path is matched, expressly not matched, or not spoken of."""
        return self.patterns.check_file(self.above + path[self.below :]).include


def find_files(
    paths: Iterable[str], *, known: Callable[[str], bool], include: Sequence[str] = (), exclude: Sequence[str] = ()
) -> Found:
    """Find the files that are meant; those named one by one are always taken, each once, in the order of their names.

    A folder is walked to the bottom; hidden files and those that a `.gitignore` names are passed over. `include` and
    `exclude` are patterns like those of `.gitignore`.
    """
    found, wanted, unwanted = Found(), _rules(include), _rules(exclude)
    seen: dict[str, str] = {}
    for path in paths:
        name = PurePath(os.path.normpath(path)).as_posix()  # `./docs` and `docs` give the same ids
        if Path(name).is_dir():
            for file in _walked(name, unwanted, found):
                if wanted and not wanted.decides(file):
                    found.passed_over["not included"] += 1
                elif not known(file):
                    found.passed_over[f"no reader for {PurePath(file).suffix}"] += 1
                else:
                    whole = file if name == "." else f"{name.rstrip('/')}/{file}"
                    seen.setdefault(os.path.realpath(whole), whole)
        elif os.path.lexists(name):
            seen.setdefault(os.path.realpath(name), name)
        else:
            raise UnreadableError(path, "does not exist", hint="give files, folders, or - for what is piped in")
    found.files, found.passed_over = sorted(seen.values()), +found.passed_over
    return found


def _walked(top: str, unwanted: _Rules | None, found: Found) -> Iterator[str]:
    """Give the files below a folder, by their paths from there; a `.gitignore` holds for what lies below it."""
    rules_of: dict[str, list[_Rules]] = {"": _rules_above(top)}
    prefix = len(top.rstrip("/")) + 1

    def failed(error: OSError) -> None:
        name = PurePath(str(error.filename)).as_posix()
        found.failed.append(UnreadableError(name, f"can't be opened ({error.strerror})"))

    for folder, folders, files in os.walk(top, onerror=failed):
        here = PurePath(folder[prefix:]).as_posix() + "/" if len(folder) > prefix else ""
        rules = rules_of.pop(here)
        if _IGNORING in files and (more := _rules_in(Path(folder, _IGNORING), below=len(here))):
            rules = [*rules, more]
        folders[:] = sorted(name for name in folders if _stays(here, name + "/", rules, unwanted, found.passed_over))
        linked = [name for name in folders if Path(folder, name).is_symlink()]
        found.passed_over["linked folder"] += len(linked)
        rules_of |= {f"{here}{name}/": rules for name in folders if name not in linked}
        yield from (here + name for name in sorted(files) if _stays(here, name, rules, unwanted, found.passed_over))


def _stays(here: str, name: str, rules: list[_Rules], unwanted: _Rules | None, passed_over: Counter[str]) -> bool:
    if name.startswith("."):
        passed_over["hidden"] += name not in _NEVER_MEANT
        return False
    if unwanted and unwanted.decides(here + name):
        passed_over["excluded"] += 1
        return False
    decisions = (rule.decides(here + name) for rule in reversed(rules))  # the nearest that speaks of it decides
    if next((decision for decision in decisions if decision is not None), False):
        passed_over["ignored by .gitignore"] += 1
        return False
    return True


def _rules(lines: Sequence[str], above: str = "", below: int = 0) -> _Rules | None:
    if not lines:
        return None
    import pathspec

    return _Rules(pathspec.GitIgnoreSpec.from_lines(lines), above, below)


def _rules_in(path: Path, above: str = "", below: int = 0) -> _Rules | None:
    try:
        lines = path.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:  # not there, or no permission: then it says nothing
        return None
    return _rules(lines, above, below)


def _rules_above(top: str) -> list[_Rules]:
    """Read the `.gitignore` files above a folder, up to the root of its repository, outermost first."""
    inside = Path(top).resolve()
    rules: list[_Rules] = []
    for folder in inside.parents if not (inside / ".git").exists() else ():
        above = inside.relative_to(folder).as_posix() + "/"
        if found := _rules_in(folder / _IGNORING, above):
            rules.append(found)
        if (folder / ".git").exists():
            return rules[::-1]
    return []  # no repository: what lies above has no say
