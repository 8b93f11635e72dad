"""Waiting for what becomes of an instance."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from decimal import Decimal
from math import inf, nan
from threading import Thread
from typing import Any

import pytest

from answers import everything
from contract.backends import OpenLedger
from listeners import listeners, see_that_nobody_listens, somebody_looks, until_listening
from processes import PATIENCE
from resolution_ledger import (
    Closed,
    InvalidId,
    InvalidOption,
    LedgerClosed,
    Lost,
    OutsideWorkspace,
    ResolutionLedger,
    Withdrawn,
    Won,
)
from samples import WORKSPACE, instance, record, response

MANY = 100


@pytest.fixture(autouse=True)
def threads() -> Iterator[ThreadPoolExecutor]:
    """For those who wait. Afterwards, when all ledgers are closed, nobody does any more."""
    with ThreadPoolExecutor(MANY) as threads:
        yield threads
    see_that_nobody_listens()


@pytest.fixture
def waiting(ledger: ResolutionLedger, threads: ThreadPoolExecutor) -> Future[object]:
    """Somebody who waits for instance 1, in a thread of its own."""
    ledger.create()
    future: Future[object] = threads.submit(ledger.wait, instance(1))
    until_listening()
    return future


@pytest.mark.parametrize("timeout", [None, 0, 0.5, PATIENCE, inf])
def test_what_is_decided_is_told_at_once(ledger: ResolutionLedger, timeout: float | None) -> None:
    ledger.resolve(record(1, 1, 1))
    ledger.resolve(record(1, 2, 2))
    ledger.withdraw(instance(2), "expired")
    ledger.withdraw(instance(3), "withdrawn")
    ledger.withdraw(instance(3), "expired")
    assert ledger.wait(instance(1), timeout) == response(1)
    assert ledger.wait(instance(2), timeout) == Closed("expired")
    assert ledger.wait(instance(3), timeout=timeout) == Closed("withdrawn")
    assert not somebody_looks()


@pytest.mark.parametrize("timeout", [0, 0.0, -0.0, 0.03, 1e-9])
def test_what_is_not_decided_in_time_is_none_and_nothing_is_on_record(
    ledger: ResolutionLedger, timeout: float
) -> None:
    ledger.resolve(record(2, 1, 1))
    assert ledger.wait(instance(1), timeout) is None
    assert timeout or not somebody_looks()
    assert len(everything([ledger])) == 1
    assert ledger.resolve(record(1, 1, 1)) == Won()


def answered(ledger: ResolutionLedger) -> object:
    assert ledger.resolve(record(1, 1, 1)) == Won()
    return response(1)


def closed(ledger: ResolutionLedger) -> object:
    assert ledger.withdraw(instance(1), "expired", "cron") == Withdrawn()
    return Closed("expired")


ENDS = pytest.mark.parametrize("end", [answered, closed])

End = Callable[[ResolutionLedger], object]


@ENDS
@pytest.mark.parametrize("shared", [True, False], ids=["same object", "another object"])
def test_whoever_waits_is_told_what_another_thread_decides(
    ledger: ResolutionLedger,
    open_ledger: OpenLedger,
    waiting: Future[object],
    end: End,
    *,
    shared: bool,
) -> None:
    told = end(ledger if shared else open_ledger())
    assert waiting.result(PATIENCE) == told


def test_whoever_waits_is_not_told_of_other_instances(
    ledger: ResolutionLedger, waiting: Future[object]
) -> None:
    for n in range(2, 30):
        ledger.resolve(record(n, 1, 1))
    assert not waiting.done()
    ledger.resolve(record(1, 2, 2))
    assert waiting.result(PATIENCE) == response(2)


def test_what_a_waiter_is_told_is_what_the_later_ones_lose_to(
    ledger: ResolutionLedger, waiting: Future[object]
) -> None:
    """A waiter that answers all the same gets no second win."""
    ledger.resolve(record(1, 1, 1))
    winner = waiting.result(PATIENCE)
    assert ledger.resolve(record(1, 2, 2)) == Lost(response(1)) == Lost(winner)


@ENDS
def test_what_another_workspace_has_decided_is_outside(
    ledger: ResolutionLedger, other: ResolutionLedger, end: End
) -> None:
    end(other)
    for timeout in (0, 0.5, None):
        with pytest.raises(OutsideWorkspace) as refused:
            ledger.wait(instance(1), timeout)
        assert (refused.value.instance, refused.value.workspace) == (instance(1), WORKSPACE)
    assert everything([ledger]) == []  # asking is no attempt


@ENDS
def test_what_another_workspace_decides_meanwhile_is_outside(
    waiting: Future[object], other: ResolutionLedger, end: End
) -> None:
    end(other)
    with pytest.raises(OutsideWorkspace):
        waiting.result(PATIENCE)


@pytest.mark.parametrize(
    "timeout", [-1, -0.001, -inf, nan, True, False, "1", "", b"1", [], Decimal(1), 1j, object()]
)
@pytest.mark.parametrize("decided", [True, False], ids=["decided", "open"])
def test_a_timeout_that_is_no_number_of_seconds_is_refused(
    ledger: ResolutionLedger, timeout: Any, *, decided: bool
) -> None:
    ledger.create()
    if decided:
        ledger.resolve(record(1, 1, 1))
    with pytest.raises(InvalidOption, match="timeout"):
        ledger.wait(instance(1), timeout)


@pytest.mark.parametrize("bad", [None, instance(1).text, response(1), record(1, 1, 1)])
def test_only_for_an_instance_can_be_waited(ledger: ResolutionLedger, bad: Any) -> None:
    ledger.create()
    with pytest.raises(InvalidId):
        ledger.wait(bad, 0)


@pytest.mark.parametrize(
    "timeout",
    [None, inf, 1e308, 10**400, PATIENCE],
    ids=["none", "infinite", "huge", "a huge integer", "long"],
)
def test_a_wait_may_be_long_or_without_end(
    ledger: ResolutionLedger, threads: ThreadPoolExecutor, timeout: float | None
) -> None:
    ledger.create()
    waiting = threads.submit(ledger.wait, instance(1), timeout)
    until_listening()
    ledger.resolve(record(1, 1, 1))
    assert waiting.result(PATIENCE) == response(1)


@pytest.mark.parametrize("closer", ["same object", "another thread"])
def test_closing_ends_a_wait(
    ledger: ResolutionLedger, waiting: Future[object], closer: str
) -> None:
    if closer == "same object":
        ledger.close()
    else:
        thread = Thread(target=ledger.close)
        thread.start()
        thread.join(PATIENCE)
    with pytest.raises(LedgerClosed):
        waiting.result(PATIENCE)


def test_each_of_many_waiters_is_told_of_its_own_instance(
    open_ledger: OpenLedger, threads: ThreadPoolExecutor
) -> None:
    doors = [open_ledger() for _ in range(5)]
    doors[0].create()
    waiting = [threads.submit(doors[n % 5].wait, instance(n)) for n in range(MANY)]
    until_listening(MANY)
    for n in reversed(range(MANY)):
        if n % 10:
            doors[n % 3].resolve(record(n, n, n))
        else:
            doors[n % 3].withdraw(instance(n), "withdrawn")
    for n, told in enumerate(waiting):
        assert told.result(PATIENCE) == (response(n) if n % 10 else Closed("withdrawn"))


def test_all_who_wait_for_one_instance_are_told(
    ledger: ResolutionLedger, threads: ThreadPoolExecutor
) -> None:
    ledger.create()
    waiting = [threads.submit(ledger.wait, instance(1)) for _ in range(MANY)]
    until_listening(MANY)
    ledger.resolve(record(1, 1, 1))
    assert {told.result(PATIENCE) for told in waiting} == {response(1)}


def test_waiters_that_come_and_go_while_answers_come_miss_none(
    open_ledger: OpenLedger, threads: ThreadPoolExecutor
) -> None:
    """Each wait begins just as the answer is given."""
    waiter, answerer = open_ledger(), open_ledger()
    waiter.create()
    for n in range(200):
        told = threads.submit(waiter.wait, instance(n))
        answerer.resolve(record(n, n, n))
        assert told.result(PATIENCE) == response(n)


def test_many_short_waits_leave_nobody(
    ledger: ResolutionLedger, threads: ThreadPoolExecutor
) -> None:
    ledger.create()
    waits = [threads.submit(ledger.wait, instance(n), 0.001 * n) for n in range(MANY)]
    assert {told.result(PATIENCE) for told in waits} == {None}
    assert listeners() == 0
