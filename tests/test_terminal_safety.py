"""Nothing that a document, a name, a setting or an argument holds can control the terminal, whatever the command."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Final

import pytest

from command import files, on_terminal, ran

EVIL: Final = (
    "a\x1b[2J\x1b]0;title\x07\x1b[7mb\x08\x0b\x0c\x7f\x80\x85\x9b31m\x9dc\x9f"
    "\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\u2028\u2029z"
)
"""C0, C1, DEL, the controls of direction and the ends of lines, and sequences made of them."""
NAME: Final = EVIL.replace("/", "") + "\nerror: forged\r.md"
OWN: Final = re.compile(r"\x1b\[(?:0|1|2|1;33|3[1-6])m|\r?\x1b\[K")
DIRECTIONS: Final = "\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"
CONTROLS: Final = map(chr, (*range(32), *range(127, 160), 0x2028, 0x2029))
FORBIDDEN: Final = frozenset([*CONTROLS, *DIRECTIONS]) - {"\n", "\t"}
TEXT: Final = f"""---
title: "{json.dumps(EVIL)[1:-1]}"
labels: ["{json.dumps(EVIL)[1:-1]}"]
---

# Trips {EVIL}

Trips {EVIL} are booked in the portal. See [[{EVIL}]] and [[missing#{EVIL}]]. ^one

Second. ^one

| City {EVIL} | Rate |
|------|-----:|
| Berlin {EVIL} | 41 |

```{EVIL}
code {EVIL}
```
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder in which everything has evil names and texts: notes, chunk files, a store, a config file."""
    top = files(tmp_path_factory.mktemp("evil"), {f"docs/{NAME}": TEXT, "docs/plain.txt": f"Trips {EVIL}\n" * 3})
    files(top, {
        "docs/page.html": f"<title>{EVIL}</title><nav>{EVIL}</nav><h1>Trips {EVIL}</h1><p>Trips {EVIL}.</p>",
        "evil.toml": f'[plans."{json.dumps(EVIL)[1:-1]}"]\nstrategy = "fixed"\n'
                     f'[tenants]\n"{json.dumps(EVIL)[1:-1]}" = "{json.dumps(EVIL)[1:-1]}"\n',
        "wrong.toml": f'"{json.dumps(EVIL)[1:-1]}" = 1\n',
        "broken.toml": f"a = {EVIL}\n",
        f"{NAME}.jsonl": "",
        "no-chunks.jsonl": f"{EVIL}\n",
        "weights.toml": f'[search]\n"{json.dumps(EVIL)[1:-1]}" = 1\n',
    })  # fmt: skip
    assert ran("chunk", "docs", "-o", "new.jsonl", cwd=top).code == 0
    changed = (top / "new.jsonl").read_text(encoding="utf-8").replace("Trips", "Travels")
    (top / "old.jsonl").write_text(changed, encoding="utf-8")
    (top / f"{NAME}.jsonl").write_bytes((top / "new.jsonl").read_bytes())
    arguments = ("--store", "s.db", "--embedder", "none", "--tenant", f"t{EVIL}")
    assert ran("index", "docs", *arguments, cwd=top).code == 0
    assert ran("index", "docs", *arguments[:4], cwd=top).code == 0
    return top


COMMANDS: Final[dict[str, tuple[str, ...]]] = {
    "chunk": ("chunk", "docs"),
    "chunk as a table": ("chunk", "docs", "--format", "table"),
    "chunk whole": ("chunk", "docs", "--lines", "0"),
    **{f"chunk as {name}": ("chunk", "docs", "--format", name) for name in ("jsonl", "json", "csv")},
    "chunk as a dialect": ("chunk", "docs", "--dialect", "spec-v1"),
    "chunk what is missing": ("chunk", f"docs/missing{NAME}", "docs"),
    "chunk only what is missing": ("chunk", NAME),
    "chunk an unknown format": ("chunk", f"docs/{NAME}", "--input-format", EVIL),
    "chunk to an unknown suffix": ("chunk", "docs", "-o", f"x.{EVIL}"),
    "chunk to a folder": ("chunk", "docs", "-o", f"{EVIL}/x.jsonl"),
    "chunk with an unknown tokenizer": ("chunk", "docs", "--tokenizer", NAME),
    "chunk with an unknown strategy": ("chunk", "docs", "--strategy", NAME),
    "chunk with an unknown plan": ("chunk", "docs", "--plan", NAME),
    "chunk with a wrong pattern": ("chunk", "docs", "--include", f"!{EVIL}"),
    "chunk with wrong metadata": ("chunk", "docs", "--meta", EVIL),
    "an unknown flag": ("chunk", "docs", f"--{EVIL}"),
    "an unknown command": (EVIL,),
    "check": ("check", "new.jsonl", "--source", "docs"),
    "check damage": ("check", "old.jsonl", "--source", "docs"),
    "check damage as JSON": ("check", "old.jsonl", "--source", "docs", "--json"),
    "check no chunks": ("check", "no-chunks.jsonl"),
    "check what is missing": ("check", NAME),
    "index again": ("index", "docs", "--store", "s.db", "--embedder", "none"),
    "index anew": ("index", "docs", "--store", f"{NAME}.db", "--embedder", "none", "--dry-run"),
    "index as JSON": ("index", "docs", "--store", "s.db", "--embedder", "none", "--json"),
    "index with an unknown embedder": ("index", "docs", "--store", "s.db", "--embedder", NAME),
    "search": ("search", "trips", "--store", "s.db", "--tenant", f"t{EVIL}"),
    "search, explained": ("search", "trips", "--store", "s.db", "--full", "--explain"),
    "search as JSON": ("search", "trips", "--store", "s.db", "--json"),
    "search for evil": ("search", f"trips {EVIL}", "--store", "s.db", "--explain"),
    "search in no store": ("search", "trips", "--store", NAME),
    "search another tenant": ("search", "trips", "--store", "s.db", "--tenant", NAME),
    "search with wrong weights": ("search", "trips", "--store", "s.db", "--config", "weights.toml"),
    "store status": ("store", "status", "--store", "s.db"),
    "store list": ("store", "list", "--store", "s.db", "--all-tenants"),
    "store list as JSON": ("store", "list", "--store", "s.db", "--all-tenants", "--json"),
    "store verify": ("store", "verify", "--store", "s.db"),
    "store delete": ("store", "delete", NAME, "--store", "s.db"),
    "inspect": ("inspect", f"docs/{NAME}", "--html", f"page{EVIL}.html"),
    "inspect to the terminal": ("inspect", f"docs/{NAME}", "--html", "-"),
    "read": ("read", f"docs/{NAME}"),
    "read blocks": ("read", f"docs/{NAME}", "--blocks"),
    "read as JSON": ("read", f"docs/{NAME}", "--json"),
    "read HTML": ("read", "docs/page.html"),
    "read what is missing": ("read", NAME),
    "stats": ("stats", f"{NAME}.jsonl", "new.jsonl"),
    "stats as JSON": ("stats", f"{NAME}.jsonl", "--json"),
    "diff": ("diff", "old.jsonl", "new.jsonl"),
    "diff as JSON": ("diff", "old.jsonl", "new.jsonl", "--json"),
    "links": ("links", "docs"),
    "links as JSON": ("links", "docs", "--json"),
    "strategies": ("strategies", NAME),
    "plans": ("plans", "--config", "evil.toml", "--sample", f"docs/{NAME}"),
    "config": ("config", f"docs/{NAME}", "--config", "evil.toml"),
    "config, wrong": ("config", "--config", "wrong.toml"),
    "config, broken": ("config", "--config", "broken.toml"),
    "config, missing": ("config", "--config", NAME),
    "cache": ("cache", "status", "--cache", f"cache{NAME}"),
    "demo": ("demo", NAME),
    "completion": ("completion", NAME),
}


@pytest.mark.process
@pytest.mark.parametrize("more", [{}, {"NO_COLOR": "1"}], ids=["coloured", "plain"])
@pytest.mark.parametrize("name", COMMANDS)
def test_no_command_lets_text_control_the_terminal(name: str, more: dict[str, str], folder: Path) -> None:
    code, output = on_terminal(*COMMANDS[name], cwd=folder, more=more)
    assert code in {0, 1, 2, 3}
    assert output.strip()
    shown = OWN.sub("", output)
    assert sorted({character for character in shown if character in FORBIDDEN}) == []
    assert "\nerror: forged" not in shown
    assert "Traceback" not in shown


@pytest.mark.process
def test_what_is_piped_stays_as_it_is(folder: Path) -> None:
    text = TEXT.replace("\r", "\n")
    assert ran("read", f"docs/{NAME}", cwd=folder).out.decode() == text
    lines = ran("chunk", f"docs/{NAME}", cwd=folder).out
    assert any(EVIL in json.loads(line)["normalized_text"] for line in lines.splitlines())


@pytest.mark.process
def test_json_on_a_terminal_is_the_same_json(folder: Path) -> None:
    piped = json.loads(ran("read", f"docs/{NAME}", "--json", cwd=folder).out)
    _, shown = on_terminal("read", f"docs/{NAME}", "--json", cwd=folder, columns=10_000)
    assert json.loads(shown) == piped


@pytest.mark.process
@pytest.mark.parametrize(
    "name", ["store list", "search", "chunk as a table", "links", "stats", "chunk what is missing"]
)
def test_names_are_shown_escaped(name: str, folder: Path) -> None:
    _, shown = on_terminal(*COMMANDS[name], cwd=folder, columns=1000, more={"NO_COLOR": "1"})
    assert r"\x1b[2J\x1b]0;title\x07\x1b[7mb\x08" in shown
    if name in {"search", "links", "chunk what is missing"}:  # the others cut long names
        assert r"z\nerror: forged\r.md" in shown
