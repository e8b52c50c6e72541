"""`spanwise evaluate`: tables, JSON, the page, exit codes; and sets of questions, made with a model or without."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Playwright

import spanwise
from browsing import launched, visited
from evaluating import corpus, questions
from fake_endpoint import Behaviour, envelope, serving
from spanwise.cli import main
from spanwise.evaluation.asking_model import asked_questions

Captured = pytest.CaptureFixture[str]
FAST = ("--budget", "64", "--limit", "1")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "docs").mkdir()
    asked = questions(corpus(tmp_path / "docs"))[::3]
    write(tmp_path / "q.jsonl", asked)
    return tmp_path


def write(path: Path, lines: list[Any]) -> None:
    path.write_text("".join(f"{line if isinstance(line, str) else json.dumps(line)}\n" for line in lines), "utf-8")


def run(capsys: Captured, *arguments: str) -> tuple[int, str, str]:
    code = main(["evaluate", *arguments])
    return code, *capsys.readouterr()


def test_settings_stand_side_by_side_with_what_they_cost(folder: Path, capsys: Captured) -> None:
    code, out, err = run(
        capsys, "q.jsonl", "docs", "--setting", "structure", "--setting", "fixed target_tokens=60", *FAST
    )
    assert code == 0
    assert out.startswith("24 questions on 6 documents, words alone, tokens of cl100k\n")
    report = spanwise.evaluate(folder / "q.jsonl", "docs", settings=["structure", "fixed target_tokens=60"],
                               budgets=[64], limits=[1])  # fmt: skip
    for result in report.results:
        assert f"{result.embedding_tokens:,}" in out
        found = report.summary[result.name][report.main]["recall"]
        assert re.search(rf"{100 * found.mean:.1f} \[ *{100 * found.low:.1f} +{100 * found.high:.1f}\]", out)
    assert "A  structure" in out
    assert "B  fixed target_tokens=60" in out
    assert "best recall at 64 tokens" in out
    assert "warning: the best of 2 settings" in err
    assert max(map(len, out.splitlines())) <= 100


def test_json_is_the_report(folder: Path, capsys: Captured) -> None:
    code, out, _ = run(capsys, "q.jsonl", "docs", "--json", *FAST)
    assert code == 0
    found = json.loads(out)
    report = spanwise.evaluate("q.jsonl", "docs", budgets=[64], limits=[1]).to_dict()
    assert found["questions"][3]["scores"]["structure"]["returned"] == report["questions"][3]["scores"]["structure"][
        "returned"]  # fmt: skip
    assert found["settings"][0]["amounts"].keys() == {"budget=64 unit=sentence", "limit=1 unit=passage"}
    assert found["settings"][0]["documents"] == report["settings"][0]["documents"]


def test_a_store_is_asked_as_it_is(folder: Path, capsys: Captured) -> None:
    spanwise.index("docs", "docs.db", embedder=None)
    code, out, err = run(capsys, "q.jsonl", "--store", "docs.db", *FAST)
    assert code == 0
    assert re.fullmatch(r"store: 24 questions asked \(\d+ s\)\n", err)
    assert "A  store" in out


def test_bad_lines_are_named_counted_and_end_with_exit_code_1(folder: Path, capsys: Captured) -> None:
    lines = (folder / "q.jsonl").read_text("utf-8").splitlines()
    write(folder / "q.jsonl", [*lines, "{", {"question": "what?", "document": "nowhere", "answer": "x"}])
    code, out, err = run(capsys, "q.jsonl", "docs", *FAST)
    assert code == 1
    assert out.startswith("24 questions")
    errors = [line for line in err.splitlines() if line.startswith("error:")]
    assert errors[0].startswith("error: q.jsonl, line 25: is not JSON")
    assert errors[1].startswith("error: q.jsonl, line 26: 'what?': `document` is not there: “nowhere”")
    assert "2 lines could not be used, 24 could" in err


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("nothing.jsonl", "docs"), "nothing.jsonl"),
        ((), "QUESTIONS"),
        (("q.jsonl",), "PATH"),
        (("q.jsonl", "docs", "--store", "x.db"), "PATH"),
        (("q.jsonl", "empty"), "empty"),
        (("q.jsonl", "docs", "--setting", "fixd"), "fixd"),
        (("q.jsonl", "docs", "--peer", "langchain"), "langchain"),
        (("q.jsonl", "docs", "--budget", "0", "--limit", "0"), "nothing would be read"),
        (("q.jsonl", "docs", "--html", "q.jsonl"), "--html"),
        (("q.jsonl", "--store", "none.db"), "none.db"),
        (("bad.jsonl", "docs"), "line 1"),
        (("--make-questions", "q.jsonl", "docs"), "is there already"),
        (("--make-questions", "new.jsonl"), "PATH"),
    ],
)
def test_wrong_use_is_refused_in_a_line(arguments: tuple[str, ...], words: str, folder: Path, capsys: Captured) -> None:
    (folder / "empty").mkdir()
    write(folder / "bad.jsonl", ["{}"])
    code, out, err = run(capsys, *arguments)
    assert (code, out) == (2, "")
    assert words in err.splitlines()[0]
    assert err.startswith("error:")


def test_a_questions_file_in_the_folder_is_no_document(folder: Path, capsys: Captured) -> None:
    (folder / "q.jsonl").rename(folder / "docs" / "q.md")
    code, out, _ = run(capsys, "docs/q.md", "docs", "--json", *FAST)
    assert code == 0
    assert json.loads(out)["settings"][0]["chunks"] == sum(
        len(spanwise.chunk(path)) for path in (folder / "docs").iterdir() if path.name != "q.md"
    )


def test_the_config_file_is_below_every_setting(folder: Path, capsys: Captured) -> None:
    (folder / "spanwise.toml").write_text('strategy = "fixed"\ntarget_tokens = 40\nmax_tokens = 60\n', "utf-8")
    _, out, _ = run(capsys, "q.jsonl", "docs", "--json", *FAST)
    (found,) = json.loads(out)["settings"]
    chunks = [chunk for path in (folder / "docs").iterdir()
              for chunk in spanwise.chunk(path, "fixed", target_tokens=40, max_tokens=60)]  # fmt: skip
    assert (found["name"], found["chunks"]) == ("fixed", len(chunks))


def test_a_split_shows_both_halves(folder: Path, capsys: Captured) -> None:
    code, out, err = run(
        capsys, "q.jsonl", "docs", "--setting", "structure", "--setting", "fixed", "--split", "tune", *FAST
    )
    assert code == 0
    assert "of the half to tune on" in out
    assert "On the half held aside, which nothing was chosen on" in out
    assert "chosen on the other half by recall at 64 tokens" in out
    assert "flatter" not in err


# -------------------------------------------------------------------------------------------------------------- page


class Elements(HTMLParser):
    """The elements of a page, and the text in those that mark."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str | None]] = []
        self.marked: dict[str, list[str]] = {"found": [], "missed": []}
        self._kind: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += attrs
        if tag == "mark":
            kind = str(dict(attrs)["class"])
            self._kind.append(kind)
            self.marked[kind].append("")
        elif tag == "span" and ("class", "cue") in attrs and self._kind:
            self._kind.append("")

    def handle_endtag(self, tag: str) -> None:
        if self._kind and (tag == "mark" or (tag == "span" and not self._kind[-1])):
            self._kind.pop()

    def handle_data(self, data: str) -> None:
        if self._kind and self._kind[-1]:
            self.marked[self._kind[-1]][-1] += data


