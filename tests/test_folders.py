"""Finding documents in folders: the walk, `.gitignore` with git's semantics, patterns, hidden files and links."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path, PurePath

import pytest

from command import files, without_rights
from spanwise.errors import OptionError, SpanwiseError
from spanwise.indexing.identity import location_of
from spanwise.sources.folder import FoundFiles, find_files


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def made(folder: Path, *names: str, ignored: dict[str, str] | None = None) -> None:
    """Create empty files, and `.gitignore` files in the given folders."""
    files(folder, dict.fromkeys(names, ""))
    files(folder, {str(PurePath(path, ".gitignore")): text for path, text in (ignored or {}).items()})


def found(
    *paths: str, include: Sequence[str] = (), exclude: Sequence[str] = (), follow_links: bool = False
) -> FoundFiles:
    return find_files(paths or ["."], known=lambda _: True, include=include, exclude=exclude, follow_links=follow_links)


# ------------------------------------------------------------------------------------------------------- the walk


def test_a_folder_is_walked_to_the_bottom_in_the_order_of_names(folder: Path) -> None:
    made(folder, "b.md", "a/z.md", "a/b/c/d.md", "a.md", "B.md")
    assert found().files == ["B.md", "a.md", "a/b/c/d.md", "a/z.md", "b.md"]


def test_names_begin_with_the_path_that_was_given(folder: Path) -> None:
    made(folder, "docs/a.md", "docs/b/c.md")
    assert found("docs").files == found("docs/").files == found("./docs//").files == ["docs/a.md", "docs/b/c.md"]
    assert found(str(folder / "docs")).files == [f"{folder.as_posix()}/docs/{name}" for name in ("a.md", "b/c.md")]


def test_a_folder_may_lie_above(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made(folder, "docs/a.md", "other/b.md")
    monkeypatch.chdir(folder / "other")
    assert found("../docs").files == ["../docs/a.md"]
    assert found("..").files == ["../docs/a.md", "../other/b.md"]


def test_a_file_that_is_named_is_always_taken(folder: Path) -> None:
    made(folder, "docs/.hidden.md", "docs/x.bin", ignored={"docs": "*\n"})
    one = find_files(["docs/.hidden.md", "docs/x.bin"], known=lambda _: False, include=["*.md"], exclude=["*"])
    assert one.files == ["docs/.hidden.md", "docs/x.bin"]
    assert not one.passed_over


def test_every_file_is_taken_once(folder: Path) -> None:
    made(folder, "docs/a.md", "docs/b/c.md")
    (folder / "docs/link.md").symlink_to("a.md")
    assert found("docs", "docs/b", "docs/b/c.md", "docs").files == ["docs/a.md", "docs/b/c.md"]


@pytest.mark.parametrize("order", [[0, 1, 2], [2, 1, 0], [1, 2, 0]])
def test_the_order_of_paths_changes_nothing(order: list[int], folder: Path) -> None:
    made(folder, "docs/a.md", "docs/b/c.md")
    (folder / "link.md").symlink_to("docs/a.md")
    paths = ["link.md", "docs", str(folder / "docs")]
    assert found(*(paths[index] for index in order)).files == found(*paths).files


def test_a_file_skipped_twice_is_counted_once(folder: Path) -> None:
    made(folder, "docs/a.md", "docs/b/.hidden", "docs/b/c.md")
    assert found("docs", "docs/b", "./docs").passed_over == {"hidden": 1}


@pytest.mark.parametrize("path", ["nope", "nope/", "a.md/b", ""])
def test_a_missing_path_is_reported(path: str, folder: Path) -> None:
    made(folder, "a.md")
    try:
        failed: Sequence[SpanwiseError] = found(path).failed
    except SpanwiseError as error:
        failed = [error]
    assert [error.subject for error in failed] == [path]


def test_unknown_types_are_counted_by_extension(folder: Path) -> None:
    made(folder, "a.md", "b.bin", "c/d.bin", "e.jpg")
    few = find_files(["."], known=lambda name: name.endswith(".md"))
    assert few.files == ["a.md"]
    assert few.passed_over == {"no reader for .bin": 2, "no reader for .jpg": 1}


def test_hidden_files_and_folders_are_passed_over_and_counted(folder: Path) -> None:
    made(folder, "a.md", ".hidden.md", ".folder/b.md", ".folder/c.md", "d/.e.md")
    assert found().files == ["a.md"]
    assert found().passed_over == {"hidden": 3}  # a folder counts once


def test_a_hidden_folder_that_is_named_is_walked(folder: Path) -> None:
    made(folder, ".notes/a.md", ".notes/.git/b.md")
    assert found(".notes").files == [".notes/a.md"]


def test_the_git_folder_is_not_counted(folder: Path) -> None:
    made(folder, "a.md", ".git/config", ignored={"": "\n"})
    assert found().files == ["a.md"]
    assert not found().passed_over


# -------------------------------------------------------------------------------------------------- links and pipes


def linked(folder: Path) -> None:
    """Make a folder with links of all kinds: to files and folders inside and outside, and round."""
    made(folder, "elsewhere/a.md", "elsewhere/more/c.md", "docs/b.md", "docs/sub/d.md", "docs/.data/e.md")
    for name, target in {
        "a.md": "../elsewhere/a.md", "again.md": "b.md", "e.md": ".data/e.md", "e2.md": "e.md", "more": "../elsewhere",
        "round": ".", "sub2": "sub", "up": "..",
    }.items():  # fmt: skip
        (folder / "docs" / name).symlink_to(target)


def test_links_that_leave_the_folder_are_passed_over(folder: Path) -> None:
    linked(folder)
    answer = found("docs")
    assert answer.files == ["docs/b.md", "docs/e.md", "docs/sub/d.md"]
    assert answer.passed_over == {
        "hidden": 1, "link that leaves the folder": 3, "another name of a file": 2, "linked folder": 2,
    }  # fmt: skip


def test_links_are_followed_if_that_is_wanted_and_nothing_comes_twice(folder: Path) -> None:
    linked(folder)
    answer = found("docs", follow_links=True)
    assert answer.files == ["docs/b.md", "docs/e.md", "docs/more/a.md", "docs/more/more/c.md", "docs/sub/d.md"]
    assert answer.passed_over == {"hidden": 1, "another name of a file": 3, "linked folder": 2}


def test_a_file_knows_where_it_is(folder: Path) -> None:
    linked(folder)
    (folder / "alias").symlink_to("docs")
    for paths in (["docs"], ["alias"], ["alias/a.md", "docs/sub/d.md"], ["."]):
        for item in found(*paths, follow_links=True).items():
            assert item.location == location_of(item.path)


def test_a_link_that_is_named_is_followed(folder: Path) -> None:
    linked(folder)
    assert found("docs/a.md", "docs/up/elsewhere/more").files == ["docs/a.md", "docs/up/elsewhere/more/c.md"]
    assert "link that leaves the folder" not in found("docs/a.md").passed_over
    assert found("docs", "docs/a.md").passed_over["link that leaves the folder"] == 2


def test_a_link_never_leads_to_what_git_keeps(folder: Path) -> None:
    made(folder, "docs/.git/config")
    (folder / "docs/config.md").symlink_to(".git/config")
    assert found("docs").files == []
    assert found("docs").passed_over == {"hidden": 1}


def test_what_one_path_passes_over_and_another_one_takes_is_not_counted(folder: Path) -> None:
    made(folder, "docs/a.md", "docs/.hidden.md", "docs/build/b.md", ignored={"docs": "build/\n"})
    assert found("docs").passed_over == {"hidden": 1, "ignored by .gitignore": 1}
    for paths in (["docs", "docs/.hidden.md", "docs/build"], ["docs/build", "docs/.hidden.md", "docs"]):
        assert len(found(*paths).files) == 3
        assert not found(*paths).passed_over


def test_a_linked_folder_that_is_named_is_walked(folder: Path) -> None:
    made(folder, "elsewhere/a.md")
    (folder / "docs").symlink_to("elsewhere")
    assert found("docs").files == ["docs/a.md"]


def test_a_dangling_link_is_found(folder: Path) -> None:
    made(folder, "docs/a.md")
    (folder / "docs/gone.md").symlink_to("nowhere")
    (folder / "docs/loop.md").symlink_to("loop.md")
    assert found("docs").files == ["docs/a.md", "docs/gone.md", "docs/loop.md"]


def test_a_pipe_is_no_document(folder: Path) -> None:
    made(folder, "docs/a.md")
    os.mkfifo(folder / "docs/pipe.md")
    assert found("docs").files == ["docs/a.md"]
    assert found("docs").passed_over.total() == 1


def test_names_that_are_no_text_are_found(folder: Path) -> None:
    name = os.fsdecode(b"docs/n\xffme.md")
    made(folder, name, os.fsdecode(b"docs/d\xff/inner.md"))
    assert name in found("docs").files
    assert len(found("docs").files) == 2


@pytest.fixture
def shut(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Yield a folder that every user may enter, with an inaccessible one inside."""
    with tempfile.TemporaryDirectory() as name:
        path = files(Path(name), {"a.md": "", "shut/b.md": "", "z.md": ""})
        path.chmod(0o755)
        (path / "shut").chmod(0)
        monkeypatch.chdir(path)
        yield path
        (path / "shut").chmod(0o755)


