"""Workers for ``test_chain``."""

from __future__ import annotations

from contextlib import closing
from multiprocessing.synchronize import Barrier

from eventsourcing.persistence import StoredEvent

from processes import PATIENCE, resolve_each
from resolution_ledger.infra.sqlite.databases import open_database
from resolution_ledger.infra.sqlite.recorder import LedgerDatastore, LedgerRecorder


def append_each(barrier: Barrier, path: str, number: int, count: int) -> int:
    """How many events were appended: the even processes resolve, the odd ones insert their own."""
    if number % 2 == 0:
        return len(resolve_each(barrier, path, number, number, range(count)))
    database = open_database(path, durability="full", lock_timeout=PATIENCE)
    inserted = 0
    with closing(LedgerDatastore(database)) as datastore:
        recorder = LedgerRecorder(datastore)
        for n in range(count):
            barrier.wait()
            pair = [
                StoredEvent(f"stream {number}", version, "topic", b"state")
                for version in (2 * n, 2 * n + 1)
            ]
            inserted += len(recorder.insert_events(pair) or ())
    return inserted
