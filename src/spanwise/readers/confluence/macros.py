"""The macros of Confluence: one table, name to function. What is not in it keeps its text, and its name is noted."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from spanwise.documents.document import LeftOut
from spanwise.readers.confluence.links import Resource, resource_in
from spanwise.readers.markup.inline import Prose, escaped

if TYPE_CHECKING:
    from spanwise.readers.confluence.storage import StorageWalk

_AC: Final = "{http://atlassian.com/ac}"
_LONGEST_WORD: Final = 100
_NO_LANGUAGE: Final = frozenset({"none", "text", "plain"})
_LANGUAGES: Final = {"py": "python", "js": "javascript", "c#": "csharp", "c++": "cpp", "html/xml": "xml"}


class Macro(NamedTuple):
    """A macro as it stands in the page."""

    name: str
    node: Any
    path: Any
    depth: int

    def said(self, name: str) -> str:
        """Give a parameter; empty where it isn't set."""
        for child in self.node.findall(f"{_AC}parameter"):
            if (child.get(f"{_AC}name") or "") == name:
                return "".join(child.itertext()).strip()
        return ""

    def named(self, *names: str) -> str:
        """Give the first of several parameters that is set."""
        return next((value for name in names if (value := self.said(name))), "")

    @property
    def parameters(self) -> list[Any]:
        """All its parameters."""
        return list(self.node.findall(f"{_AC}parameter"))

    @property
    def resource(self) -> Resource | None:
        """What its parameters point at."""
        found = (resource for child in self.parameters for inner in (child, *child) if (resource := resource_in(inner)))
        return next(found, None)

    @property
    def body(self) -> Any | None:
        """Its body of marked-up text."""
        return self.node.find(f"{_AC}rich-text-body")

    @property
    def plain(self) -> str | None:
        """Its body of plain text."""
        plain = self.node.find(f"{_AC}plain-text-body")
        return None if plain is None else "".join(plain.itertext())


Handling = Callable[["StorageWalk", Macro], None]


def macro(walk: StorageWalk, node: Any, attributes: Any, path: Any, depth: int) -> None:
    """Handle a macro by its name."""
    found = Macro((attributes.get(f"{_AC}name") or "").lower(), node, path, depth)
    before = walk.collector.offset
    _MACROS.get(found.name, _unknown)(walk, found)
    if walk.collector.offset == before:
        walk.skip(node)


def _inside(walk: StorageWalk, found: Macro) -> None:
    """Handle a macro that only wraps what is in it."""
    if found.body is not None:
        walk.collector.enter(found.path)
        walk.children(found.body, found.path.child("ac:rich-text-body"), found.depth)
        walk.collector.finish()
    elif found.plain is not None:
        walk.collector.code(found.plain, "", found.path)


def _code(walk: StorageWalk, found: Macro) -> None:
    if title := found.said("title"):
        _titled(walk, found, title)
    language = found.named("language", "").lower()
    language = "" if language in _NO_LANGUAGE else _LANGUAGES.get(language, language)
    walk.collector.code(found.plain or "", language, found.path)


def _formula(walk: StorageWalk, found: Macro) -> None:
    walk.collector.code(found.plain or found.said("body"), "latex", found.path)


def _titled(walk: StorageWalk, found: Macro, title: str) -> None:
    walk.collector.begin("summary", found.path)
    walk.collector.words(title)
    walk.collector.finish()


def _box(walk: StorageWalk, found: Macro) -> None:
    title = " ".join(found.said("title").split())
    walk.collector.begin("quote", found.path, label=found.name, title=Prose(escaped(title), (), title))
    if found.body is not None:
        walk.children(found.body, found.path.child("ac:rich-text-body"), found.depth)
    elif found.plain:
        walk.collector.words(found.plain)
    walk.collector.finish()


def _expand(walk: StorageWalk, found: Macro) -> None:
    walk.collector.enter(found.path)
    if title := found.said("title"):
        _titled(walk, found, title)
    if found.body is not None:
        walk.children(found.body, found.path.child("ac:rich-text-body"), found.depth)
    walk.collector.finish()


