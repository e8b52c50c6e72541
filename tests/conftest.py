"""Fixtures and Hypothesis settings shared by all test files."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors, trainers

from browsing import NO_DEJAVU, missing_for_browser_tests
from fake_endpoint import Server, serving, topics
from plugging import acme as acme  # fixtures
from plugging import install as install
from sanitized import NO_SANITIZERS

settings.register_profile(
    "spanwise",
    deadline=None,  # time is bounded by pytest-timeout
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
    derandomize=True,  # the same examples on every machine
)
settings.load_profile("spanwise")

DEMO = Path(__file__).parent.parent / "src" / "spanwise" / "cli" / "demo" / "documents"


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Report in one line which tests could not run on this machine, and what to install."""
    skipped = {str(report.longrepr) for report in terminalreporter.stats.get("skipped", [])}
    possible = missing_for_browser_tests(), NO_DEJAVU, NO_SANITIZERS
    reasons = [one for one in possible if one and any(one in text for text in skipped)]
    if reasons:
        packages = "chromium fonts-dejavu-core fonts-noto-cjk gcc"
        line = f"TESTS WERE SKIPPED: {', '.join(reasons)} (on Debian: apt-get install {packages})"
        terminalreporter.write_line(line, red=True, bold=True)


@pytest.fixture(scope="session")
def word_piece(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Train a BERT-like tokenizer.json on the demo's documents; it puts two special tokens around every text."""
    tokenizer = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer()
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    special = ["[UNK]", "[CLS]", "[SEP]", "[PAD]"]
    trainer = trainers.WordPieceTrainer(vocab_size=3000, special_tokens=special, show_progress=False)
    tokenizer.train_from_iterator([path.read_text(encoding="utf-8") for path in sorted(DEMO.glob("*.md"))], trainer)
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 1), ("[SEP]", 2)]
    )
    tokenizer.enable_truncation(max_length=64)
    tokenizer.enable_padding(length=64)
    path = tmp_path_factory.mktemp("tokenizer") / "tokenizer.json"
    tokenizer.save(str(path))
    return str(path)


@pytest.fixture(scope="session")
def model() -> Iterator[Server]:
    """Serve a model for which every line with an even number of characters starts a topic."""
    with serving(topics(lambda line: len(line) % 2 == 0)) as server:
        yield server


@pytest.fixture
def endpoint(model: Server, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> str:
    """Set the model in the environment, so that `smart` runs like any other strategy; return its URL."""
    monkeypatch.setenv("SPANWISE_ENDPOINT", model.url)
    monkeypatch.setenv("SPANWISE_MODEL", "even")
    monkeypatch.setenv("SPANWISE_CACHE", str(tmp_path_factory.mktemp("cache")))
    return model.url
