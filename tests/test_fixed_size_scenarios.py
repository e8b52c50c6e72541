"""The scenarios of a fixed-size chunker, in the words of its own acceptance tests: tests/data/seed_examples."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

import spanwise
from spanwise import Chunk, Tokenizer
from spanwise.text.sentences import sentence_starts
from spanwise.text.tokens import tokenizer_of
from test_seeds import overlap, paragraph

FEATURE = Path(__file__).parent / "data" / "seed_examples" / "fixed_size.feature"
STEP = re.compile(r"\s*(?:Given|When|Then|And) (.*)")


@dataclass
class World:
    """What the steps of a scenario share."""

    tokenizer: Tokenizer
    text: str = ""
    paragraphs: list[str] = field(default_factory=list)
    chunks: tuple[Chunk, ...] = ()

    def chunked(self, text: str) -> tuple[Chunk, ...]:
        return spanwise.chunk(text, "FIXED_SIZE", self.tokenizer)  # type: ignore[call-overload, no-any-return]


def scenarios() -> dict[str, list[tuple[str, str]]]:
    """Return the steps of each scenario, each with its doc string."""
    found: dict[str, list[tuple[str, str]]] = {}
    for part in re.split(r"^Scenario: ", FEATURE.read_text(), flags=re.MULTILINE)[1:]:
        name, _, body = part.partition("\n")
        head, *rest = body.split('"""')
        steps = [(step[1], "") for line in head.splitlines() if (step := STEP.fullmatch(line))]
        if rest:
            steps[-1] = steps[-1][0], "\n".join(line[4:] for line in rest[0].strip("\n").splitlines())
            steps += [(step[1], "") for line in rest[1].splitlines() if (step := STEP.fullmatch(line))]
        found[name] = steps
    return found


def a_text(world: World, tokens: str) -> None:
    world.text = "\n\n".join([paragraph(100, world.tokenizer)] * (int(tokens) // 100))


def paragraphs(world: World, number: str, tokens: str) -> None:
    world.paragraphs = [paragraph(int(tokens), world.tokenizer)] * int(number)
    world.text = "\n\n".join(world.paragraphs)


def a_wall_of_text(world: World, tokens: str) -> None:
    world.text = paragraph(int(tokens), world.tokenizer, of=20)


def a_page(world: World, page: str) -> None:
    world.text = page


def chunking(world: World) -> None:
    world.chunks = world.chunked(world.text)


def number_of_chunks(world: World, low: str, high: str | None) -> None:
    assert int(low) <= len(world.chunks) <= int(high or low)


def size_of_chunks(world: World, low: str, high: str) -> None:
    assert all(int(low) <= chunk.token_count <= int(high) for chunk in world.chunks)


def share_of_overlap(world: World, percent: str) -> None:
    assert percent == "12"
    for before, chunk in zip(world.chunks, world.chunks[1:], strict=False):
        share = world.tokenizer.count(overlap(chunk)) / world.tokenizer.count(before.normalized_text)
        assert 0.10 <= share <= 0.15


def first_has(world: World, first: str, last: str) -> None:
    wanted = "\n\n".join(world.paragraphs[int(first) - 1 : int(last)])
    assert world.chunks[0].full_text == world.chunks[0].normalized_text == wanted


def second_has(world: World, number: str) -> None:
    assert world.chunks[1].normalized_text == world.paragraphs[int(number) - 1]
    assert world.chunks[1].full_text == overlap(world.chunks[1]) + "\n\n" + world.chunks[1].normalized_text


def between_sentences(world: World) -> None:
    starts = sentence_starts(world.text, 0, len(world.text))
    assert all(chunk.char_start in starts for chunk in world.chunks[1:])


def sections_apart(world: World) -> None:
    assert len(world.chunks) == 1  # as they stand there the sections are far below the minimum
    large = re.sub(r"Content (\d)\.\.\.", lambda _: paragraph(150, world.tokenizer), world.text)
    assert [chunk.headings_path for chunk in world.chunked(large)] == [("Section 1",), ("Section 2",)]


STEPS: dict[str, Callable[..., Any]] = {
    r"Dokument tekstowy (\d+) tokenów": a_text,
    r"Dokument z (\d+) akapitami po (\d+) tokenów": paragraphs,
    r"Akapit (\d+) tokenów \(jedna ściana tekstu\)": a_wall_of_text,
    r"Dokument markdown:": a_page,
    r"Przetwarzam przez FixedSizeChunkingStrategy": chunking,
    r"Otrzymuję (\d+)(?:-(\d+))? chunk\w+": number_of_chunks,
    r"Każdy chunk ma (\d+)-(\d+) tokenów": size_of_chunks,
    r"Chunki mają overlap ~(\d+)%": share_of_overlap,
    r"Pierwszy chunk zawiera akapity (\d)-(\d)": first_has,
    r"Drugi chunk zawiera akapit (\d) \+ overlap": second_has,
    r"Akapit jest podzielony na ~(\d)() chunki": lambda world, number, _: number_of_chunks(world, number, None),
    r"Podział następuje między zdaniami": between_sentences,
    r"Sekcje są osobnymi chunkami \(jeśli wystarczająco duże\)": sections_apart,
}


def meant(step: str) -> tuple[Callable[..., Any], tuple[str, ...]]:
    """Return the function of a step, and what the step gives it."""
    matches = ((function, re.fullmatch(pattern, step)) for pattern, function in STEPS.items())
    (known,) = [(function, match.groups()) for function, match in matches if match]
    return known


@pytest.fixture(params=["words", "cl100k", "o200k", "approx"])
def tokenizer(request: pytest.FixtureRequest) -> Tokenizer:
    return tokenizer_of(request.param)


@pytest.mark.parametrize("name", scenarios())
def test_scenario(name: str, tokenizer: Tokenizer) -> None:
    world = World(tokenizer)
    for step, page in scenarios()[name]:
        function, given = meant(step)
        function(world, *given, *([page] if page else []))


def test_there_are_four() -> None:
    assert len(scenarios()) == 4
    assert all(len(steps) >= 3 for steps in scenarios().values())
