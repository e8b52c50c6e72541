"""Records as tables: one Arrow schema for data frames and Parquet files, and records made from a table again."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from importlib import import_module
from itertools import islice
from typing import TYPE_CHECKING, Any, Final

from spanwise.errors import MissingExtraError, OptionError, UnreadableError
from spanwise.records.record import FIELDS, offset_names

if TYPE_CHECKING:
    import pandas
    import polars
    import pyarrow

SCHEMA_KEY: Final = b"spanwise.schema"
SCHEMA_VERSION: Final = "1"
"""The version of the columns of Spanwise's own records; any change to them raises it."""
BATCH_ROWS: Final = 4096

Shape = str | list[Any] | dict[str, Any]
_PIECE: Final = {"start": "number", "end": "number", "role": "text", "joiner": "text"}
_LINK: Final = {"target": "text", "text": "text", "heading": "text", "block_id": "text"}
_NAVIGATION: Final = {
    "url": "text", "xpath_start": "text", "css_selector_start": "text", "text_offset_start": "number",
    "text_length": "number",
    "highlight_metadata": {"text_fragment": "text", "block_type": "text", "text_offset": "number"},
}  # fmt: skip
_DOCUMENT: Final[dict[str, Shape]] = {
    "document_id": "text", "tenant_id": "text", "source_type": "text", "source_url": "text", "file_path": "text",
    "title": "text", "author": "text", "updated_at": "text", "labels": ["text"], "space_key": "text",
    "page_id": "text", "page_version": "number", "language": "text", "links": [_LINK], "extra": "text",
}  # fmt: skip
SHAPES: Final[dict[str, Shape]] = {
    **dict.fromkeys((
        "chunk_index", "char_start", "char_end", "block_start_idx", "block_end_idx", "page_start", "page_end",
        "token_count", "max_tokens", "utf8_start", "utf8_end", "utf16_start", "utf16_end",
    ), "number"),
    **{
        name: ["number"]
        for name in ("block_indices", "core_block_indices", "overlap_prev_block_indices", "overlap_next_block_indices")
    },
    "headings_path": ["text"], "oversize": "flag", "context_dropped": "flag", "pieces": [_PIECE],
    "navigation": _NAVIGATION, "metadata": _DOCUMENT, "links": [_LINK],
}  # fmt: skip
"""What a field holds: a list of one shape is a list of such values, a dict an object; one that isn't here is text.

`extra` is an object of any shape in a record, and JSON in a table: Parquet has neither empty objects nor values whose
type differs from row to row.
"""


def record_schema(offsets: Sequence[str] = (), fields: Sequence[str] | None = None) -> pyarrow.Schema:
    """Return the columns of Spanwise's own records: with ranges in other units as well, or some fields alone."""
    more = offset_names(offsets)
    shapes = SHAPES | {"pieces": [_PIECE | dict.fromkeys(more, "number")]}
    schema = schema_from(shapes, (*FIELDS, *more) if fields is None else fields)
    return schema.with_metadata({SCHEMA_KEY: SCHEMA_VERSION})


def schema_from(shapes: Mapping[str, Shape], names: Iterable[str]) -> pyarrow.Schema:
    """Return a schema with these columns, in order."""
    pyarrow = needed("pyarrow", "tables and Parquet files", "parquet")
    return pyarrow.schema([(name, _type(shapes.get(name, "text"))) for name in names])


def table_of(records: Iterable[Mapping[str, Any]], schema: pyarrow.Schema) -> pyarrow.Table:
    """Return records as a table."""
    import pyarrow

    return pyarrow.Table.from_batches(batches_of(records, schema), schema)


def batches_of(records: Iterable[Mapping[str, Any]], schema: pyarrow.Schema) -> Iterator[pyarrow.RecordBatch]:
    """Yield records as batches of rows; raise UnreadableError where metadata can't be held by a column."""
    import pyarrow

    rows = map(_row, records)
    while batch := list(islice(rows, BATCH_ROWS)):
        try:
            yield pyarrow.RecordBatch.from_pylist(batch, schema)
        except (OverflowError, UnicodeEncodeError, pyarrow.ArrowException) as error:
            raise UnreadableError("metadata", f"can't be held by a table ({error})") from error


