"""`spanwise links`."""

from __future__ import annotations

import argparse
import sys
from typing import Any

from spanwise.cli.terminal import Screen, counted, one_line, print_json_lines, stderr_screen
from spanwise.pipeline.vault import Reference, Vault, read_vault


def run(arguments: argparse.Namespace) -> int:
    """Show where the links of a folder of notes lead, and which lead nowhere."""
    vault = read_vault(arguments.folder)
    if arguments.json:
        _write_json(vault)
    else:
        _show(Screen(sys.stdout), vault)
    for error in vault.failed:
        stderr_screen().line(f"error: {one_line(str(error))}")
    return 1 if vault.failed else 0


def _show(screen: Screen, vault: Vault) -> None:
    for reference in vault.dangling:
        link = f"{one_line(reference.source)}: [[{one_line(_target(reference))}]]"
        screen.labelled("dangling", f"{link}: {one_line(reference.problem or '')}")
    for repeated in vault.repeated_ids:
        text = f"{one_line(repeated.note)}: ^{one_line(repeated.block_id)} stands {repeated.times} times"
        screen.labelled("repeated", text)
    linked = sum(1 for references in vault.incoming.values() if references)
    screen.line(
        f"{counted(len(vault.notes), 'note')}, {counted(len(vault.references), 'link')}, "
        f"{len(vault.dangling):,} dangling, {counted(linked, 'note is', 'notes are')} linked to, "
        f"{counted(len(vault.repeated_ids), 'block id')} repeated",
        "strong",
    )


def _target(reference: Reference) -> str:
    link = reference.link
    anchor = (link.heading or "") + (f"^{link.block_id}" if link.block_id else "")
    return f"{link.target}#{anchor}" if anchor else link.target


def _write_json(vault: Vault) -> None:
    records: list[dict[str, Any]] = [
        {"source": one.source, **one.link.to_dict(), "found": one.target, "block": one.block, "problem": one.problem}
        for one in vault.references
    ]
    records += [{"repeated": repeated._asdict()} for repeated in vault.repeated_ids]
    summary = {"notes": len(vault.notes), "links": len(vault.references), "dangling": len(vault.dangling)}
    print_json_lines((*records, {"summary": summary}))
