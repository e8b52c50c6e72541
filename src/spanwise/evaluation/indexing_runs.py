"""Stores for the time of an evaluation: documents indexed under a setting, counted on the way."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from spanwise.embedding import Embedder
from spanwise.evaluation.corpus import ReadDocuments
from spanwise.evaluation.peers import as_peers_see
from spanwise.evaluation.ranges import Range
from spanwise.evaluation.settings import Setting
from spanwise.indexing.index import IndexEvent, IndexRun, embedder_for
from spanwise.pipeline.jobs import Job, proposer_for
from spanwise.pipeline.settings import Config
from spanwise.stores import Store, StoreWriter, opened
from spanwise.stores.values import DEFAULT_TENANT, ChunkState, DocumentState, Model, StoreChange


@dataclass
class IndexedSetting:
    """A setting's store, and what it cost."""

    store: Store
    chunks: int
    embedding_tokens: int
    seconds: float
    failed: list[str]
    """What failed: a line for each document."""
    whole: Mapping[str, Range]
    """For the chunks of a peer that have overlap: the range of the whole chunk."""
    lost: int = 0


@contextmanager
def indexed(
    setting: Setting,
    documents: ReadDocuments,
    config: Config,
    embedder: str | Embedder | None,
    progress: Callable[[IndexEvent], None] | None = None,
) -> Iterator[IndexedSetting]:
    """Index documents into a store that is deleted afterwards."""
    with (
        tempfile.TemporaryDirectory(prefix="spanwise-evaluate-") as folder,
        opened(Path(folder, "store.db"), create=True) as store,
    ):
        chosen = embedder_for(embedder, None)
        model = Model(chosen.name, chosen.dimension) if chosen else None
        jobs = [_without_tenant(setting, job) for job in documents.with_settings(lambda job: setting.of(job, config))]
        began = time.perf_counter()
        with store.writing(DEFAULT_TENANT, model) as writer, proposer_for(jobs) as proposer:
            counting = CountingWriter(writer, overlapping=setting.peer is not None)
            run = IndexRun(counting, chosen, progress=progress)
            reports = list(run.write(run.plan(jobs), 1, proposer))
        failed = [f"{one.file or one.document_id}: {one.error}" for one in reports if one.error]
        yield IndexedSetting(
            store, counting.searched, counting.tokens, time.perf_counter() - began, failed, counting.whole,
            setting.peer.lost if setting.peer else 0,
        )  # fmt: skip


def _without_tenant(setting: Setting, job: Job) -> Job:
    """Return a job whose document belongs to nobody, as a peer sees it where it is for one."""
    document = job.item.document
    if document is None:
        return job
    if document.metadata.tenant_id is not None:
        document = replace(document, metadata=replace(document.metadata, tenant_id=None))
    return job._replace(item=replace(job.item, document=as_peers_see(document) if setting.peer else document))


@dataclass
class CountingWriter:
    """A store's writer that counts what is searched of the chunks that go into it."""

    writer: StoreWriter
    overlapping: bool = False
    """Whether the ranges of whole chunks are kept, of those that have overlap."""
    searched: int = 0
    """How many chunks are searched: parents are not."""
    tokens: int = 0
    whole: dict[str, Range] = field(default_factory=dict)

    def known(self) -> dict[str, DocumentState]:
        """Return the stored documents by their ids."""
        return self.writer.known()

    def chunks(self, document_id: str) -> list[ChunkState]:
        """Return the chunks of a document, in order."""
        return self.writer.chunks(document_id)

    def vectors(self, content_hashes: Sequence[str]) -> dict[str, bytes]:
        """Return the vectors that are already stored, by content hash."""
        return self.writer.vectors(content_hashes)

    def commit(self, changes: Sequence[StoreChange], removed: Sequence[str] = ()) -> None:
        """Count the chunks of the changes, and apply them."""
        import orjson

        for change in changes:
            parents = {entry.parent_id for entry in change.added}
            for entry in change.added:
                if entry.chunk_id not in parents:
                    record: dict[str, Any] = orjson.loads(entry.record)
                    self._count(record)
        self.writer.commit(changes, removed)

    def _count(self, record: Mapping[str, Any]) -> None:
        self.searched += 1
        self.tokens += record["token_count"]
        if self.overlapping and len(record["pieces"]) > 1:
            self.whole[record["chunk_id"]] = record["pieces"][0]["start"], record["pieces"][-1]["end"]
