"""Models of sentence-transformers, by their name (such as `BAAI/bge-m3`) or by their folder."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from spanwise.embedding.vectors import Encoding, embedded
from spanwise.errors import MissingExtraError, OptionError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

KIND: Final = "sentence-transformers"

_LONGEST: Final = 100_000  # characters; the model itself cuts at its own limit, in tokens
_BATCH: Final = 32


class TransformerEmbedder(Encoding):
    """A model of sentence-transformers, which cuts texts at its own limit."""

    def __init__(self, model: str) -> None:
        """Load nothing yet. A folder is never downloaded; a name may be, because the user gave it."""
        folder = Path(model).expanduser()
        self._local = folder.is_dir()
        if not self._local and (folder.is_absolute() or model.startswith((".", "~"))):
            raise OptionError("embedder", "must name a folder that exists", value=model)
        self._source = str(folder.resolve()) if self._local else model
        self.name = f"{KIND}:{self._source}"

    @cached_property
    def dimension(self) -> int:
        """The dimension of the model, which is loaded for it."""
        model = self._model
        counted = getattr(model, "get_embedding_dimension", None) or model.get_sentence_embedding_dimension
        return int(counted())

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return a row for each text, of zeros for a blank one."""
        return self._embedded(texts, getattr(self._model, "encode_document", self._model.encode))

    def embed_query(self, text: str) -> NDArray[np.float32]:
        """Return the vector of a query, with the prompt before it that the model was trained with."""
        encode = getattr(self._model, "encode_query", self._model.encode)
        row: NDArray[np.float32] = self._embedded([text], encode)[0]
        return row

    def _embedded(self, texts: Sequence[str], encode: Callable[..., Any]) -> NDArray[np.float32]:
        encoded = partial(encode, batch_size=_BATCH, show_progress_bar=False, convert_to_numpy=True)
        return embedded(texts, self.dimension, _LONGEST, encoded)

    @cached_property
    def _model(self) -> Any:
        try:
            from sentence_transformers import SentenceTransformer
        except ImportError as error:
            hint = f'pip install "spanwise[{KIND}]"'
            raise MissingExtraError(KIND, f"is needed for the embedder {self.name}", hint=hint) from error
        try:
            return SentenceTransformer(self._source, local_files_only=self._local)
        except (OSError, ValueError, RuntimeError) as error:
            hint = "name a model of sentence-transformers or the folder of one: sentence-transformers:BAAI/bge-m3"
            raise OptionError(
                "embedder", f"can't be loaded ({_first_line(error)})", value=self.name, hint=hint
            ) from error


def _first_line(error: Exception) -> str:
    return (str(error).strip() or type(error).__name__).splitlines()[0][:200]
