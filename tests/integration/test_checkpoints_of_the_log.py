"""The write-ahead log is copied while the write lock is held, and no call fails because of it."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any, ClassVar

import pytest

from inside import OpenLedger
from integration import exports, old_ledgers, one_row_program
from integration.logs import (
    BOUND,
    ENOUGH,
    beginning_of_the_log,
    connecting_by,
    length_of_the_log,
    short_log,
    win_each,
)
from integration.racing import see_that_it_is_sound
from integration.rebuilders import drop
from resolution_ledger import LedgerAdmin, ResolutionLedger, StoreBusy, Won
from resolution_ledger.infra.sqlite import opening, wal
from resolution_ledger.infra.sqlite.connection import OpenConnection
from samples import WORKSPACE, instance, record, response


@pytest.fixture(autouse=True)
def log_is_short() -> Iterator[None]:
    with short_log():
        yield


class Watched(sqlite3.Connection):
    """A connection of ours that tells, when it is closed, whether SQLite would have copied."""

    told: list[int]

    def close(self) -> None:
        if self.total_changes and self.execute("PRAGMA journal_mode").fetchone() == ("wal",):
            self.told.extend(*self.execute("PRAGMA wal_autocheckpoint"))
        super().close()


@pytest.fixture
def told(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Of each connection that wrote to a log: after how many pages SQLite makes checkpoints."""

    class Ours(Watched):
        told: ClassVar[list[int]] = []

    def connect(*arguments: Any, **options: Any) -> sqlite3.Connection:
        return sqlite3.connect(*arguments, factory=Ours, **options)

    monkeypatch.setattr(opening, "sqlite3", connecting_by(connect))
    return Ours.told


def by_callers(path: Path) -> None:
    win_each(str(path), range(5))


def by_a_rebuild(path: Path) -> None:
    win_each(str(path), range(20))
    drop(path)
    with LedgerAdmin.open(path) as admin:
        admin.rebuild()


def by_a_migration(path: Path) -> None:
    old_ledgers.restore(old_ledgers.VERSION_1, path, journal="wal")
    win_each(str(path), range(100, 105))


def by_an_adoption(path: Path) -> None:
    rows = [one_row_program.row(n, n, n, n) for n in range(5)]
    one_row_program.make_table(path, rows, journal="wal")
    with LedgerAdmin.open(path) as admin:
        admin.adopt()


def by_an_import(path: Path) -> None:
    """Into a ledger that is there, and empty."""
    export = exports.export_of(":memory:")
    with ResolutionLedger.open(path, workspace=WORKSPACE) as ledger:
        ledger.create()
    exports.imported(export, path)


@pytest.mark.parametrize(
    "write",
    [
        by_callers,
        by_a_rebuild,
        by_a_migration,
        by_an_adoption,
        by_an_import,
    ],
)
def test_sqlite_never_makes_one_by_itself_after_a_commit_of_ours(
    path: Path, told: list[int], write: Callable[[Path], None]
) -> None:
    """There, without the write lock, it may come while somebody begins the log anew."""
    write(path)
    assert told
    assert set(told) == {0}


def test_each_is_made_while_the_write_lock_is_held_and_nothing_has_been_written(
    path: Path, foreign: Callable[[], sqlite3.Connection], monkeypatch: pytest.MonkeyPatch
) -> None:
    with ResolutionLedger.open(path, workspace=WORKSPACE) as ledger:
        ledger.create()
    seen: list[int] = []
    other = foreign()
    connect = wal.connection_that_copies

    def look() -> None:
        with pytest.raises(sqlite3.OperationalError, match="locked"):
            other.execute("BEGIN IMMEDIATE")

    class Watching(sqlite3.Connection):
        def close(self) -> None:
            look()
            super().close()

    def watched(ledger: str) -> sqlite3.Connection:
        look()
        seen.append(1)
        return connect(ledger)

    monkeypatch.setattr(wal, "sqlite3", connecting_by(partial(sqlite3.connect, factory=Watching)))
    monkeypatch.setattr(wal, "connection_that_copies", watched)
    win_each(str(path), range(ENOUGH))
    drop(path)
    with LedgerAdmin.open(path) as admin:
        admin.rebuild()
    assert len(seen) > 3


def without_a_file(*_: object, **__: object) -> sqlite3.Connection:
    raise sqlite3.OperationalError("unable to open database file")


def that_may_only_read(name: str, **options: Any) -> sqlite3.Connection:
    return sqlite3.connect(name.replace("mode=rw", "mode=ro"), **options)


def that_is_damaged(*_: object, **options: Any) -> sqlite3.Connection:
    class Damaged(sqlite3.Connection):
        def execute(self, *_: object) -> sqlite3.Cursor:
            raise sqlite3.OperationalError("disk I/O error")

    return sqlite3.connect(":memory:", factory=Damaged, **options)


@pytest.mark.parametrize("connect", [without_a_file, that_may_only_read, that_is_damaged])
def test_one_that_fails_fails_nobody_and_is_made_later(
    path: Path, open_ledger: OpenLedger, connect: Callable[..., sqlite3.Connection]
) -> None:
    ledger = open_ledger(durability="normal")
    ledger.resolve(record(0, 0, 0))
    beginning = beginning_of_the_log(path)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(wal, "sqlite3", connecting_by(connect))
        for n in range(1, ENOUGH):
            assert ledger.resolve(record(n, n, n)) == Won()
        assert beginning_of_the_log(path) == beginning
        assert length_of_the_log(path) > BOUND
    for n in range(ENOUGH, 2 * ENOUGH):
        assert ledger.resolve(record(n, n, n)) == Won()
    assert beginning_of_the_log(path) != beginning
    assert length_of_the_log(path) < BOUND
    assert [ledger.winner(instance(n)) for n in range(2 * ENOUGH)] == [
        response(n) for n in range(2 * ENOUGH)
    ]
    see_that_it_is_sound(path, 2 * ENOUGH)


def test_the_call_in_front_of_which_one_is_made_goes_on_in_the_log_that_begins_anew(
    path: Path, open_ledger: OpenLedger
) -> None:
    ledger = open_ledger(durability="normal")
    ledger.resolve(record(0, 0, 0))
    with short_log(0):
        before = beginning_of_the_log(path)
        for n in range(1, 17):  # one of so many looks
            ledger.resolve(record(n, n, n))
    assert beginning_of_the_log(path) != before


def test_whoever_takes_the_lock_just_after_one_is_waited_for(
    path: Path, open_ledger: OpenLedger, foreign: Callable[[], sqlite3.Connection],
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    """For as long as for any other who writes."""
    ledger = open_ledger(durability="normal", lock_timeout=0.1)
    with short_log(0):
        ledger.resolve(record(0, 0, 0))
        other = foreign()
        roll_back = OpenConnection.roll_back

        def somebody_is_faster(connection: OpenConnection) -> None:
            if connection.connection.in_transaction:
                roll_back(connection)
                if not other.in_transaction:
                    other.execute("BEGIN IMMEDIATE")

        for n in range(1, 16):  # up to the next look
            ledger.resolve(record(n, n, n))
        with monkeypatch.context() as patch:
            patch.setattr(OpenConnection, "roll_back", somebody_is_faster)
            with pytest.raises(StoreBusy):
                ledger.resolve(record(20, 20, 20))
        other.execute("ROLLBACK")
        assert ledger.resolve(record(20, 20, 20)) == Won()
    see_that_it_is_sound(path, ledger.history(instance(20))[0].sequence)
