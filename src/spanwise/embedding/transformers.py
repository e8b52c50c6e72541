"""Models of sentence-transformers, by their name or by the folder that holds them: `BAAI/bge-m3`, for one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from spanwise.embedding.vectors import nonblank_texts, unit_rows
from spanwise.errors import MissingExtraError, OptionError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

KIND: Final = "sentence-transformers"

_LONGEST: Final = 100_000  # characters; the model itself cuts at its own limit, in tokens
_BATCH: Final = 32


class TransformerEmbedder:
    """A model of sentence-transformers; texts longer than it can read are cut by it."""

    def __init__(self, model: str) -> None:
        """Load nothing yet. A folder is never looked for elsewhere; a name is, because the user said it."""
        folder = Path(model).expanduser()
        self._local = folder.is_dir()
        if not self._local and (folder.is_absolute() or model.startswith((".", "~"))):
            raise OptionError("embedder", "must name a folder that exists", value=model)
        self._where = str(folder.resolve()) if self._local else model
        self.name = f"{KIND}:{self._where}"

    @cached_property
    def dimension(self) -> int:
        """Ask the model, which is loaded for it."""
        model = self._model
        counted = getattr(model, "get_embedding_dimension", None) or model.get_sentence_embedding_dimension
        return int(counted())

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Give a row for each text, of zeros for one that says nothing."""
        return self._embedded(texts, getattr(self._model, "encode_document", self._model.encode))

    def embed_query(self, text: str) -> NDArray[np.float32]:
        """Give the vector of a question, with the words before it that the model was trained with."""
        encode = getattr(self._model, "encode_query", self._model.encode)
        row: NDArray[np.float32] = self._embedded([text], encode)[0]
        return row

    def _embedded(self, texts: Sequence[str], encode: Callable[..., Any]) -> NDArray[np.float32]:
        import numpy as np

        rows = np.zeros((len(texts), self.dimension), dtype=np.float32)
        kept, places = nonblank_texts(texts, _LONGEST)
        if kept:
            made = encode(kept, batch_size=_BATCH, show_progress_bar=False, convert_to_numpy=True)
            rows[places] = unit_rows(made)
        return rows

    @cached_property
    def _model(self) -> Any:
        try:
            from sentence_transformers import SentenceTransformer
        except ImportError as error:
            hint = f'pip install "spanwise[{KIND}]"'
            raise MissingExtraError(KIND, f"is needed for the embedder {self.name}", hint=hint) from error
        try:
            return SentenceTransformer(self._where, local_files_only=self._local)
        except (OSError, ValueError, RuntimeError) as error:
            hint = "name a model of sentence-transformers or the folder of one: sentence-transformers:BAAI/bge-m3"
            raise OptionError(
                "embedder", f"can't be loaded ({_first_line(error)})", value=self.name, hint=hint
            ) from error


def _first_line(error: Exception) -> str:
    return (str(error).strip() or type(error).__name__).splitlines()[0][:200]
