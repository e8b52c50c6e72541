"""Evaluation: its figures recomputed in a second, plain way; stores, folders, settings, peers and halves."""

from __future__ import annotations

import json
import sys
import tempfile
from itertools import chain
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import spanwise
from evaluating import corpus, plain_ranks, plain_scores, questions
from spanwise.evaluation.intervals import intervals, verdict_of
from spanwise.evaluation.peers import PEERS, peer_of
from spanwise.evaluation.ranges import common, length, merged
from spanwise.evaluation.values import Amount, Interval
from spanwise.text.tokens import tokenizer_of

AMOUNTS = {"budgets": [64, 200], "limits": [1, 3]}


@pytest.fixture
def texts(tmp_path: Path) -> dict[str, str]:
    (tmp_path / "docs").mkdir()
    return corpus(tmp_path / "docs")


@pytest.fixture
def asked(texts: dict[str, str]) -> list[dict[str, Any]]:
    return questions(texts)[::3]


@pytest.fixture
def store(tmp_path: Path, texts: dict[str, str]) -> Path:
    spanwise.index(tmp_path / "docs", tmp_path / "docs.db", embedder=None)
    return tmp_path / "docs.db"


@pytest.mark.slow
def test_the_figures_are_those_of_a_second_plain_computation(
    tmp_path: Path, texts: dict[str, str], asked: list[dict[str, Any]], store: Path
) -> None:
    seen = False
    for unit in (None, "passage", "sentence"):
        report = spanwise.evaluate(asked, store, **AMOUNTS, unit=unit, embedder=None)  # type: ignore[arg-type]
        (result,) = report.results
        opened = spanwise.open_store(store)
        assert {amount.unit for amount in report.amounts} == ({unit} if unit else {"passage", "sentence"})
        for amount in report.amounts:
            plain = plain_scores(opened, asked, amount.kind, amount.value, amount.unit)
            for mine, other in zip(result.scores[amount], plain, strict=True):
                assert mine[:4] == pytest.approx(other)
            means = report.summary[result.name][amount]
            for number, name in enumerate(("recall", "precision", "iou", "tokens")):
                mean = sum(score[number] for score in plain) / len(plain)
                assert means[name].mean == pytest.approx(mean, abs=1e-6)
                assert means[name].low <= means[name].mean <= means[name].high
        assert [*result.mrr, *result.ndcg] == pytest.approx([*chain(*zip(*plain_ranks(opened, asked), strict=True))])
        assert result.chunks == sum(one.chunks for one in opened.reading("").documents())
        opened.close()
        seen = seen or any(0 < score.recall < 1 for scores in result.scores.values() for score in scores)
    assert seen  # some answers are found in part


def test_a_folder_gives_the_figures_of_a_store_that_was_made_of_it(
    tmp_path: Path, asked: list[dict[str, Any]], store: Path
) -> None:
    of_store = spanwise.evaluate(asked, store, **AMOUNTS, embedder=None)  # type: ignore[arg-type]
    of_folder = spanwise.evaluate(asked, tmp_path / "docs", **AMOUNTS)  # type: ignore[arg-type]
    for one, other in zip(of_store.results, of_folder.results, strict=True):
        assert one.mrr == other.mrr
        assert one.chunks == other.chunks
        for amount in of_store.amounts:
            mine, others = one.scores[amount], other.scores[amount]
            assert [score[:5] for score in mine] == [score[:5] for score in others]
    chunks = [chunk for path in sorted((tmp_path / "docs").iterdir()) for chunk in spanwise.chunk(path)]
    assert of_folder.results[0].embedding_tokens == sum(chunk.token_count for chunk in chunks)
    assert of_folder.results[0].chunks == len(chunks)
    assert of_store.results[0].embedding_tokens is None


