"""The winner of an instance is told from its row, and from the log where there is no such row."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from pathlib import Path
from threading import Event, Thread
from time import sleep

import pytest

from inside import OpenLedger, Unguarded, kept_connections
from integration.rebuilders import empty
from resolution_ledger import (
    Closed,
    CorruptLedger,
    LedgerAdmin,
    ResolutionLedger,
    SchemaTooNew,
    StoreUnavailable,
)
from resolution_ledger.infra.sqlite import databases
from samples import instance, record, response

Foreign = Callable[..., sqlite3.Connection]
INSTANCES = 20


def test_whoever_asks_while_a_rebuild_makes_the_rows_anew_is_told_the_winner(
    path: Path, ledger: ResolutionLedger
) -> None:
    for n in range(INSTANCES):
        ledger.resolve(record(n, n, n))
    told, done = set[bool](), Event()

    def ask() -> None:
        while not done.is_set():
            told.update(ledger.winner(instance(n)) == response(n) for n in range(INSTANCES))

    asking = Thread(target=ask)
    asking.start()
    with LedgerAdmin.open(path) as admin:
        for _ in range(10):
            empty(path)
            assert ledger.winner(instance(1)) == response(1)
            assert admin.rebuild().count >= INSTANCES
    done.set()
    asking.join()
    assert told == {True}


BAD_RESPONSES = {
    "upper case": response(1).text.upper(),
    "white space": response(1).text + " ",
    "no id": "no id",
    "empty": "",
    "bytes": response(1).text.encode(),
    "a number": 5,
}


@pytest.mark.parametrize("bad", BAD_RESPONSES.values(), ids=BAD_RESPONSES)
def test_a_row_whose_response_is_none_is_corrupt(unguarded: Unguarded, bad: object) -> None:
    ledger, connection = unguarded
    connection.execute(
        "UPDATE interaction_resolutions SET response_id = ? WHERE instance_id = ?",
        (bad, instance(1).text),
    )
    for _ in range(2):
        with pytest.raises(CorruptLedger, match="interaction_resolutions"):
            ledger.winner(instance(1))
    assert ledger.winner(instance(0)) == response(1)


def test_a_row_whose_response_is_not_utf_8_is_corrupt(unguarded: Unguarded) -> None:
    ledger, connection = unguarded
    connection.execute("UPDATE interaction_resolutions SET response_id = CAST(x'ff' AS TEXT)")
    for _ in range(2):
        with pytest.raises(CorruptLedger):
            ledger.winner(instance(1))
    assert len(ledger.history(instance(1))) == 3


@pytest.mark.parametrize(
    "change",
    [
        "SET workspace_key = 'ws-2'",
        "SET workspace_key = CAST(workspace_key AS BLOB)",
        "SET workspace_key = CAST(x'ff' AS TEXT)",
        "SET instance_id = upper(instance_id)",
    ],
)
def test_where_a_row_is_not_found_as_it_should_be_the_log_tells(
    unguarded: Unguarded, change: str
) -> None:
    ledger, connection = unguarded
    connection.execute(f"UPDATE interaction_resolutions {change}")
    assert ledger.winner(instance(1)) == response(1)


def test_a_winner_that_has_a_row_is_told_whatever_has_become_of_its_event(
    unguarded: Unguarded, path: Path
) -> None:
    """Whoever decides or waits looks into the log, and stops there; ``verify`` names it."""
    ledger, connection = unguarded
    connection.execute("UPDATE resolution_events SET state = x'c1' WHERE sequence = 2")
    assert ledger.winner(instance(1)) == response(1)
    for look in (
        lambda: ledger.wait(instance(1), timeout=0),
        lambda: ledger.history(instance(1)),
        lambda: ledger.resolve(record(1, 1, 1)),
    ):
        with pytest.raises(CorruptLedger):
            look()
    with LedgerAdmin.open(path) as admin:
        assert 2 in {finding.sequence for finding in admin.verify().findings}


def test_a_closed_instance_and_one_of_another_workspace_have_no_winner_to_be_told(
    ledger: ResolutionLedger, open_ledger: OpenLedger
) -> None:
    ledger.withdraw(instance(1), "expired")
    open_ledger(workspace="ws-2").resolve(record(2, 2, 2))
    for _ in range(2):
        assert ledger.winner(instance(1)) is None
        assert ledger.winner(instance(2)) is None
    assert ledger.wait(instance(1), timeout=0) == Closed("expired")


def test_a_row_of_a_ledger_that_newer_code_has_migrated_is_not_read(
    ledger: ResolutionLedger, foreign: Foreign
) -> None:
    """Nobody knows what it means there."""
    ledger.resolve(record(1, 1, 1))
    assert ledger.winner(instance(1)) == response(1)
    foreign().execute("UPDATE resolution_ledger_meta SET schema_version = schema_version + 1")
    for n in (1, 2):
        with pytest.raises(SchemaTooNew):
            ledger.winner(instance(n))


def test_whoever_has_been_told_a_winner_holds_no_snapshot(
    ledger: ResolutionLedger, foreign: Foreign
) -> None:
    """Else the write-ahead log could not be checkpointed."""
    ledger.resolve(record(1, 1, 1))
    for n in (1, 2):
        ledger.winner(instance(n))
        ledger.resolve(record(10 + n, 1, 1))
        assert foreign().execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0] == 0


@pytest.fixture
def replaced(
    ledger: ResolutionLedger, path: Path, monkeypatch: pytest.MonkeyPatch
) -> ResolutionLedger:
    """A ledger that has just told who won instance 1, and the file of which is gone since."""
    monkeypatch.setattr(databases, "_STALENESS", 600.0)
    ledger.resolve(record(1, 1, 1))
    for _ in range(3):
        assert ledger.winner(instance(1)) == response(1)
    for suffix in ("", "-wal", "-shm"):
        path.with_name(path.name + suffix).unlink()
    return ledger


def test_a_winner_may_be_told_of_a_file_that_has_just_gone(replaced: ResolutionLedger) -> None:
    assert replaced.winner(instance(1)) == response(1)


@pytest.mark.parametrize(
    "call",
    [
        lambda ledger: ledger.winner(instance(2)),
        lambda ledger: ledger.wait(instance(1), timeout=0),
        lambda ledger: ledger.history(instance(1)),
        lambda ledger: ledger.resolve(record(1, 1, 1)),
    ],
    ids=["winner, of nobody", "wait", "history", "resolve"],
)
def test_whatever_else_is_asked_is_not_told_of_such_a_file(
    replaced: ResolutionLedger, call: Callable[[ResolutionLedger], object]
) -> None:
    for _ in range(2):
        with pytest.raises(StoreUnavailable):
            call(replaced)


def test_once_one_read_has_met_the_error_no_winner_is_told_of_that_file_either(
    replaced: ResolutionLedger,
) -> None:
    with pytest.raises(StoreUnavailable):
        replaced.winner(instance(2))
    assert not [one for one in kept_connections(replaced) if one.session is None]
    with pytest.raises(StoreUnavailable):
        replaced.winner(instance(1))


def test_a_moment_later_no_winner_is_told_of_a_file_that_has_gone(
    ledger: ResolutionLedger, path: Path
) -> None:
    ledger.resolve(record(1, 1, 1))
    for _ in range(3):
        ledger.winner(instance(1))
    path.unlink()
    sleep(2 * databases._STALENESS)  # noqa: SLF001
    with pytest.raises(StoreUnavailable):
        ledger.winner(instance(1))
