"""Endpoint, model, key and prices, from the options, else from the environment; estimate and report."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from importlib.util import find_spec
from typing import Final
from urllib.parse import urlsplit

from spanwise.chunking.strategies.smart import SmartOptions
from spanwise.errors import MissingExtraError, OptionError

ENDPOINTS: Final = ("SPANWISE_ENDPOINT", "OPENAI_BASE_URL")
MODELS: Final = ("SPANWISE_MODEL",)
KEYS: Final = ("SPANWISE_API_KEY", "OPENAI_API_KEY")
CACHES: Final = ("SPANWISE_CACHE",)
"""Environment variables; the first that is set counts."""


@dataclass(slots=True)
class ProposerReport:
    """The questions of a run, their cost and their outcome."""

    windows: int = 0
    cached: int = 0
    calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cost: float | None = None
    fallbacks: int = 0
    reasons: dict[str, int] = field(default_factory=dict)

    def fell_back(self, reason: str) -> None:
        """Count a window without a usable answer."""
        self.fallbacks += 1
        self.reasons[reason] = self.reasons.get(reason, 0) + 1


@dataclass(frozen=True, slots=True)
class Estimate:
    """What would be sent for one or more documents; `cost` is None if prices are not known."""

    windows: int = 0
    cached: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cost: float | None = None

    @property
    def calls(self) -> int:
        """The number of calls if none fails."""
        return self.windows - self.cached

    def __add__(self, other: Estimate) -> Estimate:
        """Return the sum; the cost is known if both are."""
        known = self.cost is not None and other.cost is not None
        return Estimate(
            self.windows + other.windows,
            self.cached + other.cached,
            self.input_tokens + other.input_tokens,
            self.output_tokens + other.output_tokens,
            (self.cost or 0.0) + (other.cost or 0.0) if known else None,
        )


def with_environment(options: SmartOptions, environment: Mapping[str, str] = os.environ) -> SmartOptions:
    """Return the options with missing ones filled in from the environment."""

    def first(names: tuple[str, ...]) -> str | None:
        return next((environment[name] for name in names if environment.get(name)), None)

    return replace(
        options,
        endpoint=options.endpoint or first(ENDPOINTS),
        model=options.model or first(MODELS),
        api_key=options.api_key or first(KEYS),
        cache=options.cache or first(CACHES),
    )


def check_settings(settings: SmartOptions, purpose: str = "the strategy smart") -> None:
    """Raise OptionError if endpoint or model is missing or wrong, or if a bound can't be kept."""
    if not settings.endpoint:
        hint = (
            'say whom to ask: endpoint = "https://api.openai.com/v1" and model = "..." (in the config file, as '
            "--endpoint and --model, or in SPANWISE_ENDPOINT and SPANWISE_MODEL), and the key in SPANWISE_API_KEY"
        )
        raise OptionError("endpoint", f"must be given for {purpose}", hint=hint)
    if not settings.model:
        hint = 'say the model\'s name there: model = "..." in the config file, --model or SPANWISE_MODEL'
        raise OptionError("model", f"must be given for {purpose}", hint=hint)
    _check_address(settings.endpoint)
    if settings.api_key and not (settings.api_key.isascii() and settings.api_key.isprintable()):
        raise OptionError("api_key", "must be printable ASCII, without line ends")
    check_prices(settings)
    if find_spec("openai") is None:
        raise MissingExtraError("openai", f"is needed for {purpose}", hint='pip install "spanwise[smart]"')


def check_prices(settings: SmartOptions) -> None:
    """Raise OptionError if the cost is bounded but prices are missing."""
    if settings.max_cost is not None and (settings.input_price is None or settings.output_price is None):
        hint = "say what a million tokens cost: input_price = 0.15 and output_price = 0.60"
        raise OptionError("max_cost", "needs `input_price` and `output_price`", value=settings.max_cost, hint=hint)


def _check_address(endpoint: str) -> None:
    hint = "try https://api.openai.com/v1, or http://127.0.0.1:11434/v1 for a model on this machine"
    try:
        parts = urlsplit(endpoint)
        valid = parts.scheme in {"http", "https"} and bool(parts.hostname) and (parts.port is None or parts.port > 0)
    except ValueError:  # an invalid port or IPv6 address
        valid = False
    if not valid or not endpoint.isprintable() or " " in endpoint:
        raise OptionError(
            "endpoint", "must be an address that begins with http:// or https://", value=endpoint, hint=hint
        )
    if parts.username is not None or parts.password is not None:
        raise OptionError("endpoint", "must not hold a password", hint="put the key in SPANWISE_API_KEY")


def price(settings: SmartOptions, input_tokens: int, output_tokens: int) -> float | None:
    """Return the cost of tokens; None if prices are not known."""
    if settings.input_price is None or settings.output_price is None:
        return None
    return (input_tokens * settings.input_price + output_tokens * settings.output_price) / 1_000_000
