"""Zip files that nobody trusts: what is refused before it is inflated, while it is, and as XML."""

from __future__ import annotations

import random
import tracemalloc
from zipfile import ZIP_BZIP2, ZIP_LZMA, ZIP_STORED

import pytest

from made_zips import bomb, lying, zip_of
from spanwise.errors import UnreadableError
from spanwise.readers.container import Container, Limits, refuse_encrypted, target_part


def test_parts_are_found_by_any_case_and_read() -> None:
    container = Container(zip_of({"word/Document.xml": "<a>é</a>", "b/": "", "\\c\\d.txt": b"x"}), "a.docx")
    assert container.names == ("word/Document.xml", "c/d.txt")
    assert "WORD/document.xml" in container
    assert "word/other.xml" not in container
    assert container.read("word/document.XML") == "<a>é</a>".encode()
    assert container.xml("word/document.xml").text == "é"
    assert container.xml("word/other.xml") is None
    assert container.size("c/d.txt") == 1
    with pytest.raises(UnreadableError, match="lacks its part other"):
        container.read("other")


@pytest.mark.parametrize("method", [ZIP_STORED, ZIP_BZIP2])
def test_other_ways_to_pack(method: int) -> None:
    assert Container(zip_of({"a": b"x" * 100_000}, method), "a.zip").read("a") == b"x" * 100_000


def test_a_way_to_pack_that_takes_memory_is_refused() -> None:
    with pytest.raises(UnreadableError, match="packed by method 14"):
        Container(zip_of({"a": b"x" * 100}, ZIP_LZMA), "a.zip").read("a")


def test_a_bomb_is_refused_by_its_directory() -> None:
    data = bomb(300 << 20)
    tracemalloc.start()
    with pytest.raises(UnreadableError, match="inflates to more than 250 times its size"):
        Container(data, "a.docx")
    assert tracemalloc.get_traced_memory()[1] < 4 << 20
    tracemalloc.stop()


def test_one_part_may_be_a_bomb_in_a_large_file() -> None:
    parts = {"word/document.xml": b" " * (20 << 20), "media/a.bin": random.Random(1).randbytes(1 << 20)}
    with pytest.raises(UnreadableError, match=r"has a part that inflates to more than 250 times its size: word/doc"):
        Container(zip_of(parts), "a.docx")


def test_a_directory_that_lies_can_not_exceed_what_it_states() -> None:
    size = 40 << 20
    data = lying(bomb(size), 1 << 20, size)
    container = Container(data, "a.docx")
    with pytest.raises(UnreadableError, match=r"can't be read: word/document.xml \(Bad CRC-32"):
        container.read("word/document.xml")


def test_limits_of_one_part_of_all_and_of_their_number() -> None:
    data = zip_of({str(number): b"x" * 1000 for number in range(20)})
    with pytest.raises(UnreadableError, match="has more than 10 entries"):
        Container(data, "a.zip", Limits(entries=10))
    with pytest.raises(UnreadableError, match="inflates to more than 9,999 bytes"):
        Container(data, "a.zip", Limits(total=9_999))
    small = Container(data, "a.zip", Limits(entry=999))
    with pytest.raises(UnreadableError, match="has a part of more than 999 bytes: 7"):
        small.read("7")
    again = Container(data, "a.zip", Limits(total=20_000))
    assert sum(len(again.read("3")) for _ in range(20)) == 20_000
    with pytest.raises(UnreadableError, match="inflates to more than 20,000 bytes"):
        again.read("3")


def test_a_directory_of_very_many_entries_is_refused_before_it_is_read() -> None:
    entry = b"PK\x01\x02" + bytes(42)
    end = b"PK\x05\x06" + bytes(8) + (len(entry) * 200_000).to_bytes(4, "little") + bytes(6)
    with pytest.raises(UnreadableError, match="has more than 100,000 entries"):
        Container(entry * 200_000 + end, "a.zip")


def test_an_encrypted_member_is_refused() -> None:
    data = bytearray(zip_of({"a": b"x"}))
    for mark, at in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        data[data.index(mark) + at] |= 1
    with pytest.raises(UnreadableError, match="is encrypted: a"):
        Container(bytes(data), "a.zip").read("a")


def test_an_encrypted_office_file_is_named_so() -> None:
    data = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(500) + "EncryptedPackage".encode("utf-16-le")
    with pytest.raises(UnreadableError, match="is encrypted with a password"):
        refuse_encrypted(data, "a.docx")
    refuse_encrypted(data[:100], "a.doc")


