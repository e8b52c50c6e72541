"""Settings in force for a file: defaults, a config file, its entries for some files, and what the call gives.

    [tool.spanwise] in pyproject.toml, or spanwise.toml
    strategy = "structure"           # any key here holds for all files
    store = "docs.db"                # relative to the config file; postgresql://... as well
    max_tokens = 512
    [[files]]
    glob = "notes/**"                # what follows holds for files that match; the last entry with a key wins
    strategy = "fixed"
    [search]
    title = 0.2                      # weights of search
    reranker = "cohere:rerank-v3.5"  # scores the best chunks again
    [plans.premium]                  # the settings of a plan hold for those who choose it
    strategy = "smart"
    [tenants]                        # a tenant's documents are chunked by its plan
    acme = "premium"

Every value has its origin. An option that the chosen strategy doesn't have is refused, unless it is given in a layer
below the one that chose the strategy: there it is meant for another strategy.
"""

from __future__ import annotations

import datetime
import os
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from contextlib import contextmanager
from dataclasses import Field, dataclass, field, fields
from functools import cache
from pathlib import Path, PurePath
from typing import Any, Final, NamedTuple

from spanwise.chunking.proposers import check_proposer
from spanwise.chunking.strategies import (
    DEFAULT_STRATEGY,
    FORMAT_STRATEGIES,
    STRATEGIES,
    default_strategy,
    own_strategy_name,
    plugin_strategies,
    strategy_of,
)
from spanwise.chunking.strategy import Strategy, StrategyLike
from spanwise.documents.document import Document, Metadata
from spanwise.errors import OptionError, did_you_mean
from spanwise.opening import read_file_bytes
from spanwise.options import DEPENDING, check_value, options_of, own_name, own_value, typed, with_own_names
from spanwise.records.dialects import DIALECTS
from spanwise.retrieval.reranked import RERANK_SETTINGS, check_rerank_settings
from spanwise.retrieval.weights import weights_of
from spanwise.sources.ignoring import Patterns, Rules, check_patterns, given_rules
from spanwise.text.tokens import Tokenizer, built_in, is_plugin, tokenizer_of

CONFIG_NAMES: Final = ("spanwise.toml", "pyproject.toml")
_DEFAULTS: Final = {"strategy": DEFAULT_STRATEGY, "tokenizer": "cl100k"}
_BY_DEFAULT: Final = "default"  # the origin of what nobody chose
_LISTS: Final = ("include", "exclude")
_MOST_BYTES: Final = 1 << 20  # of a config file
_OF_COMMANDS: Final = ("dialect", "store", "proposer")  # settings of a whole run
_TABLES: Final = ("files", "search", "plans", "tenants")
DEFAULT_PLANS: Final[Mapping[str, Mapping[str, Any]]] = {
    "free": {"strategy": "fixed"},
    "premium": {"strategy": "smart"},
    "enterprise": {"strategy": "hierarchical"},
}
"""The plans without a config file."""


class Layer(NamedTuple):
    """Values from one origin."""

    origin: str
    values: Mapping[str, Any]


class Value(NamedTuple):
    """A value in force, and its origin."""

    value: Any
    origin: str


@dataclass(frozen=True)
class Settings:
    """The settings in force for one file."""

    strategy: str | Strategy
    tokenizer: str | Tokenizer
    options: Mapping[str, Any] = field(repr=False)  # those that were given; the strategy has the defaults
    metadata: Mapping[str, Any]
    proposer: Any = None  # a name, or what answers in place of the endpoint
    by_format: bool = False  # no strategy was chosen: a document has the default one of its format

    @property
    def strategy_name(self) -> str:
        """The name of the strategy, as records have it."""
        return self.strategy if isinstance(self.strategy, str) else self.strategy.name

    def chunking(self, document: Document) -> tuple[str | Strategy, Mapping[str, Any]]:
        """Return the strategy of a document with its options.

        Where its format decides, options of the default strategy that this one doesn't have are for other documents.
        """
        own = default_strategy(document.metadata.source_type) if self.by_format else self.strategy
        if own == self.strategy:
            return own, self.options
        for_others = _option_names(self.strategy) - _option_names(own)
        return own, {name: value for name, value in self.options.items() if name not in for_others}


def _option_names(strategy: str | Strategy) -> Set[str]:
    return strategy_of(strategy).options.__dataclass_fields__.keys()


@dataclass(frozen=True)
class Config:
    """A config file: what holds for all files, and for some."""

    path: Path | None = None
    general: Mapping[str, Any] | None = None
    special: Sequence[Mapping[str, Any]] = ()
    search: Mapping[str, Any] | None = None  # weights and what is said of reranking, those that are set
    plans: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)  # settings by plan
    tenants: Mapping[str, str] = field(default_factory=dict)  # plan by tenant
    chosen: Layer | None = None  # the plan that was chosen for all files

    def layers(self, file: str | None) -> list[Layer]:
        """Return the layers for a file: general first, last the plan that was chosen or that its tenant has."""
        chosen = [self.chosen] if self.chosen else []
        if self.path is None:
            return chosen
        name = _short(self.path)
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
    """Return all plans: the default ones, overridden by those of a config file."""
    return {**DEFAULT_PLANS, **config.plans}


