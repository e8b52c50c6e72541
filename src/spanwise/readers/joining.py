"""Results of readers joined: one after the other in one text, each with a reference that says where it is from.

Cells of a notebook, chapters of a book, a message and its attachments are read on their own, so that no block crosses
from one into the next, and joined with an empty line.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from spanwise.documents.document import LONGEST_NAME, Block, Document, LeftOut, Link, Part, SourceRef
from spanwise.readers.builder import ReadResult
from spanwise.readers.markdown.front_matter import front_matter_end
from spanwise.readers.markdown.reader import read_markdown
from spanwise.readers.markup.elements import Code, Heading, Paragraph
from spanwise.readers.markup.inline import Inline, Prose, at_line_start, escaped
from spanwise.readers.markup.writer import read_result

Refer = Callable[[SourceRef | None], SourceRef]
"""Makes the reference of a block in the whole of the one that it has in its part."""

_BETWEEN: Final = "\n\n"
_OPEN_FENCE: Final = re.compile(r"[ \t]*(`{3,}|~{3,})[^\n]*")
_HASHES: Final = re.compile(r"[ \t]*#+[ \t]*(?:#+[ \t]*)?")
_EMPTY_LINES: Final = re.compile(r"\n[^\S\n]*(?:\n[^\S\n]*)+")


class JoinedResults:
    """Results that are joined as they are added; `left_out` collects what none of them has in its text."""

    def __init__(self) -> None:
        self.left_out: list[LeftOut] = []
        self._pieces: list[str] = []
        self.length = 0
        self._blocks: list[Block] = []
        self._links: list[Link] = []
        self._link_starts: list[int] = []
        self._headings: list[tuple[int, str]] = []
        self._above: tuple[str, ...] = ()

    @property
    def first_title(self) -> str | None:
        """The first heading of level 1."""
        return next(
            (block.headings_path[-1] for block in self._blocks if block.level == 1 and block.headings_path), None
        )

    def add(self, result: ReadResult, refer: Refer) -> None:
        """Add a result; its headings stand under those before it by their levels."""
        text = result.text
        self.left_out += [item._replace(source_ref=refer(item.source_ref)) for item in result.left_out]
        if not text.strip():
            return
        base = self.length + (len(_BETWEEN) if self.length else 0)
        self._pieces += [_BETWEEN, text] if self.length else [text]
        self.length = base + len(text)
        for block in result.blocks:
            self._blocks.append(self._moved(block, base, result.text, refer))
        links = result.metadata.get("links", ())
        self._links += links
        starts = result.link_starts if len(result.link_starts) == len(links) else (0,) * len(links)
        self._link_starts += [base + start for start in starts]

    def heading(self, title: str, reference: SourceRef, *, level: int = 1) -> None:
        """Add a heading."""
        self.add(heading_result(title, level), lambda _: reference)

    def section(self, title: str, reference: SourceRef) -> None:
        """Add a heading of level 1 that everything up to the next one stands under, whatever headings that has."""
        self._above, self._headings = (), []
        before = len(self._blocks)
        self.heading(title, reference)
        self._above = self._blocks[-1].headings_path if len(self._blocks) > before else ()
        self._headings = []

    def result(self, found: Mapping[str, Any]) -> ReadResult:
        """Return the whole."""
        known = dict(found)
        if self._links:
            known["links"] = tuple(self._links)
        text, starts = "".join(self._pieces), tuple(self._link_starts)
        return ReadResult(text, tuple(self._blocks), known, (), tuple(self.left_out), starts)

    def _moved(self, block: Block, base: int, text: str, refer: Refer) -> Block:
        path = (*self._above, *block.headings_path) if self._above else self._path(block, text)
        return block._replace(
            start=block.start + base,
            end=block.end + base,
            headings_path=path,
            page=None,
            parts=tuple([moved_part(part, base, refer) for part in block.parts]),
            source_ref=refer(block.source_ref),
        )

    def _path(self, block: Block, text: str) -> tuple[str, ...]:
        """Return the path of a block under the headings of this result and of those before it."""
        if block.level is not None:
            title = block.headings_path[-1] if block.headings_path and not _is_empty(text, block) else ""
            while self._headings and self._headings[-1][0] >= block.level:
                self._headings.pop()
            self._headings.append((block.level, title[:LONGEST_NAME]))
        return tuple([title for _, title in self._headings if title])


def moved_part(part: Part, base: int, refer: Refer) -> Part:
    """Return a part at its place in the whole."""
    inner = tuple([moved_part(child, base, refer) for child in part.parts])
    return Part(part.start + base, part.end + base, inner, refer(part.source_ref), part.header, part.block_id)


def _is_empty(text: str, heading: Block) -> bool:
    """Whether a heading has no title; its path then ends with the one above it."""
    return _HASHES.fullmatch(text, heading.start, heading.end) is not None


def heading_result(title: str, level: int = 1) -> ReadResult:
    """Return a heading as a result; of an empty title nothing."""
    inline = Inline()
    inline.add_text(title[:LONGEST_NAME])
    prose = inline.take()
    return read_result([Heading(level, prose, {})] if prose.text else [], {}, ())


def code_result(code: str, language: str) -> ReadResult:
    """Return code as a result, in a fence; of white space nothing."""
    lines = code.split("\n")
    while lines and not lines[-1].strip():
        lines.pop()
    start = next((index for index, line in enumerate(lines) if line.strip()), 0)
    return read_result([Code("\n".join(lines[start:]), language, {})] if lines else [], {}, ())


def plain_result(text: str, *, first_line: int = 1) -> ReadResult:
    """Return plain text as a result: paragraphs between empty lines, in which nothing is markup."""
    elements, line, reached = list[Paragraph](), first_line, 0
    for found in [*_EMPTY_LINES.finditer(text), None]:
        paragraph = text[reached : found.start() if found else len(text)]
        if prose := plain_prose(paragraph.split("\n")):
            first = line + paragraph[: len(paragraph) - len(paragraph.lstrip())].count("\n")
            last = first + paragraph.strip().count("\n")
            elements.append(Paragraph(prose, {"line_start": first, "line_end": last}))
        if found:
            line += text.count("\n", reached, found.end())
            reached = found.end()
    return read_result(elements, {}, ())


def plain_prose(lines: Sequence[str]) -> Prose | None:
    """Return lines of plain text as prose that reads the same as Markdown; None if they are empty."""
    stripped = [line.strip() for line in lines]
    shown = [_shown(line) for line in stripped if line]
    return Prose("\n".join(shown), (), " ".join(filter(None, stripped))) if shown else None


def _shown(line: str) -> str:
    escaped_line = at_line_start(escaped(line))
    return escaped_line + "\\" if line.endswith("\\") else escaped_line  # one alone would break the line


def markdown_result(text: str) -> ReadResult:
    """Read Markdown that others follow: without front matter, with a fence that is left open closed."""
    body = text[front_matter_end(text) :].strip("\n")
    result = read_markdown(body)
    last = result.blocks[-1] if result.blocks else None
    if last and last.kind == "code" and (fence := _OPEN_FENCE.match(body, last.start)):
        closing = body.rstrip().rpartition("\n")[2].strip()
        is_closed = last.start + len(fence[0]) < len(body.rstrip()) and set(closing) == {fence[1][0]}
        if not is_closed or len(closing) < len(fence[1]):
            return read_markdown(f"{body.rstrip()}\n{fence[1]}")
    return result


def document_result(document: Document) -> ReadResult:
    """Return a document as a result that can be joined: Markdown, whatever it was."""
    kind = document.metadata.source_type
    if kind == "text":
        return plain_result(document.text)._replace(left_out=document.left_out)
    if kind in {"json", "jsonl"}:
        return code_result(document.text, "json")._replace(left_out=document.left_out)
    if kind == "markdown":
        return markdown_result(document.text)._replace(left_out=document.left_out)
    links = {"links": document.metadata.links}
    return ReadResult(document.text, document.blocks, links, (), document.left_out, document.link_starts)
