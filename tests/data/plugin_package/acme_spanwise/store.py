"""A store in one pickled file, for collections that fit into memory."""

from __future__ import annotations

import pickle
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import spanwise
from spanwise.testing import MemoryStore


class PickledStore(MemoryStore):
    """A store whose address is `pickled://` and the path of its file."""

    def __init__(self, address: str, *, create: bool = False) -> None:
        super().__init__()
        self._path = Path(address.partition("://")[2])
        if self._path.exists():
            self.__setstate__(pickle.loads(self._path.read_bytes()))
        elif not create:
            raise spanwise.StoreError(address, "doesn't exist")

    @contextmanager
    def writing(self, tenant: str, model: Any, wait: float = 10.0) -> Iterator[Any]:
        """Write the file when the writer has ended."""
        with super().writing(tenant, model, wait) as writer:
            yield writer
            self._path.write_bytes(pickle.dumps(self.__getstate__()))
