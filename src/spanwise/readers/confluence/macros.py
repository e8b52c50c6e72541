"""The handlers of Confluence macros: one table by macro name. Unknown macros keep their text and are reported."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from spanwise.documents.document import LeftOut
from spanwise.readers.confluence.links import AC, Resource, resource_in
from spanwise.readers.markup.inline import Prose, escaped

if TYPE_CHECKING:
    from spanwise.readers.confluence.storage import StorageWalk

_LONGEST_WORD: Final = 100
_NO_LANGUAGE: Final = frozenset({"none", "text", "plain"})
_LANGUAGES: Final = {"py": "python", "js": "javascript", "c#": "csharp", "c++": "cpp", "html/xml": "xml"}


class Macro(NamedTuple):
    """A macro in a page."""

    name: str
    node: Any
    path: Any
    depth: int

    def parameter(self, name: str) -> str:
        """Return a parameter; empty if it isn't set."""
        found = (child for child in self.parameters if (child.get(f"{AC}name") or "") == name)
        return next(("".join(child.itertext()).strip() for child in found), "")

    def first_of(self, *names: str) -> str:
        """Return the first of several parameters that is set."""
        return next((value for name in names if (value := self.parameter(name))), "")

    @property
    def parameters(self) -> list[Any]:
        """The elements of its parameters."""
        return list(self.node.findall(f"{AC}parameter"))

    @property
    def resource(self) -> Resource | None:
        """The resource that its parameters point at."""
        found = (resource for child in self.parameters for inner in (child, *child) if (resource := resource_in(inner)))
        return next(found, None)

    @property
    def body(self) -> Any | None:
        """Its rich-text body."""
        return self.node.find(f"{AC}rich-text-body")

    @property
    def plain(self) -> str | None:
        """Its plain-text body."""
        plain = self.node.find(f"{AC}plain-text-body")
        return None if plain is None else "".join(plain.itertext())


MacroHandler = Callable[["StorageWalk", Macro], None]


def macro(walk: StorageWalk, node: Any, attributes: Any, path: Any, depth: int) -> None:
    """Handle a macro by its name."""
    found = Macro((attributes.get(f"{AC}name") or "").lower(), node, path, depth)
    before = walk.collector.offset
    _MACROS.get(found.name, _unknown)(walk, found)
    if walk.collector.offset == before:
        walk.skip(node)


def _inside(walk: StorageWalk, found: Macro) -> None:
    """Handle a macro that only wraps its body."""
    if found.body is not None:
        walk.collector.enter(found.path)
        walk.children(found.body, found.path.child("ac:rich-text-body"), found.depth)
        walk.collector.finish()
    elif found.plain is not None:
        walk.collector.code(found.plain, "", found.path)


def _code(walk: StorageWalk, found: Macro) -> None:
    if title := found.parameter("title"):
        _titled(walk, found, title)
    language = found.first_of("language", "").lower()
    language = "" if language in _NO_LANGUAGE else _LANGUAGES.get(language, language)
    walk.collector.code(found.plain or "", language, found.path)


def _formula(walk: StorageWalk, found: Macro) -> None:
    walk.collector.code(found.plain or found.parameter("body"), "latex", found.path)


def _titled(walk: StorageWalk, found: Macro, title: str) -> None:
    walk.collector.begin("summary", found.path)
    walk.collector.add_text(title)
    walk.collector.finish()


def _box(walk: StorageWalk, found: Macro) -> None:
    title = " ".join(found.parameter("title").split())
    walk.collector.begin("quote", found.path, label=found.name, title=Prose(escaped(title), (), title))
    if found.body is not None:
        walk.children(found.body, found.path.child("ac:rich-text-body"), found.depth)
    elif found.plain:
        walk.collector.add_text(found.plain)
    walk.collector.finish()


