"""The PostgreSQL store: isolation of tenants, roles, locks that outlive their owner, addresses."""

from __future__ import annotations

import hashlib
import traceback
from collections.abc import Iterator

import orjson
import psycopg
import pytest

from servers import database
from spanwise import MissingExtraError, StoreError
from spanwise.errors import ConnectionLostError
from spanwise.indexing.repair import repair
from spanwise.stores import open_store
from spanwise.stores.postgres import PostgresStore, open_postgres, schema
from spanwise.stores.values import Entry, Filters, Model, StoreChange, StoredDocument

pytestmark = pytest.mark.server


@pytest.fixture
def address() -> Iterator[str]:
    with database() as address:
        yield address


@pytest.fixture
def store(address: str) -> Iterator[PostgresStore]:
    store = open_postgres(address, create=True)
    yield store
    store.close()


def entry(text: str, position: int = 0, vector: bytes | None = None) -> Entry:
    name = hashlib.sha256(f"{position} {text}".encode()).hexdigest()
    record = orjson.dumps({"chunk_id": name, "normalized_text": text})
    return Entry(record, "", name, name, name, None, "paragraph", position, tuple(text.split()), vector)


def put(store: PostgresStore, tenant: str, document_id: str, *texts: str, model: Model | None = None) -> None:
    entries = tuple(entry(text, number) for number, text in enumerate(texts))
    with store.writing(tenant, model) as writer:
        writer.commit([StoreChange(StoredDocument(document_id, "1", {}), added=entries)])


def test_a_statement_that_names_no_tenant_sees_nothing(store: PostgresStore) -> None:
    put(store, "acme", "a", "secret plan")
    put(store, "", "b", "open plan")
    for tenant, rows in (("acme", 1), ("", 1), ("evil' OR '1'='1", 0), ("acme ", 0)):
        with store._connections.within(tenant) as connection:
            for table in ("documents", "chunks"):
                assert connection.execute(f"SELECT count(*) FROM spanwise.{table}").fetchone() == (rows,)
    with store._connections.as_caretaker() as connection:
        assert connection.execute("SELECT count(*) FROM spanwise.tenants").fetchone() == (2,)
        for table in ("documents", "chunks", "frequencies"):
            assert connection.execute(f"SELECT count(*) FROM spanwise.{table}").fetchone() == (0,)


def test_no_tenant_writes_into_another(store: PostgresStore) -> None:
    put(store, "acme", "a", "secret plan")
    with pytest.raises(StoreError, match="row-level security"), store._connections.within("evil") as connection:
        connection.execute("INSERT INTO spanwise.frequencies VALUES ('acme', 'plan', 7)")
    with store._connections.within("evil") as connection:
        assert connection.execute("DELETE FROM spanwise.chunks").rowcount == 0
        assert connection.execute("UPDATE spanwise.documents SET fingerprint = 'x'").rowcount == 0
    assert store.reading("acme").statistics(["plan"]).frequencies == {"plan": 1}


def test_every_table_with_a_tenant_has_row_security(store: PostgresStore) -> None:
    query = """
        SELECT c.relname, (c.relrowsecurity, c.relforcerowsecurity)::text FROM pg_class c
        JOIN pg_attribute a ON a.attrelid = c.oid AND a.attname = 'tenant'
        WHERE c.relnamespace = 'spanwise'::regnamespace AND c.relkind = 'r'
    """
    with store._connections.using() as connection:
        walled = dict(connection.execute(query).fetchall())
    assert walled.pop("roles") == "(t,f)"  # which only the owner reads
    assert walled == dict.fromkeys(("tenants", "documents", "chunks", "frequencies"), "(t,t)")


def test_row_security_applies_to_an_ordinary_owner(address: str) -> None:
    name = psycopg.conninfo.conninfo_to_dict(address)["dbname"]
    with psycopg.connect(address, autocommit=True) as connection:
        connection.execute(f"CREATE ROLE plain_{name} LOGIN")
        connection.execute(f"GRANT CREATE ON DATABASE {name} TO plain_{name}")
        connection.execute("CREATE EXTENSION vector")
    store = open_postgres(address.replace("postgres@", f"plain_{name}@"), create=True)
    with store._connections.using() as connection:
        assert not schema.bypasses_row_security(connection)
        assert connection.execute("SELECT count(*) FROM spanwise.chunks").fetchone() == (0,)
    put(store, "acme", "a", "secret plan", "secret words", model=Model("m", 2))
    assert [c.counts for c in store.reading("acme").lexical(["plan"], Filters(), 9)] == [{"plan": 1}]
    assert store.reading("").lexical(["plan"], Filters(), 9) == []
    assert store.verify() == []
    store.close()
    with psycopg.connect(address, autocommit=True) as connection:
        connection.execute(f"DROP OWNED BY plain_{name}")
        connection.execute(f"DROP ROLE plain_{name}")


