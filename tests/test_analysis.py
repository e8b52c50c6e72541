"""Text analysis: queries match the text whatever its inflection, script or spelling."""

from __future__ import annotations

import re
import unicodedata
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import spanwise
from spanwise.text.terms import ANALYSER, document_terms, matches, query_words
from spanwise.text.terms.folding import normalized, with_offsets
from spanwise.text.terms.words import _TOKEN, tokens_in
from word_pairs import APART, FOUND, WITHIN, pairs

LANGUAGES = ["en", "pl", "de", "ru"]


def finds(query: str, text: str, language: str | None) -> bool:
    terms = set(document_terms(text, language))
    return any(not terms.isdisjoint(word.terms) for word in query_words(query))


def finds_all(query: str, text: str, language: str | None) -> bool:
    terms = set(document_terms(text, language))
    return all(not terms.isdisjoint(word.terms) for word in query_words(query))


def marked(text: str, query: str, language: str | None = "en") -> list[str]:
    return [text[start:end] for start, end in matches(text, language, query_words(query))]


@pytest.mark.parametrize(("language", "floor"), [("en", 34), ("pl", 33), ("de", 34), ("ru", 35)])
def test_inflections_are_found(language: str, floor: int) -> None:
    """Queries are typed in lower case; both directions count. Of each list two or three are known to be missed."""
    listed = pairs(FOUND, language)
    found = [
        (first, second)
        for first, second in listed
        if finds(first.lower(), second, language) and finds(second.lower(), first, language)
    ]
    assert len(listed) >= 30
    assert len(found) >= floor, sorted(set(listed) - set(found))


@pytest.mark.parametrize(("language", "ceiling"), [("en", 3), ("pl", 0), ("de", 1), ("ru", 3)])
def test_other_words_are_not_found(language: str, ceiling: int) -> None:
    """Words that Snowball merges (`import` and `important`) stay merged; other languages' stems add nothing."""
    listed = pairs(APART, language)
    wrong = [pair for pair in listed if finds(pair[0].lower(), pair[1], language) or finds(*pair[::-1], language)]
    assert len(listed) >= 15
    assert len(wrong) <= ceiling, wrong


@pytest.mark.parametrize(
    ("query", "text", "language"),
    [
        ("препарата", "Этот препарат помогает.", "ru"),
        ("dokumentów", "Nowy dokument", "pl"),
        ("Dokument", "dokumentów", "pl"),
    ],
)
def test_examples_of_the_contract(query: str, text: str, language: str) -> None:
    assert finds(query, text, language)


@pytest.mark.parametrize(
    ("language", "query", "sentence"), [(language, *pair) for language in WITHIN for pair in WITHIN[language]]
)
def test_words_inside_sentences_without_spaces(language: str, query: str, sentence: str) -> None:
    assert finds(query, sentence, language)
    assert finds(query, sentence, "en"), "runs of another script are the same in every language"
    assert marked(sentence, query, language)


@pytest.mark.parametrize(
    ("query", "sentence"), [("犬", "吾輩は猫である"), ("学校", "病院へ行く"), ("数据", "一个容器")]
)
def test_other_words_inside_sentences(query: str, sentence: str) -> None:
    assert not finds(query, sentence, "ja")


@pytest.mark.parametrize(
    ("query", "text"),
    [
        ("kube-proxy", "the kube-proxy runs"),
        ("proxy", "the kube-proxy runs"),
        ("kubeproxy", "the kube-proxy runs"),
        ("kube proxy", "the kube-proxy runs"),
        ("kube-proxy", "KubeProxy runs"),
        ("max_tokens", "set max_tokens to 5"),
        ("tokens", "set max_tokens to 5"),
        ("max tokens", "set maxTokens to 5"),
        ("max_tokens", "set maxTokens to 5"),
        ("maxtokens", "set MAX_TOKENS to 5"),
        ("stateful set", "a StatefulSet"),
        ("statefulsets", "a StatefulSet"),
        ("pod autoscaler", "the HorizontalPodAutoscaler"),
        ("v1.2.3", "since v1.2.3"),
        ("1.2.3", "since v1.2.3"),
        ("v1.2", "since v1.2.3"),
        ("C++", "written in C++."),
        ("c++", "written in C++17"),
        ("C#", "a C# program"),
        ("node.js", "NodeJS and others"),
        ("e-mail", "send an email"),
        ("emails", "send an E-Mail"),
        ("gpt 4", "GPT-4 answers"),
        ("gpt-4", "GPT4 answers"),
        ("python", "python3 is there"),
        ("sha256", "its SHA-256"),
        ("1000", "about 1,000 files"),
        ("1,000", "about 1.000 files"),
        ("3.14", "it is 3,14"),
        ("2026", "on 15.01.2026"),
        ("user's", "many users"),
        ("obrien", "O’Brien said"),
        ("anna.nowak@example.com", "write to anna.nowak@example.com"),
        ("example.com", "see https://www.example.com/docs"),
        ("docs", "see https://www.example.com/docs/"),
        ("usa", "in the U.S.A."),
        ("database", "a data-base"),
        ("data base", "a database"),
        ("Strasse", "in der Straße"),
        ("file", "the ﬁle"),
        ("café", "Cafe\u0301"),
        ("spanwise", "Spanwise™ finds"),
        ("dokument", "Doku\u00adment"),
        ("full width", "ｆｕｌｌ ｗｉｄｔｈ"),
        ("note", "a note¹"),
        ("h2o", "H₂O"),
        ("किताब", "यह किताब है"),
        ("문서", "문서를 읽다"),
    ],
)
def test_typical_queries_are_found(query: str, text: str) -> None:
    assert finds_all(query, text, "en") or (finds(query, text, "en") and len(query_words(query)) > 1)


