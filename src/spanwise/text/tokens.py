"""Tokenizers, and the TokenMap that converts between characters and tokens.

A document is encoded once. The ends of its tokens are one array of character positions, so the token count of any span
is a subtraction. Byte-pair encoding looks across a cut, so a subtraction may be off by two or three: the map guides
chunking, and one exact count of each finished chunk decides.
"""

from __future__ import annotations

import hashlib
import os
import re
from array import array
from bisect import bisect_right
from collections.abc import Callable, Sequence
from functools import cache, lru_cache
from itertools import accumulate, islice, pairwise
from operator import gt
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Protocol

from spanwise import plugins
from spanwise.errors import MissingExtraError, OptionError, UnreadableError, did_you_mean
from spanwise.native import (
    FARTHEST,
    LARGEST,
    NEARBY,
    SEAM,
    ended_at,
    ended_at_each,
    ended_at_edges,
    exact_tokens,
    plans_at_sight,
    settled_alone,
    token_ends,
    tokens_between,
)
from spanwise.native import NEAR as NEAR  # re-exported for users of the map
from spanwise.text.model_names import MODEL_NAMES, encoding_of
from spanwise.text.plugin_tokenizer import PluginTokenizer

if TYPE_CHECKING:
    import numpy

    from spanwise.native.sections import Plan, Prefixes, Section, SectionSizes
    from spanwise.native.settled import Chunk, Rules

_WINDOW: Final = 1 << 16
_SHORT: Final = 16  # characters; counts of strings up to this length are cached
_MOST_CACHED: Final = 4096
_CONTINUING: Final = bytes(range(0x80, 0xC0))
_KIND: Final = "tokenizers"


class Tokenizer(Protocol):
    """What an object must have to be given as `tokenizer`.

    It may also have `added`, the number of special tokens that the embedder puts around every text: `count` includes
    them, `ends` doesn't. And `seam`, a pattern after each match of which a token begins whatever the surrounding text:
    with it most exact counts need no encoding.
    """

    @property
    def name(self) -> str:
        """The name used in errors and records; the same on any machine."""

    def count(self, text: str) -> int:
        """Return the exact number of tokens that an embedder would see."""

    def ends(self, text: str) -> Sequence[int]:
        """Return the character position where each token ends, ascending; inside a character counts as after it."""


class FullTokenizer(Tokenizer, Protocol):
    """A tokenizer with everything that a `TokenMap` needs; `tokenizer_of` returns one."""

    @property
    def added(self) -> int:
        """The number of special tokens the embedder puts around every text."""

    @property
    def seam(self) -> re.Pattern[str] | None:
        """A pattern for the positions where a token always begins, or None."""


