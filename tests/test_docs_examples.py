"""The commands in the docs are run, and their output is compared with the page.

A page is one session in an empty folder, from top to bottom:

- a fenced block with a title, such as `markdown title="notes/plan.md"`, writes that file; a second one is an edit;
- a `console` block that calls `spanwise` or `python` is run: a line that starts with `$ ` is a command, the lines after
  it are what it says;
- `...` alone on a line stands for lines that are left out, inside a line for characters;
- stderr may be left out; where it is shown, it comes below stdout, as in a terminal;
- a command may fail only if the next one is `echo $?`.
"""

from __future__ import annotations

import os
import re
import runpy
import subprocess
import sys
import sysconfig
from collections.abc import Iterator, Mapping
from html import unescape
from pathlib import Path
from typing import NamedTuple

import pytest

from spanwise import cli
from spanwise.checks import RULES, WARNINGS
from spanwise.chunking.strategies import STRATEGIES
from spanwise.errors import OptionError
from spanwise.pipeline.settings import CONFIG_NAMES, declared_options, load_config
from spanwise.records.dialects import DIALECTS, FIELDS_OF
from spanwise.records.record import FIELDS

pytestmark = pytest.mark.process

DOCS = Path(__file__).parent.parent / "docs"
PAGES = [*sorted(DOCS.rglob("*.md")), DOCS.parent / "README.md"]
FENCED = re.compile(
    r'^(?P<fence>`{3,})(?P<kind>\w*)(?: title="(?P<title>[^"]+)")?\n(?P<body>.*?)^(?P=fence)$', re.MULTILINE | re.DOTALL
)
CALL = re.compile(r"^\$ (?:[^\n]*[|;&] *)?(?:spanwise|python) ", re.MULTILINE)


class Command(NamedTuple):
    """A command of a page, its line number, and the output shown for it."""

    line: int
    command: str
    output: list[str]


class PageFile(NamedTuple):
    """A file defined on a page."""

    path: str
    text: str


Step = Command | PageFile


def steps_of(page: str) -> Iterator[Step]:
    """Yield the files and commands of a page, in order."""
    for block in FENCED.finditer(page):
        if block["title"]:
            yield PageFile(block["title"], block["body"])
        elif block["kind"] == "console" and CALL.search(block["body"]):
            yield from commands_of(block["body"], page.count("\n", 0, block.start("body")) + 1)


def commands_of(block: str, first: int) -> Iterator[Command]:
    command: Command | None = None
    for number, line in enumerate(block.splitlines(), first):
        if line.startswith("$ "):
            if command:
                yield command
            command = Command(number, line[2:], [])
        else:
            assert command, f"line {number}: output without a command"
            command.output.append(line)
    if command:
        yield command


def pattern_of(lines: list[str]) -> re.Pattern[str]:
    parts = [
        r"(?:.*\n)*?" if line == "..." else re.escape(line.rstrip()).replace(r"\.\.\.", ".*?") + r"\n" for line in lines
    ]
    return re.compile("".join(parts))


def matches_output(lines: list[str], out: str, err: str) -> bool:
    """Whether the lines match stdout, or stdout followed by stderr."""
    pattern = pattern_of(lines)
    return any(pattern.fullmatch(trimmed(output)) for output in (out, out + err))


def trimmed(text: str) -> str:
    """Remove invisible white space from the ends of lines."""
    return "".join(f"{line.rstrip()}\n" for line in text.splitlines())


def run(command: str, folder: Path, before: int, more: Mapping[str, str]) -> subprocess.CompletedProcess[str]:
    """Run a command in a shell whose previous command ended with the exit code `before`."""
    path = os.pathsep.join([sysconfig.get_path("scripts"), os.environ.get("PATH", "")])
    surroundings = {"PATH": path, "HOME": str(folder), "LC_ALL": "C.UTF-8", "COLUMNS": "100", **more}
    return subprocess.run(
        ["sh", "-c", f"(exit {before}); {command}"],
        cwd=folder, env=surroundings, stdin=subprocess.DEVNULL, capture_output=True, encoding="utf-8", check=False,
    )  # fmt: skip


SESSIONS = [page for page in PAGES if any(isinstance(step, Command) for step in steps_of(page.read_text("utf-8")))]


@pytest.mark.parametrize("page", SESSIONS, ids=lambda page: page.relative_to(DOCS.parent).as_posix())
def test_commands_print_what_the_page_shows(page: Path, tmp_path: Path) -> None:
    printed_what_the_page_shows(page, tmp_path, {})


