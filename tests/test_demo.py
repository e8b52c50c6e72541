"""The demo: from chunks in every language to answers, with a note on what it can't show."""

from __future__ import annotations

import pytest

from spanwise.cli import main

pytestmark = pytest.mark.process


def test_the_demo_shows_all_languages(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["demo"]) == 0
    output = capsys.readouterr().out
    assert output.count("━━ handbook.") == 5
    assert "  ~ " in output
    assert "  + " in output
    assert "\x1b" not in output  # no colours without a terminal
    assert output.count("$ spanwise index") == 2
    assert output.count("$ spanwise search") == 4
    assert "⟪Архив договоров⟫" in output  # the query is архивов
    assert "⟪technik⟫" in output  # the query is techników
    assert "⟪bicycles⟫" in output  # the changed file, found by bicycle


def test_the_demo_shows_one_language(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["demo", "zh"]) == 0
    captured = capsys.readouterr()
    assert "数据安全与权限管理手册" in captured.out
    assert "⟪审批⟫" in captured.out
    assert "0 added  1 changed" in captured.err


def test_a_language_that_is_not_there(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["demo", "xx"]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert "hint: there are de, en, pl, ru, zh" in captured.err
