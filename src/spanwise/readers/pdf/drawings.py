"""The drawings of a page: rules, filled areas, dots that serve as bullets, and pictures."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from spanwise.readers.pdf.geometry import Box, Frame
from spanwise.readers.pdf.pdfium import address_of, calls

if TYPE_CHECKING:
    import pypdfium2

_PATH, _IMAGE, _FORM = 2, 3, 5
_DRAWN: Final = frozenset({_PATH, _IMAGE, _FORM})
_MOVE, _LINE, _CURVE = 2, 0, 1
_THIN: Final = 2.5  # points: a thinner rectangle is a rule
_SHORT: Final = 4.0  # points: a shorter rule separates nothing
_DOT: Final = (1.2, 9.0)  # points: the smallest and largest bullet
_MOST_OBJECTS: Final = 30_000  # on one page; maps and plots have more, and none of it is a table
_MOST_SEGMENTS: Final = 4_000  # of one path
_DEEPEST_FORM: Final = 6
_WHITE: Final = 250

Matrix = tuple[float, float, float, float, float, float]
_UNCHANGED: Final[Matrix] = (1.0, 0.0, 0.0, 1.0, 0.0, 0.0)


class Drawings(NamedTuple):
    """The drawings of one page, in coordinates of the displayed page."""

    rules: list[Box]  # lines, drawn as such or as thin rectangles
    areas: list[Box]  # filled or framed rectangles
    dots: list[Box]
    pictures: list[Box]
    curves: list[Box]  # everything else that is drawn


def drawings_of(page: pypdfium2.PdfPage, frame: Frame) -> Drawings:
    """Collect what is drawn on a page."""
    import pypdfium2.raw as raw

    found = Drawings([], [], [], [], [])
    collector = _Collector(found, frame)
    count = raw.FPDFPage_CountObjects(page)
    collector.objects(address_of(page), calls().page_object, count, _UNCHANGED, 0)
    return found


class _Collector:
    def __init__(self, found: Drawings, frame: Frame) -> None:
        self._found = found
        self._frame = frame
        self._objects_left = _MOST_OBJECTS

    def objects(
        self, owner: int, object_of: Callable[[int, int], int | None], count: int, matrix: Matrix, depth: int
    ) -> None:
        """Collect from all objects of a page or form; most are text, so their type is checked first."""
        import pypdfium2.raw as raw

        kind_of = calls().kind
        for index in range(min(count, self._objects_left)):
            item = object_of(owner, index)
            kind = kind_of(item) if item else 0
            if not item or kind not in _DRAWN:
                continue
            self._objects_left -= 1
            handle = ctypes.cast(item, raw.FPDF_PAGEOBJECT)
            if kind == _PATH:
                self._path(handle, matrix)
            elif kind == _IMAGE:
                if box := self._box(handle, matrix):
                    self._found.pictures.append(box)
            elif depth < _DEEPEST_FORM:
                inner = _product(_matrix_of(handle), matrix)
                self.objects(item, calls().form_object, max(raw.FPDFFormObj_CountObjects(handle), 0), inner, depth + 1)

    def _box(self, handle: Any, matrix: Matrix) -> Box | None:
        import pypdfium2.raw as raw

        left, bottom, right, top = (ctypes.c_float() for _ in range(4))
        if not raw.FPDFPageObj_GetBounds(handle, left, bottom, right, top):
            return None
        return self._box_between((left.value, bottom.value), (right.value, top.value), matrix)

    def _box_between(self, first: tuple[float, float], second: tuple[float, float], matrix: Matrix) -> Box:
        if matrix is not _UNCHANGED:
            corners = [_transformed(x, y, matrix) for x in (first[0], second[0]) for y in (first[1], second[1])]
            first = min(x for x, _ in corners), min(y for _, y in corners)
            second = max(x for x, _ in corners), max(y for _, y in corners)
        left, right = sorted((first[0], second[0]))
        bottom, top = sorted((first[1], second[1]))
        return self._frame.displayed(left, top, right, bottom)

    def _path(self, handle: Any, matrix: Matrix) -> None:
        box = self._box(handle, matrix)
        if box is None or (box.width > 4000 and box.height > 4000):
            return
        filled, stroked = _painted(handle)
        if not filled and not stroked:
            return  # a path that only clips
        found = self._found
        if min(box.width, box.height) <= _THIN:
            if max(box.width, box.height) >= _SHORT:
                found.rules.append(box)
            elif filled and min(box.width, box.height) >= _DOT[0]:
                found.dots.append(box)
        elif max(box.width, box.height) <= _DOT[1] and abs(box.width - box.height) < 2:
            found.dots.append(box)
        else:
            self._shape(handle, matrix, box, stroked=stroked)

    def _shape(self, handle: Any, matrix: Matrix, box: Box, *, stroked: bool) -> None:
        """Classify a larger path: a rectangle, a grid of lines, or a drawing."""
        lines, curved = self._segments(handle, matrix)
        if curved or not lines or any(min(line.width, line.height) > _THIN for line in lines):
            self._found.curves.append(box)
            return
        if stroked or len(lines) > 5:
            self._found.rules.extend(line for line in lines if max(line.width, line.height) >= _SHORT)
        if len(lines) <= 5:
            self._found.areas.append(box)

    def _segments(self, handle: Any, matrix: Matrix) -> tuple[list[Box], bool]:
        """Return the lines of a path, and whether it has curves as well."""
        import pypdfium2.raw as raw

        count = raw.FPDFPath_CountSegments(handle)
        if count > _MOST_SEGMENTS:
            return [], True
        lines: list[Box] = []
        full_matrix = _product(_matrix_of(handle), matrix)
        first = last = (0.0, 0.0)
        x, y = ctypes.c_float(), ctypes.c_float()
        for index in range(count):
            segment = raw.FPDFPath_GetPathSegment(handle, index)
            raw.FPDFPathSegment_GetPoint(segment, x, y)
            point = _transformed(x.value, y.value, full_matrix)
            kind = raw.FPDFPathSegment_GetType(segment)
            if kind == _CURVE:
                return lines, True
            if kind == _MOVE:
                first = point
            elif kind == _LINE:
                lines.append(self._box_between(last, point, _UNCHANGED))
            last = point
            if raw.FPDFPathSegment_GetClose(segment) and last != first:
                lines.append(self._box_between(last, first, _UNCHANGED))
        return lines, False


def _painted(handle: Any) -> tuple[bool, bool]:
    """Return whether a path is filled and whether it is stroked, both visibly on white paper."""
    import pypdfium2.raw as raw

    fill, stroke = ctypes.c_int(), ctypes.c_int()
    if not raw.FPDFPath_GetDrawMode(handle, fill, stroke):
        return False, False
    return (
        bool(fill.value) and _is_visible(handle, raw.FPDFPageObj_GetFillColor),
        bool(stroke.value) and _is_visible(handle, raw.FPDFPageObj_GetStrokeColor),
    )


def _is_visible(handle: Any, color_of: Callable[..., int]) -> bool:
    red, green, blue, alpha = (ctypes.c_uint() for _ in range(4))
    if not color_of(handle, red, green, blue, alpha):
        return True
    return alpha.value > 0 and min(red.value, green.value, blue.value) < _WHITE


def _matrix_of(handle: Any) -> Matrix:
    import pypdfium2.raw as raw

    matrix = raw.FS_MATRIX()
    if not raw.FPDFPageObj_GetMatrix(handle, matrix):
        return _UNCHANGED
    return matrix.a, matrix.b, matrix.c, matrix.d, matrix.e, matrix.f


def _product(first: Matrix, second: Matrix) -> Matrix:
    """Return the matrix that applies the first, then the second."""
    if second is _UNCHANGED:
        return first
    a, b, c, d, e, f = first
    return (
        a * second[0] + b * second[2], a * second[1] + b * second[3],
        c * second[0] + d * second[2], c * second[1] + d * second[3],
        e * second[0] + f * second[2] + second[4], e * second[1] + f * second[3] + second[5],
    )  # fmt: skip


def _transformed(x: float, y: float, matrix: Matrix) -> tuple[float, float]:
    return matrix[0] * x + matrix[2] * y + matrix[4], matrix[1] * x + matrix[3] * y + matrix[5]