def printed_what_the_page_shows(page: Path, folder: Path, more: Mapping[str, str]) -> None:
    """Assert that the commands of a page print what it shows, with more variables in their environment."""
    code = 0
    for step in steps_of(page.read_text("utf-8")):
        if isinstance(step, PageFile):
            path = folder / step.path
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(step.text, encoding="utf-8")
            continue
        location = f"{page.name}, line {step.line}: $ {step.command}"
        assert code == 0 or step.command == "echo $?", f"{location}\nthe command before it failed with {code}"
        done = run(step.command, folder, code, more)
        code = done.returncode
        assert matches_output(step.output, done.stdout, done.stderr), f"{location}\n{done.stdout}{done.stderr}"
    assert code == 0, f"the last command of {page.name} failed with {code}"


def test_the_picture_shows_what_the_command_prints(tmp_path: Path) -> None:
    picture = (DOCS / "view.svg").read_text("utf-8")
    lines: dict[float, str] = {}
    for place, text in re.findall(r'<text class="[\w-]+-r\d+" [^>]*y="([\d.]+)"[^>]*>(.*?)</text>', picture, re.DOTALL):
        lines[float(place)] = lines.get(float(place), "") + unescape(text).replace("\xa0", " ")
    command, *shown = (line.rstrip() for _, line in sorted(lines.items()))
    files = (step for step in steps_of((DOCS.parent / "README.md").read_text("utf-8")) if isinstance(step, PageFile))
    note = next(files)
    (tmp_path / note.path).write_text(note.text, encoding="utf-8")
    done = run(f"{command.removeprefix('$ ')} --format view", tmp_path, 0, {})
    printed = trimmed(done.stdout + done.stderr).splitlines()
    assert [re.sub(r"in \d.*", "", line) for line in shown] == [re.sub(r"in \d.*", "", line) for line in printed]


def rows_of(page: str) -> list[list[str]]:
    """Return the cells of the rows of all tables of a page, without marks."""
    lines = (line for line in page.splitlines() if line.startswith("|"))
    return [
        [cell.strip(" *`").replace("**", "").replace("`", "") for cell in line.strip("|").split("|")] for line in lines
    ]


def percent(text: str) -> float:
    return round(float(text.removesuffix("%")), 1)


def test_figures_are_those_of_the_bench() -> None:
    results = DOCS.parent / "bench" / "results"
    markdown, prose = (results / "results.md").read_text("utf-8").split("## English prose")
    _, figures = (DOCS.parent / "README.md").read_text("utf-8").split("## Figures")
    answers, chunks = figures.split("## ")[0].split("**Chunks**")
    for name, cost, over, cut in rows_of(chunks)[2:]:
        splitter = name.removesuffix(", small cores")
        row = next(row for row in rows_of(markdown) if row[0] == splitter)
        costs = [row[1]] if row[2] == "–" else [row[2], row[1]]
        assert cost == " / ".join(f"{float(value):.1f}" for value in costs)
        assert percent(cut) == percent(row[8])
        in_prose = next((one[5] for one in rows_of(prose) if one[0] == splitter), "0")
        assert row[5] == "0"
        assert over == ("0" if in_prose == "0" else f"{percent(in_prose.split(' (')[0])} % of prose")
    found = rows_of((results / "answers.md").read_text("utf-8"))
    for name, recall, iou in rows_of(answers)[2:]:
        row = next(row for row in found if row[0].startswith(f"{name}:"))
        assert (percent(recall), percent(iou)) == (float(row[1]), float(row[2]))


def test_important_pages_are_run() -> None:
    found = {page.stem for page in SESSIONS}
    assert found >= {"tutorial", "cli", "chunk-a-folder", "check-in-ci", "other-systems"}


@pytest.mark.parametrize(
    ("shown", "out", "err", "same"),
    [
        (["one", "two"], "one\ntwo\n", "", True),
        (["one", "two"], "one  \ntwo", "", True),
        (["one"], "one\ntwo\n", "", False),
        (["one", "...", "four"], "one\ntwo\nthree\nfour\n", "", True),
        (["one", "..."], "one\n", "", True),
        (["o...e (...)"], "one (0.1 s)\n", "", True),
        (["o...e"], "one\ntwo\nthree\n", "", False),
        (["data"], "data\n", "words\n", True),
        (["data", "words"], "data\n", "words\n", True),
        (["words"], "", "words\n", True),
        (["data", "other words"], "data\n", "words\n", False),
        ([], "data\n", "", False),
        ([], "", "words\n", True),
    ],
)
def test_output_is_compared(shown: list[str], out: str, err: str, same: bool) -> None:
    assert matches_output(shown, out, err) is same


