"""MSG files of Outlook: properties of MAPI in the storages of an OLE file, read by olefile."""

from __future__ import annotations

import re
import struct
from datetime import UTC, datetime, timedelta
from functools import partial
from io import BytesIO
from typing import TYPE_CHECKING, Final

from spanwise.errors import MissingExtraError, UnreadableError
from spanwise.readers.container import OLE
from spanwise.readers.encodings import cleaned, decoded, decoded_as
from spanwise.readers.mail.bodies import Body
from spanwise.readers.mail.headers import header_of, person_of
from spanwise.readers.mail.message import MOST_ATTACHMENTS, Attachment, Message
from spanwise.readers.mail.names import is_picture, whole_name
from spanwise.readers.mail.rtf import inflated, text_of

if TYPE_CHECKING:
    import olefile

_BROKEN: Final = (
    OSError, ValueError, IndexError, KeyError, TypeError, AttributeError, struct.error, RecursionError, OverflowError,
)  # fmt: skip
"""What olefile raises for broken files."""
_DAMAGED: Final = "it is damaged, cut off, or no message; save it again in Outlook"
_MOST_ENTRIES: Final = 3000  # of one storage
_TIMES: Final = 3  # how often the bytes of a file may be read: streams may claim each other's
_PROPERTIES: Final = "__properties_version1.0"
_ATTACHED: Final = re.compile(r"__attach_version1\.0_#[0-9a-f]{8}", re.IGNORECASE)
_SUBJECT = 0x0037
_SENDERS: Final = (0x0C1A, 0x0042)  # who sent it, and for whom; below their addresses, the best first
_SENDER_ADDRESSES: Final = (0x5D01, 0x0C1F, 0x5D02, 0x0065)
_TO, _CC, _BCC, _ID, _REPLY_TO_ID, _TRANSPORT = 0x0E04, 0x0E03, 0x0E02, 0x1035, 0x1042, 0x007D
_SENT, _RECEIVED = 0x0039, 0x0E06
_TEXT, _HTML, _RTF = 0x1000, 0x1013, 0x1009
_DATA, _LONG_NAME, _SHORT_NAME, _SHOWN_NAME = 0x3701, 0x3707, 0x3704, 0x3001
_CONTENT_ID, _HIDDEN, _TYPE = 0x3712, 0x7FFE, 0x370E
_CODE_PAGES: Final = (0x3FDE, 0x3FFD)
_FIELDS: Final = {"to": _TO, "cc": _CC, "bcc": _BCC, "message-id": _ID, "in-reply-to": _REPLY_TO_ID}
_EPOCH: Final = datetime(1601, 1, 1, tzinfo=UTC)


def outlook_message(data: bytes, name: str) -> Message:
    """Return the message in an MSG file; raise UnreadableError if it isn't one."""
    try:
        import olefile
    except ImportError as error:
        hint = 'pip install "spanwise[msg]"'
        raise MissingExtraError("olefile", f"is needed to read {name}", hint=hint) from error
    if not data.startswith(OLE):
        raise UnreadableError(name, "is no message of Outlook", hint=_DAMAGED)
    try:
        file = _File(olefile.OleFileIO(BytesIO(data)), len(data))
        return _message(file, ())
    except _BROKEN as error:
        raise UnreadableError(name, f"is no message of Outlook that can be read ({error})", hint=_DAMAGED) from error


class _File:
    """An OLE file: the names in its storages, and their streams, each byte of which is counted."""

    def __init__(self, ole: olefile.OleFileIO, size: int) -> None:
        self._ole = ole
        self._left = size * _TIMES
        self._names: dict[tuple[str, ...], list[str]] = {}
        for path in ole.listdir(streams=True, storages=True):
            inside = self._names.setdefault(tuple(path[:-1]), [])
            if len(inside) >= _MOST_ENTRIES:
                raise ValueError("too many entries")
            inside.append(path[-1])

    def names(self, storage: tuple[str, ...]) -> list[str]:
        """Return the names in a storage."""
        return self._names.get(storage, [])

    def stream(self, storage: tuple[str, ...], name: str) -> bytes:
        """Return the bytes of a stream; none if there is no such stream."""
        if name not in self.names(storage):
            return b""
        with self._ole.openstream([*storage, name]) as stream:
            data: bytes = stream.read()
        self._left -= len(data)
        if self._left < 0:
            raise ValueError("streams share their bytes")
        return data


