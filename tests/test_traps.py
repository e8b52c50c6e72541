"""Folders and files that are traps: nothing waits, nothing is endless, and every path is accounted for."""

from __future__ import annotations

import os
import random
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import spanwise
from command import COMMAND, environment, files, ran, records, without_rights
from spanwise import UnreadableError
from spanwise.opening import MAX_BYTES, read_file_bytes, read_to_end
from spanwise.readers import has_reader
from spanwise.sources.folder import FoundFiles, find_files
from spanwise.sources.item import FileItem

PAGE = "# Trips\n\nBook trips in the portal.\n"
SECRET = "the word is swordfish"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def found(*paths: str, follow_links: bool = False) -> FoundFiles:
    return find_files(paths or ["docs"], known=has_reader, follow_links=follow_links)


def only_item(path: str = "docs") -> FileItem:
    (item,) = found(path).items()
    return item


# ------------------------------------------------------------------------------------------ a folder full of traps


@pytest.fixture
def traps(folder: Path) -> Path:
    """Make a folder of traps; three of its files can be read."""
    files(folder, {
        "docs/a.md": PAGE, "docs/sub/b.md": PAGE, "docs/zero.md": "", "docs/.env": SECRET, "docs/x.bin": b"\0",
        "docs/image.\x1b[31mred": b"\0", "docs/broken.md": b"PK\x03\x04\0\0", "secrets/key.md": SECRET,
        "docs/two\nlines\x1b[31m.md": b"\0\1", os.fsdecode(b"docs/n\xffme.md"): b"\0\1",
        "docs/sub/.gitignore": "drafts/", "docs/sub/drafts/c.md": SECRET,
    })  # fmt: skip
    os.mkfifo(folder / "docs/pipe.md")
    os.mkfifo(folder / "secrets/pipe.md")
    os.mkfifo(folder / "docs/.gitignore")
    with socket.socket(socket.AF_UNIX) as server:
        server.bind("docs/socket.md")
    with (folder / "docs/huge.md").open("wb") as file:
        file.truncate(1 << 40)  # takes no room on the disk
    for name, target in {
        "again.md": "a.md", "gone.md": "nowhere.md", "loop.md": "loop.md", "key.md": "../secrets/key.md",
        "all": "../secrets", "round": ".", "zeros.md": "/dev/zero", "waiting.md": "pipe.md",
        "far.md": "../secrets/pipe.md", "gone-far.md": "../nowhere.md",
    }.items():  # fmt: skip
        (folder / "docs" / name).symlink_to(target)
    (folder / "docs/chain0.md").symlink_to("a.md")
    for number in range(100):
        (folder / f"docs/chain{number + 1}.md").symlink_to(f"chain{number}.md")
    return folder


