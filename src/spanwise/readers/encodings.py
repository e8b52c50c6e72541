"""Decoding of bytes to clean text: encodings, byte order marks, line ends, and forbidden characters."""

from __future__ import annotations

import codecs
import re
from typing import Final

from spanwise.documents.document import LeftOut
from spanwise.errors import MissingExtraError, UnreadableError
from spanwise.native import is_text

_MARKS: Final = (  # longer marks first: UTF-32's begins with UTF-16's
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_DECLARED: Final = re.compile(rb"""(?:charset|encoding|coding)["']?\s{0,4}[:=]\s{0,4}["']?([A-Za-z0-9_.-]{2,40})""")
_CHARSET: Final = re.compile(
    r"(?:utf|iso|windows|cp|koi8|mac|gb|big5|euc|shift|sjis|latin|ascii|us-|x-|hz|tis|viscii|johab|ms)[a-z0-9.:-]*"
)
_FORBIDDEN: Final = re.compile("[\x00\ud800-\udfff]")
_BINARY_SHARE: Final = 0.001


def decoded(data: bytes, name: str) -> tuple[str, tuple[LeftOut, ...]]:
    """Decode by byte order mark, as UTF-8, by declared charset, or else by a guess, which is reported."""
    for mark, encoding in _MARKS:
        if data.startswith(mark):
            return _strictly(data, encoding, name), ()
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        if b"\x00" in data:
            raise _binary(name) from None
        declared = _declared(data)
        return _guessed(data, name) if declared is None else (declared, ())
    if text.count("\x00") > len(text) * _BINARY_SHARE:
        raise _binary(name)
    return text, ()


def _binary(name: str) -> UnreadableError:
    hint = "leave it out; if it is text, save it as UTF-8"
    return UnreadableError(name, "looks like a binary file, not like text", hint=hint)


def cleaned(text: str, base: int = 0) -> tuple[str, tuple[LeftOut, ...]]:
    r"""Drop the byte order mark, make every line end ``\n``, and replace NUL and lone surrogates by U+FFFD.

    Line ends are normalized as by Python's `open()`, so positions are those in the text as Python reads it.
    Replacements are reported with their positions in a document where this text starts at `base`; each replaces
    exactly one character.
    """
    text = text.removeprefix("\ufeff")
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    if "\x00" not in text and is_text(text):  # much faster than a regex, and nearly always true
        return text, ()
    positions = [base + found.start() for found in _FORBIDDEN.finditer(text)]
    listed = ", ".join(map(str, positions[:5])) + (", …" if len(positions) > 5 else "")
    reason = f"{len(positions)} NUL or lone surrogate characters replaced by U+FFFD, at {listed}"
    return _FORBIDDEN.sub("\ufffd", text), (LeftOut(reason, source_ref={"characters": positions[:1000]}),)


def _strictly(data: bytes, encoding: str, name: str) -> str:
    try:
        return data.decode(encoding)
    except UnicodeDecodeError as error:
        rule = f"says {encoding.removesuffix('-sig')} by its byte order mark, but byte {error.start} is not"
        raise UnreadableError(name, rule, hint="the file is damaged or cut off; save it again as UTF-8") from error


def _declared(data: bytes) -> str | None:
    found = _DECLARED.search(data, 0, 1024)
    if not found:
        return None
    return decoded_as(data, found[1].decode("ascii"))


def decoded_as(data: bytes, charset: str, errors: str = "strict") -> str | None:
    """Decode by the name of a charset; None if there is no such charset, or the bytes are not in it."""
    name = charset.lower().replace("_", "-")
    if not _CHARSET.fullmatch(name):  # Python has codecs that are not charsets
        return None
    try:
        return data.decode(name, errors)
    except (LookupError, UnicodeError):
        return None


def _guessed(data: bytes, name: str) -> tuple[str, tuple[LeftOut, ...]]:
    try:
        from charset_normalizer import from_bytes
    except ImportError as error:
        hint = 'pip install "spanwise[encodings]", or save the file as UTF-8'
        raise MissingExtraError("charset-normalizer", f"is needed: {name} is not UTF-8", hint=hint) from error
    best = from_bytes(data).best()
    if best is None:
        raise UnreadableError(name, "is not text in any known encoding", hint="save it as UTF-8")
    return str(best), (LeftOut(f"the encoding is not said anywhere; read as {best.encoding}, by a guess"),)
