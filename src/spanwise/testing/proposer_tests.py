"""ProposerTests: whether a proposer answers with line numbers that can be used, and the same again."""

from __future__ import annotations

from typing import Final

import pytest

from spanwise.chunking.line_window import Window, fault_of
from spanwise.chunking.proposers import Propose
from spanwise.pipeline.chunk import chunk
from spanwise.readers import read_text
from spanwise.testing.hostile_texts import HOSTILE
from spanwise.testing.laws import broken_laws
from spanwise.text.tokens import tokenizer_of

_WINDOWS: Final = (
    Window(("One line.",)),
    Window(("Tea", "Boil water.", "Pour it on the leaves.", "Coffee", "Grind the beans.")),
    Window(tuple(f"Zeile {number}: 没有标点 🇵🇱" for number in range(1, 120))),
)


class ProposerTests:
    """Tests for a proposer; a subclass has a fixture `proposer` that returns the function."""

    @pytest.fixture
    def proposer(self) -> Propose:
        """Return the function from a window to line numbers."""
        raise NotImplementedError("write a fixture `proposer` that returns yours")

    @pytest.mark.parametrize("window", _WINDOWS, ids=lambda window: f"{len(window.lines)} lines")
    def test_answers_are_line_numbers_that_ascend(self, proposer: Propose, window: Window) -> None:
        """An answer has numbers of the window's lines, from 1; another one is asked for twice, then not used."""
        assert fault_of(proposer(window), len(window.lines)) is None

    def test_the_same_window_has_the_same_answer(self, proposer: Propose) -> None:
        """Chunks are the same in every run only if answers are."""
        for window in _WINDOWS:
            assert list(proposer(window)) == list(proposer(window))

    @pytest.mark.parametrize("name", sorted(HOSTILE))
    def test_chunks_keep_the_laws(self, proposer: Propose, name: str) -> None:
        """Whatever is proposed, nothing is lost and no limit broken."""
        document = read_text(HOSTILE[name](2_000))
        chunks = chunk(document, "smart", proposer=proposer, max_tokens=64)
        assert broken_laws(document, [one.to_dict() for one in chunks], tokenizer_of("cl100k"), 64) == []
