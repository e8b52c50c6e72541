"""What is in force for a file: defaults, a config file, its entries for some files, and what was said on the spot.

    [tool.spanwise] in pyproject.toml, or spanwise.toml
    strategy = "structure"           # any key here holds for all files
    max_tokens = 512
    [[files]]
    glob = "notes/**"                # what follows holds for files that match, the last entry that speaks wins
    strategy = "fixed"
    [search]
    title = 0.2                      # weights of search
    [plans.premium]                  # what a plan says holds for whoever chooses it
    strategy = "smart"
    [tenants]                        # a tenant's documents are chunked by its plan
    acme = "premium"

Every value remembers where it comes from. An option that a chosen strategy doesn't have is refused, unless it was said
for another strategy further away: then it doesn't concern this one.
"""

from __future__ import annotations

import datetime
import os
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import Field, dataclass, field, fields
from functools import cache
from pathlib import Path, PurePath
from typing import Any, Final, NamedTuple

from spanwise.chunking.strategies import DEFAULT_STRATEGY, STRATEGIES, strategy_of
from spanwise.documents.document import Metadata
from spanwise.errors import OptionError, did_you_mean
from spanwise.options import check_value, options_of
from spanwise.records.dialects import DIALECTS
from spanwise.retrieval.weights import weights_of
from spanwise.sources.folder import check_patterns
from spanwise.text.tokens import TOKENIZERS, tokenizer_of

CONFIG_NAMES: Final = ("spanwise.toml", "pyproject.toml")
_DEFAULTS: Final = {"strategy": DEFAULT_STRATEGY, "tokenizer": "cl100k"}
_LISTS: Final = ("include", "exclude")
_TABLES: Final = ("files", "search", "plans", "tenants")
DEFAULT_PLANS: Final[Mapping[str, Mapping[str, Any]]] = {
    "free": {"strategy": "fixed"},
    "premium": {"strategy": "smart"},
    "enterprise": {"strategy": "hierarchical"},
}
"""The plans that there are without a config file."""


class Layer(NamedTuple):
    """Values that were said in one place."""

    origin: str
    values: Mapping[str, Any]


class Value(NamedTuple):
    """A value that is in force, and where it was said."""

    value: Any
    origin: str


@dataclass(frozen=True)
class Settings:
    """What is in force for one file."""

    strategy: str
    tokenizer: str
    options: Mapping[str, Any]  # those that were said; the strategy knows its defaults
    metadata: Mapping[str, Any]


@dataclass(frozen=True)
class Config:
    """A config file that was read: what holds for all files, and for some."""

    path: Path | None = None
    general: Mapping[str, Any] | None = None
    special: Sequence[Mapping[str, Any]] = ()
    search: Mapping[str, float] | None = None  # weights, those that were said
    plans: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)  # what it says of plans
    tenants: Mapping[str, str] = field(default_factory=dict)  # and of who has which
    chosen: Layer | None = None  # the plan that was chosen for all files

    def layers(self, file: str | None) -> list[Layer]:
        """Give what it says of a file, general first, then the plan that was chosen or that its tenant has."""
        chosen = [self.chosen] if self.chosen else []
        if self.path is None:
            return chosen
        name = _shown(self.path)
        layers = [Layer(name, self.general or {})]
        for entry in self.special if file is not None else ():
            if _matches(entry["glob"], self.path.parent, str(file)):
                layers.append(Layer(f"{name} [{entry['glob']}]", {key: entry[key] for key in entry if key != "glob"}))
        return layers + (chosen or self._tenants_plan(layers))

    def _tenants_plan(self, layers: Sequence[Layer]) -> list[Layer]:
        tenants = [layer.values["meta"]["tenant_id"] for layer in layers if "tenant_id" in layer.values.get("meta", {})]
        plan = self.tenants.get(tenants[-1]) if tenants else None
        return [plan_layer(self, plan)] if plan else []


def plans_of(config: Config) -> dict[str, Mapping[str, Any]]:
    """Give all plans: those that everybody has, and those of a config file, which may be named like them."""
    return {**DEFAULT_PLANS, **config.plans}


def plan_layer(config: Config, name: str) -> Layer:
    """Give what a plan says."""
    plans = plans_of(config)
    if name not in plans:
        hint = f"{did_you_mean(name, plans)}; [plans.{name}] in the config file would make it one"
        raise OptionError("plan", "is not known", value=name, hint=hint)
    return Layer(f"plan {name}", plans[name])


def tenants_plan(config: Config, tenant: str) -> str:
    """Give the name of a tenant's plan."""
    if tenant not in config.tenants:
        known = did_you_mean(tenant, config.tenants) if config.tenants else "there are none"
        hint = f'{known}; write {tenant} = "premium" below [tenants] in the config file'
        raise OptionError("tenant", "has no plan", value=tenant, hint=hint)
    return config.tenants[tenant]


@cache
def declared_options() -> dict[str, Field[Any]]:
    """Give the options of all strategies by name, each with one of its declarations."""
    return {item.name: item for strategy in STRATEGIES.values() for item in fields(strategy.options)}


