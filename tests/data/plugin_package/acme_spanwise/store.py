"""A store in one pickled file, for collections that fit into memory."""

from __future__ import annotations

import pickle
from pathlib import Path

import spanwise
from spanwise.testing import MemoryStore


class PickledStore(MemoryStore):
    """A store whose address is `pickled://` and the path of its file."""

    def __init__(self, address: str, *, create: bool = False) -> None:
        super().__init__()
        path = Path(address.partition("://")[2])
        if path.exists():
            self.__setstate__(pickle.loads(path.read_bytes()))
        elif not create:
            raise spanwise.StoreError(address, "doesn't exist")
        self.address, self._path = address, path  # after the state, as the file may have been moved

    def committed(self) -> None:
        """Write the file anew after every commit."""
        new = self._path.with_suffix(".new")
        new.write_bytes(pickle.dumps(self.__getstate__()))
        new.replace(self._path)