def _expand(walk: StorageWalk, found: Macro) -> None:
    walk.collector.enter(found.path)
    if title := found.parameter("title"):
        _titled(walk, found, title)
    if found.body is not None:
        walk.children(found.body, found.path.child("ac:rich-text-body"), found.depth)
    walk.collector.finish()


def _parameter(*names: str) -> MacroHandler:
    """Return a handler of macros that render one of their parameters as inline text."""
    return lambda walk, found: walk.collector.add_text(found.first_of(*names))


def _included(walk: StorageWalk, found: Macro) -> None:
    """Link the page whose text would be included here."""
    resource = found.resource
    name = resource.text if resource else found.first_of("", "default-parameter", "pageTitle", "nopanel")
    walk.collector.enter(found.path)
    walk.collector.inline.link(resource.target if resource else name)
    walk.collector.add_text(f"{found.name}: {name}")
    walk.collector.inline.close()
    walk.collector.finish()


def _file(walk: StorageWalk, found: Macro) -> None:
    """Link the file or page that would be rendered here."""
    resource = found.resource
    name = resource.target if resource else found.first_of("name", "url", "src", "filename", "diagramName", "page")
    if not name:
        _unknown(walk, found)
        return
    walk.collector.inline.link(name)
    walk.collector.add_text(resource.text if resource else name)
    walk.collector.inline.close()


def _generated(walk: StorageWalk, found: Macro) -> None:
    """Leave out what Confluence generates on rendering, from other pages or from the headings of this one."""
    reason = "table of contents" if found.name.startswith("toc") else f"macro {found.name}"
    walk.left_out.append(LeftOut(reason, "", found.path.reference(walk.collector.offset), usual=True))
    if found.body is not None:
        _inside(walk, found)


def _is_prose(value: str) -> bool:
    """Whether a parameter is natural language, not packed data."""
    return bool(value) and (len(value) <= _LONGEST_WORD or " " in value)


def _unknown(walk: StorageWalk, found: Macro) -> None:
    """Keep the text of an unknown macro, and report its name."""
    walk.macros.append(found.name)
    values = [value for child in found.parameters if _is_prose(value := " ".join("".join(child.itertext()).split()))]
    description = f"{found.name}: {', '.join(values)}" if values else found.name
    walk.left_out.append(LeftOut("unknown macro", description, found.path.reference(walk.collector.offset), usual=True))
    if found.body is None and found.plain is None:
        walk.collector.add_text(f"[{description}]")
    else:
        _inside(walk, found)


_MACROS: Final[dict[str, MacroHandler]] = {
    "code": _code, "noformat": _code, "code-block": _code,
    **dict.fromkeys(("info", "note", "tip", "warning", "panel", "success", "error"), _box),
    "expand": _expand, "ui-expand": _expand,
    "status": _parameter("title"), "jira": _parameter("key", "jqlQuery"),
    **dict.fromkeys(("mathinline", "eazy-math-inline", "latex-inline"), _parameter("body")),
    **dict.fromkeys(("mathblock", "easy-math-block", "latex", "latex-block"), _formula),
    "emoji": _parameter("fallback", "shortname"),
    "include": _included, "excerpt-include": _included, "multiexcerpt-include-macro": _included,
    **dict.fromkeys(("view-file", "viewpdf", "viewdoc", "viewxls", "viewppt", "widget", "iframe", "drawio", "gliffy",
                     "multimedia"), _file),
    **dict.fromkeys(("toc", "toc-zone", "children", "pagetree", "pagetreesearch", "recently-updated", "attachments",
                     "contributors", "contentbylabel", "detailssummary", "blog-posts", "gallery", "livesearch",
                     "space-attachments", "listlabels", "popular-labels", "change-history", "tasks-report-macro"),
                    _generated),
    "anchor": lambda walk, found: None,  # invisible
    **dict.fromkeys(("excerpt", "section", "column", "details", "div", "span", "align", "multiexcerpt", "panelbox",
                     "table-filter", "quote"), _inside),
}  # fmt: skip