def find_config(start: Path) -> Path | None:
    """Find the nearest config file in a folder or above it; a pyproject.toml counts if it has `[tool.spanwise]`."""
    for folder in (start, *start.parents):
        for name in CONFIG_NAMES:
            path = folder / name
            if path.is_file() and (name == CONFIG_NAMES[0] or "spanwise" in _table(_loaded(path), "tool")):
                return path
    return None


def load_config(path: Path) -> Config:
    """Read and check a config file."""
    data = _loaded(path)
    name = _shown(path)
    if path.name == CONFIG_NAMES[1]:
        data = _table(data, "tool").get("spanwise", {})
        if not isinstance(data, dict):
            raise OptionError("tool.spanwise", f"in {name} must be a table", hint="write [tool.spanwise]")
    entries = data.get("files", [])
    if not isinstance(entries, list) or not all(isinstance(entry, dict) for entry in entries):
        raise OptionError("files", f"in {name} must be tables", hint='write [[files]] and below it glob = "notes/**"')
    for entry in entries:
        if not isinstance(entry.get("glob"), str):
            raise OptionError("glob", f"in [[files]] of {name} is missing", hint='write glob = "notes/**"')
        _check_patterns([entry["glob"]], "glob", name)
    general = {key: value for key, value in data.items() if key not in _TABLES}
    config = Config(
        path,
        _checked(general, name, path.parent, ("dialect", *_LISTS)),
        [_checked(entry, name, path.parent, ("glob",)) for entry in entries],
        _checked_weights(data.get("search", {}), name),
        _checked_plans(_tables_in(data, "plans", name), name, path.parent),
        _tables_in(data, "tenants", name),
    )
    _check_tenants(config, name)
    return config


def _tables_in(data: Mapping[str, Any], key: str, name: str) -> dict[str, Any]:
    found = data.get(key, {})
    if not isinstance(found, dict):
        raise OptionError(key, f"in {name} must be a table", value=found, hint=f"write [{key}]")
    return found


def _checked_plans(plans: Mapping[str, Any], name: str, home: Path) -> dict[str, Mapping[str, Any]]:
    """Refuse a plan without a strategy, and options that its strategy doesn't have."""
    checked: dict[str, Mapping[str, Any]] = {}
    for plan, values in plans.items():
        place = f"[plans.{plan}] of {name}"
        if not isinstance(values, dict) or "strategy" not in values:
            raise OptionError("strategy", f"in {place} is missing", hint=f'write [plans.{plan}] and strategy = "fixed"')
        checked[plan] = _checked(values, place, home, ())
        settings_of(in_force([Layer(place, checked[plan])]))
    return checked


def _check_tenants(config: Config, name: str) -> None:
    for tenant, plan in config.tenants.items():
        if not isinstance(plan, str) or plan not in plans_of(config):
            hint = did_you_mean(str(plan), plans_of(config))
            raise OptionError(tenant, f"in [tenants] of {name} must be the name of a plan", value=plan, hint=hint)


def in_force(layers: Iterable[Layer]) -> dict[str, Value]:
    """Say what is in force, and where each value was said; the later layer wins, metadata are put together."""
    stack = [Layer("default", _DEFAULTS), *layers]
    chosen = max(place for place, layer in enumerate(stack) if "strategy" in layer.values)
    strategy = strategy_of(stack[chosen].values["strategy"])
    known = {item.name for item in fields(strategy.options)}
    said: dict[str, Value] = {}
    for place, layer in enumerate(stack):
        for name, value in layer.values.items():
            if name == "meta":
                said |= {f"meta.{key}": Value(word, layer.origin) for key, word in value.items()}
            elif name in _DEFAULTS or name in _LISTS or name == "dialect" or name in known:
                said[name] = Value(value, layer.origin)
            elif place >= chosen:
                owners = ", ".join(sorted(key for key, one in STRATEGIES.items() if _has(one.options, name)))
                rule = f"({layer.origin}) is not an option of the strategy {strategy.name}"
                raise OptionError(name, rule, hint=f"it is one of {owners}" if owners else did_you_mean(name, known))
    return said


def settings_from(
    strategy: str | None,
    tokenizer: str | os.PathLike[str],
    options: Mapping[str, Any],
    metadata: Mapping[str, Any] | None = None,
) -> Settings:
    """Return settings for all documents of a call; raise OptionError for an option that the strategy doesn't have."""
    name = DEFAULT_STRATEGY if strategy is None else strategy
    options_of(strategy_of(name).options, options)
    chosen = os.fspath(tokenizer)
    if chosen not in TOKENIZERS:
        tokenizer_of(chosen)  # a wrong file is reported once, not for every document
    return Settings(name, chosen, dict(options), dict(metadata or {}))


def settings_of(said: Mapping[str, Value]) -> Settings:
    """Take out what reading and chunking a file needs, and check the options together."""
    strategy = said["strategy"].value
    names = [name for name in said if name in declared_options()]
    options = {name: said[name].value for name in names}
    options_of(strategy_of(strategy).options, options)
    metadata = {key[5:]: value.value for key, value in said.items() if key.startswith("meta.")}
    return Settings(strategy, said["tokenizer"].value, options, metadata)


