"""The whole page: everything around the document's text, and the style and scripts embedded in it."""

from __future__ import annotations

import hashlib
from base64 import b64encode
from collections.abc import Iterator, Mapping
from functools import cache
from importlib.resources import files
from statistics import median
from typing import Any, Final

from spanwise.inspection.data import data_of
from spanwise.inspection.html import counted, escaped, label
from spanwise.inspection.plot import plot_of
from spanwise.inspection.rendered_page import rendered_page
from spanwise.inspection.text import text_of
from spanwise.inspection.values import Inspection
from spanwise.options import value_text

_LONG: Final = 500  # chunks; with more, a browser lays them out only when they are scrolled to
_LEGEND: Final = """\
<ul class="legend" aria-label="Signs">
<li><span class="sample core k0">core</span> belongs to this chunk alone</li>
<li><span class="sample overlap">overlap</span> repeated in a neighbouring chunk</li>
<li><span class="sample context">context</span> a head, fence or heading repeated in other chunks</li>
<li><span class="sample template">template</span> written for the embedder, in no source</li>
<li><span class="sample out">left out</span> in no chunk</li>
</ul>
"""
_DETAILS: Final = """\
<aside id="details" aria-label="Details of a chunk">
<p class="hint">Point at a chunk, a bar or a box to see what it is made of. A click holds it.</p>
<dl class="keys">
<dt><kbd>j</kbd> <kbd>k</kbd></dt><dd>next and previous chunk</dd>
<dt><kbd>↓</kbd> <kbd>↑</kbd></dt><dd>the same, once a chunk is held</dd>
<dt><kbd>Tab</kbd></dt><dd>through all chunks</dd>
<dt><kbd>Esc</kbd></dt><dd>let go</dd>
</dl>
<noscript><p class="note">Details need scripts; chunks, overlap and context are marked without.</p></noscript>
</aside>
"""


def page_of(inspection: Inspection) -> Iterator[str]:
    """Yield the page in pieces: each picture is rendered only when it is reached."""
    yield from _head(inspection)
    kind = ' class="long"' if len(inspection.records) > _LONG else ""
    yield f'<body{kind}>\n<a class="skip" href="#document">To the document</a>\n'
    yield from _header(inspection)
    yield _DETAILS
    yield '<main id="document">\n'
    yield from rendered_page(inspection)
    yield from text_of(inspection)
    yield "</main>\n"
    yield from _left_out(inspection)
    yield f'<script type="application/json" id="data">{data_of(inspection)}</script>\n'
    yield from (f"<script>{_asset(name)}</script>\n" for name in _scripts(inspection))
    yield "</body>\n</html>\n"


def _scripts(inspection: Inspection) -> tuple[str, ...]:
    """Return the names of the scripts, each before those that use it."""
    return ("page.js",) if inspection.rendered_html is None else ("alignment.js", "frame.js", "looks.js", "page.js")


@cache
def _asset(name: str) -> str:
    return files("spanwise.inspection").joinpath(name).read_text(encoding="utf-8")


def _hash(name: str) -> str:
    return "'sha256-" + b64encode(hashlib.sha256(_asset(name).encode()).digest()).decode("ascii") + "'"


def _head(inspection: Inspection) -> Iterator[str]:
    scripts = " ".join(map(_hash, _scripts(inspection)))
    policy = (
        f"default-src 'none'; img-src data:; style-src {_hash('page.css')}; script-src {scripts}; "
        "base-uri 'none'; form-action 'none'"
    )
    yield '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
    yield f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
    yield '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
    yield '<meta name="color-scheme" content="light dark">\n<meta name="generator" content="Spanwise">\n'
    yield f"<title>{label(inspection.title)} · {counted(len(inspection.records), 'chunk')}</title>\n"
    yield f"<style>{_asset('page.css')}</style>\n</head>\n"


def _header(inspection: Inspection) -> Iterator[str]:
    yield f'<header>\n<h1 dir="auto">{label(inspection.title)}</h1>\n<p class="source">'
    yield f'<bdi class="file">{label(inspection.name)}</bdi> ' if inspection.name else ""
    yield f"<b>{label(inspection.strategy)}</b> <span>counted by <b>{label(inspection.tokenizer)}</b></span></p>\n"
    yield from _options(inspection.options)
    yield '<dl class="figures">'
    yield from (f"<div><dt>{name}</dt><dd>{value}</dd></div>" for name, value in _figures(inspection))
    yield "</dl>\n"
    yield from plot_of(inspection)
    if not inspection.records:
        yield '<p class="note">There are no chunks: the document has no text that this strategy takes up.</p>\n'
    yield _LEGEND + "</header>\n"


def _options(options: Mapping[str, Any]) -> Iterator[str]:
    yield '<ul class="options" aria-label="Options">'
    for name, value in options.items():
        yield f"<li>{label(name)} <b>{label(value_text(value))}</b></li>"
    yield "</ul>\n"


def _figures(inspection: Inspection) -> Iterator[tuple[str, str]]:
    document, counts = inspection.document, [record["token_count"] for record in inspection.painted]
    if inspection.parents:
        yield "parents", f"{len(inspection.parents):,}"
    yield "children" if inspection.parents else "chunks", f"{len(counts):,}"
    if counts:
        most = inspection.sizes.most
        yield "smallest", f"{min(counts):,} <small>tokens</small>"
        yield "median", f"{median(counts):,.0f} <small>tokens</small>"
        yield "largest", f"{max(counts):,} <small>{f'of {most:,}' if most else 'tokens'}</small>"
    if document.pages:
        yield "pages", f"{len(document.pages):,}"
    yield "characters", f"{len(document.text):,}"


def _left_out(inspection: Inspection) -> Iterator[str]:
    """Yield the list of what the reader left out of the text."""
    items = inspection.document.left_out
    if not items:
        return
    yield f'<footer>\n<h2>Left out of the text, or changed ({len(items):,})</h2>\n<ol class="left-out">\n'
    for item in items:
        source = ", ".join(f"{name} {value}" for name, value in (item.source_ref or {}).items())
        yield f"<li><b>{label(item.reason)}</b>"
        yield f' <span class="place">{label(source)}</span>' if source else ""
        yield f' <q dir="auto">{escaped(item.text)}</q>' if item.text else ""
        yield "</li>\n"
    yield "</ol>\n</footer>\n"
