"""Rerankers for tests: objects, a small cross-encoder in a folder, and endpoints in each shape."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors

from fake_endpoint import Behaviour, Handler, Request

_SPECIAL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]")
_INPUTS = ("input_ids", "attention_mask", "token_type_ids")


def shared_words(question: str, text: str) -> float:
    """Return how many words a text shares with a question, as a share of its own."""
    words = re.findall(r"\w+", text.lower())
    return sum(word in re.findall(r"\w+", question.lower()) for word in words) / (len(words) + 1)


class ByFunction:
    """A reranker that scores by a function, and keeps what it was asked."""

    def __init__(self, score: Callable[[str], float], name: str = "by-function") -> None:
        self.name, self._score = name, score
        self.asked: list[tuple[str, list[str]]] = []

    def rerank(self, question: str, texts: Sequence[str]) -> list[float]:
        self.asked.append((question, list(texts)))
        return [self._score(text) for text in texts]


class Returning:
    """A reranker that returns the same, whatever it is asked, or raises it."""

    name = "returning"

    def __init__(self, found: Any) -> None:
        self.found = found

    def rerank(self, question: str, texts: Sequence[str]) -> Any:
        if isinstance(self.found, BaseException):
            raise self.found
        return self.found


def rows_of(request: Request, texts: str = "documents", score: str = "relevance_score") -> list[dict[str, Any]]:
    """Return a row for each text, the best first, as endpoints do."""
    found = [(shared_words(request["query"], text), index) for index, text in enumerate(request[texts])]
    return [{"index": index, score: value} for value, index in sorted(found, reverse=True)]


def answering_as(kind: str) -> Behaviour:
    """Return the behaviour of a correct endpoint of a kind."""

    def behave(handler: Handler, request: Request) -> None:
        found: Any = rows_of(request, "texts", "score") if kind == "tei" else {"results": rows_of(request)}
        handler.send(200, json.dumps(found).encode())

    return behave


def word_tokenizer(words: Sequence[str]) -> Tokenizer:
    """Return a tokenizer with a token for each of these words, and types 0 and 1 for the two texts of a pair."""
    vocabulary = {word: number for number, word in enumerate([*_SPECIAL, *words])}
    tokenizer = Tokenizer(models.WordLevel(vocabulary, unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.Lowercase()
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", pair="[CLS] $A [SEP] $B:1 [SEP]:1", special_tokens=[("[CLS]", 2), ("[SEP]", 3)]
    )
    return tokenizer


def cross_encoder(folder: Path, words: Sequence[str], *, kind: int = TensorProto.INT64, outputs: int = 1) -> Path:
    """Write a model that compares each token of a question with each of a text: the share that both have."""
    word_tokenizer(words).save(str(folder / "tokenizer.json"))
    node = helper.make_node
    both = node("Mul", ["text_float", "mask_float"], ["text_mask"])
    nodes = [
        node("Greater", ["input_ids", "last_special"], ["is_word"]),
        node("Cast", ["is_word"], ["word_float"], to=TensorProto.FLOAT),
        node("Cast", ["attention_mask"], ["mask_float"], to=TensorProto.FLOAT),
        node("Cast", ["token_type_ids"], ["type_float"], to=TensorProto.FLOAT),
        node("Mul", ["type_float", "word_float"], ["text_float"]),
        both,
        node("Sub", ["one", "type_float"], ["question_type"]),
        node("Mul", ["question_type", "word_float"], ["question_mask"]),
        node("Unsqueeze", ["input_ids", "axis_2"], ["down"]),
        node("Unsqueeze", ["input_ids", "axis_1"], ["across"]),
        node("Equal", ["down", "across"], ["same"]),
        node("Cast", ["same"], ["same_float"], to=TensorProto.FLOAT),
        node("Unsqueeze", ["question_mask", "axis_2"], ["question_down"]),
        node("Unsqueeze", ["text_mask", "axis_1"], ["text_across"]),
        node("Mul", ["same_float", "question_down"], ["same_question"]),
        node("Mul", ["same_question", "text_across"], ["shared"]),
        node("ReduceMax", ["shared", "axis_1"], ["shared_once"], keepdims=0),
        node("ReduceSum", ["shared_once", "axis_1"], ["count"], keepdims=1),
        node("ReduceSum", ["text_mask", "axis_1"], ["length"], keepdims=1),
        node("Add", ["length", "one"], ["length_and_one"]),
        node("Div", ["count", "length_and_one"], ["score"]),
        node("Concat", ["score"] * outputs, ["logits"], axis=1),
    ]
    dtype = np.int32 if kind == TensorProto.INT32 else np.int64
    constants = {
        "last_special": np.array(len(_SPECIAL) - 1, dtype), "one": np.array(1.0, np.float32),
        "axis_1": np.array([1], np.int64), "axis_2": np.array([2], np.int64),
    }  # fmt: skip
    graph = helper.make_graph(
        nodes, "shared words",
        [helper.make_tensor_value_info(name, kind, ["batch", "tokens"]) for name in _INPUTS],
        [helper.make_tensor_value_info("logits", TensorProto.FLOAT, ["batch", outputs])],
        [numpy_helper.from_array(value, name) for name, value in constants.items()],
    )  # fmt: skip
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=9)
    onnx.checker.check_model(model)
    onnx.save(model, str(folder / "model.onnx"))
    return folder