def _loaded(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8-sig"))
    except (OSError, UnicodeDecodeError) as error:
        rule = f"can't be opened ({getattr(error, 'strerror', None) or error})"
        raise OptionError(_shown(path), rule) from error
    except tomllib.TOMLDecodeError as error:
        raise OptionError(_shown(path), f"is not TOML ({error})") from error


def _table(data: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    """Give a table; what is none has nothing in it."""
    found = data.get(name)
    return found if isinstance(found, dict) else {}


def _checked(values: dict[str, Any], name: str, home: Path, more: Sequence[str]) -> dict[str, Any]:
    """Refuse keys that mean nothing and values of the wrong kind; a tokenizer's path is seen from the config file."""
    keys = {*_DEFAULTS, "meta", *more, *declared_options()}
    for key in values:
        if key not in keys:
            raise OptionError(key, f"in {name} is not a setting", hint=did_you_mean(key, keys))
    for key, value in values.items():
        _check_shape(key, value, name)
        try:
            _check_setting(key, value)
        except OptionError as error:
            hint = f"{name} says it; {error.hint}" if error.hint else f"{name} says it"
            raise OptionError(error.subject, error.rule, value=error.value, hint=hint) from error
    found = values | ({"meta": _metadata(values["meta"])} if "meta" in values else {})
    tokenizer = values.get("tokenizer")
    if isinstance(tokenizer, str) and tokenizer not in TOKENIZERS:
        found["tokenizer"] = (home / tokenizer).as_posix()
    return found


def _checked_weights(values: Any, name: str) -> Mapping[str, float]:
    """Refuse weights of search that mean nothing."""
    if not isinstance(values, dict):
        raise OptionError("search", f"in {name} must be a table", value=values, hint="write [search]")
    try:
        weights_of(values)
    except OptionError as error:
        hint = f"[search] in {name} says it; {error.hint}"
        raise OptionError(error.subject, error.rule, value=error.value, hint=hint) from error
    return values


def _check_shape(key: str, value: Any, name: str) -> None:
    if key in _LISTS and not (isinstance(value, list) and all(isinstance(item, str) for item in value)):
        raise OptionError(key, f"in {name} must be a list of patterns", value=value, hint='try ["*.md"]')
    if key == "meta" and not isinstance(value, dict):
        raise OptionError(key, f"in {name} must be a table", value=value, hint='try meta = {tenant_id = "acme"}')


def _check_setting(key: str, value: Any) -> None:
    if key in declared_options():
        check_value(declared_options()[key], value)
    elif key == "strategy":
        strategy_of(value)
    elif key in _LISTS:
        check_patterns(value)
    elif key == "dialect" and (not isinstance(value, str) or value not in DIALECTS):
        raise OptionError(key, "is not known", value=value, hint=did_you_mean(str(value), DIALECTS))
    elif key == "tokenizer" and not isinstance(value, str):
        raise OptionError(key, "must be a name or a path", value=value)
    elif key == "meta":
        check_metadata(_metadata(value))


def _metadata(values: Mapping[str, Any]) -> dict[str, Any]:
    """Give metadata in words: TOML knows dates, a record doesn't."""
    dates = (datetime.date, datetime.time)
    return {key: value.isoformat() if isinstance(value, dates) else value for key, value in values.items()}


def with_extra(values: Mapping[str, Any]) -> dict[str, Any]:
    """Put metadata that are no field of a document among its `extra`."""
    names = set(Metadata.__dataclass_fields__)
    extra = {name: value for name, value in values.items() if name not in names}
    return {name: value for name, value in values.items() if name in names} | ({"extra": extra} if extra else {})


def check_metadata(values: Mapping[str, Any]) -> None:
    """Refuse metadata that no document can have, or that no record could say."""
    import orjson

    metadata = with_extra(values)
    Metadata.of({**metadata, "document_id": metadata.get("document_id", "x")})
    for name, value in values.items():
        try:
            orjson.dumps({name: value})
        except TypeError as error:
            raise OptionError(name, f"can't be said in JSON ({error})", value=value) from error


def _check_patterns(lines: list[str], key: str, name: str) -> None:
    try:
        check_patterns(lines)
    except OptionError as error:
        raise OptionError(key, f"in {name} is not a pattern", value=error.subject, hint=error.hint) from error


def _has(options: type, name: str) -> bool:
    return any(item.name == name for item in fields(options))


def _matches(pattern: str, home: Path, file: str) -> bool:
    import pathspec

    path = PurePath(os.path.relpath(Path(file).absolute(), home)).as_posix()
    return not path.startswith("../") and _pattern(pattern, pathspec.GitIgnoreSpec).match_file(path)


@cache
def _pattern(pattern: str, kind: Any) -> Any:
    return kind.from_lines([pattern])


def _shown(path: Path) -> str:
    """Name a config file as briefly as can be."""
    try:
        return path.relative_to(Path.cwd()).as_posix()
    except ValueError:
        return path.as_posix()
