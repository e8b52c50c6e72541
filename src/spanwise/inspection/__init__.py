"""The inspection of a document: one self-contained web page with its text and the chunks made of it."""

from __future__ import annotations

from spanwise.inspection.page import page_of
from spanwise.inspection.values import Inspection, TargetSizes

__all__ = ["Inspection", "TargetSizes", "page_of"]
