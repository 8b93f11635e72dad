"""A process in which many threads win through one ledger object, until it is killed."""

from __future__ import annotations

from itertools import count
from threading import Thread
from typing import Any

from resolution_ledger import ResolutionLedger, Won
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
