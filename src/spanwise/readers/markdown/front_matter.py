"""Front matter: the YAML or TOML at the top of a Markdown file, and the metadata in it."""

from __future__ import annotations

import datetime
import re
from itertools import accumulate
from typing import Any, Final

from spanwise.documents.document import LONGEST_NAME, is_iso

_OPENING: Final = re.compile(r"\A(---|\+\+\+)[ \t]*\n")
_CLOSING: Final = {
    "---": re.compile(r"\n(?:---|\.\.\.)[ \t]*(?=\n|\Z)"),
    "+++": re.compile(r"\n\+\+\+[ \t]*(?=\n|\Z)"),
}
# a file may also begin with a rule and a paragraph: only what starts like a key or a comment is front matter
_KEY: Final = re.compile(r"""(?:\#[^\n]*\n)*(?:\Z|["']?[\w.-]+(?:[ ][\w.-]+)*["']?[ \t]*(?:=|:(?:\s|\Z))|\[)""")
_DATES: Final = ("updated", "updated_at", "modified", "last_modified", "lastmod", "date", "created", "created_at")
_LABELS: Final = ("tags", "tag", "labels", "keywords")
_ALIASES: Final = ("aliases", "alias")
_KNOWN: Final = "|".join((*_DATES, *_LABELS, *_ALIASES, "title", "id", "author", "lang", "language"))
_WANTED: Final = re.compile(rf"""^["']?({_KNOWN})["']?[ \t]*[:=]""", re.MULTILINE)
_PLAIN: Final = r"[^\s\"'\[\]{}&*!|>%@`#:,~?-][^\n#:]*(?:(?::(?=[^\s:])|(?<=[^\s])#)[^\n#:]*)*"
_PLAIN_ITEM: Final = r"[^\s\"'\[\]{}&*!|>%@`#:,~?-][^\n\"'\[\]{}#:,]*"
_VALUE: Final = re.compile(
    rf"""[ \t]*(?:"([^"\\\n]+)"|'([^'\n]+)'|({_PLAIN})|\[[ \t]*({_PLAIN_ITEM}(?:,[ \t]*{_PLAIN_ITEM})*)\])?[ \t]*"""
)
_ITEM: Final = re.compile(rf"""[ \t]*-[ \t]+(?:"([^"\\\n]+)"|'([^'\n]+)'|({_PLAIN_ITEM}))[ \t]*\n""")
_FOLDED: Final = re.compile(r"[ \t]*>-?[ \t]*\n((?:[ \t]+[^\s#][^\n]*\n)+)(?=\S|\Z)")
_BEGINNING: Final = re.compile(r"[^\s-]|\Z")  # the start of the next key, or of a comment
_FLOW: Final = re.compile(r"[\[\]{}]")
_DEEPEST: Final = 32
_NESTED: Final = re.compile(rf"(?:[-?:][ \t]+){{{_DEEPEST}}}")
_NULLS: Final = frozenset({"null", "Null", "NULL", "~"})
_LARGEST: Final = 1 << 16  # characters; real front matter is shorter, and a parser would be slow


def front_matter_end(text: str) -> int:
    """Return the end of the front matter, after its closing line; 0 if there is none."""
    opening = _OPENING.match(text)
    if not opening:
        return 0
    closing = _CLOSING[opening[1]].search(text, opening.end() - 1)
    if not closing or not _KEY.match(text, opening.end(), closing.start() + 1):
        return 0
    return closing.start() + 1 + len(opening[1])