def test_a_folder_that_may_not_be_read_fails_alone(shut: Path) -> None:
    with without_rights():
        answer = found(".")
    assert answer.files == ["a.md", "z.md"]
    assert [(PurePath(error.subject), error.rule) for error in answer.failed] == [
        (PurePath("shut"), "can't be opened (Permission denied)")
    ]


@pytest.mark.parametrize("path", ["shut", "shut/b.md"])
def test_a_path_that_may_not_be_entered_fails_alone(path: str, shut: Path) -> None:
    with without_rights():
        answer = found("a.md", path)
    assert "a.md" in answer.files
    reported = [error.subject for error in answer.failed] + answer.files
    assert path in reported  # reported either here or when it is opened


# ----------------------------------------------------------------------------------------------------- .gitignore

TREE = ("docs/x.md", "docs/x.txt", "docs/api/y.md", "docs/api/y.txt", "z.md", "z.txt", "build/o.md", "src/build/p.md")


@pytest.mark.parametrize(
    ("patterns", "left"),
    [
        ("\ufeff*.txt", "build/o.md docs/api/y.md docs/x.md src/build/p.md z.md"),
        ("docs**/x.*", "build/o.md docs/api/y.md docs/api/y.txt src/build/p.md z.md z.txt"),
        ("**\\/x.*", "build/o.md docs/api/y.md docs/api/y.txt src/build/p.md z.md z.txt"),
        ("*[[:digit:]x-z].md", "build/o.md docs/api/y.txt docs/x.txt src/build/p.md z.txt"),
        ("*.txt", "build/o.md docs/api/y.md docs/x.md src/build/p.md z.md"),
        ("build", "docs/api/y.md docs/api/y.txt docs/x.md docs/x.txt z.md z.txt"),
        ("build/", "docs/api/y.md docs/api/y.txt docs/x.md docs/x.txt z.md z.txt"),
        ("/build", "docs/api/y.md docs/api/y.txt docs/x.md docs/x.txt src/build/p.md z.md z.txt"),
        ("z.md/", " ".join(sorted(TREE))),  # not a folder
        ("docs/*.md", "build/o.md docs/api/y.md docs/api/y.txt docs/x.txt src/build/p.md z.md z.txt"),
        ("docs/**/*.md", "build/o.md docs/api/y.txt docs/x.txt src/build/p.md z.md z.txt"),
        ("**/api", "build/o.md docs/x.md docs/x.txt src/build/p.md z.md z.txt"),
        ("*\n!*/\n!*.md", "build/o.md docs/api/y.md docs/x.md src/build/p.md z.md"),
        ("/*\n!/docs", "docs/api/y.md docs/api/y.txt docs/x.md docs/x.txt"),
        ("*\n!docs/", ""),  # the folder is included again, its contents are not
        ("docs/**\n!docs/x.md", "build/o.md docs/x.md src/build/p.md z.md z.txt"),
        ("docs/**\n!docs/**/\n!docs/**/*.md", "build/o.md docs/api/y.md docs/x.md src/build/p.md z.md z.txt"),
        ("docs/*\n!docs/api", "build/o.md docs/api/y.md docs/api/y.txt src/build/p.md z.md z.txt"),
        ("docs/\n!docs/x.md", "build/o.md src/build/p.md z.md z.txt"),  # an excluded folder stays excluded
        ("**/build/\n!src/build/", "docs/api/y.md docs/api/y.txt docs/x.md docs/x.txt src/build/p.md z.md z.txt"),
        ("*.txt\n!docs/", "build/o.md docs/api/y.md docs/x.md src/build/p.md z.md"),
        ("[xyz].txt", "build/o.md docs/api/y.md docs/x.md src/build/p.md z.md"),
        ("[!z].*", "z.md z.txt"),
        ("?.md\n!o.md", "build/o.md docs/api/y.txt docs/x.txt z.txt"),
        ("# *.md\n\n   \n*.txt   ", "build/o.md docs/api/y.md docs/x.md src/build/p.md z.md"),
        ("*.txt\r\nbuild\r\n", "docs/api/y.md docs/x.md z.md"),
        ("!", " ".join(sorted(TREE))),  # git ignores meaningless patterns
        ("/", " ".join(sorted(TREE))),
        ("[\n*.txt", "build/o.md docs/api/y.md docs/x.md src/build/p.md z.md"),
        ("\\", " ".join(sorted(TREE))),
    ],
)
def test_patterns_agree_with_git(patterns: str, left: str, folder: Path) -> None:
    made(folder, *TREE, ignored={"": patterns})
    assert found().files == left.split()


