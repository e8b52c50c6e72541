"""The PostgreSQL store when its connections are cut, at any moment: reads are repeated, writes are whole."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from itertools import count

import numpy as np
import psycopg
import pytest
from numpy.typing import NDArray

from servers import Proxy, database
from spanwise import index, read_text, search
from spanwise.errors import ConnectionLostError
from spanwise.stores.postgres import PostgresStore, open_postgres
from spanwise.stores.values import Filters, StoreChange
from spanwise.testing.store_documents import EMBEDDER, MODEL, WordEmbedder, document

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


def put(store: PostgresStore, tenant: str, change: StoreChange) -> None:
    with store.writing(tenant, MODEL) as writer:
        writer.commit([change])


CUT_AT_COMMIT = """
CREATE FUNCTION cut() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS
'BEGIN PERFORM pg_terminate_backend(pg_backend_pid()); RETURN NULL; END';
CREATE CONSTRAINT TRIGGER cut AFTER INSERT ON spanwise.documents DEFERRABLE INITIALLY DEFERRED
FOR EACH ROW EXECUTE FUNCTION cut();
"""


@pytest.fixture
def proxy(address: str) -> Iterator[Proxy]:
    open_postgres(address, create=True).close()
    proxy = Proxy(address)
    yield proxy
    proxy.close()


def cut_everywhere(proxy: Proxy, work: Callable[[], object]) -> Iterator[Exception | None]:
    """Do some work again and again, cut off at its first request, its second, and so on; yield what it raised."""
    for reaches_server in (False, True):
        for request in count(1):
            proxy.cut_at(request, reaches_server=reaches_server)
            caught = None
            try:
                work()
            except Exception as error:
                caught = error
            if not proxy.has_cut:
                assert caught is None
                assert request > 5
                break
            yield caught


def end_connections(address: str) -> int:
    others = "FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()"
    with psycopg.connect(address, autocommit=True) as connection:
        ended = connection.execute(f"SELECT pg_terminate_backend(pid, 5000) {others}").fetchall()
    return len(ended)


def all_connections_end(address: str) -> bool:
    """Whether all other connections are closed soon; the server notices a moment after the client has closed one."""
    others = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()"
    deadline = time.monotonic() + 20
    with psycopg.connect(address, autocommit=True) as connection:
        while connection.execute(others).fetchone() != (0,):
            if time.monotonic() > deadline:
                return False
            time.sleep(0.05)
    return True


def test_a_search_that_is_cut_off_anywhere_is_run_again(proxy: Proxy, address: str) -> None:
    index([read_text(f"{name} fox", document_id=name) for name in ("red", "grey")], address, embedder=EMBEDDER)
    store = open_postgres(proxy.address)
    found = search("red fox", store, embedder=EMBEDDER)
    assert [hit.document_id for hit in found] == ["red", "grey"]
    outcomes = list(cut_everywhere(proxy, lambda: search("red fox", store, embedder=EMBEDDER)))
    assert len(outcomes) > 30
    assert set(outcomes) == {None}
    store.close()


def test_no_transaction_waits_for_an_embedder(store: PostgresStore, address: str) -> None:
    class Watching(WordEmbedder):
        def embed_query(self, text: str) -> NDArray[np.float32]:
            query = """
                SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()
                AND backend_type = 'client backend' AND xact_start IS NOT NULL
            """
            with psycopg.connect(address, autocommit=True) as connection:
                assert connection.execute(query).fetchone() == (1,)  # this one
            return super().embed_query(text)

    index(read_text("red fox"), store, embedder=EMBEDDER)
    assert len(search("red fox", store, embedder=Watching())) == 1


def test_a_read_that_is_cut_off_is_repeated_unless_a_snapshot_is_lost(proxy: Proxy, address: str) -> None:
    store = open_postgres(address)
    put(store, "", document("a", "red fox"))
    store.close()
    store = open_postgres(proxy.address)
    reader = store.reading("")
    (key,) = (one.key for one in reader.lexical(["fox"], Filters(), 5))
    for read in (store.model, store.tenants, store.status, store.verify, lambda: reader.fetch([key])):
        assert set(cut_everywhere(proxy, read)) == {None}

    def in_a_snapshot() -> None:
        with store.reading("") as reader:
            assert [one.key for one in reader.lexical(["fox"], Filters(), 5)] == [key]
            assert len(reader.fetch([key])) == 1

    outcomes = list(cut_everywhere(proxy, in_a_snapshot))
    assert {type(outcome) for outcome in outcomes} == {ConnectionLostError, type(None)}  # None: cut off at its end
    assert all("geheim" not in str(one) and one.hint for one in outcomes if isinstance(one, ConnectionLostError))
    store.close()


def test_a_write_that_is_cut_off_is_all_there_or_not_at_all(proxy: Proxy, address: str) -> None:
    store, direct = open_postgres(proxy.address), open_postgres(address)
    tenants = (f"t{number}" for number in count())
    last: list[str] = []

    def write() -> None:
        last[:] = [next(tenants)]
        put(store, last[0], document("a", "red fox", "grey wolf"))

    outcomes = []
    for caught in cut_everywhere(proxy, write):
        is_there = last[0] in direct.tenants()
        with direct.writing(last[0], MODEL):  # no lock is left behind
            pass
        outcomes.append(is_there)
        if not is_there:
            assert isinstance(caught, ConnectionLostError)
            assert caught.hint == "nothing of the last step was written; run the same command again"
        else:  # a cut before it began, at its end, or instead of the answer to COMMIT, which the server was asked about
            assert caught is None
    assert outcomes.count(True) > 5
    assert outcomes.count(False) > 20
    assert direct.verify() == []
    store.close()
    direct.close()


def test_a_write_of_which_the_server_can_not_be_asked_is_said_to_be_unknown(
    store: PostgresStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("spanwise.stores.postgres.connections._OUTCOME_SECONDS", 0)
    with store._connections.using() as connection:
        connection.execute(CUT_AT_COMMIT)
    with pytest.raises(ConnectionLostError, match="is not known") as caught:
        put(store, "", document("a"))
    assert caught.value.hint == "run the same command again: that is safe, and does only what is missing"


def test_opening_that_is_cut_off_is_repeated_once_it_is_connected(proxy: Proxy) -> None:
    outcomes = list(cut_everywhere(proxy, lambda: open_postgres(proxy.address, create=True).close()))
    assert outcomes.count(None) > 10
    for caught in filter(None, outcomes):
        assert isinstance(caught, ConnectionLostError)
        assert caught.rule.startswith("can't be reached")
        assert "geheim" not in str(caught)


def test_connections_that_ended_while_idle_are_replaced(store: PostgresStore, address: str) -> None:
    put(store, "", document("a", "red fox"))
    for _ in range(3):
        assert end_connections(address) >= 1  # as when the server is started again
        with store.reading("") as reader:
            assert len(reader.lexical(["fox"], Filters(), 5)) == 1
        assert end_connections(address) >= 1
        put(store, "", document("b", "grey wolf"))
    store.close()
    assert all_connections_end(address)


def test_a_connection_that_is_in_use_when_the_store_is_closed_is_closed_afterwards(
    store: PostgresStore, address: str
) -> None:
    with store.reading(""):
        store.close()
    assert all_connections_end(address)


def test_a_server_that_is_gone_is_named_with_a_hint(address: str) -> None:
    open_postgres(address, create=True).close()
    proxy = Proxy(address)
    store = open_postgres(proxy.address)
    proxy.close()
    for read in (store.status, lambda: search("fox", store), lambda: put(store, "", document("a"))):
        with pytest.raises(ConnectionLostError, match="can't be reached") as caught:
            read()
        assert caught.value.hint == "try again when the server is up"
        assert "geheim" not in str(caught.value)
    store.close()


def test_an_error_of_the_caller_is_not_taken_for_one_of_the_store(store: PostgresStore) -> None:
    for own in (psycopg.OperationalError("of another database"), UnicodeError("of a source")):
        for block in (store.reading(""), store.writing("", MODEL)):
            with pytest.raises(type(own)) as caught, block:
                raise own
            assert caught.value is own
    put(store, "", document("a", "red fox"))  # no lock is left, and no broken transaction
    assert len(store.reading("").lexical(["fox"], Filters(), 5)) == 1
