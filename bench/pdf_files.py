"""PDFs that the bench makes itself, so that their contents are known. Each has its expected text beside it as Markdown.

The demo's handbooks, in five languages, are printed by Chromium. Long documents are set by reportlab: prose in one
column and in two, with hyphenated words, lists, running heads and page numbers; and tables, with rules and without.
Their sentences are words of the demo in random order, the same in every run.
"""

from __future__ import annotations

import random
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple
from xml.sax.saxutils import escape

from corpora import DEMO
from pdf_scores import html_of

BROWSERS = ("chromium", "chromium-browser", "google-chrome")
RUNNING_HEAD = "Running head of the edition"
LONG = 10  # letters: words of this length or longer may be hyphenated
_STYLE = "body { font: 11pt 'DejaVu Sans', 'Noto Sans CJK SC', sans-serif } td, th { border: 1px solid; padding: 4px }"

Block = tuple[str, Any]  # kind and content


class Case(NamedTuple):
    """A PDF, its kind of document, and its expected text, if known."""

    group: str
    path: Path
    truth: str | None


def given(folder: Path, *endings: str) -> list[Case]:
    """Return the files of a folder; a Markdown file of the same name is the expected text."""
    cases = []
    for path in sorted(found for found in folder.rglob("*") if found.suffix.lower() in (endings or (".pdf",))):
        beside = path.with_suffix(".md")
        cases.append(Case("given", path, beside.read_text(encoding="utf-8") if beside.exists() else None))
    return cases


def made(folder: Path, size: int) -> list[Case]:
    """Make all PDFs; long documents have about `size` pages."""
    shapes: dict[str, tuple[Callable[[random.Random], Iterator[Block]], int, bool]] = {
        "one column": (lambda chance: prose(chance, 14 * size), 1, True),
        "two columns": (lambda chance: prose(chance, 18 * size), 2, True),
        "ruled tables": (lambda chance: tables(chance, size), 1, True),
        "tables without rules": (lambda chance: tables(chance, size), 1, False),
    }
    cases = _printed(folder)
    for group, (blocks, columns, ruled) in shapes.items():
        story = list(blocks(random.Random(group)))
        path = folder / f"{group.replace(' ', '-')}.pdf"
        _typeset(story, path, columns, ruled)
        truth = "\n\n".join(map(markdown_of, story)) + "\n"
        path.with_suffix(".md").write_text(truth, encoding="utf-8")
        cases.append(Case(group, path, truth))
    return cases


def _printed(folder: Path) -> list[Case]:
    browser = next(filter(None, map(shutil.which, BROWSERS)), None)
    if browser is None:
        print("  no Chromium: the handbooks in five languages are left out", file=sys.stderr)
        return []
    cases = []
    for source in sorted(DEMO.glob("*.md")):
        truth = source.read_text(encoding="utf-8")
        page, path = folder / f"{source.stem}.html", folder / f"{source.stem}.pdf"
        head = f'<!doctype html><html lang="{source.stem[-2:]}"><meta charset="utf-8"><style>{_STYLE}</style>'
        page.write_text(head + html_of(truth), encoding="utf-8")
        options = ("--headless", "--no-sandbox", "--disable-gpu", "--no-pdf-header-footer", f"--print-to-pdf={path}")
        subprocess.run([browser, *options, page.as_uri()], check=True, capture_output=True, timeout=120)
        path.with_suffix(".md").write_text(truth, encoding="utf-8")
        cases.append(Case("handbooks", path, truth))
    return cases


def _vocabulary() -> list[str]:
    text = "".join((DEMO / f"handbook.{language}.md").read_text(encoding="utf-8") for language in ("en", "de"))
    return sorted(set(re.findall(r"(?<![\w.@/-])[a-zäöüß]{2,}(?![\w.@/-])", text)))


class Author:
    """A generator of sentences from the demo's words."""

    def __init__(self, chance: random.Random) -> None:
        self._chance = chance
        self._words = _vocabulary()

    def words(self, fewest: int, most: int) -> str:
        """Return random words."""
        return " ".join(self._chance.choices(self._words, k=self._chance.randint(fewest, most)))

    def sentences(self, fewest: int, most: int) -> str:
        """Return random sentences."""
        count = self._chance.randint(fewest, most)
        return " ".join(f"{self.words(6, 18)}.".capitalize() for _ in range(count))

    def title(self, number: str) -> str:
        """Return a numbered title."""
        return f"{number} {self.words(2, 5).capitalize()}"


