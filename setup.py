"""Says what is compiled; everything else about the package stands in pyproject.toml.

The extension is optional: without a C compiler the package installs as well, and `spanwise.native` takes its twin in
Python.
"""

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext

FOLDER = "src/spanwise/native"
NAMES = "blocks compiled events kept parts ranges removed seams sections settled shown texts tokens"


class BuildExtension(build_ext):
    """Compiles with the arguments of the compiler that is there."""

    def build_extensions(self) -> None:
        """Choose the arguments, and compile."""
        unix = ["-O3", "-std=c11", "-Wall", "-Wextra", "-fvisibility=hidden"]
        for extension in self.extensions:
            extension.extra_compile_args = ["/O2", "/std:c11"] if self.compiler.compiler_type == "msvc" else unix
        super().build_extensions()


setup(
    cmdclass={"build_ext": BuildExtension},
    ext_modules=[
        Extension(
            "spanwise.native.compiled",
            sources=[f"{FOLDER}/{name}.c" for name in NAMES.split()],
            depends=[f"{FOLDER}/compiled.h"],
            optional=True,
        )
    ],
)
