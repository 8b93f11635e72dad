"""Processes in which many threads win through one ledger object, until they are killed."""

from __future__ import annotations

import os
import signal
import sqlite3
from itertools import count
from threading import Thread
from typing import Any

from integration.logs import connecting_by
from integration.racing import line_up
from resolution_ledger import ResolutionLedger, Won
from resolution_ledger.infra.sqlite import wal
from samples import WORKSPACE, record

THREADS = 8


def win_until_killed(path: str, first: int, acknowledged: Any) -> None:
    """Win instances from ``first`` on, and tell of each once it is acknowledged."""
    ledger = ResolutionLedger.open(path, workspace=WORKSPACE)
    numbers = count(first)

    def win() -> None:
        for n in numbers:
            if ledger.resolve(record(n, n, n)) == Won():
                acknowledged.put(n)

    threads = [Thread(target=win) for _ in range(THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def win_and_copy_until_killed(path: str, first: int, acknowledged: Any) -> None:
    """As above, and copy the log before each transaction."""
    wal._BYTES = 0  # noqa: SLF001 (else this takes long)
    wal.Wal.is_long = lambda *_, **__: True  # type: ignore[method-assign]
    win_until_killed(path, first, acknowledged)


def win_in_line_until_killed(path: str, first: int, acknowledged: Any) -> None:
    """As above, and line up for each transaction."""
    line_up()
    win_and_copy_until_killed(path, first, acknowledged)


def die_copying_the_log(path: str, first: int, acknowledged: Any, *, after: bool) -> None:
    """As above, until the tenth copy: the process dies just before it, or just after."""
    copies = count(1)

    class Deadly(sqlite3.Connection):
        def execute(self, *arguments: Any) -> sqlite3.Cursor:
            last = next(copies) == 10
            if last and not after:
                os.kill(os.getpid(), signal.SIGKILL)
            cursor = super().execute(*arguments)
            if last:
                cursor.fetchall()
                os.kill(os.getpid(), signal.SIGKILL)
            return cursor

    def connect(*arguments: Any, **options: Any) -> sqlite3.Connection:
        return sqlite3.connect(*arguments, factory=Deadly, **options)

    wal.sqlite3 = connecting_by(connect)  # type: ignore[attr-defined]
    win_and_copy_until_killed(path, first, acknowledged)
