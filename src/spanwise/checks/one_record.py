"""The laws that can be checked on one record alone."""

from __future__ import annotations

import html
import re
from itertools import pairwise
from typing import Any, Final

from spanwise.checks.findings import Fault, Faults, Record, missing_names, shortened
from spanwise.chunking.pieces import ROLES
from spanwise.documents.document import CHUNK_TYPES
from spanwise.options import SMALLEST_LIMIT
from spanwise.records.ids import chunk_id, owner_of, sha256
from spanwise.records.record import TAGS, is_parent, is_path_line, prefix_of
from spanwise.text.tokens import FullTokenizer

_NULL: Final = type(None)
_NUMBERS: Final = ("chunk_index", "char_start", "char_end", "block_start_idx", "block_end_idx", "token_count")
_TEXTS: Final = (
    "chunk_id", "content_id", "content_hash", "document_id", "strategy", "chunk_type", "normalized_text", "full_text",
    "embedding_text",
)  # fmt: skip
_TEXTS_OR_NULL: Final = ("tenant_id", "section_type", "block_id", "prev_chunk_id", "next_chunk_id", "parent_id")
_INDICES: Final = ("block_indices", "core_block_indices", "overlap_prev_block_indices", "overlap_next_block_indices")
_KINDS: Final[dict[str, tuple[type, ...]]] = {
    **dict.fromkeys(_NUMBERS, (int,)),
    **dict.fromkeys(_TEXTS, (str,)),
    **dict.fromkeys(_TEXTS_OR_NULL, (str, _NULL)),
    **dict.fromkeys((*_INDICES, "headings_path", "pieces"), (list,)),
    **dict.fromkeys(("page_start", "page_end"), (int, _NULL)),
    **dict.fromkeys(("oversize", "context_dropped"), (bool,)),
    **dict.fromkeys(("navigation", "metadata"), (dict,)),
    "tokenizer": (str,),
    "max_tokens": (int, _NULL),
    "plain_text": (str,),
}
_LATER: Final = frozenset({"tokenizer", "max_tokens", "plain_text"})  # fields that records of 0.1 don't have
_PIECE_KINDS: Final = {"start": int, "end": int, "role": str, "joiner": str}
_ORDER: Final = {"overlap_prev": 0, "context": 1, "core": 1, "overlap_next": 2}
_FIGURE: Final = re.compile(r"<figure[\s/>].*</figure\s*>", re.IGNORECASE | re.DOTALL)  # alone, in whatever block


def missing_fields(record: Record) -> list[str]:
    """Return the names of the fields that a record lacks."""
    return [name for name in _KINDS if name not in record and name not in _LATER]


def shape_faults(record: Record) -> Faults:
    """Yield fields that are missing or of the wrong type; such a record can't be checked further."""
    if missing := missing_fields(record):
        yield "record", missing_names(missing)
    for name, kinds in _KINDS.items():
        if name in record and type(record[name]) not in kinds:
            wanted = " or ".join("null" if kind is _NULL else kind.__name__ for kind in kinds)
            yield "record", f"{name} is {type(record[name]).__name__}, not {wanted}"
    for name in (*_INDICES, "headings_path"):
        inner = str if name == "headings_path" else int
        if any(type(item) is not inner for item in _listed(record, name)):
            yield "record", f"{name} holds something else than {inner.__name__}"
    for piece in _listed(record, "pieces"):
        if not isinstance(piece, dict) or any(type(piece.get(name)) is not kind for name, kind in _PIECE_KINDS.items()):
            yield "record", f"a piece is not start, end, role and joiner: {shortened(str(piece), 80)}"


def _listed(record: Record, name: str) -> list[Any]:
    value = record.get(name)
    return value if isinstance(value, list) else []


def record_faults(record: Record, tokenizer: FullTokenizer, limit: int | None) -> Faults:
    """Check texts, size, ids and block indices of one record."""
    if record["chunk_type"] not in CHUNK_TYPES:
        yield "record", f"chunk_type is not a known type: {shortened(record['chunk_type'])}"
    if not any(piece_faults(record)):
        yield from _text_faults(record)
    yield from plain_faults(record.get("plain_text", ""), record["normalized_text"])
    yield from _trim_faults(record, record["normalized_text"])
    yield from _size_faults(record, tokenizer, limit)
    yield from _id_faults(record)
    yield from _index_faults(record)


