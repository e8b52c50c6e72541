"""Fixtures: small texts whose expected result is the input with cut marks.

A file begins with a header, which ends at a line `---8<---`:

    # The rule that the file shows, for people.
    max_tokens = 20            an option of the strategy; `tokenizer` and `format` may be set too (`pages`: see below)
    types: paragraph, list     the types of all chunks, or `none` for no chunks at all
    path 2: Guide > Setup      the headings path of chunk 2
    overlap 2: and so on.      the overlap before the core of chunk 2; every other chunk must have none
    ahead 1: and so on.        the overlap after the core of chunk 1; every other chunk must have none
    before 2: ```python        the context before the core of chunk 2; every other chunk must have none
    after 1: ```               the context after the core of chunk 1; every other chunk must have none
    blocks 2: 3 | 4 5 | 6      the numbers of the blocks of chunk 2: overlap before, core, overlap after
    text 2: one⏎⏎two           the full text of chunk 2
    embedding 2: [PAGE] one    what the embedder gets of chunk 2
    dropped: 2, 3              the chunks that had no room for their context; no others
    oversize: 1                the chunks that are figures over the limit; no others

`⏎` stands for a line end. In the text `┃` stands directly before the first character of every core but the first. A
core ends with the last content before the next mark: the laws, which are checked too, leave no other place for it.
With `format = pages` a line `␌` ends a page.

Where there are two levels, `║` stands before a parent (and so before its first child), `┃` before every other child.
The chunks are numbered as they come: a parent, then its children.
"""

from __future__ import annotations

import difflib
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

import spanwise
from spanwise import Chunk, Document
from spanwise.chunking.strategies import STRATEGIES
from spanwise.testing.laws import broken_laws
from spanwise.text.tokens import tokenizer_of

FIXTURES = Path(__file__).parent / "fixtures"
FILES = sorted(path for name in STRATEGIES for path in (FIXTURES / name).glob("*.md"))
MARK = "┃"
PARENT_MARK = "║"
END_OF_HEADER = "---8<---\n"
PAGE_END = "\n␌\n"
PER_CHUNK = ("path", "overlap", "ahead", "before", "after", "blocks", "text", "embedding")
COMPLETE = ("overlap", "ahead", "before", "after", "dropped", "oversize")
"""Facts that must hold only for the chunks named in the header."""


@dataclass
class Fixture:
    """The contents of a fixture file."""

    marked: str
    options: dict[str, Any] = field(default_factory=dict)
    facts: dict[str, str] = field(default_factory=dict)
    tokenizer: str = "words"
    format: str = "markdown"

    @property
    def pages(self) -> list[str]:
        return self.marked.replace(MARK, "").replace(PARENT_MARK, "").split(PAGE_END)

    @property
    def text(self) -> str:
        return self.marked_text.replace(MARK, "").replace(PARENT_MARK, "")

    @property
    def marked_text(self) -> str:
        """The document's text with the marks."""
        return self.marked.replace(PAGE_END, "\n\n") if self.format == "pages" else self.marked


def fixture_of(path: Path) -> Fixture:
    """Read a fixture file."""
    header, _, marked = path.read_text(encoding="utf-8").partition(END_OF_HEADER)
    fixture = Fixture(marked.removesuffix("\n"))
    for line in header.splitlines():
        if line.startswith("# "):
            continue
        name, is_fact, value = line.partition(": ")
        if is_fact:
            fixture.facts[name] = value
            continue
        name, _, value = line.partition(" = ")
        if name in {"tokenizer", "format"}:
            setattr(fixture, name, value)
        else:
            fixture.options[name] = option_value(value)
    return fixture


def option_value(value: str) -> Any:
    """Return an option's value as a bool, int, float or string."""
    if value in {"true", "false"}:
        return value == "true"
    for kind in (int, float):
        try:
            return kind(value)
        except ValueError:
            continue
    return value


def marked_as_cut(text: str, chunks: tuple[Chunk, ...]) -> str:
    """Return the text with marks at the actual cuts."""
    parents = {chunk.parent_id for chunk in chunks}
    marks = {chunk.char_start: MARK for chunk in chunks}
    marks |= {chunk.char_start: PARENT_MARK for chunk in chunks if chunk.chunk_id in parents}
    edges = [0, *sorted(marks)[1:], len(text)]
    return "".join(marks.get(start, "") * (start > edges[0]) + text[start:end] for start, end in pairwise(edges))


