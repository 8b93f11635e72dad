"""The write-ahead log beside a ledger: how long it gets, with a limit that is soon reached."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from multiprocessing.synchronize import Barrier
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from integration.racing import line_up
from processes import PATIENCE
from resolution_ledger import ResolutionLedger, Won
from resolution_ledger.infra.sqlite import wal
from samples import WORKSPACE, record

PAGE = 4096 + 24
LIMIT = 100 * PAGE
BOUND = 4 * LIMIT
"""Bytes: the limit, what is written between two looks, and room for a reader that is in the way."""

ENOUGH = 150
"""Transactions of one win each that write more than the bound."""


@contextmanager
def short_log(limit: int = LIMIT) -> Iterator[None]:
    """In here, the log is to be copied as soon as it is longer than this."""
    settings = f"PRAGMA wal_autocheckpoint = 0; PRAGMA journal_size_limit = {limit}"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(wal, "_BYTES", limit)
        patch.setattr(wal, "SETTINGS", settings)
        yield


def log_of(path: Path | str) -> str:
    """The log of the ledger at a path."""
    return f"{path}-wal"


def length_of_the_log(path: Path | str) -> int:
    """Bytes; 0 if there is none."""
    try:
        return os.stat(log_of(path)).st_size
    except FileNotFoundError:
        return 0


def beginning_of_the_log(path: Path | str) -> bytes:
    """What is another one whenever the log has begun anew."""
    with open(log_of(path), "rb") as log:
        return log.read(32)


def win_each(path: str, instances: Iterable[int], *, at_once: int = ENOUGH) -> int:
    """Win instances, so many through each ledger object. How long the log got."""
    longest, numbers = 0, list(instances)
    for first in range(0, len(numbers), at_once):
        with ResolutionLedger.open(
            path, workspace=WORKSPACE, durability="normal", lock_timeout=PATIENCE
        ) as ledger:
            for n in numbers[first : first + at_once]:
                assert ledger.resolve(record(n, n, n)) == Won()
                longest = max(longest, length_of_the_log(path))
    return longest


def win_with_a_short_log(barrier: Barrier, path: str, instances: Iterable[int]) -> int:
    """Worker: as above."""
    line_up()
    with short_log():
        barrier.wait()
        return win_each(path, instances)


def connecting_by(connect: Callable[..., sqlite3.Connection]) -> Any:
    """The module, for one that connects in another way."""
    return SimpleNamespace(**{**vars(sqlite3), "connect": connect})
