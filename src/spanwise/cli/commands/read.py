"""`spanwise read`."""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from typing import Any

from spanwise.cli.inputs import piped_item
from spanwise.cli.terminal import Screen, for_terminal, one_line, print_json, printable, reason_counts
from spanwise.documents.document import Document, Part
from spanwise.readers import ReadOptions, read_bytes, read_file
from spanwise.text.tokens import TokenMap, tokenizer_of


def run(arguments: argparse.Namespace) -> None:
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
        for_terminal(sys.stdout.buffer).write(document.text.encode())
        if sys.stdout.isatty() and not document.text.endswith("\n"):
            sys.stdout.buffer.write(b"\n")  # so that warnings start on a new line
        sys.stdout.buffer.flush()
    _report_left_out(document)


def _report_left_out(document: Document) -> None:
    """Warn of what was left out; what usually is, is only counted."""
    for item in document.left_out:
        if not item.usual:
            print(f"warning: {one_line(item.reason)}", file=sys.stderr)
    if usual := Counter(item.reason for item in document.left_out if item.usual):
        print(f"left out: {one_line(reason_counts(usual))}", file=sys.stderr)


def _document(arguments: argparse.Namespace) -> Document:
    options = ReadOptions(arguments.password, arguments.figures, arguments.keep_all)
    if arguments.file != "-":
        return read_file(arguments.file, arguments.input_format, {}, options)
    item = piped_item(arguments)
    return read_bytes(item.fetch(), "-", item.format or "", {}, options)


def _blocks(document: Document, tokenizer: str) -> list[dict[str, Any]]:
    tokens = TokenMap(document.text, tokenizer_of(tokenizer))
    line, reached, records = 1, 0, []
    for index, block in enumerate(document.blocks):
        line += document.text.count("\n", reached, block.start)
        reached = block.start
        records.append({
            "index": index, "kind": block.kind, "level": block.level, "char_start": block.start, "char_end": block.end,
            "line": line, "token_count": tokens.exact(block.start, block.end),
            "headings_path": list(block.headings_path), "page": block.page, "section_type": block.section_type,
            "block_id": block.block_id, "source_ref": dict(block.source_ref) if block.source_ref else None,
            "raw_md_text": document.text[block.start : block.end], "parts": [_part(part) for part in block.parts],
        })  # fmt: skip
    return records


def _part(part: Part) -> dict[str, Any]:
    source = dict(part.source_ref) if part.source_ref else None
    parts = [_part(inner) for inner in part.parts]
    return {"char_start": part.start, "char_end": part.end, "source_ref": source, "parts": parts}


def _show_blocks(blocks: list[dict[str, Any]]) -> None:
    rows = [("#", "kind", "characters", "tokens", "place", "headings", "text")]
    for block in blocks:
        kind = f"{block['kind']} {block['level']}" if block["level"] else block["kind"]
        path = block["headings_path"]
        name = " › ".join(path) if len(path) < 3 else f"… › {' › '.join(path[-2:])}"
        rows.append((
            str(block["index"]), kind, f"{block['char_start']}:{block['char_end']}", f"{block['token_count']:,}",
            _location(block), one_line(name)[:40], printable(" ".join(block["raw_md_text"][:200].split())),
        ))  # fmt: skip
    Screen(sys.stdout).table(rows, right=(0, 3), head="strong")


def _location(block: dict[str, Any]) -> str:
    """Return where a block is in its source: page, then what the reader knows, else the line."""
    page = f"page {block['page']}" if block["page"] else ""
    items = (block["source_ref"] or {}).items()
    detail = ", ".join(f"{name} {value}" for name, value in items if name != "page" or not page)
    return " ".join(filter(None, (page, detail))) or f"line {block['line']}"
