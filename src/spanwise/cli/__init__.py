"""The command `spanwise`: arguments in, calls, lines out.

Data goes to stdout, messages to stderr. Exit codes: 0 success; 1 a file failed, or a check found a violation; 2 the
command can't be carried out as given; 3 the output or the store can't be written; 130 stopped by Ctrl-C (143 and 129 by
SIGTERM and SIGHUP).
"""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from importlib import import_module
from typing import Any, Final

FAILED: Final = 1
WRONG_USE: Final = 2
NOT_WRITTEN: Final = 3
INTERRUPTED: Final = 130
_ENDING: Final = (signal.SIGTERM, *((signal.SIGHUP,) if hasattr(signal, "SIGHUP") else ()))


class _Ended(BaseException):
    """Raised on SIGTERM or SIGHUP, with the number of the signal."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    with _ending_cleanly():
        return _guarded(_version if given in (["--version"], ["-V"]) else lambda: _run(given))


def _version() -> int:
    """Print the version, without loading anything else."""
    from importlib.metadata import version

    print(f"spanwise {version('spanwise')}", flush=True)
    return 0


def _guarded(run: Callable[[], int]) -> int:
    """Run, and turn what ends the work from outside into a message and an exit code."""
    try:
        return run()
    except KeyboardInterrupt:
        _print_error("stopped")
        return INTERRUPTED
    except _Ended as ended:
        _clear_line()
        return 128 + int(ended.args[0])
    except BrokenPipeError:  # the reader stopped, as in `| head`
        forget_stdout()
        return 0
    except OSError as error:
        _print_error(f"the output can't be written ({error.strerror or error})")
        forget_stdout()
        return NOT_WRITTEN


@contextmanager
def _ending_cleanly() -> Iterator[None]:
    """Handle the first SIGINT, SIGTERM or SIGHUP and ignore the rest, so that no other interrupts the clean-up."""
    before: dict[int, Any] = {}
    received: list[int] = []

    def end(number: int, _frame: object) -> None:
        received.append(number)
        for other in before:
            signal.signal(other, signal.SIG_IGN)
        raise KeyboardInterrupt if number == signal.SIGINT else _Ended(number)

    if threading.current_thread() is threading.main_thread():
        usual = ((signal.SIGINT, signal.default_int_handler), *((name, signal.SIG_DFL) for name in _ENDING))
        before = {number: handler for number, handler in usual if signal.getsignal(number) == handler}
        for number in before:
            signal.signal(number, end)
    try:
        yield
    finally:
        for number, handler in before.items() if not received else ():
            signal.signal(number, handler)


def _run(given: list[str]) -> int:
    from spanwise.cli.arguments import parsed
    from spanwise.errors import SpanwiseError, StoreFullError
    from spanwise.native.gc_pause import collect_seldom
    from spanwise.records.writers import OutputError

    try:
        arguments = parsed(given)
        if sys.stdout is None and not getattr(arguments, "output", None):
            raise OutputError("the output can't be written (stdout is closed)")
        collect_seldom()
        _load_undisturbed()
        code: int = arguments.run(arguments)
        if sys.stdout is not None:
            sys.stdout.flush()
    except OutputError as error:
        _print_error(str(error))
        return NOT_WRITTEN
    except SpanwiseError as error:
        hint = error.hint or ""
        _print_error(str(error).removesuffix(f"\nhint: {hint}"), hint)
        return NOT_WRITTEN if isinstance(error, StoreFullError) else WRONG_USE
    return code


def _load_undisturbed() -> None:
    """Load orjson, which every command needs, with signals blocked: one that arrives meanwhile would crash it."""
    if not hasattr(signal, "pthread_sigmask"):
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT, *_ENDING})
    try:
        import_module("orjson")
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _print_error(message: str, hint: str = "") -> None:
    """Print an error, which may quote any name, in a line to stderr, and a hint in another; if that is closed, nothing.

    A name can't forge a line of its own.
    """
    from spanwise.cli.terminal import one_line

    _clear_line()
    lines = [f"error: {one_line(message)}", *([f"hint: {one_line(hint)}"] if hint else [])]
    with suppress(OSError, ValueError):
        print(*lines, sep="\n", file=sys.stderr, flush=True)


def _clear_line() -> None:
    """Remove a line of progress that was left on a terminal, and the `^C` that is shown in it."""
    with suppress(OSError, ValueError):
        if sys.stderr is not None and sys.stderr.isatty() and os.environ.get("TERM") != "dumb":
            print("\r\x1b[K", end="", file=sys.stderr, flush=True)


def forget_stdout() -> None:
    """Keep the interpreter from flushing to a stdout that can't be written."""
    with suppress(OSError, ValueError):
        if sys.stdout is not None:
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
