"""The write-ahead log stays about as long as its limit, whoever writes."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from integration.logs import (
    BOUND,
    ENOUGH,
    LIMIT,
    beginning_of_the_log,
    length_of_the_log,
    short_log,
    win_each,
    win_with_a_short_log,
)
from integration.racing import see_that_it_is_sound
from integration.rebuilders import drop
from paging import read_by
from processes import run_alone, run_together
from resolution_ledger import LedgerAdmin, ResolutionLedger
from resolution_ledger.infra.sqlite.connection import OpenConnection
from samples import WORKSPACE, instance, record, response


@pytest.fixture(autouse=True)
def log_is_short() -> Iterator[None]:
    with short_log():
        yield


@pytest.fixture
def visitor(
    ledger: ResolutionLedger, foreign: Callable[[], sqlite3.Connection]
) -> sqlite3.Connection:
    """A foreign program that keeps the ledger open, so that no close copies and removes the log."""
    ledger.create()
    ledger.close()
    connection = foreign()
    connection.execute("SELECT count(*) FROM resolution_events").fetchall()
    return connection


def test_of_one_process(path: Path, ledger: ResolutionLedger) -> None:
    assert LIMIT < win_each(str(path), range(4 * ENOUGH), at_once=4 * ENOUGH) < BOUND
    assert ledger.winner(instance(0)) == response(0)
    see_that_it_is_sound(path, 4 * ENOUGH)


def test_the_log_begins_anew_again_and_again(path: Path, ledger: ResolutionLedger) -> None:
    beginnings = set()
    for n in range(4 * ENOUGH):
        ledger.resolve(record(n, n, n))
        beginnings.add(beginning_of_the_log(path))
    assert len(beginnings) > 4


def test_of_threads_that_are_committed_together(path: Path, ledger: ResolutionLedger) -> None:
    with ThreadPoolExecutor(4) as threads:
        for n in threads.map(lambda n: ledger.resolve(record(n, n, n)), range(8 * ENOUGH)):
            assert n is not None
            assert length_of_the_log(path) < 2 * BOUND  # it is looked at for some calls at once
    see_that_it_is_sound(path, 8 * ENOUGH)


@pytest.mark.usefixtures("visitor")
@pytest.mark.parametrize("at_once", [1, 2, 17])
def test_of_many_ledger_objects_one_after_the_other(path: Path, at_once: int) -> None:
    assert LIMIT < win_each(str(path), range(2 * ENOUGH), at_once=at_once) < BOUND
    see_that_it_is_sound(path, 2 * ENOUGH)


@pytest.mark.usefixtures("visitor")
def test_of_many_processes_one_after_the_other(path: Path) -> None:
    for n in range(5):
        at_once = range(n * ENOUGH // 3, (n + 1) * ENOUGH // 3)
        assert run_alone(win_with_a_short_log, str(path), at_once) < BOUND
    see_that_it_is_sound(path, 5 * ENOUGH // 3)


@pytest.mark.usefixtures("visitor")
def test_of_several_processes_at_once(path: Path) -> None:
    lengths = run_together(
        win_with_a_short_log, [(str(path), range(n * ENOUGH, (n + 1) * ENOUGH)) for n in range(4)]
    )
    assert LIMIT < max(lengths) < 2 * BOUND  # the four look after sixteen transactions each
    see_that_it_is_sound(path, 4 * ENOUGH)


def test_of_a_rebuild(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each page is a transaction, and writes so much that before each it is looked at."""
    win_each(str(path), range(10 * ENOUGH))
    drop(path)
    read_by(monkeypatch, ENOUGH)
    lengths, commit = list[int](), OpenConnection.commit

    def measured(connection: OpenConnection) -> None:
        commit(connection)
        lengths.append(length_of_the_log(path))

    monkeypatch.setattr(OpenConnection, "commit", measured)
    with short_log(LIMIT // 5), LedgerAdmin.open(path) as admin:
        admin.rebuild()
    assert LIMIT // 5 < max(lengths) < BOUND // 5
    see_that_it_is_sound(path, 10 * ENOUGH)


def test_it_grows_while_a_reader_needs_it_and_not_afterwards(
    path: Path, visitor: sqlite3.Connection
) -> None:
    """What was committed is there all the time, for everybody but that reader."""
    visitor.execute("BEGIN")
    visitor.execute("SELECT count(*) FROM resolution_events").fetchall()
    with ResolutionLedger.open(path, workspace=WORKSPACE, durability="normal") as ledger:
        for n in range(2 * ENOUGH):
            ledger.resolve(record(n, n, n))
            assert ledger.winner(instance(n)) == response(n)
        assert length_of_the_log(path) > BOUND
        assert visitor.execute("SELECT count(*) FROM resolution_events").fetchone() == (0,)
        visitor.execute("COMMIT")
        for n in range(2 * ENOUGH, 3 * ENOUGH):
            ledger.resolve(record(n, n, n))
        assert length_of_the_log(path) < BOUND
    assert visitor.execute("SELECT count(*) FROM resolution_events").fetchone() == (3 * ENOUGH,)
    see_that_it_is_sound(path, 3 * ENOUGH)