HOSTILE = "<script>alert(1)</script><img src=x onerror=alert(2)>\"'&amp;"


@pytest.fixture
def hostile() -> spanwise.EvaluationReport:
    text = f"# A {HOSTILE}\n\nThe zebra {HOSTILE} is fed. Nobody knows <b>when</b> it sleeps, or why it is so quiet.\n"
    document = spanwise.read_text(text, "text", document_id=f"id {HOSTILE}", file_path=f"{HOSTILE}.md")
    lines = [
        {"question": f"zebra fed {HOSTILE}?", "answer": f"The zebra {HOSTILE} is fed.", "made_by": HOSTILE},
        {"question": f"xylophone {HOSTILE}?", "answer": "Nobody knows <b>when</b> it sleeps, or why it is so quiet."},
        {"question": HOSTILE, "document": HOSTILE, "answer": "nothing"},
    ]
    return spanwise.evaluate(lines, document, budgets=[16, 40], limits=[1], settings=["structure", "fixed"])


def test_whatever_a_document_holds_is_only_text_of_the_page(hostile: spanwise.EvaluationReport) -> None:
    page = hostile.to_html()
    elements = Elements()
    elements.feed(page)
    assert not {"script", "img", "b-when", "iframe", "link", "object"} & set(elements.tags)
    assert not [name for name, _ in elements.attributes if name.startswith("on") or name in {"src", "href", "style"}]
    assert "<script>alert" not in page
    assert [marks.pop(0) for marks in elements.marked.values()] == ["part of the answer"] * 2  # those of the legend
    assert elements.marked["missed"] == ["Nobody knows <b>when</b> it sleeps, or why it is so quiet."]
    assert "".join(elements.marked["found"]) == f"The zebra {HOSTILE} is fed."
    assert page.count("✓ found") == 2  # the legend's and that of the first question
    assert page.index("xylophone") < page.index("zebra fed")  # the worst first
    assert "http" not in page.replace("http-equiv", "")


