"""What two levels promise each other: every child lies in the parent that it follows, and the children fill it."""

from __future__ import annotations

from dataclasses import replace

from spanwise.checks.findings import Faults, Record, shortened
from spanwise.checks.in_dialects import CheckSettings
from spanwise.records.record import TWO_LEVELS, is_parent


def terms_at(terms: CheckSettings, record: Record) -> CheckSettings:
    """Give what holds for a record of its level: a parent has a limit of its own."""
    if not is_parent(record):
        return terms
    return terms._replace(options=replace(terms.options, max_tokens=terms.options.parent_tokens))


class Nesting:
    """Takes the records of one document in order, and knows the last parent and what its children said."""

    def __init__(self) -> None:
        """Begin before the first record."""
        self.parent: Record | None = None
        self._said: list[str] = []

    def begin(self, parent: Record) -> None:
        """Take in a parent."""
        self.parent, self._said = parent, []

    def faults(self, child: Record) -> Faults:
        """Check one child, or any chunk of a strategy that has no parents."""
        name, parent = child["parent_id"], self.parent
        if child["strategy"] not in TWO_LEVELS:
            if name is not None:
                yield "parent", f"parent_id is not null, though {child['strategy']} has no parents"
            return
        if parent is None or name != parent["chunk_id"]:
            yield "parent", f"parent_id is not the parent that it follows: {shortened(str(name))}"
            return
        self._said.append(child["normalized_text"])
        start, end = parent["char_start"], parent["char_end"]
        if child["char_start"] < start or child["char_end"] > end:
            yield "parent", f"[{child['char_start']}:{child['char_end']}] is not inside the parent's [{start}:{end}]"
        elif child["normalized_text"] not in parent["normalized_text"]:
            yield "parent", f"the parent doesn't say what it says: {shortened(child['normalized_text'])}"

    def end_faults(self) -> Faults:
        """Check that the children of the last parent say all that it says, and no more."""
        if self.parent is None:
            return
        wanted = "".join(self.parent["normalized_text"].split())
        said = "".join("".join(self._said).split())
        if not said:
            yield "parent", "it is a parent without children"
        elif said != wanted:
            pairs = zip(wanted, said, strict=False)
            place = next((at for at, (left, right) in enumerate(pairs) if left != right), min(len(wanted), len(said)))
            words = shortened(said[place : place + 20]), shortened(wanted[place : place + 20])
            yield "parent", f"its children don't say all that it says, or more: {words[0]} instead of {words[1]}"