def plan_layer(config: Config, name: str) -> Layer:
    """Return the settings of a plan as a layer."""
    plans = plans_of(config)
    name = name.lower() if name not in plans and name.lower() in DEFAULT_PLANS else name
    if name not in plans:
        hint = f"{did_you_mean(name, plans)}; [plans.{name}] in the config file would make it one"
        raise OptionError("plan", "is not known", value=name, hint=hint)
    return Layer(f"plan {name}", plans[name])


def tenants_plan(config: Config, tenant: str) -> str:
    """Return the name of a tenant's plan."""
    if tenant not in config.tenants:
        known = did_you_mean(tenant, config.tenants) if config.tenants else "there are none"
        hint = f'{known}; write {tenant} = "premium" below [tenants] in the config file'
        raise OptionError("tenant", "has no plan", value=tenant, hint=hint)
    return config.tenants[tenant]


@cache
def declared_options() -> dict[str, Field[Any]]:
    """Return the options of all built-in strategies by name, each with one of its declarations."""
    return {item.name: item for strategy in STRATEGIES.values() for item in fields(strategy.options)}


def declarations() -> dict[str, list[Field[Any]]]:
    """Return the options of all strategies by name, those of plug-ins too, each with all that declare it otherwise."""
    found = {name: [item] for name, item in declared_options().items()}
    for strategy in plugin_strategies().values():
        for item in fields(strategy.options) if isinstance(strategy, Strategy) else ():
            known = found.setdefault(item.name, [])
            if all(item.metadata != one.metadata for one in known):
                known.append(item)
    return found


def find_config(start: Path) -> Path | None:
    """Find the nearest config file in a folder or above it; a pyproject.toml counts if it has `[tool.spanwise]`."""
    for folder in (start, *start.parents):
        for name in CONFIG_NAMES:
            path = folder / name
            if path.is_file() and (name == CONFIG_NAMES[0] or "spanwise" in _table(_loaded(path), "tool")):
                return path
            if name == CONFIG_NAMES[0] and path.exists() and not path.is_dir():
                raise OptionError(_short(path), "is no ordinary file", hint="remove it, or say --config FILE")
    return None


def load_config(path: Path) -> Config:
    """Read and check a config file."""
    data, name = _loaded(path), _short(path)
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
        _checked(general, name, path.parent, (*_OF_COMMANDS, *_LISTS)),
        [_checked(entry, name, path.parent, ("glob",)) for entry in entries],
        _checked_search(_table_in(data, "search", name), name),
        _checked_plans(_table_in(data, "plans", name), name, path.parent),
        _table_in(data, "tenants", name),
    )
    _check_tenants(config, name)
    return config


def _table_in(data: Mapping[str, Any], key: str, name: str) -> dict[str, Any]:
    found = data.get(key, {})
    if not isinstance(found, dict):
        raise OptionError(key, f"in {name} must be a table", value=found, hint=f"write [{key}]")
    return found


def _checked_plans(plans: Mapping[str, Any], name: str, folder: Path) -> dict[str, Mapping[str, Any]]:
    """Raise OptionError for a plan without a strategy, or with options that its strategy doesn't have."""
    checked: dict[str, Mapping[str, Any]] = {}
    for plan, values in plans.items():
        origin = f"[plans.{plan}] of {name}"
        if not isinstance(values, dict) or "strategy" not in values:
            hint = f'write [plans.{plan}] and strategy = "fixed"'
            raise OptionError("strategy", f"in {origin} is missing", hint=hint)
        checked[plan] = _checked(values, origin, folder, ())
        settings_of(in_force([Layer(origin, checked[plan])]))
    return checked


def _check_tenants(config: Config, name: str) -> None:
    for tenant, plan in config.tenants.items():
        if not isinstance(plan, str) or plan not in plans_of(config):
            hint = did_you_mean(str(plan), plans_of(config))
            raise OptionError(tenant, f"in [tenants] of {name} must be the name of a plan", value=plan, hint=hint)