@pytest.fixture(scope="module")
def browser(playwright_started: Playwright) -> Iterator[Browser]:
    found = launched(playwright_started)
    yield found
    found.close()


@pytest.fixture(scope="module")
def playwright_started() -> Iterator[Playwright]:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as started:
        yield started


@pytest.mark.browser
@pytest.mark.slow
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_page_keeps_its_own_policy_and_can_be_read_in_both_schemes(
    scheme: str, browser: Browser, hostile: spanwise.EvaluationReport, tmp_path: Path
) -> None:
    with visited(
        browser, hostile.to_html(), tmp_path, color_scheme=scheme, viewport={"width": 500, "height": 900}
    ) as page:
        assert page.evaluate("document.documentElement.scrollWidth") <= 500
        assert page.locator("figure svg").count() == 4
        ratio = page.evaluate(CONTRAST)
        assert min(ratio) >= 4.5


CONTRAST = """() => {
    const canvas = document.createElement('canvas').getContext('2d', {willReadFrequently: true});
    const rgb = colour => { canvas.fillStyle = colour; canvas.fillRect(0, 0, 1, 1);
        return [...canvas.getImageData(0, 0, 1, 1).data].slice(0, 3); };
    const light = colour => { const [r, g, b] = rgb(colour).map(v => v / 255)
        .map(v => v <= .03928 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4); return .2126 * r + .7152 * g + .0722 * b; };
    return [...document.querySelectorAll('mark, .cue, .about, .key, td, .warnings li')].map(element => {
        let behind = element;
        while (behind && /rgba\\(0, 0, 0, 0\\)|transparent/.test(getComputedStyle(behind).backgroundColor))
            behind = behind.parentElement;
        const [a, b] = [light(getComputedStyle(element).color), light(getComputedStyle(behind).backgroundColor)];
        return (Math.max(a, b) + .05) / (Math.min(a, b) + .05);
    });
}"""


