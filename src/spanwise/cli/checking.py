"""`spanwise check`."""

from __future__ import annotations

import argparse


def run(arguments: argparse.Namespace) -> int:
    """Check."""
    raise NotImplementedError
