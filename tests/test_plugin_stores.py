"""Stores of plug-ins: wrong results are errors that name them, and the file of the example may be moved."""

from __future__ import annotations

import pickle
import time
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any

import pytest
from acme_spanwise.embedder import LetterEmbedder
from acme_spanwise.store import PickledStore

import spanwise
from spanwise import PluginError, Store, StoreError
from spanwise.stores import open_store
from spanwise.stores.values import Model
from spanwise.testing import MemoryStore, StoreTests

TEXT = "# Tea\n\nBoil fresh water.\n\nGreen tea takes two minutes.\n"


class Wrong(MemoryStore):
    """A store of which one method, or one of its reader, returns something else than it should."""

    def __init__(self, method: str, found: Any) -> None:
        super().__init__()
        documents = [spanwise.read_text(TEXT, document_id=name) for name in ("tea", "milk")]
        spanwise.index(documents, self, embedder=LetterEmbedder(""))
        self._method, self._found = method, found
        if hasattr(self, method):
            setattr(self, method, self._wrong)

    def _wrong(self, *_: Any, **__: Any) -> Any:
        return self._found

    def reading(self, tenant: str) -> Any:
        reader = super().reading(tenant)
        if hasattr(self, "_method") and hasattr(reader, self._method):
            setattr(reader, self._method, self._wrong)
        return reader


@pytest.mark.parametrize(
    ("method", "found", "message"),
    [
        ("statistics", 5, "must return Statistics from `statistics`: 'int'"),
        ("lexical", None, "must return Sequence from `lexical`: 'NoneType'"),
        ("lexical", [(1, 2, {})], "must return Sequence of Candidate from `lexical`: 'tuple'"),
        ("counts", {}, "must return Sequence from `counts`: 'dict'"),
        ("nearest", 0.5, "must return Sequence from `nearest`: 'float'"),
        ("fetch", [{}], "must return Sequence of StoredChunk from `fetch`: 'dict'"),
        ("links", None, "must return Set from `links`: 'NoneType'"),
        ("model", "letters", "must return Model or NoneType from `model`: 'str'"),
    ],
)
def test_what_a_store_returns_wrongly_names_it(method: str, found: Any, message: str) -> None:
    with pytest.raises(PluginError) as caught:
        spanwise.search("fresh green water", Wrong(method, found), embedder=LetterEmbedder(""))
    assert str(caught.value).startswith(f"`store Wrong` {message}")


def test_a_writer_or_reader_that_is_none_names_it() -> None:
    no_writer = type("NoWriter", (MemoryStore,), {"writing": lambda *_: nullcontext(3)})()
    with pytest.raises(PluginError, match="`store NoWriter` must have a method `known`: 'int'"):
        spanwise.index(spanwise.read_text(TEXT), no_writer, embedder=None)
    no_reader = type("NoReader", (MemoryStore,), {"reading": lambda *_: nullcontext(3)})()
    with pytest.raises(PluginError, match="`store NoReader` must have a method `statistics`: 'int'"):
        spanwise.search("tea", no_reader, embedder=None)


def test_a_memory_store_of_another_name_says_it() -> None:
    store = type("Named", (MemoryStore,), {"address": "named://x"})()
    spanwise.index(spanwise.read_text(TEXT, document_id="tea"), store, embedder=LetterEmbedder(""))
    with pytest.raises(spanwise.StoreError, match="`named://x` has vectors of letters"):
        spanwise.index(spanwise.read_text(TEXT, document_id="tea"), store, embedder=LetterEmbedder("abc"))


@pytest.mark.usefixtures("acme")
def test_a_store_in_a_file_that_was_moved_writes_where_it_is(tmp_path: Path) -> None:
    before, after = tmp_path / "before.pickle", tmp_path / "after.pickle"
    tea, milk = (spanwise.read_text(TEXT, document_id=name) for name in ("tea", "milk"))
    spanwise.index(tea, f"pickled://{before}", embedder=None)
    before.rename(after)
    spanwise.index(milk, f"pickled://{after}", embedder=None)
    assert not before.exists()
    assert open_store(f"pickled://{after}").status()["documents"] == 2


class SharedStore(PickledStore):
    """The example, for several processes, as the documentation says."""

    def __init__(self, address: str, *, create: bool = False) -> None:
        super().__init__(address, create=create)
        if not self._path.exists():
            self.committed()

    def _load(self) -> None:
        self.__setstate__(pickle.loads(self._path.read_bytes()))

    def model(self) -> Model | None:
        self._load()
        return super().model()

    def tenants(self) -> list[str]:
        self._load()
        return super().tenants()

    def status(self) -> dict[str, Any]:
        self._load()
        return super().status()

    def reading(self, tenant: str) -> Any:
        self._load()
        return super().reading(tenant)

    @contextmanager
    def writing(self, tenant: str, model: Model | None, wait: float = 10.0) -> Iterator[Any]:
        import fcntl  # not on Windows

        end = time.monotonic() + wait
        with self._path.with_suffix(".lock").open("w") as file:
            while True:
                try:
                    fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    break
                except BlockingIOError:
                    if time.monotonic() > end:
                        raise StoreError(self.address, "is being written by another") from None
                    time.sleep(0.01)
            with super().writing(tenant, model, wait) as writer:
                yield writer


class TestSharedStore(StoreTests):
    """A store that is opened twice."""

    @pytest.fixture
    def store(self, tmp_path: Path) -> Store:
        return SharedStore(f"shared://{tmp_path}/store", create=True)

    @pytest.fixture
    def another(self, store: SharedStore) -> Store:
        return SharedStore(store.address)
