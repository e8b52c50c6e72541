"""Confluence's storage format: XML with HTML entities, parsed to a tree, and the walk over it."""

from __future__ import annotations

import re
from html.entities import html5
from typing import TYPE_CHECKING, Any, Final

from spanwise.documents.document import LeftOut
from spanwise.errors import MissingExtraError, UnreadableError
from spanwise.readers.confluence.export import FETCH
from spanwise.readers.confluence.handlers import HANDLERS, LEFT_OUT
from spanwise.readers.html.boilerplate import reason_to_leave
from spanwise.readers.html.tree import DAMAGED, Path, refuse_long_tags
from spanwise.readers.markup.collector import Collector
from spanwise.readers.markup.elements import Element, Reference

if TYPE_CHECKING:
    from lxml.etree import _Element

SPACES: Final = {name: f"http://atlassian.com/{name}" for name in ("ac", "ri", "at")}
_PREFIXES: Final = {f"{{{address}}}": f"{name}:" for name, address in SPACES.items()}
_DATA: Final = ("<![CDATA[", "]]>")
_ENTITY: Final = re.compile(r"&(?:([A-Za-z][A-Za-z0-9]*);|#(?:(\d{1,7})|[xX]([0-9A-Fa-f]{1,6}));)?")
_LOOSE: Final = re.compile(r"<(?!!--)(?![A-Za-z/?][^<>]*>)")
_OPENING: Final = re.compile(r"\A\s*(?:<\?xml[^>]*\?>\s*)?(?:<!DOCTYPE\s[^\[>]*>)?", re.IGNORECASE)
_ENTITIES: Final = re.compile(r"<!(?:DOCTYPE|ENTITY)\b", re.IGNORECASE)
_UNREADABLE: Final = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]")
_KEPT: Final = frozenset({"amp", "lt", "gt", "quot", "apos"})
_TAG: Final = re.compile(r"<(/?)[A-Za-z][^<>]*?(/?)>")
_DEEPEST_TREE: Final = 3000
_DEEPEST: Final = 120
_SHORT: Final = 80


class StoragePath(Path):
    """The path of an element of storage format from the root."""

    __slots__ = ()

    def child(self, name: str) -> StoragePath:
        """Return the path of the first child element of a name."""
        return StoragePath(self, name, 1)

    @property
    def xpath(self) -> str:
        """The path as an XPath, with the usual prefixes."""
        if self._xpath is None:
            self._xpath = f"{self.parent.xpath}/{self.name}[{self.index}]" if self.parent else ""
        return self._xpath

    def reference(self, offset: int) -> Reference:
        """Return the source reference, under a key of its own: the path is not valid in the rendered page."""
        return {"storage_xpath": self.xpath or "/", "text_offset": offset}


def parsed(text: str) -> tuple[Any, tuple[LeftOut, ...]]:
    """Parse storage format; what is not well-formed is read as far as possible, and reported."""
    try:
        from lxml import etree
    except ImportError as error:
        hint = 'pip install "spanwise[confluence]"'
        raise MissingExtraError("lxml", "is needed to read Confluence's storage format", hint=hint) from error
    body = _OPENING.sub("", text, count=1)
    pieces = _split(body)
    if any(_ENTITIES.search(piece) for piece in pieces[::2]):
        rule = "declares a DOCTYPE or entities, which storage format never does"
        raise UnreadableError("confluence", rule, hint=FETCH)
    pieces[::2] = [_LOOSE.sub("&lt;", _ENTITY.sub(_character, piece)) for piece in pieces[::2]]
    _refuse_depth(pieces[::2])
    refuse_long_tags("".join(pieces[::2]), "confluence")
    names = " ".join(f'xmlns:{name}="{address}"' for name, address in SPACES.items())
    data = _UNREADABLE.sub("", f"<page {names}>{''.join(pieces)}</page>").encode()
    options = {"resolve_entities": False, "no_network": True, "huge_tree": True, "remove_comments": True}
    try:
        return etree.fromstring(data, etree.XMLParser(**options)), ()
    except etree.XMLSyntaxError as error:
        tree = etree.fromstring(data, etree.XMLParser(recover=True, **options))
        if tree is None:
            raise UnreadableError("confluence", f"is not XML ({error.msg})", hint=FETCH) from error
        return tree, (LeftOut(f"the storage format is not well-formed ({error.msg}); read as far as it can be"),)


