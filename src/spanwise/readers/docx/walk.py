"""The walk over a part: every paragraph and table becomes a draft, and drafts become elements."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from spanwise.documents.document import LeftOut
from spanwise.readers.docx.content import Line, leave_hidden, read_content
from spanwise.readers.docx.fields import Fields
from spanwise.readers.docx.imported import imported_elements
from spanwise.readers.docx.notes import Notes
from spanwise.readers.docx.numbering import Numbering
from spanwise.readers.docx.styles import Look, Style, Styles, left_of
from spanwise.readers.docx.tables import table_elements
from spanwise.readers.markup.elements import Element, Figure, Heading, Paragraph, Reference
from spanwise.readers.ooxml.drafts import Draft, Entry, Label, PagedElement, grouped, paragraph_draft
from spanwise.readers.ooxml.names import ALTERNATES, M, R, W, child, chosen, value, words_of
from spanwise.readers.ooxml.package import Package, left_out
from spanwise.readers.ooxml.runs import Run, plain_of, prose_of

_DEEPEST: Final = 40
_DEEPEST_IMPORT: Final = 3
_NO_LOOK: Final = Look()
_CONTENTS: Final = "table of contents"
_SKIPPED: Final = frozenset({f"{W}del", f"{W}moveFrom", f"{W}sectPr", f"{W}tcPr", f"{W}sdtPr", f"{W}sdtEndPr"})


@dataclass(slots=True, eq=False)
class Shared:
    """What all walks over the parts of a document share."""

    package: Package
    styles: Styles
    numbering: Numbering
    notes: Notes
    keep_all: bool = False
    imports: int = 0  # how deep this document lies in others
    title: str = ""
    left_out: list[LeftOut] = field(default_factory=list)
    drawn: set[str] = field(default_factory=set)


class Walk:
    """A walk over a part, with its open fields and the page that it has reached."""

    def __init__(self, shared: Shared, part: str, root: Any) -> None:
        self.shared = shared
        self.package = shared.package
        self.part = part
        self.fields = Fields(root)
        self.page = 1
        self._is_fresh = True  # whether the page has no text yet
        self._contents: list[str] = []
        self._numbers = {paragraph: index for index, paragraph in enumerate(root.iter(f"{W}p"), 1)}

    # ── where something is ───────────────────────────────────────────────────────────────────────────────────────

    def reference(self, element: Any) -> Reference:
        """Return the source reference of an element: the number of its first paragraph."""
        paragraph = element if element.tag == f"{W}p" else next(element.iter(f"{W}p"), None)
        number: Mapping[str, Any] = {} if paragraph is None else {"paragraph": self._numbers[paragraph]}
        return number if self.part == self.package.main else {"part": self.part, **number}

    def break_page(self, line: Line | None = None, *, once: bool = False) -> None:
        """Begin a page; `once` if the page may have begun already. Text of a paragraph before it stays on its page."""
        if once and self._is_fresh:
            return
        if line is not None and line.page is not None:
            line.pages.append((line.page, line.runs))
            line.runs, line.page = [], None
        self.page += 1
        self._is_fresh = True

    def see_page(self, line: Line) -> None:
        """Take note of where Word began a page when it last laid the document out."""
        if not self._is_fresh:
            self.page += 1
            self._is_fresh = True

    # ── text ─────────────────────────────────────────────────────────────────────────────────────────────────────

    @property
    def in_contents(self) -> bool:
        """Whether the walk is in a table of contents, which is left out."""
        return self.fields.is_contents and not self.shared.keep_all

    def add_text(self, line: Line, text: str, look: Look, target: str) -> None:
        """Add text of a run, unless it is the instruction of a field."""
        if not self.fields.hides:
            self.add_shown(line, text, look, target)

    def add_shown(self, line: Line, text: str, look: Look = _NO_LOOK, target: str = "") -> None:
        """Add text that is shown, hidden, or navigation."""
        if self.in_contents:
            self._contents.append(text)
        elif look.is_hidden:
            line.hidden.append(text)
        else:
            if line.page is None and not text.isspace():
                line.page, self._is_fresh = self.page, False
            line.runs.append(Run(text, look.marks, look.is_code, target or self.fields.target))

    def end_contents(self, line: Line) -> None:
        """Report a table of contents when it has ended."""
        if self._contents and not self.in_contents:
            self.leave_out("navigation", "".join(self._contents), line.reference)
            self._contents = []

    def leave_out(self, reason: str, text: str, reference: Reference) -> None:
        """Report what is left out, if it has text."""
        if text.strip():
            self.shared.left_out.append(left_out(reason, text, reference))

    # ── blocks ───────────────────────────────────────────────────────────────────────────────────────────────────

    def flow(self, container: Any, depth: int = 0) -> list[PagedElement]:
        """Return the elements of the body, a cell, a text box or a note."""
        if depth > _DEEPEST:
            return self._flat(container)
        blocks = _Blocks(self, depth)
        blocks.add_children(container, depth)
        return blocks.finished()

    def _flat(self, container: Any) -> list[PagedElement]:
        """Return the text of what is nested too deeply as one paragraph."""
        line = Line(self.reference(container), runs=[Run(words_of(container, f"{W}t"))])
        prose = prose_of(line.runs)
        return [PagedElement(self.page, Paragraph(prose, line.reference))] if prose.text else []


class _Blocks:
    """The drafts of one container; `pending` is a paragraph that goes on in the next."""

    def __init__(self, walk: Walk, depth: int) -> None:
        self._walk = walk
        self._shared = walk.shared
        self._depth = depth
        self._drafts: list[Draft] = []
        self._pending: Line | None = None

    def finished(self) -> list[PagedElement]:
        """Return all drafts as elements."""
        if self._pending is not None:
            self._finish(self._pending, None)
        return grouped(self._drafts)

    def add_children(self, container: Any, depth: int) -> None:
        """Add the children of a container, or of an element that groups blocks."""
        for element in container:
            tag = element.tag
            if tag == f"{W}p":
                self._paragraph(element)
            elif tag == f"{W}tbl":
                self._table(element)
            elif tag == f"{W}altChunk":
                self._import(element)
            elif tag in _SKIPPED:
                continue
            elif depth > _DEEPEST:
                self._drafts += (Draft(page, "block", flat) for page, flat in self._walk._flat(element))
            elif tag == f"{W}sdt":
                self._control(element, depth)
            elif tag == ALTERNATES:
                choice = chosen(element)
                self.add_children(() if choice is None else choice, depth + 1)
            elif tag in {f"{M}oMathPara", f"{M}oMath", f"{W}r", f"{W}hyperlink"}:
                self._loose(element)
            elif len(element):
                self.add_children(element, depth + 1)

    def _control(self, control: Any, depth: int) -> None:
        gallery = value(child(child(control, f"{W}sdtPr"), f"{W}docPartObj"), f"{W}docPartGallery")
        content = child(control, f"{W}sdtContent")
        if content is None:
            return
        if (gallery or "").lower() == _CONTENTS and not self._shared.keep_all:
            self._walk.leave_out("navigation", words_of(content, f"{W}t"), self._walk.reference(content))
        else:
            self.add_children(content, depth + 1)

    def _loose(self, element: Any) -> None:
        """Add what stands in no paragraph, though it should."""
        line = Line(self._walk.reference(element), self._shared.styles.paragraph(None))
        read_content(self._walk, [element], line, self._depth)
        self._finish(line, None)

    def _paragraph(self, paragraph: Any) -> None:
        walk = self._walk
        properties = child(paragraph, f"{W}pPr")
        line, self._pending = self._pending or Line(walk.reference(paragraph)), None
        line.style = self._shared.styles.paragraph(properties)
        if walk.in_contents:
            walk.add_shown(line, " ")
        if line.style.breaks_page:
            walk.break_page(once=True)
        read_content(walk, paragraph, line, self._depth)
        if properties is None:
            self._finish(line, None)
            return
        if _goes_on(properties):
            self._pending = line
        else:
            self._finish(line, properties)
        section = child(properties, f"{W}sectPr")
        if section is not None and value(section, f"{W}type") not in {"continuous", "nextColumn"}:
            walk.break_page()

    def _finish(self, line: Line, properties: Any) -> None:
        """Make drafts of a paragraph that was read."""
        if line.hidden:
            leave_hidden(self._walk, line)
        style = line.style
        page = line.page or (line.pages[0][0] if line.pages else self._walk.page)
        if line.pages:
            page = line.pages[0][0]
        label = self._label(style)
        runs = [run for _, before in line.pages for run in before] + line.runs
        has_text = any(run.is_note or not run.text.isspace() for run in runs)
        if style.kind == "code" and (has_text or (self._drafts and self._drafts[-1].kind == "code")):
            self._drafts.append(Draft(page, "code", (plain_of(runs), line.reference)))
        elif has_text and (style.level or style.kind == "title"):
            self._heading(line, runs, label, page)
        elif label and (has_text or line.beside):
            self._item(line, runs, label, (page, properties))
            return
        elif has_text:
            self._text(line)
        self._drafts += (Draft(page, "block", element) for element in line.beside)

    def _label(self, style: Style) -> Label | None:
        if style.num_id is None or style.kind == "code":
            return None
        return self._shared.numbering.label(style.num_id, style.num_level, style.num_style)

    def _heading(self, line: Line, runs: list[Run], label: Label | None, page: int) -> None:
        if label and label.text:
            runs = [Run(label.text + " "), *runs]
        prose = prose_of(runs, marked=False)
        if not prose.text:
            return
        if line.style.kind == "title" and not line.style.level and not self._shared.title:
            self._shared.title = prose.visible
        prose = prose._replace(text=" ".join(prose.text.split("  \n")))
        self._drafts.append(Draft(page, "block", Heading(line.style.level or 1, prose, line.reference)))

    def _item(self, line: Line, runs: list[Run], label: Label, place: tuple[int, Any]) -> None:
        page, properties = place
        if label.text and label.number is None:
            runs = [Run(label.text + " "), *runs]
        prose = prose_of(runs)
        text = (Paragraph(prose, line.reference),) if prose.text else ()
        figures = tuple(one for one in line.beside if isinstance(one, Figure))
        own = left_of(child(properties, f"{W}ind"))
        left = next((one for one in (own, label.left, line.style.left) if one is not None), None)
        if text or figures:
            self._drafts.append(Draft(page, "item", Entry(label, left, (*text, *figures), line.reference)))
        others = (one for one in line.beside if not isinstance(one, Figure))
        self._drafts += (Draft(page, "block", element) for element in others)

    def _text(self, line: Line) -> None:
        """Add a paragraph; one with page breaks inside is one on each page."""
        for page, runs in [*line.pages, (line.page or self._walk.page, line.runs)]:
            prose = prose_of(runs)
            if prose.text:
                paragraph = Paragraph(prose, line.reference)
                self._drafts.append(paragraph_draft(page, line.style.kind, paragraph, line.style.left))

    def _table(self, table: Any) -> None:
        walk = self._walk
        self._flush()
        pages: list[int] = []

        def content(cell: Any) -> list[Element]:
            found = walk.flow(cell, self._depth + 1)
            pages.extend(one.page for one in found[:1])
            return [one.element for one in found]

        for element in table_elements(table, content, walk.reference):
            self._drafts.append(Draft(min(pages, default=walk.page), "block", element))

    def _flush(self) -> None:
        if self._pending is not None:
            line, self._pending = self._pending, None
            self._finish(line, None)

    def _import(self, chunk: Any) -> None:
        """Add a part in another format; one that can't be read is left out."""
        self._flush()
        walk, shared = self._walk, self._shared
        relation = walk.package.target(walk.part, chunk.get(f"{R}id"))
        if relation is None or relation.is_external or relation.target in shared.drawn:
            return
        shared.drawn.add(relation.target)
        reference = {} if walk.part == walk.package.main else {"part": walk.part}
        found = None
        if relation.target in walk.package.container and shared.imports < _DEEPEST_IMPORT:
            data = walk.package.container.read(relation.target)
            found = imported_elements(data, relation.target, reference, self._inner)
        if found is None:
            shared.left_out.append(left_out("attachment", relation.target, reference))
        self._drafts += (Draft(walk.page, "block", element) for element in found or ())

    def _inner(self, data: bytes, part: str) -> list[Element]:
        from spanwise.readers.docx import elements_of  # the door imports this module

        inner, _ = elements_of(data, part, keep_all=self._shared.keep_all, imports=self._shared.imports + 1)
        return [one.element for one in inner]


def _goes_on(properties: Any) -> bool:
    """Whether a paragraph goes on in the next: its mark was deleted or moved away, or it is a large initial."""
    letters = child(properties, f"{W}rPr")
    if letters is not None and any(child(letters, W + name) is not None for name in ("del", "moveFrom")):
        return True
    frame = child(properties, f"{W}framePr")
    return frame is not None and frame.get(f"{W}dropCap") in {"drop", "margin"}