def in_force(layers: Iterable[Layer], defaults: Sequence[str] = (DEFAULT_STRATEGY,)) -> dict[str, Value]:
    """Return the values in force with their origins; a later layer overrides, metadata are merged.

    Unless a strategy is chosen, it is the first of `defaults`; the options of the others, which some documents have by
    their format, are valid too.
    """
    stack = [Layer(_BY_DEFAULT, {**_DEFAULTS, "strategy": defaults[0]}), *layers]
    chosen = max(index for index, layer in enumerate(stack) if "strategy" in layer.values)
    strategy = strategy_of(stack[chosen].values["strategy"])
    known = {item.name: item for item in fields(strategy.options)}
    if not chosen:
        known = {item.name: item for other in defaults[1:] for item in fields(strategy_of(other).options)} | known
    given: dict[str, Value] = {}
    for index, layer in enumerate(stack):
        for name, value in with_own_names(layer.values, known, strategy.options.ignored).items():
            if name == "meta":
                given |= {f"meta.{key}": Value(one, layer.origin) for key, one in value.items()}
            elif name == "strategy":
                given[name] = Value(own_strategy_name(value) if isinstance(value, str) else value, layer.origin)
            elif name in known:
                given[name] = Value(typed(known[name], value), layer.origin)
            elif name in _DEFAULTS or name in _LISTS or name in _OF_COMMANDS:
                given[name] = Value(value, layer.origin)
            elif index >= chosen:
                declaring = {key: one.options.__dataclass_fields__ for key, one in STRATEGIES.items()}
                owning = (key for key, declared in declaring.items() if own_name(name, declared) in declared)
                owners = ", ".join(sorted(owning))
                rule = f"({layer.origin}) is not an option of the strategy {strategy.name}"
                raise OptionError(name, rule, hint=f"it is one of {owners}" if owners else did_you_mean(name, known))
    return given


def settings_from(
    strategy: str | StrategyLike | None,
    tokenizer: str | os.PathLike[str] | Tokenizer,
    options: Mapping[str, Any],
    metadata: Mapping[str, Any] | None = None,
    proposer: Any = None,
) -> Settings:
    """Return settings for all documents of a call; raise OptionError for an option that the strategy doesn't have."""
    found = strategy_of(DEFAULT_STRATEGY if strategy is None else strategy)
    _check_options(found, options, by_format=strategy is None)
    if proposer is not None and not found.asks_model:
        raise OptionError("proposer", f"is not for the strategy {found.name}", hint="it is one of smart")
    chosen = os.fspath(tokenizer) if isinstance(tokenizer, os.PathLike) else tokenizer
    check_tokenizer(chosen)
    name = own_strategy_name(strategy) if isinstance(strategy, str) else found if strategy else DEFAULT_STRATEGY
    own = with_own_names(options, found.options.__dataclass_fields__, found.options.ignored)
    return Settings(name, chosen, own, dict(metadata or {}), proposer, by_format=strategy is None)


def check_tokenizer(tokenizer: str | Tokenizer) -> None:
    """Raise OptionError if it can't be used: once, before any work. One that is built in needs no loading for that."""
    if not built_in(tokenizer):
        tokenizer_of(tokenizer)


def settings_of(given: Mapping[str, Value]) -> Settings:
    """Return the settings for reading and chunking a file; raise OptionError if options contradict each other."""
    found = strategy_of(given["strategy"].value)
    known = found.options.__dataclass_fields__
    by_format = given["strategy"].origin == _BY_DEFAULT
    names = {name for one in FORMAT_STRATEGIES.values() for name in _option_names(one)} if by_format else set()
    options = {name: one.value for name, one in given.items() if name in known or name in names}
    _check_options(found, options, by_format=by_format)
    metadata = {name[5:]: one.value for name, one in given.items() if name.startswith("meta.")}
    proposer = given["proposer"].value if "proposer" in given and found.asks_model else None
    chosen = given["strategy"].value
    return Settings(chosen, given["tokenizer"].value, options, metadata, proposer, by_format=by_format)


def _check_options(strategy: Strategy, options: Mapping[str, Any], *, by_format: bool) -> None:
    """Raise OptionError for options that the strategy doesn't have, nor, by format, the default one of any format."""
    names = strategy.options.__dataclass_fields__.keys()
    for other in {*FORMAT_STRATEGIES.values()} if by_format else ():
        others = strategy_of(other).options
        own = with_own_names(options, others.__dataclass_fields__, others.ignored)
        of_other = {name: own.pop(name) for name in {*own} & {*others.__dataclass_fields__} - {*names}}
        options_of(others, of_other)
        options = own if of_other else options
    options_of(strategy.options, options)


