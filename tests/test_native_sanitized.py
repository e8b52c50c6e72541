"""Under sanitizers nothing hostile makes the compiled functions read or write what they must not."""

from __future__ import annotations

from pathlib import Path

import pytest

import sanitized
from browsing import skip_or_fail


@pytest.mark.process
@pytest.mark.slow
def test_the_sanitizers_are_silent(tmp_path: Path) -> None:
    if missing := sanitized.missing_for_sanitizers():
        skip_or_fail(missing)
    fuzzed = sanitized.fuzz(sanitized.build(tmp_path), "--rounds", "12")
    assert fuzzed.returncode == 0, fuzzed.stderr
    assert fuzzed.stderr == ""
    assert "2760 calls of 23 functions" in fuzzed.stdout
