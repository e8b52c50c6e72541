"""Rerankers: names, endpoints in each shape, cross-encoders, and calls that end in time."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
import time
import types
from collections.abc import Iterator, Sequence
from itertools import count
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest
from onnx import TensorProto

import spanwise
from fake_endpoint import Behaviour, drip, drip_body, endless, half, hang, in_turn, raw, reset, serving, status
from plugging import Install
from rerankers import ByFunction, Returning, answering_as, cross_encoder, shared_words
from spanwise.reranking import RERANKERS, Reranker, reranker_of, timed
from spanwise.reranking import onnx_model as onnx_module
from spanwise.reranking import transformers as transformers_module
from spanwise.reranking.timed import timed_scores
from spanwise.testing import RerankerTests

KEY = "rr-very-secret"
QUESTION = "who feeds the zebra"
TEXTS = ["the keeper feeds the zebra", "tickets are sold at the gate", "a zebra", "", "the zebra sleeps in the north"]
FACTS = ["the dog sleeps in garden", "shares fell on monday", "water boils at a hundred degrees"]
WORDS = sorted({word for text in [QUESTION, *TEXTS] for word in text.split()} | {"question"})
SERVICES = ("cohere", "jina", "vllm", "infinity", "tei")
VARIABLES = ("SPANWISE_RERANKER_URL", "SPANWISE_RERANKER_KEY", "CO_API_KEY", "COHERE_API_KEY", "JINA_API_KEY")


@pytest.fixture(autouse=True)
def no_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in VARIABLES:
        monkeypatch.delenv(name, raising=False)


def named(kind: str) -> str:
    return kind if kind == "tei" else f"{kind}:mine"


def made(name: str) -> Reranker:
    found = reranker_of(name)
    assert found is not None
    return found


# ── names ────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_names() -> None:
    assert list(RERANKERS) == ["none", *SERVICES, "sentence-transformers", "onnx"]
    assert reranker_of(None) is None
    assert reranker_of("none") is None
    mine = ByFunction(len)
    assert reranker_of(mine) is mine


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("coher:x", "did you mean `cohere`"),
        ("", "known: cohere, infinity"),
        ("cohere", "try cohere:rerank-v3.5"),
        ("jina:", "try jina:jina-reranker"),
        ("tei:model", "try tei"),
        ("none:x", "try none"),
        ("onnx", "try onnx:"),
        ("cohere:x", "set CO_API_KEY"),
        ("jina:x", "set JINA_API_KEY"),
        ("tei", "such as http://localhost:8080"),
        ("vllm:x", "such as http://localhost:8080"),
        ("onnx:/no/such/folder", "there is no /no/such/folder/model.onnx"),
        ("sentence-transformers:/no/such/folder", ""),
    ],
)
def test_what_can_not_be_used_is_refused(name: str, hint: str) -> None:
    with pytest.raises(spanwise.OptionError) as caught:
        reranker_of(name)
    assert hint in str(caught.value)


@pytest.mark.parametrize("wrong", [5, len, object(), types.SimpleNamespace(name="x"), Returning, b"cohere:x"])
def test_an_object_must_be_a_reranker(wrong: Any) -> None:
    if wrong is Returning:
        wrong = types.SimpleNamespace(name=7, rerank=len)
    with pytest.raises(spanwise.OptionError, match="reranker"):
        reranker_of(wrong)


def test_an_address_must_be_one_of_http(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SPANWISE_RERANKER_URL", "file:///etc/passwd")
    with pytest.raises(spanwise.OptionError, match="must begin with https"):
        reranker_of("tei")


def test_a_plug_in_is_found_by_name(install: Install) -> None:
    install("acme-rerank 1.0", {"rerankers": {"wordy": "rerankers:ByFunction", "bad": "rerankers:word_tokenizer"}})
    found = made("wordy:model")
    assert isinstance(found, ByFunction)
    with pytest.raises(spanwise.OptionError, match="object with `name`"):
        reranker_of("bad:x")
    with pytest.raises(spanwise.OptionError, match="did you mean `wordy`"):
        reranker_of("word")


@pytest.mark.process
def test_choosing_one_loads_no_model_and_no_http() -> None:
    program = (
        "import sys; from spanwise.reranking import check_reranker; check_reranker('cohere:x');"
        "check_reranker('onnx:y');"
        "print(*sorted({'numpy', 'onnxruntime', 'tokenizers', 'http.client', 'urllib.request'} & set(sys.modules)))"
    )
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == ""


# ── endpoints ────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.server
@pytest.mark.parametrize("kind", SERVICES)
def test_each_shape_of_endpoint(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    texts = [f"{text} {number}" for number in range(15) for text in TEXTS]
    with serving(answering_as(kind)) as server:
        monkeypatch.setenv("SPANWISE_RERANKER_URL", f"{server.url}/")
        monkeypatch.setenv("SPANWISE_RERANKER_KEY", KEY)
        reranker = made(named(kind))
        assert reranker.rerank(QUESTION, texts) == [shared_words(QUESTION, text) for text in texts]
        assert reranker.rerank(QUESTION, []) == []
    assert set(server.paths) == {"/v1/rerank"}
    assert {headers["authorization"] for headers in server.headers} == {f"Bearer {KEY}"}
    if kind == "tei":
        assert [len(request["texts"]) for request in server.requests] == [32, 32, 11]
        assert all(request.keys() == {"query", "texts", "truncate"} for request in server.requests)
    else:
        (request,) = server.requests
        assert request.keys() >= {"model", "query", "documents", "top_n"}
        assert (request["model"], request["top_n"]) == ("mine", 75)
    assert KEY not in repr(reranker) + repr(vars(reranker))


@pytest.mark.server
def test_the_whole_address_may_be_given(monkeypatch: pytest.MonkeyPatch) -> None:
    with serving(answering_as("tei")) as server:
        monkeypatch.setenv("SPANWISE_RERANKER_URL", f"{server.url}/rerank")
        assert len(made("tei").rerank(QUESTION, TEXTS)) == len(TEXTS)
    assert server.paths == ["/v1/rerank"]


@pytest.mark.server
def test_the_key_of_a_service_goes_to_the_service_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CO_API_KEY", KEY)
    assert KEY not in repr(vars(made("cohere:x")))
    with serving(answering_as("cohere")) as server:
        monkeypatch.setenv("SPANWISE_RERANKER_URL", server.url)
        made("cohere:x").rerank(QUESTION, TEXTS)
    assert "authorization" not in server.headers[0]


def results(*rows: Any) -> Behaviour:
    return raw(json.dumps({"results": list(rows)}).encode())


def row(index: Any, score: Any) -> dict[str, Any]:
    return {"index": index, "relevance_score": score}


BROKEN: dict[str, Behaviour] = {
    "fewer": results(row(0, 1)),
    "more": results(row(0, 1), row(1, 1), row(2, 1)),
    "twice the same": results(row(0, 1), row(0, 2)),
    "an index outside": results(row(0, 1), row(2, 1)),
    "a negative index": results(row(0, 1), row(-1, 1)),
    "an index that is true": results(row(0, 1), row(True, 1)),
    "an index in words": results(row(0, 1), row("1", 1)),
    "no index": results({"relevance_score": 1}, {"relevance_score": 1}),
    "no score": results(row(0, None), row(1, 1)),
    "NaN": raw(b'{"results": [{"index": 0, "relevance_score": NaN}, {"index": 1, "relevance_score": 1}]}'),
    "infinite": raw(b'{"results": [{"index": 0, "relevance_score": 1e999}, {"index": 1, "relevance_score": 1}]}'),
    "a huge integer": raw(b'{"results": [{"index": 0, "relevance_score": 1' + b"0" * 400 + b'}, {"index": 1}]}'),
    "no JSON": raw(b"<html>"),
    "deep JSON": raw(b"[" * 200_000),
    "a number": raw(b"7"),
    "null": raw(b"null"),
    "no results": raw(b'{"data": []}'),
    "cut off": half,
    "a reset": reset,
    "unavailable": status(503),
    "in vain": status(429, Retry_After="100"),
    "wrong key": status(401, b'{"message": "wrong key rr-very-secret"}'),
    "too long": status(413, b"batch size 75 > 32"),
    "elsewhere": status(302, Location="http://127.0.0.1:1/elsewhere"),
    "endless": endless,
    "never": hang,
    "drop by drop": drip,
    "a body drop by drop": drip_body,
}


@pytest.mark.server
@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_endpoint_is_an_error_in_time(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with serving(BROKEN[name]) as server:
        monkeypatch.setenv("SPANWISE_RERANKER_URL", server.url)
        monkeypatch.setenv("SPANWISE_RERANKER_KEY", KEY)
        reranker, start = made("cohere:mine"), time.monotonic()
        with pytest.raises(spanwise.EndpointError) as caught:
            timed_scores(reranker, QUESTION, TEXTS[:2], 0.8)
        assert time.monotonic() - start < 3
        assert server.calls >= 1
    assert KEY not in str(caught.value) + repr(vars(caught.value))
    assert server.url in str(caught.value) or "0.8 seconds" in str(caught.value)
    wait_until(lambda: not timed._late)


@pytest.mark.server
@pytest.mark.parametrize("name", ["unavailable", "no JSON", "a reset", "NaN"])
def test_a_passing_failure_is_tried_again(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with serving(in_turn(BROKEN[name], answering_as("cohere"))) as server:
        monkeypatch.setenv("SPANWISE_RERANKER_URL", server.url)
        scores = timed_scores(made("cohere:mine"), QUESTION, TEXTS, 20)
        assert scores == [shared_words(QUESTION, text) for text in TEXTS]
        assert server.calls == 2


@pytest.mark.server
def test_nothing_listens(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SPANWISE_RERANKER_URL", "http://127.0.0.1:9")
    with pytest.raises(spanwise.EndpointError, match="can't be reached"):
        timed_scores(made("tei"), QUESTION, TEXTS, 1)


# ── calls ────────────────────────────────────────────────────────────────────────────────────────────────────────


def wait_until(holds: Any) -> None:
    end = time.monotonic() + 10
    while not holds():
        assert time.monotonic() < end
        time.sleep(0.01)


class Waiting:
    """A reranker that answers when it is released."""

    name = "waiting"

    def __init__(self) -> None:
        self.released = threading.Event()

    def rerank(self, question: str, texts: Sequence[str]) -> list[float]:
        self.released.wait(30)
        return [1.0] * len(texts)


def test_a_reranker_that_is_too_slow() -> None:
    reranker, start = Waiting(), time.monotonic()
    try:
        with pytest.raises(spanwise.EndpointError, match=r"didn't answer within 0\.1 seconds"):
            timed_scores(reranker, QUESTION, TEXTS, 0.1)
        assert time.monotonic() - start < 2
        for _ in range(3):
            with pytest.raises(spanwise.EndpointError, match="didn't answer"):
                timed_scores(reranker, QUESTION, TEXTS, 0.05)
        assert len([one for one in threading.enumerate() if one.name == "reranker waiting"]) == 4
        with pytest.raises(spanwise.EndpointError, match="4 earlier calls still run"):
            timed_scores(reranker, QUESTION, TEXTS, 0.05)
    finally:
        reranker.released.set()
    wait_until(lambda: not timed._late)
    assert timed_scores(reranker, QUESTION, TEXTS, 5) == [1.0] * len(TEXTS)


@pytest.mark.parametrize(
    ("found", "words"),
    [
        ([1.0], "2 scores"),
        ([1.0, 2.0, 3.0], "more than 2"),
        (count(), "more than 2"),
        ([], "2 scores"),
        (None, "TypeError"),
        ([1.0, float("nan")], "finite"),
        ([1.0, float("inf")], "finite"),
        ([1.0, "2"], "finite"),
        ([1.0, None], "TypeError"),
        ([1.0, 10**400], "OverflowError"),
        (ValueError("broken\nmodel"), "ValueError: broken model"),
        (SystemExit(3), "SystemExit"),
        (MemoryError(), "MemoryError"),
        (spanwise.EndpointError("somewhere", "is down"), "is down"),
    ],
)
def test_a_wrong_answer_is_an_error(found: Any, words: str) -> None:
    with pytest.raises(spanwise.SpanwiseError, match=words) as caught:
        timed_scores(Returning(found), QUESTION, ["a", "b"], 5)
    assert type(caught.value) in (spanwise.PluginError, spanwise.EndpointError)


@pytest.mark.parametrize(
    "found", [(1, 2), np.array([1, 2], np.float32), np.array([1, 2]), iter([1, 2.0]), {1.0: "", 2.0: ""}]
)
def test_any_row_of_numbers_will_do(found: Any) -> None:
    assert timed_scores(Returning(found), QUESTION, ["a", "b"], 5) == [1.0, 2.0]


# ── a cross-encoder in a folder ──────────────────────────────────────────────────────────────────────────────────


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    onnx_module._loaded.cache_clear()
    yield cross_encoder(tmp_path, WORDS)
    onnx_module._loaded.cache_clear()


def test_onnx_reads_question_and_text_together(folder: Path) -> None:
    reranker = made(f"onnx:{folder}")
    texts = [*TEXTS, *(f"{text} gate" for text in TEXTS * 8)]  # more than a batch, of various lengths
    scores = reranker.rerank(QUESTION, texts)
    assert scores == pytest.approx([shared_words(QUESTION, text) for text in texts], abs=1e-6)
    assert scores == pytest.approx([reranker.rerank(QUESTION, [text])[0] for text in texts], abs=1e-6)
    assert reranker.rerank(QUESTION, []) == []
    assert reranker.name == f"onnx:{folder}"


def test_onnx_beside_other_formats(folder: Path) -> None:
    before = made(f"onnx:{folder}").rerank(QUESTION, TEXTS)
    (folder / "onnx").mkdir()
    (folder / "model.onnx").rename(folder / "onnx" / "model.onnx")
    assert made(f"onnx:{folder}").rerank(QUESTION, TEXTS) == before
    (folder / "tokenizer.json").unlink()
    with pytest.raises(spanwise.OptionError, match=r"there is no .*tokenizer\.json"):
        made(f"onnx:{folder}")


def test_onnx_with_other_integers(tmp_path: Path) -> None:
    reranker = made(f"onnx:{cross_encoder(tmp_path, WORDS, kind=TensorProto.INT32)}")
    assert reranker.rerank(QUESTION, TEXTS) == pytest.approx([shared_words(QUESTION, text) for text in TEXTS], abs=1e-6)


def test_onnx_cuts_at_the_limit_of_the_model(folder: Path) -> None:
    (folder / "tokenizer_config.json").write_text('{"model_max_length": 20, "pad_token": {"content": "[PAD]"}}')
    reranker = made(f"onnx:{folder}")
    long, longer = (f"zebra {'gate ' * number}" for number in (200, 400))
    first, second = reranker.rerank(QUESTION, [long + "zebra", longer])
    assert first == second > 0
    (folder / "tokenizer_config.json").write_text('{"model_max_length": 1000000000000000019884624838656}')
    onnx_module._loaded.cache_clear()
    assert reranker.rerank(QUESTION, [long])[0] < first


def test_onnx_is_loaded_once_and_again_when_it_changed(folder: Path) -> None:
    for _ in range(3):
        made(f"onnx:{folder}").rerank(QUESTION, TEXTS)
    assert onnx_module._loaded.cache_info().misses == 1
    new = folder / "model.onnx"
    new.write_bytes(new.read_bytes())
    made(f"onnx:{folder}").rerank(QUESTION, TEXTS)
    assert onnx_module._loaded.cache_info().misses == 2


@pytest.mark.parametrize("damage", ["model.onnx", "tokenizer.json", "outputs", "tokenizer_config.json"])
def test_onnx_that_can_not_be_used(folder: Path, damage: str) -> None:
    if damage == "outputs":
        cross_encoder(folder, WORDS, outputs=2)
    else:
        (folder / damage).write_bytes(b"{oh")
    reranker = made(f"onnx:{folder}")
    with pytest.raises(spanwise.OptionError, match="one number for each text" if damage == "outputs" else "be loaded"):
        reranker.load()  # type: ignore[attr-defined]


@pytest.mark.parametrize("missing", ["onnxruntime", "tokenizers"])
def test_without_onnxruntime(folder: Path, missing: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, missing, None)
    with pytest.raises(spanwise.MissingExtraError, match=r"spanwise\[onnx\]"):
        made(f"onnx:{folder}").load()  # type: ignore[attr-defined]


class TestOnnxReranker(RerankerTests):
    """The tests for plug-ins, of a built-in one."""

    @pytest.fixture
    def reranker(self, tmp_path: Path) -> Reranker:
        words = sorted(set(" ".join(FACTS).split()))
        return made(f"onnx:{cross_encoder(tmp_path, words)}")


# ── sentence-transformers ────────────────────────────────────────────────────────────────────────────────────────


class FakeCrossEncoder:
    """A fake of sentence_transformers.CrossEncoder, which needs torch: too heavy for these tests."""

    made: ClassVar[list[tuple[str, bool]]] = []

    def __init__(self, name: str, local_files_only: bool = False) -> None:
        if name == "nobody/nothing":
            raise OSError("nobody/nothing is not a local folder and is not a valid model identifier\nmore lines")
        self.made.append((name, local_files_only))

    def predict(self, pairs: list[tuple[str, str]], **options: Any) -> Any:
        assert options == {"batch_size": 32, "show_progress_bar": False, "convert_to_numpy": True}
        return np.array([shared_words(*pair) for pair in pairs], dtype=np.float64)


@pytest.fixture
def transformers(monkeypatch: pytest.MonkeyPatch) -> Iterator[type[FakeCrossEncoder]]:
    module = types.ModuleType("sentence_transformers")
    module.CrossEncoder = FakeCrossEncoder  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "sentence_transformers", module)
    monkeypatch.setattr(FakeCrossEncoder, "made", [])
    transformers_module._model.cache_clear()
    yield FakeCrossEncoder
    transformers_module._model.cache_clear()


def test_a_cross_encoder_by_name(transformers: type[FakeCrossEncoder]) -> None:
    reranker = made("sentence-transformers:some/model")
    assert reranker.rerank(QUESTION, TEXTS) == [shared_words(QUESTION, text) for text in TEXTS]
    assert made("sentence-transformers:some/model").rerank(QUESTION, []) == []
    assert transformers.made == [("some/model", False)]  # once


def test_a_folder_is_never_downloaded(transformers: type[FakeCrossEncoder], tmp_path: Path) -> None:
    made(f"sentence-transformers:{tmp_path}").rerank(QUESTION, TEXTS)
    assert transformers.made == [(str(tmp_path), True)]


def test_a_cross_encoder_that_can_not_be_loaded(transformers: type[FakeCrossEncoder]) -> None:
    with pytest.raises(spanwise.OptionError, match=r"can't be loaded \(OSError: nobody/nothing"):
        made("sentence-transformers:nobody/nothing").load()  # type: ignore[attr-defined]


def test_without_sentence_transformers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "sentence_transformers", None)
    with pytest.raises(spanwise.MissingExtraError, match=r"spanwise\[sentence-transformers\]"):
        made("sentence-transformers:some/model").load()  # type: ignore[attr-defined]
