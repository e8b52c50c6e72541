"""The demo shows chunks of every language, and says what it can't show."""

from __future__ import annotations

import pytest

from spanwise.cli import main


def test_the_demo_shows_all_languages(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["demo"]) == 0
    shown = capsys.readouterr().out
    assert shown.count("━━ handbook.") == 5
    assert "  ~ " in shown
    assert "  + " in shown
    assert "\x1b" not in shown  # no colours where nobody looks


def test_the_demo_shows_one_language(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["demo", "zh"]) == 0
    assert "数据安全与权限管理手册" in capsys.readouterr().out


def test_a_language_that_is_not_there(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["demo", "xx"]) == 2
    shown = capsys.readouterr()
    assert shown.out == ""
    assert "hint: there are de, en, pl, ru, zh" in shown.err
