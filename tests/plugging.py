"""Helpers that install plug-ins for one test: the package in data/plugin_package, or entry points of modules."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import pytest

from spanwise import plugins
from spanwise.pipeline import guard

PACKAGE = Path(__file__).parent / "data" / "plugin_package"
Install = Callable[[str, Mapping[str, Mapping[str, str]]], None]
"""Installs a distribution, given as `name version`, with its entry points by group."""


@pytest.fixture
def install(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Iterator[Install]:
    """Return a function that puts the metadata of a distribution where Python finds them."""
    folder = tmp_path_factory.mktemp("installed")
    monkeypatch.syspath_prepend(folder)
    before = {*sys.modules}

    def installed(distribution: str, groups: Mapping[str, Mapping[str, str]]) -> None:
        name, version = distribution.split()
        about = folder / f"{name.replace('-', '_')}-{version}.dist-info"
        about.mkdir()
        (about / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")
        lines = [line for group in groups for line in (f"[spanwise.{group}]", *_lines(groups[group]))]
        (about / "entry_points.txt").write_text("\n".join(lines))
        importlib.invalidate_caches()
        _forget()

    _forget()
    yield installed
    _forget()
    for one in {*sys.modules} - before:
        if one.startswith("acme_spanwise"):
            del sys.modules[one]


def _forget() -> None:
    """Forget what is installed, here and in children that wait for work."""
    plugins.forget()
    for child in guard._idle._children:
        guard.dismiss(child)
    guard._idle.forget()


def _lines(values: Mapping[str, str]) -> list[str]:
    return [f"{name} = {value}" for name, value in values.items()]


@pytest.fixture
def acme(install: Install) -> None:
    """Install the package with a plug-in of each kind, in this process."""
    backend = importlib.import_module("backend")
    groups = {group.partition(".")[2]: names for group, names in backend.PROJECT["entry-points"].items()}
    install(f"{backend.PROJECT['name']} {backend.PROJECT['version']}", groups)