class TokenMap:
    """The character positions where the tokens of one text end, computed in one pass."""

    __slots__ = ("_ends", "_known", "_last_seam", "_other", "_torn", "text", "tokenizer")

    def __init__(self, text: str, tokenizer: FullTokenizer) -> None:
        """Encode the text.

        Raise UnreadableError if it is too long for positions of 32 bits, OptionError for a tokenizer with wrong ends.
        """
        if len(text) > LARGEST:
            rule = f"must have at most {LARGEST:,} characters"
            raise UnreadableError("text", rule, value=len(text), hint="divide it into several documents")
        self.text = text
        self.tokenizer = tokenizer
        self._other: TokenMap | None = None
        self._torn: list[int] = []  # positions where a text without seams had to be cut for encoding
        # cached counts of short strings; only for encodings whose seams the C code knows as well
        self._known = tokenizer.known if isinstance(tokenizer, OpenAITokenizer) else None
        self._last_seam = _last(tokenizer.seam) if tokenizer.seam else None
        self._ends = _ends_from(tokenizer, text, 0) if len(text) <= _WINDOW else self._in_windows()

    def _in_windows(self) -> array[int]:
        """Encode a long text in windows cut at seams: less memory, and a word of a megabyte takes linear time."""
        text, ends, start = self.text, array("i"), 0
        if self._last_seam is None:
            return _ends_from(self.tokenizer, text, 0)
        while start < len(text):
            end = min(start + _WINDOW, len(text))
            if end < len(text):
                found = self._last_seam.match(text, max(start, end - 2048), end)
                if found and found.end() > start:
                    end = found.end()
                else:
                    self._torn.append(end)
            ends += _ends_from(self.tokenizer, text[start:end], start)
            start = end
        return ends

    def of(self, text: str) -> TokenMap:
        """Return the map of another text by the same tokenizer; the last one is kept."""
        if text == self.text:
            return self
        if self._other is None or self._other.text is not text:
            self._other = TokenMap(text, self.tokenizer)
        return self._other

    def plan_at_sight(
        self,
        blocks: Sequence[Any],
        span: tuple[int, int],
        sizes: SectionSizes,
        prefixes: Prefixes | None,
        shape: Callable[..., Plan],
    ) -> list[Plan | Section]:
        """Plan the sections of a range of blocks from the map alone; return those it can't decide as they are."""
        return plans_at_sight(blocks, *span, self._ends, sizes, prefixes, shape)

    def at(self, position: int) -> int:
        """Return the number of tokens that have ended at a character position."""
        return ended_at(self._ends, position)

    def at_each(self, positions: Sequence[int]) -> list[int]:
        """Return `at` of many positions in one call."""
        return ended_at_each(self._ends, positions if isinstance(positions, list) else list(positions))

    def at_edges(self, ranges: Sequence[tuple[int, int]]) -> tuple[list[int], list[int]]:
        """Return `at` of the starts and of the ends of many ranges."""
        return ended_at_edges(self._ends, ranges if isinstance(ranges, list) else list(ranges))

    def count(self, start: int, end: int) -> int:
        """Count the tokens of a span by subtraction: fast, and off by at most `NEAR`."""
        return tokens_between(self._ends, start, end)

    def reach(self, start: int, tokens: int) -> int:
        """Return the last character position that at most `tokens` tokens from `start` reach."""
        ends = self._ends
        last = ended_at(ends, start) + tokens
        if last >= len(ends):
            return len(self.text)
        if last == 0:
            return start
        position = ends[last - 1]
        # a token that ends inside a character is not enough for that character
        return max(start, position - 1 if ends[last] == position else position)

    def back(self, end: int, tokens: int) -> int:
        """Return the first character position from which at most `tokens` tokens reach `end`."""
        left = ended_at(self._ends, end) - tokens
        return self._ends[left - 1] if left > 0 else 0

    def exact(self, start: int, end: int, joiner: str = "") -> int:
        """Count a span, and a joiner after it, exactly and without the tokens that the embedder adds.

        Between two seams the map is exact already, so only the edges are encoded.
        """
        torn = self._torn and self._is_torn(start, end)
        if self._known is not None and not torn:
            found = exact_tokens(self.text, self._ends, self._known, start, end, joiner)
            if found >= 0:
                return found
        text, tokenizer, seam = self.text, self.tokenizer, self.tokenizer.seam
        if seam is None or self._last_seam is None or torn:
            return tokenizer.count(text[start:end] + joiner) - tokenizer.added
        at_seam = start == 0 or seam.match(text, start - 1)
        head = None if at_seam else seam.search(text, start, min(start + NEARBY, end))
        tail = self._last_seam.match(text, max(start, end - NEARBY), end)
        if tail is None or not (at_seam or head):
            return tokenizer.count(text[start:end] + joiner) - tokenizer.added
        first, last = head.end() if head else start, tail.end()
        inner = self.count(first, last) + tokenizer.count(text[last:end] + joiner) - tokenizer.added
        return inner if at_seam else inner + tokenizer.count(text[start:first]) - tokenizer.added

    def begins_after(self, before: str, position: int) -> bool:
        """Whether a token always begins at a position if another text stands before it."""
        seam = self.tokenizer.seam
        return seam is not None and seam.match(before[-1] + self.text[position : position + FARTHEST]) is not None

    def exact_sum(self, ranges: Sequence[tuple[int, int]], joiners: Sequence[str]) -> int | None:
        """Count joined ranges exactly; None where a token might cross a joint.

        None can where the tokenizer has seams, the joiner ends a line and the next range begins with visible text.
        """
        if self.tokenizer.seam is None:
            return None
        total = 0
        for (start, end), joiner, after in zip(ranges, (*joiners[1:], ""), (*ranges[1:], None), strict=True):
            if after and (not joiner or not self.begins_after(joiner, after[0])):
                return None
            total += self.exact(start, end, joiner)
        return total

    def settle_alone(
        self, blocks: tuple[Any, ...], plans: list[Any], rules: Rules, shape: Callable[..., Chunk]
    ) -> list[Chunk | None]:
        """Return a chunk for each core that needs no further work, None for each that does."""
        if self._known is None or self._torn:  # tokenizers with known counts add no special tokens
            return [None] * len(plans)
        return settled_alone(self.text, self._ends, self._known, blocks, plans, rules, shape)

    @property
    def ends(self) -> array[int] | None:
        """The positions where tokens end; None where subtractions between seams aren't always exact."""
        return None if self._known is None or self._torn else self._ends

    def _is_torn(self, start: int, end: int) -> bool:
        return bisect_right(self._torn, end) > bisect_right(self._torn, start)

    def fits(self, start: int, end: int, limit: int) -> bool:
        """Whether a span holds at most `limit` tokens; counted exactly where the subtraction can't decide."""
        guess = self.count(start, end)
        if guess + NEAR <= limit:
            return True
        return guess - NEAR <= limit and self.exact(start, end) <= limit


