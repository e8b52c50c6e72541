"""The tests that ship for plug-ins: good ones pass them, bad ones don't."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest
from acme_spanwise.embedder import LetterEmbedder
from acme_spanwise.proposer import every
from acme_spanwise.reader import IniReader
from acme_spanwise.store import PickledStore
from acme_spanwise.strategy import ByLines, ByShare
from acme_spanwise.tokenizer import LetterTokenizer
from numpy.typing import NDArray

import spanwise
from spanwise import Embedder, Reader, Store, Tokenizer, Window
from spanwise.chunking.strategy import StrategyLike
from spanwise.embedding import embedder_of
from spanwise.testing import EmbedderTests, ProposerTests, ReaderTests, StoreTests, StrategyTests, TokenizerTests
from spanwise.text.tokens import tokenizer_of


class TestByLines(StrategyTests):
    """A strategy that isn't derived from ours."""

    cases: ClassVar[Sequence[Mapping[str, Any]]] = ({"lines": 1}, {"lines": 50, "max_tokens": 16})

    @pytest.fixture
    def strategy(self) -> StrategyLike:
        return ByLines()


class TestByShare(StrategyTests):
    """A strategy that leaves out headings."""

    cases: ClassVar[Sequence[Mapping[str, Any]]] = ({"max_chars": 0.05},)

    @pytest.fixture
    def strategy(self) -> StrategyLike:
        return ByShare()


class TestIniReader(ReaderTests):
    """A reader of another format."""

    samples: ClassVar[Sequence[Any]] = (b"[tea]\nwater = fresh\n\n[milk]\nwarm = no\n", "[żółw]\nä = ö\n".encode(), b"")

    @pytest.fixture
    def reader(self) -> Reader:
        return IniReader()


class TestLetterTokenizer(TokenizerTests):
    """A tokenizer with the three attributes that are needed."""

    @pytest.fixture
    def tokenizer(self) -> Tokenizer:
        return LetterTokenizer()


class TestOwnTokenizers(TokenizerTests):
    """The tokenizers of this package."""

    @pytest.fixture(params=["cl100k", "o200k", "approx", "words", "tokenizer.json"])
    def tokenizer(self, request: pytest.FixtureRequest, word_piece: str) -> Tokenizer:
        return tokenizer_of(word_piece if request.param == "tokenizer.json" else request.param)


class TestLetterEmbedder(EmbedderTests):
    """An embedder whose vectors are not of length one."""

    @pytest.fixture
    def embedder(self) -> Embedder:
        return LetterEmbedder("")


class TestEvery(ProposerTests):
    """A function that proposes every second line."""

    @pytest.fixture
    def proposer(self) -> Any:
        return every("2")


@pytest.mark.slow
class TestUniversalEmbedder(EmbedderTests):
    """The embedder of the extra `embeddings`."""

    @pytest.fixture
    def embedder(self) -> Embedder:
        found = embedder_of("universal")
        assert found is not None
        return found


class TestPickledStore(StoreTests):
    """A store in a file."""

    @pytest.fixture
    def store(self, tmp_path: Path) -> Store:
        return PickledStore(f"pickled://{tmp_path / 'store'}", create=True)


# ── bad ones ─────────────────────────────────────────────────────────────────────────────────────────────────────


class Forgetful(ByLines):
    """A strategy that loses the last line."""

    def plan(self, task: spanwise.ChunkingTask) -> Iterator[tuple[int, int]]:
        yield from list(super().plan(task))[:-1]


class Moody(ByLines):
    """A strategy that plans otherwise the next time."""

    def __init__(self) -> None:
        self.times = 0

    def plan(self, task: spanwise.ChunkingTask) -> Iterator[tuple[int, int]]:
        self.times += 1
        return super().plan(task) if self.times > 1 else iter([(0, len(task.text))])


def test_a_strategy_that_breaks_a_law_fails() -> None:
    with pytest.raises(spanwise.PluginError, match="leaves out"):
        StrategyTests().test_laws_on_hostile_text(Forgetful(), "items")
    with pytest.raises(AssertionError):
        StrategyTests().test_the_same_text_gives_the_same_chunks(Moody())


def test_a_reader_that_returns_something_else_fails() -> None:
    class Wrong(IniReader):
        def read(self, data: bytes, **metadata: Any) -> Any:
            return data.decode()

    class Tests(ReaderTests):
        samples = (b"a",)

    with pytest.raises(AssertionError):
        Tests().test_it_returns_documents(Wrong())


def test_a_reader_that_returns_nothing_of_its_samples_fails(tmp_path: Path) -> None:
    file = tmp_path / "a.ini"
    file.write_text("[tea]\n")
    empty: Any = type(
        "Empty", (IniReader,), {"read": lambda self, data, **metadata: spanwise.read_text("", **metadata)}
    )
    with pytest.raises(AssertionError, match="no sample has any text"):
        ReaderTests().test_blocks_hold_every_visible_character(empty(), [file])


def test_a_tokenizer_that_counts_otherwise_fails() -> None:
    class Wrong(LetterTokenizer):
        def count(self, text: str) -> int:
            return len(text) // 2

    with pytest.raises(AssertionError, match="counted otherwise"):
        TokenizerTests().test_ends_on_hostile_text(Wrong(), "digits")


def test_an_embedder_of_zeros_fails() -> None:
    class Zeros(LetterEmbedder):
        def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
            return np.zeros((len(texts), self.dimension), np.float32)

        def embed_query(self, text: str) -> NDArray[np.float32]:
            return np.zeros(self.dimension, np.float32)

    with pytest.raises(AssertionError, match="all vectors are zero"):
        EmbedderTests().test_vectors_can_be_compared(Zeros(""))


def test_a_proposer_of_wrong_numbers_fails() -> None:
    with pytest.raises(AssertionError):
        ProposerTests().test_answers_are_line_numbers_that_ascend(lambda window: [0, 9], Window(("One.", "Two.")))


@pytest.mark.process
def test_without_pytest_the_error_names_the_extra() -> None:
    program = (
        "import sys; sys.modules['pytest'] = None\n"
        "import spanwise.testing\n"
        "print(spanwise.testing.MemoryStore().status()['kind'])\n"
        "try:\n    spanwise.testing.StrategyTests\n"
        "except spanwise.MissingExtraError as error:\n    print(error.extra)\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "memory\ntesting\n"
