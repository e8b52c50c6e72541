"""A store that Spanwise 0.1 has written: it is searched as it is, and brought up to date by the first write."""

from __future__ import annotations

import gzip
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

import spanwise
from command import files
from damaging import executed
from spanwise.errors import StoreError
from spanwise.indexing.repair import repair
from spanwise.stores import open_store
from spanwise.stores.sqlite import tables
from spanwise.testing.store_documents import WordEmbedder

STORE = Path(__file__).parent / "data" / "store_0_1.db.gz"
FORMER_PLACE = "/srv/notes"
AS_THEN: dict[str, Any] = {"template": "plain", "embed": "source"}  # the defaults of 0.1
TRAVEL = (
    "---\ntitle: Travel\ntags: [rules, trips]\nupdated_at: 2026-01-10\n---\n\n# Travel\n\n"
    "Trips are booked in the portal.\n\n## Rates\n\nBerlin costs 41 a day. [more](more.md)\n"
)
DOCUMENTS = {
    "docs/travel.md": TRAVEL,
    "docs/more.md": "# More\n\nThe rate in Warsaw is 35.\n",
    "acme/secret.md": "# Secret\n\nThe vault opens at nine.\n\n## Keys\n\nKeys hang behind the portal.\n",
}
"""What the store holds: the first two of no tenant, the last one, with parents, of `acme`."""


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the store beside its documents, which lay at another place when it was written."""
    files(tmp_path, DOCUMENTS)
    path = tmp_path / "s.db"
    path.write_bytes(gzip.decompress(STORE.read_bytes()))
    executed(path, f"UPDATE documents SET place = replace(place, '{FORMER_PLACE}', '{tmp_path}')")
    monkeypatch.chdir(tmp_path)
    return path


def found(path: Path) -> dict[str, Any]:
    """Return what searches find, in both ways, with filters, and of each tenant."""
    answers: dict[str, Any] = {}
    for tenant, filters in ((None, {}), (None, {"labels": ["rules"]}), (None, {"since": "2026-01-01"}), ("acme", {})):
        for embedder in (None, WordEmbedder()):
            hits = spanwise.search("rate portal", path, tenant, embedder=embedder, parents=True, **filters)
            name = f"{tenant} {filters} {embedder and embedder.name}"
            answers[name] = [(hit.normalized_text, hit.file_path, round(hit.score, 9)) for hit in hits]
    with closing(open_store(path)) as opened:
        answers["documents"] = [
            (one.document_id, one.chunks, one.file_path)
            for tenant in opened.tenants()
            for one in opened.reading(tenant).documents()
        ]
    return answers


def without_scores(answers: dict[str, Any]) -> dict[str, Any]:
    """Return the answers alone: 0.1 did not search labels, so scores differ once its documents are read again."""
    return {name: [hit[:2] for hit in hits] for name, hits in answers.items()}


def version(path: Path) -> int:
    with closing(sqlite3.connect(path)) as connection:
        return int(connection.execute("PRAGMA user_version").fetchone()[0])


def test_it_is_read_without_being_changed(store: Path) -> None:
    before = store.read_bytes()
    answers = found(store)
    assert answers["None {} None"][0][:2] == ("Trips are booked in the portal.", "docs/travel.md")
    assert [hit[1] for hit in answers["None {'labels': ['rules']} None"]] == ["docs/travel.md"]
    assert all(answers.values())
    with closing(open_store(store)) as opened:
        assert opened.verify() == []
        assert (opened.status()["schema"], opened.status()["documents"], opened.status()["vectors"]) == (1, 3, 5)
    assert (store.read_bytes(), version(store)) == (before, 1)


def test_the_first_write_brings_it_up_to_date(store: Path) -> None:
    answers = found(store)
    with closing(open_store(store, create=True)) as opened, opened.writing("acme", None) as writer:
        writer.commit([])
        assert opened.verify() == []
    assert version(store) == tables.VERSION
    assert found(store) == answers


def test_it_is_read_again_once_and_nothing_is_embedded(store: Path) -> None:
    answers, embedder = found(store), WordEmbedder()
    assert not spanwise.search("rules", store)
    report = spanwise.index("docs", store, embedder=embedder, **AS_THEN)
    assert (report.changed, report.added, report.deleted) == (2, 0, 0)
    assert spanwise.index("docs", store, embedder=embedder, **AS_THEN).unchanged == 2
    acme = spanwise.index("acme", store, tenant="acme", strategy="hierarchical", embedder=embedder, **AS_THEN)
    assert (acme.changed, embedder.embedded) == (1, [])
    assert without_scores(found(store)) == without_scores(answers)
    assert [hit.file_path for hit in spanwise.search("rules", store)] == ["docs/travel.md"], "a label is found now"
    with closing(open_store(store)) as opened:
        assert opened.verify() == []


def test_under_the_defaults_of_today_its_texts_are_embedded_again(store: Path) -> None:
    embedder = WordEmbedder()
    report = spanwise.index("docs", store, embedder=embedder)
    assert (report.changed, report.embedded, len(embedder.embedded)) == (2, 3, 3)
    assert sorted(embedder.embedded)[1:] == [
        "Travel\nTrips are booked in the portal.",
        "Travel > Rates\nBerlin costs 41 a day. more",
    ]


def test_readers_that_were_there_before_see_it_brought_up_to_date(store: Path) -> None:
    answers = found(store)
    with closing(open_store(store)) as reader:
        assert reader.status()["schema"] == 1
        spanwise.index("docs", store, embedder=WordEmbedder(), **AS_THEN)
        assert reader.status()["schema"] == tables.VERSION
        assert len(list(reader.reading("").documents())) == 2
        assert reader.verify() == []
    assert without_scores(found(store)) == without_scores(answers)


@pytest.mark.parametrize(
    "statement",
    [
        "DELETE FROM chunks WHERE id = 2",
        "UPDATE contents SET record = x'00' WHERE chunk = 2",
        "UPDATE documents SET chunks = 7 WHERE file_path = 'docs/more.md'",
        "UPDATE terms SET chunks = 9",
        "DELETE FROM vectors",
        "UPDATE tenants SET chunks = 'x'",
    ],
)
def test_what_contradicts_itself_is_found_and_repaired(statement: str, store: Path) -> None:
    answers = without_scores(found(store))
    executed(store, statement)
    with closing(open_store(store)) as opened:
        assert opened.verify()
    assert repair(str(store)).findings
    spanwise.index("docs", store, embedder=WordEmbedder(), **AS_THEN)
    spanwise.index("acme", store, tenant="acme", strategy="hierarchical", embedder=WordEmbedder(), **AS_THEN)
    assert (without_scores(found(store)), version(store)) == (answers, tables.VERSION)


def test_a_version_that_the_tables_deny_is_damage(store: Path) -> None:
    executed(store, "PRAGMA user_version = 0")
    with pytest.raises(StoreError, match="too old"):
        open_store(store)
    executed(store, "PRAGMA user_version = 1")
    spanwise.index("docs", store, embedder=WordEmbedder(), **AS_THEN)
    executed(store, "PRAGMA user_version = 1")
    with pytest.raises(StoreError, match="its tables are not of version 1, as it says"):
        open_store(store)
