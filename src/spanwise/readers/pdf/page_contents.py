"""The contents of a page in the order of the file: lines, tables and pictures, not yet classified."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Final, NamedTuple

from spanwise.documents.document import Link
from spanwise.readers.pdf.aligned_tables import aligned_tables, written_across
from spanwise.readers.pdf.drawings import Drawings, drawings_of
from spanwise.readers.pdf.geometry import Box, Frame, around
from spanwise.readers.pdf.lines import Line, joined, lines_of
from spanwise.readers.pdf.links import with_links
from spanwise.readers.pdf.open_tables import open_tables
from spanwise.readers.pdf.tables import Table, ruled_tables, tagged_tables
from spanwise.readers.pdf.tags import Tag, tags_of
from spanwise.readers.pdf.words import Style, Word, main_direction, without_false_mono, words_of

if TYPE_CHECKING:
    import pypdfium2

_SMALLEST_PICTURE: Final = 28.0  # points: a smaller one is an ornament
_TAGS_USED: Final = 0.5  # of the tags of a page must have text for the tags to be trusted
_BACKGROUND: Final = 0.85  # of the page: a larger picture is a background


class Picture(NamedTuple):
    """A picture on a page."""

    box: Box


class Contents(NamedTuple):
    """The contents of a page; boxes are turned so that its text is upright."""

    number: int
    frame: Frame
    items: tuple[Line | Table | Picture, ...]
    tags: dict[int, Tag]
    dots: tuple[Box, ...]
    sizes: Counter[tuple[float, bool]]  # number of characters by size and whether fixed-pitch
    links: tuple[Link, ...] = ()  # its words refer to them by index
    pictured: bool = False  # a picture covers the page
    hidden: str = ""  # text outside the visible area

    @property
    def lines(self) -> list[Line]:
        """The lines that are in no table."""
        return [item for item in self.items if isinstance(item, Line)]


def empty_contents(number: int) -> Contents:
    """Return the contents of a page that can't be read."""
    return Contents(number, Frame(0, 0, 1, 1, 0), (), {}, (), Counter())


