"""The command `spanwise`: arguments in, calls, lines out.

Data goes to stdout, words for people to stderr. Exit codes: 0 all is well; 1 a file failed, or a check found a
violation; 2 the command can't be carried out as it was given; 3 the output can't be written; 130 stopped by Ctrl-C.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from contextlib import suppress
from typing import Final

FAILED: Final = 1
WRONG_USE: Final = 2
NOT_WRITTEN: Final = 3
INTERRUPTED: Final = 130


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and give its exit code."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    try:
        if given in (["--version"], ["-V"]):  # without loading anything
            from importlib.metadata import version

            print(f"spanwise {version('spanwise')}")
            return 0
        return _run(given)
    except KeyboardInterrupt:
        _complain("error: stopped")
        return INTERRUPTED
    except BrokenPipeError:  # the reader had enough, as in `| head`
        _forget_stdout()
        return 0
    except OSError as error:
        _complain(f"error: the output can't be written ({error.strerror or error})")
        _forget_stdout()
        return NOT_WRITTEN


def _run(given: list[str]) -> int:
    from spanwise.cli.arguments import parsed
    from spanwise.cli.writing import OutputError
    from spanwise.errors import SpanwiseError
    from spanwise.quiet import collect_seldom

    try:
        arguments = parsed(given)
        collect_seldom()
        code: int = arguments.run(arguments)
        sys.stdout.flush()
    except SpanwiseError as error:
        _complain(f"error: {error}")
        return WRONG_USE
    except OutputError as error:
        _complain(f"error: {error}")
        return NOT_WRITTEN
    return code


def _complain(words: str) -> None:
    """Tell a person; where nobody listens (stderr is closed), nothing is lost."""
    with suppress(OSError):
        print(words, file=sys.stderr)


def _forget_stdout() -> None:
    """Keep the interpreter from flushing what nobody reads."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())
