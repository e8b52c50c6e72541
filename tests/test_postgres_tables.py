"""The tables in PostgreSQL: those of earlier versions, the wall between tenants, damage and its repair, a full disk."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest
from psycopg.conninfo import conninfo_to_dict
from psycopg.sql import SQL, Identifier

from servers import database
from spanwise import OptionError, StoreError, index, read_text, search
from spanwise.cli import main
from spanwise.errors import StoreFullError
from spanwise.indexing.repair import repair
from spanwise.stores.postgres import PostgresStore, open_postgres, schema
from spanwise.stores.values import Filters
from spanwise.testing.store_documents import EMBEDDER, MODEL, document, vector_of

pytestmark = pytest.mark.server

OLD = Path(__file__).parent / "data" / "postgres_0_1.sql"


@pytest.fixture
def address() -> Iterator[str]:
    with database() as address:
        yield address


@pytest.fixture
def store(address: str) -> Iterator[PostgresStore]:
    store = open_postgres(address, create=True)
    yield store
    store.close()


def run(address: str, statement: str, *names: str) -> None:
    """Run a statement, as a superuser unless the address says otherwise; `{}` are names."""
    composed = SQL(statement).format(*map(Identifier, names)) if names else SQL(statement)
    with psycopg.connect(address, autocommit=True) as connection:
        connection.execute(composed)


def put(store: PostgresStore, tenant: str, *names: str) -> None:
    with store.writing(tenant, MODEL) as writer:
        writer.commit([document(name, f"red fox of {name}", "grey wolf") for name in names])


def ids(store: PostgresStore, tenant: str) -> list[str]:
    return [known.document_id for known in store.reading(tenant).documents()]


@pytest.fixture
def role(address: str) -> Iterator[str]:
    """Create a role that may log in, and nothing else; its name needs quotes."""
    name = f"Role of {conninfo_to_dict(address)['dbname']}"
    run(address, "CREATE ROLE {} LOGIN", name)
    yield name
    run(address, "DROP OWNED BY {}", name)
    run(address, "DROP ROLE {}", name)


def as_role(address: str, role: str) -> str:
    return address.replace("postgres@", f"{role}@").replace(" ", "%20")


# ── earlier versions ─────────────────────────────────────────────────────────────────────────────────────────────


@pytest.fixture(params=["superuser", "owner"])
def old_address(request: pytest.FixtureRequest, address: str, role: str) -> str:
    """Create the tables of version 0.1, as a superuser or as a role whom row-level security binds."""
    run(address, "CREATE EXTENSION vector")
    run(address, "GRANT CREATE ON DATABASE {} TO {}", str(conninfo_to_dict(address)["dbname"]), role)
    own = address if request.param == "superuser" else as_role(address, role)
    with psycopg.connect(own, autocommit=True) as connection:
        connection.execute(OLD.read_bytes())
    return own


def structure(address: str) -> list[tuple[str, ...]]:
    """Return the columns, constraints, indexes and policies of all tables."""
    queries = (
        "SELECT table_name, column_name, data_type, is_nullable FROM information_schema.columns "
        "WHERE table_schema = 'spanwise'",
        "SELECT conrelid::regclass::text, conname, pg_get_constraintdef(oid) FROM pg_constraint "
        "WHERE connamespace = 'spanwise'::regnamespace",
        "SELECT tablename, indexname, indexdef FROM pg_indexes WHERE schemaname = 'spanwise'",
        "SELECT tablename, policyname, qual, coalesce(with_check, '') FROM pg_policies WHERE schemaname = 'spanwise'",
    )
    with psycopg.connect(address) as connection:
        return sorted(row for query in queries for row in connection.execute(query).fetchall())


def test_a_database_of_version_0_1_is_brought_up_to_date(old_address: str, address: str) -> None:
    with pytest.raises(StoreError, match="older Spanwise") as caught:
        open_postgres(old_address)
    assert "spanwise index" in str(caught.value.hint)
    store = open_postgres(old_address, create=True)
    assert store.verify() == []
    assert store.tenants() == ["", "acme"]
    (best, *_) = search("Where does the grey wolf howl?", store, "acme", embedder=EMBEDDER)
    assert "The grey wolf of acme howls." in best.normalized_text
    changed = read_text("A blue whale.", document_id="whales", tenant_id="acme")
    report = index(changed, store, tenant="acme", embedder=EMBEDDER)
    assert (report.changed, report.embedded) == (1, 1)
    assert store.verify() == []
    store.close()
    open_postgres(old_address).close()
    with database() as new:
        open_postgres(new, create=True).close()
        assert structure(address) == structure(new)


def test_old_rows_of_two_tenants_at_once_are_named_and_nothing_is_changed(old_address: str, address: str) -> None:
    run(address, "UPDATE spanwise.chunks SET tenant = 'acme' WHERE tenant = ''")
    before = structure(address)
    for _ in range(2):
        with pytest.raises(StoreError, match=r"can't be brought up to date: .*chunks") as caught:
            open_postgres(old_address, create=True)
        assert "delete them" in str(caught.value.hint)
        assert structure(address) == before
    run(address, "DELETE FROM spanwise.chunks WHERE tenant = 'acme' AND document < 3")
    open_postgres(old_address, create=True).close()


# ── the wall between tenants ─────────────────────────────────────────────────────────────────────────────────────


def test_a_row_can_not_refer_to_one_of_another_tenant(store: PostgresStore, address: str) -> None:
    put(store, "acme", "a")
    put(store, "evil", "b")
    for change in (
        "UPDATE spanwise.chunks SET document = 1 WHERE tenant = 'evil'",
        "UPDATE spanwise.chunks SET tenant = 'evil' WHERE document = 1",
        "UPDATE spanwise.documents SET tenant = 'evil' WHERE key = 1",
        "UPDATE spanwise.documents SET tenant = 'nobody' WHERE key = 1",
        "DELETE FROM spanwise.tenants",
    ):
        with pytest.raises(psycopg.errors.ForeignKeyViolation):
            run(address, change)
    with pytest.raises(StoreError, match="foreign key"), store._connections.within("evil") as connection:
        connection.execute("UPDATE spanwise.chunks SET document = 1")
    assert store.verify() == []


def test_a_role_that_is_bound_has_one_tenant_whatever_it_asks_for(
    store: PostgresStore, address: str, role: str
) -> None:
    for tenant, name in (("acme", "a"), ("", "b")):
        index(read_text("The grey wolf.", document_id=name), store, tenant=tenant, embedder=EMBEDDER)
    store.bind_role(role, "acme")
    bound = open_postgres(as_role(address, role), create=True)
    assert [hit.document_id for hit in search("wolf", bound, "acme", embedder=EMBEDDER)] == ["a"]
    assert not search("wolf", bound, embedder=EMBEDDER)
    assert (ids(bound, "acme"), ids(bound, "")) == (["a"], [])
    assert bound.tenants() == ["acme"]
    assert bound.status()["documents"] == 1
    put(bound, "acme", "c")
    assert bound.verify() == []
    with pytest.raises(StoreError, match="row-level security"):
        put(bound, "", "c")
    bound.close()
    assert (ids(store, "acme"), ids(store, "")) == (["a", "c"], ["b"])
    store.bind_role(role, "")  # a new binding takes the place of the old one
    bound = open_postgres(as_role(address, role))
    assert (ids(bound, "acme"), ids(bound, "")) == ([], ["b"])
    bound.close()


def test_a_role_that_is_bound_can_not_change_the_model_of_others(store: PostgresStore, address: str, role: str) -> None:
    put(store, "acme", "a")
    store.bind_role(role, "new")
    bound = open_postgres(as_role(address, role))
    assert bound.model() is None  # as far as it can see
    with pytest.raises(StoreError, match="doesn't allow"), bound.writing("new", MODEL._replace(name="another")):
        pass
    bound.close()
    assert store.model() == MODEL


def test_no_setting_of_a_session_frees_a_role_that_is_bound(store: PostgresStore, address: str, role: str) -> None:
    put(store, "acme", "a")
    put(store, "", "b")
    store.bind_role(role, "acme")
    run(address, f"GRANT {schema.ROLE} TO {{}}", role)
    with psycopg.connect(as_role(address, role), autocommit=True) as connection:
        for setting in ("spanwise.tenant = '='", "spanwise.caretaker = 'on'", f"ROLE {schema.ROLE}"):
            connection.execute(SQL("SET {}").format(SQL(setting)))
            for table in ("documents", "chunks", "frequencies", "tenants"):
                query = SQL("SELECT DISTINCT tenant FROM spanwise.{}").format(Identifier(table))
                assert connection.execute(query).fetchall() == [("acme",)]
        for forbidden in (
            "SELECT * FROM spanwise.roles", "DELETE FROM spanwise.roles", "TRUNCATE spanwise.chunks",
            "UPDATE spanwise.facts SET value = 'x'", "DROP POLICY tenants_apart ON spanwise.chunks",
            "SET ROLE postgres", "SET SESSION AUTHORIZATION postgres",
            "SET row_security = off; SELECT * FROM spanwise.chunks",
        ):  # fmt: skip
            with pytest.raises(psycopg.Error):
                connection.execute(forbidden)


def test_a_role_stays_bound_when_it_is_renamed(store: PostgresStore, address: str, role: str) -> None:
    put(store, "acme", "a")
    put(store, "", "b")
    store.bind_role(role, "acme")
    run(address, "ALTER ROLE {} RENAME TO {}", role, f"{role} 2")
    bound = open_postgres(as_role(address, f"{role} 2"))
    assert (ids(bound, "acme"), ids(bound, "")) == (["a"], [])
    bound.close()
    run(address, "ALTER ROLE {} RENAME TO {}", f"{role} 2", role)


@pytest.mark.parametrize(
    "right",
    [
        "ALTER ROLE {} SUPERUSER",
        "ALTER ROLE {} BYPASSRLS",
        "ALTER ROLE {} CREATEROLE",
        "GRANT postgres TO {}",
        "GRANT pg_execute_server_program TO {}",
        "ALTER TABLE spanwise.facts OWNER TO {}",
    ],
)
def test_a_role_that_could_go_around_the_wall_is_not_bound(
    store: PostgresStore, address: str, role: str, right: str
) -> None:
    run(address, right, role)
    with pytest.raises(OptionError, match="can't be bound"):
        store.bind_role(role, "acme")


def test_only_a_role_that_exists_is_bound(store: PostgresStore) -> None:
    for wrong in ("no such role", "", "a\0b"):
        with pytest.raises(OptionError, match="role"):
            store.bind_role(wrong, "acme")
    with pytest.raises(OptionError, match="tenant"):
        store.bind_role("postgres", "a\0b")


@pytest.mark.parametrize(
    ("change", "found"),
    [
        ("ALTER TABLE spanwise.chunks DISABLE ROW LEVEL SECURITY", "security of spanwise.chunks"),
        ("ALTER TABLE spanwise.tenants NO FORCE ROW LEVEL SECURITY", "security of spanwise.tenants"),
        ("CREATE POLICY more ON spanwise.chunks FOR SELECT TO public USING (true)", "security of spanwise.chunks"),
        ("ALTER POLICY tenants_apart ON spanwise.documents USING (true)", "spanwise.documents shows rows"),
    ],
)
def test_a_hole_in_the_wall_is_found(store: PostgresStore, address: str, change: str, found: str) -> None:
    put(store, "acme", "a")
    put(store, "", "b", "c")
    run(address, change)
    findings = store.verify()
    assert any(found in finding for finding in findings)
    assert not any(finding.startswith("tenant ") for finding in findings)  # of its rows, nothing is wrong
    with pytest.raises(StoreError, match="can't be repaired"):
        repair(address)
    assert (ids(store, "acme"), ids(store, "")) == (["a"], ["b", "c"])
    assert [finding for finding in store.verify() if finding.startswith("tenant ")] == []


# ── damage ───────────────────────────────────────────────────────────────────────────────────────────────────────

CHUNK = {
    "UPDATE spanwise.chunks SET lead = 'x' WHERE key = 1": "chunk 1 is not",
    "UPDATE spanwise.chunks SET terms = '''1:cat'':1' WHERE key = 1": "chunk 1 is not",
}
DOCUMENT = {
    **CHUNK,
    "UPDATE spanwise.documents SET fingerprint = 'x' WHERE key = 1": "document a is not",
    "DELETE FROM spanwise.chunks WHERE key = 1": "another number of chunks",
}
SUMS = {
    "UPDATE spanwise.tenants SET chunks = 9 WHERE tenant = 'acme'": "the sum of chunks",
    "DELETE FROM spanwise.frequencies WHERE tenant = 'acme' AND term = 'wolf'": "the term wolf",
}


@pytest.mark.parametrize(("change", "found"), [*DOCUMENT.items(), *SUMS.items()])
def test_damage_is_found_and_repaired(
    store: PostgresStore, address: str, change: str, found: str, capsys: pytest.CaptureFixture[str]
) -> None:
    put(store, "acme", "a", "b")
    put(store, "", "a")
    run(address, change)
    findings = store.verify()
    assert any(found in finding for finding in findings)
    assert all(finding.startswith("tenant acme: ") for finding in findings)
    assert main(["store", "verify", "--store", address]) == 1
    assert "spanwise store repair" in capsys.readouterr().err
    is_lost = change in DOCUMENT
    assert main(["store", "repair", "--store", address]) == is_lost
    assert ("docs/a.md" in capsys.readouterr().err) == is_lost
    assert store.verify() == []
    assert (ids(store, "acme"), ids(store, "")) == (["b"] if is_lost else ["a", "b"], ["a"])
    assert not repair(address).findings
    if is_lost:
        put(store, "acme", "a")
    assert len(store.reading("acme").lexical(["wolf"], Filters(), 9)) == 2
    assert store.verify() == []


@pytest.mark.parametrize("change", CHUNK)
def test_a_damaged_chunk_is_neither_returned_nor_kept(store: PostgresStore, address: str, change: str) -> None:
    put(store, "acme", "a")
    run(address, change)
    with pytest.raises(StoreError, match="damaged") as caught:
        store.reading("acme").fetch([1, 2])
    assert "spanwise store repair" in str(caught.value.hint)
    with pytest.raises(StoreError, match="damaged"), store.writing("acme", MODEL) as writer:
        writer.chunks("a")


def test_a_damaged_document_is_not_taken_for_an_unchanged_one(store: PostgresStore, address: str) -> None:
    put(store, "acme", "a")
    run(address, "UPDATE spanwise.documents SET fingerprint = 'x'")
    with pytest.raises(StoreError, match="document a is not as it was written"):
        store.reading("acme").documents()


# ── what a server can't do ───────────────────────────────────────────────────────────────────────────────────────

FULL_DISK = """
CREATE FUNCTION full_disk() RETURNS trigger LANGUAGE plpgsql AS
$$ BEGIN RAISE EXCEPTION 'could not extend file' USING ERRCODE = 'disk_full'; END $$;
CREATE TRIGGER full_disk AFTER INSERT ON spanwise.chunks EXECUTE FUNCTION full_disk();
"""


def test_a_full_disk_is_reported_and_loses_nothing(
    store: PostgresStore, address: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    put(store, "", "a")
    run(address, FULL_DISK)
    with pytest.raises(StoreFullError, match="disk is full") as caught:
        put(store, "", "b")
    assert caught.value.hint == "make room and run the same command again"
    (tmp_path / "c.md").write_text("A blue whale.", encoding="utf-8")
    assert main(["index", str(tmp_path), "--store", address, "--embedder", "none"]) == 3
    assert "disk is full" in capsys.readouterr().err
    assert ids(store, "") == ["a"]
    assert store.verify() == []


def test_an_encoding_that_has_not_every_character_is_refused(address: str) -> None:
    name = str(conninfo_to_dict(address)["dbname"])
    run(address, "CREATE DATABASE {} ENCODING 'LATIN1' LOCALE 'C' TEMPLATE template0", f"{name}_latin1")
    with pytest.raises(StoreError, match="its encoding is LATIN1"):
        open_postgres(address.replace(f"/{name}?", f"/{name}_latin1?"), create=True)
    run(address, "DROP DATABASE {} WITH (FORCE)", f"{name}_latin1")


def test_an_address_can_not_choose_another_encoding(store: PostgresStore, address: str) -> None:
    other = open_postgres(f"{address}&client_encoding=latin1")
    put(other, "", "żółw")
    assert ids(store, "") == ["żółw"]
    other.close()


def test_the_model_stays_while_vectors_of_it_are_written(store: PostgresStore, address: str) -> None:
    other = open_postgres(address)
    another = MODEL._replace(name="another", dimension=8)
    with store.writing("acme", MODEL) as writer:
        with pytest.raises(StoreError, match="is being written"), other.writing("", another, wait=0.1):
            pass
        with other.writing("", MODEL, wait=0):
            pass
        with other.writing("", None, wait=0):
            pass
        writer.commit([document("a", "red fox")])
    with pytest.raises(StoreError, match="holds vectors of of-words"), other.writing("", another, wait=0):
        pass
    with store.writing("acme", None) as writer:
        writer.commit([], ["a"])
    for _ in range(2):
        with other.writing("", another, wait=0), store.writing("acme", another, wait=0):
            pass
    assert store.verify() == []
    other.close()


def test_statistics_for_plans_are_renewed_when_much_was_added(store: PostgresStore) -> None:
    def analysed() -> int:
        with store._connections.using() as connection:
            query = "SELECT reltuples FROM pg_class WHERE oid = 'spanwise.chunks'::regclass"
            return int(connection.execute(query).fetchone()[0])

    put(store, "", *map(str, range(20)))
    assert analysed() == 40
    put(store, "", "few")
    assert analysed() == 40
    with store.writing("", MODEL) as writer:
        assert writer.known()
    assert analysed() == 40


def test_vectors_are_found_by_an_index_if_there_are_many(
    store: PostgresStore, address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(store, "", *"abcde")
    exact = store.reading("").nearest(vector_of("red fox of c"), Filters(), 3)
    for place in ("", ".reader"):
        monkeypatch.setattr(f"spanwise.stores.postgres{place}.EXACT_UP_TO", 3)
    put(store, "", "f")
    assert any("hnsw" in definition for _, name, definition, *_ in structure(address) if name == "chunks_vector")
    with store._connections.using() as connection:
        connection.execute("SET enable_seqscan = off; SET enable_sort = off; SET enable_bitmapscan = off")
    assert store.reading("").nearest(vector_of("red fox of c"), Filters(), 3)[:1] == exact[:1]
    with store._connections.using() as connection:
        query = (
            f"EXPLAIN SELECT key FROM spanwise.chunks c ORDER BY c.vector::halfvec({MODEL.dimension}) <=> '[1]' LIMIT 1"
        )
        plan = connection.execute(query.replace("[1]", str([1] * MODEL.dimension))).fetchall()
    assert "chunks_vector" in str(plan)
    another = MODEL._replace(name="another", dimension=schema._MOST_INDEXED + 1)
    with store.writing("", None) as writer:
        writer.commit([], list("abcdef"))
    with store.writing("", another):
        pass
    assert not any(name == "chunks_vector" for _, name, *_ in structure(address))
