"""Links, mentions, attachments, images and dates of storage format.

A page is named as in Confluence's own markup: `SPACE:Title`, or `Title` in the same space, with `#anchor` behind it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

if TYPE_CHECKING:
    from spanwise.readers.confluence.storage import StorageWalk

_AC: Final = "{http://atlassian.com/ac}"
_RI: Final = "{http://atlassian.com/ri}"


class Resource(NamedTuple):
    """What something points at, and the words that stand for it where no others are given."""

    target: str
    words: str


def resource_in(node: Any) -> Resource | None:
    """Find the resource that an element points at."""
    for child in node:
        if isinstance(child.tag, str) and child.tag.startswith(_RI):
            return _resource(child)
    return None


def _resource(node: Any) -> Resource:
    kind = str(node.tag).removeprefix(_RI)

    def said(name: str) -> str:
        return str(node.get(f"{_RI}{name}") or "")

    if kind in {"page", "blog-post"}:
        title, space = said("content-title"), said("space-key")
        return Resource(f"{space}:{title}" if space else title, title)
    if kind == "attachment":
        page = resource_in(node)
        name = said("filename")
        return Resource(f"{page.target}/{name}" if page and page.target else name, name)
    if kind == "user":
        name = said("username") or said("account-id") or said("userkey")
        return Resource(f"user:{name}", f"@{name}")
    if kind == "space":
        return Resource(f"{said('space-key')}:", said("space-key"))
    if kind == "content-entity":
        return Resource(f"page:{said('content-id')}", said("content-id"))
    if kind == "shortcut":
        return Resource(f"{said('key')}@{said('parameter')}", said("parameter"))
    address = said("value")
    return Resource(address, address)


def link(walk: StorageWalk, node: Any, attributes: Any, path: Any, depth: int) -> None:
    """Handle a link to a page, file or person; without words of its own it says what it points at."""
    found = resource_in(node) or Resource("", "")
    anchor = attributes.get(f"{_AC}anchor") or ""
    target = f"{found.target}#{anchor}" if anchor else found.target
    bodies = [child for child in node if child.tag in {f"{_AC}link-body", f"{_AC}plain-text-link-body"}]
    walk.collector.inline.link(target)
    if any("".join(body.itertext()).strip() or len(body) for body in bodies):
        for body in bodies:
            walk.children(body, path.child(f"ac:{body.tag.removeprefix(_AC)}"), depth)
    else:
        walk.collector.words(found.words or anchor)
    walk.collector.inline.close()


def anchored_link(walk: StorageWalk, node: Any, attributes: Any, path: Any, depth: int) -> None:
    """Handle an ordinary link."""
    walk.collector.inline.link((attributes.get("href") or "").strip())
    walk.children(node, path, depth)
    walk.collector.inline.close()


def image_of(walk: StorageWalk, node: Any, attributes: Any, path: Any, depth: int) -> None:
    """Handle a picture; with a caption it is a figure."""
    found = resource_in(node) or Resource("", "")
    words = attributes.get(f"{_AC}alt") or attributes.get(f"{_AC}title") or ""
    captions = [child for child in node if child.tag == f"{_AC}caption"]
    if not captions:
        walk.collector.image(found.target, words)
        return
    walk.collector.begin("figure", path)
    walk.collector.image(found.target, words)
    for caption in captions:
        place = path.child("ac:caption")
        walk.collector.begin("caption", place)
        walk.children(caption, place, depth)
        walk.collector.finish()
    walk.collector.finish()


def said_time(walk: StorageWalk, node: Any, attributes: Any, path: Any, depth: int) -> None:
    """Handle a date: it is shown in the reader's own way, so the page only says which day it is."""
    if "".join(node.itertext()).strip():
        walk.children(node, path, depth)
    else:
        walk.collector.words(attributes.get("datetime") or "")
