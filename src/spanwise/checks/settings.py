"""What a record is checked with: what is given, else what the record itself states, else the defaults."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, replace
from typing import Any, NamedTuple

from spanwise.checks.findings import Record
from spanwise.chunking.strategies import known_strategy
from spanwise.chunking.strategy import Strategy, StrategyTraits
from spanwise.errors import OptionError
from spanwise.options import Options, options_of, with_own_names
from spanwise.records.record import is_parent
from spanwise.text.tokens import TOKENIZERS, FullTokenizer, built_in, is_plugin, tokenizer_of


class JudgedStrategy(NamedTuple):
    """What the chunks of a strategy are judged by, and the class of its options."""

    traits: StrategyTraits
    options: type[Options] = Options


def judged(strategy: Strategy) -> JudgedStrategy:
    """Return what the chunks of a strategy are judged by."""
    return JudgedStrategy(strategy.traits, strategy.options)


def judged_by_name(name: str) -> JudgedStrategy | None:
    """Return what chunks are judged by that name their strategy; None if no strategy has this name."""
    found = known_strategy(name)
    return judged(found) if found else None


class CheckSettings(NamedTuple):
    """The settings a record is checked with: tokenizer, strategy, and the options of the strategy."""

    tokenizer: FullTokenizer
    strategy: StrategyTraits
    options: Any
    known: bool = True
    """Whether the options are those that the chunks were made with; else they are the defaults beside the limit."""


def settings_for_level(settings: CheckSettings, record: Record) -> CheckSettings:
    """Return the settings for a record of its level: a parent has a limit of its own."""
    if not is_parent(record):
        return settings
    return settings._replace(options=replace(settings.options, max_tokens=settings.options.parent_tokens))


def stated_limit(record: Record) -> dict[str, int | None]:
    """Return the limit that a record states, under the name of the option that sets it; null states that none holds."""
    if "max_tokens" not in record:
        return {}
    return {"parent_tokens" if is_parent(record) else "max_tokens": record["max_tokens"]}


def stated_tokenizer(record: Record) -> FullTokenizer | None:
    """Return the tokenizer that a record states, None if it states none; raise OptionError if that must be given."""
    name = record.get("tokenizer")
    if not isinstance(name, str):
        return None
    if built_in(name) or is_plugin(name):
        return tokenizer_of(name)
    rule = "is what these chunks were counted with; a file or an object must be given"
    hint = "--tokenizer PATH" if "@" in name else f"known by name: {', '.join(TOKENIZERS)}"
    raise OptionError("tokenizer", rule, value=name, hint=hint)


def checked_with(
    record: Record,
    strategy: JudgedStrategy,
    tokenizer: FullTokenizer | None,
    given: Mapping[str, Any],
    usual: Mapping[str, Any],
) -> CheckSettings:
    """Return the settings for a record; `given` overrides what it states, `usual` holds where it states nothing.

    Usual options that contradict the stated limit are those of other chunks, and count for nothing.
    """
    (traits, options), stated = strategy, stated_limit(record)
    given, usual = (with_own_names(values, _names(options), options.ignored) for values in (given, usual))
    counting = tokenizer or stated_tokenizer(record) or tokenizer_of("cl100k")
    known = not _names(options).isdisjoint((*given, *usual))
    try:
        return CheckSettings(counting, traits, _options(options, {**usual, **stated, **given}), known)
    except OptionError:
        if not stated:
            raise
    known = not _names(options).isdisjoint(given)
    try:
        return CheckSettings(counting, traits, _options(options, {**stated, **given}), known)
    except OptionError:  # what is given contradicts the record: it is judged by what is given
        return CheckSettings(counting, traits, _options(options, given), known)


def _names(kind: type[Options]) -> set[str]:
    return {item.name for item in fields(kind)}


def _options(kind: type[Options], values: Mapping[str, Any]) -> Options:
    names = _names(kind)
    return options_of(kind, {name: value for name, value in values.items() if name in names})