class _Properties:
    """The properties of a message or attachment."""

    def __init__(self, file: _File, storage: tuple[str, ...], page: int = 1252) -> None:
        self._file = file
        self._storage = storage
        header = 8 if storage and _ATTACHED.fullmatch(storage[-1]) else 24 if storage else 32
        data = file.stream(storage, _PROPERTIES)
        rows = (struct.unpack_from("<HHI8s", data, start) for start in range(header, len(data) - 15, 16))
        self._values: dict[int, tuple[int, bytes]] = {tag: (kind, value) for kind, tag, _, value in rows}
        self._streams = {name.lower(): name for name in file.names(storage)}
        self.page = next((page for tag in _CODE_PAGES if (page := self.number(tag))), page)

    def number(self, tag: int) -> int:
        """Return a number; 0 if there is none."""
        kind, value = self._values.get(tag, (0, b""))
        return int.from_bytes(value[:4], "little") if kind in {3, 11} else 0

    def moment(self, tag: int) -> str:
        """Return a time as ISO 8601; empty if there is none."""
        kind, value = self._values.get(tag, (0, b""))
        ticks = int.from_bytes(value, "little") if kind == 0x40 else 0
        try:
            return (_EPOCH + timedelta(seconds=ticks // 10_000_000)).isoformat() if ticks else ""
        except OverflowError:
            return ""

    def data(self, tag: int, kind: str = "0102") -> bytes:
        """Return the bytes of a property that has a stream of its own."""
        name = self._streams.get(f"__substg1.0_{tag:04x}{kind}")
        return self._file.stream(self._storage, name) if name else b""

    def text(self, tag: int) -> str:
        """Return a text, as it stands."""
        if wide := self.data(tag, "001f"):
            return cleaned(wide[: len(wide) & ~1].decode("utf-16-le", "replace").rstrip("\0"))[0]
        narrow = self.data(tag, "001e").rstrip(b"\0")
        known = _in_page(narrow, self.page)
        return cleaned(narrow.decode("latin-1") if known is None else known)[0]

    def line(self, tag: int) -> str:
        """Return a text in one line."""
        return " ".join(self.text(tag).split())


def _in_page(data: bytes, page: int) -> str | None:
    return decoded_as(data, {65001: "utf-8", 20127: "cp1252", 28591: "cp1252"}.get(page, f"cp{page}"), "replace")


def _message(file: _File, storage: tuple[str, ...]) -> Message:
    known = _Properties(file, storage)
    address = next((text for tag in _SENDER_ADDRESSES if (text := known.line(tag))), "")
    sender = next((text for tag in _SENDERS if (text := known.line(tag))), "")
    whole = f"{sender} <{address}>" if sender and "@" in address and sender != address else sender or address
    moment = known.moment(_SENT) or known.moment(_RECEIVED)
    fields = {"from": whole, "subject": known.line(_SUBJECT), "date": moment}
    fields |= {name: known.line(tag).rstrip("\0 ") for name, tag in _FIELDS.items()}
    stated = header_of(known.text(_TRANSPORT).encode("utf-8", "replace"))[0]
    for name in ("from", "to", "cc"):  # with addresses, where a message came from outside
        if "@" in (text := stated.text(name)):
            fields[name] = text
    attached = [name for name in file.names(storage) if _ATTACHED.fullmatch(name)]
    attachments = [_attachment(file, storage, name, known.page) for name in sorted(attached)[:MOST_ATTACHMENTS]]
    known_fields = {name: text for name, text in fields.items() if text}
    author = sender or person_of(fields["from"])
    return Message(known_fields, author, moment, _bodies(known), tuple(attachments))


def _bodies(known: _Properties) -> tuple[Body, ...]:
    """Return the best body: HTML, else RTF that was made of HTML, else plain text, else any RTF."""
    html = known.text(_HTML)
    if data := known.data(_HTML):
        html = _in_page(data, known.page) or decoded(data, "body")[0]
    if html.strip():
        return (Body(cleaned(html)[0], is_html=True),)
    rtf, is_html = text_of(inflated(known.data(_RTF)))
    text = known.text(_TEXT)
    if rtf.strip() and (is_html or not text.strip()):
        return (Body(cleaned(rtf)[0], is_html),)
    return (Body(text),) if text.strip() else ()


def _attachment(file: _File, storage: tuple[str, ...], name: str, page: int) -> Attachment:
    inside = (*storage, name)
    known = _Properties(file, inside, page)
    shown = known.line(_LONG_NAME) or known.line(_SHORT_NAME) or known.line(_SHOWN_NAME)
    shown = whole_name(shown.replace("\\", "/").rpartition("/")[2][:255], known.line(_TYPE).lower())
    embedded = next((one for one in file.names(inside) if one.lower() == "__substg1.0_3701000d"), None)
    if embedded and _PROPERTIES in file.names((*inside, embedded)):
        return Attachment(known.line(_SHOWN_NAME) or shown, message=partial(_nested, file, (*inside, embedded)))
    if known.number(_HIDDEN) & 0xFF or (known.line(_CONTENT_ID) and is_picture(shown)):
        return Attachment(shown, inline=True)
    return Attachment(shown, known.data(_DATA))


def _nested(file: _File, storage: tuple[str, ...]) -> Message:
    try:
        return _message(file, storage)
    except _BROKEN as error:
        raise UnreadableError(storage[-2], f"is no message that can be read ({error})", hint=_DAMAGED) from error