def plain_faults(plain: str, text: str, name: str = "plain_text", other: str = "the core doesn't have") -> Faults:
    """Check that a plain text is another one with characters taken out; references and `<br>` may be put in."""
    if "&" in text or "<" in text:
        text, plain = html.unescape(text), "".join(html.unescape(plain).split())
    rest = iter(text)
    if lost := next((character for character in plain if character not in rest), None):
        yield "provenance", f"{name} has a character that {other} there: {lost!r}"


def piece_faults(record: Record) -> Faults:
    """Check the pieces of one record; if they are wrong, texts can't be compared with them."""
    pieces = record["pieces"]
    core = [piece for piece in pieces if piece["role"] == "core"]
    for index, piece in enumerate(pieces):
        if not 0 <= piece["start"] < piece["end"]:
            yield "provenance", f"piece {index} is no range: [{piece['start']}:{piece['end']}]"
        if piece["role"] not in ROLES:
            yield "provenance", f"piece {index} has an unknown role: {shortened(piece['role'])}"
        if piece["joiner"].strip() or (not index and piece["joiner"]):
            yield "provenance", f"the joiner before piece {index} is not white space: {shortened(piece['joiner'])}"
    if not core:
        yield "trimmed", "there is no core"
        return
    stated, found = (record["char_start"], record["char_end"]), (core[0]["start"], core[-1]["end"])
    if stated != found:
        yield "provenance", f"char_start and char_end are {stated}, but the core is {found}"
    if any(after["start"] < before["end"] for before, after in pairwise(core)):
        yield "twice", "the core's own pieces overlap or don't ascend"
    order = [_ORDER.get(piece["role"], 1) for piece in pieces]
    if order != sorted(order):
        yield "provenance", "overlap stands on the wrong side of the core"


def _text_faults(record: Record) -> Faults:
    """Check that each text is its pieces and joiners, as far as lengths and joiners show without the source."""
    full, core_texts, reached = record["full_text"], list[str](), 0
    for index, piece in enumerate(record["pieces"]):
        joiner = piece["joiner"] if index else ""
        end = reached + len(joiner) + piece["end"] - piece["start"]
        if not full.startswith(joiner, reached) or end > len(full):
            yield "provenance", f"full_text is not its pieces: piece {index} doesn't fit at character {reached}"
            return
        if piece["role"] == "core":
            core_texts.append(full[reached if core_texts else reached + len(joiner) : end])
        reached = end
    if reached != len(full):
        yield "provenance", f"full_text has {len(full)} characters, its pieces have {reached}"
    if record["normalized_text"] != "".join(core_texts):
        yield "provenance", f"normalized_text is not the core: {shortened(record['normalized_text'])}"
    prefix = prefix_of(record)
    embedded = record["embedding_text"][len(prefix) :]
    if embedded != full:
        yield from plain_faults(embedded, full, "embedding_text", "full_text doesn't have")
    if fault := _prefix_fault(record, prefix):
        yield fault


def _trim_faults(record: Record, core: str) -> Faults:
    stripped = core.strip()
    if not stripped:
        yield "trimmed", "the core is empty"
    elif core.rstrip() != core or (core != stripped and not _is_indented(record, core)):
        yield "trimmed", f"the core has white space at its ends: {shortened(core[:20])} to {shortened(core[-20:])}"


def _is_indented(record: Record, core: str) -> bool:
    """Whether the white space before the core's first word may be the indentation of code."""
    never = {"paragraph", "table", "quote", "heading"}
    return record["chunk_type"] not in never and "\n" not in core[: len(core) - len(core.lstrip())]


