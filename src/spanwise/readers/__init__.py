"""Readers: bytes or text to a `Document`; a package or module per format, and one table."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from importlib.util import find_spec
from pathlib import PurePath
from typing import Any, Final, NamedTuple

from spanwise.documents.document import Document, LeftOut, Metadata, derived_document_id, title_of_file
from spanwise.errors import MissingExtraError, OptionError, SpanwiseError, UnreadableError, did_you_mean
from spanwise.native.gc_pause import collector_paused
from spanwise.opening import path_text, read_file_bytes
from spanwise.readers.builder import ReadResult
from spanwise.readers.encodings import cleaned, decoded
from spanwise.readers.markdown.reader import read_markdown
from spanwise.readers.pages import read_paged
from spanwise.readers.plain import read_plain
from spanwise.readers.plugin_reader import (
    Reader,
    identity,
    plugin_formats,
    plugin_origin,
    plugin_reader,
    plugin_suffixes,
    unloaded_readers,
)
from spanwise.text.plain import remember_kept


class ReadOptions(NamedTuple):
    """How a file is read: its password, the folder for its figures, whether all of a page is kept; in what it lies."""

    password: str | None = None
    figures: str | os.PathLike[str] | None = None
    keep_all: bool = False
    depth: int = 0  # of the message that it is attached to


_DEFAULTS: Final = ReadOptions()


def _read_html(text: str, options: ReadOptions) -> ReadResult:
    from spanwise.readers.html import read_html

    return read_html(text, keep_all=options.keep_all)


def _read_confluence(text: str, options: ReadOptions) -> ReadResult:
    from spanwise.readers.confluence import read_confluence

    return read_confluence(text, keep_all=options.keep_all)


def _read_docx(data: bytes, name: str, options: ReadOptions) -> ReadResult:
    from spanwise.readers.docx import read_docx

    return read_docx(data, name, keep_all=options.keep_all)


def _read_pptx(data: bytes, name: str, _: ReadOptions) -> ReadResult:
    from spanwise.readers.pptx import read_pptx

    return read_pptx(data, name)


def _read_json(text: str, _: ReadOptions) -> ReadResult:
    from spanwise.readers.json_text import read_json

    return read_json(text)


def _read_json_lines(text: str, _: ReadOptions) -> ReadResult:
    from spanwise.readers.json_text import read_json_lines

    return read_json_lines(text)


def _read_csv(text: str, _: ReadOptions) -> ReadResult:
    from spanwise.readers.sheets.delimited import read_delimited

    return read_delimited(text)


def _read_tsv(text: str, _: ReadOptions) -> ReadResult:
    from spanwise.readers.sheets.delimited import read_delimited

    return read_delimited(text, "\t")


def _read_xlsx(data: bytes, name: str, _: ReadOptions) -> ReadResult:
    from spanwise.readers.sheets.xlsx import read_xlsx

    return read_xlsx(data, name)


def _read_xls(data: bytes, name: str, _: ReadOptions) -> ReadResult:
    from spanwise.readers.sheets.old_excel import read_xls

    return read_xls(data, name)


def _read_ods(data: bytes, name: str, _: ReadOptions) -> ReadResult:
    from spanwise.readers.sheets.opendocument import read_ods

    return read_ods(data, name)


def _read_pdf(data: bytes, name: str, options: ReadOptions) -> ReadResult:
    from spanwise.readers.pdf import read_pdf

    return read_pdf(data, name, options.password, options.figures)


def _read_notebook(data: bytes, name: str, _: ReadOptions) -> ReadResult:
    from spanwise.readers.notebook import read_notebook

    return read_notebook(data, name)


def _read_eml(data: bytes, name: str, options: ReadOptions) -> ReadResult:
    from spanwise.readers.mail import read_eml

    return read_eml(data, name, partial(_read_attachment, options), options.depth)


def _read_msg(data: bytes, name: str, options: ReadOptions) -> ReadResult:
    from spanwise.readers.mail import read_msg

    return read_msg(data, name, partial(_read_attachment, options), options.depth)


def _read_epub(data: bytes, name: str, _: ReadOptions) -> ReadResult:
    from spanwise.readers.epub import read_epub

    return read_epub(data, name)


def _read_attachment(options: ReadOptions, name: str, data: bytes) -> ReadResult:
    """Read an attachment by its name, as the file it is, to be joined with the message around it."""
    from spanwise.readers.joining import document_result

    if "." not in name or not has_reader(name):
        raise UnreadableError(name, "no reader takes it")
    found = load(name, lambda: data, None)[1]
    document = read_bytes(data, name, found, {}, options._replace(depth=options.depth + 1, figures=None))
    return document_result(document)


FORMATS: Final[dict[str, Callable[[str, ReadOptions], ReadResult]]] = {
    "markdown": lambda text, _: read_markdown(text),
    "text": lambda text, _: read_plain(text),
    "html": _read_html,
    "confluence": _read_confluence,
    "json": _read_json,
    "jsonl": _read_json_lines,
    "csv": _read_csv,
    "tsv": _read_tsv,
}
FILE_FORMATS: Final[dict[str, Callable[[bytes, str, ReadOptions], ReadResult]]] = {
    "pdf": _read_pdf,
    "docx": _read_docx,
    "pptx": _read_pptx,
    "xlsx": _read_xlsx,
    "xls": _read_xls,
    "ods": _read_ods,
    "ipynb": _read_notebook,
    "eml": _read_eml,
    "msg": _read_msg,
    "epub": _read_epub,
}
INPUTS: Final = (*FORMATS, *FILE_FORMATS)
"""All formats: those of the first table are read from text, the others from bytes."""
_PDF: Final = b"%PDF-"
_CONFLUENCE_SUFFIXES: Final = (".xml", ".json")
EXTENSIONS: Final = {
    **dict.fromkeys((".md", ".markdown", ".mdx"), "markdown"),
    **dict.fromkeys((".txt", ".text", ".log"), "text"),
    ".pdf": "pdf",
    **dict.fromkeys((".html", ".htm", ".xhtml"), "html"),
    **dict.fromkeys((".docx", ".docm", ".dotx", ".dotm"), "docx"),
    **dict.fromkeys((".pptx", ".pptm", ".ppsx", ".ppsm", ".potx", ".potm"), "pptx"),
    ".json": "json",
    **dict.fromkeys((".jsonl", ".ndjson"), "jsonl"),
    ".csv": "csv",
    **dict.fromkeys((".tsv", ".tab"), "tsv"),
    **dict.fromkeys((".xlsx", ".xlsm", ".xltx", ".xltm"), "xlsx"),
    **dict.fromkeys((".xls", ".xlt"), "xls"),
    **dict.fromkeys((".ods", ".ots"), "ods"),
    ".ipynb": "ipynb",
    ".eml": "eml",
    ".msg": "msg",
    ".epub": "epub",
    "": "text",
}
_NEEDED: Final = {
    "pdf": ("pypdfium2", "pdf"),
    "html": ("selectolax", "html"),
    "confluence": ("lxml", "confluence"),
    "msg": ("olefile", "msg"),
}
"""What the readers of some formats import, and the extra that has it."""


def read(
    path: str | os.PathLike[str],
    *,
    format: str | Reader | None = None,
    password: str | None = None,
    figures: str | os.PathLike[str] | None = None,
    keep_all: bool = False,
    **metadata: Any,
) -> Document:
    """Read a file. Its extension decides the format unless `format` is given; `metadata` overrides what is found.

    `format` is a name, or an object that reads: see `Reader`.
    `password` opens an encrypted PDF. `figures` names a folder that the figures of a PDF are written to.
    With `keep_all` a web page keeps its navigation, banners and all else that is not its main content.
    """
    return read_file(path, format, metadata, ReadOptions(password, figures, keep_all))


def read_text(text: str, format: str | Reader = "markdown", *, keep_all: bool = False, **metadata: Any) -> Document:
    """Read a string of a format: `"markdown"`, `"text"`, `"html"`, `"json"` …; `keep_all` is as for `read`."""
    return read_string(text, format, metadata, options=ReadOptions(keep_all=keep_all))


def read_pages(pages: Iterable[str], *, format: str = "text", **metadata: Any) -> Document:
    """Read text that is already in pages, one string a page."""
    return _document(read_paged(pages, format), format, metadata)


def read_file(
    path: str | os.PathLike[str],
    format: str | Reader | None,
    metadata: Mapping[str, Any],
    options: ReadOptions = _DEFAULTS,
) -> Document:
    """Read a file; its extension decides the format unless `format` is given."""
    if not isinstance(path, str | os.PathLike):
        raise UnreadableError("path", "must be a string or a path", value=path)
    name = path_text(path)
    data, found = load(name, partial(read_file_bytes, path), format)
    return read_bytes(data, name, found, {"file_path": name, **metadata}, options)


def load(name: str, fetch: Callable[[], bytes], format: str | Reader | None) -> tuple[bytes, str | Reader]:
    """Fetch the bytes of a file, once, and decide its format: the given one, else by its extension and its bytes."""
    suffix = PurePath(name).suffix.lower()
    is_known = suffix in EXTENSIONS or suffix in _CONFLUENCE_SUFFIXES
    found = _plugin_format(name, suffix) if format is None and not is_known else format
    try:
        data = fetch()
    except (MemoryError, SpanwiseError):
        raise
    except Exception as error:  # a source of the user's own may raise anything
        raise UnreadableError(name, f"can't be opened ({getattr(error, 'strerror', None) or error})") from error
    return data, found or _format_of(name, suffix, data)


def _format_of(name: str, suffix: str, data: bytes) -> str:
    """Return the format of a file; a suffix may be wrong, missing, or shared by several formats."""
    if suffix in _CONFLUENCE_SUFFIXES:
        from spanwise.readers.confluence.detection import looks_exported, looks_stored

        text = data.decode("utf-8", "replace")
        is_confluence = looks_stored(text) if suffix == ".xml" else looks_exported(text)
        if is_confluence:
            return "confluence"
        return EXTENSIONS.get(suffix) or _plugin_format(name, suffix)
    if data.startswith(_PDF):
        return "pdf"
    if EXTENSIONS[suffix] == "html":
        from spanwise.readers.confluence.detection import looks_stored_alone

        return "confluence" if looks_stored_alone(data) else "html"
    return EXTENSIONS[suffix]


def has_reader(path: str) -> bool:
    """Whether a file's extension is one that a reader takes; a plug-in may be one."""
    suffix = PurePath(path).suffix.lower()
    return suffix in EXTENSIONS or suffix in plugin_suffixes(INPUTS)


