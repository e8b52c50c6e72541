"""Detection of what is not content of a page: navigation, banners, scripts, hidden elements; and its name."""

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
"""Elements that are never rendered as text, with the reason given for leaving them out."""
_TAGS: Final = {"nav": "navigation", "dialog": "dialog"}
_ROLES: Final = {
    "navigation": "navigation", "banner": "header", "contentinfo": "footer", "search": "search", "dialog": "dialog",
    "alertdialog": "dialog", "menu": "navigation", "menubar": "navigation", "toolbar": "toolbar",
}  # fmt: skip
_IN_ARTICLE: Final = frozenset({"navbox", "portalbox", "portal-bar", "side-box", "sister-box"})
"""Boxes of Wikipedia that have the role of navigation but are part of the article."""
_NAMES_BY_REASON: Final = {
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
_NAMES: Final = {name: reason for reason, names in _NAMES_BY_REASON.items() for name in names.split()}
_COOKIES: Final = re.compile(
    r"(?:cookie|consent|gdpr)[-_]?(?:banner|notice|bar|popup|modal|message|consent|overlay|dialog)"
)
_LONGEST_BANNER: Final = 4000
"""Characters; an element with the class or id of a banner but more text is a page about banners."""
_HIDING: Final = re.compile(r"display\s*:\s*none|visibility\s*:\s*hidden", re.IGNORECASE)
_MARKING: Final = frozenset({"role", "aria-hidden"})
_INLINE: Final = frozenset({"span", "i", "a", "sup", "svg", "b", "em", "small"})
_OUTSIDE: Final = {"header": "header", "footer": "footer", "aside": "aside"}
_SHORT_BUTTON: Final = 3


def reason_to_leave(tag: str, attributes: Attributes, names: dict[str, str]) -> str:
    """Return why an element is not content, or an empty string; `names` caches the meaning of classes and ids."""
    if reason := _TAGS.get(tag):
        return reason
    if is_hidden(attributes):
        return "hidden"
    for name in _MARKING.intersection(attributes):
        value = attributes[name] or ""
        if name == "role" and value in _ROLES and not _IN_ARTICLE.intersection((attributes.get("class") or "").split()):
            return _ROLES[value]
        if name == "aria-hidden" and value == "true" and tag in _INLINE:
            return "hidden"
    classes = f"{attributes.get('class') or ''} {attributes.get('id') or ''}"
    if classes == " ":
        return ""
    if classes not in names:
        names[classes] = _named(classes.lower())
    return names[classes]


def is_hidden(attributes: Attributes) -> bool:
    """Whether an element is hidden by its own attributes."""
    if "hidden" in attributes and attributes["hidden"] != "until-found":
        return True
    style = attributes.get("style")
    return style is not None and _HIDING.search(style) is not None


def _named(classes: str) -> str:
    """Return the reason that classes and ids imply, or an empty string."""
    if _COOKIES.search(classes):
        return "cookie banner"
    return next((reason for name in classes.split() if (reason := _NAMES.get(name))), "")


def is_too_long(text: str) -> bool:
    """Whether a text is too long for the kind of element that its class names."""
    return len(text) > _LONGEST_BANNER


def reason_outside(tag: str, attributes: Attributes, names: dict[str, str]) -> str:
    """Return why an element outside the main content is left out."""
    return (
        UNSEEN.get(tag) or reason_to_leave(tag, attributes, names) or _OUTSIDE.get(tag) or "outside of the main content"
    )


def is_idle_button(text: str) -> bool:
    """Whether a button is a control of the page; those with a longer text unfold content."""
    return len(text.split()) <= _SHORT_BUTTON
