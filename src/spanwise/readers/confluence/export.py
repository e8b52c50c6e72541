"""Pages as JSON of Confluence's REST API, Cloud or Data Center: their bodies and metadata."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

from spanwise.documents.document import is_iso
from spanwise.errors import UnreadableError

FETCH: Final = "fetch the page again from Confluence, or leave it out"
_STORED: Final = ("storage",)
_RENDERED: Final = ("view", "export_view", "styled_view")


class Export(NamedTuple):
    """A page: its stored body, its rendered body, its metadata, and the titles of the pages above it."""

    stored: str | None
    rendered: str | None
    found: dict[str, Any]
    ancestors: tuple[str, ...]


def export_of(text: str) -> Export:
    """Read the JSON of a page."""
    try:
        data = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise UnreadableError("confluence", f"begins like JSON but is none ({error})", hint=FETCH) from error
    page = _page(data)
    body = _table(page, "body")
    stored, rendered = _value(body, _STORED), _value(body, _RENDERED)
    if stored is None and rendered is None:
        hint = "ask for expand=body.storage, or body-format=storage in the Cloud's version 2"
        raise UnreadableError("confluence", "has neither a storage nor a view body", hint=hint)
    ancestors = tuple(_text(item, "title") for item in _items(page, "ancestors"))
    return Export(stored, rendered, _found(page, ancestors), tuple(filter(None, ancestors)))


def _page(data: Any) -> Mapping[str, Any]:
    """Return the page; a search result must hold exactly one."""
    if isinstance(data, Mapping) and isinstance(results := data.get("results"), list):
        if len(results) != 1:
            hint = "write each page to a file of its own"
            raise UnreadableError("confluence", f"holds {len(results)} pages, not one", hint=hint)
        data = results[0]
    if isinstance(data, Mapping) and isinstance(data.get("content"), Mapping) and "body" not in data:
        data = data["content"]
    if not isinstance(data, Mapping):
        raise UnreadableError("confluence", "is JSON, but no page of the REST API", hint=FETCH)
    return data


def _found(page: Mapping[str, Any], ancestors: Sequence[str]) -> dict[str, Any]:
    version, history = _table(page, "version"), _table(page, "history")
    labels = _items(_table(page, "metadata"), "labels") or _items(page, "labels")
    creator = _person(history.get("createdBy")) or _text(page, "authorId")
    editor = _person(version.get("by")) or _text(version, "authorId")
    created = _text(history, "createdDate") or _text(page, "createdAt")
    updated = _text(version, "when") or _text(version, "createdAt")
    created, updated = (stamp if is_iso(stamp) else "" for stamp in (created, updated))
    found: dict[str, Any] = {
        "title": _text(page, "title"),
        "page_id": _text(page, "id"),
        "space_key": _text(_table(page, "space"), "key") or _space_in(_text(_table(page, "_links"), "webui")),
        "author": creator or editor,
        "updated_at": updated or created,
        "labels": tuple(name for item in labels if (name := _text(item, "name"))),
        "source_url": _url(page),
    }
    if type(number := version.get("number")) is int:
        found["page_version"] = number
    extra = {"ancestors": list(filter(None, ancestors)), "created_at": created, "last_author": editor}
    found["extra"] = {name: value for name, value in extra.items() if value}
    return {name: value for name, value in found.items() if value}


def _url(page: Mapping[str, Any]) -> str:
    links = _table(page, "_links")
    webui, base, own = _text(links, "webui"), _text(links, "base"), _text(links, "self")
    if webui.startswith(("http://", "https://")):
        return webui
    if not base and "/rest/" in own:
        base = own.split("/rest/")[0]
    return f"{base.rstrip('/')}{webui}" if base and webui else ""


def _space_in(path: str) -> str:
    """Return the space key in a path such as `/spaces/TEAM/pages/1` or `/display/TEAM/Page`."""
    steps = path.split("/")
    indices = (index for index, step in enumerate(steps[:-1]) if step in {"spaces", "display"})
    return next((steps[index + 1] for index in indices), "")


def _value(body: Mapping[str, Any], names: Sequence[str]) -> str | None:
    for name in names:
        value = _table(body, name).get("value")
        if isinstance(value, str):
            return value
    return None


def _table(data: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    value = data.get(name)
    return value if isinstance(value, Mapping) else {}


def _items(data: Mapping[str, Any], name: str) -> list[Mapping[str, Any]]:
    value = data.get(name)
    value = value.get("results") if isinstance(value, Mapping) else value
    return [item for item in value if isinstance(item, Mapping)] if isinstance(value, list) else []


def _text(data: Mapping[str, Any], name: str) -> str:
    value = data.get(name)
    return str(value).strip() if isinstance(value, str | int) and not isinstance(value, bool) else ""


def _person(data: Any) -> str:
    if not isinstance(data, Mapping):
        return ""
    return _text(data, "displayName") or _text(data, "publicName") or _text(data, "username")