def test_only_console_blocks_with_our_commands_are_run() -> None:
    page = """
```console
$ make demo    # sets up .venv
```

```console
$ pip install "spanwise[parquet]"
```

````markdown title="notes/plan.md"
# Plan

```sh
ls
```
````

```console
$ cat notes/plan.md | spanwise chunk - | head -1
{...}
$ python chunk_notes.py
```
"""
    assert list(steps_of(page)) == [
        PageFile("notes/plan.md", "# Plan\n\n```sh\nls\n```\n"),
        Command(19, "cat notes/plan.md | spanwise chunk - | head -1", ["{...}"]),
        Command(21, "python chunk_notes.py", []),
    ]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(DOCS.parent).as_posix())
def test_links_into_pages_find_their_heading(page: Path) -> None:
    for target, anchor in re.findall(r"\]\((?!https?:)([^)#\s]*)#([^)\s]+)\)", page.read_text("utf-8")):
        text = (page.parent / target if target else page).read_text("utf-8")
        assert anchor in {anchor_of(title) for title in re.findall(r"^#+ (.*)$", text, re.MULTILINE)}, anchor


def anchor_of(title: str) -> str:
    return re.sub(r"[^\w -]", "", title).strip().lower().replace(" ", "-")


def test_the_reference_is_up_to_date() -> None:
    now = runpy.run_path(str(DOCS / "generate_cli.py"))["page_now"]()
    page = (DOCS / "cli.md").read_text("utf-8")
    if sys.version_info >= (3, 13):  # argparse prints `-o FILE, --output FILE` as `-o, --output FILE` from there on
        now, page = words_alone(now), words_alone(page)
    assert page == now, "python docs/generate_cli.py writes it anew"


def words_alone(help: str) -> str:
    return " ".join(re.sub(r"(-\w) [A-Z]+, --", r"\1, --", help).split())


def section(page: str, heading: str) -> str:
    """Return the text under a heading of level two."""
    found = re.search(rf"^## {re.escape(heading)}\n(.*?)(?=^## |\Z)", (DOCS / page).read_text("utf-8"), re.M | re.S)
    assert found, f"{page} has no section {heading}"
    return found[1]


def first_cells(text: str) -> list[str]:
    """Return the names in the first column of the tables of a text."""
    return re.findall(r"^\| `([^`]+)` \|", text, re.MULTILINE)


@pytest.mark.parametrize("dialect", DIALECTS)
def test_dialects_are_shown_with_their_fields(dialect: str) -> None:
    assert first_cells(section("howto/other-systems.md", f"`{dialect}`")) == list(FIELDS_OF[dialect])


def test_exit_codes_are_complete() -> None:
    codes = {0, cli.FAILED, cli.WRONG_USE, cli.NOT_WRITTEN, cli.INTERRUPTED}
    assert {int(code) for code in first_cells(section("cli.md", "Exit codes"))} == codes


def test_keys_of_the_config_file_are_complete(tmp_path: Path) -> None:
    documented = section("cli.md", "The config file")
    keys = known_keys(tmp_path, "") | known_keys(tmp_path, '[[files]]\nglob = "*"\n')
    assert set(first_cells(documented)) == keys - set(declared_options()) | {
        "max_tokens", "[[files]]", "[search]", "[plans.NAME]", "[tenants]",
    }  # fmt: skip
    assert all(f"`{name}`" in documented for name in CONFIG_NAMES)


def known_keys(folder: Path, table: str) -> set[str]:
    """Return the keys that a config table may have, from the error message for an unknown key."""
    path = folder / CONFIG_NAMES[0]
    path.write_text(f"{table}qqqqqq = 1\n", encoding="utf-8")
    with pytest.raises(OptionError) as refused:
        load_config(path)
    return set(str(refused.value.hint).removeprefix("known: ").split(", "))


def test_rules_of_the_check_are_complete() -> None:
    assert first_cells(section("howto/check-in-ci.md", "The rules")) == [*RULES, *WARNINGS]


@pytest.mark.parametrize("page", sorted((DOCS / "howto").glob("from-*.md")), ids=lambda page: page.stem)
def test_names_in_the_migration_guides_exist(page: Path) -> None:
    rows = re.findall(r"^\| `[^|]+ \| ([^|]+) \| [^|]*\|$", section(f"howto/{page.name}", "Names"), re.MULTILINE)
    named = {name for row in rows for name in re.findall(r"`([^`]+)`", row)}
    assert named
    assert named <= {*STRATEGIES, *declared_options(), *FIELDS, "tokenizer", "extra"}
