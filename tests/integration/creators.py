"""Workers for ``test_creation``."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from multiprocessing.synchronize import Barrier

from processes import PATIENCE, ledger_id
from resolution_ledger import Lost, Replayed, ResolutionLedger, Won
from samples import WORKSPACE, record


def create_each(
    barrier: Barrier, paths: list[str], response: int
) -> list[tuple[Won | Lost | Replayed, str]]:
    """Resolve instance 1 in each of the ledgers; the answers, and which ledger it was.

    One of the processes asks for the ledger itself before.
    """
    seen = []
    for path in paths:
        barrier.wait()
        with ResolutionLedger.open(path, workspace=WORKSPACE, lock_timeout=PATIENCE) as ledger:
            if response == 1:
                ledger.create()
            answer = ledger.resolve(record(1, response, response))
            seen.append((answer, ledger_id(path)))
    return seen


def create_or_use(barrier: Barrier, paths: list[str], number: int) -> list[object]:
    """The even processes create ledgers; the odd ones write to the tables that are there."""
    if number % 2 == 0:
        return list(create_each(barrier, paths, number))
    inserted: list[object] = []
    for path in paths:
        barrier.wait()
        with closing(sqlite3.connect(path, timeout=PATIENCE, isolation_level=None)) as connection:
            inserted.append(connection.execute("INSERT INTO theirs VALUES ('more')").rowcount)
    return inserted
