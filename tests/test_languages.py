"""Language detection: short and long prose, prose among code, and texts without any."""

import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import spanwise.text.languages
from spanwise.text.languages import LANGUAGES, guess_language

SHORT = {
    "en": ["Where is the file?", "This is it.", "Hello", "Install the package and run it."],
    "pl": ["Gdzie jest ten plik?", "Zażółć gęślą jaźń.", "To nie jest takie proste.", "Łódź i Gdańsk"],
    "de": [
        "Wo ist die Datei?",
        "Das ist nicht so einfach.",
        "Grüße aus München",
        "Wir gehen mit dem Hund und der Katze.",
    ],
    "ru": ["Где файл?", "Это не так просто.", "Привет", "Запустите kubectl и Docker Desktop."],
    "zh": ["文件在哪里？", "你好", "这不是那么简单。", "使用 Kubernetes 和 Docker Desktop 部署应用。"],
    "ja": [
        "ファイルはどこですか？",
        "こんにちは",
        "それは簡単ではありません。",
        "KubernetesとDocker Desktopを使います。",
    ],
}

LONG = {
    "en": "A pod is the smallest unit that you can deploy. It holds one or more containers, which share storage. ",
    "pl": "Pod jest najmniejszą jednostką, którą można wdrożyć. Zawiera jeden lub więcej kontenerów, które są razem. ",
    "de": "Ein Pod ist die kleinste Einheit, die man ausrollen kann. Er enthält einen oder mehrere Container. ",
    "ru": "Под — наименьшая единица, которую можно развернуть. Он содержит один или несколько контейнеров. ",
    "zh": "Pod 是可以部署的最小单元。它包含一个或多个容器，这些容器共享存储和网络。",
    "ja": "Podはデプロイできる最小の単位です。一つ以上のコンテナを含み、ストレージを共有します。",
}

CODE = """
```go
// This is the code of the controller, and it is not the prose that you are looking for.
func main() { fmt.Println("the end of the world") }
```

~~~
the of and that with this are is it
~~~

"""


@pytest.mark.parametrize(
    ("language", "text"), [(language, text) for language, texts in SHORT.items() for text in texts]
)
def test_short_texts(language: str, text: str) -> None:
    """A few words are enough when they are typical."""
    assert guess_language(text) == language


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("repeats", [1, 20, 2_000])
def test_long_texts(language: str, repeats: int) -> None:
    """The length doesn't matter."""
    assert guess_language(LONG[language] * repeats) == language


@pytest.mark.parametrize("language", LANGUAGES)
def test_code_does_not_count(language: str) -> None:
    """Fenced and inline code, however much, are ignored."""
    page = "# Title\n" + CODE * 8 + LONG[language] + "\nUse `the and of this` with `that is it`.\n" + CODE * 8
    assert guess_language(page) == language


@pytest.mark.parametrize("language", LANGUAGES)
def test_comments_markup_and_addresses_do_not_count(language: str) -> None:
    """A translation keeps the original in comments; tags, shortcodes, links and front matter are always English."""
    page = (
        "---\ntitle: The title of the page\nreviewers:\n- the-one\n- and-the-other\n---\n"
        + "<!--\nThis is the original of the text, and it is longer than the translation.\n-->\n" * 5
        + '{{< note text="this is the text of the note" >}}{{% heading "what is it" %}}\n'
        + '<p class="this is the class and it is long">'
        + LONG[language]
        + "</p> [x](https://example.com/the/and/of) https://example.com/this/is/it\n<!-- and this is not closed"
    )
    assert guess_language(page) == language


def test_front_matter_counts_when_there_is_nothing_else() -> None:
    """A page may have text in its front matter only."""
    assert guess_language("---\ntitle: Übersicht über die Dienste\n---\n{{< toc >}}\n") == "de"


@pytest.mark.parametrize(
    "text", ["", " \n", "12345 !?", "```\ncode\n```", "Καλημέρα κόσμε", "안녕하세요 세계", "\ud800", "😀"]
)
def test_nothing_known_is_english(text: str) -> None:
    """An empty text, an unknown script and a broken character don't fail."""
    assert guess_language(text) == "en"


@given(st.text(st.characters(exclude_categories=())) | st.text("`~<>!-{}%[]() :/\na"))
def test_any_text_has_a_language(text: str) -> None:
    """Any text gives one of the languages."""
    assert guess_language(text) in LANGUAGES


HOSTILE = [
    "`",
    "```",
    "```\n",
    "`a",
    "~~~",
    "<!--",
    "<",
    "<a",
    "{{<",
    "{{",
    "](",
    "://",
    "a://",
    "---\n",
    "\n>",
    " ",
    "a",
    "я",
    "说",
]


@pytest.mark.process
def test_time_is_bounded() -> None:
    """A million characters of anything are fast."""
    program = (
        "from spanwise.text.languages import guess_language\n"
        f"for unit in {HOSTILE!r}:\n"
        "    for text in (unit * (1_000_000 // len(unit)), '`' * 9_999 + unit * 10_000): guess_language(text)\n"
    )
    source = Path(spanwise.__file__).parents[1]
    subprocess.run([sys.executable, "-X", "utf8", "-c", program], cwd=source, check=True, timeout=60)
