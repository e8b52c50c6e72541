"""Options, declared once as fields of a frozen dataclass; the library, command line and checks read the same fields."""

from __future__ import annotations

import itertools
import re
import sys
from collections.abc import Container, Hashable, Mapping
from dataclasses import Field, dataclass, field, fields
from functools import lru_cache
from typing import Any, Final, TypeVar

from spanwise.errors import NO_VALUE, OptionError, did_you_mean

SMALLEST_LIMIT: Final = 16
OTHER_NAMES: Final[Mapping[str, str]] = {
    "CHUNK_OVERLAP": "overlap_tokens",
    "enable_smart_edge_allocation": "smart",
    "max": "max_tokens",
    "MAX_TOKENS_PER_CHUNK": "max_tokens",
    "MIN_TOKENS_PER_CHUNK": "min_tokens",
    "overlap": "overlap_tokens",
    "strict_heading_split": "strict",
    "target": "target_tokens",
    "TARGET_TOKENS_PER_CHUNK": "target_tokens",
}
"""Names that other systems have for options; all names are known in capitals as well."""
DEPENDING: Final = frozenset({"overlap"})
"""Other names that a strategy may ignore: flags and files keep them as they are until the strategy is known."""
_RANGE: Final = re.compile(r"\(?\s*(\d+)\s*,\s*(\d+)\s*\)?", re.ASCII)
_BY_LOWER: Final = {name.lower(): own for name, own in OTHER_NAMES.items()}
_SIZES: Final = ("min_tokens", "target_tokens", "max_tokens", "parent_tokens")
_COUNTED: Final = frozenset({*_SIZES, "core_tokens", "overlap_tokens", "overlap_next_tokens"})
_NO_LIMIT: Final = sys.maxsize
TEMPLATES: Final = ("plain", "tags", "breadcrumb", "path")
EMBEDS: Final = ("source", "plain")
TEMPLATE_HELP: Final = "what stands before the text for the embedder"
EMBED_HELP: Final = "the text for the embedder: the source, or plain as a page shows it"
_JSON_TYPES: Final = {int: "integer", float: "number", bool: "boolean", str: "string"}


def option(
    default: Any,
    help: str,
    *,
    low: float | None = None,
    high: float | None = None,
    choices: tuple[str, ...] = (),
    kind: type | None = None,
    secret: bool = False,
) -> Any:
    """Declare an option: its default, its help text, and its valid values; `kind` only where the default is None.

    A `secret` is never printed, and is no flag of the command line, where others could see it.
    """
    found = kind or type(default)
    if found not in _JSON_TYPES:
        rule = "of an option must be an integer, a number, True or False, or a string"
        raise OptionError("default", rule, value=default, hint="where it is None, say the type: kind=int")
    rules = {"help": help, "low": low, "high": high, "choices": tuple(choices), "kind": found}
    return field(default=default, repr=not secret, metadata={**rules, "secret": secret})


@dataclass(frozen=True, kw_only=True, slots=True)
class Options:
    """The options of every strategy; a subclass adds its own, each declared by `option`."""

    ignored = frozenset[str]()
    """Names that are accepted and change nothing, because the system that has them does nothing with them either."""

    max_tokens: int | None = option(None, "hard limit of a chunk, everything counted", low=SMALLEST_LIMIT, kind=int)
    template: str = option("plain", TEMPLATE_HELP, choices=TEMPLATES)
    embed: str = option("source", EMBED_HELP, choices=EMBEDS)
    max_heading_levels: int = option(2, "how many headings the template `tags` names", low=1, high=6)


Chosen = TypeVar("Chosen", bound=Options)


def own_name(name: str, known: Container[str]) -> str:
    """Return the name of an option, whatever another system calls it; a name that is not known stays as it is."""
    if name in known:
        return name
    lower = name.lower() if name.isupper() else name
    found = _BY_LOWER.get(lower, lower)
    return found if found in known else name


def other_names(name: str) -> list[str]:
    """Return the names that other systems have for an option."""
    return [other for other, own in OTHER_NAMES.items() if own == name]