def prose(chance: random.Random, length: int) -> Iterator[Block]:
    author = Author(chance)
    yield "h1", author.words(3, 5).capitalize()
    section = part = 0
    for index in range(length):
        if index % 12 == 0:
            section, part = section + 1, 0
            yield "h2", author.title(f"{section}.")
        elif index % 4 == 0:
            part += 1
            yield "h3", author.title(f"{section}.{part}")
        if index % 7 == 3:
            yield "p", f"{author.words(4, 8).capitalize()}:"
            yield chance.choice(["ul", "ol"]), [f"{author.words(3, 16)}." for _ in range(chance.randint(2, 5))]
        else:
            yield "p", author.sentences(2, 6)


def tables(chance: random.Random, length: int) -> Iterator[Block]:
    author = Author(chance)
    yield "h1", author.words(3, 5).capitalize()
    for index in range(2 * length):
        yield "h2", author.title(f"{index + 1}.")
        yield "p", author.sentences(2, 4)
        columns = chance.randint(3, 5)
        head = [author.words(1, 2).capitalize() for _ in range(columns)]
        rows = [
            [author.words(1, 3), *(f"{chance.randrange(10_000) / 10:,.1f}" for _ in range(columns - 1))]
            for _ in range(chance.randint(4, 9))
        ]
        yield "table", [head, *rows]
        yield "p", author.sentences(1, 3)


def markdown_of(block: Block) -> str:
    kind, content = block
    if kind[0] == "h":
        return f"{'#' * int(kind[1])} {content}"
    if kind == "ul":
        return "\n".join(f"- {item}" for item in content)
    if kind == "ol":
        return "\n".join(f"{number}. {item}" for number, item in enumerate(content, 1))
    if kind == "table":
        lines = [f"| {' | '.join(row)} |" for row in content]
        return "\n".join([lines[0], f"|{' --- |' * len(content[0])}", *lines[1:]])
    return str(content)


def _hyphenated(text: str) -> str:
    """Return a text with soft hyphens in long words."""
    return " ".join(
        f"{word[: len(word) // 2]}\xad{word[len(word) // 2 :]}" if len(word) >= LONG and word.isalpha() else word
        for word in escape(text).split(" ")
    )


def _typeset(story: list[Block], path: Path, columns: int, ruled: bool) -> None:
    """Typeset a document on A4, with running head and page numbers."""
    from reportlab.lib.pagesizes import A4
    from reportlab.platypus import BaseDocTemplate, Frame, PageTemplate

    width, height = A4
    room = (width - 144 - 18 * (columns - 1)) / columns

    def margins(canvas: Any, document: Any) -> None:
        canvas.setFont("Helvetica", 8)
        canvas.drawString(72, height - 40, RUNNING_HEAD)
        canvas.drawCentredString(width / 2, 30, str(document.page))

    frames = [
        Frame(72 + column * (room + 18), 64, room, height - 128, leftPadding=0, rightPadding=0)
        for column in range(columns)
    ]
    file = BaseDocTemplate(str(path), pagesize=A4, title=str(story[0][1]), invariant=1)
    file.addPageTemplates(PageTemplate(frames=frames, onPage=margins))
    file.build([flowable for block in story for flowable in _flowables(block, ruled)])


def _flowables(block: Block, ruled: bool) -> Iterator[Any]:
    from reportlab.lib.styles import ParagraphStyle, getSampleStyleSheet
    from reportlab.platypus import ListFlowable, Paragraph, Spacer, Table

    kind, content = block
    styles = getSampleStyleSheet()
    body = ParagraphStyle("body", styles["BodyText"], alignment=4, embeddedHyphenation=1)
    if kind[0] == "h":
        yield Paragraph(escape(content), styles["Title" if kind == "h1" else f"Heading{kind[1]}"])
    elif kind in {"ul", "ol"}:
        items = [Paragraph(_hyphenated(item), body) for item in content]
        yield ListFlowable(
            items, bulletType="bullet" if kind == "ul" else "1", bulletFormat=None if kind == "ul" else "%s."
        )
    elif kind == "table":
        rules = [("GRID", (0, 0), (-1, -1), 0.5, "black")] if ruled else []
        yield Table(content, style=[*rules, ("FONT", (0, 0), (-1, 0), "Helvetica-Bold")], repeatRows=1)
        yield Spacer(1, 8)
    else:
        yield Paragraph(_hyphenated(content), body)