def test_settings_are_compared_on_the_same_questions_and_their_stores_are_deleted(
    tmp_path: Path, asked: list[dict[str, Any]], monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "temporary").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "temporary"))
    settings = ["structure", "fixed target_tokens=60 max-tokens=90", {"strategy": "blocks", "core_tokens": 32}]
    report = spanwise.evaluate(asked, tmp_path / "docs", settings=settings, **AMOUNTS)  # type: ignore[arg-type]
    assert list((tmp_path / "temporary").iterdir()) == []
    assert [one.name for one in report.results] == [settings[0], settings[1], "blocks core_tokens=32"]
    assert len({one.chunks for one in report.results}) == 3
    assert len(report.comparisons) == 3 * len(report.amounts) * 2
    for one in report.comparisons:
        first, second = (next(r for r in report.results if r.name == name) for name in (one.first, one.second))
        pairs = zip(first.values(one.amount, one.measure), second.values(one.amount, one.measure), strict=True)
        assert one.difference.mean == pytest.approx(sum(b - a for a, b in pairs) / len(asked), abs=1e-6)
        holds_zero = one.difference.low <= 0 <= one.difference.high
        assert (one.verdict == "may be chance") == holds_zero
    best = max(report.summary[one.name][report.main]["recall"].mean for one in report.results)
    assert report.summary[report.best.name][report.main]["recall"].mean == best
    assert any("flatter" in warning for warning in report.warnings)


def test_a_report_is_the_same_every_time_but_for_seconds(tmp_path: Path, asked: list[dict[str, Any]]) -> None:
    def values() -> Any:
        report = spanwise.evaluate(asked, tmp_path / "docs", settings=["structure", "fixed"], **AMOUNTS)  # type: ignore[arg-type]
        return without_seconds(json.loads(json.dumps(report.to_dict())))

    assert values() == values()


def without_seconds(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: without_seconds(one) for name, one in value.items() if "seconds" not in name}
    return [without_seconds(one) for one in value] if isinstance(value, list) else value


def test_a_split_chooses_on_one_half_and_reports_on_the_other(tmp_path: Path, asked: list[dict[str, Any]]) -> None:
    options: Any = {"settings": ["structure", "fixed target_tokens=40", "blocks core_tokens=32"], "budgets": [64],
                    "limits": []}  # fmt: skip
    everything = spanwise.evaluate(asked, tmp_path / "docs", **options)
    tune = spanwise.evaluate(asked, tmp_path / "docs", split="tune", **options)
    held = spanwise.evaluate(asked, tmp_path / "docs", split="held", **options)
    assert tune.held is not None
    lines = [{question.line for question in report.questions} for report in (tune, tune.held, held)]
    assert lines[0] | lines[1] == {question.line for question in everything.questions}
    assert not lines[0] & lines[1]
    assert lines[1] == lines[2]
    assert {one.name for one in tune.held.results} == {"structure", tune.best.name}
    assert tune.held.best.name == tune.best.name == tune.held.chosen
    assert not any("flatter it" in warning for warning in (*tune.warnings, *tune.held.warnings))
    assert any("nothing left to judge by" in warning for warning in held.warnings)
    whole = {question.line: number for number, question in enumerate(everything.questions)}
    scores = everything.results[0].scores[everything.main]
    expected = [scores[whole[question.line]][:5] for question in tune.questions]
    assert [score[:5] for score in tune.results[0].scores[tune.main]] == expected


# ------------------------------------------------------------------------------------------------------------- peers


def words_in_tens(text: str) -> list[tuple[str, int]]:
    """Split as a library might: every ten words, and five of them again in the next."""
    found, words = [], [(at, word) for at, word in _words(text)]
    for first in range(0, max(len(words) - 5, 1), 5):
        part = words[first : first + 10]
        start, end = part[0][0], part[-1][0] + len(part[-1][1])
        found.append((text[start:end], start))
    return found


def _words(text: str) -> list[tuple[int, str]]:
    import re

    return [(found.start(), found[0]) for found in re.finditer(r"\S+", text)]