def counted_lines(lines: Sequence[str], tokenizer: FullTokenizer) -> list[int]:
    """Count the tokens of each of some lines that end with a line end; none where one must be counted by itself."""
    seam, text = tokenizer.seam, "".join(lines)
    firsts = {line[:1] for line in lines}  # without spaces, because what follows these matters too
    if seam is None or not all(first.strip() and seam.match("\n" + first) for first in firsts):
        return []
    tokens = TokenMap(text, tokenizer)
    if tokens.ends is None or text.count("\n") > len(lines):
        return []
    found = tokens.at_each([0, *accumulate(map(len, lines))])
    return [after - before for before, after in pairwise(found)]


class OpenAITokenizer:
    """`cl100k` and `o200k`, from the vocabularies in splintr's wheel; special strings count as plain text."""

    __slots__ = ("_begun", "_splintr", "known", "name")

    added: Final = 0
    seam: Final = SEAM

    def __init__(self, name: str, vocabulary: str, size: int) -> None:
        """Load the vocabulary: about 50 ms."""
        import splintr

        self.name = name
        self._splintr = splintr.Tokenizer.from_pretrained(vocabulary)
        self.known: dict[str, int] = {}
        bytes_of = self._splintr.decode_token_bytes
        # the number of characters that begin in each token: continuation bytes of UTF-8 begin none
        self._begun = array("B", [len(bytes_of(token).translate(None, _CONTINUING)) for token in range(size)])

    def count(self, text: str) -> int:
        """Count the tokens; short strings are cached, because chunks end in the same few marks again and again."""
        if len(text) > _SHORT:
            return self._counted(text)
        found = self.known.get(text)
        if found is None:
            if len(self.known) >= _MOST_CACHED:
                self.known.clear()
            found = self.known[text] = self._counted(text)
        return found

    def ends(self, text: str, start: int = 0) -> array[int]:
        """Return the position after each token, in a text in which this one begins at `start`."""
        try:
            return array("i", token_ends(self._splintr.encode_flat(text), self._begun, start))
        except IndexError:  # a special string was encoded as one token, whose id is above all others
            return array("i", token_ends(self._as_text(text), self._begun, start))

    def _counted(self, text: str) -> int:
        # splintr encodes special strings as one token; all begin like this, and here they are text
        return len(self._as_text(text) if "<|" in text else self._splintr.encode_flat(text)) // 4

    def _as_text(self, text: str) -> bytes:
        return array("I", self._splintr.encode_ordinary(text)).tobytes()


