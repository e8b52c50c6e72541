"""What of a page is not its content: navigation, banners, scripts, what is hidden; and what each is called."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

Attributes = Mapping[str, str | None]

UNSEEN: Final = {
    "script": "script", "style": "style sheet", "template": "template", "noscript": "noscript", "link": "", "meta": "",
    "base": "", "title": "", "param": "", "source": "", "track": "", "datalist": "form control",
    "select": "form control", "textarea": "form control", "iframe": "frame", "object": "frame", "embed": "frame",
    "audio": "media", "video": "media", "canvas": "media", "map": "", "annotation": "", "annotation-xml": "",
}  # fmt: skip
"""Elements that no page shows as text."""
_TAGS: Final = {"nav": "navigation", "dialog": "dialog"}
_ROLES: Final = {
    "navigation": "navigation", "banner": "header", "contentinfo": "footer", "search": "search", "dialog": "dialog",
    "alertdialog": "dialog", "menu": "navigation", "menubar": "navigation", "toolbar": "toolbar",
}  # fmt: skip
_SAYING: Final = frozenset({"navbox", "portalbox", "portal-bar", "side-box", "sister-box"})
"""Boxes of Wikipedia that have the role of navigation but stand in the article and say what belongs to it."""
_WORDS: Final = {
    "cookie banner": "onetrust-banner-sdk onetrust-consent-sdk cybotcookiebotdialog cc-window",
    "skip link": "skip skip-link skiplink skip-to-content skip-nav skip-to-main mw-jump-link screen-reader-shortcut",
    "breadcrumbs": "breadcrumb breadcrumbs bread-crumbs breadcrumb-section",
    "share bar": "share share-bar share-buttons share-links sharing social social-share social-links social-icons "
    "social-media addthis sharedaddy",
    "edit link": "mw-editsection headerlink header-anchor anchorjs-link heading-anchor anchor-link hash-link",
    "navigation": "navbar navigation site-nav main-nav pagination mw-portlet vector-menu",
    "table of contents": "toc-macro",
    "page status": "mw-indicators mw-indicator",
    "hidden": "sr-only visually-hidden visuallyhidden screen-reader-text katex-html",
    "line numbers": "linenos linenodiv line-numbers-rows lineno gutter hljs-ln-numbers",
}
_NAMES: Final = {name: reason for reason, names in _WORDS.items() for name in names.split()}
_COOKIES: Final = re.compile(
    r"(?:cookie|consent|gdpr)[-_]?(?:banner|notice|bar|popup|modal|message|consent|overlay|dialog)"
)
_LONGEST_BANNER: Final = 4000
"""What a class or id calls a banner but holds more text than this is a page about banners."""
_HIDING: Final = re.compile(r"display\s*:\s*none|visibility\s*:\s*hidden", re.IGNORECASE)
_TELLING: Final = frozenset({"role", "aria-hidden"})
_INLINE: Final = frozenset({"span", "i", "a", "sup", "svg", "b", "em", "small"})
_OUTSIDE: Final = {"header": "header", "footer": "footer", "aside": "aside"}
_SHORT_BUTTON: Final = 3


def reason_to_leave(tag: str, attributes: Attributes, names: dict[str, str]) -> str:
    """Say what an element is if it is no content; `names` remembers what classes and ids mean."""
    if reason := _TAGS.get(tag):
        return reason
    if is_hidden(attributes):
        return "hidden"
    for name in _TELLING.intersection(attributes):
        value = attributes[name] or ""
        if name == "role" and value in _ROLES and not _SAYING.intersection((attributes.get("class") or "").split()):
            return _ROLES[value]
        if name == "aria-hidden" and value == "true" and tag in _INLINE:
            return "hidden"
    said = f"{attributes.get('class') or ''} {attributes.get('id') or ''}"
    if said == " ":
        return ""
    if said not in names:
        names[said] = _named(said.lower())
    return names[said]


def is_hidden(attributes: Attributes) -> bool:
    """Whether an element itself says that it isn't shown."""
    if "hidden" in attributes and attributes["hidden"] != "until-found":
        return True
    style = attributes.get("style")
    return style is not None and _HIDING.search(style) is not None


def _named(said: str) -> str:
    """Say what classes and ids call an element."""
    if _COOKIES.search(said):
        return "cookie banner"
    return next((reason for name in said.split() if (reason := _NAMES.get(name))), "")


def is_too_long(text: str) -> bool:
    """Whether something is too long for what it is called."""
    return len(text) > _LONGEST_BANNER


def reason_outside(tag: str, attributes: Attributes, names: dict[str, str]) -> str:
    """Say what an element outside of the main content is."""
    return (
        UNSEEN.get(tag) or reason_to_leave(tag, attributes, names) or _OUTSIDE.get(tag) or "outside of the main content"
    )


def is_idle_button(words: str) -> bool:
    """Whether a button is one that does something to the page; long ones are what unfolds a text."""
    return len(words.split()) <= _SHORT_BUTTON
