"""`spanwise completion`: a script that completes commands and options in a shell."""

from __future__ import annotations

import argparse


def run(arguments: argparse.Namespace) -> int:
    """Print the completion script of a shell."""
    import shtab

    from spanwise.cli.arguments import build_parser

    print(shtab.complete(build_parser(with_plugins=True), arguments.shell))
    return 0
