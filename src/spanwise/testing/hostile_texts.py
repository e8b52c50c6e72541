"""Texts that break splitters: each function returns about the requested number of characters."""

from __future__ import annotations

from collections.abc import Callable


def _repeated(unit: str) -> Callable[[int], str]:
    return lambda size: unit * (size // len(unit) + 1)


def _nested_list(size: int) -> str:
    lines = [f"{'  ' * depth}- item {depth}" for depth in range(200)]
    return "\n".join(lines * (size // 44_000 + 1))


def _nested_quote(size: int) -> str:
    line = ">" * 200 + " deep quote. Another sentence\n"
    return line * (size // len(line) + 1)


def _table(size: int) -> str:
    rows = "".join(f"| {row} | cell of row {row} | third |\n" for row in range(size // 30 + 1))
    return f"| a | b | c |\n|---|---|---|\n{rows}"


def _headings(size: int) -> str:
    return "".join(f"{'#' * (number % 6 + 1)} h{number}\ntext\n" for number in range(size // 15 + 1))


def _one_grapheme(size: int) -> str:
    return "a" + "\u0301" * size


def _huge_header(size: int) -> str:
    return f"| {'head ' * (size // 10)} | b |\n|---|---|\n" + "| 1 | 2 |\n" * (size // 20)


def _huge_cell(size: int) -> str:
    return f"| a | b |\n|---|---|\n| {'cell. Sentence ' * (size // 15)} | 2 |\n"


def _huge_heading(size: int) -> str:
    return f"# {'heading ' * (size // 8)}\n\ntext under it\n"


def _huge_title(size: int) -> str:
    sections = "".join(f"## s{number}\n\ntext\n\n" for number in range(size // 40))
    return f"# {'h ' * (size // 4)}\n\n{sections}"


def _huge_fence(size: int) -> str:
    rows = "row row\n" * (size // 16)
    return f"```{'h ' * (size // 4)}\n{rows}```\n"


def _spaced_code(size: int) -> str:
    return "```\n" + ("x" + " \t" * 30) * (size // 61 + 1) + "\n```\n"


def _lone_fence(size: int) -> str:
    return "before\n\n```\n" + "  code line = 1\n" * (size // 16)


def _line_ends(size: int) -> str:
    return "one\r\ntwo\rthree\n\r\n\r" * (size // 18 + 1)


def _items(size: int) -> str:
    return "- item of a list. It has words\n" * (size // 31 + 1)


def _definitions(size: int) -> str:
    return "".join(f"[r{number}]: http://x.y/{number}\n" for number in range(size // 24 + 1)) + "\ntext [r1]\n"


HOSTILE: dict[str, Callable[[int], str]] = {
    "no space": _repeated("x"),
    "digits": _repeated("0123456789"),
    "base64": _repeated("aGVsbG8gd29ybGQgZnJvbSBiYXNlNjQ+/A=="),
    "chinese": _repeated("没有标点的中文文本继续写下去"),
    "spaces": lambda size: "a" + " " * size + "b",
    "newlines": lambda size: "a" + "\n" * size + "b",
    "dots": _repeated("."),
    "flags": _repeated("🇵🇱🇩🇪"),
    "emoji": _repeated("👩‍👩‍👧‍👦🏽"),
    "one grapheme": _one_grapheme,
    "zero width": _repeated("\u200b\u200d\ufeff"),
    "combining": _repeated("e\u0301o\u0308\u0323 "),
    "hangul": _repeated("한국어"),
    "indic": _repeated("क्षत्रिय"),
    "prepend": _repeated("\u0600a"),
    "comments": _repeated("<!-- a comment -->\n\ntext\n\n"),
    "open comment": _repeated("<!-- "),
    "items": _items,
    "nested list": _nested_list,
    "nested quote": _nested_quote,
    "rows": _table,
    "brackets": _repeated("["),
    "links": _repeated("[a](b"),
    "open quote": _repeated("「あいう。"),
    "short sentences": _repeated("Hi. Yo! Ok? "),
    "abbreviations": _repeated("e.g. Dr. A. B. "),
    "emphasis": _repeated("*a **b _c "),
    "backticks": _repeated("`a ``b "),
    "tags": _repeated("<figure>"),
    "figures": _repeated("<figure>x</figure> "),
    "pipes": _repeated("|"),
    "headings": _headings,
    "huge header": _huge_header,
    "huge cell": _huge_cell,
    "huge heading": _huge_heading,
    "lone fence": _lone_fence,
    "huge title": _huge_title,
    "huge fence": _huge_fence,
    "spaced code": _spaced_code,
    "long command": lambda size: (
        "```\n" + "kubectl get pods -o wide --sort-by=.metadata.name " * (size // 50) + "\n```"
    ),
    "figure blocks": _repeated("<figure>a</figure>\n\ntext\n\n"),
    "marked spaces": _repeated("e \u0301x "),
    "list and definitions": _repeated("- a\n- b\n\n[1]: https://x.example\n[2]: https://y.example\n\nText [1].\n\n"),
    "line ends": _line_ends,
    "definitions": _definitions,
    "rules": _repeated("---\n\n"),
    "front matter": lambda size: "---\n" + "key: value\n" * (size // 11),
    "footnotes": _repeated("[^1]: note\n\n"),
    "special tokens": _repeated("<|endoftext|>"),
    "one figure": lambda size: f"<figure>{'x ' * (size // 2)}</figure>",
}