def facts_of(chunks: tuple[Chunk, ...]) -> dict[str, str]:
    """Return all facts that a header may state."""
    facts = {
        "types": ", ".join(chunk.chunk_type for chunk in chunks) or "none",
        "dropped": ", ".join(str(chunk.chunk_index + 1) for chunk in chunks if chunk.context_dropped),
        "oversize": ", ".join(str(chunk.chunk_index + 1) for chunk in chunks if chunk.oversize),
    }
    for number, chunk in enumerate(chunks, 1):
        core = next(index for index, piece in enumerate(chunk.pieces) if piece.role == "core")
        facts |= {
            f"path {number}": " > ".join(chunk.headings_path),
            f"overlap {number}": text_with_role(chunk, "overlap_prev", 0, core),
            f"ahead {number}": text_with_role(chunk, "overlap_next", core, len(chunk.pieces)),
            f"before {number}": text_with_role(chunk, "context", 0, core),
            f"after {number}": text_with_role(chunk, "context", core, len(chunk.pieces)),
            f"blocks {number}": numbers(chunk),
            f"text {number}": chunk.full_text,
            f"embedding {number}": chunk.embedding_text,
        }
    return {name: value.replace("\n", "⏎") for name, value in facts.items()}


def numbers(chunk: Chunk) -> str:
    """Return the numbers of a chunk's blocks by role."""
    groups = (chunk.overlap_prev_block_indices, chunk.core_block_indices, chunk.overlap_next_block_indices)
    return " | ".join(" ".join(map(str, group)) for group in groups).strip()


def text_with_role(chunk: Chunk, role: str, first: int, after: int) -> str:
    """Return the text of the pieces with one role in a range of the pieces."""
    pieces = [piece for piece in chunk.pieces[first:after] if piece.role == role]
    return "\n".join(chunk.document.text[piece.start : piece.end] for piece in pieces)


def differences(fixture: Fixture, chunks: tuple[Chunk, ...]) -> list[str]:
    """Return all differences from the fixture, the marks first."""
    expected, found = fixture.marked_text, marked_as_cut(fixture.text, chunks)
    wrong = []
    if expected != found:
        lines = difflib.unified_diff(expected.splitlines(), found.splitlines(), "expected", "found", n=1, lineterm="")
        wrong += ["the marks are elsewhere:", *lines, "", "with the marks that were really made:", found, ""]
    facts = facts_of(chunks)
    named = {name: value for name, value in facts.items() if value and name.split()[0] in COMPLETE}
    for name in sorted({*fixture.facts, *named}):
        want, got = fixture.facts.get(name, ""), facts.get(name, "")
        if want != got:
            wrong.append(f"{name}: expected {want!r}, found {got!r}")
    if fixture.facts.get("types") == "none" and chunks:
        wrong.append("expected no chunks")
    if not chunks and fixture.facts.get("types") != "none":
        wrong.append("found no chunks")
    return wrong


def made(fixture: Fixture, strategy: Any) -> tuple[Document, tuple[Chunk, ...]]:
    paged = fixture.format == "pages"
    document = spanwise.read_pages(fixture.pages) if paged else spanwise.read_text(fixture.text, fixture.format)
    assert document.text == fixture.text
    return document, spanwise.chunk(document, strategy, fixture.tokenizer, **fixture.options)


@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_fixture(path: Path) -> None:
    fixture = fixture_of(path)
    document, chunks = made(fixture, path.parent.name)
    wrong = differences(fixture, chunks)
    records = [chunk.to_dict() for chunk in chunks]
    limits = fixture.options.get("max_tokens"), fixture.options.get("parent_tokens")
    wrong += broken_laws(document, records, tokenizer_of(fixture.tokenizer), *limits)
    assert not wrong, "\n".join(["", *wrong])


@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_header_has_the_rule_and_known_facts_only(path: Path) -> None:
    header, cut, _ = path.read_text(encoding="utf-8").partition(END_OF_HEADER)
    assert cut
    assert header.startswith("# ")
    known = {"types", "dropped", "oversize"}
    for name in fixture_of(path).facts:
        assert name in known or (name.split()[0] in PER_CHUNK and name.split()[1].isdigit()), name


def test_a_wrong_mark_is_reported() -> None:
    fixture = Fixture(f"One two three.\n\nFour {MARK}five six.", {"max_tokens": 16, "min_tokens": 0})
    _, chunks = made(fixture, "structure")
    message = "\n".join(differences(fixture, chunks))
    assert "-Four ┃five six." in message
    assert "+Four five six." in message


def test_a_fact_missing_in_the_header_is_reported() -> None:
    sentence = "One two three four five six seven eight nine ten eleven twelve."
    options = {"max_tokens": 24, "target_tokens": 12, "min_tokens": 4, "overlap_tokens": 2}
    fixture = Fixture(f"{sentence}\n\n{MARK}{sentence}", options)
    _, chunks = made(fixture, "structure")
    assert differences(fixture, chunks) == ["overlap 2: expected '', found 'eleven twelve.'"]
