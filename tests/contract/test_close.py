"""Closing a ledger: calls in flight finish, and what is asked afterwards is refused."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from threading import Event

import pytest

from contract.backends import OpenLedger, in_the_callers_thread
from resolution_ledger import LedgerClosed, ResolutionLedger, Won
from samples import instance, record

CALLS: dict[str, Callable[[ResolutionLedger], object]] = {
    "create": lambda ledger: ledger.create(),
    "resolve": lambda ledger: ledger.resolve(record(2, 1, 1)),
    "resolve again": lambda ledger: ledger.resolve(record(1, 1, 1)),
    "withdraw": lambda ledger: ledger.withdraw(instance(2), "expired"),
    "withdraw again": lambda ledger: ledger.withdraw(instance(3), "expired"),
    "wait": lambda ledger: ledger.wait(instance(1)),
    "wait for what is open": lambda ledger: ledger.wait(instance(2)),
    "look": lambda ledger: ledger.wait(instance(2), 0),
    "watch": lambda ledger: next(ledger.watch()),
    "watch what is to come": lambda ledger: next(ledger.watch(2)),
    "winner": lambda ledger: ledger.winner(instance(1)),
    "history": lambda ledger: ledger.history(instance(1)),
    "losers": lambda ledger: ledger.losers(),
}


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_whatever_is_asked_after_closing_is_ledger_closed(
    ledger: ResolutionLedger, call: Callable[[ResolutionLedger], object]
) -> None:
    ledger.resolve(record(1, 1, 1))
    ledger.withdraw(instance(3), "expired")
    ledger.close()
    for _ in range(2):
        with pytest.raises(LedgerClosed):
            call(ledger)


def test_close_may_be_called_twice(ledger: ResolutionLedger) -> None:
    ledger.resolve(record(1, 1, 1))
    ledger.close()
    ledger.close()


def test_a_ledger_that_was_never_used_may_be_closed(ledger: ResolutionLedger) -> None:
    ledger.close()
    with pytest.raises(LedgerClosed):
        ledger.winner(instance(1))


def test_a_with_block_closes_the_ledger(ledger: ResolutionLedger) -> None:
    with ledger as same:
        assert same is ledger
        ledger.resolve(record(1, 1, 1))
    with pytest.raises(LedgerClosed):
        ledger.winner(instance(1))


def test_a_call_in_flight_finishes_before_close_returns(open_ledger: OpenLedger) -> None:
    inside, go_on = Event(), Event()

    def clock() -> int:
        inside.set()
        assert go_on.wait(60)
        return 0

    ledger = open_ledger(clock=clock)
    with ThreadPoolExecutor() as threads:
        answer = threads.submit(ledger.resolve, record(1, 1, 1))
        assert inside.wait(60)
        closed = threads.submit(ledger.close)
        with pytest.raises(TimeoutError):
            closed.result(0.3)
        go_on.set()
        assert answer.result(60) == Won()
        closed.result(60)
    with pytest.raises(LedgerClosed):
        ledger.winner(instance(1))


@in_the_callers_thread
def test_a_ledger_may_be_closed_from_within_its_own_clock(open_ledger: OpenLedger) -> None:
    def clock() -> int:
        ledger.close()
        return 0

    ledger = open_ledger(clock=clock)
    assert ledger.resolve(record(1, 1, 1)) == Won()
    with pytest.raises(LedgerClosed):
        ledger.winner(instance(1))