def contents_of(document: pypdfium2.PdfDocument, page: pypdfium2.PdfPage, number: int) -> Contents:
    """Read a page."""
    frame = Frame(*_visible_area(page), page.get_rotation() // 90 % 4)
    words, hidden = _split_by_visibility(without_false_mono(words_of(page, frame)), frame)
    words, links = with_links(document, page, frame, words)
    drawings = drawings_of(page, frame)
    frame = frame._replace(turns=-main_direction(words) % 4)
    if frame.turns:
        words, drawings = _turned(words, drawings, frame)
    if frame.turns or frame.rotation:
        words = _top_down(words)
    tags = _trusted(tags_of(page), words) if any(word.style.tag >= 0 for word in words) else {}
    pictures, pictured = _pictures(drawings.pictures, frame)
    items = _with_pictures(_lines_and_tables(words, drawings, tags), pictures)
    dots, sizes = tuple(drawings.dots), _sizes(words, frame)
    return Contents(number, frame, tuple(items), tags, dots, sizes, tuple(links), pictured, joined(hidden))


def _trusted(tags: dict[int, Tag], words: Iterable[Word]) -> dict[int, Tag]:
    """Return the tags of a page if its words use them; in an edited page all text may have one number."""
    used = {word.style.tag for word in words}
    return tags if len(used & tags.keys()) >= _TAGS_USED * len(tags) else {}


def _top_down(words: list[Word]) -> list[Word]:
    """Reverse lines that the library returns from the bottom up, as it does where text runs sideways."""
    lines = list(lines_of(words))
    steps = [below.box.middle - above.box.middle for above, below in pairwise(lines)]
    if sum(step < 0 for step in steps) <= 0.6 * len(steps):
        return words
    return [word for line in reversed(lines) for word in line.words]


def _sizes(words: Iterable[Word], frame: Frame) -> Counter[tuple[float, bool]]:
    """Count characters by size, except in the margins."""
    sizes = Counter[tuple[float, bool]]()
    height = frame.upright_size[1]
    for word in words:
        if 0.1 * height < word.box.middle < 0.9 * height:
            sizes[word.style.size, word.style.mono] += len(word.text)
    return sizes


def _split_by_visibility(words: list[Word], frame: Frame) -> tuple[list[Word], list[Word]]:
    """Separate the visible words from those outside the page, such as printers' marks."""
    width, height = frame.size
    page = Box(0, 0, width, height)
    visible = [page.holds(word.box.center, word.box.middle, 1) for word in words]
    if all(visible):
        return words, []
    pairs = list(zip(words, visible, strict=True))
    return [word for word, inside in pairs if inside], [word for word, inside in pairs if not inside]


def _visible_area(page: pypdfium2.PdfPage) -> tuple[float, float, float, float]:
    left, bottom, right, top = page.get_bbox()
    if right - left < 1 or top - bottom < 1:
        width, height = page.get_size()
        return 0.0, 0.0, width, height
    return left, bottom, right, top


def _turned(words: list[Word], drawings: Drawings, frame: Frame) -> tuple[list[Word], Drawings]:
    styles: dict[int, Style] = {}
    turned = []
    for word in words:
        key = id(word.style)
        if key not in styles:
            styles[key] = word.style._replace(quarter=(word.style.quarter + frame.turns) % 4)
        turned.append(word._replace(box=frame.upright(word.box), style=styles[key]))
    return turned, Drawings(*([frame.upright(box) for box in boxes] for boxes in drawings))


def _lines_and_tables(words: list[Word], drawings: Drawings, tags: dict[int, Tag]) -> list[Line | Table]:
    """Return tables and lines; a table takes the position of its first word."""
    upright = [word if word.style.quarter == 0 else word._replace(box=Box(-1, -1, -1, -1)) for word in words]
    tables: list[tuple[Table, set[int]]] = tagged_tables(words, tags)
    used = {index for _, indices in tables for index in indices}
    for table, indices in [*ruled_tables(upright, drawings), *open_tables(upright, drawings, used)]:
        if not indices & used:
            tables.append((table, indices))
            used |= indices
    items: list[Line | Table] = []
    pending: list[Word] = []
    firsts = {min(indices): table for table, indices in tables}
    for index, word in enumerate(words):
        if index in firsts:
            items += lines_of(pending)
            pending = []
            items.append(firsts[index])
        if index not in used:
            pending.append(word)
    items += lines_of(pending)
    return _with_aligned(items, drawings)


def _with_aligned(items: list[Line | Table], drawings: Drawings) -> list[Line | Table]:
    """Replace lines that are rows of a table without rules."""
    done: list[Line | Table] = []
    run: list[Line] = []
    for item in [*items, None]:
        if isinstance(item, Line):
            run.append(item)
            continue
        run = written_across(run)
        tables = {min(indices): (table, indices) for table, indices in aligned_tables(run, drawings)}
        used = {index for _, indices in tables.values() for index in indices}
        for index, line in enumerate(run):
            if index in tables:
                done.append(tables[index][0])
            elif index not in used:
                done.append(line)
        run = []
        done += [item] if item is not None else []
    return done


def _pictures(boxes: Iterable[Box], frame: Frame) -> tuple[list[Picture], bool]:
    """Return the pictures large enough for a figure, with tiles joined; and whether one covers the page."""
    width, height = frame.upright_size
    page = Box(0, 0, width, height)
    clipped = [Box(max(b.left, 0), max(b.top, 0), min(b.right, width), min(b.bottom, height)) for b in boxes]
    united: list[Box] = []
    for box in sorted(clipped, key=lambda box: (box.top, box.left))[:500]:
        near = Box(box.left - 2, box.top - 2, box.right + 2, box.bottom + 2)
        touching = [other for other in united if other.shared_area(near) > 0]
        united = [other for other in united if other not in touching]
        united.append(around([box, *touching]))
    pictured = any(box.area > _BACKGROUND * page.area for box in united)
    large = [box for box in united if min(box.width, box.height) >= _SMALLEST_PICTURE]
    return [Picture(box) for box in large if box.area <= _BACKGROUND * page.area], pictured


def _with_pictures(items: Sequence[Line | Table], pictures: Iterable[Picture]) -> list[Line | Table | Picture]:
    """Insert each picture after the last item above it in its column."""
    placed: list[Line | Table | Picture] = list(items)
    for picture in pictures:
        column = around([picture.box, *(item.box for item in placed if item.box.shared_width(picture.box) > 0)])
        target = 0
        for index, item in enumerate(placed):
            above = item.box.bottom <= picture.box.top + 3 and item.box.shared_width(column) > 0
            target = index + 1 if above else target
        placed.insert(target, picture)
    return placed
