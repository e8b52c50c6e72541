"""Cross-encoders of sentence-transformers, by their name or by their folder."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, Final

from spanwise.errors import MissingExtraError, OptionError
from spanwise.plugins import reason

KIND: Final = "sentence-transformers"

_LONGEST: Final = 20_000  # characters of one text; the model itself cuts at its own limit, in tokens
_BATCH: Final = 32


class TransformerReranker:
    """A cross-encoder of sentence-transformers, which cuts texts at its own limit."""

    def __init__(self, model: str) -> None:
        """Load nothing yet. A folder is never downloaded; a name may be, because the user gave it."""
        folder = Path(model).expanduser()
        self._local = folder.is_dir()
        if not self._local and (folder.is_absolute() or model.startswith((".", "~"))):
            raise OptionError("reranker", "must name a folder that exists", value=model)
        self._source = str(folder.resolve()) if self._local else model
        self.name = f"{KIND}:{self._source}"

    def load(self) -> None:
        """Load the model; raise MissingExtraError or OptionError if it can't be loaded."""
        try:
            _model(self._source, self._local)
        except ImportError as error:
            hint = f'pip install "spanwise[{KIND}]"'
            raise MissingExtraError(KIND, f"is needed for the reranker {self.name}", hint=hint) from error
        except Exception as error:  # whatever its libraries raise
            rule = f"can't be loaded ({reason(error)[:200]})"
            hint = f"name a cross-encoder or the folder of one: {KIND}:cross-encoder/ms-marco-MiniLM-L6-v2"
            raise OptionError("reranker", rule, value=self.name, hint=hint) from error

    def rerank(self, question: str, texts: Sequence[str]) -> list[float]:
        """Return the score of each text."""
        pairs = [(question, text[:_LONGEST]) for text in texts]
        found = _model(self._source, self._local).predict(
            pairs, batch_size=_BATCH, show_progress_bar=False, convert_to_numpy=True
        )
        return [float(one) for one in found]


@lru_cache(maxsize=2)
def _model(source: str, local: bool) -> Any:
    """Return a model, loaded once a process."""
    from sentence_transformers import CrossEncoder

    return CrossEncoder(source, local_files_only=local)
