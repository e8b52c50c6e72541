"""Images of the pages of a PDF, small enough to be embedded in a web page.

A page of text becomes a PNG of sixteen greys, a page with colour one of 256 colours: about 20 to 150 kB at 120 dpi. The
encoder is a dozen lines on top of zlib, so that images need nothing but pypdfium2.
"""

from __future__ import annotations

import os
import struct
import zlib
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from spanwise.errors import MissingExtraError, UnreadableError

DOTS_PER_INCH: Final = 120
_LARGEST: Final = 2400  # pixels along a side; a poster is scaled down rather than filling the memory
_COLOURED: Final = 24  # how far the channels of a pixel may differ before it counts as coloured
_SPECKS: Final = 40  # coloured pixels that are ignored

Pixels = NDArray[np.uint8]


class PageImage(NamedTuple):
    """A rendered page: its size in points and a PNG; if it can't be rendered, `note` is the reason."""

    width: float
    height: float
    png: bytes = b""
    note: str = ""


@contextmanager
def page_images(
    source: str | os.PathLike[str] | bytes, *, password: str | None = None, dpi: int = DOTS_PER_INCH
) -> Iterator[Callable[[int], PageImage]]:
    """Open a PDF, given as a path or bytes, and yield a function that renders a page by its number, from 1."""
    try:
        import pypdfium2
    except ImportError as error:
        hint = 'pip install "spanwise[pdf]", or do without: --no-pictures'
        raise MissingExtraError("pypdfium2", "is needed for pictures of pages", hint=hint) from error
    name = "PDF" if isinstance(source, bytes) else os.fsdecode(source)
    try:
        document = pypdfium2.PdfDocument(source, password=password)
    except (pypdfium2.PdfiumError, OSError) as error:
        raise UnreadableError(name, f"can't be drawn ({error})", hint="do without: --no-pictures") from error
    with closing(document):
        document.init_forms()  # so that values of form fields are rendered
        yield lambda number: _image(document, number, dpi, pypdfium2.PdfiumError)


def _image(document: Any, number: int, dpi: int, pdf_error: type[Exception]) -> PageImage:
    if not 1 <= number <= len(document):
        return PageImage(0, 0, note=f"the file has no page {number}")
    try:
        page = document[number - 1]
    except pdf_error as error:
        return PageImage(0, 0, note=f"the page is damaged ({error})")
    try:
        with closing(page):
            width, height = page.get_size()
            scale = min(dpi / 72, _LARGEST / max(width, height, 1))
            with closing(page.render(scale=scale)) as bitmap:
                return PageImage(width, height, _png(bitmap.to_numpy()))
    except (pdf_error, ValueError, MemoryError) as error:
        return PageImage(0, 0, note=f"the page can't be drawn ({error})")


def _png(pixels: Pixels) -> bytes:
    """Encode pixels in blue, green, red, or in one channel, with as few colours as needed."""
    colours = pixels[:, :, :3] if pixels.ndim == 3 and pixels.shape[2] >= 3 else None
    if colours is None:
        return _grey(pixels.reshape(pixels.shape[:2]))
    spread = colours.max(axis=2) - colours.min(axis=2)
    if np.count_nonzero(spread > _COLOURED) <= _SPECKS:
        return _grey(colours[:, :, 1])
    return _coloured(colours[:, :, ::-1])


def full_png(pixels: Pixels) -> bytes:
    """Encode pixels in blue, green, red, or in one channel, without loss."""
    if pixels.ndim == 2 or pixels.shape[2] < 3:
        return _png_file(pixels.shape[1], 8, 0, b"", pixels.reshape(pixels.shape[:2]))
    rows = pixels[:, :, 2::-1].reshape(len(pixels), -1)
    return _png_file(pixels.shape[1], 8, 2, b"", rows)


def _grey(pixels: Pixels) -> bytes:
    """Encode sixteen greys, two pixels per byte: enough for smooth letters."""
    levels = (pixels.astype(np.uint16) + 8) // 17
    even = np.pad(levels, ((0, 0), (0, levels.shape[1] % 2))).astype(np.uint8)
    pairs: Pixels = (even[:, ::2] << 4 | even[:, 1::2]).astype(np.uint8)
    return _png_file(pixels.shape[1], 4, 0, b"", pairs)


def _coloured(pixels: Pixels) -> bytes:
    """Encode the 256 most frequent of 4,096 colours; other pixels take the nearest of these."""
    codes = (pixels >> 4).astype(np.uint16) @ np.array([256, 16, 1], dtype=np.uint16)
    flat, count = codes.ravel(), np.bincount(codes.ravel(), minlength=4096)
    sums = [np.bincount(flat, weights=pixels[:, :, channel].ravel(), minlength=4096) for channel in range(3)]
    means = np.stack(sums, axis=1) / np.maximum(count, 1)[:, None]
    used = np.flatnonzero(count)
    chosen = np.sort(used[np.argsort(count[used], kind="stable")[::-1][:256]])
    nearest = np.zeros(4096, dtype=np.uint8)
    distances = ((means[used][:, None, :] - means[chosen][None, :, :]) ** 2).sum(axis=2)
    nearest[used] = distances.argmin(axis=1).astype(np.uint8)
    return _png_file(pixels.shape[1], 8, 3, means[chosen].round().astype(np.uint8).tobytes(), nearest[codes])


def _png_file(width: int, depth: int, kind: int, palette: bytes, rows: Pixels) -> bytes:
    """Return a PNG file; `kind` 0 is grey, 2 is red, green, blue, 3 is a palette."""
    header = struct.pack(">IIBBBBB", width, len(rows), depth, kind, 0, 0, 0)
    unfiltered = np.pad(rows, ((0, 0), (1, 0))).tobytes()  # each row begins with its filter type: 0 for none
    chunks = [(b"IHDR", header), *([(b"PLTE", palette)] if palette else ()), (b"IDAT", zlib.compress(unfiltered, 6))]
    return b"\x89PNG\r\n\x1a\n" + b"".join(_png_chunk(name, data) for name, data in [*chunks, (b"IEND", b"")])


def _png_chunk(name: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))
