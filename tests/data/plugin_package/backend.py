"""The build backend of this package: it makes a wheel with nothing but the standard library."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any
from zipfile import ZipFile

ROOT = Path(__file__).parent
PROJECT: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def entry_points() -> str:
    """Return the entry points as an installed package states them."""
    groups = PROJECT["entry-points"].items()
    return "\n".join(
        line for group, names in groups for line in (f"[{group}]", *(f"{name} = {names[name]}" for name in names))
    )


def metadata() -> str:
    """Return what an installed package says of itself."""
    return f"Metadata-Version: 2.1\nName: {PROJECT['name']}\nVersion: {PROJECT['version']}\n"


def build_wheel(wheel_directory: str, config_settings: object = None, metadata_directory: str | None = None) -> str:
    """Write the wheel, and return its name."""
    base = f"{PROJECT['name'].replace('-', '_')}-{PROJECT['version']}"
    files = {path.relative_to(ROOT).as_posix(): path.read_text("utf-8") for path in ROOT.glob("acme_spanwise/*.py")}
    files |= {
        f"{base}.dist-info/METADATA": metadata(),
        f"{base}.dist-info/WHEEL": "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        f"{base}.dist-info/entry_points.txt": entry_points(),
    }
    files[f"{base}.dist-info/RECORD"] = "".join(f"{name},,\n" for name in (*files, f"{base}.dist-info/RECORD"))
    name = f"{base}-py3-none-any.whl"
    with ZipFile(Path(wheel_directory) / name, "w") as wheel:
        for path, text in files.items():
            wheel.writestr(path, text)
    return name
