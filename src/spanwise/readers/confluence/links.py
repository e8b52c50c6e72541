"""Links, mentions, attachments, images and dates of storage format.

A page is named as in Confluence's own markup: `SPACE:Title`, or `Title` in the same space, then `#anchor`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

from spanwise.readers.html.handlers import collect

if TYPE_CHECKING:
    from spanwise.readers.confluence.storage import StorageWalk

AC: Final = "{http://atlassian.com/ac}"
_RI: Final = "{http://atlassian.com/ri}"


class Resource(NamedTuple):
    """The target of a link, and its default text."""

    target: str
    text: str


def resource_in(node: Any) -> Resource | None:
    """Return the resource that an element points at, if any."""
    for child in node:
        if isinstance(child.tag, str) and child.tag.startswith(_RI):
            return _resource(child)
    return None


def _resource(node: Any) -> Resource:
    kind = str(node.tag).removeprefix(_RI)

    def attribute(name: str) -> str:
        return str(node.get(f"{_RI}{name}") or "")

    if kind in {"page", "blog-post"}:
        title, space = attribute("content-title"), attribute("space-key")
        return Resource(f"{space}:{title}" if space else title, title)
    if kind == "attachment":
        page = resource_in(node)
        name = attribute("filename")
        return Resource(f"{page.target}/{name}" if page and page.target else name, name)
    if kind == "user":
        name = attribute("username") or attribute("account-id") or attribute("userkey")
        return Resource(f"user:{name}", f"@{name}")
    if kind == "space":
        return Resource(f"{attribute('space-key')}:", attribute("space-key"))
    if kind == "content-entity":
        return Resource(f"page:{attribute('content-id')}", attribute("content-id"))
    if kind == "shortcut":
        return Resource(f"{attribute('key')}@{attribute('parameter')}", attribute("parameter"))
    address = attribute("value")
    return Resource(address, address)


def link(walk: StorageWalk, node: Any, attributes: Any, path: Any, depth: int) -> None:
    """Handle a link to a page, file or person; without a text of its own it gets that of its target."""
    found = resource_in(node) or Resource("", "")
    anchor = attributes.get(f"{AC}anchor") or ""
    target = f"{found.target}#{anchor}" if anchor else found.target
    bodies = [child for child in node if child.tag in {f"{AC}link-body", f"{AC}plain-text-link-body"}]
    walk.collector.inline.link(target)
    if any("".join(body.itertext()).strip() or len(body) for body in bodies):
        for body in bodies:
            walk.children(body, path.child(f"ac:{body.tag.removeprefix(AC)}"), depth)
    else:
        walk.collector.add_text(found.text or anchor)
    walk.collector.inline.close()


def anchored_link(walk: StorageWalk, node: Any, attributes: Any, path: Any, depth: int) -> None:
    """Handle an ordinary link."""
    walk.collector.inline.link((attributes.get("href") or "").strip())
    walk.children(node, path, depth)
    walk.collector.inline.close()


def image_of(walk: StorageWalk, node: Any, attributes: Any, path: Any, depth: int) -> None:
    """Handle an image; with a caption it is a figure."""
    found = resource_in(node) or Resource("", "")
    alternative = attributes.get(f"{AC}alt") or attributes.get(f"{AC}title") or ""
    captions = [child for child in node if child.tag == f"{AC}caption"]
    if not captions:
        walk.collector.image(found.target, alternative)
        return
    walk.collector.begin("figure", path)
    walk.collector.image(found.target, alternative)
    for caption in captions:
        collect(walk, caption, path.child("ac:caption"), depth, "caption")
    walk.collector.finish()


def date(walk: StorageWalk, node: Any, attributes: Any, path: Any, depth: int) -> None:
    """Handle a date: it is rendered in the user's locale, so the page stores only its ISO value."""
    if "".join(node.itertext()).strip():
        walk.children(node, path, depth)
    else:
        walk.collector.add_text(attributes.get("datetime") or "")