def test_ignored_files_are_counted(folder: Path) -> None:
    made(folder, *TREE, ignored={"": "*.txt\nbuild/\n"})
    assert found().passed_over == {"ignored by .gitignore": 5}  # three files, two folders


def test_names_with_signs_can_be_ignored(folder: Path) -> None:
    made(folder, "#a.md", "!b.md", "c .md", "d [1].md", "é.md", ignored={"": "\\#a.md\n\\!b.md\nd \\[1\\].md\né.md\n"})
    assert found().files == ["c .md"]


@pytest.mark.parametrize(
    ("ignored", "left"),
    [
        ({"docs": "*.txt"}, "build/o.md docs/api/y.md docs/x.md src/build/p.md z.md z.txt"),
        ({"docs": "/api"}, "build/o.md docs/x.md docs/x.txt src/build/p.md z.md z.txt"),
        ({"docs": "/docs/api"}, " ".join(sorted(TREE))),
        ({"": "*.txt\nz*\nsrc", "docs": "!*.txt"}, "build/o.md docs/api/y.md docs/api/y.txt docs/x.md docs/x.txt"),
        ({"": "*.txt", "docs/api": "!y.txt"}, "build/o.md docs/api/y.md docs/api/y.txt docs/x.md src/build/p.md z.md"),
        ({"": "*.txt", "docs": "!api/"}, "build/o.md docs/api/y.md docs/x.md src/build/p.md z.md"),
        ({"": "*.txt", "docs": "!*/"}, "build/o.md docs/api/y.md docs/x.md src/build/p.md z.md"),
        ({"": "docs/", "docs": "!x.md"}, "build/o.md src/build/p.md z.md z.txt"),
        ({"": "build/\nz*", "src": "!build/"}, "docs/api/y.md docs/api/y.txt docs/x.md docs/x.txt src/build/p.md"),
    ],
)  # fmt: skip
def test_the_nearest_matching_gitignore_decides(ignored: dict[str, str], left: str, folder: Path) -> None:
    made(folder, *TREE, ignored=ignored)
    assert found().files == left.split()