def _split(body: str) -> list[str]:
    """Split text into markup and CDATA, alternating; an unclosed section is markup."""
    pieces, reached = list[str](), 0
    opening, closing = _DATA
    while (start := body.find(opening, reached)) >= 0 and (end := body.find(closing, start)) >= 0:
        pieces += [body[reached:start], body[start : end + len(closing)]]
        reached = end + len(closing)
    return [*pieces, body[reached:]]


def _character(entity: re.Match[str]) -> str:
    """Return the character of an HTML entity as XML; an `&` that starts no entity stands for itself."""
    name, decimal, hexadecimal = entity.groups()
    if decimal or hexadecimal:
        number = int(decimal) if decimal else int(hexadecimal, 16)
        allowed = number in {9, 10, 13} or 0x20 <= number < 0xD800 or 0xE000 <= number < 0xFFFE
        return f"&#{number};" if allowed or 0x10000 <= number < 0x110000 else "\ufffd"
    if name is None:
        return "&amp;"
    if name in _KEPT:
        return entity[0]
    return html5.get(f"{name};", f"&amp;{name};")


def _refuse_depth(pieces: list[str]) -> None:
    depth = 0
    for piece in pieces:
        for closing, closed in _TAG.findall(piece):
            depth += -1 if closing else 0 if closed else 1
            if depth > _DEEPEST_TREE:
                rule = f"is nested more than {_DEEPEST_TREE:,} elements deep"
                raise UnreadableError("confluence", rule, hint=DAMAGED)


class StorageWalk:
    """A walk over a page; `macros` are the names of those without a handler."""

    def __init__(self, *, keep_all: bool) -> None:
        self.top = StoragePath(None, "", 1)
        self.collector = Collector(self.top)
        self.keep_all = keep_all
        self.left_out: list[LeftOut] = []
        self.macros: list[str] = []
        self._names: dict[str, str] = {}

    def elements_of(self, tree: Any) -> list[Element]:
        """Walk the whole page and return its elements."""
        self.children(tree, self.top, 0)
        return self.collector.elements

    def children(self, node: Any, path: Any, depth: int) -> None:
        """Walk the children of an element."""
        counts: dict[str, int] = {}
        self.add_text(node.text)
        for child in node:
            if isinstance(child.tag, str):
                name = name_of(child)
                counts[name] = index = counts.get(name, 0) + 1
                self._element(child, name, StoragePath(path, name, index), depth + 1)
            self.add_text(child.tail)

    def add_text(self, text: str | None) -> None:
        """Add text of the page."""
        if text:
            self.collector.add_text(text)
            self.collector.offset += len(text)

    def skip(self, node: Any) -> None:
        """Advance the offset past an element whose text is not walked."""
        self.collector.offset += sum(map(len, node.itertext()))

    def _element(self, node: _Element, name: str, path: StoragePath, depth: int) -> None:
        attributes = {str(key): str(value) for key, value in node.attrib.items()}
        if (reason := LEFT_OUT.get(name)) is not None:
            self.leave_out(node, path, reason)
        elif "class" in attributes and not self.keep_all and reason_to_leave(name, attributes, self._names) == "hidden":
            self.leave_out(node, path, "hidden")
        elif depth > _DEEPEST:
            self.collector.enter(path)
            self.add_text("".join(node.itertext()))
            self.collector.finish()
        elif handle := HANDLERS.get(name):
            handle(self, node, attributes, path, depth)
        else:
            self.children(node, path, depth)

    def leave_out(self, node: Any, path: Any, reason: str) -> None:
        """Leave an element out; without a reason it is not reported."""
        if reason:
            excerpt = " ".join("".join(node.itertext()).split())[:_SHORT]
            self.left_out.append(LeftOut(reason, excerpt, path.reference(self.collector.offset), usual=True))
        self.skip(node)


def name_of(node: _Element) -> str:
    """Return the name of an element with the usual prefix."""
    tag = str(node.tag)
    if tag[0] != "{":
        return tag.lower()
    space, _, name = tag.partition("}")
    return _PREFIXES.get(space + "}", "") + name  # other namespaces, such as formulas, have no prefix
