"""PluginTokenizer: a tokenizer of another package, or of the user."""

from __future__ import annotations

import re
from array import array
from itertools import pairwise
from typing import Any

from spanwise.errors import PluginError, SpanwiseError
from spanwise.plugins import failure


class PluginTokenizer:
    """A tokenizer of another package, or of the user: what it lacks has a default, what it returns is checked."""

    __slots__ = ("_count", "_ends", "_inner", "_who", "added", "name", "seam")

    def __init__(self, inner: Any, who: str, name: str) -> None:
        """Raise PluginError if the object lacks something; `who` is how messages call it, `name` that in records."""
        for needed in ("name", "count", "ends"):
            if not hasattr(inner, needed):
                raise PluginError(who, f"must have `{needed}`", hint="see spanwise.Tokenizer")
        self._inner, self._who, self.name = inner, who, name
        self._count, self._ends = inner.count, inner.ends
        self.added: int = getattr(inner, "added", 0)
        self.seam: re.Pattern[str] | None = getattr(inner, "seam", None)
        if not (isinstance(self.name, str) and self.name) or type(self.added) is not int or self.added < 0:
            raise PluginError(who, "must have a name, and as `added` a number", value=(self.name, self.added))
        if not isinstance(self.seam, re.Pattern | None):
            raise PluginError(who, "must have as `seam` a compiled pattern, or None", value=self.seam)

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle as the object."""
        return PluginTokenizer, (self._inner, self._who, self.name)

    def count(self, text: str) -> int:
        """Count the tokens; raise PluginError if the result is no number."""
        try:
            found = self._count(text)
        except (MemoryError, SpanwiseError, UnicodeEncodeError):
            raise
        except Exception as error:
            raise failure(self._who, error) from error
        if not isinstance(found, int) or found < 0:
            raise PluginError(self._who, "must count a text with a number", value=found)
        return found

    def ends(self, text: str) -> array[int]:
        """Return the position after each token; raise PluginError if the positions don't ascend inside the text."""
        try:
            found = self._ends(text)
            ends = found if isinstance(found, array) and found.typecode == "i" else array("i", found)
        except (MemoryError, SpanwiseError, UnicodeEncodeError):
            raise
        except Exception as error:
            raise failure(self._who, error) from error
        if wrong := next((pair for pair in pairwise((0, *ends, len(text))) if pair[0] > pair[1]), None):
            raise PluginError(self._who, "must return ends that ascend inside the text", value=wrong)
        return ends