def own_value(name: str, value: Any) -> Any:
    """Return the value of an option; of an `overlap` from one size to another, the middle."""
    if name.lower() not in {"overlap", "chunk_overlap"}:
        return value
    if isinstance(value, FlagText) and (typed_range := _RANGE.fullmatch(value)):
        return (int(typed_range[1]) + int(typed_range[2])) // 2
    if isinstance(value, list | tuple) and len(value) == 2:
        low, high = value
        if type(low) is int and type(high) is int:
            return (low + high) // 2
    return value


def with_own_names(given: Mapping[str, Any], known: Container[str], ignored: Container[str] = ()) -> dict[str, Any]:
    """Return options under their own names, without those that are `ignored`; raise OptionError for one given twice."""
    found: dict[str, Any] = {}
    for name, value in given.items():
        own = own_name(name, known)
        if own in found:
            raise OptionError(own, "is given twice, under two names", value=value)
        if own not in ignored or own in known:
            found[own] = own_value(name, value)
    return found


def declared(kind: type[Chosen]) -> type[Chosen]:
    """Return a class of options whose fields are declared: a plain subclass of `Options` is made a dataclass first.

    Raise OptionError for a field that is not declared by `option`, or has a default that it would refuse.
    """
    if "__dataclass_fields__" not in vars(kind):
        dataclass(frozen=True, kw_only=True)(kind)
    for item in fields(kind):
        if "kind" not in item.metadata:
            rule = "must be declared by `option`"
            raise OptionError(item.name, rule, hint=f'{item.name}: int = spanwise.option(40, "what it does", low=1)')
        if item.name in _COUNTED and item.metadata["kind"] is not int:
            raise OptionError(item.name, "must be an integer, as in all strategies", hint="give it another name")
        try:
            check_value(item, item.default)
        except OptionError as error:
            raise OptionError(item.name, f"{error.rule}, its default too", value=item.default) from None
    return kind


def options_of(kind: type[Chosen], given: Mapping[str, Any]) -> Chosen:
    """Check the given options, and adapt the defaults to them; cached, because thousands of documents share them."""
    if not given.keys() <= kind.__dataclass_fields__.keys():
        given = with_own_names(given, kind.__dataclass_fields__, kind.ignored)
    key: Hashable = (kind, tuple([(name, type(value), value) for name, value in given.items()]))
    try:
        known: Chosen = _known(key)
    except TypeError:  # an unhashable value is of the wrong type: raise the same error as for any other
        return _checked(kind, given)
    return known


@lru_cache(maxsize=64)
def _known(key: Any) -> Any:
    kind, given = key
    return _checked(kind, {name: value for name, _, value in given})


def _checked(kind: type[Chosen], given: Mapping[str, Any]) -> Chosen:
    declared = {item.name: item for item in fields(kind)}
    for name, value in given.items():
        if name not in declared:
            raise OptionError(name, "is not an option of this strategy", hint=did_you_mean(name, declared))
        check_value(declared[name], value)
    return kind(**{**given, **_adapted_sizes(declared, given)})


def check_value(item: Field[Any], value: Any) -> None:
    """Raise OptionError if a value is of the wrong type or size for an option."""
    rules = item.metadata
    wanted = rules["kind"]
    if value is None and item.default is None:
        return
    accepted = (int, float) if wanted is float else (wanted,)
    if type(value) not in accepted:
        names = {int: "an integer", float: "a number", bool: "True or False", str: "a string"}
        wrong = NO_VALUE if rules["secret"] else value
        raise OptionError(item.name, f"must be {names[wanted]}", value=wrong, hint=f"the default is {item.default!r}")
    if rules["choices"] and value not in rules["choices"]:
        rule = f"must be one of {', '.join(rules['choices'])}"
        raise OptionError(item.name, rule, value=value, hint=did_you_mean(value, rules["choices"]))
    low, high = rules["low"], rules["high"]
    if (low is not None and not value >= low) or (high is not None and not value <= high):
        between = f"between {low} and {high}" if high is not None else f"at least {low}"
        raise OptionError(item.name, f"must be {between}", value=value, hint=f"the default is {item.default!r}")


