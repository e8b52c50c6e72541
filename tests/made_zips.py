"""Zip files made in tests: of named parts, and broken on purpose."""

from __future__ import annotations

from collections.abc import Mapping
from io import BytesIO
from zipfile import ZIP_DEFLATED, ZipFile


def zip_of(parts: Mapping[str, str | bytes], method: int = ZIP_DEFLATED) -> bytes:
    """Return a zip file of parts; XML is given as text."""
    file = BytesIO()
    with ZipFile(file, "w", method) as made:
        for name, content in parts.items():
            made.writestr(name, content)
    return file.getvalue()


def bomb(size: int, name: str = "word/document.xml") -> bytes:
    """Return a small zip file with a part that inflates to `size` bytes."""
    file = BytesIO()
    with ZipFile(file, "w", ZIP_DEFLATED) as made, made.open(name, "w", force_zip64=True) as part:
        block = b" " * (1 << 20)
        for _ in range(size >> 20):
            part.write(block)
    return file.getvalue()


def lying(data: bytes, stated: int, real: int) -> bytes:
    """Return a zip file whose directory states another size for a part."""
    return data.replace(real.to_bytes(4, "little"), stated.to_bytes(4, "little"))
