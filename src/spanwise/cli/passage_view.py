"""A passage on a terminal: its location, its text with the words of the query marked, and the parts of its score."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import fields
from typing import Final

from spanwise.cli.terminal import Screen, columns, fitted_path, flowing_lines, one_line, printable, table
from spanwise.retrieval.hits import Hit, RerankerScore, SentenceScore
from spanwise.retrieval.weights import Weights

_LINES: Final = 6
_INDENT: Final = "   "
_MARK: Final = ("⟪", "⟫")  # where there are no colours; texts do not contain these
Range = tuple[int, int]


def show_hit(screen: Screen, rank: int, hit: Hit, weights: Weights | None, *, full: bool) -> None:
    """Show a hit; with weights, the parts of its score as well."""
    screen.line(_head(screen, rank, hit))
    for line in _text(screen, hit, full=full):
        screen.line(f"{_INDENT}{line}".rstrip())
    for line in _locations(hit):  # never folded: a terminal can open a path or an address only in one piece
        screen.line(f"{_INDENT}{line}", "dim")
    if weights:
        for line in _explained(hit, weights, screen.width - len(_INDENT)):
            screen.line(f"{_INDENT}{line}", "overlap")


def _head(screen: Screen, rank: int, hit: Hit) -> str:
    path = [hit.title or hit.file_path or hit.document_id, *hit.headings_path]
    if len(path) > 1 and path[0] == path[1]:
        del path[1]
    number, page = f"{rank}. ", f"  {_pages(hit)}" if hit.page_start else ""
    score = f"{hit.score:.3f}  "
    room = max(screen.width - columns(number + score + page), 12)
    title = fitted_path([one_line(part) for part in path], room)
    return screen.painted(number + score, "head") + screen.painted(title, "strong") + page


def _pages(hit: Hit) -> str:
    same = hit.page_end in (None, hit.page_start)
    return f"page {hit.page_start}" if same else f"pages {hit.page_start}–{hit.page_end}"


def _locations(hit: Hit) -> Iterator[str]:
    line = f":{hit.line_start}" if hit.file_path and hit.line_start else ""
    span = f"[{hit.char_start}:{hit.char_end}]"
    yield one_line(f"{hit.file_path or hit.document_id}{line} {span}") + (" (cut)" if hit.truncated else "")
    if hit.url:
        yield one_line(hit.url)


def _text(screen: Screen, hit: Hit, *, full: bool) -> list[str]:
    """Return the lines of a text, or those around its marks."""
    lines = list(flowing_lines(hit.normalized_text, screen.width - len(_INDENT) - 6))  # room for marks and ellipses
    if hit.explain.sentence and not full:
        return _sentences(screen, hit)
    marked = [_marked(screen, hit, line) for line in lines]
    if full:
        return marked
    seen = [index for index, (start, end) in enumerate(lines) if hit.normalized_text[start:end].strip()]
    chosen = _best_lines([lines[index] for index in seen], hit.marks)
    parts = [marked[seen[index]] for index in chosen]
    if chosen and chosen[0] > 0:
        parts[0] = f"… {parts[0]}"
    if chosen and chosen[-1] + 1 < len(seen):
        parts[-1] = f"{parts[-1]} …"
    return parts


def _sentences(screen: Screen, hit: Hit) -> list[str]:
    """Return the lines of the sentences that answer, each range on lines of its own."""
    found: list[str] = []
    reached = at = 0
    for start, end in hit.ranges:
        text = hit.answer[at : at + end - start]
        at += end - start + 1
        first = max(hit.normalized_text.find(text, reached), reached)
        reached = first + len(text)
        for low, high in flowing_lines(text, screen.width - len(_INDENT) - 6):
            if line := _marked(screen, hit, (first + low, first + high)):
                found.append(line)
    return found


def _best_lines(lines: Sequence[Range], marks: Sequence[Range]) -> range:
    """Return the window of a few lines with the most marks, the first of equals."""
    counts = [sum(start <= mark < end for mark, _ in marks) for start, end in lines]
    windows = range(max(len(lines) - _LINES, 0) + 1)
    first = max(windows, key=lambda start: (sum(counts[start : start + _LINES]), -start))
    return range(first, min(first + _LINES, len(lines)))


def _marked(screen: Screen, hit: Hit, line: Range) -> str:
    """Return a line with its marks; adjacent words share one."""
    text, (reached, end) = hit.normalized_text, line
    parts: list[str] = []
    for first, last in _united(hit.marks, text):
        first, last = max(first, reached), min(last, end)
        if first < last:
            parts += [_flowing(text[reached:first]), _emphasised(screen, _flowing(text[first:last]))]
            reached = last
    parts.append(_flowing(text[reached:end]))
    return "".join(parts).strip() if line[0] and text[line[0] - 1] != "\n" else "".join(parts).rstrip()


def _flowing(text: str) -> str:
    return printable(text).replace("\n", " ")


def _emphasised(screen: Screen, word: str) -> str:
    return screen.painted(word, "match") if screen.coloured else f"{_MARK[0]}{word}{_MARK[1]}"


def _united(marks: Sequence[Range], text: str) -> list[Range]:
    """Join marks with nothing but spaces between them."""
    united: list[Range] = []
    for start, end in marks:
        joined = united and not text[united[-1][1] : start].strip(" ")
        united.append((united.pop()[0] if joined else start, end))
    return united


def _sentence_rows(score: SentenceScore) -> list[tuple[str, str, str, str]]:
    """Return the rows of the best sentence: what each word added, and in which windows it stands."""
    words = [
        f"{one_line(word)} {one['points']:.2f} ("
        + ", ".join(f"{name} {count:g}" for name, count in one.items() if name != "points")
        + ")"
        for word, one in score.matched.items()
    ]
    cosine = "no model" if score.cosine is None else f"cosine {score.cosine:.2f}"
    return [
        ("sentence: words", "1", f"{score.words:.3f}", "; ".join(words)),
        ("its passage", "0.3", f"{score.passage:.3f}", ""),
        ("vector", "0.3", f"{score.vector:.3f}", cosine),
        ("score", "", f"{score.words + score.passage + score.vector:.3f}", ""),
    ]


def _reranker_row(score: RerankerScore) -> tuple[str, str, str, str]:
    given = "not read" if score.score is None else f"{one_line(score.name)}: {score.score:.4g}"
    return "reranked", "", f"{score.points:.3f}", f"{given}, rank {score.rank_before} → {score.rank}"


def _explained(hit: Hit, weights: Weights, width: int) -> list[str]:
    """Return the parts of a score as the lines of a table."""
    explain = hit.explain
    matched = ", ".join(f"{one_line(word)} {value:.2f}" for word, value in (explain.matched or {}).items())
    vector = "no model" if explain.trust is None else ""
    if explain.cosine is not None:
        vector = f"cosine {explain.cosine:.2f}, trust {explain.trust or 0:.2f}"
    rows = [("part", "weight", "points", "")]
    rows.append(
        ("words", "1", f"{explain.words:.3f}", f"BM25 {explain.bm25:.2f}" + (f": {matched}" if matched else ""))
    )
    for name in (item.name for item in fields(Weights)):
        points, weight = f"{getattr(explain, name):.3f}", f"{getattr(weights, name):g}"
        rows.append((name.replace("_", " "), weight, points, vector if name == "vector" else ""))
    rows.append(("score", "", f"{explain.sum:.3f}", ""))
    if explain.reranker:
        rows.append(_reranker_row(explain.reranker))
    if explain.sentence:
        rows += _sentence_rows(explain.sentence)
    return table(rows, right=(1, 2), width=width, wrapped=True)
