"""Others hold the write lock: what still works, and what says that it had to give up."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from threading import Event
from time import monotonic

import pytest

from inside import OpenLedger
from resolution_ledger import Lost, NotALedger, Replayed, ResolutionLedger, StoreBusy, Won
from samples import instance, record, response

HANGING = 30.0
"""Seconds. Far beyond any timeout here: who takes as long has not given up by itself."""


@pytest.fixture
def impatient(open_ledger: OpenLedger) -> ResolutionLedger:
    """A ledger that waits a tenth of a second for locks; response 1 won instance 1, 2 lost."""
    ledger = open_ledger(lock_timeout=0.1)
    ledger.resolve(record(1, 1, 1))
    ledger.resolve(record(1, 2, 2))
    return ledger


@pytest.fixture(params=["IMMEDIATE", "EXCLUSIVE"])
def locked(
    request: pytest.FixtureRequest,
    impatient: ResolutionLedger,
    foreign: Callable[[], sqlite3.Connection],
) -> Iterator[sqlite3.Connection]:
    """Somebody else's connection, in the middle of a write transaction."""
    assert impatient.winner(instance(1)) == response(1)
    connection = foreign()
    connection.execute(f"BEGIN {request.param}")
    yield connection
    if connection.in_transaction:
        connection.execute("ROLLBACK")


@pytest.mark.parametrize(
    "attempt", [record(2, 1, 1), record(1, 3, 3), record(1, 1, 3)], ids=["win", "lose", "replay"]
)
def test_a_new_attempt_gives_up_after_its_timeout_and_nothing_is_on_record(
    impatient: ResolutionLedger, locked: sqlite3.Connection, attempt: object
) -> None:
    before = impatient.history(instance(1))
    began = monotonic()
    with pytest.raises(StoreBusy) as error:
        impatient.resolve(attempt)  # type: ignore[arg-type]
    assert monotonic() - began < HANGING
    assert not error.value.outcome_unknown
    assert impatient.history(instance(1)) == before
    assert impatient.history(instance(2)) == ()
    locked.execute("ROLLBACK")
    impatient.resolve(attempt)  # type: ignore[arg-type]
    recorded = impatient.history(instance(1))[2:] + impatient.history(instance(2))
    assert [attempt.sequence for attempt in recorded] == [3]


@pytest.mark.parametrize("call", ["win", "winner"])
def test_the_first_call_waits_no_longer_than_any_other(
    foreign: Callable[[], sqlite3.Connection], open_ledger: OpenLedger, call: str
) -> None:
    foreign().execute("CREATE TABLE theirs (x)")
    foreign().execute("BEGIN EXCLUSIVE")
    ledger = open_ledger(lock_timeout=2.0)
    began = monotonic()
    with pytest.raises((StoreBusy, NotALedger)):
        ledger.resolve(record(1, 1, 1)) if call == "win" else ledger.winner(instance(1))
    assert monotonic() - began < 2 * 2.0  # it opens, looks and opens again: once each


def test_retransmissions_are_answered_without_the_lock(
    impatient: ResolutionLedger, locked: sqlite3.Connection
) -> None:
    assert locked.in_transaction
    assert impatient.resolve(record(1, 1, 1)) == Replayed(response(1), own=True)
    assert impatient.resolve(record(1, 2, 2)) == Lost(response(1))


def test_reading_works_without_the_lock(
    impatient: ResolutionLedger, locked: sqlite3.Connection, open_ledger: OpenLedger
) -> None:
    assert locked.in_transaction
    for ledger in (impatient, open_ledger(lock_timeout=0.1)):
        assert ledger.winner(instance(1)) == response(1)
        assert len(ledger.history(instance(1))) == 2
        assert len(ledger.losers()) == 1


def test_what_others_have_not_committed_is_not_seen(
    impatient: ResolutionLedger, locked: sqlite3.Connection
) -> None:
    locked.execute("DELETE FROM losing_attempts")
    assert len(impatient.losers()) == 1


def test_an_attempt_waits_as_long_as_it_was_told(
    open_ledger: OpenLedger, locked: sqlite3.Connection
) -> None:
    patient = open_ledger(lock_timeout=60.0)
    with ThreadPoolExecutor() as threads:
        answer = threads.submit(patient.resolve, record(2, 1, 1))
        with pytest.raises(TimeoutError):
            answer.result(0.3)
        locked.execute("ROLLBACK")
        assert answer.result(HANGING) == Won()


def test_a_ledger_that_waits_for_nothing_works_where_nobody_is(open_ledger: OpenLedger) -> None:
    ledger = open_ledger(lock_timeout=0)
    assert ledger.resolve(record(1, 1, 1)) == Won()
    assert ledger.resolve(record(1, 2, 2)) == Lost(response(1))


def test_a_thread_gives_up_waiting_for_another_thread(open_ledger: OpenLedger) -> None:
    inside, go_on = Event(), Event()

    def clock() -> int:
        inside.set()
        assert go_on.wait(HANGING)
        return 0

    ledger = open_ledger(lock_timeout=0.1, clock=clock)
    with ThreadPoolExecutor() as threads:
        answer = threads.submit(ledger.resolve, record(1, 1, 1))
        assert inside.wait(HANGING)
        with pytest.raises(StoreBusy, match="thread"):
            ledger.resolve(record(2, 1, 1))
        go_on.set()
        assert answer.result(HANGING) == Won()
    assert ledger.resolve(record(2, 1, 1)) == Won()


def test_a_clock_that_resolves_on_its_own_ledger_gives_up_instead_of_waiting_for_ever(
    open_ledger: OpenLedger,
) -> None:
    failures: list[StoreBusy] = []

    def clock() -> int:
        if not failures:
            with pytest.raises(StoreBusy) as error:
                ledger.resolve(record(2, 1, 1))
            failures.append(error.value)
        return 0

    ledger = open_ledger(lock_timeout=0.1, clock=clock)
    assert ledger.resolve(record(1, 1, 1)) == Won()
    assert len(failures) == 1
    assert ledger.resolve(record(2, 1, 1)) == Won()
