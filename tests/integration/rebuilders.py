"""Workers for ``test_rebuild_running``, and what happens to read models."""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager
from itertools import count
from multiprocessing.synchronize import Barrier, Event
from pathlib import Path
from random import Random
from time import sleep

import pytest

from chains import hashes_on_record
from integration.parts import kill_at_random
from paging import read_by
from processes import PATIENCE
from resolution_ledger import LedgerAdmin, ResolutionLedger
from samples import WORKSPACE, instance, record

READ_MODELS = ("interaction_resolutions", "losing_attempts", "closed_instances")

WHO_CLOSES = 3
"""The number of the writer that gives no answers. It is soon ahead of the others."""

PAUSE = 0.02
"""Seconds between two attempts of a writer, so that a ledger stays small."""


def fill(path: Path | str, instances: Iterable[int]) -> None:
    """Two answers to each of the instances, but to each fourth, which is closed, only one."""
    with ResolutionLedger.open(path, workspace=WORKSPACE, durability="normal") as ledger:
        for i in instances:
            if i % 4 == 3:
                ledger.withdraw(instance(i), "expired", "timer")
            else:
                ledger.resolve(record(i, 1, 1))
            ledger.resolve(record(i, 2, 2))


def empty(path: Path | str) -> None:
    """Somebody empties the read models."""
    with closing(sqlite3.connect(path, timeout=PATIENCE, isolation_level=None)) as connection:
        connection.execute("BEGIN IMMEDIATE")
        for table in READ_MODELS:
            connection.execute(f"DELETE FROM {table}")  # noqa: S608
        connection.execute("COMMIT")


def drop(path: Path | str) -> None:
    """Somebody drops the read models, and with them their indexes and guards."""
    with closing(sqlite3.connect(path, timeout=PATIENCE, isolation_level=None)) as connection:
        connection.execute("BEGIN IMMEDIATE")
        for table in READ_MODELS:
            connection.execute(f"DROP TABLE {table}")
        connection.execute("COMMIT")


def open_admin(path: Path | str) -> LedgerAdmin:
    """The operator's door, with as much patience as there is."""
    return LedgerAdmin.open(path, lock_timeout=PATIENCE)


@contextmanager
def small_pages() -> Iterator[None]:
    """In here, many pages are read of a small ledger, too."""
    with pytest.MonkeyPatch.context() as patch:
        read_by(patch, 50)
        yield


# Parts


def append_until(stop: Event, path: str, number: int) -> Counter[tuple[str, str]]:
    """Answer one instance after another, or, as one of the writers, close each third.

    How often which call was told what. Each leaves one event.
    """
    told: Counter[tuple[str, str]] = Counter()
    with ResolutionLedger.open(path, workspace=WORKSPACE, lock_timeout=PATIENCE) as ledger:
        for i in count(0, 3 if number == WHO_CLOSES else 1):
            if stop.is_set():
                break
            if number == WHO_CLOSES:
                told["withdraw", type(ledger.withdraw(instance(i), "expired")).__name__] += 1
            else:
                told["resolve", type(ledger.resolve(record(i, number, number))).__name__] += 1
            sleep(PAUSE)
    return told


def rebuild_again_and_again(stop: Event, path: str, rounds: int) -> None:
    """Empty the read models, rebuild and verify, so many times."""
    try:
        with small_pages(), open_admin(path) as admin:
            for _ in range(rounds):
                empty(path)
                assert not admin.rebuild().clean
                assert admin.verify().findings == ()
    finally:
        stop.set()


def kill_rebuilds(stop: Event, path: str, kills: int) -> None:
    """Kill so many rebuilds; after each, one that ends makes all right, and the log is unharmed."""
    random = Random(kills)  # noqa: S311 (nobody is to guess anything)

    def rebuild_until_killed(begun: Event) -> None:
        with small_pages(), open_admin(path) as admin:
            while True:
                empty(path)
                begun.set()
                admin.rebuild()

    try:
        for _ in range(kills):
            checkpoint, hashes = _log(path)
            kill_at_random(random, 0.15, rebuild_until_killed)
            assert _log(path)[1][: len(hashes)] == hashes
            with open_admin(path) as admin:
                admin.rebuild()
                assert admin.verify(checkpoint).findings == ()
    finally:
        stop.set()


def _log(path: str) -> tuple[str, list[bytes]]:
    with open_admin(path) as admin, closing(sqlite3.connect(path)) as connection:
        checkpoint = admin.checkpoint()
        return checkpoint, hashes_on_record(connection)


# A worker


def rebuild_at_once(barrier: Barrier, path: str, number: int, rounds: int) -> list[int]:
    """How many parts and rows were mended in each round, when all rebuild together.

    Before every other round the tables are not emptied, but dropped.
    """
    mended = []
    with small_pages(), open_admin(path) as admin:
        for n in range(rounds):
            if number == 0:
                (empty, drop)[n % 2](path)
            barrier.wait()
            mended.append(admin.rebuild().count)
            barrier.wait()
            assert admin.verify().findings == ()
            barrier.wait()
    return mended
