"""TokenizerTests: whether a tokenizer counts as its ends say, on any text."""

from __future__ import annotations

import pickle
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spanwise.pipeline.chunk import chunk
from spanwise.readers import read_text
from spanwise.testing.examples import EXAMPLES
from spanwise.testing.hostile_texts import HOSTILE
from spanwise.testing.laws import broken_laws
from spanwise.testing.made_markdown import markdown
from spanwise.text.tokens import Tokenizer, tokenizer_of


class TokenizerTests:
    """Tests for a tokenizer; a subclass has a fixture `tokenizer` that returns it."""

    @pytest.fixture
    def tokenizer(self) -> Tokenizer:
        """Return the tokenizer."""
        raise NotImplementedError("write a fixture `tokenizer` that returns yours")

    def assert_ends(self, tokenizer: Tokenizer, text: str) -> None:
        """Assert that the ends ascend inside the text, one for each token that is counted."""
        ends = list(tokenizer.ends(text))
        assert all(low <= high for low, high in pairwise((0, *ends, len(text)))), (
            f"the ends don't ascend: {text[:80]!r}"
        )
        added = getattr(tokenizer, "added", 0)
        assert tokenizer.count(text) == len(ends) + added, f"counted otherwise than its ends: {text[:80]!r}"

    def test_it_has_a_name(self, tokenizer: Tokenizer) -> None:
        """Records have the name."""
        assert isinstance(tokenizer.name, str)
        assert tokenizer.name.strip()

    def test_nothing_has_no_tokens(self, tokenizer: Tokenizer) -> None:
        """An empty text has only the tokens that the embedder adds."""
        self.assert_ends(tokenizer, "")
        assert list(tokenizer.ends("")) == []

    def test_ends_on_any_characters(self, tokenizer: Tokenizer) -> None:
        """There is an end for each token, in any string."""

        @EXAMPLES
        @given(st.text(st.characters(codec="utf-8"), max_size=200))
        def hold(text: str) -> None:
            self.assert_ends(tokenizer, text)

        hold()

    @pytest.mark.parametrize("name", HOSTILE)
    def test_ends_on_hostile_text(self, tokenizer: Tokenizer, name: str) -> None:
        """There is an end for each token, in texts that break splitters."""
        self.assert_ends(tokenizer, HOSTILE[name](2000))

    def test_laws_of_chunks(self, tokenizer: Tokenizer) -> None:
        """No chunk has more tokens than its limit."""

        @EXAMPLES
        @given(markdown(), st.sampled_from((16, 40, 300)), st.sampled_from(("plain", "tags")))
        def hold(text: str, most: int, template: str) -> None:
            document, limit = read_text(text), most + 4 * getattr(tokenizer, "added", 0)
            chunks = chunk(document, "structure", tokenizer, max_tokens=limit, template=template)
            assert broken_laws(document, [one.to_dict() for one in chunks], tokenizer, limit) == []

        hold()

    def test_it_works_in_another_process(self, tokenizer: Tokenizer) -> None:
        """A copy counts the same, as in a worker process."""
        try:
            copy = pickle.loads(pickle.dumps(tokenizer))
        except Exception as error:  # whatever pickling raises
            pytest.skip(f"it can't be pickled, so as an object it works in this process only ({error})")
        text = HOSTILE["short sentences"](500)
        assert list(tokenizer_of(copy).ends(text)) == list(tokenizer_of(tokenizer).ends(text))
