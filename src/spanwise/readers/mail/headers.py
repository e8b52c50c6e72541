"""The header of a message or of a part: its fields, decoded; broken ones as far as they can be read."""

from __future__ import annotations

import binascii
import re
from datetime import UTC
from email.utils import parsedate_to_datetime
from typing import Final, NamedTuple
from urllib.parse import unquote_to_bytes

from spanwise.documents.document import is_iso
from spanwise.readers.encodings import cleaned, decoded_as

_FIELD: Final = re.compile(rb"([!-9;-~]+)[ \t]*:([^\r\n]*(?:\r?\n[ \t][^\r\n]*)*)(?:\r?\n|\Z)")
_BEFORE: Final = re.compile(rb"\s*(?:>?From [^\r\n]*\r?\n)?")  # the line that a mailbox puts before a message
_EMPTY_LINE: Final = re.compile(rb"\r?\n")
_LONGEST_VALUE: Final = 1 << 16
_LONGEST_PARAMETERS: Final = 1 << 13
_MOST_FIELDS: Final = 5000
_WORD: Final = re.compile(r"=\?([^?\s]{1,80})\?([bBqQ])\?([^?]*)\?=")
_PARAMETER: Final = re.compile(r";\s*([^\s=;\"]{1,100})\s*=\s*(?:\"([^\"\\]*(?:\\.[^\"\\]*)*)\"|([^;\s]*))", re.DOTALL)
_ESCAPED: Final = re.compile(r"\\(.)", re.DOTALL)
_SPLIT_NAME: Final = re.compile(r"([^*]+)(?:\*(\d{1,3}))?(\*)?")


class Header(NamedTuple):
    """The fields of a header by their names in lower case; of several with one name the first counts."""

    fields: dict[str, str]

    def text(self, name: str) -> str:
        """Return the text of a field, decoded, in one line."""
        return " ".join(decoded_words(self.fields.get(name, "")).split())

    def kind(self, default: str = "text/plain") -> str:
        """Return the content type."""
        found = self.fields.get("content-type", "").partition(";")[0].strip().lower()
        return found if "/" in found else default

    def parameter(self, field: str, name: str) -> str:
        """Return a parameter of a field, also of one in several parts, or with a charset."""
        return parameters(self.fields.get(field, "")).get(name, "")

    @property
    def file_name(self) -> str:
        """The name of the file that a part is; empty if it has none."""
        found = self.parameter("content-disposition", "filename") or self.parameter("content-type", "name")
        name = " ".join(decoded_words(found).replace("\\", "/").split("/")[-1].split())
        return cleaned(name)[0][:255]


def header_of(data: bytes) -> tuple[Header, int]:
    """Return the header at the start of a message or part, and where its body starts."""
    found = _BEFORE.match(data)
    position = found.end() if found and found[0].strip() else 0
    fields: dict[str, str] = {}
    for _ in range(_MOST_FIELDS):
        field = _FIELD.match(data, position)
        if not field:
            break
        position = field.end()
        fields.setdefault(field[1].decode("ascii").lower(), _raw(field[2][:_LONGEST_VALUE]))
    empty = _EMPTY_LINE.match(data, position)
    return Header(fields), empty.end() if empty else position


def _raw(value: bytes) -> str:
    """Return the characters of a field, which may be more than ASCII, without line ends."""
    text = decoded_as(value, "utf-8")
    text = decoded_as(value, "cp1252", "replace") or "" if text is None else text
    return cleaned(text.replace("\r", "").replace("\n", ""))[0].strip()


def decoded_words(value: str) -> str:
    """Decode the encoded words of a value; neighbours in one charset together, as a character may be in both."""
    if "=?" not in value:
        return value
    pieces, reached = list[str](), 0
    charset, waiting = "", b""
    for found in _WORD.finditer(value):
        between = value[reached : found.start()]
        named = found[1].partition("*")[0].lower()
        if waiting and (named != charset or between.strip()):
            pieces.append(_decoded(waiting, charset))
            waiting = b""
        if between.strip() or not reached:
            pieces.append(between)
        charset, reached = named, found.end()
        waiting += _word_bytes(found[2], found[3])
    pieces += [_decoded(waiting, charset), value[reached:]]
    return cleaned("".join(pieces))[0]


def _word_bytes(encoding: str, text: str) -> bytes:
    raw = text.encode("utf-8", "replace")
    if encoding in "qQ":
        return binascii.a2b_qp(raw, header=True)
    return base64_bytes(raw)


_NO_BASE64: Final = bytes(set(range(256)) - {*b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"})


def base64_bytes(data: bytes) -> bytes:
    """Decode base64 as far as it goes: what is no letter of it is passed over."""
    clean = data.translate(None, _NO_BASE64)
    if len(clean) % 4 == 1:
        clean = clean[:-1]
    return binascii.a2b_base64(clean + b"=" * (-len(clean) % 4))


def _decoded(data: bytes, charset: str) -> str:
    text = decoded_as(data, charset, "replace")
    return decoded_as(data, "utf-8") or decoded_as(data, "latin-1") or "" if text is None else text


def parameters(value: str) -> dict[str, str]:
    """Return the parameters of a field; those of RFC 2231 put together and decoded."""
    plain: dict[str, str] = {}
    pieces: dict[str, dict[int, tuple[str, bool]]] = {}
    for found in _PARAMETER.finditer(value[:_LONGEST_PARAMETERS]):
        text = _ESCAPED.sub(r"\1", found[2]) if found[2] is not None else found[3]
        split = _SPLIT_NAME.fullmatch(found[1].lower())
        if split and (split[2] or split[3]):
            pieces.setdefault(split[1], {}).setdefault(int(split[2] or 0), (text, bool(split[3])))
        else:
            plain.setdefault(found[1].lower(), text)
    return plain | {name: _united(parts) for name, parts in pieces.items()}


def _united(parts: dict[int, tuple[str, bool]]) -> str:
    charset, joined = "utf-8", b""
    for number, (text, encoded) in sorted(parts.items()):
        if encoded and number == min(parts) and text.count("'") >= 2:
            charset, _, text = text.split("'", 2)
        joined += unquote_to_bytes(text) if encoded else text.encode("utf-8", "replace")
    return _decoded(joined, charset)


def person_of(value: str) -> str:
    """Return the name of the first person in a list of addresses, else the address."""
    name, _, rest = value.partition("<")
    return name.strip(" \t,;\"'") or rest.partition(">")[0].strip()


def moment_of(value: str) -> str:
    """Return a date as ISO 8601; empty if it is none."""
    if is_iso(value):
        return value
    try:
        moment = parsedate_to_datetime(value[:200])
        return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).isoformat()
    except (ValueError, TypeError, OverflowError, IndexError):
        return ""