def _words(*names: str) -> Handling:
    """Handle a macro that shows one of its parameters among the words."""

    def handle(walk: StorageWalk, found: Macro) -> None:
        walk.collector.words(found.named(*names))

    return handle


def _included(walk: StorageWalk, found: Macro) -> None:
    """Name the page whose text would stand here."""
    resource = found.resource
    name = resource.words if resource else found.named("", "default-parameter", "pageTitle", "nopanel")
    walk.collector.enter(found.path)
    walk.collector.inline.link(resource.target if resource else name)
    walk.collector.words(f"{found.name}: {name}")
    walk.collector.inline.close()
    walk.collector.finish()


def _file(walk: StorageWalk, found: Macro) -> None:
    """Link the file or page of which something would be shown here."""
    resource = found.resource
    name = resource.target if resource else found.named("name", "url", "src", "filename", "diagramName", "page")
    if not name:
        _unknown(walk, found)
        return
    walk.collector.inline.link(name)
    walk.collector.words(resource.words if resource else name)
    walk.collector.inline.close()


def _made_anew(walk: StorageWalk, found: Macro) -> None:
    """Leave out what Confluence makes when the page is shown: it is made of other pages or of this one's headings."""
    reason = "table of contents" if found.name.startswith("toc") else f"macro {found.name}"
    walk.left_out.append(LeftOut(reason, "", found.path.reference(walk.collector.offset), usual=True))
    if found.body is not None:
        _inside(walk, found)


def _nothing(walk: StorageWalk, found: Macro) -> None:
    """Pass over a mark that nobody sees."""


def _is_said(value: str) -> bool:
    """Whether a parameter is words, not data that somebody packed into it."""
    return bool(value) and (len(value) <= _LONGEST_WORD or " " in value)


def _unknown(walk: StorageWalk, found: Macro) -> None:
    """Keep the text of a macro that nobody here knows, and note its name."""
    walk.macros.append(found.name)
    values = [value for child in found.parameters if _is_said(value := " ".join("".join(child.itertext()).split()))]
    said = f"{found.name}: {', '.join(values)}" if values else found.name
    walk.left_out.append(LeftOut("unknown macro", said, found.path.reference(walk.collector.offset), usual=True))
    if found.body is None and found.plain is None:
        walk.collector.words(f"[{said}]")
    else:
        _inside(walk, found)


_MACROS: Final[dict[str, Handling]] = {
    "code": _code, "noformat": _code, "code-block": _code,
    **dict.fromkeys(("info", "note", "tip", "warning", "panel", "success", "error"), _box),
    "expand": _expand, "ui-expand": _expand,
    "status": _words("title"), "jira": _words("key", "jqlQuery"),
    **dict.fromkeys(("mathinline", "eazy-math-inline", "latex-inline"), _words("body")),
    **dict.fromkeys(("mathblock", "easy-math-block", "latex", "latex-block"), _formula),
    "emoji": _words("fallback", "shortname"),
    "include": _included, "excerpt-include": _included, "multiexcerpt-include-macro": _included,
    **dict.fromkeys(("view-file", "viewpdf", "viewdoc", "viewxls", "viewppt", "widget", "iframe", "drawio", "gliffy",
                     "multimedia"), _file),
    **dict.fromkeys(("toc", "toc-zone", "children", "pagetree", "pagetreesearch", "recently-updated", "attachments",
                     "contributors", "contentbylabel", "detailssummary", "blog-posts", "gallery", "livesearch",
                     "space-attachments", "listlabels", "popular-labels", "change-history", "tasks-report-macro"),
                    _made_anew),
    "anchor": _nothing,
    **dict.fromkeys(("excerpt", "section", "column", "details", "div", "span", "align", "multiexcerpt", "panelbox",
                     "table-filter", "quote"), _inside),
}  # fmt: skip
