"""`spanwise demo`: from handbooks in five languages to answers, and again after a change, in a temporary folder."""

from __future__ import annotations

import argparse
import shlex
import shutil
import sys
import tempfile
from collections.abc import Sequence
from contextlib import chdir
from pathlib import Path
from typing import Any, Final, NamedTuple

from spanwise.cli.chunk_view import LEGEND, pieces_of, show_view
from spanwise.cli.terminal import Screen, counted, one_line
from spanwise.errors import OptionError
from spanwise.pipeline.chunk import chunk
from spanwise.readers import read

DEMO: Final = Path(__file__).parent.parent / "demo"
_STORE: Final = "handbooks.db"
_MAX_TOKENS: Final = 256
_SEARCHES: Final = 3  # at most; the first scenes of those languages that were named


class _Scene(NamedTuple):
    """A query for a handbook, a sentence that is then added to it, and a query for that."""

    query: str
    remark: str
    change: str
    new_query: str


_SCENES: Final = {
    "pl": _Scene(
        "przydzielanie techników do zgłoszeń", "Polish: every word is inflected otherwise in the handbook",
        "Zgłoszenia dotyczące rowerów firmowych przyjmuje recepcja.", "kto przyjmuje zgłoszenie roweru?",
    ),
    "ru": _Scene(
        "хранение архивов договоров", "Russian: the table's row says `Архив договоров`",
        "Копии ноутбуков хранятся 45 дней.", "сколько дней хранится копия ноутбука?",
    ),
    "zh": _Scene(
        "谁审批权限申请", "Chinese: words without spaces", "自行车停车位的权限由前台审批。", "谁审批自行车停车位?",
    ),
    "de": _Scene(
        "Prüfung von Palettenregal und Leiter", "German: `Palettenregale`, `Leitern`",
        "Fahrräder prüft die Werkstatt alle sechs Monate.", "Wer prüft das Fahrrad?",
    ),
    "en": _Scene(
        "who approved my trip?", "English: `approver`, `approval`",
        "Cycling to a client is paid at 20p per mile; bicycles are insured by Norvelda.", "what is paid for a bicycle?",
    ),
}  # fmt: skip


def run(arguments: argparse.Namespace) -> int:
    """Show chunks, the index, searches, a change, the index again, and a search that finds the change."""
    documents = {path.suffixes[0][1:]: path for path in sorted((DEMO / "documents").glob("*.md"))}
    for name in arguments.languages:
        if name not in documents:
            raise OptionError(name, "is not a language of the demo", hint=f"there are {', '.join(sorted(documents))}")
    wanted = sorted(set(arguments.languages or documents))
    screen = Screen(sys.stdout)
    with tempfile.TemporaryDirectory(prefix="spanwise-demo-") as folder, chdir(folder):
        Path("handbooks").mkdir()
        for name in wanted:
            shutil.copy(documents[name], "handbooks")
        _show_chunks(screen, [Path("handbooks") / documents[name].name for name in wanted])
        return _indexed_and_searched(screen, wanted, documents)


def _indexed_and_searched(screen: Screen, wanted: Sequence[str], documents: dict[str, Path]) -> int:
    asked = [name for name in _SCENES if name in wanted]
    index = ["index", "handbooks", "--store", _STORE, "--max-tokens", str(_MAX_TOKENS)]
    _part(screen, "Index them: one file, no server, offline")
    code = _command(screen, index)
    _part(screen, "Search: other forms of a word are found, and every passage says where it stands")
    for name in asked[:_SEARCHES]:
        screen.line(f"# {_SCENES[name].remark}", "dim")
        code = code or _command(screen, ["search", _SCENES[name].query, "--store", _STORE, "--limit", "2"])
    changed = "en" if "en" in asked else asked[0]
    file, scene = Path("handbooks") / documents[changed].name, _SCENES[changed]
    _part(screen, "Change one handbook, and index again: what didn't change is kept")
    with file.open("a", encoding="utf-8") as handbook:
        handbook.write(f"\n{scene.change}\n")
    screen.line(f"$ echo {shlex.quote(scene.change)} >> {file.as_posix()}", "head")
    code = code or _command(screen, index)
    _part(screen, "Search again: the new sentence is found, and --explain says why")
    return code or _command(screen, ["search", scene.new_query, "--store", _STORE, "--limit", "1", "--explain"])


def _part(screen: Screen, title: str) -> None:
    screen.line(f"\n━━ {title}\n", "strong")
    sys.stdout.flush()


def _command(screen: Screen, arguments: list[str]) -> int:
    """Show a command and run it, as if it were typed."""
    from spanwise.cli.arguments import parsed

    screen.line(f"$ spanwise {shlex.join(arguments)}", "head")
    sys.stdout.flush()
    given = parsed(arguments)
    code: int = given.run(given)
    sys.stdout.flush()
    return code


def _show_chunks(screen: Screen, files: Sequence[Path]) -> None:
    """Show two chunks of each handbook: one with overlap and one with a repeated table head, where there are such."""
    count = counted(len(files), "handbook")
    _part(screen, f"{count}, each in a language of its own, in chunks of at most {_MAX_TOKENS} tokens")
    for file in files:
        records = [one.to_dict() for one in chunk(read(file), max_tokens=_MAX_TOKENS)]
        show_view(screen, one_line(file.name), _examples(records), 2, of=len(records))
    screen.line(LEGEND, "dim")


def _examples(records: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    chosen: list[dict[str, Any]] = []
    for role in ("overlap_prev", "context"):
        has_role = (record for record in records if any(role == one for one, _ in pieces_of(record)))
        chosen += [found for found in [next(has_role, None)] if found]
    return chosen or list(records[:2])
