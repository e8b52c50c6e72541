"""Chunk the demo's documents and show the chunks: `python -m spanwise.demo [language …]`."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterable
from itertools import accumulate
from pathlib import Path
from typing import Final
from unicodedata import east_asian_width

import spanwise
from spanwise.chunks import Chunk

DOCUMENTS: Final = Path(__file__).with_name("documents")
_SHOWN_LINES: Final = 4
# colour, and the sign that says the same without it
_ROLES: Final = {"core": ("", " "), "overlap_prev": ("36", "~"), "overlap_next": ("36", "~"), "context": ("35", "+")}


def main(languages: Iterable[str]) -> int:
    """Show the chunks of every demo document, or of those in some languages."""
    wanted = set(languages)
    paths = [path for path in sorted(DOCUMENTS.glob("*.md")) if not wanted or path.suffixes[0][1:] in wanted]
    if not paths:
        known = ", ".join(sorted(path.suffixes[0][1:] for path in DOCUMENTS.glob("*.md")))
        print(f"error: no demo document in {', '.join(sorted(wanted))}\nhint: there are {known}", file=sys.stderr)
        return 2
    coloured = sys.stdout.isatty() and "NO_COLOR" not in os.environ
    width = min(shutil.get_terminal_size((100, 24)).columns, 120)
    total = 0
    for path in paths:
        document = spanwise.read(path, document_id=path.stem)
        chunks = spanwise.chunk(document, max_tokens=256)
        total += len(chunks)
        print(_painted(f"━━ {path.name}: {document.metadata.title} ", "1", coloured))
        print(f"   {len(document.text):,} characters, {len(document.blocks)} blocks → {len(chunks)} chunks\n")
        for chunk in chunks:
            _show(chunk, width, coloured)
    print(f"{total} chunks of {len(paths)} documents, at most 256 tokens each; signs: ~ overlap, + repeated context")
    return 0


def _show(chunk: Chunk, width: int, coloured: bool) -> None:
    place = f"[{chunk.char_start}:{chunk.char_end}]"
    head = f"#{chunk.chunk_index:<3} {chunk.chunk_type:<10} {chunk.token_count:>4} tokens  {place:<14}"
    print(_painted(head, "33", coloured), " › ".join(chunk.headings_path))
    text = chunk.document.text
    for piece in chunk.pieces:
        colour, sign = _ROLES[piece.role]
        lines = text[piece.start : piece.end].splitlines()
        shown = lines if len(lines) <= _SHOWN_LINES else [*lines[: _SHOWN_LINES - 1], f"… {len(lines)} lines in all"]
        for line in shown:
            print(_painted(f"  {sign} {_fitted(line, width - 6)}", colour, coloured))
    print()


def _fitted(line: str, width: int) -> str:
    """Cut a line to so many columns; a Chinese character takes two."""
    columns = accumulate(2 if east_asian_width(character) in "WF" else 1 for character in line)
    fitting = sum(1 for column in columns if column < width)
    return line if fitting >= len(line) else f"{line[:fitting]}…"


def _painted(words: str, colour: str, coloured: bool) -> str:
    return f"\x1b[{colour}m{words}\x1b[0m" if coloured and colour else words


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except BrokenPipeError:  # the reader had enough, as in `| head`
        sys.stdout = open(os.devnull, "w")  # noqa: PTH123, SIM115 - it must stay open until the interpreter ends
        sys.exit(0)
