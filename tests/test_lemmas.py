"""The word lists: equal to simplemma's, built once per machine, also by several processes at once."""

from __future__ import annotations

import lzma
import subprocess
import sys
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path

import pytest
from simplemma.strategies.dictionaries import StreamDictionaryFactory
from simplemma.strategies.dictionaries.dictionary_factory import DATA_FOLDER

import spanwise
from spanwise.text.terms import is_ready, lemmas, prepare, query_words, stems


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Return an empty user cache, with nothing loaded."""
    monkeypatch.setenv("SPANWISE_CACHE", str(tmp_path / "cache"))
    forget()
    yield tmp_path / "cache"
    forget()


def forget() -> None:
    for remembered in (lemmas.lemmas_of, lemmas._version, stems.inflections_of):
        remembered.cache_clear()
    stems.query_terms.cache_clear()


@pytest.mark.slow
@pytest.mark.parametrize("language", ["en", "de"])
def test_all_words_are_those_of_simplemma(language: str) -> None:
    expected = StreamDictionaryFactory().get_dictionary(language)
    ours = lemmas.lemmas_of(language)
    assert isinstance(ours, lemmas.MappedLemmas)
    for number, form in enumerate(expected):
        if number % 500 == 0 or len(form) > 60 or number < 100:
            assert ours.get(form) == expected[form]
            assert ours.get(form + "~") is None
    assert ours.get("") is None
    assert ours.get("\U0010ffff") is None


@pytest.mark.parametrize("language", ["en", "pl", "de", "ru"])
def test_every_list_is_in_the_format_that_we_know(language: str) -> None:
    assert isinstance(lemmas.lemmas_of(language), lemmas.MappedLemmas)


def test_a_list_is_made_once(cache: Path) -> None:
    assert not is_ready("en")
    prepare("en")
    assert is_ready("en")
    (path,) = (cache / "words").iterdir()
    made = path.stat().st_mtime_ns
    forget()
    assert lemmas.lemmas_of("en").get("mice") == "mouse"
    assert path.stat().st_mtime_ns == made


@pytest.mark.parametrize("damage", [b"", b"SPANWIS1", b"\0" * 5000])
def test_a_damaged_list_is_made_anew(cache: Path, damage: bytes) -> None:
    prepare("en")
    (path,) = (cache / "words").iterdir()
    whole = path.read_bytes()
    for broken in (damage, whole[:-1], whole + b"\0"):
        path.unlink()
        path.write_bytes(broken)
        forget()
        assert lemmas.lemmas_of("en").get("mice") == "mouse"
        assert path.read_bytes() == whole


def test_without_a_writable_cache(tmp_path: Path, cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("no folder")
    monkeypatch.setenv("SPANWISE_CACHE", str(tmp_path / "file"))
    assert lemmas.lemmas_of("en").get("mice") == "mouse"


@pytest.mark.process
def test_several_processes_make_it_at_the_same_time(cache: Path) -> None:
    code = "from spanwise.text.terms.lemmas import lemmas_of; print(lemmas_of('en').get('mice'))"
    running = [subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True) for _ in range(4)]
    assert [process.communicate()[0].strip() for process in running] == ["mouse"] * 4
    assert len(list((cache / "words").iterdir())) == 1


@pytest.mark.parametrize(
    "content",
    [
        b"nothing that is packed",
        lzma.compress(b"SMFC2\0\x01"),
        lzma.compress(b"SMFC1\0\x02\0\x01a\0\0"),
        lzma.compress(b"SMFC1\0\x01\0\x05a"),
    ],
    ids=["not packed", "another version", "too few", "cut off"],
)
def test_lists_in_another_format_are_read_by_simplemma(
    content: bytes, cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another release may use another format: slower, but the same words."""
    (tmp_path / "en.plzma").write_bytes(content)
    with monkeypatch.context() as patched:
        patched.setattr("simplemma.strategies.dictionaries.dictionary_factory.DATA_FOLDER", tmp_path)
        with pytest.raises(lemmas._UnknownListError):
            lemmas._with_offsets(lemmas._unpacked("en"))
    monkeypatch.setattr(lemmas, "_unpacked", lambda language: b"another format")
    assert lemmas.lemmas_of("en").get("mice") == "mouse"
    assert (Path(DATA_FOLDER) / "en.plzma").is_file()


def test_missing_extras_are_named(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "Stemmer", None)
    with pytest.raises(spanwise.MissingExtraError, match=r"PyStemmer.*\n.*spanwise\[search\]"):
        query_words("mouse")

    def missing(name: str) -> str:
        raise metadata.PackageNotFoundError(name)

    monkeypatch.setattr(metadata, "version", missing)
    forget()
    with pytest.raises(spanwise.MissingExtraError, match=r"simplemma.*\n.*spanwise\[search\]"):
        prepare("pl")


def test_location_of_the_cache(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("SPANWISE_CACHE", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(sys, "platform", "linux")
    assert lemmas.cache_folder() == tmp_path / "spanwise"
    monkeypatch.setattr(sys, "platform", "darwin")
    assert lemmas.cache_folder().parts[-3:] == ("Library", "Caches", "spanwise")
    monkeypatch.setattr(sys, "platform", "win32")
    monkeypatch.setenv("LOCALAPPDATA", str(tmp_path / "Local"))
    assert lemmas.cache_folder() == tmp_path / "Local" / "spanwise"
