"""The arguments of `spanwise evaluate`."""

from __future__ import annotations

from typing import Any, Final

from spanwise.cli.parser import FORMATS, command_of, number
from spanwise.evaluation.peers import PEERS
from spanwise.retrieval.request import UNITS

_DESCRIPTION: Final = """\
Measure how well questions are answered: by a store, or by documents under several settings.

QUESTIONS is a file of JSON lines: a question, the document that answers it (path or name of its
file, or its id), and the answer: its text, or its ranges in characters of what `spanwise read
FILE` prints (no BOM, a line end is one character).

  {"question": "Who signs trips?", "document": "handbook.md", "answer": "The lead signs."}
  {"question": "Who signs trips?", "document": "handbook", "ranges": [[1043, 1101]]}

A text is looked up exactly but for white space, else by its best alignment, if that scores 0.8
or more. A line that can't be used is named, and the rest goes on. PATHs are files and folders;
each setting indexes them into a store of its own, which is deleted afterwards.

recall: the share of the answer's characters that is returned; precision: the share of what is
returned that is the answer; IoU: both in one (what is right by what is asked for or returned).
MRR, nDCG: how far up the right document is among those of 10 passages. Means over the questions
with a 95 % interval, of differences too: one that holds 0 may be chance."""


def add_evaluate(commands: Any) -> None:
    """Add `spanwise evaluate`."""
    command = command_of(
        commands, "evaluate", "measure how well questions are answered, and compare settings",
        "spanwise evaluate questions.jsonl docs/",
        "spanwise evaluate questions.jsonl --store docs.db --html report.html",
        "spanwise evaluate questions.jsonl docs/ --setting structure --setting 'fixed target_tokens=300' \\",
        "    --peer langchain-recursive:400/200 --split tune --html report.html",
        "spanwise evaluate --make-questions questions.jsonl docs/", takes="QUESTIONS [PATH ...]")  # fmt: skip
    command.description = _DESCRIPTION
    command.add_argument("paths", nargs="*", metavar="QUESTIONS PATH", help="the questions, then files and folders")
    what = "ask this store instead of indexing PATHs; --tenant NAME: whose documents in it"
    command.add_argument("--store", dest="asked_store", metavar="STORE", help=what)
    command.add_argument("--tenant", metavar="NAME", help="as above")
    what = "a strategy and its options, as in 'fixed target_tokens=300'; repeat it to compare"
    command.add_argument("--setting", dest="settings", action="append", default=[], metavar="TEXT", help=what)
    what = f"another library's splitter with its size and overlap, NAME:400/200: {', '.join(PEERS)}"
    command.add_argument("--peer", dest="peers", action="append", default=[], metavar="TEXT", help=what)
    what = "chooses among the settings on one half of the questions (tune) and reports on the other; held: that alone"
    command.add_argument("--split", choices=("tune", "held"), metavar="HALF", help=what)
    how = command.add_argument_group("how it is asked")
    what = "tokens that are read (250, 1000 and 4000); repeat it; 0 for none"
    how.add_argument("--budget", dest="budgets", action="append", type=number, metavar="N", help=what)
    what = "hits that are read (1, 5 and 10); repeat it; 0 for none"
    how.add_argument("--limit", dest="limits", action="append", type=number, metavar="N", help=what)
    what = "passage or sentence for all; by default sentences for budgets, passages for limits"
    how.add_argument("--unit", choices=UNITS, metavar="NAME", help=what)
    what = "auto, none or a model; by default a store's own, and none for PATHs"
    how.add_argument("--embedder", metavar="NAME", help=what)
    how.add_argument("--tokenizer", default="cl100k", metavar="NAME", help="counts what is returned (cl100k)")
    how.add_argument("--seed", type=number, default=7, metavar="N", help="of the bootstrap (7)")
    how.add_argument("--config", metavar="FILE", help="below every setting; default: the nearest spanwise.toml")
    output = command.add_argument_group("output")
    output.add_argument("--html", dest="output", metavar="PAGE", help="write a page with curves and every question")
    output.add_argument("--json", action="store_true", help="everything as JSON")
    output.add_argument("-q", "--quiet", action="store_true", help="no progress and no notes")
    making = command.add_argument_group("a first set of questions")
    what = "write questions on the PATHs here, made from headings, definitions, table rows and rare words; mend them"
    making.add_argument("--make-questions", dest="made", metavar="FILE", help=what)
    making.add_argument("--questions", type=number, default=100, metavar="N", help="how many at most (100)")
    what = "an OpenAI-compatible endpoint asks instead, and quotes the answers; its key in SPANWISE_API_KEY"
    making.add_argument("--endpoint", metavar="URL", help=what)
    making.add_argument("--model", metavar="NAME", help="the model there; --max-calls N: a bound (1000)")
    making.add_argument("--max-calls", type=number, default=1000, metavar="N", help="as above")
    files = command.add_argument_group("files")
    files.add_argument("--include", action="append", default=[], metavar="GLOB", help="only these, as in .gitignore")
    files.add_argument("--exclude", action="append", default=[], metavar="GLOB", help="not these")
    files.add_argument("--input-format", choices=FORMATS, metavar="NAME", help="read all as: %(choices)s")
