"""The laws on parents and children: a child lies in the parent that it follows, and the children cover the parent."""

from __future__ import annotations

from spanwise.checks.findings import Faults, Record, first_difference, shortened
from spanwise.records.record import has_parents


class Nesting:
    """A check of the two levels of one document, in order; it remembers the last parent and its children's texts."""

    def __init__(self) -> None:
        """Start before the first record."""
        self.parent: Record | None = None
        self._child_texts: list[str] = []

    def begin(self, parent: Record) -> None:
        """Start a parent."""
        self.parent, self._child_texts = parent, []

    def faults(self, child: Record) -> Faults:
        """Check one child, or any chunk of a strategy that has no parents."""
        name, parent = child["parent_id"], self.parent
        if not has_parents(child["strategy"]):
            if name is not None:
                yield "parent", f"parent_id is not null, though {child['strategy']} has no parents"
            return
        if parent is None or name != parent["chunk_id"]:
            yield "parent", f"parent_id is not the parent that it follows: {shortened(str(name))}"
            return
        self._child_texts.append(child["normalized_text"])
        start, end = parent["char_start"], parent["char_end"]
        if child["char_start"] < start or child["char_end"] > end:
            yield "parent", f"[{child['char_start']}:{child['char_end']}] is not inside the parent's [{start}:{end}]"
        elif child["normalized_text"] not in parent["normalized_text"]:
            yield "parent", f"the parent doesn't say what it says: {shortened(child['normalized_text'])}"

    def end_faults(self) -> Faults:
        """Check that the texts of the last parent's children are its own text, and no more."""
        if self.parent is None:
            return
        wanted = "".join(self.parent["normalized_text"].split())
        found = "".join("".join(self._child_texts).split())
        if not found:
            yield "parent", "it is a parent without children"
        elif found != wanted:
            found, wanted = first_difference(found, wanted)
            yield "parent", f"its children don't say all that it says, or more: {found} instead of {wanted}"
