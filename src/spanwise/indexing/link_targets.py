"""Names by which links refer to documents: those of a document and those that its links use, in one spelling.

`url:https://…` without a fragment, `file:/…` an absolute path, `page:ID` and `title:SPACE/Title` in Confluence,
`note:name` for notes that are linked by name.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator, Mapping
from pathlib import PurePosixPath
from typing import Any, Final
from urllib.parse import SplitResult, unquote, urljoin, urlsplit

from spanwise.native import is_text

_NOTES: Final = frozenset({".md", ".markdown", ".mdx"})
_SCHEME: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")
_PORTS: Final = {"http": 80, "https": 443}
_ADDRESS: Final = re.compile(r"https?://", re.IGNORECASE)


def addresses_of(metadata: Mapping[str, Any], location: str | None) -> tuple[str, ...]:
    """Return the names by which links may refer to a document; `location` is the absolute path of its file."""
    return tuple(name for name in dict.fromkeys(_addresses(metadata, location)) if _is_name(name))


def targets_of(metadata: Mapping[str, Any], location: str | None) -> tuple[str, ...]:
    """Return the names that the links of a document may refer to, without those of the document itself."""
    own = set(_addresses(metadata, location))
    targets = (name for link in metadata.get("links") or () for name in _targets(link, metadata, location))
    return tuple(name for name in dict.fromkeys(targets) if name not in own and _is_name(name))


def _is_name(name: str) -> bool:
    """Whether a store can hold a name: `a%00b.md` is none that a file can have."""
    return "\0" not in name and is_text(name)


def _addresses(metadata: Mapping[str, Any], location: str | None) -> Iterator[str]:
    if url := _url(metadata.get("source_url") or ""):
        yield url
    path = location or metadata.get("file_path")
    if path:
        yield f"file:{path}"
    if metadata.get("page_id"):
        yield f"page:{metadata['page_id']}"
    if metadata.get("title") and metadata.get("space_key"):
        yield _title(metadata["space_key"], metadata["title"])
    if path and PurePosixPath(path).suffix.lower() in _NOTES:
        yield from _note_names(path, metadata.get("extra") or {})


def _note_names(path: str, extra: Mapping[str, Any]) -> Iterator[str]:
    """Yield the names of a note: its path from any folder on, its aliases, its own id."""
    steps = [step for step in PurePosixPath(path).with_suffix("").parts if step != "/"]
    yield from (_note("/".join(steps[at:])) for at in range(len(steps) - 1, max(len(steps) - 6, -1), -1))
    aliases = extra.get("aliases")
    own = [*(aliases if isinstance(aliases, list | tuple) else [aliases]), extra.get("id")]
    yield from (_note(str(name)) for name in own if name)


def _targets(link: Mapping[str, Any], metadata: Mapping[str, Any], location: str | None) -> Iterator[str]:
    """Yield the names that a link may refer to; of several at most one is that of a document."""
    target = str(link.get("target") or "").strip()
    if not target or target.startswith("#"):
        return
    if _ADDRESS.match(target) or target.startswith("//"):
        yield from filter(None, [_url(target, metadata.get("source_url") or "https://")])
        return
    if metadata.get("source_type") == "confluence" or metadata.get("space_key"):
        yield from _confluence(target, metadata.get("space_key"))
    if _SCHEME.match(target) and not target.startswith("page:"):
        return
    yield from filter(None, [_url(target, metadata.get("source_url") or "")])
    path = unquote(target.partition("#")[0].partition("?")[0])
    source = location or metadata.get("file_path")
    if path and source:
        beside = posixpath.normpath(posixpath.join(posixpath.dirname(source), path))
        yield f"file:{beside}"
        if PurePosixPath(path).suffix.lower() not in _NOTES:
            yield f"file:{beside}.md"
    if path and (PurePosixPath(path).suffix.lower() in {"", *_NOTES}):
        yield _note(re.sub(r"\.(md|markdown|mdx)$", "", path, flags=re.IGNORECASE))


def _confluence(target: str, space: str | None) -> Iterator[str]:
    """Yield the names of a target in Confluence's markup: `SPACE:Title`, `Title` in the same space, or `page:ID`."""
    name = target.partition("#")[0]
    if name.startswith("page:"):
        yield name
        return
    before, colon, after = name.partition(":")
    if colon and before and after:
        yield _title(before, after)
    if space and name:
        yield _title(space, name)


def _title(space: str, title: str) -> str:
    return f"title:{space.strip().casefold()}/{' '.join(title.split()).casefold()}"


def _note(name: str) -> str:
    return f"note:{posixpath.normpath(name.strip()).lstrip('/').casefold()}"


def _url(address: str, base: str = "") -> str:
    """Return a web address in one spelling: no fragment, default port or slash at its end, host in lower case."""
    try:
        parts: SplitResult = urlsplit(urljoin(base, address).strip())
        host, port = (parts.hostname or "").lower(), parts.port
    except ValueError:
        return ""
    scheme = parts.scheme.lower()
    if scheme not in _PORTS or not host:
        return ""
    host = host if port in (None, _PORTS[scheme]) else f"{host}:{port}"
    query = f"?{parts.query}" if parts.query else ""
    return f"url:{scheme}://{host}{unquote(parts.path).rstrip('/')}{query}"
