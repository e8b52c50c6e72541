"""Generate src/spanwise/signatures.py from the declared options: `python docs/generate_signatures.py`."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import Field, fields
from pathlib import Path
from typing import Any

from spanwise.chunking.strategies import DEFAULT_STRATEGY, STRATEGIES
from spanwise.indexing.index import index
from spanwise.pipeline.chunk import chunk
from spanwise.pipeline.files import chunk_files

MODULE = Path(__file__).parent.parent / "src" / "spanwise" / "signatures.py"
FUNCTIONS = {"ChunkFunction": chunk, "ChunkFilesFunction": chunk_files, "IndexFunction": index}
HEAD = '''"""The types of `chunk`, `chunk_files` and `index`, for type checkers and editors only.

`python docs/generate_signatures.py` writes this module from the declared options.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Literal, Protocol, TypedDict, Unpack, overload

from spanwise.chunking.proposers import Propose, Proposer
from spanwise.chunking.strategy import StrategyLike
from spanwise.documents.document import Document
from spanwise.documents.offsets import Measure
from spanwise.embedding import Embedder
from spanwise.indexing.index import IndexEvent, IndexReport
from spanwise.pipeline.process import Outcome
from spanwise.records.chunk import Chunks
from spanwise.records.columns import Texts
from spanwise.sources.listing import Source
from spanwise.stores import Store
from spanwise.text.tokens import Tokenizer
'''


def module_now() -> str:
    """Return the text of the module."""
    options = [_options(name) for name in STRATEGIES]
    functions = [_function(name, function) for name, function in FUNCTIONS.items()]
    return "\n\n".join([HEAD, *options, *functions]).rstrip() + "\n"


def _options(strategy: str) -> str:
    lines = [f"    {item.name}: {_type(item)}" for item in fields(STRATEGIES[strategy].options)]
    head = f'class {_class(strategy)}(TypedDict, total=False):\n    """The options of `{strategy}`."""\n\n'
    return head + "\n".join(lines) + "\n"


def _class(strategy: str) -> str:
    return f"{strategy.capitalize()}Arguments"


def _type(item: Field[Any]) -> str:
    choices = item.metadata["choices"]
    found = f"Literal[{', '.join(map(_literal, choices))}]" if choices else str(item.type)
    return f"{found} | None" if choices and item.default is None else found


def _function(name: str, function: Callable[..., Any]) -> str:
    """Return a class whose `__call__` has an overload for each strategy, and one for a strategy of one's own."""
    what = f'class {name}(Protocol):\n    """The type of `{function.__name__}`."""\n\n'
    overloads = [_overload(function, strategy) for strategy in (*STRATEGIES, None)]
    return what + "\n".join(overloads)


def _overload(function: Callable[..., Any], strategy: str | None) -> str:
    signature = inspect.signature(function)
    parameters = [_narrowed(one, strategy) for one in signature.parameters.values() if _is_taken(one, strategy)]
    lines = ["    @overload", "    def __call__(", "        self,"]
    keyword_only = False
    for one in parameters:
        if one.kind is one.KEYWORD_ONLY and not keyword_only:
            lines.append("        *,")
            keyword_only = True
        lines.append(f"        {_written(one)},")
    return "\n".join([*lines, f"    ) -> {signature.return_annotation}: ...", ""])


def _is_taken(one: inspect.Parameter, strategy: str | None) -> bool:
    """Whether a strategy takes an argument: only some ask a model."""
    return one.name != "proposer" or (strategy is not None and STRATEGIES[strategy].asks_model)


def _narrowed(one: inspect.Parameter, strategy: str | None) -> inspect.Parameter:
    """Return a parameter as it is for one strategy."""
    if one.kind is one.VAR_KEYWORD:
        return one.replace(annotation=f"Unpack[{_class(strategy)}]" if strategy else "Any")
    if one.name != "strategy":
        return one
    if strategy == DEFAULT_STRATEGY:
        return one.replace(annotation=f'Literal["{strategy}"] | None')
    annotation = f'Literal["{strategy}"]' if strategy else "StrategyLike"
    return one.replace(annotation=annotation, default=one.empty)


def _written(one: inspect.Parameter) -> str:
    stars = "**" if one.kind is one.VAR_KEYWORD else ""
    text = f"{stars}{one.name}: {one.annotation}"
    return text if one.default is one.empty else f"{text} = {_literal(one.default)}"


def _literal(value: Any) -> str:
    """Return a value as it is written here, in double quotes."""
    return repr(value).replace("'", '"')


if __name__ == "__main__":
    MODULE.write_text(module_now(), encoding="utf-8")
