"""Chunks on a terminal: each with its text, its overlap and context marked; or a line each."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final

from spanwise.cli.terminal import (
    Screen,
    columns,
    counted,
    fitted,
    fitted_path,
    flowing_lines,
    line_breaks,
    one_line,
    padded,
    printable,
)
from spanwise.records.record import is_parent

# the colour of a role, and a sign for where there are no colours
_ROLES: Final = {
    "core": ("", " "), "overlap_prev": ("overlap", "~"), "overlap_next": ("overlap", "~"), "context": ("context", "+"),
}  # fmt: skip
_ALIGNED: Final = frozenset({"table", "code"})  # types whose lines stand below each other
LEGEND: Final = "signs: ~ overlap, + repeated context (table head, code fence, heading)"


def show_view(
    screen: Screen, file: str, records: Sequence[dict[str, Any]], lines: int, *, of: int | None = None
) -> None:
    """Show chunks of a document, at most so many lines of each piece, 0 for all; `of` is the number of all chunks."""
    _show_name(screen, file, records, of)
    for record in records:
        screen.line(_head(screen, record))
        if is_parent(record):  # its text is that of the children below
            continue
        for role, text in pieces_of(record):
            colour, sign = _ROLES[role]
            aligned = record["chunk_type"] in _ALIGNED
            for line in _some(printable(text).splitlines(), lines, screen.width - 6, aligned=aligned):
                screen.line(f"  {sign} {line}".rstrip(), colour)
        screen.line()


def _show_name(screen: Screen, file: str, records: Sequence[dict[str, Any]], of: int | None = None) -> None:
    title = records[0]["metadata"]["title"] if records else None
    name = f"━━ {one_line(file)}" + (f": {one_line(title)}" if title else "")
    screen.line(fitted(name, screen.width), "strong")
    parents = sum(map(is_parent, records))
    count = counted(len(records), "chunk") if of is None else f"{len(records)} of {counted(of, 'chunk')}"
    if parents and of is None:
        count = f"{counted(parents, 'parent')} with {counted(len(records) - parents, 'child', 'children')}"
    screen.line(f"   {count}\n", "dim")


def _kind(record: dict[str, Any]) -> str:
    """Return the type of a chunk, but `parent` for a parent: its type is nearly always the same."""
    return "parent" if is_parent(record) else str(record["chunk_type"])


def _head(screen: Screen, record: dict[str, Any]) -> str:
    span = f"[{record['char_start']}:{record['char_end']}]"
    page = f" page {record['page_start']}" if record["page_start"] else ""
    tokens = counted(record["token_count"], "token")
    head = f"#{record['chunk_index']:<3} {_kind(record):<10}{tokens:>12}  {span:<14}{page}"
    marks = [name.replace("_", " ") for name in ("oversize", "context_dropped") if record[name]]
    path = [one_line(name) for name in (*record["headings_path"], *(f"({mark})" for mark in marks))]
    return f"{screen.painted(head, 'head')} {fitted_path(path, max(screen.width - columns(head) - 2, 12))}"


def pieces_of(record: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield the roles and texts of the pieces of a chunk."""
    reached = 0
    for index, piece in enumerate(record["pieces"]):
        reached += len(piece["joiner"]) if index else 0
        end = reached + piece["end"] - piece["start"]
        yield piece["role"], record["full_text"][reached:end]
        reached = end


def _some(lines: list[str], most: int, width: int, *, aligned: bool) -> list[str]:
    """Return the first lines, 0 for all; a paragraph is shown to its end, rows and code are cut at the width."""
    shown, left = lines, 0
    if most and len(lines) > most:
        end = most - 1
        while not aligned and end < len(lines) and lines[end].strip():
            end += 1
        shown, left = lines[:end], len(lines) - end
    if not aligned:
        parts = _wrapped(shown, width)
    elif most:
        parts = [fitted(line, width) for line in shown]
    else:
        parts = [line[start:end] for line in shown for start, end in line_breaks(line, width)]
    return [*parts, f"… {len(lines)} lines in all"] if left else parts


def _wrapped(lines: list[str], width: int) -> list[str]:
    """Return lines as they are if all of them fit; else paragraphs are wrapped anew."""
    text = "\n".join(lines)
    if all(columns(line) <= width for line in lines):
        return lines
    return [text[start:end].replace("\n", " ").rstrip() for start, end in flowing_lines(text, width)]


def show_rows(screen: Screen, file: str, records: Sequence[dict[str, Any]]) -> None:
    """Show a line for each chunk of a document."""
    _show_name(screen, file, records)
    for record in records:
        span = f"{record['char_start']}:{record['char_end']}"
        numbers = f"{record['chunk_index']:>5}  {_kind(record):<10} {record['token_count']:>6}  {span:<16}"
        path = padded(one_line(" › ".join(record["headings_path"][-2:])), 28)
        text = printable(" ".join(record["normalized_text"][:200].split()))
        screen.line(fitted(f"{numbers}  {path}  {text}", screen.width))
    screen.line()
