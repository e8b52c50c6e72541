"""The weights of the parts of a score; declared once, read by the config file, the library and the docs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

from spanwise.errors import OptionError, did_you_mean
from spanwise.options import check_value, option


@dataclass(frozen=True, kw_only=True, slots=True)
class Weights:
    """The factor of each part of a score; the words of the text themselves count up to one."""

    vector: float = option(0.3, "how near the model finds question and chunk", low=0, high=10)
    headings: float = option(0.1, "the question's words that stand in the headings above the chunk", low=0, high=10)
    title: float = option(0.2, "the question's words that stand in the title", low=0, high=10)
    labels: float = option(0.1, "the question's words that stand in the labels", low=0, high=10)
    links_in: float = option(0.05, "other documents that were found link to this one", low=0, high=10)
    links_out: float = option(0.05, "this document links to others that were found", low=0, high=10)


def weights_of(given: Mapping[str, Any] | Weights | None) -> Weights:
    """Check weights by name; those not given have their defaults."""
    if given is None:
        return Weights()
    if isinstance(given, Weights):
        return given
    if not isinstance(given, Mapping):
        raise OptionError("weights", "must be a table", value=given, hint="try {'title': 0.2}")
    declared = {item.name: item for item in fields(Weights)}
    for name, value in given.items():
        if name not in declared:
            raise OptionError(str(name), "is not a weight of search", hint=did_you_mean(str(name), declared))
        check_value(declared[name], value)
    return Weights(**given)