def frame_of(table: pyarrow.Table) -> pandas.DataFrame:
    """Return a table as a pandas frame whose types are the same for all chunks: integers may be missing."""
    import pyarrow

    pandas = needed("pandas", "to_pandas()", "pandas")
    return table.to_pandas(types_mapper={pyarrow.int64(): pandas.Int64Dtype()}.get)


def polars_frame_of(table: pyarrow.Table) -> polars.DataFrame:
    """Return a table as a polars frame."""
    frame: polars.DataFrame = needed("polars", "to_polars()", "polars").from_arrow(table)
    return frame


def records_from_arrow(table: Any) -> list[dict[str, Any]]:
    """Return the records of an Arrow table, or of a frame of pandas or polars: what `to_dict()` of each chunk gave.

    Columns of your own stay in the records; an index that pandas keeps as a column is left out.
    """
    pyarrow = needed("pyarrow", "tables and Parquet files", "parquet")
    if not hasattr(table, "__arrow_c_stream__"):
        hint = "give what to_arrow(), to_pandas() or to_polars() returned, or what a Parquet file was read into"
        raise OptionError("table", "must be an Arrow table or a data frame", value=type(table).__name__, hint=hint)
    return records_in_rows(pyarrow.table(table))


def records_in_rows(rows: pyarrow.Table | pyarrow.RecordBatch) -> list[dict[str, Any]]:
    """Return the records of a table or batch of rows."""
    from pyarrow.types import is_floating

    fields = list(rows.schema)
    kept = [field.name for field in fields if not field.name.startswith("__index_level_")]
    # pandas reads a column of integers in which some are missing as floats
    floats = [field.name for field in fields if is_floating(field.type) and SHAPES.get(field.name) == "number"]
    return [_record(row, floats) for row in rows.select(kept).to_pylist()]


def needed(module: str, purpose: str, extra: str) -> Any:
    """Return a module; raise MissingExtraError, naming the extra that has it, if it isn't installed."""
    try:
        return import_module(module)
    except ImportError as error:
        name, hint = module.partition(".")[0], f'pip install "spanwise[{extra}]"'
        raise MissingExtraError(name, f"is needed for {purpose}", hint=hint) from error


def _row(record: Mapping[str, Any]) -> dict[str, Any]:
    metadata = record.get("metadata")
    if metadata is None or "extra" not in metadata:
        return {**record}
    return {**record, "metadata": metadata | {"extra": json.dumps(metadata["extra"], ensure_ascii=False)}}


def _record(row: dict[str, Any], floats: Sequence[str]) -> dict[str, Any]:
    for name in floats:
        value = row[name]
        row[name] = int(value) if value is not None and value.is_integer() else None if value != value else value
    metadata = row.get("metadata")
    if isinstance(metadata, dict):
        if isinstance(metadata.get("extra"), str):
            metadata["extra"] = json.loads(metadata["extra"])
        if isinstance(metadata.get("links"), list):
            metadata["links"] = [_link(link) for link in metadata["links"]]
    return row


def _link(link: dict[str, Any]) -> dict[str, Any]:
    """Return a link as records have it: with heading and block id only when one is known."""
    parts = ("heading", "block_id")
    known = any(link.get(name) is not None for name in parts)
    return link if known else {name: value for name, value in link.items() if name not in parts}


def _type(shape: Shape) -> pyarrow.DataType:
    import pyarrow

    if isinstance(shape, dict):
        return pyarrow.struct([(name, _type(inner)) for name, inner in shape.items()])
    if isinstance(shape, list):
        return pyarrow.list_(pyarrow.field("element", _type(shape[0])))  # as Parquet names it
    return {"text": pyarrow.string(), "number": pyarrow.int64(), "flag": pyarrow.bool_()}[shape]
