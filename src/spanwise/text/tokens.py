"""Tokenizers and the TokenMap: the only place where characters meet tokens.

A document is encoded once. Where its tokens end becomes one array of character positions, and the length of any span
is a subtraction. Byte-pair encoding looks across a cut, so a subtraction may be off by two or three: the map steers,
and one exact count of each finished chunk decides.
"""

from __future__ import annotations

import os
import re
from array import array
from bisect import bisect_right
from collections.abc import Callable, Sequence
from functools import cache, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Protocol

from spanwise.errors import MissingExtraError, OptionError, did_you_mean
from spanwise.native import NEAR as NEAR  # what asks the map finds it here
from spanwise.native import (
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

if TYPE_CHECKING:
    import numpy

    from spanwise.native.sections import Plan, Section, SectionSizes
    from spanwise.native.settled import Chunk, Rules

_WINDOW: Final = 1 << 16
_SHORT: Final = 16  # characters; counts of strings up to this length are remembered
_REMEMBERED: Final = 4096
_CONTINUING: Final = bytes(range(0x80, 0xC0))


class Tokenizer(Protocol):
    """What Spanwise asks of a tokenizer; give any object of this shape as `tokenizer`.

    `added` is how many special tokens the embedder puts around every text; `count` holds them, `ends` doesn't.
    `seam` is None, or a pattern after each match of which a token begins whatever stands around it; with it most
    exact counts need no encoding.
    """

    @property
    def name(self) -> str:
        """What errors and records call it."""
        ...

    @property
    def added(self) -> int:
        """How many special tokens the embedder puts around every text."""
        ...

    @property
    def seam(self) -> re.Pattern[str] | None:
        """Where a token always begins, if such places are known."""
        ...

    def count(self, text: str) -> int:
        """Count exactly what an embedder would see."""
        ...

    def ends(self, text: str) -> array[int]:
        """Give for each token the character position where it ends; inside a character counts as after it."""
        ...


class TokenMap:
    """Where the tokens of one text end; made in one pass, asked many times."""

    __slots__ = ("_ends", "_known", "_last_seam", "_torn", "text", "tokenizer")

    def __init__(self, text: str, tokenizer: Tokenizer) -> None:
        """Encode the text, once."""
        self.text = text
        self.tokenizer = tokenizer
        self._torn: list[int] = []  # where a text without seams had to be cut for encoding
        # counts of short strings; only of encodings whose seams the compiled loop knows as well
        self._known = tokenizer.known if isinstance(tokenizer, OpenAITokenizer) else None
        self._last_seam = _last(tokenizer.seam) if tokenizer.seam else None
        self._ends = _ends_from(tokenizer, text, 0) if len(text) <= _WINDOW else self._in_windows()

    def _in_windows(self) -> array[int]:
        """Encode a long text seam by seam: less memory, and a word of a megabyte takes no more than its share."""
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

    def plan_at_sight(
        self, blocks: Sequence[Any], low: int, high: int, sizes: SectionSizes, shape: Callable[..., Plan]
    ) -> list[Plan | Section]:
        """Plan the sections among some blocks as far as the map shows it, and give those where it doesn't."""
        return plans_at_sight(blocks, low, high, self._ends, sizes, shape)

    def at(self, position: int) -> int:
        """How many tokens have ended at this character."""
        return ended_at(self._ends, position)

    def at_each(self, positions: Sequence[int]) -> list[int]:
        """`at` for many positions in one step."""
        return ended_at_each(self._ends, positions if isinstance(positions, list) else list(positions))

    def at_edges(self, ranges: Sequence[tuple[int, int]]) -> tuple[list[int], list[int]]:
        """`at` for the starts and the ends of many ranges."""
        return ended_at_edges(self._ends, ranges if isinstance(ranges, list) else list(ranges))

    def count(self, start: int, end: int) -> int:
        """Tokens of a span by subtraction: fast, and off by at most `NEAR`."""
        return tokens_between(self._ends, start, end)

    def reach(self, start: int, tokens: int) -> int:
        """Give the last character position to which at most `tokens` tokens lead from `start`."""
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
        """Give the first character position from which at most `tokens` tokens lead to `end`."""
        left = ended_at(self._ends, end) - tokens
        return self._ends[left - 1] if left > 0 else 0

    def exact(self, start: int, end: int, joiner: str = "") -> int:
        """Count a span, and a joiner after it, exactly and without what the embedder adds.

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

    def exact_sum(self, ranges: Sequence[tuple[int, int]], joiners: Sequence[str]) -> int | None:
        """Count ranges that are joined exactly; None where tokens might reach over a joint.

        They can't where the tokenizer has seams, the joiner ends a line and the next range begins visibly.
        """
        seam = self.tokenizer.seam
        if seam is None:
            return None
        total = 0
        for (start, end), joiner, after in zip(ranges, (*joiners[1:], ""), (*ranges[1:], None), strict=True):
            if after:
                joint = seam.match(joiner[-1:] + self.text[after[0]])
                if not joiner or not joint:
                    return None
            total += self.exact(start, end, joiner)
        return total

    def settle_alone(
        self, blocks: tuple[Any, ...], plans: list[Any], rules: Rules, shape: Callable[..., Chunk]
    ) -> list[Chunk | None]:
        """Make chunks of the cores that are some as they stand; None for each that needs a closer look."""
        if self._known is None or self._torn:  # where counts are known, nothing is added to them
            return [None] * len(plans)
        return settled_alone(self.text, self._ends, self._known, blocks, plans, rules, shape)

    def _is_torn(self, start: int, end: int) -> bool:
        return bisect_right(self._torn, end) > bisect_right(self._torn, start)

    def fits(self, start: int, end: int, limit: int) -> bool:
        """Whether a span holds at most `limit` tokens; counted exactly where the subtraction is too close to tell."""
        guess = self.count(start, end)
        if guess + NEAR <= limit:
            return True
        return guess - NEAR <= limit and self.exact(start, end) <= limit


class OpenAITokenizer:
    """`cl100k` and `o200k`, from the vocabularies in splintr's wheel; special strings are plain text."""

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
        # how many characters begin in each token: bytes that continue a character begin none
        self._begun = array("B", [len(bytes_of(token).translate(None, _CONTINUING)) for token in range(size)])

    def count(self, text: str) -> int:
        """Count the tokens; the ends of chunks are the same few marks again and again, so these are remembered."""
        if len(text) > _SHORT:
            return self._counted(text)
        found = self.known.get(text)
        if found is None:
            if len(self.known) >= _REMEMBERED:
                self.known.clear()
            found = self.known[text] = self._counted(text)
        return found

    def ends(self, text: str, start: int = 0) -> array[int]:
        """Give the character after each token, in a text of which this begins at `start`."""
        try:
            return array("i", token_ends(self._splintr.encode_flat(text), self._begun, start))
        except IndexError:  # a special string was taken for one token, and its number is above all others
            return array("i", token_ends(self._as_text(text), self._begun, start))

    def _counted(self, text: str) -> int:
        # splintr knows special strings, all of them open like this; here they are text
        return len(self._as_text(text) if "<|" in text else self._splintr.encode_flat(text)) // 4

    def _as_text(self, text: str) -> bytes:
        return array("I", self._splintr.encode_ordinary(text)).tobytes()


class ApproximateTokenizer:
    """A token for every four characters, begun ones included."""

    name: Final = "approx"
    added: Final = 0
    seam: Final = None

    def count(self, text: str) -> int:
        """Count as ceil(characters / 4)."""
        return -(-len(text) // 4)

    def ends(self, text: str) -> array[int]:
        """Give every fourth character, and the last."""
        ends = array("i", range(4, len(text) + 1, 4))
        if len(text) % 4:
            ends.append(len(text))
        return ends


class WordTokenizer:
    """A token for every word: what stands between white space."""

    name: Final = "words"
    added: Final = 0
    seam: Final = None
    _word: Final = re.compile(r"\S+")

    def count(self, text: str) -> int:
        """Count the words."""
        return len(text.split())

    def ends(self, text: str) -> array[int]:
        """Give the character after each word."""
        return array("i", [found.end() for found in self._word.finditer(text)])


class HuggingFaceTokenizer:
    """A local `tokenizer.json`; the special tokens that its post-processor adds are counted."""

    __slots__ = ("_tokenizer", "added", "name")

    seam: Final = None

    def __init__(self, path: Path) -> None:
        """Load the file; truncation and padding that it may ask for are switched off."""
        try:
            import tokenizers
        except ImportError as error:
            hint = 'pip install "spanwise[huggingface]"'
            raise MissingExtraError("tokenizers", "is needed for a tokenizer.json", hint=hint) from error
        try:
            tokenizer = tokenizers.Tokenizer.from_file(str(path))
        except Exception as error:  # the Rust side raises bare Exception, whatever is wrong with the file
            rule = f"is not a Hugging Face tokenizer.json ({error})"
            raise OptionError("tokenizer", rule, value=str(path)) from error
        tokenizer.no_truncation()
        tokenizer.no_padding()
        self._tokenizer: Any = tokenizer
        self.name = str(path)
        self.added: int = tokenizer.num_special_tokens_to_add(False)

    def count(self, text: str) -> int:
        """Count the tokens with those that are added."""
        return len(self._tokenizer.encode(text).ids)

    def ends(self, text: str) -> array[int]:
        """Give the character after each token; a normalizer may reorder, so the ends are made to ascend."""
        import numpy

        offsets = self._tokenizer.encode(text, add_special_tokens=False).offsets
        ends = numpy.fromiter((end for _, end in offsets), numpy.int32, len(offsets))
        return _as_array(numpy.maximum.accumulate(ends) if len(ends) else ends)


@cache
def _last(seam: re.Pattern[str]) -> re.Pattern[str]:
    """Give the pattern that ends at the last seam of what it is shown."""
    return re.compile(f"(?s:.*)(?:{seam.pattern})")


def _ends_from(tokenizer: Tokenizer, text: str, start: int) -> array[int]:
    """Give where the tokens of a window end, in the text that it is a window of, as 32-bit integers."""
    if isinstance(tokenizer, OpenAITokenizer):
        return tokenizer.ends(text, start)
    ends = tokenizer.ends(text)
    if start == 0:
        return ends if isinstance(ends, array) and ends.typecode == "i" else array("i", ends)
    import numpy

    return _as_array(numpy.asarray(ends) + start)


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


TOKENIZERS: Final[dict[str, Callable[[], Tokenizer]]] = {
    "cl100k": lambda: _openai("cl100k"),
    "o200k": lambda: _openai("o200k"),
    "approx": ApproximateTokenizer,
    "words": WordTokenizer,
}


def tokenizer_of(wanted: str | os.PathLike[str] | Tokenizer) -> Tokenizer:
    """Find a tokenizer by its name or the path of its file; an object of the right shape is taken as it is."""
    if isinstance(wanted, str) and wanted in TOKENIZERS:
        return TOKENIZERS[wanted]()
    if isinstance(wanted, str | os.PathLike):
        path = Path(wanted)
        try:
            found = path.stat() if path.is_file() else None
        except (OSError, ValueError):  # no name that a file could have
            found = None
        if found:
            return _hugging_face(path, found.st_mtime_ns, found.st_size)
        hint = f"{did_you_mean(str(wanted), TOKENIZERS)} (or give the path of a tokenizer.json)"
        raise OptionError("tokenizer", "is neither a known name nor a file", value=str(wanted), hint=hint)
    for name in ("name", "added", "seam", "count", "ends"):
        if not hasattr(wanted, name):
            rule = f"must be a name, a path, or an object with `{name}` (see spanwise.Tokenizer)"
            raise OptionError("tokenizer", rule, value=wanted)
    return wanted