def test_frequencies_are_those_of_the_tenant(store: PostgresStore) -> None:
    put(store, "acme", "a", "dog dog cat", "dog")
    put(store, "", "b", *["dog"] * 9)
    assert store.reading("acme").statistics(["dog", "cat", "cow"]) == (2, 2.0, {"dog": 2, "cat": 1})
    with store.writing("acme", None) as writer:
        writer.commit([], ["a"])
    assert store.reading("acme").statistics(["dog"]) == (0, 0.0, {})
    assert store.reading("").statistics(["dog"]).frequencies == {"dog": 9}
    assert store.verify() == []


def test_a_writer_that_was_cut_off_leaves_no_lock(store: PostgresStore, address: str) -> None:
    other = open_postgres(address)
    writing = other.writing("", None)
    writer = writing.__enter__()
    with pytest.raises(StoreError, match="written by another"), store.writing("", None, wait=0.2):
        pass
    put(store, "acme", "a", "words")  # another tenant's documents don't block
    others = "SELECT pg_terminate_backend(pid) FROM pg_locks WHERE locktype = 'advisory'"
    with store._connections.using() as connection:
        connection.execute(f"{others} AND pid <> pg_backend_pid()")
    put(store, "", "a", "words")
    with pytest.raises(ConnectionLostError):
        writer.commit([], ["a"])
    writing.__exit__(None, None, None)
    assert [known.document_id for known in store.reading("").documents()] == ["a"]
    other.close()


def test_a_commit_that_fails_leaves_nothing(store: PostgresStore) -> None:
    put(store, "", "a", "old words")
    broken = StoreChange(StoredDocument("a", "2", {}), added=(entry("new words", 1), entry("nul \0 word", 2)))
    with pytest.raises(StoreError), store.writing("", None) as writer:
        writer.commit([broken])
    reader = store.reading("")
    assert reader.statistics(["old", "new", "words"]) == (1, 2.0, {"old": 1, "words": 1})
    assert [known.fingerprint for known in reader.documents()] == ["1"]
    assert store.verify() == []


def test_terms_are_words_whatever_is_in_them(store: PostgresStore) -> None:
    odd = ["it's", "a&b", "x|!y", "back\\slash", "c:d", "(", "7:1", "猫", "e\u0301", "$1", "%s", "x" * 1000]
    put(store, "", "a", " ".join(odd))
    for term in odd:
        assert [c.counts for c in store.reading("").lexical([term], Filters(), 9)] == [{term: 1}]
    assert store.verify() == []


def test_a_chunk_of_a_megabyte_is_kept(store: PostgresStore) -> None:
    words = [f"word{number}" for number in range(200_000)]
    put(store, "", "a", " ".join([*words, "dog"]), "dog")
    assert store.reading("").statistics(["word5"]) == (2, 100_001.0, {"word5": 1})
    assert store.verify() == []


@pytest.mark.parametrize("address", ["postgresql://nobody@/none?host=/nowhere", "postgresql://[", "postgres://h:x/y"])
def test_an_unreachable_address_is_an_error(address: str) -> None:
    with pytest.raises(StoreError, match="can't be reached"):
        open_store(address)


@pytest.mark.parametrize(
    "address",
    [
        "postgresql://user:geheim@/none?host=/nowhere",
        "postgresql://user:geheim@localhost:port/none",
        "postgresql://localhost:1/none?password=geheim&nonsense=1",
        "postgresql://user:a@geheim@localhost:1/none",
        "postgresql://user:a/geheim@[::1/none",
        "postgresql://user:ge%68eim%zz@localhost:1/none",
        "postgresql://user:geheim\0@localhost:1/none",
    ],
)
def test_a_password_is_never_shown(address: str) -> None:
    for use in (open_store, repair):
        with pytest.raises(StoreError, match="can't be reached") as caught:
            use(address)
        shown = "".join(traceback.format_exception(caught.value, limit=0))
        assert "heim" not in shown


def test_a_database_without_tables_is_no_store(address: str) -> None:
    with pytest.raises(StoreError, match="no tables of Spanwise"):
        open_postgres(address)


def test_tables_of_another_version_are_refused(store: PostgresStore, address: str) -> None:
    with store._connections.using() as connection:
        connection.execute("UPDATE spanwise.facts SET value = '99' WHERE name = 'schema'")
    for create in (False, True):
        with pytest.raises(StoreError, match="version 99"):
            open_postgres(address, create=create)


def test_a_missing_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "psycopg", None)
    with pytest.raises(MissingExtraError, match=r"spanwise\[postgres\]"):
        open_store("postgresql://somewhere/else")