def front_matter_metadata(text: str, end: int) -> dict[str, Any]:
    """Return the metadata in front matter, under metadata field names; other known keys go to `extra`."""
    values = _parsed(text, end) if end <= _LARGEST else {}
    found: dict[str, Any] = {"title": (_text(values.get("title")) or "")[:LONGEST_NAME]}
    if len(values) > 1 or not found["title"]:  # most have a title and no other wanted key
        stamps = (_stamp(values[name]) for name in _DATES if name in values)
        labels = (label for name in _LABELS if name in values for label in _labels(values[name]))
        aliases = [alias for name in _ALIASES if name in values for alias in map(_text, _listed(values[name])) if alias]
        extra = {"id": _text(values.get("id")), "aliases": aliases}
        found |= {
            "author": _text(values.get("author")),
            "updated_at": next(filter(None, stamps), None),
            "language": _text(values.get("lang")) or _text(values.get("language")),
            "labels": tuple(dict.fromkeys(labels)),
            "extra": {name: value for name, value in extra.items() if value},
        }
    return {name: value for name, value in found.items() if value}


def _parsed(text: str, end: int) -> dict[str, Any]:
    """Return the values of front matter, at least of the wanted keys; empty if it is neither YAML nor TOML."""
    body = text[text.index("\n") + 1 : text.rindex("\n", 0, end) + 1]
    if not text.startswith("+++") and (simple := _simple(body)) is not None:
        return simple
    try:
        if text.startswith("+++"):
            import tomllib

            return tomllib.loads(body) if _WANTED.search(body) else {}
        return _from_yaml(body)
    except Exception:  # parsers raise arbitrary exceptions on invalid input
        return {}


def _from_yaml(body: str) -> dict[str, Any]:
    """Parse YAML with all scalars as strings: an invalid date must not lose the other values."""
    import yaml

    depth = list(accumulate(1 if mark in "[{" else -1 for mark in _FLOW.findall(body)))
    if max(depth, default=0) > _DEEPEST or _NESTED.search(body):  # would overflow the parser's stack
        return {}
    values = yaml.load(body, getattr(yaml, "CBaseLoader", yaml.BaseLoader))
    return values if isinstance(values, dict) else {}


def _simple(body: str) -> dict[str, Any] | None:
    """Return the wanted keys if all are plain scalars or lists of them, as most are; None if YAML must be parsed.

    Only keys and items start a line, whatever is nested elsewhere: nested lines are indented.
    """
    values: dict[str, Any] = {}
    for key in _WANTED.finditer(body):
        if (folded := _FOLDED.match(body, key.end())) and key[1] not in values:
            values[key[1]] = " ".join(folded[1].split())
            continue
        value = _VALUE.match(body, key.end())
        if value is None or not body.startswith("\n", value.end()) or key[1] in values:
            return None
        reached = value.end() + 1
        text = value[1] or value[2] or value[3]
        if text or value[4]:
            values[key[1]] = text.rstrip() if text else [item.strip() for item in value[4].split(",")]
        else:
            values[key[1]] = items = list[str]()
            while item := _ITEM.match(body, reached):
                items.append(item[1] or item[2] or item[3].rstrip())
                reached = item.end()
        if not _BEGINNING.match(body, reached) and body[reached:].split("\n", 1)[0].strip():
            return None  # the value continues in another syntax
    return values


def _text(value: Any) -> str | None:
    if isinstance(value, int) and not isinstance(value, bool):
        value = str(value) if value.bit_length() < 256 else None
    elif isinstance(value, float | datetime.date | datetime.datetime):
        value = str(value)
    return value.strip() or None if isinstance(value, str) and value not in _NULLS else None


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [] if value is None else [value]


def _labels(value: Any) -> list[str]:
    """Return the labels of a list, or of a string divided by commas or spaces; a leading `#` is dropped."""
    items = re.split(r"[,\s]+" if "," not in value else r"\s*,\s*", value) if isinstance(value, str) else _listed(value)
    return [label.lstrip("#") for label in map(_text, items) if label and label.lstrip("#")]


def _stamp(value: Any) -> str | None:
    if isinstance(value, datetime.datetime | datetime.date):
        return value.isoformat()
    return value.strip() if isinstance(value, str) and is_iso(value.strip()) else None
