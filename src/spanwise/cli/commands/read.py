"""`spanwise read`."""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from typing import Any

from spanwise.cli.inputs import piped_item
from spanwise.cli.terminal import Screen, print_json, printable, table
from spanwise.documents.document import Document, Part
from spanwise.readers import ReadOptions, read_bytes, read_file
from spanwise.text.tokens import TokenMap, tokenizer_of


def run(arguments: argparse.Namespace) -> int:
    """Show the text of a document, or its blocks."""
    document = _document(arguments)
    if arguments.blocks:
        blocks = _blocks(document, arguments.tokenizer or "cl100k")
        if arguments.json:
            print_json({"document_id": document.document_id, "blocks": blocks})
        else:
            _show_blocks(blocks)
    elif arguments.json:
        print_json({
            "text": document.text,
            "pages": [page._asdict() for page in document.pages],
            "metadata": document.metadata.to_dict(),
            "left_out": [item._asdict() for item in document.left_out],
        })  # fmt: skip
    else:
        sys.stdout.buffer.write(document.text.encode())
        if sys.stdout.isatty() and not document.text.endswith("\n"):
            sys.stdout.buffer.write(b"\n")  # what is said next begins on a line of its own
        sys.stdout.buffer.flush()
    _tell_left_out(document)
    return 0


def _tell_left_out(document: Document) -> None:
    """Warn of what is missing; what is usual is only counted."""
    for item in document.left_out:
        if not item.usual:
            print(f"warning: {printable(item.reason)}", file=sys.stderr)
    if usual := Counter(item.reason for item in document.left_out if item.usual):
        reasons = ", ".join(f"{reason} {count:,}" for reason, count in sorted(usual.items()))
        print(f"left out: {printable(reasons)}", file=sys.stderr)


def _document(arguments: argparse.Namespace) -> Document:
    options = ReadOptions(arguments.password, arguments.figures, arguments.keep_all)
    if arguments.file != "-":
        return read_file(arguments.file, arguments.input_format, {}, options)
    item = piped_item(arguments)
    return read_bytes(item.fetch(), "-", item.format or "", {}, options)


def _blocks(document: Document, tokenizer: str) -> list[dict[str, Any]]:
    tokens = TokenMap(document.text, tokenizer_of(tokenizer))
    lines, line, reached, records = document.text, 1, 0, []
    for index, block in enumerate(document.blocks):
        line += lines.count("\n", reached, block.start)
        reached = block.start
        records.append({
            "index": index,
            "kind": block.kind,
            "level": block.level,
            "char_start": block.start,
            "char_end": block.end,
            "line": line,
            "token_count": tokens.exact(block.start, block.end),
            "headings_path": list(block.headings_path),
            "page": block.page,
            "section_type": block.section_type,
            "block_id": block.block_id,
            "source_ref": dict(block.source_ref) if block.source_ref else None,
            "raw_md_text": document.text[block.start : block.end],
            "parts": [_part(part) for part in block.parts],
        })  # fmt: skip
    return records


def _part(part: Part) -> dict[str, Any]:
    return {
        "char_start": part.start,
        "char_end": part.end,
        "source_ref": dict(part.source_ref) if part.source_ref else None,
        "parts": [_part(inner) for inner in part.parts],
    }


def _show_blocks(blocks: list[dict[str, Any]]) -> None:
    screen = Screen(sys.stdout)
    rows = [("#", "kind", "characters", "tokens", "place", "headings", "text")]
    for block in blocks:
        kind = f"{block['kind']} {block['level']}" if block["level"] else block["kind"]
        path = block["headings_path"]
        name = " › ".join(path) if len(path) < 3 else f"… › {' › '.join(path[-2:])}"
        rows.append((
            str(block["index"]), kind, f"{block['char_start']}:{block['char_end']}", f"{block['token_count']:,}",
            _place(block), printable(name)[:40], printable(" ".join(block["raw_md_text"][:200].split())),
        ))  # fmt: skip
    for place, line in enumerate(table(rows, right=(0, 3), width=screen.width)):
        screen.line(line, "" if place else "strong")


def _place(block: dict[str, Any]) -> str:
    """Say where a block stands in its source: page, then what the reader knows, else the line."""
    page = f"page {block['page']}" if block["page"] else ""
    source = block["source_ref"] or {}
    detail = ", ".join(f"{name} {value}" for name, value in source.items() if name != "page" or not page) or (
        f"line {block['line']}" if not page else ""
    )
    return " ".join(filter(None, (page, detail)))
