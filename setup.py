"""Says what is compiled; everything else about the package stands in pyproject.toml.

The extension is optional: without a C compiler the package installs as well, and `spanwise.native` takes its twin in
Python.
"""

from setuptools import Extension, setup

setup(
    ext_modules=[
        Extension(
            "spanwise.native.compiled",
            sources=[f"src/spanwise/native/{name}.c" for name in ("compiled", "seams", "tokens")],
            depends=["src/spanwise/native/compiled.h"],
            extra_compile_args=["-O3", "-std=c11", "-Wall", "-Wextra"],
            optional=True,
        )
    ]
)
