"""A look at the records of an XLS file before calamine reads it, which takes any position of a cell for true.

One cell that claims to be in row 65,000 and column 60,000 would make it ask for more memory than there is, which ends
the process.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import Final

_HEADER: Final = 512
_ENTRY: Final = 128
_NO_SECTOR: Final = 0xFFFFFFFA  # from here on, numbers are marks
_NAMES: Final = frozenset({"workbook", "book"})
_STREAM: Final = 2
_SMALLEST_STREAM: Final = 4096  # smaller ones lie in sectors of their own
_BEGINNINGS: Final = frozenset({0x0009, 0x0209, 0x0409, 0x0809})
_CELLS: Final = frozenset({0x0002, 0x0003, 0x0004, 0x0005, 0x0006, 0x00D6, 0x00FD, 0x0203, 0x0204, 0x0205, 0x027E})
_SEVERAL_CELLS: Final = frozenset({0x00BD, 0x00BE})
_DIMENSIONS: Final = frozenset({0x0000, 0x0200})
_MOST_ROWS: Final = 65_536
_MOST_COLUMNS: Final = 256


def fault_of(data: bytes) -> str | None:
    """Return why the records of a workbook can't be believed; None if they can."""
    try:
        streams = list(_workbooks(data))
    except (struct.error, IndexError, ValueError) as error:
        return f"its sectors are damaged: {error}"
    if not streams or any(int.from_bytes(stream[:2], "little") not in _BEGINNINGS for stream in streams):
        return "it has no workbook"
    return next(filter(None, map(_fault_in, streams)), None)


def _fault_in(stream: bytes) -> str | None:
    position = 0
    while position + 4 <= len(stream):
        kind, size = struct.unpack_from("<HH", stream, position)
        body = stream[position + 4 : position + 4 + size]
        position += 4 + size
        if kind in _CELLS and len(body) >= 4:
            column = int.from_bytes(body[2:4], "little")
        elif kind in _SEVERAL_CELLS and len(body) >= 6:
            column = max(int.from_bytes(body[2:4], "little"), int.from_bytes(body[-2:], "little"))
        elif kind in _DIMENSIONS and len(body) in {10, 14}:
            first, last, left, after = struct.unpack_from("<IIHH" if len(body) == 14 else "<HHHH", body)
            if not first <= last <= _MOST_ROWS or left > after:
                return f"it claims to have rows {first + 1:,} to {last:,}"
            column = after - 1
        else:
            continue
        if column >= _MOST_COLUMNS:
            return f"it has a cell in column {column + 1:,}"
    return None


def _workbooks(data: bytes) -> Iterator[bytes]:
    """Yield the streams that hold a workbook: it stands in a file system of its own."""
    shift, mini_shift = struct.unpack_from("<HH", data, 30)
    if not 7 <= shift <= 16 or not 4 <= mini_shift < shift:
        raise ValueError("their size is none")
    table = _table(data, 1 << shift)
    folder = _chain(data, table, struct.unpack_from("<I", data, 48)[0], 1 << shift)
    mini_start = struct.unpack_from("<I", data, 60)[0]
    small: bytes | None = None
    for at in range(0, len(folder) - _ENTRY + 1, _ENTRY):
        length = struct.unpack_from("<H", folder, at + 64)[0]
        name = folder[at : at + min(max(length - 2, 0), 64)].decode("utf-16-le", "replace").lower()
        if folder[at + 66] and struct.unpack_from("<Q", folder, at + 120)[0] > len(data):
            raise ValueError("a stream is larger than the file")
        if folder[at + 66] != _STREAM or name not in _NAMES:
            continue
        start, size = struct.unpack_from("<II", folder, at + 116)
        if size >= _SMALLEST_STREAM:
            yield _chain(data, table, start, 1 << shift)[:size]
            continue
        if small is None:
            small = _chain(data, table, struct.unpack_from("<I", folder, 116)[0], 1 << shift)
        mini = _chain(data, table, mini_start, 1 << shift)
        numbers = struct.unpack(f"<{len(mini) // 4}I", mini[: len(mini) // 4 * 4])
        yield _chain(b"\0" * (1 << mini_shift) + small, numbers, start, 1 << mini_shift)[:size]


def _table(data: bytes, size: int) -> tuple[int, ...]:
    """Return for each sector the one that follows it."""
    listed = list(struct.unpack_from("<109I", data, 76))
    more, seen = struct.unpack_from("<I", data, 68)[0], 0
    while more < _NO_SECTOR and seen * size <= len(data):
        block = _sector(data, more, size)
        *numbers, more = struct.unpack(f"<{size // 4}I", block)
        listed += numbers
        seen += 1
    sectors = (_sector(data, number, size) for number in listed if number < _NO_SECTOR)
    found: list[int] = []
    for sector in sectors:
        found += struct.unpack(f"<{size // 4}I", sector)
        if len(found) * size > len(data) + size * size:
            break
    return tuple(found)


def _sector(data: bytes, number: int, size: int) -> bytes:
    start = max(_HEADER, size) + number * size
    return data[start : start + size].ljust(size, b"\xff")


def _chain(data: bytes, table: tuple[int, ...], start: int, size: int) -> bytes:
    """Return the bytes of a chain of sectors; it ends where it would go round."""
    pieces, number, base = list[bytes](), start, size if size < _HEADER else max(_HEADER, size)
    while number < len(table) and len(pieces) * size <= len(data):
        pieces.append(data[base + number * size : base + (number + 1) * size])
        number = table[number]
    return b"".join(pieces)
