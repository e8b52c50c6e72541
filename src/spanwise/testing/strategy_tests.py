"""StrategyTests: whether a strategy keeps the laws on made, arbitrary and hostile text."""

from __future__ import annotations

import pickle
from collections.abc import Mapping, Sequence
from dataclasses import fields
from typing import Any, ClassVar, Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spanwise.checks import check
from spanwise.chunking.strategies import STRATEGIES, strategy_of
from spanwise.chunking.strategy import StrategyLike
from spanwise.documents.document import Document
from spanwise.options import EMBEDS, TEMPLATES, check_value, options_of
from spanwise.pipeline.chunk import chunk
from spanwise.readers import read_text
from spanwise.testing.examples import EXAMPLES
from spanwise.testing.hostile_texts import HOSTILE
from spanwise.testing.laws import broken_laws
from spanwise.testing.made_markdown import markdown
from spanwise.text.tokens import tokenizer_of

SIZES: Final = (16, 17, 40, 100, 900)
_TEXT: Final = "# A\n\nOne. Two 🇵🇱.\n\n- a\n- b\n\n<figure>f</figure>\n\n| x |\n|---|\n| 1 |\n\n```\ncode\n```\n" * 10


class StrategyTests:
    """Tests for a strategy; a subclass has a fixture `strategy` that returns it."""

    cases: ClassVar[Sequence[Mapping[str, Any]]] = ()
    """Options that everything is tried with, besides the defaults."""

    @pytest.fixture
    def strategy(self) -> StrategyLike:
        """Return the strategy."""
        raise NotImplementedError("write a fixture `strategy` that returns yours")

    def chunked(self, document: Document, strategy: StrategyLike, tokenizer: str, **options: Any) -> list[Any]:
        """Chunk a document, assert that no law is broken, and return the records."""
        found = strategy_of(strategy)
        chunks = chunk(document, found, tokenizer, **options)
        records = [one.to_dict() for one in chunks]
        most = options_of(found.options, options).max_tokens
        traits: Any = {"leaves_out": found.leaves_out, "leafwise": found.leafwise}
        assert broken_laws(document, records, tokenizer_of(tokenizer), most, **traits) == []
        assert [one for one in check(chunks, document) if one.level == "violation"] == []
        return records

    def options_of_a_run(self, data: st.DataObject) -> dict[str, Any]:
        """Draw a case, and a limit for it."""
        case = data.draw(st.sampled_from([{}, *map(dict, self.cases)]))
        drawn = {"template": data.draw(st.sampled_from(TEMPLATES)), "embed": data.draw(st.sampled_from(EMBEDS))}
        return {"max_tokens": data.draw(st.sampled_from(SIZES)), **drawn, **case}

    def test_its_name_is_its_own(self, strategy: StrategyLike) -> None:
        """A plug-in can't take the place of a built-in strategy."""
        assert strategy_of(strategy).name not in STRATEGIES

    def test_its_options_are_declared(self, strategy: StrategyLike) -> None:
        """Every option has a help text, and a default that is valid."""
        options = strategy_of(strategy).options
        for item in fields(options):
            assert item.metadata["help"], f"{item.name} has no help text"
            check_value(item, item.default)
        for case in self.cases:
            options_of(options, case)

    def test_laws_on_made_markdown(self, strategy: StrategyLike) -> None:
        """The laws hold on documents with every kind of block."""

        @EXAMPLES
        @given(markdown(), st.sampled_from(("markdown", "text")), st.data())
        def hold(text: str, format: str, data: st.DataObject) -> None:
            self.chunked(read_text(text, format), strategy, "cl100k", **self.options_of_a_run(data))

        hold()

    def test_laws_on_any_characters(self, strategy: StrategyLike) -> None:
        """The laws hold on any string."""

        @EXAMPLES
        @given(st.text(max_size=400), st.data())
        def hold(text: str, data: st.DataObject) -> None:
            self.chunked(read_text(text), strategy, "words", **self.options_of_a_run(data))

        hold()

    @pytest.mark.parametrize("name", HOSTILE)
    def test_laws_on_hostile_text(self, strategy: StrategyLike, name: str) -> None:
        """The laws hold on texts that break splitters."""
        document = read_text(HOSTILE[name](2000))
        for case in ({}, *self.cases):
            self.chunked(document, strategy, "cl100k", **{"max_tokens": 64, **case})

    def test_an_empty_document_has_no_chunks(self, strategy: StrategyLike) -> None:
        """Nothing is made of nothing, of white space, or of what is never content."""
        for text in ("", "\n \n", "<!-- a comment -->\n", "---\ntitle: a\n---\n"):
            assert self.chunked(read_text(text), strategy, "cl100k") == []

    def test_the_same_text_gives_the_same_chunks(self, strategy: StrategyLike) -> None:
        """A document gives the same chunks, whatever was chunked before it."""
        document, other = read_text(_TEXT), read_text("Something else. " * 50)
        first = self.chunked(document, strategy, "cl100k")
        self.chunked(other, strategy, "cl100k")
        assert self.chunked(document, strategy, "cl100k") == first

    def test_it_works_in_another_process(self, strategy: StrategyLike) -> None:
        """A copy of the strategy gives the same chunks, as in a worker process."""
        try:
            copy = pickle.loads(pickle.dumps(strategy))
        except Exception as error:  # whatever pickling raises
            pytest.skip(f"it can't be pickled, so as an object it works in this process only ({error})")
        document = read_text(_TEXT)
        assert self.chunked(document, copy, "cl100k") == self.chunked(document, strategy, "cl100k")
