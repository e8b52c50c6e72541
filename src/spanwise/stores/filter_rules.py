"""Rules that every store must apply in the same way: which terms select candidates, and the limits of dates."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from itertools import accumulate
from typing import Final

from spanwise.errors import OptionError

_FEW_CHUNKS: Final = 1_000  # a term in no more than these is always cheap
_SHARE: Final = 10  # a term in more than a tenth of the chunks costs more than it distinguishes
_CHUNKS_TOGETHER: Final = 10_000  # of all terms, or a tenth of the store: this bounds the time of any query


def selective_terms(frequencies: Mapping[str, int], chunks: int) -> list[str]:
    """Return the terms to select candidates by, rarest first: those in many chunks cost much and distinguish little.

    If all are in many chunks, the rarest are returned, so that every query has an answer.
    """
    known = sorted((count, term) for term, count in frequencies.items() if count > 0)
    most = max(_FEW_CHUNKS, chunks // _SHARE)
    most_together = max(_CHUNKS_TOGETHER, chunks // _SHARE)
    together = accumulate(count for count, _ in known)
    cheap = [pair for pair, so_far in zip(known, together, strict=True) if so_far <= most_together]
    rare = [term for count, term in cheap if count <= most]
    return rare or [term for _, term in (cheap or known[:1])]


def moment(stamp: str | None) -> str | None:
    """Return an ISO 8601 date and time in UTC, so that later ones sort after earlier ones; a date is its midnight."""
    if stamp is None:
        return None
    try:
        return _parsed("updated_at", stamp).isoformat(timespec="microseconds")
    except OptionError:
        return None


def first_moment(stamp: str) -> str:
    """Return the moment that a `since` filter starts at."""
    return _parsed("since", stamp).isoformat(timespec="microseconds")


def last_moment(stamp: str) -> str:
    """Return the moment that an `until` filter ends at; a date includes all of its day."""
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
