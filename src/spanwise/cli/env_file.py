"""Options from a file of NAME=VALUE lines, as other systems keep theirs; the process environment is never read."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, Final

from spanwise.chunking.strategies.smart import ENDPOINT_OPTIONS
from spanwise.errors import OptionError
from spanwise.opening import read_file_bytes
from spanwise.options import OTHER_NAMES, FlagText, own_name
from spanwise.pipeline.settings import Layer, declared_options

_LINE: Final = re.compile(r"\s*(?:export\s+)?([A-Za-z_]\w*)\s*=\s*(.*?)\s*")
_QUOTED: Final = re.compile(r"""(["'])(.*?)\1\s*(?:#.*)?""")
_COMMENT: Final = re.compile(r"(?:^|\s)#.*")
_MOST_BYTES: Final = 1 << 20
_TOO_GENERAL: Final = frozenset({"MAX", "TARGET", "OVERLAP"})  # names that other programs use for something else


def env_layer(path: str) -> Layer:
    """Return the options that a file names, in capitals or not; everything else in it is meant for other programs."""
    try:
        text = read_file_bytes(Path(path), most=_MOST_BYTES).decode("utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "it is no UTF-8"
        raise OptionError(
            path, f"can't be read ({reason})", hint="--env-file names a file of NAME=VALUE lines"
        ) from error
    known = env_names()
    values: dict[str, Any] = {}
    for line in text.splitlines():
        found = _LINE.fullmatch(line)
        if found and found[1] in known:
            values[known[found[1]]] = FlagText(_value(found[2]))
    return Layer(path, values)


def env_names() -> dict[str, str]:
    """Return the names that a file may have for options, each with the option."""
    options = {name for name in declared_options() if name not in ENDPOINT_OPTIONS}
    names = {one for name in (*options, *OTHER_NAMES) for one in (name, name.upper())}
    return {name: own_name(name, options) for name in sorted(names) if name.upper() not in _TOO_GENERAL}


def _value(text: str) -> str:
    quoted = _QUOTED.fullmatch(text)
    return quoted[2] if quoted else _COMMENT.sub("", text).strip()
