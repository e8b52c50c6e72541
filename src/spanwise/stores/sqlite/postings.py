"""Postings: in which chunks a term stands, and how often, as arrays sorted by term.

A segment holds those of up to 65,536 chunks. Its pages are written once; a search reads only the pages of its terms.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from spanwise.stores.sqlite.checksums import DamageError

if TYPE_CHECKING:
    from numpy.typing import NDArray

LARGEST: Final = 1 << 16  # chunks of a segment, whose rows are numbers of two bytes
_PAGE: Final = 8_192  # postings of a page
_MOST_TIMES: Final = 255  # a term is counted in a chunk; more make no difference to which chunks are looked at


class Rows(NamedTuple):
    """The chunks of a segment, by row; keys ascend."""

    keys: NDArray[np.int64]
    documents: NDArray[np.int64]
    lengths: NDArray[np.uint32]


class Postings(NamedTuple):
    """A term, a row and how often the term stands in that chunk: ordered by term, then by row."""

    terms: NDArray[np.uint32]
    rows: NDArray[np.uint16]
    times: NDArray[np.uint8]


class Segment(NamedTuple):
    """Chunks and their postings."""

    chunks: Rows
    postings: Postings


class Page(NamedTuple):
    """Postings of some terms, each with where its rows begin; the last beginning is the end."""

    terms: NDArray[np.uint32]
    starts: NDArray[np.uint32]
    rows: NDArray[np.uint16]
    times: NDArray[np.uint8]

    def of(self, term: int) -> tuple[NDArray[np.uint16], NDArray[np.uint8]]:
        """Return the rows of a term, and how often it stands in each."""
        at = int(np.searchsorted(self.terms, term))
        if at == len(self.terms) or self.terms[at] != term:
            return self.rows[:0], self.times[:0]
        part = slice(int(self.starts[at]), int(self.starts[at + 1]))
        return self.rows[part], self.times[part]


class Head(NamedTuple):
    """The first page of a segment: its chunks, and the first and the last term of each of the other pages."""

    chunks: Rows
    firsts: NDArray[np.uint32]
    lasts: NDArray[np.uint32]


def segment_of(keys: Sequence[int], documents: Sequence[int], numbers: Sequence[bytes]) -> Segment:
    """Return the segment of some chunks; the terms of each are numbers of four bytes, in the order of its text."""
    lengths = np.array([len(one) // 4 for one in numbers], dtype=np.uint32)
    terms = np.frombuffer(b"".join(numbers), dtype="<u4").astype(np.uint64)
    owners = np.repeat(np.arange(len(numbers), dtype=np.uint64), lengths)
    pairs, times = np.unique((terms << np.uint64(16)) | owners, return_counts=True)
    postings = Postings(
        (pairs >> np.uint64(16)).astype(np.uint32),
        (pairs & np.uint64(0xFFFF)).astype(np.uint16),
        np.minimum(times, _MOST_TIMES).astype(np.uint8),
    )
    return Segment(Rows(np.array(keys, np.int64), np.array(documents, np.int64), lengths), postings)


def living(segment: Segment, deleted: NDArray[np.uint16]) -> Segment:
    """Return a segment without the deleted rows."""
    if not len(deleted):
        return segment
    chunks, postings = segment
    alive = np.ones(len(chunks.keys), dtype=bool)
    alive[deleted] = False
    kept = alive[postings.rows]
    numbers = np.cumsum(alive) - 1
    rows = numbers[postings.rows[kept]].astype(np.uint16)
    left = Postings(postings.terms[kept], rows, postings.times[kept])
    return Segment(Rows(chunks.keys[alive], chunks.documents[alive], chunks.lengths[alive]), left)


def merged(segments: Sequence[Segment]) -> Segment:
    """Return one segment of several, whose keys follow each other."""
    if len(segments) == 1:
        return segments[0]
    starts = np.cumsum([0, *(len(one.chunks.keys) for one in segments)])
    terms = np.concatenate([one.postings.terms for one in segments])
    rows = [one.postings.rows + np.uint16(start) for one, start in zip(segments, starts, strict=False)]
    order = np.argsort(terms, kind="stable")  # cheap, because each part is sorted
    times = np.concatenate([one.postings.times for one in segments])[order]
    postings = Postings(terms[order], np.concatenate(rows)[order], times)
    keys, documents, lengths = zip(*(one.chunks for one in segments), strict=True)
    return Segment(Rows(np.concatenate(keys), np.concatenate(documents), np.concatenate(lengths)), postings)


def pages_of(segment: Segment) -> Iterator[bytes]:
    """Yield the pages of a segment, its head first."""
    chunks, (terms, rows, times) = segment
    starts = np.arange(0, len(terms), _PAGE)
    ends = np.minimum(starts + _PAGE, len(terms))
    sizes = np.array([len(chunks.keys), len(starts)], dtype="<u4")
    yield _joined(sizes, *chunks, terms[starts], terms[ends - 1])
    for start, end in zip(starts.tolist(), ends.tolist(), strict=True):
        different, firsts = np.unique(terms[start:end], return_index=True)
        count, bounds = np.array([len(different)], np.uint32), np.append(firsts, end - start).astype(np.uint32)
        yield _joined(count, different, bounds, rows[start:end], times[start:end])


def head_in(data: bytes) -> Head:
    """Decode the first page of a segment."""
    size, pages = np.frombuffer(data[:8], "<u4").tolist()
    if len(data) != 8 + 20 * size + 8 * pages:
        raise DamageError("the chunks of a segment are cut short")
    chunks = Rows(
        np.frombuffer(data, "<i8", size, 8),
        np.frombuffer(data, "<i8", size, 8 + 8 * size),
        np.frombuffer(data, "<u4", size, 8 + 16 * size),
    )
    at = 8 + 20 * size
    return Head(chunks, np.frombuffer(data, "<u4", pages, at), np.frombuffer(data, "<u4", pages, at + 4 * pages))


def page_in(data: bytes) -> Page:
    """Decode a page of postings."""
    count = int.from_bytes(data[:4], "little")
    rows_at = 4 + 8 * count + 4
    total = (len(data) - rows_at) // 3
    if total < 0 or len(data) != rows_at + 3 * total:
        raise DamageError("postings are cut short")
    return Page(
        np.frombuffer(data, "<u4", count, 4),
        np.frombuffer(data, "<u4", count + 1, 4 + 4 * count),
        np.frombuffer(data, "<u2", total, rows_at),
        np.frombuffer(data, "u1", total, rows_at + 2 * total),
    )


def postings_in(pages: Sequence[Page]) -> Postings:
    """Return the postings of all pages of a segment."""
    terms = [np.repeat(page.terms, np.diff(page.starts)) for page in pages]
    return Postings(
        np.concatenate([np.zeros(0, np.uint32), *terms]),
        np.concatenate([np.zeros(0, np.uint16), *(page.rows for page in pages)]),
        np.concatenate([np.zeros(0, np.uint8), *(page.times for page in pages)]),
    )


def _joined(*columns: NDArray[Any]) -> bytes:
    return b"".join(column.astype(column.dtype.newbyteorder("<"), copy=False).tobytes() for column in columns)
