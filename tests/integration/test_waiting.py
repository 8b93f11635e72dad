"""Waiting for what other processes commit, and what becomes of the file meanwhile."""

from __future__ import annotations

import random
import sqlite3
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path

import pytest

from inside import OpenLedger
from integration import waiters
from listeners import see_that_nobody_listens, until, until_listening
from processes import PATIENCE, run_alone, run_together
from resolution_ledger import (
    Closed,
    LedgerAdmin,
    LedgerClosed,
    NotALedger,
    RecordedAttempt,
    ResolutionLedger,
    StoreUnavailable,
)
from samples import WORKSPACE, instance, record, response

MARKER = record(10_000_000, 1, 1)
"""The last attempt of all."""


@pytest.fixture(autouse=True)
def threads() -> Iterator[ThreadPoolExecutor]:
    """For those who wait. Afterwards, when all ledgers are closed, nobody does any more."""
    with ThreadPoolExecutor(100) as threads:
        yield threads
    see_that_nobody_listens()


@pytest.fixture
def ledger(open_ledger: OpenLedger) -> ResolutionLedger:
    """A ledger that can be waited for, and has decided."""
    ledger = open_ledger(durability="normal")
    ledger.resolve(record(0, 0, 0))
    return ledger


@pytest.fixture
def waiting(ledger: ResolutionLedger, threads: ThreadPoolExecutor) -> Future[object]:
    """Somebody who waits for instance 1."""
    future: Future[object] = threads.submit(ledger.wait, instance(1))
    until_listening()
    return future


def test_whoever_waits_is_told_what_another_process_decides(
    ledger: ResolutionLedger, path: Path, threads: ThreadPoolExecutor
) -> None:
    answered, closed = range(1, 50), range(50, 60)
    waits = {n: threads.submit(ledger.wait, instance(n)) for n in (*answered, *closed)}
    until_listening(len(waits))
    run_alone(waiters.end_each, str(path), answered, closed)
    for n, told in waits.items():
        assert told.result(PATIENCE) == (response(n) if n in answered else Closed("expired"))


def test_whoever_watches_is_told_what_another_process_adds(
    ledger: ResolutionLedger, path: Path, threads: ThreadPoolExecutor
) -> None:
    watch = ledger.watch(1)
    added = threads.submit(lambda: [next(watch) for _ in range(20)])
    run_alone(waiters.end_each, str(path), range(1, 11), range(11, 21))
    assert [one.instance for one in added.result(PATIENCE)] == [instance(n) for n in range(1, 21)]


def test_only_a_ledger_can_be_waited_for(open_ledger: OpenLedger, path: Path) -> None:
    """Until somebody makes one."""
    ledger = open_ledger()
    for timeout in (None, 0, 1):
        with pytest.raises(StoreUnavailable, match="there is no such file"):
            ledger.wait(instance(1), timeout)
    assert not path.exists()
    path.touch()
    for timeout in (None, 0, 1):
        with pytest.raises(NotALedger):
            ledger.wait(instance(1), timeout)
    path.unlink()
    ledger.create()
    for timeout in (0, 0.01):
        assert ledger.wait(instance(1), timeout) is None


def remove(path: Path) -> None:
    """Remove the database and what is beside it."""
    for file in path.parent.glob(f"{path.name}*"):
        file.unlink()


@pytest.mark.parametrize("what", ["removed", "moved", "another ledger", "another file"])
def test_a_file_that_goes_while_somebody_waits_ends_the_wait(
    path: Path, waiting: Future[object], open_ledger: OpenLedger, tmp_path: Path, what: str
) -> None:
    other = tmp_path / "other.db"
    if what == "another ledger":
        with open_ledger(other) as another:
            another.resolve(record(1, 1, 1))
        remove(path)
        other.rename(path)
    elif what == "another file":
        remove(path)
        path.write_bytes(b"nothing that a database could begin with")
    elif what == "moved":
        path.rename(other)
    else:
        remove(path)
    with pytest.raises((StoreUnavailable, NotALedger)):
        waiting.result(PATIENCE)


def test_whoever_waits_goes_on_or_fails_when_a_copy_of_the_ledger_is_restored(
    path: Path,
    waiting: Future[object],
    foreign: Callable[..., sqlite3.Connection],
    open_ledger: OpenLedger,
) -> None:
    """It never waits for the file that has gone."""
    copy = path.with_name("copy.db")
    foreign().execute("VACUUM INTO ?", (str(copy),))
    remove(path)
    copy.rename(path)
    with open_ledger() as restored:
        restored.resolve(record(1, 1, 1))
    try:
        assert waiting.result(PATIENCE) == response(1)
    except StoreUnavailable as error:
        assert "replaced" in str(error)  # noqa: PT017 (either is right)


def test_those_who_wait_keep_nothing_from_being_checkpointed(
    ledger: ResolutionLedger,
    waiting: Future[object],
    path: Path,
    threads: ThreadPoolExecutor,
    foreign: Callable[..., sqlite3.Connection],
) -> None:
    """Nor does a watch that was left half way. A look takes a moment, in which it may be busy."""
    half_way = ledger.watch()
    next(half_way)
    watching = threads.submit(lambda: list(ledger.watch()))
    until_listening(2)
    connection, log = foreign(), path.with_name(f"{path.name}-wal")
    for n in range(2, 30):
        ledger.resolve(record(n, n, n))
        assert log.stat().st_size
        until(lambda: connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone() == (0, 0, 0))
        assert log.stat().st_size == 0
    ledger.close()
    for ended in (waiting, watching):
        with pytest.raises(LedgerClosed):
            ended.result(PATIENCE)


def test_a_watch_resumed_anywhere_while_others_write_misses_nothing_and_tells_nothing_twice(
    ledger: ResolutionLedger, path: Path, threads: ThreadPoolExecutor
) -> None:
    writing = threads.submit(
        run_together, waiters.append_in_both_workspaces, [(str(path), n, 100) for n in range(4)]
    )
    until_a_watch_tells(ledger, 2)
    with LedgerAdmin.open(path) as admin:
        reading = [
            threads.submit(read_to_the_marker, door, seed)
            for seed, door in enumerate([ledger, admin] * 20)
        ]
        writing.result(PATIENCE)
        ledger.resolve(MARKER)
        log = list(admin.attempts())
        resumed = 0
        for door, done in zip([ledger, admin] * 20, reading, strict=True):
            after, told, points = done.result(PATIENCE)
            resumed += points
            assert told == [
                one
                for one in log
                if one.sequence > after and (door is admin or one.workspace == WORKSPACE)
            ]
    assert log[-1].instance == MARKER.instance
    assert [one.sequence for one in log] == [*range(1, len(log) + 1)]
    assert resumed >= 200


def until_a_watch_tells(ledger: ResolutionLedger, sequence: int) -> None:
    for attempt in ledger.watch():
        if attempt.sequence >= sequence:
            return


def read_to_the_marker(
    door: ResolutionLedger | LedgerAdmin, seed: int
) -> tuple[int, list[RecordedAttempt], int]:
    """Where it began, what it was told, and how often it began again."""
    draw = random.Random(seed)  # noqa: S311 (a reproducible draw, no secret)
    after = began = draw.randrange(20)
    told: list[RecordedAttempt] = []
    points = 0
    while not told or told[-1].instance != MARKER.instance:
        points += 1
        rest = draw.randrange(1, 40)
        for attempt in door.watch(after):
            told.append(attempt)
            after, rest = attempt.sequence, rest - 1
            if not rest or attempt.instance == MARKER.instance:
                break
    return began, told, points
