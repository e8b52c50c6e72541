"""The examples of the CommonMark and GitHub specifications, from marko's source package."""

from __future__ import annotations

import re
import tarfile
from pathlib import Path

ROOT = Path(__file__).parent.parent


def specification(name: str) -> dict[str, list[str]]:
    """Return the examples of a specification by section."""
    found = sorted((ROOT / ".venv" / "specs").glob("marko-*.tar.gz"))
    assert found, "the specifications are missing: run `make .venv/specs/ready`"
    with tarfile.open(found[-1]) as archive:
        member = next(item for item in archive.getnames() if item.endswith(f"tests/spec/{name}.txt"))
        content = archive.extractfile(member)
        assert content
        text = content.read().decode()
    fence = "`" * 32
    sections: dict[str, list[str]] = {}
    pattern = re.compile(
        rf"^#{{1,6}} +([^\n]*)$|^{fence} example[^\n]*\n(.*?)^\.$.*?^{fence}$", re.MULTILINE | re.DOTALL
    )
    heading = ""
    for match in pattern.finditer(text):
        if match[1] is not None:
            heading = match[1]
        else:
            sections.setdefault(heading, []).append(match[2].replace("→", "\t"))
    return sections