def expected_format(name: str, format: Any = None) -> str | None:
    """Return the format that a file will most likely be read as; None if its extension is not known."""
    return format if isinstance(format, str) else EXTENSIONS.get(PurePath(name).suffix.lower())


def _plugin_format(name: str, suffix: str) -> str:
    """Return the name of the plug-in that takes an extension; raise UnreadableError if none does, or several."""
    found = plugin_suffixes(INPUTS).get(suffix, ())
    if not found:
        raise _unknown_extension(name)
    if len(found) > 1:
        raise UnreadableError(name, f"could be read by {' and '.join(found)}", hint=f"say its format: {found[0]}")
    return found[0]


def known_suffixes() -> list[str]:
    """Return the extensions that readers take."""
    return sorted({*filter(None, EXTENSIONS), *plugin_suffixes(INPUTS)})


def input_formats() -> tuple[str, ...]:
    """Return the names of all formats, those of plug-ins last."""
    return (*INPUTS, *plugin_formats(INPUTS))


def check_format(format: str | Reader | None) -> None:
    """Raise PluginError for a plug-in that can't be loaded: it is known before any file is read."""
    plugin_reader(format, INPUTS)


def reader_origin(name: str, format: str | Reader | None) -> str:
    """Return the package and version of the plug-in that reads a file; "" if none does."""
    suffix = PurePath(name).suffix.lower()
    is_built_in = suffix in EXTENSIONS if format is None else format in INPUTS
    return "" if is_built_in else plugin_origin(suffix, format, INPUTS)


