"""ReaderTests: whether what a reader returns is a document as every other."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import ClassVar

import pytest

from spanwise.chunking.strategies import STRATEGIES
from spanwise.documents.document import Document
from spanwise.pipeline.chunk import chunk
from spanwise.readers import read
from spanwise.readers.plugin_reader import Reader
from spanwise.testing.document_laws import assert_document
from spanwise.testing.laws import broken_laws
from spanwise.text.tokens import tokenizer_of


class ReaderTests:
    """Tests for a reader; a subclass has `samples` and a fixture `reader` that returns it."""

    samples: ClassVar[Sequence[bytes | str | os.PathLike[str]]] = ()
    """Files of the format: their bytes, or their paths."""

    @pytest.fixture
    def reader(self) -> Reader:
        """Return the reader."""
        raise NotImplementedError("write a fixture `reader` that returns yours")

    @pytest.fixture
    def files(self, reader: Reader, tmp_path: Path) -> list[Path]:
        """Return the samples as files."""
        assert self.samples, "a subclass must have `samples`: files of the format, as bytes or paths"
        suffix = next(iter(reader.suffixes), ".sample")
        return [path for number, one in enumerate(self.samples) for path in _file(one, tmp_path / f"{number}{suffix}")]

    def test_it_has_suffixes(self, reader: Reader) -> None:
        """Every extension begins with a full stop, and is in lower case."""
        assert list(reader.suffixes)
        assert not isinstance(reader.suffixes, str)
        wrong = [one for one in reader.suffixes if not one.startswith(".") or one != one.lower()]
        assert not wrong, f"an extension is such as `.ini`: {wrong}"

    def test_it_returns_documents(self, reader: Reader) -> None:
        """The method itself returns a document, with metadata and without."""
        for one in self.samples:
            data = one if isinstance(one, bytes) else Path(one).read_bytes()
            assert isinstance(reader.read(data), Document)
            assert isinstance(reader.read(data, file_path="a/b", title="T"), Document)

    def test_blocks_hold_every_visible_character(self, reader: Reader, files: list[Path]) -> None:
        """Blocks and their parts ascend, are trimmed, and leave nothing out."""
        documents = [read(file, format=reader) for file in files]
        for document in documents:
            assert_document(document)
        assert any(document.text for document in documents), "no sample has any text"

    def test_given_metadata_win(self, reader: Reader, files: list[Path]) -> None:
        """What is given is in the document; its id is that of its source."""
        for file in files:
            document = read(file, format=reader, title="A title", tenant_id="acme", extra={"team": "hr"})
            known = document.metadata
            assert (known.title, known.tenant_id, known.extra["team"]) == ("A title", "acme", "hr")
            assert known.file_path == file.as_posix()
            assert read(file, format=reader, document_id="mine").document_id == "mine"

    def test_the_same_bytes_give_the_same_document(self, reader: Reader, files: list[Path]) -> None:
        """Reading twice gives the same."""
        for file in files:
            assert read(file, format=reader) == read(file, format=reader)

    @pytest.mark.parametrize("strategy", [name for name, one in STRATEGIES.items() if not one.asks_model])
    def test_laws_of_its_chunks(self, reader: Reader, files: list[Path], strategy: str) -> None:
        """The chunks of its documents keep the laws under every strategy."""
        for file in files:
            document = read(file, format=reader)
            records = [one.to_dict() for one in chunk(document, strategy, max_tokens=40)]
            assert broken_laws(document, records, tokenizer_of("cl100k"), 40) == []


def _file(sample: bytes | str | os.PathLike[str], path: Path) -> Iterator[Path]:
    if isinstance(sample, bytes):
        path.write_bytes(sample)
        yield path
    else:
        yield Path(sample)
