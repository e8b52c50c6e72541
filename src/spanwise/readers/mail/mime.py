"""The parts of a message: the tree of MIME, divided from the outside in, and which of them are its body.

Every level is divided by its own boundary before what is inside is looked at, so a part that is broken or cut off
takes no neighbour along, and the work is linear in size for each of the few levels that are permitted.
"""

from __future__ import annotations

import binascii
import codecs
import re
from collections.abc import Iterator
from functools import partial
from typing import Final, NamedTuple

from spanwise.documents.document import LeftOut
from spanwise.errors import UnreadableError
from spanwise.readers.encodings import cleaned, decoded, decoded_as
from spanwise.readers.mail.bodies import Body
from spanwise.readers.mail.headers import Header, base64_bytes, header_of, moment_of, person_of
from spanwise.readers.mail.message import Attachment, Message
from spanwise.readers.mail.names import is_picture, whole_name

_DEEPEST: Final = 24
_MOST_PARTS: Final = 10_000
_HINT: Final = "it is damaged or made to exhaust a reader; leave it out"
_FIELDS: Final = ("from", "to", "cc", "bcc", "reply-to", "date", "subject", "message-id", "in-reply-to")
_KNOWN: Final = frozenset(_FIELDS) | {"received", "mime-version", "content-type", "return-path", "sender", "x-mailer"}
_SNIFFED: Final = re.compile(rb"\s*--([^\r\n]{1,200}?)[ \t]*\r?\n")
_LATIN: Final = frozenset({"iso-8859-1", "latin-1", "latin1", "us-ascii", "ascii", "iso8859-1"})
_SIGNATURES: Final = frozenset(
    {"application/pgp-signature", "application/pkcs7-signature", "application/x-pkcs7-signature"}
)
_MESSAGES: Final = frozenset({"message/rfc822", "message/global"})
_REPORTS: Final = frozenset({"message/delivery-status", "text/rfc822-headers", "message/disposition-notification"})


class Part(NamedTuple):
    """A part of a message: its header and its bytes as they stand there."""

    header: Header
    data: bytes
    default: str = "text/plain"

    @property
    def kind(self) -> str:
        """The content type."""
        return self.header.kind(self.default)


class Found(NamedTuple):
    """What a part and those inside hold."""

    bodies: tuple[Body, ...] = ()
    attachments: tuple[Attachment, ...] = ()
    left_out: tuple[LeftOut, ...] = ()


def message_of(data: bytes, name: str) -> Message:
    """Return the message in a file; raise UnreadableError if it has no header of one, or is nested too deeply."""
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)) or b"\0" in data[:2]:  # saved as text by some editor
        wide = "utf-16" if data[0] > 0xF0 else "utf-16-be" if not data[0] else "utf-16-le"
        data = data.decode(wide, "replace").encode("utf-8", "replace")
    data = data.removeprefix(codecs.BOM_UTF8)
    header, start = header_of(data)
    if not _KNOWN.intersection(header.fields):
        hint = "it is damaged, cut off, or no message; save it again in a mail program"
        raise UnreadableError(name, "is no message: it has none of the fields that a message begins with", hint=hint)
    found = _Walk(name).part(Part(header, data[start:]), 0)
    fields = {field: text for field in _FIELDS if (text := header.text(field))}
    author = person_of(fields.get("from", "") or header.text("sender"))
    return Message(fields, author, moment_of(fields.get("date", "")), *found)


class _Walk:
    """A walk over the parts of one message, which counts them."""

    def __init__(self, name: str) -> None:
        self.name = name
        self._count = 0

    def part(self, part: Part, depth: int) -> Found:
        """Return what a part holds."""
        self._count += 1
        if depth > _DEEPEST:
            raise UnreadableError(self.name, f"has parts nested more than {_DEEPEST} deep", hint=_HINT)
        if self._count > _MOST_PARTS:
            raise UnreadableError(self.name, f"has more than {_MOST_PARTS:,} parts", hint=_HINT)
        kind = part.kind
        if kind.startswith("multipart/") and (inner := list(_divided(part))):
            found = [self.part(one, depth + 1) for one in inner]
            return _best(found) if kind == "multipart/alternative" else _all(found, related=kind == "multipart/related")
        return _leaf(part)


