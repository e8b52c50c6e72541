"""Cross-encoders as ONNX: a folder with `model.onnx` and `tokenizer.json`, run by onnxruntime; no network, no torch."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, Final

from spanwise.errors import MissingExtraError, OptionError
from spanwise.plugins import reason

KIND: Final = "onnx"

_MODELS: Final = ("model.onnx", "onnx/model.onnx")  # the latter where a model's folder has it in several formats
_TOKENIZER: Final = "tokenizer.json"
_LONGEST: Final = 20_000  # characters of one text; the tokenizer cuts at the limit of the model
_BATCH: Final = 16
_TOKENS: Final = 512  # of question and text together, if the folder doesn't say
_MOST_TOKENS: Final = 8192
_INPUTS: Final = {"input_ids": "ids", "attention_mask": "attention_mask", "token_type_ids": "type_ids"}
"""For each input that models have, the attribute of an encoding that it is."""


class OnnxReranker:
    """A cross-encoder in a folder."""

    def __init__(self, folder: str) -> None:
        """Load nothing yet; raise OptionError if a file is missing."""
        self._folder = Path(folder).expanduser().resolve()
        self.name = f"{KIND}:{folder}"
        models = [self._folder / name for name in _MODELS if (self._folder / name).is_file()]
        if not models or not (self._folder / _TOKENIZER).is_file():
            missing = self._folder / (_TOKENIZER if models else _MODELS[0])
            rule = f"must name a folder with {_MODELS[0]} and {_TOKENIZER}"
            raise OptionError("reranker", rule, value=self.name, hint=f"there is no {missing}")
        self._file = models[0]

    def load(self) -> None:
        """Load the model; raise MissingExtraError or OptionError if it can't be loaded."""
        try:
            self._model()
        except ImportError as error:
            hint = f'pip install "spanwise[{KIND}]"'
            raise MissingExtraError(KIND, f"is needed for the reranker {self.name}", hint=hint) from error
        except OptionError:
            raise
        except Exception as error:  # whatever its libraries raise
            raise OptionError("reranker", f"can't be loaded ({reason(error)[:200]})", value=self.name) from error

    def rerank(self, question: str, texts: Sequence[str]) -> list[float]:
        """Return the score of each text."""
        model = self._model()
        pairs = [(question, text[:_LONGEST]) for text in texts]
        return [one for at in range(0, len(pairs), _BATCH) for one in model.scores(pairs[at : at + _BATCH])]

    def _model(self) -> _Model:
        return _loaded(self._file, self._folder, self._file.stat().st_mtime_ns)


class _Model:
    """A session of onnxruntime with the tokenizer of its model."""

    def __init__(self, file: Path, folder: Path) -> None:
        import onnxruntime
        import tokenizers

        self._tokenizer = tokenizers.Tokenizer.from_file(str(folder / _TOKENIZER))
        set_before = self._tokenizer.truncation or {}
        self._tokenizer.enable_truncation(int(set_before.get("max_length") or _most_tokens(folder)))
        padding = self._tokenizer.padding or {}
        chosen = {name: padding[name] for name in ("pad_id", "pad_type_id", "pad_token") if name in padding}
        self._tokenizer.enable_padding(**(chosen or _padding(folder, self._tokenizer)))
        options = onnxruntime.SessionOptions()
        options.log_severity_level = 3  # errors: warnings about the machine would go to stderr
        providers = ["CPUExecutionProvider"]
        self._session = onnxruntime.InferenceSession(str(file), options, providers=providers)
        self._inputs = {one.name: "int32" if "int32" in one.type else "int64" for one in self._session.get_inputs()}
        if unknown := set(self._inputs) - set(_INPUTS):
            rule = f"must be a cross-encoder, whose inputs are of {', '.join(_INPUTS)}"
            raise OptionError("reranker", rule, value=", ".join(sorted(unknown)))
        list(self.scores([("question", "text")]))

    def scores(self, pairs: Sequence[tuple[str, str]]) -> Iterator[float]:
        """Yield the score of each pair; raise OptionError if the model has another number than one for each."""
        import numpy as np

        encodings = self._tokenizer.encode_batch(list(pairs))
        inputs = {
            name: np.array([getattr(one, _INPUTS[name]) for one in encodings], dtype=kind)
            for name, kind in self._inputs.items()
        }
        found = np.asarray(self._session.run(None, inputs)[0])
        if found.size != len(pairs):
            rule = "must be a cross-encoder, whose output is one number for each text"
            raise OptionError("reranker", rule, value=found.shape)
        yield from map(float, found.reshape(-1))


@lru_cache(maxsize=2)
def _loaded(file: Path, folder: Path, changed: int) -> _Model:
    """Return a model, loaded once a process and again when its file has changed."""
    return _Model(file, folder)


def _most_tokens(folder: Path) -> int:
    """Return the limit that `tokenizer_config.json` states, if it is one; some state a number without end."""
    found = _configured(folder).get("model_max_length")
    return int(found) if isinstance(found, int | float) and 2 <= found <= _MOST_TOKENS else _TOKENS


def _padding(folder: Path, tokenizer: Any) -> dict[str, Any]:
    """Return the token that fills shorter texts up: the configured one, else one that is known by that use."""
    configured = _configured(folder).get("pad_token")
    name = configured.get("content") if isinstance(configured, dict) else configured
    for token in (name, "[PAD]", "<pad>"):
        if isinstance(token, str) and (number := tokenizer.token_to_id(token)) is not None:
            return {"pad_id": number, "pad_token": token}
    return {}


def _configured(folder: Path) -> dict[str, Any]:
    path = folder / "tokenizer_config.json"
    found = json.loads(path.read_text("utf-8")) if path.is_file() else {}
    return found if isinstance(found, dict) else {}
