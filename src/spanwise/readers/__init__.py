"""Readers: text or bytes to a `Document`; a file per format, one table."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, Final, NamedTuple

from spanwise.documents.document import Document, LeftOut, Metadata, derived_document_id
from spanwise.errors import OptionError, UnreadableError, did_you_mean
from spanwise.native.gc_pause import collector_paused
from spanwise.readers.builder import ReadResult
from spanwise.readers.encodings import cleaned, decoded
from spanwise.readers.markdown.reader import read_markdown
from spanwise.readers.pages import read_paged
from spanwise.readers.plain import read_plain


class ReadOptions(NamedTuple):
    """How a file is opened, where its figures are written to, and whether what is no content is kept."""

    password: str | None = None
    figures: str | os.PathLike[str] | None = None
    keep_all: bool = False


_PLAINLY: Final = ReadOptions()


def _read_html(text: str, access: ReadOptions) -> ReadResult:
    from spanwise.readers.html import read_html

    return read_html(text, keep_all=access.keep_all)


def _read_confluence(text: str, access: ReadOptions) -> ReadResult:
    from spanwise.readers.confluence import read_confluence

    return read_confluence(text, keep_all=access.keep_all)


FORMATS: Final[dict[str, Callable[[str, ReadOptions], ReadResult]]] = {
    "markdown": lambda text, _: read_markdown(text),
    "text": lambda text, _: read_plain(text),
    "html": _read_html,
    "confluence": _read_confluence,
}
INPUTS: Final = (*FORMATS, "pdf")
"""All formats; those of text are the table's, the others are read from bytes."""
_PDF: Final = b"%PDF-"
EXTENSIONS: Final = {
    ".md": "markdown",
    ".markdown": "markdown",
    ".mdx": "markdown",
    ".txt": "text",
    ".text": "text",
    ".log": "text",
    ".pdf": "pdf",
    ".html": "html",
    ".htm": "html",
    ".xhtml": "html",
    "": "text",
}


def read_file(
    path: str | os.PathLike[str], form: str | None, given: Mapping[str, Any], access: ReadOptions = _PLAINLY
) -> Document:
    """Read a file; its extension says the format unless `form` does."""
    data, name, form = load_file(path, form)
    return read_bytes(data, name, form, {"file_path": name, **given}, access)


def load_file(path: str | os.PathLike[str], form: str | None) -> tuple[bytes, str, str]:
    """Give what is in a file, its name as text, and its format."""
    if not isinstance(path, str | os.PathLike):
        raise UnreadableError("path", "must be a string or a path", value=path)
    place = Path(path)
    # a name on disk may be no text; two that differ must not become one
    name = place.as_posix().encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")
    known = form is None  # by the ending alone
    if form is None:
        form = EXTENSIONS.get(place.suffix.lower()) or _form_inside(place)
        if form is None:
            endings = ", ".join(sorted(filter(None, EXTENSIONS)))
            hint = f"known: {endings}; if it is one of these under another name, say its format: {' or '.join(INPUTS)}"
            raise UnreadableError(name, "has an extension that no reader knows", hint=hint)
    try:
        data = place.read_bytes()
    except (OSError, ValueError) as error:
        raise UnreadableError(name, f"can't be opened ({getattr(error, 'strerror', None) or error})") from error
    if known and data.startswith(_PDF):
        form = "pdf"  # a name may lie, or have no ending
    if known and form == "html" and _is_stored(data):
        form = "confluence"
    return data, name, form


def _form_inside(place: Path) -> str | None:
    """Look into a file whose extension says too little: a page of Confluence may be XML or JSON."""
    if place.suffix.lower() not in {".xml", ".json"}:
        return None
    from spanwise.readers.confluence.detection import looks_exported, looks_stored

    try:
        text = place.read_text(encoding="utf-8", errors="replace")
    except (OSError, ValueError):
        return None
    looks = looks_stored if place.suffix.lower() == ".xml" else looks_exported
    return "confluence" if looks(text) else None


def _is_stored(data: bytes) -> bool:
    from spanwise.readers.confluence.detection import looks_stored_alone

    return looks_stored_alone(data)


def read_bytes(
    data: bytes, name: str, form: str | None, given: Mapping[str, Any], access: ReadOptions = _PLAINLY
) -> Document:
    """Read what a file holds; without a format, a PDF is known by its first bytes, and all else is Markdown."""
    if form is None:
        form = "pdf" if data.startswith(_PDF) else "markdown"
    if form != "pdf":
        text, guessed = decoded(data, name)
        return read_string(text, form, given, guessed, access)
    from spanwise.readers.pdf import read_pdf

    with collector_paused:
        reading = read_pdf(data, name, access.password, access.figures)
    return _document(reading, form, given)


def read_string(
    text: str, form: str, given: Mapping[str, Any], noted: tuple[LeftOut, ...] = (), access: ReadOptions = _PLAINLY
) -> Document:
    """Read a text of a named format; `noted` is what is known of it already."""
    if form in INPUTS and form not in FORMATS:
        raise OptionError("format", "is read from a file, not from a string", value=form, hint="spanwise.read(path)")
    if not isinstance(form, str) or form not in FORMATS:
        raise OptionError("format", "is not a known format", value=form, hint=did_you_mean(str(form), FORMATS))
    if not isinstance(text, str):
        hint = "decode bytes first, or use spanwise.read(path)"
        raise UnreadableError("text", "must be a string", value=type(text).__name__, hint=hint)
    clean, replaced = cleaned(text)
    with collector_paused:
        reading = FORMATS[form](clean, access)
    if noted or replaced:
        reading = reading._replace(left_out=noted + replaced + reading.left_out)
    return _document(reading, form, given)


def read_page_strings(pages: Iterable[str], form: str, given: Mapping[str, Any]) -> Document:
    """Read strings that are pages."""
    return _document(read_paged(pages, form), form, given)


def _naming(known: Mapping[str, Any], given: Mapping[str, Any]) -> Mapping[str, Any]:
    """Give what a document is named by: an address that only the page itself says may be that of many files."""
    return known if given.get("source_url") or not known.get("file_path") else {**known, "source_url": None}


def _document(reading: ReadResult, form: str, given: Mapping[str, Any]) -> Document:
    """Join what the reader found with what the caller knows better."""
    known = {"source_type": form, **reading.found}
    known |= {name: value for name, value in given.items() if value is not None}
    own = reading.found.get("extra", {})
    if own and isinstance(given.get("extra"), Mapping):
        known["extra"] = {**own, **given["extra"]}
    if not known.get("document_id") and not known.get("source_url") and not known.get("file_path"):
        known["document_id"] = own.get("id", "")  # its own name, where no source gives it one
    if not known.get("document_id"):
        known["document_id"] = derived_document_id(_naming(known, given), reading.text)
    starts = reading.link_starts if given.get("links") is None else ()
    metadata = Metadata.of(known)
    return Document(reading.text, reading.blocks, reading.pages, metadata, reading.left_out, starts, reading.shown)
