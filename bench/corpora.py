"""The texts to split: two folders given by the user or in `../shared/corpora`, or else the demo's documents."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SHARED = ROOT.parent / "shared" / "corpora"
DEMO = ROOT / "src" / "spanwise" / "cli" / "demo" / "documents"
SEED = 7


@dataclass(frozen=True)
class Corpus:
    """Texts of one kind, and the format they are read in."""

    key: str
    title: str
    format: str
    texts: tuple[str, ...]

    @cached_property
    def size(self) -> int:
        """Size of all texts in UTF-8 bytes."""
        return sum(len(text.encode()) for text in self.texts)

    @property
    def described(self) -> str:
        """A short description with the number of files and their size."""
        size = f"{self.size / 1e6:.1f} MB" if self.size >= 1e5 else f"{self.size / 1e3:.0f} kB"
        return f"{self.title}: {len(self.texts)} files, {size}"

    def sample(self, size: int) -> Corpus:
        """Return a reproducible random choice of files of about `size` bytes; all files if they are smaller."""
        if self.size <= size:
            return self
        return Corpus(self.key, f"a sample of {self.title}", self.format, _up_to(_shuffled(self.texts), size))


def corpora(markdown: Path | None, prose: Path | None) -> list[Corpus]:
    """Read both kinds of text, from the given folders or the default ones."""
    return [
        _corpus("markdown", markdown, SHARED / "k8s", "Markdown documentation"),
        _corpus("prose", prose, SHARED / "chroma", "English prose"),
    ]


def one_text(texts: Sequence[str], size: int) -> str:
    """Return one text of about `size` bytes, joined from texts in a fixed random order and repeated as needed."""
    pieces, reached = list[str](), 0
    order = _shuffled(texts)
    while reached < size:
        piece = order[len(pieces) % len(order)].encode()[: size - reached].decode(errors="ignore") + "\n\n"
        pieces.append(piece)
        reached += len(piece.encode())
    return "".join(pieces)


def _corpus(key: str, given: Path | None, expected: Path, title: str) -> Corpus:
    text_format = "markdown" if key == "markdown" else "text"
    if given or expected.is_dir():
        return Corpus(key, title if not given else f"{key} of yours", text_format, _texts_of(given or expected))
    # not repeated: some peers cache every text, and a second pass would cost them nothing
    return Corpus(key, f"the demo's documents as {text_format}", text_format, _texts_of(DEMO))


def _texts_of(folder: Path) -> tuple[str, ...]:
    texts = [path.read_text(encoding="utf-8") for path in sorted(folder.rglob("*.md"))]
    if not texts:
        raise SystemExit(f"error: {folder} holds no .md files\nhint: name a folder of Markdown or prose in UTF-8")
    return tuple(texts)


def _shuffled(texts: Sequence[str]) -> list[str]:
    order = list(texts)
    random.Random(SEED).shuffle(order)
    return order


def _up_to(texts: Sequence[str], size: int) -> tuple[str, ...]:
    chosen, reached = list[str](), 0
    for text in texts:
        if reached >= size:
            break
        chosen.append(text)
        reached += len(text.encode())
    return tuple(chosen)
