"""Builds the extension under AddressSanitizer and UndefinedBehaviorSanitizer, and runs the fast native tests with it.

`make sanitize` does both, and runs `native_fuzz.py` for half a minute; `make sanitize FUZZ=600` for ten.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from pathlib import Path
from typing import Final

TESTS: Final = Path(__file__).parent
SOURCES: Final = TESTS.parent / "src"
FLAGS: Final = ["-shared", "-fPIC", "-std=c11", "-g", "-O1", "-Wall", "-Wextra", "-Werror", "-fno-omit-frame-pointer"]
SANITIZERS: Final = ("-fsanitize=address,undefined", "-fno-sanitize-recover=all")
NO_SANITIZERS: Final = "no C compiler with sanitizers"


def _preloaded() -> str | None:
    """Return the library that must be loaded before Python; None without a compiler that has it."""
    compiler = shutil.which("cc")
    asked = [compiler or "", "-print-file-name=libasan.so"]
    found = subprocess.run(asked, capture_output=True, text=True).stdout.strip() if compiler else ""
    return found if Path(found).is_absolute() else None


def missing_for_sanitizers() -> str | None:
    """Return why the extension can't be built under sanitizers, or None if it can."""
    header = Path(sysconfig.get_path("include"), "Python.h")
    return None if sys.platform == "linux" and header.exists() and _preloaded() else NO_SANITIZERS


def build(folder: Path) -> dict[str, str]:
    """Copy the package with an extension under sanitizers into a folder; return the environment that uses it."""
    package, native = folder / "spanwise", folder / "spanwise" / "native"
    shutil.copytree(SOURCES / "spanwise", package, ignore=shutil.ignore_patterns("*.so", "__pycache__"))
    made = native / f"compiled{sysconfig.get_config_var('EXT_SUFFIX')}"
    include = f"-I{sysconfig.get_path('include')}"
    subprocess.run(["cc", *FLAGS, *SANITIZERS, include, "-o", made, *sorted(native.glob("*.c"))], check=True)
    return os.environ | {
        "PYTHONPATH": str(folder),
        "PYTHONMALLOC": "malloc",  # else objects come from pools that the sanitizer doesn't see
        "LD_PRELOAD": str(_preloaded()),
        "ASAN_OPTIONS": "detect_leaks=0:allocator_may_return_null=1",  # Python itself keeps memory until the end
        "UBSAN_OPTIONS": "print_stacktrace=1",
    }


def fuzz(environment: dict[str, str], *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run `native_fuzz.py`; a finding of a sanitizer ends it with an error."""
    command = [sys.executable, str(TESTS / "native_fuzz.py"), *arguments]
    return subprocess.run(command, env=environment, capture_output=True, text=True)


def main(seconds: str) -> int:
    """Build, run the native tests, then the fuzzer for so many seconds; return 0 if the sanitizers were silent."""
    if missing := missing_for_sanitizers():
        sys.exit(f"error: {missing}\nhint: on Debian: apt-get install gcc")
    with tempfile.TemporaryDirectory() as folder:
        environment = build(Path(folder))
        tests = [str(path) for path in sorted(TESTS.glob("test_native*.py"))]
        command = [sys.executable, "-m", "pytest", "-m", "not slow and not process", *tests]
        tested = subprocess.run(command, env=environment, cwd=TESTS.parent)
        fuzzed = fuzz(environment, "--seconds", seconds)
        sys.stdout.write(fuzzed.stdout + fuzzed.stderr)
        return tested.returncode or fuzzed.returncode


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:2] or ["30"]))
