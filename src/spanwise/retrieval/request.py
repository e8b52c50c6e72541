"""The options of a search, checked before any work is done."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import TYPE_CHECKING, Any, Final, Literal, TypedDict

from spanwise.documents.document import CHUNK_TYPES, is_iso
from spanwise.errors import OptionError, did_you_mean
from spanwise.readers import INPUTS, input_formats
from spanwise.retrieval.reranked import Reranking, reranking_of
from spanwise.retrieval.weights import Weights, weights_of
from spanwise.stores.values import Filters, checked_tenant
from spanwise.text.tokens import Tokenizer

if TYPE_CHECKING:
    from spanwise.embedding import Embedder
    from spanwise.reranking import Reranker

DEFAULT_LIMIT: Final = 5
MOST_HITS: Final = 1000
DIALECTS_OF_SEARCH: Final = ("confluence",)
SMALLEST_BUDGET: Final = 16
UNITS: Final = ("passage", "sentence")
SOURCE_TYPES: Final = tuple(sorted(INPUTS))


class SearchOptions(TypedDict, total=False):
    """The options of a search besides the query, the store and the tenant."""

    limit: int | None  # how many passages; 5, or with a budget as many as it holds
    budget: int | None  # how many tokens the texts of all passages may have together
    unit: Literal["passage", "sentence"] | None  # what is returned; with a budget sentences, else passages
    answer: bool  # only the best sentence, and those nearly as good
    parents: bool  # return the parent's text instead of the chunk's, if there is one
    labels: Sequence[str]  # the document has all of them
    space: str | None
    path: str | None  # of the file; `*` matches any characters, `?` one
    since: str | None  # ISO 8601: the document was not changed before
    until: str | None  # and not after
    type: str | None  # of the source (`pdf`, `html` …) or of the chunk (`table`, `code` …)
    embedder: str | Embedder | None  # "auto": the store's own model; None: words alone
    weights: Mapping[str, float] | Weights | None
    reranker: str | Reranker | None  # scores the best chunks again
    reranker_chunks: int  # how many of them; 50
    reranker_timeout: float  # seconds that all of this may take; 5
    tokenizer: str | os.PathLike[str] | Tokenizer  # counts the budget


@dataclass(frozen=True, slots=True)
class SearchRequest:
    """The options of a search, checked and with defaults."""

    tenant: str
    limit: int
    budget: int | None
    unit: str
    answer: bool
    parents: bool
    filters: Filters
    embedder: Any
    weights: Weights
    tokenizer: Any
    reranking: Reranking


def checked_request(tenant: str | None, options: Mapping[str, Any]) -> SearchRequest:
    """Check all options; raise OptionError for unknown names and wrong values."""
    known = SearchOptions.__annotations__
    for name in options:
        if name not in known:
            raise OptionError(name, "is not an option of search", hint=did_you_mean(name, known))
    budget = _number("budget", options.get("budget"), SMALLEST_BUDGET, None)
    limit = _number("limit", options.get("limit"), 1, MOST_HITS)
    answer = bool(options.get("answer", False))
    unit = _unit(options.get("unit"), sentences=answer or budget is not None)
    if answer and unit != "sentence":
        raise OptionError("answer", "needs sentences", hint='leave out unit="passage"')
    return SearchRequest(
        checked_tenant(tenant),
        limit or (DEFAULT_LIMIT if budget is None else MOST_HITS),
        budget,
        unit,
        answer,
        bool(options.get("parents", False)),
        _filters(options),
        options.get("embedder", "auto"),
        weights_of(options.get("weights")),
        options.get("tokenizer", "cl100k"),
        reranking_of(options),
    )


def check_dialect(dialect: str, request: SearchRequest) -> None:
    """Raise OptionError for a dialect that no search result has, and for options that join or cut chunks."""
    if dialect not in DIALECTS_OF_SEARCH:
        hint = did_you_mean(str(dialect), DIALECTS_OF_SEARCH)
        raise OptionError("dialect", "is not known in search", value=dialect, hint=hint)
    given_unit = request.unit != "passage"
    for name, given in (("budget", request.budget is not None), ("parents", request.parents), ("unit", given_unit)):
        if given:
            raise OptionError(name, "can't be given with a dialect, whose results are chunks", hint="give limit alone")


def _unit(unit: Any, *, sentences: bool) -> str:
    if unit is None:
        return "sentence" if sentences else "passage"
    if unit not in UNITS:
        raise OptionError("unit", f"must be one of {', '.join(UNITS)}", value=unit, hint=did_you_mean(str(unit), UNITS))
    return str(unit)


def _number(name: str, value: Any, low: int, high: int | None) -> int | None:
    if value is None:
        return None
    if type(value) is not int or value < low or (high is not None and value > high):
        rule = f"must be an integer between {low} and {high}" if high else f"must be an integer of at least {low}"
        raise OptionError(name, rule, value=value)
    return int(value)


def _filters(options: Mapping[str, Any]) -> Filters:
    labels = options.get("labels", ())
    if isinstance(labels, str) or not isinstance(labels, Iterable):
        raise OptionError("labels", "must be a list of strings", value=labels, hint="try labels=['travel']")
    labels = tuple(_text("labels", label) or "" for label in labels)
    kind = _text("type", options.get("type"))
    if kind is not None and kind not in CHUNK_TYPES and kind not in SOURCE_TYPES and kind not in input_formats():
        hint = did_you_mean(kind, (*CHUNK_TYPES, *input_formats()))
        raise OptionError("type", "is not known", value=kind, hint=hint)
    return Filters(
        labels,
        _text("space", options.get("space")),
        _text("path", options.get("path")),
        _date("since", options.get("since")),
        _date("until", options.get("until")),
        kind if kind not in CHUNK_TYPES else None,
        kind if kind in CHUNK_TYPES else None,
    )


def _text(name: str, value: Any) -> str | None:
    if value is not None and not isinstance(value, str):
        raise OptionError(name, "must be a string", value=value)
    return value


def _date(name: str, value: Any) -> str | None:
    if isinstance(value, date):  # includes datetime
        return value.isoformat()
    text = _text(name, value)
    if text is not None and not is_iso(text):
        hint = "try 2026-01-31 or 2026-01-31T12:00:00Z"
        raise OptionError(name, "must be a date as in ISO 8601", value=text, hint=hint)
    return text