@pytest.mark.parametrize(
    ("query", "text"),
    [
        ("java", "JavaScript"),
        ("git", "GitHub"),
        ("C", "C++"),
        ("c#", "C++"),
        ("1.2", "1.23"),
        ("v2", "v1.2.3"),
        ("100", "1000"),
    ],
)
def test_similar_queries_are_not_found(query: str, text: str) -> None:
    assert not finds(query, text, "en")


def test_a_word_finds_documents_of_every_language() -> None:
    """The query's language is unknown, and a document's may have been guessed wrongly."""
    for language in [*LANGUAGES, "zh", "ja", "fr", None]:
        assert finds("kubernetes", "Kubernetes", language)
        assert finds("препарат", "препарат", language)
        assert finds("go", "go", language)


def test_english_words_in_other_languages() -> None:
    assert finds("query", "Die Queries laufen", "de")
    assert finds("deployment", "wiele deploymentów i deployments", "pl")
    assert finds("pod", "несколько Pods", "ru")
    assert finds("node", "多个 Nodes", "zh")


def test_unknown_languages_are_folded_and_no_more() -> None:
    assert document_terms("Les Élèves Ёлки", "fr") == ["les", "élèves", "елки"]
    assert document_terms("Les Élèves", None) == ["les", "élèves"]
    assert document_terms("文書 Ok", "xx") == ["文", "書", "文書", "ok"]


def test_german_capitals_distinguish_nouns_from_verbs() -> None:
    assert document_terms("Er sucht", "de")[-1] != document_terms("die Sucht", "de")[-1]
    assert finds("sucht", "die Sucht", "de")
    assert finds("sucht", "wir suchen", "de")


def test_terms_are_the_same_on_every_machine() -> None:
    """If this fails, raise ANALYSER: existing indexes no longer match new queries."""
    assert ANALYSER == "1"
    text = "The mice wrote v1.2.3 of kube-proxy in C++; 1,000 docs."
    assert document_terms(text, "en") == [
        "en:the", "en:mous", "en:write", "1.2.3", "v1.2.3", "1.2", "en:of", "en:kube", "en:proxi", "en:kubeproxi",
        "en:in", "c++", "1.000", "1000", "en:doc",
    ]  # fmt: skip
    assert document_terms("Nowych dokumentów", "pl") == ["pl:now", "pl:dokument"]
    assert document_terms("Die Häuser drücken", "de") == ["de:der", "de:haus", "de:drück"]
    assert document_terms("Ёлки и препараты", "ru") == ["ru:елк", "и", "ru:препарат"]
    assert document_terms("東京のサーバー", "ja") == ["東", "京", "東京", "京の", "サー", "ーバ", "サーバ"]


def test_words_of_a_query_come_once_and_in_order() -> None:
    words = query_words("Pods pods and the kube-proxy PODS")
    assert [word.text for word in words] == ["pods", "and", "the", "kube", "proxy", "kubeproxy"]
    assert all(len(set(word.terms)) == len(word.terms) > 0 for word in words)


def test_unused_languages_may_be_left_out() -> None:
    (word,) = query_words("dokumentów", languages={"pl"})
    assert word.terms == ("en:dokumentów", "pl:dokument", "dokumentów")


@pytest.mark.parametrize(
    "query", ["", "   ", "🚀 ✨", "\"'*()--", "AND OR NOT NEAR", "\x00\ufeff", "a" * 100_000, "%_\\;"]
)
def test_any_query_is_text(query: str) -> None:
    assert all(term and not re.search(r"\s", term) for word in query_words(query) for term in word.terms)