def _adapted_sizes(declared: Mapping[str, Field[Any]], given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the default sizes adapted to the given ones; raise OptionError if those contradict each other."""
    _check_order(given)
    default: dict[str, Any] = {name: item.default for name, item in declared.items()}
    sizes: dict[str, Any] = {}
    if "target_tokens" in declared:
        low, goal, most, parent = (given.get(name) for name in _SIZES)
        if most is None:
            unset = default["max_tokens"] or _NO_LIMIT
            most = max(min(unset, parent or unset), low or 0, goal or 0)
        goal = goal if goal is not None else max(min(default["target_tokens"] or most, most), low or 0)
        low = low if low is not None else min(default.get("min_tokens") or 0, goal)
        parent = parent if parent is not None else max(default.get("parent_tokens") or 0, most)
        fitted = zip(_SIZES, (low, goal, most, parent), strict=True)
        sizes = {name: None if size == _NO_LIMIT else size for name, size in fitted if name in declared}
    if "overlap_tokens" in declared:
        most = sizes.get("max_tokens") or given.get("max_tokens") or default["max_tokens"] or _NO_LIMIT
        _check_limit(given, most)
        overlap = given.get("overlap_tokens")
        sizes["overlap_tokens"] = overlap if overlap is not None else min(default["overlap_tokens"] or 0, most // 2)
    return sizes


def _check_limit(given: Mapping[str, Any], most: int) -> None:
    """Raise OptionError for an overlap above half of the limit, or a core above all of it."""
    half = most // 2
    for name in ("overlap_tokens", "overlap_next_tokens"):
        if (given.get(name) or 0) > half:
            rule = f"must be between 0 and half of `max_tokens` ({half})"
            raise OptionError(name, rule, value=given[name], hint=f"try {half // 4}")
    if (given.get("core_tokens") or 0) > most:
        raise OptionError("core_tokens", f"must be at most `max_tokens` ({most})", value=given["core_tokens"],
                          hint=f"try {max(half // 2, SMALLEST_LIMIT)}")  # fmt: skip


def _check_order(given: Mapping[str, Any]) -> None:
    ordered = [name for name in _SIZES if given.get(name) is not None]
    for smaller, larger in itertools.pairwise(ordered):
        if given[smaller] > given[larger]:
            rule = f"must be at most `{larger}` ({given[larger]})"
            raise OptionError(smaller, rule, value=given[smaller], hint=f"try {given[larger]}")


def options_schema(options: type[Options]) -> dict[str, Any]:
    """Return the properties of a JSON Schema for options: for each its type, default, description and valid values."""
    return {item.name: _property(item) for item in fields(options)}


def _property(item: Field[Any]) -> dict[str, Any]:
    rules = item.metadata
    kind = _JSON_TYPES[rules["kind"]]
    found = {
        "type": [kind, "null"] if item.default is None else kind, "default": item.default,
        "description": rules["help"], "minimum": rules["low"], "maximum": rules["high"],
        "enum": list(rules["choices"]) or None,
    }  # fmt: skip
    return {key: value for key, value in found.items() if value is not None or key == "default"}


class FlagText(str):
    """The value of a flag as it was typed; what it means depends on the strategy that is chosen."""

    __slots__ = ()


_SWITCH: Final = {
    "on": True, "true": True, "yes": True, "1": True, "off": False, "false": False, "no": False, "0": False,
}  # fmt: skip


def typed(item: Field[Any], value: Any) -> Any:
    """Return the value of an option; one that was typed is converted to the option's type."""
    if not isinstance(value, FlagText):
        return value
    kind, text = item.metadata["kind"], str(value)
    try:
        return _SWITCH[text.lower()] if kind is bool else kind(text)
    except (KeyError, ValueError):
        return text  # checking it raises the error that names the type


def switched(text: str) -> bool | None:
    """Return what a text says of a switch; None if it says neither on nor off."""
    return _SWITCH.get(text.lower())


def value_text(value: Any) -> str:
    """Return the value of an option as people write it."""
    if isinstance(value, bool):
        return "on" if value else "off"
    return "none" if value is None else str(value)
