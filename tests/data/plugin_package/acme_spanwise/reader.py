"""A reader of INI files: a section is a heading, what it says is a list."""

from __future__ import annotations

from configparser import ConfigParser
from typing import Any

import spanwise


class IniReader:
    """Reads INI files."""

    suffixes = (".ini", ".cfg")

    def read(self, data: bytes, **metadata: Any) -> spanwise.Document:
        """Return the sections as headings."""
        parser = ConfigParser()
        parser.read_string(data.decode())
        lines: list[str] = []
        for name in parser.sections():
            lines += [f"# {name}", "", *(f"- {key}: {value}" for key, value in parser[name].items()), ""]
        return spanwise.read_text("\n".join(lines), **metadata)