def _prefix_fault(record: Record, prefix: str) -> Fault | None:
    """Check that a template's prefix has nothing but the title and headings, or their beginnings."""
    if not prefix:
        return None
    if (tags := TAGS.match(prefix)) and tags[0] == prefix:
        title = " ".join((record["metadata"].get("title") or "").split())
        path = [" ".join(name.split()) for name in record["headings_path"]]
        stated_title, section = tags["page"] or "", tags["section"] or ""
        fits = title.startswith(stated_title.removesuffix("…").rstrip()) and _is_tail(section, path)
        if fits:
            return None
        return "provenance", f"the tags say something else than title and headings: {shortened(prefix, 80)}"
    if prefix.find("\n") == len(prefix) - 1 and is_path_line(prefix, record):
        return None
    return "provenance", f"embedding_text begins with something that no template writes: {shortened(prefix, 80)}"


def _is_tail(section: str, path: list[str]) -> bool:
    """Whether a section line is the end of the path; a heading that is too long may be shortened."""
    if not section:
        return True
    tails = (" > ".join(path[index:]) for index in range(len(path)))
    return any(tail == section or tail.startswith(section.removesuffix("…").rstrip()) for tail in tails)


def _size_faults(record: Record, tokenizer: FullTokenizer, limit: int | None) -> Faults:
    count, stated = tokenizer.count(record["embedding_text"]), record["token_count"]
    source = prefix_of(record) + record["full_text"]
    if count != stated:
        yield "count", f"token_count is {stated}, but embedding_text has {count} tokens ({tokenizer.name})"
    if (own := record.get("max_tokens")) is not None and own < SMALLEST_LIMIT:
        yield "limit", f"max_tokens is {own}, and no limit is below {SMALLEST_LIMIT}"
    most = count if source == record["embedding_text"] else max(count, tokenizer.count(source))
    over = limit is not None and most > limit
    figure = record["chunk_type"] == "figure" or _FIGURE.fullmatch(record["normalized_text"]) is not None
    if over and not (record["oversize"] and figure):
        yield "limit", f"{most} tokens are over the limit of {limit}" + (", and it is no figure" if not figure else "")
    if record["oversize"] and not over and limit is not None:
        yield "limit", f"oversize is said, but {most} tokens are within the limit of {limit}"


def _id_faults(record: Record) -> Faults:
    location = (record[name] for name in ("block_start_idx", "block_end_idx", "char_start", "char_end"))
    if record["chunk_id"] != chunk_id(owner_of(record["document_id"], parent=is_parent(record)), *location):
        owner = "parent, " if is_parent(record) else ""
        yield "identity", f"chunk_id is not the hash of {owner}document, blocks and range"
    if record["content_hash"] != sha256(record["embedding_text"]):
        yield "identity", "content_hash is not the hash of embedding_text"
    metadata = record["metadata"]
    for name in ("document_id", "tenant_id"):
        if name in metadata and metadata[name] != record[name]:
            yield "identity", f"{name} is {shortened(str(record[name]))}, in metadata {shortened(str(metadata[name]))}"


def _index_faults(record: Record) -> Faults:
    core, before, after = (record[name] for name in _INDICES[1:])
    if not core or core != sorted(set(core)):
        yield "place", f"core_block_indices are not numbers that ascend: {shortened(str(core))}"
    elif [record["block_start_idx"], record["block_end_idx"]] != [core[0], core[-1]]:
        yield "place", "block_start_idx and block_end_idx are not the first and last core block"
    if record["block_indices"] != sorted({*core, *before, *after}):
        yield "place", "block_indices are not the union of core and overlap"
    roles = {piece["role"] for piece in record["pieces"]}
    for role, indices in (("overlap_prev", before), ("overlap_next", after)):
        if bool(indices) != (role in roles):
            yield "place", f"{role}_block_indices and the pieces don't agree"
    length = record["navigation"].get("text_length")
    if length != len(record["normalized_text"]):
        yield "place", f"navigation.text_length is {length}, normalized_text has {len(record['normalized_text'])}"
    first, last = pages = (record["page_start"], record["page_end"])
    if (first is None) != (last is None) or (first is not None and first > last):
        yield "place", f"page_start and page_end are {pages}"
