"""The texts: two folders of the user's or of `../shared/corpora`, or else the demo's documents."""

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
    """Texts of one kind, and the format that they are read as."""

    key: str
    title: str
    form: str
    texts: tuple[str, ...]

    @cached_property
    def size(self) -> int:
        """Bytes of all texts in UTF-8."""
        return sum(len(text.encode()) for text in self.texts)

    @property
    def described(self) -> str:
        """Say what it is in a few words."""
        size = f"{self.size / 1e6:.1f} MB" if self.size >= 1e5 else f"{self.size / 1e3:.0f} kB"
        return f"{self.title}: {len(self.texts)} files, {size}"

    def sample(self, size: int) -> Corpus:
        """Choose files at random, always the same, until there are about so many bytes; all if there are no more."""
        if self.size <= size:
            return self
        return Corpus(self.key, f"a sample of {self.title}", self.form, _up_to(_shuffled(self.texts), size))


def corpora(markdown: Path | None, prose: Path | None) -> list[Corpus]:
    """Read both kinds of text, from the folders that are given or from where they are expected."""
    return [
        _corpus("markdown", markdown, SHARED / "k8s", "Markdown documentation"),
        _corpus("prose", prose, SHARED / "chroma", "English prose"),
    ]


def one_text(texts: Sequence[str], size: int) -> str:
    """Put texts together, in one random order and over again, into one of about so many bytes."""
    pieces, reached = list[str](), 0
    order = _shuffled(texts)
    while reached < size:
        piece = order[len(pieces) % len(order)].encode()[: size - reached].decode(errors="ignore") + "\n\n"
        pieces.append(piece)
        reached += len(piece.encode())
    return "".join(pieces)


def _corpus(key: str, given: Path | None, expected: Path, title: str) -> Corpus:
    form = "markdown" if key == "markdown" else "text"
    if given or expected.is_dir():
        return Corpus(key, title if not given else f"{key} of yours", form, _texts_of(given or expected))
    # not repeated: some peers remember every text, and the second time would cost them nothing
    return Corpus(key, f"the demo's documents as {form}", form, _texts_of(DEMO))


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