def _loaded(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(read_file_bytes(path, most=_MOST_BYTES).decode("utf-8-sig"))
    except (OSError, UnicodeDecodeError) as error:
        rule = f"can't be opened ({getattr(error, 'strerror', None) or error})"
        raise OptionError(_short(path), rule) from error
    except tomllib.TOMLDecodeError as error:
        raise OptionError(_short(path), f"is not TOML ({error})") from error


def _table(data: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    """Return a table; an empty one if the value is none."""
    found = data.get(name)
    return found if isinstance(found, dict) else {}


def _checked(values: dict[str, Any], name: str, folder: Path, more: Sequence[str]) -> dict[str, Any]:
    """Raise OptionError for unknown keys and wrong values; paths are relative to the config file."""
    keys = {*_DEFAULTS, "meta", *more, *declared_options()}
    values = with_own_names(values, keys | DEPENDING)
    for key in values:
        if key not in keys | DEPENDING and key not in (keys := keys | declarations().keys()):
            raise OptionError(key, f"in {name} is not a setting", hint=did_you_mean(key, keys))
    for key, value in values.items():
        _check_shape(key, value, name)
        with _naming(name):
            _check_setting(key, value)
    found = values | ({"meta": _metadata(values["meta"])} if "meta" in values else {})
    tokenizer = values.get("tokenizer")
    if isinstance(tokenizer, str) and not built_in(tokenizer) and not is_plugin(tokenizer):
        found["tokenizer"] = (folder / tokenizer).as_posix()
    if "://" not in values.get("store", "://"):
        found["store"] = _short(folder / values["store"])
    return found


@contextmanager
def _naming(origin: str) -> Iterator[None]:
    """Name the origin of a wrong value in the hint of its error."""
    try:
        yield
    except OptionError as error:
        hint = f"{origin} says it; {error.hint}" if error.hint else f"{origin} says it"
        raise OptionError(error.subject, error.rule, value=error.value, hint=hint) from error


def _checked_search(values: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    """Raise OptionError for unknown settings of search and wrong values."""
    with _naming(f"[search] in {name}"):
        weights_of({key: value for key, value in values.items() if key not in RERANK_SETTINGS})
        check_rerank_settings(values)
    return values


def _check_shape(key: str, value: Any, name: str) -> None:
    if key in _LISTS and not (isinstance(value, list) and all(isinstance(item, str) for item in value)):
        raise OptionError(key, f"in {name} must be a list of patterns", value=value, hint='try ["*.md"]')
    if key == "meta" and not isinstance(value, dict):
        raise OptionError(key, f"in {name} must be a table", value=value, hint='try meta = {tenant_id = "acme"}')


def _check_setting(key: str, value: Any) -> None:
    if key == "strategy":
        strategy_of(_name(key, value))
    elif key in _LISTS:
        check_patterns(value)
    elif key == "dialect" and (not isinstance(value, str) or value not in DIALECTS):
        raise OptionError(key, "is not known", value=value, hint=did_you_mean(str(value), DIALECTS))
    elif key in {"tokenizer", "store"} and not (isinstance(value, str) and value):
        raise OptionError(key, "must be a name or a path", value=value)
    elif key == "meta":
        check_metadata(_metadata(value))
    elif key == "proposer":
        check_proposer(_name(key, value))
    elif key in DEPENDING:
        _check_option(own_name(key, declared_options()), own_value(key, value))
    elif key in declared_options() or key in declarations():
        _check_option(key, value)


def _name(key: str, value: Any) -> str:
    if not isinstance(value, str):
        raise OptionError(key, "must be a name", value=value)
    return value


def _check_option(name: str, value: Any) -> None:
    """Raise OptionError for a value that no strategy takes; a plug-in may declare an option of another otherwise."""
    wrong: OptionError | None = None
    for item in _declared_as(name):
        try:
            check_value(item, value)
        except OptionError as error:
            wrong = wrong or error
        else:
            return
    if wrong:
        raise wrong


def _declared_as(name: str) -> Iterator[Field[Any]]:
    """Yield the declarations of an option; plug-ins are loaded only if that of a built-in strategy isn't enough."""
    if name in declared_options():
        yield declared_options()[name]
    yield from declarations().get(name, ())


def _metadata(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return metadata with dates as text: TOML has dates, JSON hasn't."""
    dates = (datetime.date, datetime.time)
    return {key: value.isoformat() if isinstance(value, dates) else value for key, value in values.items()}


def with_extra(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return metadata with those that are no field of a document in its `extra`."""
    names = set(Metadata.__dataclass_fields__)
    extra = {name: value for name, value in values.items() if name not in names}
    return {name: value for name, value in values.items() if name in names} | ({"extra": extra} if extra else {})


def check_metadata(values: Mapping[str, Any]) -> None:
    """Raise OptionError for metadata that no document can have, or that JSON can't hold."""
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


def _matches(pattern: str, folder: Path, file: str) -> bool:
    path = PurePath(os.path.relpath(Path(file).absolute(), folder)).as_posix()
    return not path.startswith("../") and _compiled(pattern).includes(f"/{path}")


@cache
def _compiled(pattern: str) -> Rules:
    return given_rules(Patterns((pattern,)), "/")


def _short(path: Path) -> str:
    """Return the path of a config file, relative to the working folder if it lies there."""
    here = Path.cwd()
    return (path.relative_to(here) if path.is_relative_to(here) else path).as_posix()