def test_the_page_is_written_whole(folder: Path, capsys: Captured) -> None:
    code, _, err = run(capsys, "q.jsonl", "docs", "--html", "report.html", *FAST)
    assert code == 0
    assert "report.html: " in err
    assert (folder / "report.html").read_text("utf-8").endswith("</html>\n")
    assert not list(folder.glob(".*.part"))
    code, out, _ = run(capsys, "q.jsonl", "docs", "--html", "-", *FAST)
    assert out.startswith("<!doctype html>")


# --------------------------------------------------------------------------------------------------- made questions


def test_a_first_set_is_written_and_can_be_evaluated_at_once(folder: Path, capsys: Captured) -> None:
    code, out, err = run(capsys, "--make-questions", "new.jsonl", "docs", "--questions", "12")
    assert (code, out) == (0, "")
    assert err.startswith("12 questions on 6 of 6 documents: ")
    lines = [json.loads(line) for line in (folder / "new.jsonl").read_text("utf-8").splitlines()]
    assert len(lines) == 12
    assert all(line["made_by"].endswith(", no model") for line in lines)
    code, out, err = run(capsys, "new.jsonl", "docs", *FAST)
    assert code == 0
    assert out.startswith("12 questions on 6 documents")
    assert "12 of 12 questions were made from the documents' own words" in err


def quoting(answer: Callable[[str], Any]) -> Behaviour:
    """Return a server's behaviour: its answer to the passage of a request."""

    def behave(handler: Any, request: Any) -> None:
        found = answer(request["messages"][1]["content"])
        content = found if isinstance(found, str) else json.dumps(found)
        handler.send(200, json.dumps(envelope(content)).encode())

    return behave


def sentence_of(passage: str) -> str:
    return str(re.findall(r"Its keeper[^.]*\.", passage)[0])


@pytest.mark.server
def test_a_model_quotes_its_answers_and_what_is_no_quote_is_dropped(folder: Path) -> None:
    documents = [spanwise.read(path) for path in sorted((folder / "docs").iterdir())]

    def answer(passage: str) -> Any:
        if "harbour" in passage:
            return {"question": "Who feeds it?", "answer": "The keeper does, I think."}
        if "mill" in passage:
            return "I'd rather not."
        if "chapel" in passage:
            return {"question": "", "answer": ""}
        return {"question": f"Who feeds the animals near {len(passage)}?", "answer": sentence_of(passage)}

    with serving(quoting(answer)) as server:
        options = {"endpoint": server.url, "model": "m"}
        found = asked_questions(documents, 12, **options)
        assert found == asked_questions(documents, 12, **options)
    assert found.calls == 12
    assert found.dropped == {"a quote that is not in the passage": 2, "an answer that is not the JSON asked for": 2,
                             "nothing to ask": 2}  # fmt: skip
    assert len(found.questions) == 6
    texts = {str(document.metadata.file_path): document.text for document in documents}
    for one in found.questions:
        assert texts[one.document][one.start : one.end] == one.answer
        assert one.made_by == "model m"
    schemas = {request["response_format"]["json_schema"]["name"] for request in server.requests}
    assert schemas == {"question"}


@pytest.mark.server
def test_the_bounds_of_the_endpoint_hold_and_its_faults_are_counted(folder: Path, capsys: Captured) -> None:
    def behave(handler: Any, request: Any) -> None:
        handler.send(401, b"{}")

    with serving(behave) as server:
        code, _, err = run(capsys, "--make-questions", "new.jsonl", "docs", "--endpoint", server.url, "--model",
                           "m", "--questions", "5", "--max-calls", "3")  # fmt: skip
        assert len(server.requests) == 3
    assert code == 1
    assert "5 dropped: max_calls was reached 2, the endpoint failed: HTTP 401 3" in err


def test_an_endpoint_without_a_model_is_refused(folder: Path, capsys: Captured) -> None:
    code, _, err = run(capsys, "--make-questions", "new.jsonl", "docs", "--endpoint", "http://127.0.0.1:9/v1")
    assert code == 2
    assert "`model` must be given for questions by a model" in err
    assert not (folder / "new.jsonl").exists()
