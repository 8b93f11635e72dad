"""Reads take a connection each and put it back, whatever comes in between."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier, Event, Thread
from time import sleep

import pytest

from inside import OpenLedger, database_of, kept_connections
from integration import seats
from processes import PATIENCE, run_alone
from resolution_ledger import LedgerClosed, ResolutionLedger
from resolution_ledger.infra.database import OperatorSession
from resolution_ledger.infra.sqlite.databases import FileDatabase
from samples import instance, record, response

CROWD, CONNECTIONS, KEPT = 60, 32, 8

forking = pytest.mark.skipif(not hasattr(os, "fork"), reason="there are no forks here")


@pytest.fixture
def ledger(open_ledger: OpenLedger) -> ResolutionLedger:
    """A ledger in which response n won instance n, and which has not been read."""
    ledger = open_ledger(durability="normal")
    for n in range(10):
        ledger.resolve(record(n, n, n))
    return ledger


def read_connections(ledger: ResolutionLedger) -> int:
    """How many connections that read are kept."""
    return len(kept_connections(ledger)) - 1  # one writes


def test_a_crowd_that_reads_at_once_is_told_the_truth_on_few_connections(
    ledger: ResolutionLedger,
) -> None:
    together = Barrier(CROWD)

    def ask(_: int) -> bool:
        together.wait(PATIENCE)
        return all(ledger.winner(instance(n % 10)) == response(n % 10) for n in range(200))

    with ThreadPoolExecutor(CROWD) as threads:
        assert all(threads.map(ask, range(CROWD)))
    assert read_connections(ledger) <= CONNECTIONS
    for _ in range(CONNECTIONS):
        ledger.winner(instance(1))
    assert read_connections(ledger) <= KEPT


def test_whoever_finds_all_connections_in_use_reads_as_soon_as_one_is_free(
    ledger: ResolutionLedger,
) -> None:
    database = database_of(ledger)
    inside, go_on = Barrier(CONNECTIONS + 1), Event()

    def stay(_: OperatorSession) -> bool:
        inside.wait(PATIENCE)
        return go_on.wait(PATIENCE)

    with ThreadPoolExecutor(CONNECTIONS + 5) as threads:
        staying = [threads.submit(database.read, stay) for _ in range(CONNECTIONS)]
        inside.wait(PATIENCE)
        waiting = [threads.submit(ledger.winner, instance(n)) for n in range(5)]
        sleep(0.1)
        assert not any(one.done() for one in waiting)
        go_on.set()
        assert [one.result(PATIENCE) for one in waiting] == [response(n) for n in range(5)]
        assert all(one.result(PATIENCE) for one in staying)


def test_an_exception_inside_a_read_gives_the_connection_back(ledger: ResolutionLedger) -> None:
    ledger.winner(instance(1))
    before = kept_connections(ledger)
    for _ in range(3):
        with pytest.raises(ZeroDivisionError):
            database_of(ledger).read(lambda _: 1 / 0)
    assert kept_connections(ledger) == before


def test_one_that_leaves_a_transaction_open_does_not(ledger: ResolutionLedger) -> None:
    """It would keep the write-ahead log from being checkpointed, and show the past."""

    def interrupted(session: OperatorSession) -> None:
        session.connection.execute("BEGIN")  # type: ignore[attr-defined]
        ledger.winner(instance(1))
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        database_of(ledger).read(interrupted)
    assert [one.connection.in_transaction for one in kept_connections(ledger)] == [False] * 2


def test_a_ledger_that_is_closed_inside_a_read_lets_it_end_and_keeps_nothing(
    ledger: ResolutionLedger,
) -> None:
    database = database_of(ledger)

    def close_and_go_on(session: OperatorSession) -> int:
        ledger.close()
        with pytest.raises(LedgerClosed):
            ledger.winner(instance(1))
        return session.head_sequence()

    assert database.read(close_and_go_on) == 10
    assert kept_connections(ledger) == []
    with pytest.raises(LedgerClosed):
        ledger.winner(instance(1))


def test_a_close_waits_for_what_other_threads_are_reading(ledger: ResolutionLedger) -> None:
    database, told = database_of(ledger), list[int]()
    inside, go_on = Event(), Event()

    def read(session: OperatorSession) -> int:
        inside.set()
        assert go_on.wait(PATIENCE)
        return session.head_sequence()

    reading = Thread(target=lambda: told.append(database.read(read)))
    reading.start()
    assert inside.wait(PATIENCE)
    closing = Thread(target=ledger.close)
    closing.start()
    closing.join(0.1)
    assert closing.is_alive()
    with pytest.raises(LedgerClosed):
        ledger.winner(instance(1))
    go_on.set()
    for thread in (reading, closing):
        thread.join(PATIENCE)
    assert told == [10]
    assert kept_connections(ledger) == []


def test_a_connection_that_is_lost_on_its_way_is_closed_and_not_counted(
    ledger: ResolutionLedger,
) -> None:
    """As if an exception had come between its being taken and its being used, again and again."""
    database = database_of(ledger)
    assert isinstance(database, FileDatabase)
    for _ in range(2 * CONNECTIONS):
        ledger.winner(instance(1))
        database.readers._idle.pop()  # noqa: SLF001 (there is no other way)
    assert ledger.winner(instance(1)) == response(1)
    assert read_connections(ledger) == 1


@forking
def test_a_child_that_was_forked_inside_a_read_is_refused_and_the_parent_goes_on(
    path: Path,
) -> None:
    told = run_alone(seats.fork_inside_a_read, str(path))
    assert told == {
        "child": {
            "kept": 0,
            "winner": "StoreUnavailable",
            "resolve": "StoreUnavailable",
            "close": None,
        },
        "winner": True,
        "next": "Won",
    }


@forking
def test_a_fork_waits_for_what_other_threads_are_reading(path: Path) -> None:
    told = run_alone(seats.fork_while_another_thread_reads, str(path))
    assert told == {
        "child": {"ended": True, "inherited": 0, "winner": True, "resolve": "Won"},
        "read": [True],
    }