def _divided(part: Part) -> Iterator[Part]:
    """Yield the parts between the boundaries; one whose end is missing ends with the data."""
    named = part.header.parameter("content-type", "boundary").encode("utf-8", "replace")
    if not named and (sniffed := _SNIFFED.match(part.data)):
        named = sniffed[1]
    if not named:
        return
    default = "message/rfc822" if part.kind == "multipart/digest" else "text/plain"
    start = -1
    for found in re.finditer(rb"^--" + re.escape(named) + rb"(--)?[ \t]*(?:\r?\n|\Z)", part.data, re.MULTILINE):
        if start >= 0:
            yield _inner(part.data[start : found.start()], default)
        start = -1 if found[1] else found.end()
        if found[1]:
            return
    if start >= 0:
        yield _inner(part.data[start:], default)


def _inner(data: bytes, default: str) -> Part:
    header, start = header_of(data)
    body = data[start:]
    return Part(header, body[:-2] if body.endswith(b"\r\n") else body[:-1] if body.endswith(b"\n") else body, default)


def _best(found: list[Found]) -> Found:
    """Return the best of the bodies that say the same: HTML if it has text, else the last with text."""
    with_text = [one for one in found if any(body.has_text for body in one.bodies)]
    rich = [one for one in with_text if any(body.is_html for body in one.bodies)]
    best = (rich or with_text or [Found()])[-1]
    return _all(found, related=False)._replace(bodies=best.bodies)


def _all(found: list[Found], *, related: bool) -> Found:
    """Return everything in order; pictures beside a body that shows them are no attachments of their own."""
    attachments = tuple(one for each in found for one in each.attachments)
    if related:
        attachments = tuple(one._replace(inline=one.inline or is_picture(one.name)) for one in attachments)
    return Found(
        tuple(body for each in found for body in each.bodies),
        attachments,
        tuple(item for each in found for item in each.left_out),
    )


def _leaf(part: Part) -> Found:
    header, kind = part.header, part.kind
    disposition = header.fields.get("content-disposition", "").partition(";")[0].strip().lower()
    file_name = header.file_name
    if kind in _MESSAGES:
        nested = partial(message_of, _content(part), file_name or "the message in it")
        return Found(attachments=(Attachment(file_name, message=nested),))
    is_text = kind in {"text/plain", "text/html"} or kind in _REPORTS or kind.startswith("multipart/")
    if is_text and disposition != "attachment" and not file_name:
        return _body(part)
    if kind == "text/x-amp-html":
        return Found()
    name = whole_name(file_name, kind)
    has_id = "content-id" in header.fields and disposition != "attachment"
    is_inline = kind in _SIGNATURES or (kind.startswith("image/") and has_id)
    return Found(attachments=(Attachment(name, b"" if is_inline else _content(part), inline=is_inline),))


def _body(part: Part) -> Found:
    header = part.header
    text, left_out = _text(_content(part), header.parameter("content-type", "charset"))
    flowed = header.parameter("content-type", "format").lower() == "flowed"
    joined = header.parameter("content-type", "delsp").lower() == "yes"
    return Found((Body(text, part.kind == "text/html", flowed, joined),), (), left_out)


def _text(data: bytes, charset: str) -> tuple[str, tuple[LeftOut, ...]]:
    """Decode the text of a body; as another charset, or with gaps, if it isn't in the one it states."""
    named = charset.strip().lower().removesuffix("-i")
    text = decoded_as(data, "cp1252" if named in _LATIN and not data.isascii() else named) if named else None
    left_out: tuple[LeftOut, ...] = ()
    if text is None:
        try:
            text, left_out = decoded(data, "body")
        except UnreadableError as error:
            text = decoded_as(data, named, "replace") or data.decode("latin-1")
            left_out = (LeftOut(f"a body {error.rule}"),)
    clean, replaced = cleaned(text)
    return clean, (*left_out, *(item._replace(source_ref=None) for item in replaced))


def _content(part: Part) -> bytes:
    """Return the bytes of a part without their encoding for transfer."""
    encoding = part.header.fields.get("content-transfer-encoding", "").partition(";")[0].strip().lower()
    if encoding == "base64":
        return base64_bytes(part.data)
    if encoding == "quoted-printable":
        return binascii.a2b_qp(part.data)
    if encoding in {"x-uuencode", "uuencode", "x-uue", "uue"}:
        return _uudecoded(part.data)
    return part.data


def _uudecoded(data: bytes) -> bytes:
    pieces, begun = list[bytes](), False
    for line in data.splitlines():
        if not begun or line.strip() in {b"end", b"`", b""}:
            begun = begun or line.startswith(b"begin ")
            continue
        length = ((line[0] - 32 & 63) * 4 + 5) // 3  # some programs put more into a line than it states
        try:
            pieces.append(binascii.a2b_uu(line[:length]))
        except binascii.Error:
            continue
    return b"".join(pieces)