def test_a_gitignore_above_holds_inside_a_repository(folder: Path) -> None:
    made(folder, *TREE, ".git/HEAD", ignored={"": "*.txt\n/docs/api\n/x.md\n"})
    assert found("docs").files == ["docs/x.md"]
    assert found(str(folder / "docs")).files == [f"{folder.as_posix()}/docs/x.md"]


def test_a_gitignore_above_is_ignored_without_a_repository(folder: Path) -> None:
    made(folder, *TREE, ignored={"": "*.txt\n"})
    assert "docs/x.txt" in found("docs").files


def test_a_gitignore_above_the_repository_is_ignored(folder: Path) -> None:
    made(folder, *TREE, "docs/.git/HEAD", ignored={"": "*.txt\n"})
    assert "docs/x.txt" in found("docs").files
    assert "docs/api/y.txt" in found("docs/api").files


def test_a_worktree_whose_git_is_a_file_is_a_repository(folder: Path) -> None:
    files(folder, {".git": "gitdir: elsewhere\n"})
    made(folder, *TREE, ignored={"": "*.txt\n"})
    assert found("docs/api").files == ["docs/api/y.md"]


def test_a_gitignore_that_is_a_folder_or_no_text_breaks_nothing(folder: Path) -> None:
    made(folder, "a.md", "b/c.md", "b/d.txt")
    (folder / ".gitignore").mkdir()
    (folder / "b/.gitignore").write_bytes(b"\xff\xfe*\n*.txt\n")
    assert found().files == ["a.md", "b/c.md"]