class ApproximateTokenizer:
    """One token for every four characters, rounded up."""

    name: Final = "approx"
    added: Final = 0
    seam: Final = None

    def count(self, text: str) -> int:
        """Count as ceil(characters / 4)."""
        return -(-len(text) // 4)

    def ends(self, text: str) -> array[int]:
        """Return every fourth position, and the last."""
        ends = array("i", range(4, len(text) + 1, 4))
        if len(text) % 4:
            ends.append(len(text))
        return ends


class WordTokenizer:
    """One token for every word, separated by white space."""

    name: Final = "words"
    added: Final = 0
    seam: Final = None
    _word: Final = re.compile(r"\S+")

    def count(self, text: str) -> int:
        """Count the words."""
        return len(text.split())

    def ends(self, text: str) -> array[int]:
        """Return the position after each word."""
        return array("i", [found.end() for found in self._word.finditer(text)])


class HuggingFaceTokenizer:
    """A local `tokenizer.json`; the special tokens that its post-processor adds are counted."""

    __slots__ = ("_tokenizer", "added", "name")

    seam: Final = None

    def __init__(self, path: Path) -> None:
        """Load the file; truncation and padding that it may set are switched off."""
        try:
            import tokenizers
        except ImportError as error:
            hint = 'pip install "spanwise[huggingface]"'
            raise MissingExtraError("tokenizers", "is needed for a tokenizer.json", hint=hint) from error
        try:
            tokenizer = tokenizers.Tokenizer.from_file(str(path))
        except Exception as error:  # the Rust code raises plain Exception, whatever is wrong with the file
            rule = f"is not a Hugging Face tokenizer.json ({error})"
            raise OptionError("tokenizer", rule, value=str(path)) from error
        tokenizer.no_truncation()
        tokenizer.no_padding()
        self._tokenizer: Any = tokenizer
        self.name = file_name(path)
        self.added: int = tokenizer.num_special_tokens_to_add(False)

    def count(self, text: str) -> int:
        """Count the tokens, including the special ones."""
        return len(self._tokenizer.encode(text).ids)

    def ends(self, text: str) -> array[int]:
        """Return the position after each token; a normalizer may reorder, so the ends are made to ascend."""
        import numpy

        offsets = self._tokenizer.encode(text, add_special_tokens=False).offsets
        ends = numpy.fromiter((end for _, end in offsets), numpy.int32, len(offsets))
        return _as_array(numpy.maximum.accumulate(ends) if len(ends) else ends)


def file_name(path: Path) -> str:
    """Return the name of a tokenizer's file in records: the same wherever the file is, another if its bytes differ."""
    return f"{path.name}@{hashlib.sha256(path.read_bytes()).hexdigest()[:12]}"


@cache
def _last(seam: re.Pattern[str]) -> re.Pattern[str]:
    """Return a pattern that matches a string up to its last seam."""
    return re.compile(f"(?s:.*)(?:{seam.pattern})")


def _ends_from(tokenizer: FullTokenizer, text: str, start: int) -> array[int]:
    """Return where the tokens of a window end, as 32-bit positions in the whole text."""
    if isinstance(tokenizer, OpenAITokenizer):
        return tokenizer.ends(text, start)
    ends = _checked(tokenizer, text)
    if start == 0:
        return ends
    import numpy

    return _as_array(numpy.asarray(ends) + start)


def _checked(tokenizer: Tokenizer, text: str) -> array[int]:
    """Return the ends of the tokens of a text; raise OptionError unless they ascend in it, which every search needs."""
    ends = tokenizer.ends(text)
    try:
        found = ends if isinstance(ends, array) and ends.typecode == "i" else array("i", ends)
    except (TypeError, OverflowError) as error:
        rule = "must have an `ends` that returns integers of 32 bits"
        raise OptionError("tokenizer", rule, value=tokenizer.name) from error
    if found and (found[0] < 0 or found[-1] > len(text) or any(map(gt, found, islice(found, 1, None)))):
        rule = f"must have an `ends` that returns ascending positions in the text, from 0 to {len(text)}"
        raise OptionError("tokenizer", rule, value=tokenizer.name)
    return found


def _as_array(values: numpy.ndarray[Any, Any]) -> array[int]:
    ends = array("i")
    ends.frombytes(values.astype("int32", copy=False).tobytes())
    return ends


@cache
def _openai(name: str) -> OpenAITokenizer:
    vocabulary, size = {"cl100k": ("cl100k_base", 100256), "o200k": ("o200k_base", 199998)}[name]
    return OpenAITokenizer(name, vocabulary, size)


@lru_cache(maxsize=8)
def _hugging_face(path: Path, _modified: int, _size: int) -> HuggingFaceTokenizer:
    return HuggingFaceTokenizer(path)


TOKENIZERS: Final[dict[str, Callable[[], FullTokenizer]]] = {
    "cl100k": lambda: _openai("cl100k"),
    "o200k": lambda: _openai("o200k"),
    "approx": ApproximateTokenizer,
    "words": WordTokenizer,
}


_OWN: Final = (OpenAITokenizer, ApproximateTokenizer, WordTokenizer, HuggingFaceTokenizer, PluginTokenizer)


def built_in(name: object) -> str | None:
    """Return which tokenizer of the table a name stands for, be it that of a model; None if it stands for none."""
    return None if not isinstance(name, str) else name if name in TOKENIZERS else encoding_of(name)


def tokenizer_of(wanted: str | os.PathLike[str] | Tokenizer) -> FullTokenizer:
    """Return the tokenizer of a name or of the path of a file, or an object as one."""
    if name := built_in(wanted):
        return TOKENIZERS[name]()
    if isinstance(wanted, str) and is_plugin(wanted):
        return plugins.made(_KIND, wanted, lambda make, who: PluginTokenizer(make(), who, wanted))
    if isinstance(wanted, str | os.PathLike):
        path = Path(wanted)
        try:
            found = path.stat() if path.is_file() else None
        except (OSError, ValueError):  # not a valid file name
            found = None
        if found:
            return _hugging_face(path, found.st_mtime_ns, found.st_size)
        hint = _names_hint(str(wanted))
        raise OptionError("tokenizer", "is neither a known name nor a file", value=str(wanted), hint=hint)
    if isinstance(wanted, _OWN):
        return wanted
    for name in ("name", "count", "ends"):
        if not hasattr(wanted, name):
            rule = f"must be a name, a path, or an object with `{name}` (see spanwise.Tokenizer)"
            raise OptionError("tokenizer", rule, value=wanted)
    return PluginTokenizer(wanted, f"tokenizer {wanted.name}", wanted.name)


def is_plugin(name: str) -> bool:
    """Whether a name that isn't built in is that of a plug-in; a path is none."""
    return os.sep not in name and name in plugins.names(_KIND)


def _names_hint(wanted: str) -> str:
    """Return the nearest name, those of models among them, else what there is."""
    models = [name.rstrip("-*") for names in MODEL_NAMES.values() for name in names]
    own = [*TOKENIZERS, *plugins.names(_KIND)]
    near = did_you_mean(wanted, [*own, *models])
    if not near.startswith("did you mean"):
        near = f"known: {', '.join(own)}, and OpenAI's models such as gpt-4o"
    return f"{near} (or give the path of a tokenizer.json)"
