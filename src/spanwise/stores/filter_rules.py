"""What every store must understand in the same way: which terms are worth asking for, dates, and patterns of paths."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from itertools import accumulate
from typing import Final

from spanwise.errors import OptionError

_ALWAYS_ASKED: Final = 1_000  # chunks: so few are looked at in no time
_SHARE: Final = 10  # a term in more than a tenth of the chunks says too little for what it costs
_ASKED_TOGETHER: Final = 10_000  # chunks of all terms, or a tenth of the store: this bounds the time of any query


def worth_asking(frequencies: Mapping[str, int], chunks: int) -> list[str]:
    """Give the terms that candidates are looked for by, the rarest first: those in many chunks cost much, say little.

    Where all are in many chunks the rarest are asked for, so that no query goes without an answer.
    """
    known = sorted((count, term) for term, count in frequencies.items() if count > 0)
    most = max(_ALWAYS_ASKED, chunks // _SHARE)
    most_together = max(_ASKED_TOGETHER, chunks // _SHARE)
    together = accumulate(count for count, _ in known)
    cheap = [pair for pair, so_far in zip(known, together, strict=True) if so_far <= most_together]
    rare = [term for count, term in cheap if count <= most]
    return rare or [term for _, term in (cheap or known[:1])]


def moment(stamp: str | None) -> str | None:
    """Give a date and time of ISO 8601 in UTC, so that later ones sort after earlier ones; a date is its midnight."""
    if stamp is None:
        return None
    try:
        return _parsed("updated_at", stamp).isoformat(timespec="microseconds")
    except OptionError:
        return None


def first_moment(stamp: str) -> str:
    """Give the moment from which on documents are meant."""
    return _parsed("since", stamp).isoformat(timespec="microseconds")


def last_moment(stamp: str) -> str:
    """Give the moment up to which documents are meant; a date means all of its day."""
    parsed = _parsed("until", stamp)
    if len(stamp) <= len("2026-W05-1") and "T" not in stamp:
        parsed += min(timedelta(days=1, microseconds=-1), datetime.max.replace(tzinfo=UTC) - parsed)
    return parsed.isoformat(timespec="microseconds")


def _parsed(name: str, stamp: str) -> datetime:
    try:
        parsed = datetime.fromisoformat(stamp)
        return (parsed if parsed.tzinfo else parsed.replace(tzinfo=UTC)).astimezone(UTC)
    except (ValueError, OverflowError) as error:
        raise OptionError(name, "must be a date of ISO 8601", value=stamp, hint="try 2026-01-28") from error
