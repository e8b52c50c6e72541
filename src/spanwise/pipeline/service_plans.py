"""Service plans: named products, each a strategy with its options."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from spanwise.documents.document import Document
from spanwise.errors import OptionError
from spanwise.pipeline.chunk import chunk
from spanwise.pipeline.settings import Config, find_config, in_force, load_config, plan_layer, settings_of, tenants_plan
from spanwise.records.chunk import Chunks


@dataclass(frozen=True, eq=False)
class ServicePlan(Mapping[str, Any]):
    """A plan: its strategy, its tokenizer and its options; `spanwise.chunk(document, **plan)` accepts it."""

    name: str
    strategy: str
    tokenizer: str
    options: Mapping[str, Any] = field(repr=False)  # an API key may be among them

    def chunk(self, document: Document | str | os.PathLike[str], **more: Any) -> Chunks:
        """Return the chunks of a document by this plan; `more` are arguments of `spanwise.chunk`, and override it."""
        return chunk(document, **{**self, **more})

    def __getitem__(self, name: str) -> Any:
        """Return an argument for `spanwise.chunk`."""
        return self._arguments[name]

    def __iter__(self) -> Iterator[str]:
        """Iterate over the names of the arguments."""
        return iter(self._arguments)

    def __len__(self) -> int:
        """Return the number of arguments."""
        return len(self._arguments)

    @property
    def _arguments(self) -> dict[str, Any]:
        return {"strategy": self.strategy, "tokenizer": self.tokenizer, **self.options}


def plan(
    name: str | None = None, *, tenant: str | None = None, config: str | os.PathLike[str] | None = None
) -> ServicePlan:
    """Return a plan by its name, or by the tenant who has it.

    `config` is the file with `[plans]` and `[tenants]`; by default the one that the command line would find. Without
    one there are `free`, `premium` and `enterprise`. General settings of the file hold where the plan sets none.
    """
    found = Path(config).absolute() if config is not None else find_config(Path.cwd())
    read = load_config(found) if found else Config()
    if (name is None) == (tenant is None):
        raise OptionError("plan", "needs a name or a tenant, and not both", hint='try spanwise.plan("premium")')
    wanted = name if name is not None else tenants_plan(read, str(tenant))
    layer = plan_layer(read, wanted)
    settings = settings_of(in_force([*Config(read.path, read.general).layers(None), layer]))
    return ServicePlan(wanted, settings.strategy_name, str(settings.tokenizer), settings.options)