# ---------------------------------------------------------------------------------------------- include and exclude


@pytest.mark.parametrize(
    ("include", "left"),
    [
        (["*.md"], "build/o.md docs/api/y.md docs/x.md src/build/p.md z.md"),
        (["docs/"], "docs/api/y.md docs/api/y.txt docs/x.md docs/x.txt"),
        (["docs/api", "z.*"], "docs/api/y.md docs/api/y.txt z.md z.txt"),
        (["/*.md"], "z.md"),
        (["*.md", "!z.md"], "build/o.md docs/api/y.md docs/x.md src/build/p.md"),
        (["nothing"], ""),
    ],
)
def test_only_what_is_included_is_taken(include: list[str], left: str, folder: Path) -> None:
    made(folder, *TREE)
    assert found(include=include).files == left.split()
    assert found(include=include).passed_over["not included"] == len(TREE) - len(left.split())


@pytest.mark.parametrize(
    ("exclude", "left"),
    [
        (["*.md"], "docs/api/y.txt docs/x.txt z.txt"),
        (["docs/"], "build/o.md src/build/p.md z.md z.txt"),
        (["build", "*.txt"], "docs/api/y.md docs/x.md z.md"),
        (["/build"], "docs/api/y.md docs/api/y.txt docs/x.md docs/x.txt src/build/p.md z.md z.txt"),
        (["*.md", "!z.md"], "docs/api/y.txt docs/x.txt z.md z.txt"),
    ],
)
def test_what_is_excluded_is_not_taken(exclude: list[str], left: str, folder: Path) -> None:
    made(folder, *TREE)
    assert found(exclude=exclude).files == left.split()
    assert found(exclude=exclude).passed_over["excluded"] > 0


def test_patterns_are_relative_to_the_walked_folder(folder: Path) -> None:
    made(folder, *TREE)
    assert found("docs", include=["/x.*"]).files == ["docs/x.md", "docs/x.txt"]
    assert found("docs", exclude=["api/"]).files == ["docs/x.md", "docs/x.txt"]


@pytest.mark.parametrize("pattern", ["[", "a\\", "/", "!", "[[:x:]]", "a/[b", "x" * 5000])
def test_what_can_match_nothing_is_no_pattern(pattern: str, folder: Path) -> None:
    made(folder, *TREE)
    with pytest.raises(OptionError, match="is not a pattern"):
        found(include=[pattern])
    with pytest.raises(OptionError, match="is not a pattern"):
        found(exclude=[pattern])


def test_exclude_beats_include_and_include_does_not_beat_gitignore(folder: Path) -> None:
    made(folder, *TREE, ignored={"": "*.txt\n"})
    assert found(include=["docs/"], exclude=["*.md"]).files == []
    assert found(include=["*.txt"]).files == []
