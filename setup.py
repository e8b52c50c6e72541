"""Says what is compiled; everything else about the package stands in pyproject.toml.

The extension is optional: without a C compiler the package installs as well, and `spanwise.native` takes its twin in
Python.
"""

from setuptools import Extension, setup

FOLDER = "src/spanwise/native"
NAMES = "blocks compiled events parts ranges seams sections settled shown texts tokens"

setup(
    ext_modules=[
        Extension(
            "spanwise.native.compiled",
            sources=[f"{FOLDER}/{name}.c" for name in NAMES.split()],
            depends=[f"{FOLDER}/compiled.h"],
            extra_compile_args=["-O3", "-std=c11", "-Wall", "-Wextra", "-fvisibility=hidden"],
            optional=True,
        )
    ]
)
