"""The columns of a file of records: those of Spanwise's own, or of a dialect, all or some of them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Literal

from spanwise.errors import OptionError, did_you_mean
from spanwise.records.dialects import DIALECTS, checked_measure, field_names
from spanwise.records.frames import SHAPES, record_schema, schema_from
from spanwise.records.record import FIELDS

if TYPE_CHECKING:
    import pyarrow

Texts = Literal["core", "full", "embedding", "all"]
TEXTS: Final[dict[str, tuple[str, ...]]] = {
    "core": tuple(name for name in ("normalized_text", "plain_text") if name in FIELDS),
    "full": ("full_text",),
    "embedding": ("embedding_text",),
}
"""The texts of a record by the name under which `--texts` keeps them."""
ALL_TEXTS: Final = "all"
_DIALECT_SHAPES: Final[dict[str, Any]] = {
    **dict.fromkeys((
        "token_estimate", "page_version", "text_length", "index", "chunkIndex", "startOffset", "endOffset", "page_num",
    ), "number"),
    **{name: ["text"] for name in ("labels", "full_heading_hierarchy", "text_heading_hierarchy")},
}  # fmt: skip
_FIXED_SIZE: Final = {"strategy": "text", "tokenCount": "number", "hasOverlap": "flag"}


@dataclass(frozen=True, slots=True)
class Columns:
    """What is written of each record: the fields of Spanwise's own records or of a dialect, all or some of them."""

    dialect: str | None = None
    offsets: tuple[str, ...] = ()
    fields: tuple[str, ...] | None = None
    """Those that are kept, in order; None: all."""

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the columns of a table."""
        return field_names(self.dialect, self.offsets) if self.fields is None else self.fields

    @property
    def schema(self) -> pyarrow.Schema:
        """The columns of a table with their types."""
        if self.dialect is None:
            return record_schema(self.offsets, self.fields)
        more = {"metadata": _FIXED_SIZE} if self.dialect == "fixed-size" else {}
        return schema_from(SHAPES | _DIALECT_SHAPES | more, self.names)


def columns_of(dialect: str | None, offsets: Sequence[str], fields: Iterable[str] | None, texts: str | None) -> Columns:
    """Return what is kept of each record: `fields` by their names, or all but the texts of another kind than `texts`.

    Raise OptionError for a dialect or a name that is not known, and for texts beside fields or in a dialect.
    """
    if dialect is not None and dialect not in DIALECTS:
        raise OptionError("dialect", "is not known", value=dialect, hint=did_you_mean(str(dialect), DIALECTS))
    if dialect is not None:
        checked_measure(offsets)
    known = field_names(dialect, offsets)
    if texts is not None:
        kept = _by_texts(texts, known, dialect, beside=fields is not None)
    else:
        kept = None if fields is None else _checked(fields, known, dialect)
    return Columns(dialect, tuple(offsets), kept)


def _checked(fields: Iterable[str], known: Sequence[str], dialect: str | None) -> tuple[str, ...]:
    chosen = (fields,) if isinstance(fields, str) or not isinstance(fields, Iterable) else tuple(fields)
    if not chosen:
        raise OptionError("fields", "must name at least one field", hint=f"known: {', '.join(known)}")
    for index, name in enumerate(chosen):
        if not isinstance(name, str) or name not in known:
            what = f"is not a field of the dialect {dialect}" if dialect else "is not a field"
            raise OptionError("fields", what, value=name, hint=did_you_mean(str(name), known))
        if name in chosen[:index]:
            raise OptionError("fields", "must name each field once", value=name)
    return chosen


def _by_texts(texts: object, known: Sequence[str], dialect: str | None, *, beside: bool) -> tuple[str, ...] | None:
    if not isinstance(texts, str) or texts not in {*TEXTS, ALL_TEXTS}:
        hint = did_you_mean(str(texts), (*TEXTS, ALL_TEXTS))
        raise OptionError("texts", "is not a kind of text", value=texts, hint=hint)
    if dialect is not None:
        rule = f"is for Spanwise's own records: {dialect} has texts of its own"
        raise OptionError("texts", rule, value=texts, hint=f"fields may name some of {', '.join(known)}")
    if beside:
        raise OptionError("texts", "can't be given beside fields", value=texts, hint="name the texts among the fields")
    if texts == ALL_TEXTS:
        return None
    others = {name for kind, names in TEXTS.items() if kind != texts for name in names}
    return tuple(name for name in known if name not in others)