def missing_extra(name: str, format: str | Reader | None = None) -> MissingExtraError | None:
    """Return the error that reading a file will raise for lack of an extra, known from its format or extension."""
    known = format or EXTENSIONS.get(PurePath(name).suffix.lower(), "")
    module, extra = _NEEDED.get(known, ("", "")) if isinstance(known, str) else ("", "")
    if not module or find_spec(module):
        return None
    return MissingExtraError(module, f"is needed to read {name}", hint=f'pip install "spanwise[{extra}]"')


def piped_format(data: bytes) -> str:
    """Return the format of bytes without a name: a PDF is recognised by its first bytes, all else is Markdown."""
    return "pdf" if data.startswith(_PDF) else "markdown"


def broken_readers() -> list[str]:
    """Return why readers of plug-ins can't be loaded."""
    return unloaded_readers(INPUTS)


def lost_reader(name: str) -> UnreadableError:
    """Return the error for a file that was read once, and that no reader takes now."""
    broken = "; ".join(broken_readers())
    mend = f"mend its reader ({broken})" if broken else "install its reader"
    hint = f"it stays in the store; {mend}, or delete it there"
    return UnreadableError(name, "was indexed, and no reader takes its extension now", hint=hint)


def _unknown_extension(name: str) -> UnreadableError:
    endings, formats = ", ".join(known_suffixes()), " or ".join(input_formats())
    hint = f"known: {endings}; if it is one of these under another name, say its format: {formats}"
    if broken := broken_readers():
        hint += f"; not loaded: {'; '.join(broken)}"
    return UnreadableError(name, "has an extension that no reader knows", hint=hint)


