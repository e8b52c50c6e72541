"""What a PDF states about itself: title, author, dates, language and outline."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from spanwise.documents.document import is_iso
from spanwise.readers.pdf.headings import Entry
from spanwise.readers.pdf.pdfium import string_of

if TYPE_CHECKING:
    import pypdfium2

_DATE: Final = re.compile(r"(?:D:)?(\d{4})(\d\d)?(\d\d)?(\d\d)?(\d\d)?(\d\d)?([-+Zz])?(\d\d)?'?(\d\d)?")
_NO_TITLE: Final = re.compile(
    r"microsoft (?:word|powerpoint|excel) - |untitled|unknown|\(?(?:anonymous|unspecified)\)?\Z|document\d*\Z|(?:file|https?)://|.*\.(?:docx?|pptx?|xlsx?|"
    r"pdf|indd|qxd|tex|dvi|html?|odt|rtf|txt)\Z|\W*\Z|about:blank",
    re.IGNORECASE,
)
_LANGUAGE: Final = re.compile(r"[A-Za-z]{2,3}(?:-[A-Za-z0-9]{1,8})*\Z")
_LONGEST_TITLE: Final = 500
_MOST_ENTRIES: Final = 20_000


def metadata_of(document: pypdfium2.PdfDocument) -> dict[str, Any]:
    """Return the metadata that the file states."""
    stated = _stated(document)
    found: dict[str, Any] = {}
    title = " ".join(stated.get("Title", "").split())
    if title and not _NO_TITLE.match(title) and len(title) <= _LONGEST_TITLE:
        found["title"] = title
    author = " ".join(stated.get("Author", "").split())
    if author and not _NO_TITLE.match(author):
        found["author"] = author[:_LONGEST_TITLE]
    if date := _iso(stated.get("ModDate", "")) or _iso(stated.get("CreationDate", "")):
        found["updated_at"] = date
    if language := _language(document):
        found["language"] = language
    return found


def _stated(document: pypdfium2.PdfDocument) -> Mapping[str, str]:
    try:
        values: dict[str, str] = document.get_metadata_dict(skip_empty=True)
    except (UnicodeDecodeError, ValueError):
        return {}
    return {name: value.replace("\x00", "").encode("utf-8", "replace").decode() for name, value in values.items()}


def _language(document: pypdfium2.PdfDocument) -> str | None:
    import pypdfium2.raw as raw

    language = string_of(raw.FPDFCatalog_GetLanguage, document).strip()
    return language if _LANGUAGE.match(language) else None


def _iso(date: str) -> str | None:
    """Convert a PDF date to ISO 8601; None if it is not a date."""
    found = _DATE.match(date.strip())
    if not found:
        return None
    year, month, day, hour, minute, second, sign, hours, minutes = found.groups()
    zone = "Z" if sign and sign in "Zz" else f"{sign}{hours}:{minutes or '00'}" if sign and hours else ""
    stamp = f"{year}-{month or '01'}-{day or '01'}T{hour or '00'}:{minute or '00'}:{second or '00'}{zone}"
    return stamp if is_iso(stamp) else None


def outline_of(document: pypdfium2.PdfDocument) -> list[Entry]:
    """Return the outline; pages count from 0."""
    entries: list[Entry] = []
    for bookmark in document.get_toc(max_depth=6):
        destination = bookmark.get_dest()
        page = destination.get_index() if destination else None
        if page is not None:
            entries.append(Entry(bookmark.get_title(), bookmark.level + 1, page))
        if len(entries) >= _MOST_ENTRIES:
            break
    return entries