READ = {"docs/a.md", "docs/sub/b.md", "docs/zero.md"}
FAILED = {
    "docs/broken.md", "docs/two\nlines\x1b[31m.md", r"docs/n\xffme.md", "docs/huge.md", "docs/gone.md", "docs/loop.md",
    *(f"docs/chain{number}.md" for number in range(40, 101)),  # a system follows 40 links at most
}  # fmt: skip
PASSED = {
    "hidden": 1, "no reader for .bin": 1, "no reader for its extension": 1, "ignored by .gitignore": 1,
    "no ordinary file": 4, "another name of a file": 41, "link that leaves the folder": 5, "linked folder": 1,
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.process
@pytest.mark.parametrize("limits", [{}, {"file_timeout": 0, "file_memory": 0}])
def test_every_path_of_a_folder_of_traps_is_accounted_for(limits: dict[str, Any], traps: Path) -> None:
    report = spanwise.index("docs", "docs.db", embedder=None, **limits)
    assert {document.file for document in report.documents if document.status == "added"} == READ
    assert {document.file for document in report.documents if document.status == "failed"} == FAILED
    assert report.passed_over == PASSED
    entries = sum(len(inner) + len(names) for _, inner, names in os.walk("docs"))
    left_behind = {"docs/sub", "docs/sub/.gitignore", "docs/sub/drafts/c.md"}  # walked, read as rules, in one left out
    assert entries == len(READ) + len(FAILED) + sum(PASSED.values()) + len(left_behind)


@pytest.mark.slow
@pytest.mark.process
@pytest.mark.parametrize("command", [["chunk"], ["index", "--store", "docs.db", "--embedder", "none"]])
def test_the_commands_account_for_every_path_of_a_folder_of_traps(command: list[str], traps: Path) -> None:
    done = ran(*command, "docs", cwd=traps, timeout=60)
    assert done.code == 1
    errors = [line for line in done.err.splitlines() if line.startswith("error: ")]
    assert len(errors) == len(FAILED)
    assert f"{len(FAILED)} failed" in done.err
    assert "left out: " + ", ".join(f"{reason} {number}" for reason, number in sorted(PASSED.items())) in done.err
    assert "\x1b" not in done.err
    assert "swordfish" not in done.out.decode() + done.err


@pytest.mark.slow
@pytest.mark.process
def test_chunks_of_a_folder_of_traps_can_be_checked(traps: Path) -> None:
    chunks = ran("chunk", "docs", cwd=traps, timeout=60).out
    done = ran("check", "-", "--source", "docs", "--json", "--most", "0", cwd=traps, piped=chunks, timeout=60)
    assert done.code == 0, done.err
    assert done.out.count(b"can't be read: ") == len(FAILED)
    done = ran("links", "docs", cwd=traps, timeout=60)
    assert "swordfish" not in done.out.decode() + done.err


@pytest.mark.slow
@pytest.mark.process
def test_links_are_followed_out_of_a_folder_of_traps_if_that_is_wanted(traps: Path) -> None:
    done = ran("chunk", "docs", "--follow-links", cwd=traps, timeout=60)
    assert {"docs/all/key.md"} <= {record["metadata"]["file_path"] for record in records(done.out)}
    assert "link that leaves" not in done.err
    assert "no ordinary file 7" in done.err  # /dev/zero, the other pipe, and the same pipe by another name
    outcomes = list(spanwise.chunk_files("docs", follow_links=True))
    assert "docs/all/key.md" in {outcome.name for outcome in outcomes if outcome.value}


def test_a_path_is_counted_once_however_it_is_given(traps: Path) -> None:
    both: list[str | os.PathLike[str]] = [Path("docs"), "docs/sub", str(Path("docs").absolute()), "docs/.env"]
    report = spanwise.index(both, "docs.db", embedder=None)
    expected = {reason: number for reason, number in PASSED.items() if reason != "hidden"}
    assert report.passed_over == expected
    assert found(*map(str, both)).passed_over == expected


# --------------------------------------------------------------------------------------------------- opening files


def test_a_file_is_read_as_it_was_when_it_was_opened(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = folder / "growing.log"
    path.write_bytes(b"line\n" * 1000)
    usual = os.read

    def read(descriptor: int, size: int) -> bytes:
        with path.open("ab") as file:
            file.write(b"more\n" * 1000)
        return usual(descriptor, min(size, 100))

    monkeypatch.setattr(os, "read", read)
    assert read_file_bytes(path) == b"line\n" * 1000


def test_a_file_that_becomes_shorter_ends_there(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = folder / "shrinking.log"
    path.write_bytes(b"line\n" * 1000)
    usual = os.read

    def read(descriptor: int, size: int) -> bytes:
        part = usual(descriptor, min(size, 100))
        os.truncate(path, 150)
        return part

    monkeypatch.setattr(os, "read", read)
    assert len(read_file_bytes(path)) == 150


@pytest.mark.parametrize("size", [0, 5000])
def test_what_has_no_end_is_refused(size: int) -> None:
    with pytest.raises(UnreadableError, match=r"`-` is larger than 0 MiB"):
        read_to_end(bytes, "-", most=4999, size=size)
    assert len(read_to_end(bytes, "-", most=5000, size=5000)) == 5000


def test_a_file_that_is_too_large_is_refused_before_it_is_read(folder: Path) -> None:
    with (folder / "huge.md").open("wb") as file:
        file.truncate(MAX_BYTES + 1)
    with pytest.raises(UnreadableError, match=r"`huge\.md` is larger than 2 GiB\nhint: divide it"):
        spanwise.read("huge.md")


@pytest.mark.skipif(not Path("/proc/version").exists(), reason="needs /proc")
def test_a_file_without_a_size_is_read_to_its_end() -> None:
    assert Path("/proc/version").stat().st_size == 0
    assert b"Linux" in read_file_bytes("/proc/version", within="/proc")


@pytest.mark.parametrize("path", ["/dev/zero", "/dev/tty", "socket"])
def test_what_is_no_file_is_refused(path: str, folder: Path) -> None:
    with socket.socket(socket.AF_UNIX) as server:
        server.bind("socket")
    with pytest.raises(UnreadableError, match=r"is a device, not a file|can't be opened"):
        spanwise.read(path, format="text")


def test_the_null_device_is_empty() -> None:
    assert spanwise.read("/dev/null").text == ""


def test_a_pipe_that_is_named_is_waited_for(folder: Path) -> None:
    os.mkfifo("pipe.md")
    writer = threading.Thread(target=lambda: Path("pipe.md").write_text(PAGE * 10_000, encoding="utf-8"))
    writer.start()
    assert spanwise.read("pipe.md").text == PAGE * 10_000
    writer.join()


@pytest.mark.process
def test_a_pipe_that_the_shell_opened_is_read(folder: Path) -> None:
    reading, writing = os.pipe()
    os.write(writing, PAGE.encode())
    os.close(writing)
    path = f"/dev/fd/{reading}"
    done = subprocess.run([*COMMAND, "chunk", path], pass_fds=[reading], capture_output=True, timeout=30, cwd=folder)
    os.close(reading)
    assert "Book trips" in records(done.stdout)[0]["full_text"]


@pytest.mark.slow
@pytest.mark.process
def test_a_pipe_that_is_named_takes_no_longer_than_a_file_may(folder: Path) -> None:
    files(folder, {"a.md": PAGE})
    os.mkfifo("pipe.md")
    done = ran("chunk", "pipe.md", "a.md", "--file-timeout", "2", cwd=folder)
    assert done.code == 1
    assert "`pipe.md` can't be read within 2 s" in done.err
    assert len(records(done.out)) == 1


# --------------------------------------------------------------------------- what changes after it has been listed


def to_pipe(path: Path) -> None:
    path.unlink()
    os.mkfifo(path)


def to_folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


def to_link(path: Path) -> None:
    path.unlink()
    path.symlink_to(path.parent.parent / "secrets/a.md")


def to_link_above(path: Path) -> None:
    shutil.rmtree(path.parent)
    path.parent.symlink_to(path.parent.parent / "secrets")


def to_device(path: Path) -> None:
    path.unlink()
    path.symlink_to("/dev/zero")


@pytest.mark.parametrize(
    ("change", "rule"),
    [
        (Path.unlink, "can't be opened (No such file or directory)"),
        (to_pipe, "is a pipe, not a file"),
        (to_folder, "can't be opened (Is a directory)"),
        (to_device, "is a device, not a file"),
        (to_link, "leads out of the folder that it was found in"),
        (to_link_above, "leads out of the folder that it was found in"),
    ],
)
def test_a_file_that_changes_after_it_was_listed_fails_alone(
    change: Callable[[Path], None], rule: str, folder: Path
) -> None:
    files(folder, {"all/docs/a.md": PAGE, "all/secrets/a.md": SECRET, "b.md": PAGE})

    def sources() -> Iterator[FileItem]:
        item = only_item("all/docs")
        change(folder / "all/docs/a.md")
        yield item
        yield from find_files(["b.md"], known=has_reader).items()

    report = spanwise.index(sources(), "docs.db", embedder=None, file_timeout=0, file_memory=0)
    first, second = report.documents
    assert (first.status, second.status) == ("failed", "added")
    assert isinstance(first.error, UnreadableError)
    assert (first.error.subject, first.error.rule) == ("all/docs/a.md", rule)


def test_a_link_that_is_followed_may_change(folder: Path) -> None:
    files(folder, {"docs/a.md": PAGE, "secrets/a.md": SECRET})
    (item,) = found(follow_links=True).items()
    to_link(folder / "docs/a.md")
    assert item.fetch().decode() == SECRET


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="needs /proc")
def test_where_a_file_lies_is_asked_when_it_is_open(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A link that changes back at once is found out."""
    files(folder, {"docs/a.md": PAGE, "secrets/a.md": SECRET})
    item, usual = only_item(), os.open

    def opened_between(path: str, flags: int) -> int:
        to_link(folder / "docs/a.md")
        descriptor = usual(path, flags)
        (folder / "docs/a.md").unlink()
        files(folder, {"docs/a.md": PAGE})
        return descriptor

    monkeypatch.setattr(os, "open", opened_between)
    with pytest.raises(UnreadableError, match="leads out of the folder"):
        item.fetch()


# ------------------------------------------------------------------------------------------------ names and folders


@pytest.mark.process
def test_chunks_of_files_whose_names_are_no_text_can_be_checked(folder: Path) -> None:
    files(folder, {os.fsdecode(b"docs/n\xffme.md"): PAGE, os.fsdecode(b"docs/d\xfe/a.md"): PAGE})
    chunks = ran("chunk", "docs", cwd=folder).out
    assert {record["metadata"]["file_path"] for record in records(chunks)} == {r"docs/n\xffme.md", r"docs/d\xfe/a.md"}
    done = ran("check", "-", "--source", "docs", "--json", cwd=folder, piped=chunks)
    assert done.code == 0, done.out


@pytest.mark.slow
def test_a_folder_of_a_thousand_levels_is_read(folder: Path) -> None:
    top = Path("docs")
    top.mkdir()
    here = os.open("docs", os.O_RDONLY)
    for _ in range(1000):
        os.mkdir("d", dir_fd=here)
        here, above = os.open("d", os.O_RDONLY, dir_fd=here), here
        os.close(above)
    os.close(os.open("a.md", os.O_CREAT | os.O_WRONLY, dir_fd=here))
    os.close(here)
    try:
        (name,) = found().files
        assert name == f"docs/{'d/' * 1000}a.md"
        (outcome,) = spanwise.chunk_files("docs")
        assert outcome.error is None
    finally:
        subprocess.run(["rm", "-rf", "docs"], check=True)  # Python's own way is recursive


def test_a_path_that_is_too_long_fails_alone(folder: Path) -> None:
    files(folder, {"docs/a.md": PAGE})
    here = os.open("docs", os.O_RDONLY)
    for _ in range(25):
        os.mkdir("d" * 200, dir_fd=here)
        here, above = os.open("d" * 200, os.O_RDONLY, dir_fd=here), here
        os.close(above)
    os.close(here)
    try:
        answer = found()
        assert answer.files == ["docs/a.md"]
        assert [error.rule for error in answer.failed] == ["can't be opened (File name too long)"]
    finally:
        subprocess.run(["rm", "-rf", "docs"], check=True)


def test_what_may_not_be_read_fails_and_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    with tempfile.TemporaryDirectory() as name:
        path = files(Path(name), {"a.md": PAGE, "shut.md": SECRET, "shut/b.md": SECRET, "blind/.gitignore": "*.txt"})
        files(path, {"blind/c.txt": PAGE})
        path.chmod(0o755)
        for one in ("shut.md", "shut", "blind/.gitignore"):
            (path / one).chmod(0)
        monkeypatch.chdir(path)
        with without_rights():
            listed = found(".")
            failed = {error.subject: error.rule for error in listed.failed}
            outcomes = list(spanwise.chunk_files([".", "."], file_timeout=0, file_memory=0))
        (path / "shut").chmod(0o755)
    denied = "can't be opened (Permission denied)"
    assert failed == {"shut": denied, f"{os.path.realpath(path)}/blind/.gitignore": denied}
    assert sorted(outcome.name for outcome in outcomes if outcome.error) == sorted([*failed, "shut.md"])
    assert {outcome.name for outcome in outcomes if outcome.value} == {"a.md", "blind/c.txt"}


def test_reasons_are_few_and_harmless(folder: Path) -> None:
    odd = {f"docs/{number}.\x1b{number}": "" for number in range(50)} | {os.fsdecode(b"docs/a.\xff"): ""}
    files(folder, odd | {f"docs/a.{'x' * 200}": "", "docs/a.bin": ""})
    assert found().passed_over == {"no reader for its extension": 52, "no reader for .bin": 1}


@pytest.mark.slow
@pytest.mark.process
def test_a_summary_of_many_reasons_is_short(folder: Path) -> None:
    files(folder, {"docs/a.md": PAGE, **{f"docs/{n}.x{n}": "" for n in range(300)}, "docs/b.x7": "", "docs/c.y": ""})
    done = ran("chunk", "docs", cwd=folder)
    assert "302 left out" in done.err
    assert "no reader for .x7 2" in done.err
    assert done.err.splitlines()[-1].endswith("other reasons 281")


# --------------------------------------------------------------------------------------- .gitignore and config files


@pytest.mark.parametrize("what", ["pipe", "folder", "link"])
def test_a_gitignore_that_is_no_file_is_counted(what: str, folder: Path) -> None:
    files(folder, {"docs/a.md": PAGE, "docs/b/c.md": PAGE, "rules": "*.md\n"})
    path = folder / "docs/b/.gitignore"
    if what == "link":
        path.symlink_to("../../rules")
    else:
        os.mkfifo(path) if what == "pipe" else path.mkdir()
    assert found().files == ["docs/a.md", "docs/b/c.md"]
    assert found().passed_over == {"linked .gitignore" if what == "link" else "no ordinary file": 1}
    assert found(follow_links=True).files == (["docs/a.md"] if what == "link" else ["docs/a.md", "docs/b/c.md"])


def test_a_pipe_named_gitignore_above_the_folder_is_not_waited_for(folder: Path) -> None:
    files(folder, {"docs/a.md": PAGE, ".git/HEAD": ""})
    os.mkfifo(".gitignore")
    assert found().files == ["docs/a.md"]
    assert [error.rule for error in found().failed] == ["is a pipe, not a file"]


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        (b"*.txt\n" * 200_000, "is larger than 1 MiB"),
        (b"".join(b"?%d\n" % number for number in range(10_001)), "has more than 10,000 patterns with wildcards"),
    ],
)
def test_a_huge_gitignore_fails_and_the_rest_goes_on(text: bytes, rule: str, folder: Path) -> None:
    files(folder, {"docs/a.md": PAGE, "docs/b.txt": PAGE, "docs/.gitignore": text})
    assert found().files == ["docs/a.md", "docs/b.txt"]
    assert [error.rule for error in found().failed] == [rule]


@pytest.mark.slow
def test_equal_lines_and_names_cost_nothing(folder: Path) -> None:
    lines = b"*.txt\n" * 100_000 + b"".join(b"%d.md\n/%d/x\n" % (number, number) for number in range(20_000))
    files(folder, {"docs/.gitignore": lines, **{f"docs/{number}.md": "" for number in range(19_900, 20_100)}})
    assert len(found().files) == 100
    assert not found().failed


def test_a_gitignore_that_is_no_text_matches_names_that_are_none(folder: Path) -> None:
    name = os.fsdecode(b"docs/n\xffme.md")
    files(folder, {name: PAGE, "docs/a.md": PAGE, "docs/.gitignore": b"\xfe\xfe\nn\xff*\n"})
    assert found().files == ["docs/a.md"]


@pytest.mark.timeout(60)
@pytest.mark.parametrize(
    "pattern",
    [
        "*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*ab", "/" + "*a" * 100 + "b", "**/a" * 30 + "/b", "**/*a*a*a*a" * 10 + "/**/b",
        "*[a-z]" * 100 + "b", "/" + "a*" * 100 + "/b", "*?" * 100 + "b", "/**" * 100 + "/b",
    ],
)  # fmt: skip
def test_no_pattern_is_slow(pattern: str, folder: Path) -> None:
    deep = "/".join(["a" * 50] * 40)
    files(folder, {f"docs/{'a' * 250}.md": PAGE, f"docs/{deep}/a.md": PAGE, "docs/.gitignore": f"{pattern}\n"})
    assert len(found().files) == 2
    assert len(find_files(["docs"], known=has_reader, exclude=[pattern]).files) == 2
    assert not find_files(["docs"], known=has_reader, include=[pattern]).files


SIGNS = [
    "a", "b", "ab", "a.md", ".", "*", "*", "*", "**", "**/", "/**", "/**/", "/", "/", "*/", "?", "[ab]", "[!a]",
    "[^a-c]", "[[:alpha:]]", "[[:punct:]]", "[a-]", "[]a]", "[a/b]", "[", "\\", "\\*", "\\/", "!", "é", " ", "#", "-",
    "]", "[[:x:]]", "[\\]]", "[z-a]", "***",
]  # fmt: skip
NAMES = ["a", "b", "ab", "a.md", ".", "-", "é", " ", "!", "[", "]", "*", "\\", "#", "A", "1", "?"]


@pytest.mark.slow
@pytest.mark.process
def test_random_patterns_match_as_in_git(folder: Path) -> None:
    chance = random.Random(7)
    for number in range(400):
        top = folder / f"docs/{number}"
        top.mkdir(parents=True)
        lines = ("".join(chance.choices(SIGNS, k=chance.randint(1, 6))) for _ in range(chance.randint(1, 4)))
        (top / ".gitignore").write_text("\n".join(lines), encoding="utf-8")
        for _ in range(25):
            parts = ["".join(chance.choices(NAMES, k=chance.randint(1, 3))) for _ in range(chance.randint(1, 4))]
            path = top.joinpath(*(part for part in parts if not part.startswith(".")))
            if all(not above.is_file() for above in path.parents) and not path.exists():
                path.parent.mkdir(parents=True, exist_ok=True)
                path.touch()
    subprocess.run(["git", "init", "-q", "docs"], check=True)
    plain = environment({"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull})
    listing = ["git", "-C", "docs", "ls-files", "-z", "--others", "--exclude-standard"]
    listed = subprocess.run(listing, check=True, capture_output=True, env=plain).stdout.decode().split("\0")
    expected = sorted(f"docs/{name}" for name in listed if name and not name.endswith(".gitignore"))
    answer = find_files(["docs"], known=lambda _: True)
    assert answer.files == expected
    assert answer.passed_over["ignored by .gitignore"] > 500


@pytest.mark.process
@pytest.mark.parametrize("arguments", [["chunk", "docs"], ["config"], ["chunk", "docs", "--config", "other.toml"]])
def test_a_config_file_that_is_a_pipe_is_an_error(arguments: list[str], folder: Path) -> None:
    files(folder, {"docs/a.md": PAGE, "other.toml": "max_tokens = 300\n"})
    os.mkfifo("spanwise.toml")
    done = ran(*arguments, cwd=folder)
    if "--config" in arguments:
        assert done.code == 0
    else:
        assert (done.code, done.out) == (2, b"")
        assert done.err.startswith("error: `spanwise.toml` is no ordinary file\n")


@pytest.mark.process
def test_what_is_piped_in_without_end_is_refused(folder: Path) -> None:
    program = (
        "import sys, spanwise.opening as opening; opening.read_to_end.__defaults__ = (1 << 20, 0)\n"
        "from spanwise.cli import main; sys.exit(main(['chunk', '-']))"
    )
    with Path("/dev/zero").open("rb") as endless:
        done = subprocess.run([sys.executable, "-c", program], stdin=endless, capture_output=True, timeout=60)
    assert done.returncode == 2
    assert done.stderr.decode().startswith("error: `-` is larger than 1 MiB")