def read_bytes(
    data: bytes, name: str, format: str | Reader, metadata: Mapping[str, Any], options: ReadOptions = _DEFAULTS
) -> Document:
    """Read the bytes of a file."""
    if reader := plugin_reader(format, INPUTS):
        return reader.document(data, name, metadata)
    assert isinstance(format, str)  # an object would be a plug-in
    if format in FILE_FORMATS:
        with collector_paused:
            result = FILE_FORMATS[format](data, name, options)
        return _document(result, format, metadata)
    text, guessed = _decoded(data, name, format)
    try:
        return read_string(text, format, metadata, guessed, options)
    except UnreadableError as error:
        if error.subject != "text":
            raise
        raise UnreadableError(name, error.rule, value=error.value, hint=error.hint) from error


def _decoded(data: bytes, name: str, format: str) -> tuple[str, tuple[LeftOut, ...]]:
    """Decode the bytes of a file; JSON shows its encoding by its first characters."""
    if format in {"json", "jsonl"}:
        from spanwise.readers.json_text import decoded_json

        if text := decoded_json(data, name):
            return text, ()
    return decoded(data, name)


def read_string(
    text: str,
    format: str | Reader,
    metadata: Mapping[str, Any],
    left_out: tuple[LeftOut, ...] = (),
    options: ReadOptions = _DEFAULTS,
) -> Document:
    """Read a text of a named format; `left_out` is what decoding has left out of it. A plug-in gets it as UTF-8."""
    if format in INPUTS and format not in FORMATS:
        raise OptionError("format", "is read from a file, not from a string", value=format, hint="spanwise.read(path)")
    reader = plugin_reader(format, INPUTS)
    if not reader and (not isinstance(format, str) or format not in FORMATS):
        known = (*FORMATS, *plugin_formats(INPUTS))
        raise OptionError("format", "is not a known format", value=format, hint=did_you_mean(str(format), known))
    if not isinstance(text, str):
        hint = "decode bytes first, or use spanwise.read(path)"
        raise UnreadableError("text", "must be a string", value=type(text).__name__, hint=hint)
    clean, replaced = cleaned(text)
    if reader:
        return reader.document(clean.encode(), "text", metadata)
    assert isinstance(format, str)  # an object would be a plug-in
    with collector_paused:
        result = FORMATS[format](clean, options)
    if left_out or replaced:
        result = result._replace(left_out=left_out + replaced + result.left_out)
    return _document(result, format, metadata)


def _document(result: ReadResult, format: str, metadata: Mapping[str, Any]) -> Document:
    """Return the document: what the reader found, overridden by the given metadata."""
    known = {"source_type": format, **result.metadata}
    known |= {name: value for name, value in metadata.items() if value is not None}
    known["title"] = known.get("title") or title_of_file(known.get("file_path"))
    own = result.metadata.get("extra", {})
    if own and isinstance(metadata.get("extra"), Mapping):
        known["extra"] = {**own, **metadata["extra"]}
    if not known.get("document_id") and not known.get("source_url") and not known.get("file_path"):
        known["document_id"] = own.get("id", "")  # the one it states itself, as it has no source
    if not known.get("document_id"):
        known["document_id"] = derived_document_id(identity(known, metadata), result.text)
    starts = result.link_starts if metadata.get("links") is None else ()
    checked = Metadata.of(known)
    document = Document(result.text, result.blocks, result.pages, checked, result.left_out, starts, result.visible)
    return remember_kept(document, result.kept)
