"""Effective settings of a file: defaults, config files, entries for matching files, flags; and their origins."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import orjson
import pytest

from command import files, records
from spanwise.chunking.strategies import STRATEGIES
from spanwise.cli import main
from spanwise.errors import OptionError
from spanwise.pipeline.settings import Layer, Value, declared_options, find_config, in_force, load_config, settings_of

CONFIG = """\
max_tokens = 512
[meta]
tenant_id = "acme"
team = "hr"

[[files]]
glob = "notes/**"
strategy = "fixed"
overlap_ratio = 0.2
meta = {team = "it"}

[[files]]
glob = "notes/deep/*.md"
tokenizer = "words"
max_tokens = 100
"""
Captured = pytest.CaptureFixture[str]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    texts = {"docs/a.md": "# A\n\nText.\n", "notes/b.md": "# B\n\nText.\n", "notes/deep/c.md": "# C\n\nText.\n"}
    monkeypatch.chdir(files(tmp_path, texts))
    return tmp_path


def effective(capsys: Captured, *arguments: str) -> dict[str, tuple[Any, str]]:
    """Return the effective settings from `spanwise config`, with their origins."""
    assert main(["config", *arguments, "--json"]) == 0
    values = orjson.loads(capsys.readouterr().out)["values"]
    return {name: (value["value"], value["origin"]) for name, value in values.items()}


def refusal(capsys: Captured, config: str | bytes, name: str = "spanwise.toml", path: str = "docs/a.md") -> str:
    """Chunk a file with an invalid config file and return the error message."""
    files(Path(), {name: config})
    code = main(["chunk", path])
    out, err = capsys.readouterr()
    assert (code, out) == (2, ""), err
    assert err.startswith("error: ")
    return err


# --------------------------------------------------------------------------------------------------------- layers


def test_without_a_config_file_all_is_default(capsys: Captured) -> None:
    values = effective(capsys, "docs/a.md")
    assert values["strategy"] == ("structure", "default")
    assert values["tokenizer"] == ("cl100k", "default")
    assert values["max_tokens"] == (900, "default")
    assert {origin for _, origin in values.values()} == {"default"}
    assert set(values) == {"strategy", "tokenizer", *STRATEGIES["structure"].options.__dataclass_fields__}


def test_each_value_has_its_origin(folder: Path, capsys: Captured) -> None:
    files(folder, {"spanwise.toml": CONFIG})
    values = effective(capsys, "notes/deep/c.md", "--overlap-ratio", "0.1")
    assert values["strategy"] == ("fixed", "spanwise.toml [notes/**]")
    assert values["tokenizer"] == ("words", "spanwise.toml [notes/deep/*.md]")
    assert values["max_tokens"] == (100, "spanwise.toml [notes/deep/*.md]")
    assert values["overlap_ratio"] == (0.1, "command line")
    assert values["meta.tenant_id"] == ("acme", "spanwise.toml")
    assert values["meta.team"] == ("it", "spanwise.toml [notes/**]")
    assert values["template"] == ("plain", "default")


def test_entries_hold_only_for_files_that_match(folder: Path, capsys: Captured) -> None:
    files(folder, {"spanwise.toml": CONFIG})
    assert effective(capsys, "docs/a.md")["strategy"] == ("structure", "default")
    assert effective(capsys, "docs/a.md")["max_tokens"] == (512, "spanwise.toml")
    assert effective(capsys, "notes/b.md")["max_tokens"] == (512, "spanwise.toml")
    assert effective(capsys)["meta.team"] == ("hr", "spanwise.toml")


def test_chunks_are_made_by_what_is_in_force_for_their_file(folder: Path, capsys: Captured) -> None:
    files(folder, {"spanwise.toml": CONFIG})
    assert main(["chunk", ".", "-q"]) == 0
    made = {record["metadata"]["file_path"]: record for record in records(capsys.readouterr().out)}
    strategies = {name: record["strategy"] for name, record in made.items()}
    assert strategies == {"docs/a.md": "structure", "notes/b.md": "fixed", "notes/deep/c.md": "fixed"}
    assert {record["tenant_id"] for record in made.values()} == {"acme"}
    assert made["docs/a.md"]["metadata"]["extra"] == {"team": "hr"}
    assert made["notes/deep/c.md"]["metadata"]["extra"] == {"team": "it"}
    assert made["notes/deep/c.md"]["token_count"] == 3  # the words of `# C Text.`


def test_the_command_line_wins_over_everything(folder: Path, capsys: Captured) -> None:
    files(folder, {"spanwise.toml": CONFIG})
    flags = ("--strategy", "simple", "--max-chars", "5", "--meta", "team=me")
    assert main(["chunk", "notes/deep/c.md", "-q", *flags]) == 0
    made = records(capsys.readouterr().out)
    assert {record["strategy"] for record in made} == {"simple"}
    assert [record["full_text"] for record in made] == ["# C", "Text."]
    assert made[0]["metadata"]["extra"] == {"team": "me"}


def test_an_option_of_another_strategy_does_not_concern_the_chosen_one(folder: Path, capsys: Captured) -> None:
    files(folder, {"spanwise.toml": 'strategy = "fixed"\noverlap_ratio = 0.2\n'})
    assert "overlap_ratio" in effective(capsys)
    assert "overlap_ratio" not in effective(capsys, "--strategy", "structure")
    assert main(["chunk", "docs/a.md", "--strategy", "structure", "-q"]) == 0


def test_an_option_beside_or_after_the_strategy_must_be_one_of_its_own() -> None:
    with pytest.raises(OptionError, match="overlap_ratio") as caught:
        in_force([Layer("here", {"strategy": "structure"}), Layer("there", {"overlap_ratio": 0.2})])
    assert "there" in str(caught.value)
    assert "it is one of fixed" in str(caught.value)
    assert in_force([Layer("far", {"strategy": "fixed", "overlap_ratio": 0.2}), Layer("near", {"strategy": "simple"})])


def test_the_last_matching_entry_wins(folder: Path, capsys: Captured) -> None:
    one, two = ('[[files]]\nglob = "docs/"\nmax_tokens = 100\n', '[[files]]\nglob = "*.md"\nmax_tokens = 200\n')
    files(folder, {"spanwise.toml": one + two})
    assert effective(capsys, "docs/a.md")["max_tokens"] == (200, "spanwise.toml [*.md]")
    files(folder, {"spanwise.toml": two + one})
    assert effective(capsys, "docs/a.md")["max_tokens"] == (100, "spanwise.toml [docs/]")


@pytest.mark.parametrize(
    ("glob", "matches"),
    [
        ("*.md", True), ("notes/**", True), ("notes/", True), ("notes", True), ("/notes", True), ("deep", True),
        ("**/c.md", True), ("notes/*/c.md", True), ("notes/*.md", False), ("/deep", False), ("*.txt", False),
        ("docs/**", False), ("c", False),
    ],
)  # fmt: skip
def test_globs_are_like_those_of_gitignore(glob: str, matches: bool, folder: Path, capsys: Captured) -> None:
    files(folder, {"spanwise.toml": f'[[files]]\nglob = "{glob}"\nmax_tokens = 77\n'})
    assert (effective(capsys, "notes/deep/c.md")["max_tokens"][0] == 77) is matches


@pytest.mark.parametrize("path", ["b.md", "./b.md", "../notes/b.md", "{}/notes/b.md"])
def test_globs_are_relative_to_the_config_file(
    path: str, folder: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    files(folder, {"spanwise.toml": CONFIG})
    monkeypatch.chdir(folder / "notes")
    assert effective(capsys, path.format(folder.as_posix()))["strategy"][0] == "fixed"


def test_globs_do_not_reach_above_the_config_file(folder: Path, capsys: Captured) -> None:
    files(folder, {"notes/spanwise.toml": '[[files]]\nglob = "*.md"\nmax_tokens = 77\n'})
    assert effective(capsys, "notes/b.md", "--config", "notes/spanwise.toml")["max_tokens"][0] == 77
    assert effective(capsys, "docs/a.md", "--config", "notes/spanwise.toml")["max_tokens"][0] == 900


def test_defaults_adapt_to_settings(folder: Path, capsys: Captured) -> None:
    files(folder, {"spanwise.toml": "max_tokens = 100\n"})
    values = effective(capsys)
    assert (values["target_tokens"][0], values["min_tokens"][0], values["overlap_tokens"][0]) == (100, 100, 50)


def test_include_and_exclude_hold_beside_those_of_the_command_line(folder: Path, capsys: Captured) -> None:
    files(folder, {"spanwise.toml": 'exclude = ["deep/"]\n', "notes/d.txt": "d\n"})
    assert main(["chunk", ".", "--exclude", "*.txt", "-q"]) == 0
    made = {record["metadata"]["file_path"] for record in records(capsys.readouterr().out)}
    assert made == {"docs/a.md", "notes/b.md"}


def test_excluded_paths_are_relative_to_the_config_file(folder: Path, capsys: Captured) -> None:
    """`notes/deep/` means the same for `spanwise chunk notes` and `spanwise chunk .`."""
    files(folder, {"spanwise.toml": 'exclude = ["notes/deep/"]\n'})
    for path in (".", "notes"):
        assert main(["chunk", path, "-q"]) == 0
        made = {record["metadata"]["file_path"] for record in records(capsys.readouterr().out)}
        assert "notes/deep/c.md" not in made
        assert "notes/b.md" in made


def test_a_tokenizer_file_is_relative_to_the_config_file(
    folder: Path, word_piece: str, capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "tokenizer.json").write_bytes(Path(word_piece).read_bytes())
    files(folder, {"spanwise.toml": 'tokenizer = "tokenizer.json"\n'})
    monkeypatch.chdir(folder / "docs")
    assert main(["chunk", "a.md", "-q"]) == 0
    assert records(capsys.readouterr().out)[0]["token_count"] > 2  # two special tokens are always counted


def test_a_dialect_may_be_set_for_all(folder: Path, capsys: Captured) -> None:
    files(folder, {"spanwise.toml": 'dialect = "pages"\n'})
    assert main(["chunk", "docs/a.md", "-q"]) == 0
    assert records(capsys.readouterr().out) == [{"page_num": 1, "text": "Text."}]
    assert main(["chunk", "docs/a.md", "-q", "--dialect", "fixed-size"]) == 0
    assert records(capsys.readouterr().out)[0]["chunkType"] == "fixed-size"


# ------------------------------------------------------------------------------------------- where the file is found


def test_the_nearest_config_file_counts(folder: Path) -> None:
    files(folder, {"spanwise.toml": "", "notes/pyproject.toml": "[tool.spanwise]\n", "notes/deep/pyproject.toml": ""})
    assert find_config(folder / "notes/deep") == folder / "notes/pyproject.toml"
    assert find_config(folder / "docs") == folder / "spanwise.toml"


def test_our_own_config_file_goes_before_pyproject(folder: Path) -> None:
    files(folder, {"spanwise.toml": "", "pyproject.toml": "[tool.spanwise]\n"})
    assert find_config(folder) == folder / "spanwise.toml"


def test_a_pyproject_without_our_table_is_not_ours(folder: Path) -> None:
    files(folder, {"spanwise.toml": "", "docs/pyproject.toml": "[tool.other]\nx = 1\n"})
    assert find_config(folder / "docs") == folder / "spanwise.toml"


@pytest.mark.parametrize("text", ["tool = 5\n", "[project]\n", 'tool = "spanwise"\n', "tool = []\n"])
def test_an_unrelated_pyproject_is_ignored(text: str, folder: Path, capsys: Captured) -> None:
    files(folder, {"pyproject.toml": text})
    assert effective(capsys)["max_tokens"] == (900, "default")


def test_a_folder_or_a_dangling_link_of_that_name_is_no_config_file(folder: Path, capsys: Captured) -> None:
    (folder / "spanwise.toml").mkdir()
    (folder / "pyproject.toml").symlink_to("nowhere")
    assert effective(capsys)["max_tokens"] == (900, "default")


def test_pyproject_holds_the_same_settings(folder: Path, capsys: Captured) -> None:
    text = '[tool.spanwise]\nmax_tokens = 300\n[[tool.spanwise.files]]\nglob = "docs/"\nstrategy = "fixed"\n'
    files(folder, {"pyproject.toml": text})
    values = effective(capsys, "docs/a.md")
    assert values["strategy"] == ("fixed", "pyproject.toml [docs/]")
    assert values["max_tokens"] == (300, "pyproject.toml")


def test_a_config_file_that_is_named_replaces_the_nearest(folder: Path, capsys: Captured) -> None:
    files(folder, {"spanwise.toml": "max_tokens = 300\n", "other/mine.toml": 'template = "tags"\n'})
    values = effective(capsys, "--config", "other/mine.toml")
    assert values["max_tokens"] == (900, "default")
    assert values["template"] == ("tags", "other/mine.toml")


def test_a_byte_order_mark_is_no_error(folder: Path, capsys: Captured) -> None:
    files(folder, {"spanwise.toml": b"\xef\xbb\xbfmax_tokens = 300\r\n"})
    assert effective(capsys)["max_tokens"][0] == 300


# --------------------------------------------------------------------------------------------------------- errors


@pytest.mark.parametrize(
    ("config", "words"),
    [
        ("max_tokens = \n", "is not TOML"),
        (b"\xff\xfe\n", "spanwise.toml"),
        ('strateg = "fixed"\n', "`strateg` in spanwise.toml is not a setting"),
        ("jobs = 2\n", "`jobs` in spanwise.toml is not a setting"),
        ('strategy = "fxed"\n', "'fxed'"),
        ("strategy = []\n", "strategy"),
        ('max_tokens = "many"\n', "`max_tokens` must be an integer: 'many'"),
        ("max_tokens = true\n", "`max_tokens` must be an integer: True"),
        ("max_tokens = 5\n", "`max_tokens` must be at least 16: 5"),
        ("overlap_ratio = 0.2\n", "`overlap_ratio` (spanwise.toml) is not an option of the strategy structure"),
        ("tokenizer = 5\n", "`tokenizer` must be"),
        ('tokenizer = "nope"\n', "`tokenizer` is neither a known name nor a file"),
        ('dialect = "nots"\n', "dialect"),
        ('dialect = ["notes"]\n', "dialect"),
        ("meta = 5\n", "`meta` in spanwise.toml must be a table: 5"),
        ('meta = {page_version = "x"}\n', "`page_version` must be an integer"),
        ("meta = {n = 99999999999999999999999}\n", ""),
        ('include = "*.md"\n', "`include` in spanwise.toml must be a list of patterns: '*.md'"),
        ("exclude = [5]\n", "`exclude` in spanwise.toml must be a list of patterns: [5]"),
        ("files = 5\n", "`files` in spanwise.toml must be tables"),
        ('[files]\nglob = "docs/"\n', "`files` in spanwise.toml must be tables"),
        ("[[files]]\nmax_tokens = 50\n", "`glob` in [[files]] of spanwise.toml is missing"),
        ("[[files]]\nglob = 5\n", "`glob`"),
        ('[[files]]\nglob = "!"\n', "glob"),
        ('[[files]]\nglob = "docs/"\nstrateg = "x"\n', "`strateg` in spanwise.toml is not a setting"),
        ('[[files]]\nglob = "docs/"\nmax_tokens = 5\n', "`max_tokens` must be at least 16: 5"),
        (
            '[[files]]\nglob = "docs/"\noverlap_ratio = 0.1\n',
            "`overlap_ratio` (spanwise.toml [docs/]) is not",
        ),
        ('[[files]]\nglob = "elsewhere/"\nstrategy = "fxed"\n', "'fxed'"),
        ('[[files]]\nglob = "docs/"\ndialect = "notes"\n', "dialect"),
        ('[[files]]\nglob = "docs/"\ninclude = ["*.md"]\n', "`include`"),
    ],
)
def test_an_invalid_config_file_is_reported(config: str | bytes, words: str, capsys: Captured) -> None:
    assert words in refusal(capsys, config).splitlines()[0]


@pytest.mark.parametrize(
    "config",
    [
        "max_tokens = 5\n",
        'max_tokens = "many"\n',
        'strategy = "fxed"\n',
        'meta = {page_version = "x"}\n',
        '[[files]]\nglob = "docs/"\nmax_tokens = 5\n',
    ],
)
def test_an_invalid_value_is_reported_with_its_file(config: str, capsys: Captured) -> None:
    assert "spanwise.toml" in refusal(capsys, config)


@pytest.mark.parametrize(
    "text", ["[tool]\nspanwise = 5\n", '[tool]\nspanwise = "spanwise"\n', "[tool]\nspanwise = []\n"]
)
def test_an_invalid_table_is_reported(text: str, capsys: Captured) -> None:
    assert "pyproject.toml" in refusal(capsys, text, "pyproject.toml")


def test_a_misspelt_setting_gets_a_hint(capsys: Captured) -> None:
    assert "hint: did you mean `max_tokens`?" in refusal(capsys, "max_token = 50\n")


@pytest.mark.parametrize("name", ["nope.toml", "docs"])
def test_a_missing_config_file_is_reported(name: str, capsys: Captured) -> None:
    assert main(["chunk", "docs/a.md", "--config", name]) == 2
    assert f"error: `{name}` can't be opened (" in capsys.readouterr().err


def test_dates_in_a_config_file_become_strings(folder: Path, capsys: Captured) -> None:
    files(folder, {"spanwise.toml": "meta = {updated_at = 2026-01-28T10:00:00Z}\n"})
    assert main(["chunk", "docs/a.md", "-q"]) == 0
    stamp = records(capsys.readouterr().out)[0]["metadata"]["updated_at"]
    assert stamp.startswith("2026-01-28T10:00:00")


# ------------------------------------------------------------------------------------------------------- in Python


def test_settings_hold_given_values_and_no_defaults() -> None:
    effective_settings = in_force([Layer("a", {"strategy": "fixed", "meta": {"x": 1}}), Layer("b", {"max_tokens": 50})])
    assert effective_settings["max_tokens"] == Value(50, "b")
    settings = settings_of(effective_settings)
    assert (settings.strategy, settings.tokenizer) == ("fixed", "cl100k")
    assert (dict(settings.options), dict(settings.metadata)) == ({"max_tokens": 50}, {"x": 1})


def test_settings_that_contradict_each_other_are_refused() -> None:
    with pytest.raises(OptionError, match="target_tokens"):
        settings_of(in_force([Layer("a", {"target_tokens": 500}), Layer("b", {"max_tokens": 50})]))


def test_every_option_of_every_strategy_is_a_setting(folder: Path) -> None:
    assert set(declared_options()) == {
        name for strategy in STRATEGIES.values() for name in strategy.options.__dataclass_fields__
    }
    for name, item in declared_options().items():
        other = '"words"' if item.metadata["kind"] is str else "700"
        default = orjson.dumps(item.default).decode() if item.default is not None else other
        files(folder, {"one.toml": f"{name} = {default}\n"})
        general = load_config(folder / "one.toml").general
        assert general is not None
        assert set(general) == {name}


def test_paths_are_named_from_where_we_are(folder: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch) -> None:
    files(folder, {"spanwise.toml": "max_tokens = 300\n"})
    assert effective(capsys)["max_tokens"][1] == "spanwise.toml"
    monkeypatch.chdir(folder / "docs")
    origin = effective(capsys)["max_tokens"][1]
    assert Path(origin).samefile(folder / "spanwise.toml")