@pytest.mark.parametrize(
    ("text", "query", "expected"),
    [
        ("Two mice ran.", "mouse running", ["mice", "ran"]),
        ("the kube-proxy and a proxy", "proxy", ["proxy", "proxy"]),
        ("the kube-proxy", "kubeproxy", ["kube-proxy"]),
        ("the kube-proxy", "kube-proxy", ["kube-proxy"]),
        ("many ﬁles … here", "file here", ["ﬁles", "here"]),
        ("ﬃ ｆｉｌｅ x", "file", ["ｆｉｌｅ"]),
        ("Cafe\u0301s, cafe\u0301", "café", ["Cafe\u0301s", "cafe\u0301"]),
        ("Doku\u00admente™ da", "dokument", ["Doku\u00admente"]),
        ("a\u00a0ﬁne ½ file", "file", ["file"]),
        ("㍿の文書を読む", "文書", ["文書"]),
        ("東京都と東京", "東京", ["東京", "東京"]),
        ("ｻｰﾊﾞｰを", "サーバー", ["ｻｰﾊﾞｰ"]),
        ("since v1.2.3", "1.2", ["1.2"]),
        ("nothing", "", []),
    ],
)
def test_positions_refer_to_the_original(text: str, query: str, expected: list[str]) -> None:
    language = "ja" if query and ord(query[0]) > 0x3000 else "de" if query == "dokument" else "en"
    assert marked(text, query, language) == expected


TEXTS = st.text(
    st.one_of(
        st.characters(codec="utf-8"),
        st.sampled_from("ab-_.'’1,+#ﬁｆé\u0301\u0316\u3099カｶﾞ가\u1100\u1161東京あーกิ\u00ad\u200b™½№ǅßЁё \n"),
    ),
    max_size=60,
)


@given(TEXTS)
def test_positions_and_terms_agree(text: str) -> None:
    """The folded text is the normalized text, and every position maps to a range of the original, in order."""
    folded = with_offsets(text)
    assert folded.text == normalized(text)
    ranges = [folded.original(index, index + 1) for index in range(len(folded.text))]
    assert all(0 <= start < end <= len(text) for start, end in ranges)
    assert ranges == sorted(ranges)


@given(TEXTS, st.sampled_from(["en", "de", "zh", "fr"]))
def test_every_text_finds_itself(text: str, language: str) -> None:
    """A query equal to the text is found and marked at its position."""
    terms = set(document_terms(text, language))
    words = query_words(text)
    assert all(not terms.isdisjoint(word.terms) for word in words)
    spans = matches(text, language, words)
    assert bool(spans) == bool(terms)
    assert all(start < end for start, end in spans)
    assert all(left[1] <= right[0] for left, right in pairwise(spans))


@given(TEXTS)
def test_terms_are_short_and_whole(text: str) -> None:
    assert all(0 < len(term) <= 80 and not re.search(r"\s", term) for term in document_terms(text, "en"))


@given(st.text(st.characters(max_codepoint=127)))
def test_ascii_is_read_as_any_other_text(text: str) -> None:
    assert tokens_in(text).findall(text) == _TOKEN.findall(text)


def test_characters_that_join_are_known() -> None:
    """Cut before any other character, a text has the same normal form, so positions can be mapped piece by piece."""
    for code in [*range(0x80, 0x3400), *range(0xA000, 0xAC00), *range(0xF900, 0x11800)]:
        for sample in ("e", "カ", "\u1100", "\u09c7"):
            text = sample + chr(code)
            assert with_offsets(text).text == normalized(text), hex(code)


HOSTILE = {
    "one word": "a" * 300_000,
    "Chinese": "東" * 300_000,
    "katakana": "ア" * 300_000,
    "marks in the wrong order": "a" + "\u0301\u0316" * 150_000,
    "hyphens": "a-" * 150_000,
    "numbers": "1." * 150_000,
    "thousands": "1,000," * 50_000,
    "humps": "Ab" * 150_000,
    "apostrophes": "'" * 300_000,
    "joiners": "a\u200b" * 150_000,
    "ligatures": "ﬁ" * 300_000,
    "long ligatures": "\ufdfa" * 20_000,
}


@pytest.mark.slow
@pytest.mark.timeout(60)
@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_texts_take_linear_time(name: str) -> None:
    """Quadratic time would exceed the timeout."""
    text = HOSTILE[name]
    document_terms(text, "en")
    matches(text, "en", query_words("file"))
    query_words(text[:50_000])


def test_long_words_stay_apart() -> None:
    first, second = document_terms("x" * 500 + " " + "x" * 501, "en")
    assert first != second
    assert len(first) <= 80
    assert finds("x" * 500, "x" * 500, "en")
    assert unicodedata.is_normalized("NFKC", first)


def test_no_pattern_repeats_a_group_possessively() -> None:
    """Python before 3.11.5 matches such patterns wrongly; an atomic group does the same and works everywhere."""
    sources = Path(spanwise.__file__).parent.rglob("*.py")
    lines = [f"{path.name}: {line}" for path in sources for line in path.read_text(encoding="utf-8").splitlines()]
    code = [line for line in lines if not line.split(": ", 1)[1].lstrip().startswith("#")]
    assert [line for line in code if re.search(r"\)(?:[*+?]|\{[\d,]+\})\+", line)] == []
