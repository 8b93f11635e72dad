"""Workers for ``test_hazards``: processes that lose their locks."""

from __future__ import annotations

import os
import sqlite3
from contextlib import closing
from glob import glob
from multiprocessing.synchronize import Barrier
from threading import Event, Thread
from time import sleep
from typing import Any

from integration.forking import Forked
from processes import PATIENCE, spawning
from resolution_ledger import LedgerAdmin, ResolutionLedger
from resolution_ledger.infra.sqlite import examining
from samples import WORKSPACE, instance, record


def hold_the_write_lock(_: Barrier, path: str, suffix: str | None) -> bool:
    """Whether another process finds it taken; one of the files may be opened and closed before."""
    taken: list[bool] = []

    def clock() -> int:  # the lock is held here
        if suffix is not None:
            with open(path + suffix, "rb"):
                pass
        taken.append(_in_another_process(_write_lock_is_taken, path))
        return 0

    with ResolutionLedger.open(path, workspace=WORKSPACE, clock=clock) as ledger:
        ledger.resolve(record(1, 1, 1))
    return taken[0]


def win_after_a_visit(_: Barrier, path: str, careless: bool) -> list[Any]:  # noqa: FBT001 - a worker's
    """What this process is told, and then another one that answers the same instance otherwise."""
    with ResolutionLedger.open(path, workspace=WORKSPACE) as ledger:
        ledger.resolve(record(0, 1, 1))
        ledger.winner(instance(0))
        if careless:
            with open(path, "rb"):
                pass
        _in_another_process(_visit, path)
        told = ledger.resolve(record(1, 1, 1))
        return [told, _in_another_process(_resolve, path)]


def _write_lock_is_taken(path: str) -> bool:
    with closing(sqlite3.connect(path, isolation_level=None, timeout=0)) as connection:
        try:
            connection.execute("BEGIN IMMEDIATE")
        except sqlite3.OperationalError:
            return True
        connection.execute("ROLLBACK")
        return False


def _visit(path: str) -> None:
    with ResolutionLedger.open(path, workspace=WORKSPACE) as ledger:
        ledger.winner(instance(0))


def _resolve(path: str) -> object:
    with ResolutionLedger.open(path, workspace=WORKSPACE) as ledger:
        return ledger.resolve(record(1, 2, 2))


def _in_another_process(work: Any, path: str) -> Any:
    receiving, sending = spawning.Pipe(duplex=False)
    process = spawning.Process(target=_report, args=(sending, work, path))
    process.start()
    sending.close()
    assert receiving.poll(PATIENCE)
    told = receiving.recv()
    process.join(PATIENCE)
    return told


def _report(sending: Any, work: Any, path: str) -> None:
    sending.send(work(path))


def fork_while_a_ledger_is_examined(_: Barrier, path: str) -> list[str]:
    """The ledger's files that are open in the child."""
    looking, seen = Event(), examining._seen  # noqa: SLF001 (the moment is inside)

    def slowly(*arguments: Any) -> Any:
        looking.set()
        sleep(0.3)
        return seen(*arguments)

    examining._seen = slowly  # noqa: SLF001
    admin = LedgerAdmin.open(path)
    told: list[Any] = []
    thread = Thread(target=lambda: told.append(admin.examine()))
    thread.start()
    assert looking.wait(PATIENCE)
    names = Forked().run(lambda: [*map(os.path.realpath, glob("/proc/self/fd/*"))]).result()
    thread.join(PATIENCE)
    assert told[0].observations
    return [name for name in names if name.startswith(os.path.realpath(path))]
