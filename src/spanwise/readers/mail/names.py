"""The names of attachments: what their type says of those that have none."""

from __future__ import annotations

from typing import Final

_SUFFIXES: Final = {
    "application/pdf": ".pdf", "text/html": ".html", "text/plain": ".txt", "text/csv": ".csv", "text/markdown": ".md",
    "application/json": ".json", "text/tab-separated-values": ".tsv", "application/epub+zip": ".epub",
    "application/vnd.openxmlformats-officedocument.wordprocessingml.document": ".docx",
    "application/vnd.openxmlformats-officedocument.presentationml.presentation": ".pptx",
    "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet": ".xlsx",
    "application/vnd.ms-excel": ".xls", "application/vnd.oasis.opendocument.spreadsheet": ".ods",
    "message/delivery-status": ".txt", "text/rfc822-headers": ".txt", "message/rfc822": ".eml",
    "application/vnd.ms-outlook": ".msg", "text/calendar": ".ics", "text/x-vcard": ".vcf", "text/vcard": ".vcf",
}  # fmt: skip
"""Suffixes of attachments that have a type and no name, or a name without one."""
_PICTURES: Final = (".png", ".jpg", ".jpeg", ".gif", ".bmp", ".svg", ".webp", ".image", ".wmz", ".emz")


def whole_name(name: str, kind: str) -> str:
    """Return the name of an attachment with a suffix, if its name or type says one."""
    name = name or "attachment"
    if "." in name[1:]:
        return name
    return name + _SUFFIXES.get(kind, ".image" if kind.startswith("image/") else "")


def is_picture(name: str) -> bool:
    """Whether a name is that of a picture."""
    return name.lower().endswith(_PICTURES)
