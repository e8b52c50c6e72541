"""The handlers of widgets that tools write as plain `div`s: boxes, unfolding text, tasks. They go by class name.

The names are those of Confluence's rendered pages, GitHub, Sphinx, MkDocs and Docusaurus.
"""

from __future__ import annotations

from typing import Any, Final

from spanwise.readers.html.boilerplate import Attributes
from spanwise.readers.html.handlers import Handler, Walker, collect, flow, framed
from spanwise.readers.html.tree import Path

_LABELS: Final = {
    "confluence-information-macro-information": "info", "confluence-information-macro-note": "note",
    "confluence-information-macro-tip": "tip", "confluence-information-macro-warning": "warning",
    "markdown-alert-note": "note", "markdown-alert-tip": "tip", "markdown-alert-important": "important",
    "markdown-alert-warning": "warning", "markdown-alert-caution": "caution",
}  # fmt: skip
_KINDS: Final = frozenset({
    "abstract", "attention", "bug", "caution", "danger", "error", "example", "failure", "hint", "important", "info",
    "note", "question", "quote", "seealso", "success", "summary", "tip", "warning",
})  # fmt: skip


def _box(walk: Walker, node: Any, attributes: Attributes, path: Path, depth: int) -> None:
    """Collect a box with its label."""
    names = (attributes.get("class") or "").split()
    label = next((_LABELS[name] for name in names if name in _LABELS), None)
    label = label or next((name for name in names if name in _KINDS), "note")
    collect(walk, node, path, depth, "quote", label=label)


def _panel(walk: Walker, node: Any, attributes: Attributes, path: Path, depth: int) -> None:
    """Collect a panel of Confluence; panels of code are only code, and other uses of the class are no panels."""
    names = (attributes.get("class") or "").split()
    if "code" in names or "preformatted" in names or node.css_first(".panelContent") is None:
        flow(walk, node, attributes, path, depth)
    else:
        collect(walk, node, path, depth, "quote", label="panel")


def _title(walk: Walker, node: Any, attributes: Attributes, path: Path, depth: int) -> None:
    """Collect the title of a box; elsewhere it is a paragraph."""
    if walk.collector.is_in("quote"):
        collect(walk, node, path, depth, "caption")
    else:
        flow(walk, node, attributes, path, depth)


def _task(walk: Walker, node: Any, attributes: Attributes, path: Path, depth: int) -> None:
    """Collect a task list of Confluence; a class marks those that are done."""
    walk.collector.begin("list", path)
    index = 0
    child = node.first_child
    while child is not None:
        if child.tag == "li":
            index += 1
            done = "checked" in (child.attributes.get("class") or "").split()
            collect(walk, child, Path(path, "li", index), depth, "item", checked=done)
        else:
            walk.collector.offset += len(child.text()) if child.tag != "-comment" else 0
        child = child.next
    walk.collector.finish()


_HANDLERS: Final[dict[str, Handler]] = {
    **dict.fromkeys(("confluence-information-macro", "admonition", "markdown-alert", "theme-admonition"), _box),
    **dict.fromkeys(("panelHeader", "admonition-title", "markdown-alert-title", "title"), _title),
    "panel": _panel,
    "expand-control": framed("summary"),
    "inline-task-list": _task,
}


def handler_of(classes: str | None) -> Handler | None:
    """Return the handler of an element with these classes, if any."""
    if not classes:
        return None
    return next((handle for name in classes.split() if (handle := _HANDLERS.get(name))), None)
