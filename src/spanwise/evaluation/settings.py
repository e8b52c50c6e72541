"""The settings that are compared: strategies with options, written as on the command line, and peers by name."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from spanwise.chunking.strategies import DEFAULT_STRATEGY, strategy_names
from spanwise.errors import OptionError, did_you_mean
from spanwise.evaluation.peers import PeerStrategy, peer_of
from spanwise.options import FlagText
from spanwise.pipeline.jobs import Job
from spanwise.pipeline.settings import Config, Layer, Settings, in_force, settings_of
from spanwise.sources.item import FileItem

SettingLike = str | Mapping[str, Any]


class Setting(NamedTuple):
    """One way to chunk: its name, and the options that are given, or the peer that does it."""

    name: str
    values: Mapping[str, Any]
    peer: PeerStrategy | None = None

    def of(self, job: Job, config: Config) -> Settings:
        """Return the settings for a document: those of the config file, overridden by those that are given."""
        path = job.item.path if isinstance(job.item, FileItem) else None
        own = settings_of(in_force([*config.layers(path), Layer(f"setting {self.name!r}", self.values)]))
        if self.peer is None:
            return Settings(own.strategy, own.tokenizer, own.options, {}, own.proposer)
        return Settings(self.peer, own.tokenizer, {}, {})


def settings_from(settings: Sequence[SettingLike], peers: Sequence[str], config: Config, count: Any) -> list[Setting]:
    """Return the settings that are named; without any, the one that `spanwise index` would take.

    Raise OptionError for one that can't be used, before any work; `count` counts tokens for the peers.
    """
    if isinstance(settings, str | Mapping):
        settings = [settings]
    found = [_setting(one) for one in settings]
    if not found and not peers:
        found = [Setting(_default_name(config), {})]
    for one in found:
        settings_of(in_force([*config.layers(None), Layer(f"setting {one.name!r}", one.values)]))
    found += [Setting(name, {}, peer_of(name, count)) for name in ([peers] if isinstance(peers, str) else peers)]
    names = [one.name for one in found]
    if twice := next((name for name in names if names.count(name) > 1), None):
        raise OptionError("settings", "are named twice", value=twice)
    return found


def _default_name(config: Config) -> str:
    strategy = in_force(config.layers(None))["strategy"].value
    return str(strategy) if isinstance(strategy, str) else DEFAULT_STRATEGY


def _setting(given: SettingLike) -> Setting:
    """Return a setting: `fixed target_tokens=300`, or a mapping with `strategy` and options."""
    if isinstance(given, Mapping):
        values = {"strategy": DEFAULT_STRATEGY, **given}
        strategy = values["strategy"]
        name = strategy if isinstance(strategy, str) else getattr(strategy, "name", type(strategy).__name__)
        rest = [f"{key}={value}" for key, value in values.items() if key != "strategy"]
        return Setting(" ".join([str(name), *rest]), values)
    if not isinstance(given, str) or not given.strip():
        hint = 'try "structure", or "fixed target_tokens=300"'
        raise OptionError("setting", "must name a strategy, and its options", value=given, hint=hint)
    return _parsed(given)


def _parsed(given: str) -> Setting:
    try:
        words = shlex.split(given)
    except ValueError as error:
        raise OptionError("setting", f"can't be understood ({error})", value=given) from error
    named = [word for word in words if "=" not in word]
    if len(named) > 1 or (named and words[0] != named[0]):
        hint = 'write options as name=value: "fixed target_tokens=300"'
        raise OptionError("setting", "must be one strategy and then its options", value=given, hint=hint)
    values: dict[str, Any] = {"strategy": named[0]} if named else {}
    if named and named[0] not in strategy_names():
        hint = did_you_mean(named[0], strategy_names())
        raise OptionError("setting", "must begin with a strategy", value=named[0], hint=hint)
    for word in words[len(named) :]:
        name, _, value = word.partition("=")
        name = name.removeprefix("--").replace("-", "_")
        values[name] = value if name == "tokenizer" else FlagText(value)
    return Setting(" ".join(given.split()), values)
