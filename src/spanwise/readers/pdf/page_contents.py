"""What stands on a page, in the order of the file: lines, tables and pictures, before anybody knows what they mean."""

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

_SMALLEST_PICTURE: Final = 28.0  # points: what is smaller is an ornament
_TAGS_USED: Final = 0.5  # of the tags of a page have text, if they are to be believed
_BACKGROUND: Final = 0.85  # of the page: a picture that is larger lies under the text


class Picture(NamedTuple):
    """A picture on a page."""

    box: Box


class Contents(NamedTuple):
    """A page: boxes are turned so that its text is upright."""

    number: int
    frame: Frame
    items: tuple[Line | Table | Picture, ...]
    tags: dict[int, Tag]
    dots: tuple[Box, ...]
    sizes: Counter[tuple[float, bool]]  # of its characters: their size, and whether all are equally wide
    links: tuple[Link, ...] = ()  # which its words name by number
    pictured: bool = False  # a picture covers the page
    hidden: str = ""  # text outside of what is shown

    @property
    def lines(self) -> list[Line]:
        """The lines that are in no table."""
        return [item for item in self.items if isinstance(item, Line)]


def empty_contents(number: int) -> Contents:
    """Give what stands on a page that can't be read."""
    return Contents(number, Frame(0, 0, 1, 1, 0), (), {}, (), Counter())


def contents_of(document: pypdfium2.PdfDocument, page: pypdfium2.PdfPage, number: int) -> Contents:
    """Read a page."""
    frame = Frame(*_visible(page), page.get_rotation() // 90 % 4)
    words, hidden = _parted(without_false_mono(words_of(page, frame)), frame)
    words, links = with_links(document, page, frame, words)
    drawings = drawings_of(page, frame)
    frame = frame._replace(turns=-main_direction(words) % 4)
    if frame.turns:
        words, drawings = _turned(words, drawings, frame)
    if frame.turns or frame.rotation:
        words = _downwards(words)
    tags = _believed(tags_of(page), words) if any(word.style.tag >= 0 for word in words) else {}
    pictures, pictured = _pictures(drawings.pictures, frame)
    items = _with_pictures(_items(words, drawings, tags), pictures)
    dots, sizes = tuple(drawings.dots), _sizes(words, frame)
    return Contents(number, frame, tuple(items), tags, dots, sizes, tuple(links), pictured, joined(hidden))


def _believed(tags: dict[int, Tag], words: Iterable[Word]) -> dict[int, Tag]:
    """Give the tags of a page, if its words use them; a page that was edited may give all its text one number."""
    used = {word.style.tag for word in words}
    return tags if len(used & tags.keys()) >= _TAGS_USED * len(tags) else {}


def _downwards(words: list[Word]) -> list[Word]:
    """Put lines in order that the library gives from the bottom up, as it does where text runs sideways."""
    lines = list(lines_of(words))
    steps = [below.box.middle - above.box.middle for above, below in pairwise(lines)]
    if sum(step < 0 for step in steps) <= 0.6 * len(steps):
        return words
    return [word for line in reversed(lines) for word in line.words]


def _sizes(words: Iterable[Word], frame: Frame) -> Counter[tuple[float, bool]]:
    """Count characters by size, but for the margins."""
    sizes = Counter[tuple[float, bool]]()
    height = frame.upright_size[1]
    for word in words:
        if 0.1 * height < word.box.middle < 0.9 * height:
            sizes[word.style.size, word.style.mono] += len(word.text)
    return sizes


def _parted(words: list[Word], frame: Frame) -> tuple[list[Word], list[Word]]:
    """Part the words that are shown from those outside of the page, as printers put them there."""
    width, height = frame.size
    page = Box(0, 0, width, height)
    shown = [page.holds((word.box.left + word.box.right) / 2, word.box.middle, 1) for word in words]
    if all(shown):
        return words, []
    pairs = list(zip(words, shown, strict=True))
    return [word for word, seen in pairs if seen], [word for word, seen in pairs if not seen]


def _visible(page: pypdfium2.PdfPage) -> tuple[float, float, float, float]:
    left, bottom, right, top = page.get_bbox()
    if right - left < 1 or top - bottom < 1:
        width, height = page.get_size()
        return 0.0, 0.0, width, height
    return left, bottom, right, top


def _turned(words: list[Word], drawings: Drawings, frame: Frame) -> tuple[list[Word], Drawings]:
    styles: dict[int, Style] = {}
    turned = []
    for word in words:
        name = id(word.style)
        if name not in styles:
            styles[name] = word.style._replace(quarter=(word.style.quarter + frame.turns) % 4)
        turned.append(word._replace(box=frame.upright(word.box), style=styles[name]))
    return turned, Drawings(*([frame.upright(box) for box in boxes] for boxes in drawings))


def _items(words: list[Word], drawings: Drawings, tags: dict[int, Tag]) -> list[Line | Table]:
    """Give tables and lines; a table stands where its first word stood."""
    upright = [word if word.style.quarter == 0 else word._replace(box=Box(-1, -1, -1, -1)) for word in words]
    tables: list[tuple[Table, set[int]]] = tagged_tables(words, tags)
    used = {number for _, numbers in tables for number in numbers}
    for table, numbers in [*ruled_tables(upright, drawings), *open_tables(upright, drawings, used)]:
        if not numbers & used:
            tables.append((table, numbers))
            used |= numbers
    items: list[Line | Table] = []
    waiting: list[Word] = []
    firsts = {min(numbers): table for table, numbers in tables}
    for number, word in enumerate(words):
        if number in firsts:
            items += lines_of(waiting)
            waiting = []
            items.append(firsts[number])
        if number not in used:
            waiting.append(word)
    items += lines_of(waiting)
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
        tables = {min(numbers): (table, numbers) for table, numbers in aligned_tables(run, drawings)}
        used = {number for _, numbers in tables.values() for number in numbers}
        for number, line in enumerate(run):
            if number in tables:
                done.append(tables[number][0])
            elif number not in used:
                done.append(line)
        run = []
        done += [item] if item is not None else []
    return done


def _pictures(boxes: Iterable[Box], frame: Frame) -> tuple[list[Picture], bool]:
    """Give the pictures that are worth a figure, tiles of one put together; and whether one covers the page."""
    width, height = frame.upright_size
    page = Box(0, 0, width, height)
    seen = [Box(max(b.left, 0), max(b.top, 0), min(b.right, width), min(b.bottom, height)) for b in boxes]
    united: list[Box] = []
    for box in sorted(seen, key=lambda box: (box.top, box.left))[:500]:
        near = Box(box.left - 2, box.top - 2, box.right + 2, box.bottom + 2)
        touching = [other for other in united if other.shared_area(near) > 0]
        united = [other for other in united if other not in touching]
        united.append(around([box, *touching]))
    pictured = any(box.area > _BACKGROUND * page.area for box in united)
    large = [box for box in united if min(box.width, box.height) >= _SMALLEST_PICTURE]
    return [Picture(box) for box in large if box.area <= _BACKGROUND * page.area], pictured


def _with_pictures(items: Sequence[Line | Table], pictures: Iterable[Picture]) -> list[Line | Table | Picture]:
    """Put each picture behind the last item that stands above it in its column."""
    placed: list[Line | Table | Picture] = list(items)
    for picture in pictures:
        column = around([picture.box, *(item.box for item in placed if item.box.shared_width(picture.box) > 0)])
        at = 0
        for index, item in enumerate(placed):
            above = item.box.bottom <= picture.box.top + 3 and item.box.shared_width(column) > 0
            at = index + 1 if above else at
        placed.insert(at, picture)
    return placed
