"""PluginEmbedder: an embedder of another package, or of the user; its vectors are checked, and scaled to length 1."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from spanwise.embedding.vectors import Encoding, unit_rows
from spanwise.errors import OptionError, PluginError
from spanwise.plugins import calling

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class PluginEmbedder(Encoding):
    """An embedder that delegates to an object, and checks what it returns."""

    def __init__(self, inner: Any, who: str, name: str | None = None) -> None:
        """Raise OptionError if the object is no embedder; `who` is how messages call it, `name` overrides its own."""
        for needed in ("name", "dimension", "embed", "embed_query"):
            if not hasattr(inner, needed):
                rule = f"must be a name, None, or an object with `{needed}` (see spanwise.Embedder)"
                raise OptionError("embedder", rule, value=type(inner).__name__)
        self._inner, self._who = inner, who
        self.name: str = inner.name if name is None else name
        if not (isinstance(self.name, str) and self.name.strip()):
            raise PluginError(who, "must have a `name`", value=self.name)

    @property
    def dimension(self) -> int:
        """The dimension of the vectors."""
        with calling(self._who):
            found = self._inner.dimension
        if type(found) is not int or found < 1:
            raise PluginError(self._who, "must have as `dimension` the number of components", value=found)
        return found

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return a row for each text."""
        if not texts:
            return self._checked([], 0)
        with calling(self._who):
            found = self._inner.embed(list(texts))
        return self._checked(found, len(texts))

    def embed_query(self, text: str) -> NDArray[np.float32]:
        """Return the vector of a query."""
        with calling(self._who):
            found = self._inner.embed_query(text)
        row: NDArray[np.float32] = self._checked([found], 1)[0]
        return row

    def _checked(self, rows: Any, number: int) -> NDArray[np.float32]:
        """Return rows scaled to length one; raise PluginError for another shape, or what is no number."""
        import numpy as np

        dimension = self.dimension
        with calling(self._who):
            vectors = np.asarray(rows, dtype=np.float32) if number else np.zeros((0, dimension), dtype=np.float32)
        if vectors.shape != (number, dimension):
            rule = f"must return {number} vectors of {dimension} numbers"
            raise PluginError(self._who, rule, value=vectors.shape)
        if not np.isfinite(vectors).all():
            raise PluginError(self._who, "must return finite numbers")
        return unit_rows(vectors)
