"""MSG files made in tests: an OLE file of storages and streams, with the properties of a message in them."""

from __future__ import annotations

import struct
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

_SECTOR, _SMALL = 512, 64
_CUTOFF = 4096
_END, _FREE, _FAT = 0xFFFFFFFE, 0xFFFFFFFF, 0xFFFFFFFD
Storage = dict[str, Any]  # streams as bytes, storages as mappings


def ole_of(root: Storage) -> bytes:
    """Return an OLE file with these streams and storages."""
    entries: list[list[Any]] = []
    _number("Root Entry", root, entries)
    small, large, sectors = b"", [], 0
    for entry in entries:
        data = entry[1]
        if isinstance(data, bytes) and len(data) < _CUTOFF:
            entry[3] = len(small) // _SMALL if data else _END
            small += data + bytes(-len(data) % _SMALL)
        elif isinstance(data, bytes):
            entry[3], sectors = sectors, sectors + -(-len(data) // _SECTOR)
            large.append(data)
    chains = [-(-len(data) // _SECTOR) for data in large]
    entries[0][3] = sum(chains) if small else _END
    chains.append(-(-len(small) // _SECTOR))
    directory_start = sum(chains)
    directory = b"".join(_entry(entry, len(small)) for entry in entries)
    directory += _entry(["", None, (-1, -1, -1), 0], 0) * (-len(entries) % 4)
    chains.append(len(directory) // _SECTOR)
    small_table = b"".join(_small_chain(entry) for entry in entries)
    small_table += struct.pack("<I", _FREE) * (-len(small_table) // 4 % 128)
    table_start = sum(chains)
    chains.append(len(small_table) // _SECTOR)
    total = sum(chains)
    fats = 1
    while fats * 128 < total + fats:
        fats += 1
    table = b"".join(_chain(start, count) for start, count in zip(_starts(chains), chains, strict=True))
    table += struct.pack("<I", _FAT) * fats
    table += struct.pack("<I", _FREE) * (-len(table) // 4 % 128)
    header = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(16) + struct.pack("<HHHHH", 0x3E, 3, 0xFFFE, 9, 6) + bytes(6)
    header += struct.pack("<IIIIIIIII", 0, fats, directory_start, 0, _CUTOFF, table_start, chains[-1], _END, 0)
    header += b"".join(struct.pack("<I", total + at if at < fats else _FREE) for at in range(109))
    padded = [data + bytes(-len(data) % _SECTOR) for data in (*large, small, directory, small_table)]
    return header + b"".join(padded) + table


def _number(name: str, content: Any, entries: list[list[Any]]) -> int:
    """Add an entry with all inside it, balanced, and return its number."""
    number = len(entries)
    entries.append([name, content, (-1, -1, -1), 0])
    if isinstance(content, dict):
        names = sorted(content, key=lambda one: (len(one), one.upper()))
        children = {one: _number(one, content[one], entries) for one in names}
        entries[number][2] = (-1, -1, _balanced([children[one] for one in names], entries))
    return number


def _balanced(numbers: list[int], entries: list[list[Any]]) -> int:
    if not numbers:
        return -1
    middle = len(numbers) // 2
    left, right = _balanced(numbers[:middle], entries), _balanced(numbers[middle + 1 :], entries)
    entries[numbers[middle]][2] = (left, right, entries[numbers[middle]][2][2])
    return numbers[middle]


def _entry(entry: list[Any], small: int) -> bytes:
    name, content, links, start = entry
    raw: bytes = name.encode("utf-16-le") + b"\0\0"
    kind = 0 if content is None else 5 if name == "Root Entry" else 1 if isinstance(content, dict) else 2
    size = small if kind == 5 else len(content) if kind == 2 else 0
    head = raw.ljust(64, b"\0") + struct.pack("<HBB", len(raw) if name else 0, kind, 1)
    return head + struct.pack("<iii", *links) + bytes(36) + struct.pack("<IQ", start if kind in (2, 5) else 0, size)


def _starts(chains: list[int]) -> list[int]:
    return [sum(chains[:at]) for at in range(len(chains))]


def _chain(start: int, count: int) -> bytes:
    return b"".join(struct.pack("<I", start + at + 1 if at < count - 1 else _END) for at in range(count))


def _small_chain(entry: list[Any]) -> bytes:
    data = entry[1]
    if not isinstance(data, bytes) or len(data) >= _CUTOFF:
        return b""
    return _chain(entry[3], -(-len(data) // _SMALL))


def storage_of(
    texts: Mapping[int, str | bytes], numbers: Mapping[int, int | datetime] | None = None, header: int = 32
) -> Storage:
    """Return the storage of a message or attachment with its properties; text is wide, bytes are binary."""
    rows, streams = b"", dict[str, Any]()
    for tag, value in texts.items():
        kind = 0x1F if isinstance(value, str) else 0x102
        data = value.encode("utf-16-le") if isinstance(value, str) else value
        streams[f"__substg1.0_{tag:04X}{kind:04X}"] = data
        rows += struct.pack("<HHIQ", kind, tag, 6, len(data))
    for tag, number in (numbers or {}).items():
        if isinstance(number, datetime):
            ticks = int((number - datetime(1601, 1, 1, tzinfo=UTC)).total_seconds()) * 10_000_000
            rows += struct.pack("<HHIQ", 0x40, tag, 6, ticks)
        else:
            rows += struct.pack("<HHIQ", 3, tag, 6, number)
    return {**streams, "__properties_version1.0": bytes(header) + rows}
