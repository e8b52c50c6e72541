"""PDFium: opening files, the errors of files that can't be opened, and the few calls made once per character.

pypdfium2 checks and converts every argument; for calls made thousands of times per page, the same functions of the
library are called with plain addresses.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from functools import cache
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from spanwise.errors import MissingExtraError, UnreadableError

if TYPE_CHECKING:
    import pypdfium2

SAVE_AGAIN: Final = "open and save it again in a PDF viewer"
_PASSWORD_ERROR = 4
_HANDLER_ERROR = 5


class Calls(NamedTuple):
    """The functions called once per word or once per run of text: they take and return addresses."""

    box: Callable[[int, int, int], int]  # of a character, written to an address
    object: Callable[[int, int], int | None]  # the text object of a character
    font: Callable[[int], int | None]
    size: Callable[[int, int], int]
    matrix: Callable[[int, int], int]
    mode: Callable[[int], int]
    tag: Callable[[int], int]
    marks: Callable[[int], int]
    page_object: Callable[[int, int], int | None]  # an object of a page by its index
    form_object: Callable[[int, int], int | None]  # an object of a form by its index
    kind: Callable[[int], int]


@cache
def calls() -> Calls:
    """Return the functions of the library that pypdfium2 has loaded."""
    import pypdfium2.raw as raw

    number, address = ctypes.c_int, ctypes.c_void_p

    def prototype(function: Any, *types: Any) -> Any:
        return ctypes.CFUNCTYPE(*types)(ctypes.cast(function, address).value or 0)

    return Calls(
        prototype(raw.FPDFText_GetLooseCharBox, number, address, number, address),
        prototype(raw.FPDFText_GetTextObject, address, address, number),
        prototype(raw.FPDFTextObj_GetFont, address, address),
        prototype(raw.FPDFTextObj_GetFontSize, number, address, address),
        prototype(raw.FPDFPageObj_GetMatrix, number, address, address),
        prototype(raw.FPDFTextObj_GetTextRenderMode, number, address),
        prototype(raw.FPDFPageObj_GetMarkedContentID, number, address),
        prototype(raw.FPDFPageObj_CountMarks, number, address),
        prototype(raw.FPDFPage_GetObject, address, address, number),
        prototype(raw.FPDFFormObj_GetObject, address, address, ctypes.c_ulong),
        prototype(raw.FPDFPageObj_GetType, number, address),
    )


def address_of(handle: Any) -> int:
    """Return the address that a handle of pypdfium2 holds."""
    return ctypes.cast(getattr(handle, "raw", handle), ctypes.c_void_p).value or 0


@contextmanager
def opened(data: bytes, name: str, password: str | None) -> Iterator[pypdfium2.PdfDocument]:
    """Open a file; raise UnreadableError with the reason if it can't be opened."""
    try:
        import pypdfium2
    except ImportError as error:
        hint = 'pip install "spanwise[pdf]"'
        raise MissingExtraError("pypdfium2", f"is needed: {name} is a PDF", hint=hint) from error
    if not data.strip():
        raise UnreadableError(name, "is empty", hint="fetch or copy the file again")
    try:
        document = pypdfium2.PdfDocument(data, password=password)
        pages = len(document)
    except pypdfium2.PdfiumError as error:
        raise _open_error(data, name, password, getattr(error, "err_code", None)) from error
    with closing(document):
        if not pages:
            raise UnreadableError(name, "has no pages", hint=SAVE_AGAIN)
        yield document


def _open_error(data: bytes, name: str, password: str | None, code: int | None) -> UnreadableError:
    if code == _PASSWORD_ERROR:
        hint = "give it: --password on the command line, password=… in Python"
        if password:
            return UnreadableError(name, "is encrypted, and the password doesn't open it", hint=hint)
        return UnreadableError(name, "is encrypted and needs a password", hint=hint)
    if code == _HANDLER_ERROR:
        hint = "save it without encryption in a PDF viewer"
        return UnreadableError(name, "is encrypted in a way that can't be read", hint=hint)
    if b"%PDF-" not in data[:1024]:
        return UnreadableError(name, "is not a PDF", hint="if it is another format, say which: --input-format")
    if b"%%EOF" not in data[-2048:]:
        return UnreadableError(name, "is cut off: its end is missing", hint="fetch or copy the file again")
    return UnreadableError(name, "is damaged and can't be opened", hint=SAVE_AGAIN)


def string_of(call: Callable[..., int], *arguments: Any) -> str:
    """Return the UTF-16 string of a library function, which is called once for the length and once for the string."""
    length = call(*arguments, None, 0)
    if length <= 2:
        return ""
    buffer = ctypes.create_string_buffer(length)
    call(*arguments, ctypes.cast(buffer, call.argtypes[-2]), length)  # type: ignore[attr-defined]
    return buffer.raw[: length - 2].decode("utf-16-le", "replace")