@pytest.mark.parametrize(
    "text",
    [
        '<!DOCTYPE a [<!ENTITY b "c">]><a>&b;</a>',
        '<?xml version="1.0"?>\n<!-- x --><?pi y?>\n<!DOCTYPE a SYSTEM "file:///etc/passwd"><a/>',
        '<?xml version="1.0" encoding="UTF-16"?><!DOCTYPE a><a/>',
    ],
)
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be"])
def test_declarations_of_entities_are_refused(text: str, encoding: str) -> None:
    container = Container(zip_of({"a.xml": text.encode(encoding)}), "a.docx")
    with pytest.raises(UnreadableError, match="declares a DOCTYPE or entities"):
        container.xml("a.xml")
    with pytest.raises(UnreadableError, match="declares a DOCTYPE or entities"):
        list(container.events("a.xml", "a"))


def test_an_encoding_can_not_hide_a_declaration() -> None:
    hidden = b'<?xml version="1.0" encoding="UTF-7"?>+ADwAIQ-DOCTYPE a [+ADwAIQ-ENTITY b "c"+AD4AXQA+-<a>&b;</a>'
    with pytest.raises(UnreadableError, match="not XML"):
        Container(zip_of({"a.xml": hidden}), "a.docx").xml("a.xml")


def test_a_doctype_without_entities_where_it_is_permitted() -> None:
    text = '<!DOCTYPE ncx PUBLIC "-//NISO//DTD ncx 2005-1//EN" "http://localhost:1/ncx.dtd"><ncx>1</ncx>'
    container = Container(zip_of({"a.xml": text, "b.xml": '<!DOCTYPE a [<!ENTITY b "c">]><a/>'}), "a.epub")
    assert container.xml("a.xml", doctype=True).text == "1"
    with pytest.raises(UnreadableError, match="declares a DOCTYPE"):
        container.xml("b.xml", doctype=True)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "windows-1251"])
def test_xml_in_other_encodings(encoding: str) -> None:
    named = encoding if encoding.startswith("win") else "utf-16" if "16" in encoding else "utf-8"
    text = f'<?xml version="1.0" encoding="{named}"?><a><b>Привет</b><b>мир</b></a>'
    container = Container(zip_of({"a.xml": text.encode(encoding)}), "a.docx")
    assert "".join(container.xml("a.xml").itertext()) == "Приветмир"
    assert [element.text for _, element in container.events("a.xml", "b")] == ["Привет", "мир"]


def test_a_stream_of_elements_takes_no_more_memory_for_more_of_them() -> None:
    def peak(count: int) -> int:
        rows = "".join(f"<row><c>{number}</c></row>" for number in range(count))
        container = Container(zip_of({"a.xml": f"<sheet>{rows}</sheet>"}, ZIP_STORED), "a.xlsx")
        found = sum(int(element[0].text) for _, element in container.events("a.xml", "row"))
        assert found == count * (count - 1) // 2
        tracemalloc.start()
        for event, element in container.events("a.xml", ("row", "sheet"), starts=True):
            assert element.tag in {"row", "sheet"}
            assert event in {"start", "end"}
        most = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return most

    assert peak(100_000) < 2 * peak(10_000)


def test_streams_report_what_is_broken() -> None:
    container = Container(zip_of({"a.xml": "<a><b></a>", "b.xml": ""}), "a.xlsx")
    for part in ("a.xml", "b.xml"):
        with pytest.raises(UnreadableError, match=f"can't be read: {part}"):
            list(container.events(part, "b"))
        with pytest.raises(UnreadableError, match=f"can't be read: {part}"):
            container.xml(part)


def test_targets_never_leave_the_container() -> None:
    assert target_part("word/document.xml", "media/a.png") == "word/media/a.png"
    assert target_part("ppt/slides/slide1.xml", "../charts/chart1.xml") == "ppt/charts/chart1.xml"
    assert target_part("word/document.xml", "/word/x.xml") == "word/x.xml"
    assert target_part("word/document.xml", "..\\..\\../../etc/passwd") == "etc/passwd"


def test_no_damage_ends_in_another_error() -> None:
    chance = random.Random(7)
    data = zip_of({f"part{number}.xml": f"<a>{'text ' * 50}{number}</a>" for number in range(5)})
    for _ in range(3000):
        damaged = bytearray(data[: chance.randrange(len(data))] if chance.random() < 0.3 else data)
        for _ in range(chance.randrange(1, 6)):
            if damaged:
                damaged[chance.randrange(len(damaged))] = chance.randrange(256)
        try:
            container = Container(bytes(damaged), "a.docx")
            for part in container.names:
                container.xml(part)
        except UnreadableError:
            pass