@pytest.fixture
def semchunk(monkeypatch: pytest.MonkeyPatch) -> None:
    """Install a library of that name that splits every ten words."""
    made = ModuleType("semchunk")

    def chunkerify(count: Any, size: int, **options: Any) -> Any:
        def split(text: str, **how: Any) -> Any:
            chunks = words_in_tens(text)
            return [text for text, _ in chunks], [(start, start + len(text)) for text, start in chunks]

        return split

    made.chunkerify = chunkerify  # type: ignore[attr-defined]
    made.__spec__ = __import__("importlib.machinery").machinery.ModuleSpec("semchunk", None)
    monkeypatch.setitem(sys.modules, "semchunk", made)


@pytest.mark.usefixtures("semchunk")
def test_a_peers_chunks_are_searched_and_returned_as_they_are(tmp_path: Path, asked: list[dict[str, Any]]) -> None:
    report = spanwise.evaluate(asked, tmp_path / "docs", settings=["structure"], peers=["semchunk:10/5"], limits=[1, 3],
                               budgets=[64])  # fmt: skip
    ours, peer = report.results
    assert (ours.kind, peer.kind, peer.name) == ("spanwise", "peer", "semchunk:10/5")
    texts = [(tmp_path / "docs" / path.name).read_text("utf-8") for path in sorted((tmp_path / "docs").iterdir())]
    chunks = [chunk for text in texts for chunk, _ in words_in_tens(text)]
    assert peer.chunks == len(chunks)
    count = tokenizer_of("cl100k").count
    assert peer.embedding_tokens == sum(map(count, chunks))  # nothing is put before them
    sizes = {count(chunk) for chunk in chunks}
    tokens = [score.tokens for score in peer.scores[Amount("limit", 1, "passage")]]
    assert all(size in sizes or size > max(sizes) for size in tokens)  # one chunk, or neighbours joined
    assert all(score.tokens <= 64 for score in peer.scores[report.main])


@pytest.mark.usefixtures("semchunk")
def test_the_whole_chunk_of_a_peer_counts_as_returned_with_its_overlap(tmp_path: Path) -> None:
    words = [f"word{number}" for number in range(40)]
    document = spanwise.read_text(" ".join(words), "text", document_id="a")
    wanted = document.text.index("word5"), document.text.index("word14") + len("word14")
    asked = [{"question": "word14", "document": "a", "ranges": [list(wanted)]}]
    report = spanwise.evaluate(asked, document, peers=["semchunk:10/5"], budgets=[], limits=[1])
    (score,) = report.results[0].scores[report.main]
    assert score.recall == 1.0  # word5 to word9 are the core of the chunk before


def test_every_peer_that_is_not_installed_is_named_with_its_package() -> None:
    for name, peer in PEERS.items():
        if peer.module not in sys.modules and not _installed(peer.module):
            with pytest.raises(spanwise.MissingExtraError, match=f"pip install {peer.package}"):
                peer_of(f"{name}:400", len)


def _installed(module: str) -> bool:
    from importlib.util import find_spec

    return find_spec(module) is not None


@pytest.mark.parametrize("name", ["semchunk:", "semchunk:0", "semchunk:10/9", "semchonk:400", "chonkie-recursive:9/2",
                                  "semchunk:4x"])  # fmt: skip
def test_a_wrong_peer_is_refused(name: str) -> None:
    with pytest.raises(spanwise.OptionError, match="peer"):
        peer_of(name, len)


