"""Generate the part of docs/cli.md that comes from `--help` and the declared options: `python docs/generate_cli.py`."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path

from spanwise.chunking.strategies import STRATEGIES
from spanwise.cli.arguments import build_parser
from spanwise.pipeline.settings import declared_options

PAGE = Path(__file__).parent / "cli.md"
MARK = "<!-- from here on: python docs/generate_cli.py -->\n"


def page_now() -> str:
    """Return the whole page: the written part above the mark, and the generated part below it."""
    written, mark, _ = PAGE.read_text(encoding="utf-8").partition(MARK)
    if not mark:
        raise ValueError(f"{PAGE.name} has lost its mark: {MARK.strip()}")
    return f"{written}{mark}\n{commands()}\n{strategy_options()}"


def commands() -> str:
    """Return the help of every command."""
    parser = build_parser()
    found = [("spanwise", parser.format_help())]
    found += [(f"spanwise {name}", command.format_help()) for name, command in _commands_of(parser)]
    introduction = (
        "## Commands\n\nFrom here on the page is what `--help` says. `python docs/generate_cli.py` writes it anew.\n\n"
    )
    return introduction + "\n".join(f"### `{name}`\n\n```text\n{text}```\n" for name, text in found)


def _commands_of(parser: argparse.ArgumentParser, group: str = "") -> Iterator[tuple[str, argparse.ArgumentParser]]:
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for name, command in action.choices.items():
                yield f"{group}{name}", command
                yield from _commands_of(command, f"{group}{name} ")


def strategy_options() -> str:
    """Return a table of all options with their default in each strategy that has them."""
    lines = [
        "## Options of the strategies\n",
        "A cell is the default. Where it is empty, the strategy has no such option. The strategy's page says more.",
        "A switch is turned on with its name, such as `--mix-code`, and off with `--no-mix-code`.\n",
        _row("flag", *(f"[`{name}`](strategies/{name}.md)" for name in STRATEGIES)),
        _row(*["---"] * (1 + len(STRATEGIES))),
    ]
    for name in declared_options():
        defaults = (_default(strategy.options, name) for strategy in STRATEGIES.values())
        flag = f"{name} (no flag)" if declared_options()[name].metadata["secret"] else f"--{name.replace('_', '-')}"
        lines.append(_row(f"`{flag}`", *defaults))
    return "\n".join(lines) + "\n"


def _default(options: type, name: str) -> str:
    found = [item.default for item in fields(options) if item.name == name]
    if not found:
        return ""
    if isinstance(found[0], bool):
        return "on" if found[0] else "off"
    return "none" if found[0] is None else str(found[0])


def _row(*cells: str) -> str:
    return f"| {' | '.join(cells)} |"


if __name__ == "__main__":
    PAGE.write_text(page_now(), encoding="utf-8")
