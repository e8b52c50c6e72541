"""Tokenizers: exact counts, token maps, and how often a text is encoded."""

from __future__ import annotations

import base64
import hashlib
import json
import random
import re
import shutil
import warnings
from array import array
from collections.abc import Sequence
from functools import cache
from itertools import accumulate, product
from pathlib import Path
from typing import Any, Final

import pytest
import splintr
from hypothesis import given, settings
from hypothesis import strategies as st
from tokenizers import Tokenizer as HuggingFace
from tokenizers import decoders, models, normalizers, pre_tokenizers, processors, trainers

import spanwise
from spanwise import Document, OptionError, TokenMap
from spanwise.text.tokens import NEAR, FullTokenizer, tokenizer_of

DEMO = sorted((Path(spanwise.__file__).parent / "cli" / "demo" / "documents").glob("*.md"))
OPENAI = {"cl100k": "cl100k_base", "o200k": "o200k_base"}
NAMES = ("cl100k", "o200k", "approx", "words")


@cache
def reference(name: str) -> Any:
    """Return another implementation of the same encoding."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # it opens its own files with a deprecated API
        from bpe_openai import _bindings

    return _bindings.tokenizer_for_encoding(OPENAI[name])


def demo_text(length: int = 0) -> str:
    """Return the concatenated demo documents, repeated up to a length."""
    text = "\n\n".join(path.read_text(encoding="utf-8") for path in DEMO)
    return "\n\n".join([text] * (1 + length // len(text)))[: length or None]


# ── exact counts ─────────────────────────────────────────────────────────────────────────────────────────────────

SPACES = [chr(code) for code in range(0x3100) if chr(code).isspace()]
HOSTILE = {
    "nothing": "",
    "special strings": "<|endoftext|> <|fim_prefix|><|endofprompt|>x<|im_start|>user<|im_end|> <|endoftext|",
    "invented special strings": "<|think|>a<|/think|> <|user|> <|pad|> <|sep|> <|title|>b<|/title|>",
    "half special strings": "<| |> <|x|> < |endoftext|> <|endoftext |>",
    "every white space": "a".join(SPACES) + "".join(SPACES) + "".join(space * 5 + "b" for space in SPACES),
    "line ends": "a\r\nb\rc\n\r\n\r\n\n\n d\r\r\n \n \r\n\t\n",
    "trailing spaces": "a   \nb  \t \n   c    ",
    "emoji": "🐢👨‍👩‍👧‍👦🇵🇱🇩🇪👍🏽❤️‍🔥☃️1️⃣" * 20,
    "apostrophes": "it's IT'S we'LL ’s x'ſ 'sfoo d'Dart ''' 'tis rock'n'roll y'all've",
    "slashes": "a/\n/b\n//c ./\n\n/d://e/\n",
    "digits": "1 12 123 1234 12345678901234567890 ٣٤٥ ²³ ½ Ⅷ 1,234.56",
    "marks": "e\u0301 a\u0308\u0301 \u0301\u0302 q\u0307\u0323 นี้ ก็ क्षि \u0300" + "\u0301" * 200,
    "cjk": "日本語のテキスト。中文，没有空格！한국어 문장입니다。「引用」",
    "jamo": "\u1112\u1161\u11ab\u1100\u116e\u11a8 한" * 10,
    "cases": "iPhone McDonald XMLHttpRequest aBcDeF ǅungla ẞtraße İI ıi ΑΒγ ſt",
    "joiners": "a\u200db\u200cc\u200bd\u2060e\ufefff\u00ad",
    "nul and controls": "".join(map(chr, range(32))) + "\x7f\x80\x9f\ufffd\uffff\U0010ffff",
    "scripts": "שלום עולם مرحبا بالعالم Здравствуй, мир! Γειά ሰላም ᎣᏏᏲ 𝔘𝔫𝔦𝔠𝔬𝔡𝔢 𓀀",
    "100 KB of one letter": "a" * 100_000,
    "100 KB of spaces": " " * 100_000,
    "100 KB of line ends": "\n" * 100_000,
    "100 KB of dots": "." * 100_000,
    "100 KB of one ideograph": "字" * 33_000,
    "100 KB of one emoji": "🐢" * 25_000,
    "base64": base64.b64encode(random.Random(7).randbytes(30_000)).decode(),
    "code": "def f(x):\n\treturn {'a': [1, 2], \"b\": x ** 2}  # ok\n" * 50,
}


@pytest.mark.parametrize("name", OPENAI)
@pytest.mark.parametrize("what", HOSTILE)
def test_hostile_strings_are_counted_as_openai_would(name: str, what: str) -> None:
    text = HOSTILE[what]
    tokenizer = tokenizer_of(name)
    assert tokenizer.count(text) == reference(name).count(text)
    assert len(tokenizer.ends(text)) == reference(name).count(text)


@pytest.mark.parametrize("name", OPENAI)
@pytest.mark.parametrize("path", DEMO, ids=[path.name for path in DEMO])
def test_the_demo_documents_are_counted_as_openai_would(name: str, path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert tokenizer_of(name).count(text) == reference(name).count(text)
    for chunk in spanwise.chunk(spanwise.read(path), tokenizer=name, max_tokens=200):
        assert chunk.token_count == reference(name).count(chunk.embedding_text) <= 200


@pytest.mark.parametrize("name", OPENAI)
def test_every_character_is_counted_as_openai_would(name: str) -> None:
    tokenizer, codes = tokenizer_of(name), [*range(0xD800), *range(0xE000, 0x30000), *range(0xE0000, 0xE0200)]
    for start in range(0, len(codes), 4096):
        text = " x".join(map(chr, codes[start : start + 4096]))
        assert tokenizer.count(text) == reference(name).count(text), hex(codes[start])


@settings(max_examples=300)
@given(st.text(max_size=60) | st.text("aB1 '\n/\r,é你🐢\u0301<|>", max_size=60))
def test_any_string_is_counted_as_openai_would(text: str) -> None:
    for name in OPENAI:
        assert tokenizer_of(name).count(text) == reference(name).count(text)


@pytest.mark.parametrize(
    ("vocabulary", "size", "expected"),
    [
        ("cl100k_base", 100256, "223921b76ee99bde995b7ff738513eef100fb51d18c93597a113bcffe865b2a7"),
        ("o200k_base", 199998, "446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d"),
    ],
)
def test_the_vocabulary_is_the_published_one(vocabulary: str, size: int, expected: str) -> None:
    stock = splintr.Tokenizer.from_pretrained(vocabulary)
    found = hashlib.sha256()
    for token in range(size):
        found.update(base64.b64encode(stock.decode_token_bytes(token)) + b" %d\n" % token)
    assert found.hexdigest() == expected


@pytest.mark.parametrize("vocabulary", ["cl100k_base", "o200k_base"])
def test_every_special_string_of_splintr_opens_as_the_tokenizer_expects(vocabulary: str) -> None:
    special = splintr.Tokenizer.from_pretrained(vocabulary).special_tokens
    known: Any = special() if callable(special) else special
    assert known
    name = next(name for name, base in OPENAI.items() if base == vocabulary)
    for word in known:
        assert "<|" in word
        assert tokenizer_of(name).count(word) == len(tokenizer_of(name).ends(word)) == reference(name).count(word)


@pytest.mark.parametrize(
    ("text", "expected"), [("", 0), ("a", 1), ("abcd", 1), ("abcde", 2), ("ż" * 8, 2), ("🐢" * 9, 3), ("    ", 1)]
)
def test_approx_is_a_quarter_of_the_characters_rounded_up(text: str, expected: int) -> None:
    assert tokenizer_of("approx").count(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"), [("", 0), ("  ", 0), ("ż", 1), (" a  b\nc\u00a0d\u2003e ", 5), ("日本語", 1), ("a\u200bb", 1)]
)
def test_words_are_separated_by_white_space(text: str, expected: int) -> None:
    assert tokenizer_of("words").count(text) == expected


@given(st.text(max_size=200))
def test_as_many_ends_as_tokens(text: str) -> None:
    for name in NAMES:
        tokenizer = tokenizer_of(name)
        ends = list(tokenizer.ends(text))
        assert len(ends) == tokenizer.count(text)
        assert ends == sorted(ends)
        assert all(0 < end <= len(text) for end in ends)
        if ends and name != "words":
            assert ends[-1] == len(text)


# ── the map ──────────────────────────────────────────────────────────────────────────────────────────────────────

_ATOMS = [
    "'s", "'S", "'ll", "'t", "'", "’s", "/", "\n/", "/\n", "\n", "\r\n", "\n\n", "  ", "\t", " ", ",", ".", ";", ":",
    "，", "。", "、", "！", "？", "1", "12", "123", "1234", "²", "Ⅷ", "½", "٣", "a", "A", "Ab", "aB", "ABC", "abc",
    "word", "Word", "WORD", "Straße", "ИЗ", "Из", "żó", "Ż", "你", "好", "日本語", "カ", "ー", "ｶﾞ", "한국",
    "ᄒ", "ᅡ", "ᆫ", "e\u0301", "\u0301", "\u0308a", "a\u0308", "नि", "क्षि", "ก็", "\u200d", "\u200b", "🐢", "👨‍👩‍👧", "🇵🇱",
    "\u00a0", "\u2028", "\x85", "\x0b", "\x0c", "\x1c", "\x1f", "_", "#", "|", "-", "<|", "<|endoftext|>", "(", ")",
    '"', "!", "!/", "./", "://", "ǅ", "ʰ", "ª", "ſ", "'ſ", "'re", "'VE", "\u0345", "ⓐ", "𝐀", "\ufeff", "$", "+", "\n ",
    " \n", "!\n", "a\n", "1\n", "./\n", "a ", "a,", "字。",
]  # fmt: skip


@st.composite
def spans(draw: st.DrawFn) -> tuple[str, int, int]:
    """Draw a text of few or many kinds of pieces, long enough for shortcuts, and a span of it."""
    kinds = draw(st.lists(st.sampled_from(_ATOMS), min_size=1, max_size=12))
    rng = draw(st.randoms(use_true_random=False))
    often = [*kinds, *rng.sample(_ATOMS, 4), " ", "a"]
    text = "".join(rng.choices(often, k=draw(st.integers(60, 300))))
    start = draw(st.integers(0, len(text)))
    end = draw(st.integers(min(start + 125, len(text)), len(text)))
    return text, start, end


@pytest.mark.slow
@settings(max_examples=600, deadline=None)
@given(spans(), st.sampled_from(["", "\n", "\n\n", " "]))
def test_exact_is_exact(drawn: tuple[str, int, int], joiner: str) -> None:
    text, start, end = drawn
    for name in NAMES:
        tokenizer = tokenizer_of(name)
        tokens = TokenMap(text, tokenizer)
        for _ in range(2):  # the second time the edges are cached
            assert tokens.exact(start, end, joiner) == tokenizer.count(text[start:end] + joiner), name


@pytest.mark.parametrize("name", OPENAI)
def test_exact_is_exact_from_white_space_to_white_space(name: str) -> None:
    rng, tokenizer = random.Random(20260301), tokenizer_of(name)
    for _ in range(300):
        often = [*rng.sample(_ATOMS, rng.randint(2, 20)), " ", "a", "\n", "\n\n"]
        text = "".join(rng.choices(often, k=rng.randint(50, 400)))
        words, tokens = [found.span() for found in re.finditer(r"\S+", text)], TokenMap(text, tokenizer)
        for _ in range(20 if words else 0):
            first = rng.randrange(len(words))
            start, end = words[first][0], words[rng.randrange(first, len(words))][1]
            assert tokens.exact(start, end) == reference(name).count(text[start:end]), (text, start, end)


@pytest.mark.parametrize("name", OPENAI)
def test_exact_is_exact_on_many_random_spans(name: str) -> None:
    rng, tokenizer = random.Random(20260128), tokenizer_of(name)
    for _ in range(400):
        often = [*rng.sample(_ATOMS, rng.randint(2, 20)), " ", "a", "\n", ","]
        text = "".join(rng.choices(often, k=rng.randint(150, 400)))
        tokens = TokenMap(text, tokenizer)
        for _ in range(10):
            start = rng.randrange(len(text) - 130)
            end = rng.randint(start + 120, len(text))
            assert tokens.exact(start, end) == tokenizer.count(text[start:end]), (text, start, end)


VISIBLE = [chr(code) for code in range(0x20000) if not (chr(code).isspace() or 0xD800 <= code < 0xE000)]
PUNCTUATION = "".join(chr(code) for code in range(0x21, 0x7F) if not chr(code).isalnum() and chr(code) != "'")


@pytest.mark.parametrize("name", OPENAI)
@pytest.mark.parametrize(
    ("before", "after", "around"),
    [
        (VISIBLE, " ", [("!", "!")]),
        ("\n", VISIBLE, [("!", "!")]),
        ([sign for sign in VISIBLE if sign.isalnum()], ".\n", [("!", "!")]),
        (
            "aA1字ñ²Ⅷ!/\n\u0301",
            PUNCTUATION + "，。、；：！？ \n\r\t\x85\u2028\u3000\x1c",
            [("!", "!"), ("a", "a"), ("1", "/"), ("'", "s"), (" ", "\n")],
        ),
    ],
    ids=["before a space", "after a line end", "after a letter or number", "before punctuation and white space"],
)
def test_no_token_reaches_over_a_seam(
    name: str, before: Sequence[str], after: Sequence[str], around: list[tuple[str, str]]
) -> None:
    seam, count = tokenizer_of(name).seam, reference(name).count
    assert seam is not None
    pairs = [pair for pair in product(before, after) if seam.match("".join(pair))]
    assert len(pairs) > 0.5 * len(before) * len(after)
    for (left, right), (first, last) in product(pairs, around):
        apart = count(first + left) + count(right + last)
        assert count(first + left + right + last) == apart, (first, left, right, last)


@pytest.mark.parametrize("name", NAMES)
def test_exact_is_exact_in_the_demo_documents(name: str) -> None:
    text, rng, tokenizer = demo_text(), random.Random(1), tokenizer_of(name)
    tokens = TokenMap(text, tokenizer)
    for _ in range(1500):
        start = rng.randrange(len(text))
        end = min(len(text), start + rng.randint(1, 1200))
        assert tokens.exact(start, end) == tokenizer.count(text[start:end]), (start, end)


@pytest.mark.parametrize("filler", ["", "x" * 200_000, "字" * 150_000, "/\n" * 100_000, " " * 150_000])
@pytest.mark.parametrize("name", OPENAI)
def test_a_long_text_is_exact_wherever_it_was_taken_apart(name: str, filler: str) -> None:
    text = demo_text(150_000) + filler + demo_text(150_000)
    counting = Counting(tokenizer_of(name))
    tokens, tokenizer = TokenMap(text, counting), counting.inner
    edges = [*accumulate(counting.encoded), 150_000, 150_000 + len(filler)]
    rng = random.Random(3)
    for edge in {min(edge, len(text) - 1) for edge in edges}:
        for _ in range(12):
            start = max(0, edge - rng.randint(0, 400))
            end = min(len(text), edge + rng.randint(0, 400))
            assert tokens.exact(start, end) == tokenizer.count(text[start:end]), (start, end)


@pytest.mark.parametrize("name", OPENAI)
def test_a_map_of_a_long_text_has_as_many_tokens_as_the_text(name: str) -> None:
    text = demo_text(400_000)
    assert TokenMap(text, tokenizer_of(name)).at(len(text)) == tokenizer_of(name).count(text)


@given(spans())
def test_subtraction_is_near(drawn: tuple[str, int, int]) -> None:
    text, start, end = drawn
    for name in OPENAI:
        tokens = TokenMap(text, tokenizer_of(name))
        assert abs(tokens.count(start, end) - tokenizer_of(name).count(text[start:end])) <= NEAR


@given(st.text(max_size=80), st.data())
def test_at_counts_the_tokens_that_have_ended(text: str, data: st.DataObject) -> None:
    for name in NAMES:
        tokens, ends = TokenMap(text, tokenizer_of(name)), tokenizer_of(name).ends(text)
        position = data.draw(st.integers(0, len(text)))
        assert tokens.at(position) == sum(end <= position for end in ends)
        assert tokens.at(len(text)) == len(ends)


@given(st.text(min_size=1, max_size=80), st.data())
def test_at_each_is_at(text: str, data: st.DataObject) -> None:
    positions = data.draw(st.lists(st.integers(0, len(text)), max_size=60))
    for name in NAMES:
        tokens = TokenMap(text, tokenizer_of(name))
        assert tokens.at_each(positions) == [tokens.at(position) for position in positions]


@given(st.text(max_size=80), st.data())
def test_count_adds_up(text: str, data: st.DataObject) -> None:
    low, middle, high = sorted(data.draw(st.tuples(*[st.integers(0, len(text))] * 3)))
    for name in NAMES:
        tokens = TokenMap(text, tokenizer_of(name))
        assert tokens.count(low, middle) + tokens.count(middle, high) == tokens.count(low, high) >= 0


@given(st.text(max_size=80) | st.text("🐢한é a", max_size=40), st.data())
def test_reach_goes_as_far_as_the_tokens_allow(text: str, data: st.DataObject) -> None:
    start, wanted = data.draw(st.integers(0, len(text))), data.draw(st.integers(0, 30))
    for name in NAMES:
        tokens = TokenMap(text, tokenizer_of(name))
        reached = tokens.reach(start, wanted)
        assert start <= reached <= len(text)
        assert tokens.count(start, reached) <= wanted
        after = next((end for end in tokenizer_of(name).ends(text) if end > reached), None)
        if after is not None:  # the next token would be one too many
            assert tokens.count(start, after) > wanted
        assert tokens.reach(start, wanted + 1) >= reached


@given(st.text(max_size=80) | st.text("🐢한é a", max_size=40), st.data())
def test_back_goes_as_far_as_the_tokens_allow(text: str, data: st.DataObject) -> None:
    end, wanted = data.draw(st.integers(0, len(text))), data.draw(st.integers(1, 30))
    for name in NAMES:
        tokens = TokenMap(text, tokenizer_of(name))
        found = tokens.back(end, wanted)
        assert 0 <= found <= end
        assert tokens.count(found, end) <= wanted
        if found:
            assert tokens.at(end) - tokens.at(found - 1) > wanted
        assert tokens.back(end, wanted + 1) <= found


def test_an_empty_text_has_a_map() -> None:
    for name in NAMES:
        tokens = TokenMap("", tokenizer_of(name))
        assert (tokens.at(0), tokens.count(0, 0), tokens.exact(0, 0), tokens.reach(0, 5), tokens.back(0, 5)) == (0,) * 5
        assert tokens.at_each([0] * 30) == [0] * 30


@pytest.mark.parametrize("kind", [list, tuple, lambda ends: array("q", ends), lambda ends: array("l", ends)])
@pytest.mark.parametrize("seams", [True, False])
def test_ends_of_any_kind_make_the_same_map(kind: Any, seams: bool) -> None:
    class Foreign(Counting):
        def ends(self, text: str) -> Any:
            return kind(self.inner.ends(text))

    text, positions = demo_text(150_000), list(range(0, 150_000, 997))
    tokens, same = TokenMap(text, Foreign(tokenizer_of("o200k"), seams=seams)), TokenMap(text, tokenizer_of("o200k"))
    assert tokens.at_each(positions) == same.at_each(positions) == [same.at(position) for position in positions]
    assert tokens.exact(70, 140_000) == same.exact(70, 140_000)


# ── Hugging Face ─────────────────────────────────────────────────────────────────────────────────────────────────


def word_piece() -> Any:
    tokenizer = HuggingFace(models.WordPiece(unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer()
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    special = ["[UNK]", "[CLS]", "[SEP]", "[PAD]"]
    trainer = trainers.WordPieceTrainer(vocab_size=1500, special_tokens=special, show_progress=False)
    tokenizer.train_from_iterator([demo_text()], trainer)
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", pair="[CLS] $A [SEP] $B [SEP]", special_tokens=[("[CLS]", 1), ("[SEP]", 2)]
    )
    return tokenizer


def byte_level() -> Any:
    tokenizer = HuggingFace(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(vocab_size=1000, initial_alphabet=alphabet, show_progress=False)
    tokenizer.train_from_iterator([demo_text()], trainer)
    return tokenizer


def word_level() -> Any:
    tokenizer = HuggingFace(models.WordLevel({"[UNK]": 0, "<s>": 1, "</s>": 2, "żółw": 3}, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer.post_processor = processors.TemplateProcessing(single="<s> $A", special_tokens=[("<s>", 1)])
    return tokenizer


def unigram() -> Any:
    pieces = [("<unk>", 0.0), ("▁", -2.0), *[(letter, -3.0) for letter in "abcdefghijklmnoprstuwyzżółęąśćźń"]]
    tokenizer = HuggingFace(models.Unigram([*pieces, ("▁w", -1.0), ("nie", -1.5)], 0))
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
    return tokenizer


MODELS = {
    "word_piece": (word_piece, 2),
    "byte_level": (byte_level, 0),
    "word_level": (word_level, 1),
    "unigram": (unigram, 0),
}


@cache
def trained(kind: str) -> str:
    return str(MODELS[kind][0]().to_str())


def saved(folder: Path, kind: str, *, hindered: bool = False) -> tuple[Path, Any]:
    """Write a tokenizer.json, optionally with truncation and padding; return its path and a reference tokenizer."""
    tokenizer = HuggingFace.from_str(trained(kind))
    if hindered:
        tokenizer.enable_truncation(8)
        tokenizer.enable_padding(length=64)
    path = folder / f"{kind}.json"
    tokenizer.save(str(path))
    return path, HuggingFace.from_str(trained(kind))


@pytest.mark.parametrize("kind", MODELS)
@pytest.mark.parametrize("hindered", [False, True])
def test_a_tokenizer_file_counts_what_the_embedder_sees(tmp_path: Path, kind: str, hindered: bool) -> None:
    path, plain = saved(tmp_path, kind, hindered=hindered)
    tokenizer = tokenizer_of(path)
    assert tokenizer.added == MODELS[kind][1]
    for text in ("", "żółw", "Zdanie nie za długie, ale 🐢 e\u0301!", demo_text()[:3000]):
        assert tokenizer.count(text) == len(plain.encode(text).ids)
        assert len(tokenizer.ends(text)) == tokenizer.count(text) - tokenizer.added


@pytest.mark.parametrize("kind", MODELS)
def test_chunks_of_a_tokenizer_file_keep_the_limit(tmp_path: Path, kind: str) -> None:
    path, plain = saved(tmp_path, kind, hindered=True)
    document = spanwise.read(DEMO[2])
    for strategy in ("structure", "fixed", "simple"):
        chunks = spanwise.chunk(document, strategy, str(path), max_tokens=64)
        assert chunks
        for chunk in chunks:
            count = len(plain.encode(chunk.embedding_text).ids)
            assert chunk.token_count == count
            assert count <= 64 or chunk.oversize


@pytest.mark.parametrize("kind", MODELS)
def test_the_map_of_a_tokenizer_file_is_exact(tmp_path: Path, kind: str) -> None:
    path, plain = saved(tmp_path, kind)
    text, rng = demo_text()[:6000], random.Random(5)
    tokens = TokenMap(text, tokenizer_of(path))
    for _ in range(60):
        start = rng.randrange(len(text))
        end = min(len(text), start + rng.randint(1, 500))
        assert tokens.exact(start, end) == len(plain.encode(text[start:end], add_special_tokens=False).ids)


def test_a_changed_tokenizer_file_is_read_again(tmp_path: Path) -> None:
    path, _ = saved(tmp_path, "word_level")
    before = tokenizer_of(path).count("żółw")
    path.write_text(trained("byte_level"), encoding="utf-8")
    assert before == 2
    assert tokenizer_of(path).added == 0


@pytest.mark.parametrize(
    "content", [b"", b"{}", b"not json", b"\xff\xfe\x00", b'{"version": "1.0", "model": null}', b"[]"]
)
def test_a_damaged_tokenizer_file_is_refused(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "tokenizer.json"
    path.write_bytes(content)
    with pytest.raises(OptionError, match=r"tokenizer\.json") as caught:
        spanwise.chunk(spanwise.read_text("a"), tokenizer=path)
    assert caught.value.subject == "tokenizer"
    assert caught.value.value == str(path)


def test_a_cut_off_tokenizer_file_is_refused(tmp_path: Path) -> None:
    path, _ = saved(tmp_path, "word_piece")
    path.write_bytes(path.read_bytes()[:-200])
    with pytest.raises(OptionError, match=r"tokenizer\.json"):
        tokenizer_of(path)


def test_a_limit_that_special_tokens_would_fill_is_refused(tmp_path: Path) -> None:
    path, _ = saved(tmp_path, "word_level")
    content = json.loads(path.read_text(encoding="utf-8"))
    content["post_processor"]["single"] = [{"SpecialToken": {"id": "<s>", "type_id": 0}}] * 12 + [
        {"Sequence": {"id": "A", "type_id": 0}}
    ]
    path.write_text(json.dumps(content), encoding="utf-8")
    with pytest.raises(OptionError, match="12 tokens") as caught:
        spanwise.chunk(spanwise.read_text("a"), tokenizer=path, max_tokens=16)
    assert caught.value.subject == "max_tokens"
    assert caught.value.hint


# ── names ────────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("model", "encoding"),
    [
        *(
            (name, "o200k")
            for name in ("gpt-4o", "gpt-4o-mini-2024-07-18", "GPT-4o", "gpt-4.1-nano", "gpt-5", "gpt-5.1")
        ),
        *((name, "o200k") for name in ("o1", "o3-mini", "o4-mini", "o200k_base", "ft:gpt-4o-mini:acme::x1")),
        *((name, "cl100k") for name in ("gpt-4", "gpt-4-turbo", "gpt-3.5-turbo-16k", "text-embedding-3-small")),
        *((name, "cl100k") for name in ("text-embedding-3-large", "text-embedding-ada-002", "cl100k_base")),
    ],
)
def test_the_name_of_a_model_stands_for_its_encoding(model: str, encoding: str) -> None:
    (chunk,) = spanwise.chunk("Zażółć gęślą jaźń, dr Nowak.", tokenizer=model)
    assert chunk == spanwise.chunk("Zażółć gęślą jaźń, dr Nowak.", tokenizer=encoding)[0]
    assert chunk.tokenizer == encoding


@pytest.mark.parametrize("name", ["gpt-2", "o12", "davinci", "gpt-4all"])
def test_another_model_is_not_taken_for_one_that_is_known(name: str) -> None:
    with pytest.raises(OptionError, match="neither a known name nor a file"):
        spanwise.chunk("a", tokenizer=name)


def test_the_name_of_a_tokenizers_file_is_the_same_on_any_machine(tmp_path: Path) -> None:
    source, _ = saved(tmp_path, "word_level")
    (tmp_path / "elsewhere").mkdir()
    copy = Path(shutil.copy(source, tmp_path / "elsewhere"))
    records = [spanwise.chunk("Trips are booked.", tokenizer=path)[0].to_dict() for path in (source, copy)]
    assert records[0] == records[1]
    assert str(tmp_path) not in records[0]["tokenizer"]
    copy.write_text(source.read_text() + " ")
    assert spanwise.chunk("Trips are booked.", tokenizer=copy)[0].tokenizer != records[0]["tokenizer"]


@pytest.mark.parametrize(
    ("typo", "meant"),
    [
        ("cl100", "cl100k"),
        ("o20k", "o200k"),
        ("word", "words"),
        ("aprox", "approx"),
        ("text-embeding-3-smal", "text-embedding-3-small"),
        ("gpt4o", "gpt-4o"),
    ],
)
def test_a_misspelt_tokenizer_gets_the_right_one_as_a_hint(typo: str, meant: str) -> None:
    with pytest.raises(OptionError, match=f"did you mean `{meant}`") as caught:
        spanwise.chunk(spanwise.read_text("a"), tokenizer=typo)
    assert caught.value.subject == "tokenizer"


@pytest.mark.parametrize(
    "name", ["gpt-9", "", "missing/tokenizer.json", Path("missing.json"), Path("/"), "x" * 5000, "a\x00b"]
)
def test_an_unknown_tokenizer_is_refused(name: Any) -> None:
    with pytest.raises(OptionError, match="tokenizer") as caught:
        spanwise.chunk(spanwise.read_text("a"), tokenizer=name)
    assert "path of a tokenizer.json" in str(caught.value)


@pytest.mark.parametrize("thing", [None, 5, b"cl100k", object(), ["cl100k"]])
def test_non_tokenizers_are_refused(thing: Any) -> None:
    with pytest.raises(OptionError) as caught:
        spanwise.chunk(spanwise.read_text("a"), tokenizer=thing)
    assert caught.value.subject == "tokenizer"


def test_a_tokenizer_is_built_once() -> None:
    assert tokenizer_of("cl100k") is tokenizer_of("cl100k")


# ── the amount of work ───────────────────────────────────────────────────────────────────────────────────────────


SOURCE: Final = {"template": "plain", "embed": "source"}


class Counting:
    """A tokenizer that records how many characters it is given."""

    def __init__(self, inner: FullTokenizer, *, seams: bool = True) -> None:
        self.inner = inner
        self.name = inner.name
        self.added = inner.added
        self.seam: re.Pattern[str] | None = inner.seam if seams else None
        self.encoded: list[int] = []
        self.counted: list[int] = []

    def count(self, text: str) -> int:
        self.counted.append(len(text))
        return self.inner.count(text)

    def ends(self, text: str) -> Sequence[int]:
        self.encoded.append(len(text))
        return self.inner.ends(text)


@cache
def long_document() -> Document:
    return spanwise.read_text(demo_text(200_000), document_id="d")


@pytest.mark.parametrize("seams", [True, False])
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(
    ("strategy", "no_overlap"), [("structure", {"overlap_tokens": 0} | SOURCE), ("fixed", {"overlap_ratio": 0.0})]
)
@pytest.mark.parametrize("sizes", [{}, {"max_tokens": 512}])
def test_one_pass_and_about_one_recount(
    strategy: Any, no_overlap: dict[str, Any], name: str, seams: bool, sizes: dict[str, Any]
) -> None:
    document, counting = long_document(), Counting(tokenizer_of(name), seams=seams)
    chunks = spanwise.chunk(document, strategy, counting, **no_overlap, **sizes)
    assert sum(counting.encoded) == len(document.text), "one full pass"
    assert sum(counting.counted) <= 1.3 * len(document.text), "about one recount"
    assert len(counting.counted) <= 3 * len(chunks)


@pytest.mark.parametrize("sizes", [{}, {"max_tokens": 512}])
@pytest.mark.parametrize("name", OPENAI)
def test_what_a_page_shows_is_encoded_once_more_with_the_headings(name: str, sizes: dict[str, Any]) -> None:
    document, counting = long_document(), Counting(tokenizer_of(name))
    chunks = spanwise.chunk(document, "structure", counting, overlap_tokens=0, **sizes)
    assert sum(counting.encoded) <= 2 * len(document.text)
    assert sum(counting.counted) <= 0.3 * len(document.text)
    assert len(counting.counted) <= 3 * len(chunks)


@pytest.mark.parametrize("name", NAMES)
def test_without_seams_both_texts_of_each_chunk_are_counted(name: str) -> None:
    document, counting = long_document(), Counting(tokenizer_of(name), seams=False)
    chunks = spanwise.chunk(document, "structure", counting, overlap_tokens=0)
    assert sum(counting.encoded) == len(document.text)
    assert sum(counting.counted) <= 2.5 * len(document.text)
    assert len(counting.counted) <= 3 * len(chunks)


@pytest.mark.parametrize(("strategy", "options"), [("structure", SOURCE), ("fixed", {}), ("simple", {})])
def test_with_overlap_still_one_pass_and_no_more_than_two_recounts(strategy: Any, options: dict[str, Any]) -> None:
    document, counting = long_document(), Counting(tokenizer_of("cl100k"), seams=False)
    spanwise.chunk(document, strategy, counting, **options)
    assert sum(counting.encoded) == len(document.text)
    assert sum(counting.counted) <= 2 * len(document.text)


@pytest.mark.parametrize("name", OPENAI)
@given(
    st.text("a1 .)/'\t\n字", max_size=8),
    st.text(" \t", min_size=1, max_size=66),
    st.text("a1 ./'\t\n\u3000字", max_size=6),
)
def test_no_token_reaches_into_an_indented_line(name: str, before: str, indent: str, after: str) -> None:
    tokenizer, line = tokenizer_of(name), indent + after
    begins = TokenMap(line, tokenizer).begins_after("\n", 0)
    visible = line.lstrip(" \t")[:1]
    assert begins == (len(line) - len(line.lstrip(" \t")) <= 64 and bool(visible.strip("/\n\u3000")))
    if begins:
        assert tokenizer.count(f"{before}\n{line}") == tokenizer.count(f"{before}\n") + tokenizer.count(line)


@pytest.mark.parametrize("name", OPENAI)
def test_seams_save_most_of_the_recount(name: str) -> None:
    document, counting = long_document(), Counting(tokenizer_of(name))
    spanwise.chunk(document, "structure", counting, overlap_tokens=0)
    assert sum(counting.counted) <= 0.3 * len(document.text)


@pytest.mark.parametrize("strategy", ["structure", "fixed", "simple"])
def test_seams_change_no_chunk(strategy: Any) -> None:
    document = long_document()
    for name in OPENAI:
        with_seams = spanwise.chunk(document, strategy, Counting(tokenizer_of(name)), max_tokens=256)
        without = spanwise.chunk(document, strategy, Counting(tokenizer_of(name), seams=False), max_tokens=256)
        assert [(chunk.pieces, chunk.token_count) for chunk in with_seams] == [
            (chunk.pieces, chunk.token_count) for chunk in without
        ]


MIXED_WORDS = (
    "word",
    "Don't",
    "/path",
    "end.",
    "żółw",
    "你好，",
    "🐢",
    "a\u0301",
    "12345",
    "|---|",
    "x;",
    "'s",
    "\n",
    "\n/",
    "  ",
)
mixed_text = st.lists(st.sampled_from(MIXED_WORDS), max_size=90).map(" ".join)


@given(
    st.lists(st.tuples(mixed_text, st.sampled_from(["\n", "\n\n", " ", ""])), min_size=1, max_size=4),
    st.sampled_from(["cl100k", "o200k"]),
)
def test_joined_ranges_are_counted_exactly(parts: list[tuple[str, str]], name: str) -> None:
    tokenizer = tokenizer_of(name)
    pieces = [(text.strip(), joiner) for text, joiner in parts if text.strip()] or [("a", "")]
    document = "\x0b".join(text for text, _ in pieces)
    tokens, ranges, start = TokenMap(document, tokenizer), [], 0
    for text, _ in pieces:
        ranges.append((start, start + len(text)))
        start += len(text) + 1
    joiners = [joiner for _, joiner in pieces]
    found = tokens.exact_sum(ranges, joiners)
    joined = "".join(f"{joiner if at else ''}{text}" for at, (text, joiner) in enumerate(pieces))
    assert found is None or found == tokenizer.count(joined)