# ----------------------------------------------------------------------------------------------------------- options


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"settings": ["fixd"]}, "fixd"),
        ({"settings": ["fixed target=a b"]}, "strategy"),
        ({"settings": ["fixed nonsense=3"]}, "nonsense"),
        ({"settings": ["fixed target_tokens=x"]}, "target_tokens"),
        ({"settings": ["fixed", "fixed"]}, "twice"),
        ({"settings": ["'fixed"]}, "setting"),
        ({"budgets": [3]}, "budgets"),
        ({"budgets": [], "limits": []}, "empty"),
        ({"unit": "word"}, "unit"),
        ({"split": "half"}, "split"),
        ({"seed": -1}, "seed"),
        ({"budget": 3}, "budgets"),
        ({"tenant": "acme"}, "tenant"),
    ],
)
def test_wrong_options_are_refused(options: Any, words: str, tmp_path: Path, asked: list[dict[str, Any]]) -> None:
    with pytest.raises(spanwise.OptionError, match=words):
        spanwise.evaluate(asked, tmp_path / "docs", **options)


def test_a_store_has_one_setting(store: Path, asked: list[dict[str, Any]]) -> None:
    with pytest.raises(spanwise.OptionError, match="one setting"):
        spanwise.evaluate(asked, store, settings=["fixed"])


def test_only_the_tenants_documents_are_searched(tmp_path: Path, asked: list[dict[str, Any]]) -> None:
    spanwise.index(tmp_path / "docs", tmp_path / "t.db", tenant="acme", embedder=None)
    report = spanwise.evaluate(asked, tmp_path / "t.db", tenant="acme", budgets=[200], limits=[], embedder=None)
    assert report.summary["store"][report.main]["recall"].mean > 0.5
    with pytest.raises(spanwise.UnreadableError, match="is not there"):
        spanwise.evaluate(asked, tmp_path / "t.db", embedder=None)


def test_a_document_that_cannot_be_read_is_named_and_the_rest_goes_on(
    tmp_path: Path, asked: list[dict[str, Any]]
) -> None:
    (tmp_path / "docs" / "broken.md").write_bytes(b"\x00\xff\xfe\x00" * 100)
    report = spanwise.evaluate(asked, tmp_path / "docs", budgets=[200], limits=[])
    assert len(report.failed) == 1
    assert "broken.md" in report.failed[0]
    assert len(report.questions) == len(asked)


# -------------------------------------------------------------------------------------------- intervals and ranges


def test_intervals_hold_the_mean_and_narrow_with_more_questions() -> None:
    few, many = ([float(number % 2) for number in range(size)] for size in (20, 2_000))
    (first,), (second,) = intervals([few]), intervals([many])
    assert first.mean == second.mean == 0.5
    assert 0.2 < first.low < 0.5 < first.high < 0.8
    assert second.high - second.low == pytest.approx(4 * 0.5 / 2_000**0.5, rel=0.1)
    assert intervals([few]) == intervals([few])
    assert intervals([few], seed=8) != intervals([few])
    assert intervals([[0.25] * 30]) == [Interval(0.25, 0.25, 0.25)]


def test_a_difference_is_paired() -> None:
    ups = [0.1 * (number % 7) for number in range(60)]
    better = [value + 0.05 for value in ups]
    (difference,) = intervals([[b - a for a, b in zip(ups, better, strict=True)]])
    assert verdict_of(difference, 60) == "better"
    assert verdict_of(difference, 19) == "too few questions"
    assert verdict_of(Interval(-0.1, -0.2, -0.05), 60) == "worse"
    assert verdict_of(Interval(0.1, -0.01, 0.2), 60) == "may be chance"


def test_ranges_are_joined_and_intersected_as_sets_of_characters() -> None:
    import random

    draw = random.Random(3)
    for _ in range(300):
        first, second = (
            [(start, start + draw.randrange(1, 9)) for start in (draw.randrange(40) for _ in range(draw.randrange(5)))]
            for _ in range(2)
        )
        one, other = ({at for start, end in ranges for at in range(start, end)} for ranges in (first, second))
        assert length(merged(first)) == len(one)
        shared = common(merged(first), merged(second))
        assert {at for start, end in shared for at in range(start, end)} == one & other
        assert length(shared) == len(one & other)
