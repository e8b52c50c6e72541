"""The demo goes from chunks in every language to answers, and says what it can't show."""

from __future__ import annotations

import pytest

from spanwise.cli import main

pytestmark = pytest.mark.process


def test_the_demo_shows_all_languages(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["demo"]) == 0
    shown = capsys.readouterr().out
    assert shown.count("━━ handbook.") == 5
    assert "  ~ " in shown
    assert "  + " in shown
    assert "\x1b" not in shown  # no colours where nobody looks
    assert shown.count("$ spanwise index") == 2
    assert shown.count("$ spanwise search") == 4
    assert "⟪Архив договоров⟫" in shown  # asked for as архивов
    assert "⟪technik⟫" in shown  # asked for as techników
    assert "⟪bicycles⟫" in shown  # the change, asked for as bicycle


def test_the_demo_shows_one_language(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["demo", "zh"]) == 0
    shown = capsys.readouterr()
    assert "数据安全与权限管理手册" in shown.out
    assert "⟪审批⟫" in shown.out
    assert "0 added  1 changed" in shown.err


def test_a_language_that_is_not_there(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["demo", "xx"]) == 2
    shown = capsys.readouterr()
    assert shown.out == ""
    assert "hint: there are de, en, pl, ru, zh" in shown.err
