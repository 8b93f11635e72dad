"""One of several ledger objects that share a connection is closed, or is not there any more."""

from __future__ import annotations

import gc
import os
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from time import monotonic
from typing import Any

import pytest

from inside import OpenLedger, database_of
from integration.gates import descriptors
from integration.standing import Standing, one_inside, until_waiting
from listeners import until
from processes import PATIENCE
from resolution_ledger import (
    LedgerClosed,
    Lost,
    ResolutionLedger,
    StoreBusy,
    Won,
)
from resolution_ledger.infra.sqlite.connection import OpenConnection
from samples import WORKSPACE, instance, record, response

WAITING = 4

seen = pytest.mark.skipif(not os.path.isdir("/proc/self/fd"), reason="no system to tell")


@pytest.fixture
def threads() -> Iterator[ThreadPoolExecutor]:
    with ThreadPoolExecutor(2 * WAITING + 2) as threads:
        yield threads


def test_closing_one_ends_its_calls_and_disturbs_nobody_else(
    open_ledger: OpenLedger, threads: ThreadPoolExecutor
) -> None:
    closed, going_on = (open_ledger(lock_timeout=PATIENCE) for _ in range(2))
    with one_inside(open_ledger, threads) as inside:
        calls: list[list[Future[Any]]] = [[], []]
        for n in range(2 * WAITING):
            ledger = (closed, going_on)[n % 2]
            calls[n % 2].append(threads.submit(ledger.resolve, record(n + 1, n, n)))
            until_waiting(ledger, n + 1)
        close = threads.submit(closed.close)
        until(lambda: database_of(closed).closed)
        calls[0].append(threads.submit(closed.resolve, record(50, 1, 1)))
    close.result(PATIENCE)
    assert inside.result() == Won()
    assert [type(call.exception(PATIENCE)) for call in calls[0]] == [LedgerClosed] * (WAITING + 1)
    assert [call.result(PATIENCE) for call in calls[1]] == [Won()] * WAITING
    for n in range(2 * WAITING):
        assert len(going_on.history(instance(n + 1))) == n % 2
    with pytest.raises(LedgerClosed):
        closed.resolve(record(50, 1, 1))
    assert going_on.resolve(record(50, 1, 1)) == Won()


def test_the_one_whose_call_is_in_flight_is_closed_once_that_has_ended(
    path: Path, threads: ThreadPoolExecutor, open_ledger: OpenLedger
) -> None:
    going_on = open_ledger(lock_timeout=PATIENCE)
    clock = Standing()
    ledger = ResolutionLedger.open(path, workspace=WORKSPACE, clock=clock)
    call = threads.submit(ledger.resolve, record(1, 1, 1))
    clock.wait_for()
    close = threads.submit(ledger.close)
    other = threads.submit(going_on.resolve, record(2, 2, 2))
    until_waiting(going_on, 1)
    assert not close.done()
    clock.let_go()
    assert (call.result(), other.result(), close.result()) == (Won(), Won(), None)
    with pytest.raises(LedgerClosed):
        ledger.resolve(record(3, 3, 3))
    assert going_on.resolve(record(1, 2, 2)) == Lost(response(1))


@seen
@pytest.mark.parametrize("how", ["closed", "dropped", "one of each", "each of one"])
def test_the_connection_is_closed_with_the_last_of_them(path: Path, how: str) -> None:
    ledgers = [ResolutionLedger.open(path, workspace=WORKSPACE) for _ in range(3)]
    for n, ledger in enumerate(ledgers[:2]):  # the third never writes
        ledger.resolve(record(n, n, n))
    for n in range(3):
        if n < 2:
            assert [name for name in descriptors() if name.startswith(str(path))]
        if how == "closed" or (how, n % 2) in {("one of each", 0), ("each of one", 1)}:
            ledgers[0].close()
        del ledgers[0]
        gc.collect()
    del ledger
    gc.collect()
    assert not [name for name in descriptors() if name.startswith(str(path))]


def test_a_call_of_one_that_is_closed_is_refused_at_once_whatever_the_others_do(
    open_ledger: OpenLedger, threads: ThreadPoolExecutor
) -> None:
    closed = open_ledger(lock_timeout=10.0)
    with one_inside(open_ledger, threads) as inside:
        threads.submit(closed.close)
        until(lambda: database_of(closed).closed)
        began = monotonic()
        with pytest.raises((LedgerClosed, StoreBusy)):
            closed.resolve(record(1, 1, 1))
        assert monotonic() - began < 9.0
    assert inside.result() == Won()


def test_a_close_that_cannot_wait_for_a_fork_does_not_let_anybody_in_meanwhile(
    open_ledger: OpenLedger,
) -> None:
    """As it may be where the fork waits for calls of many ledgers, one after the other."""
    closed, going_on = open_ledger(), open_ledger(lock_timeout=0)
    closed.create()
    database = database_of(closed)
    database._patience = 0.1  # noqa: SLF001 (else this takes long)
    writer = database_of(going_on).writer
    writer.drain()
    try:
        closed.close()
        with pytest.raises(StoreBusy):
            going_on.resolve(record(1, 1, 1))
    finally:
        writer.resume()
    assert going_on.resolve(record(1, 1, 1)) == Won()


def test_a_close_that_is_interrupted_keeps_nobody_else_from_writing(
    open_ledger: OpenLedger, monkeypatch: pytest.MonkeyPatch
) -> None:
    closed, going_on = open_ledger(), open_ledger(lock_timeout=0.1)
    closed.resolve(record(1, 1, 1))

    def interrupted(_: OpenConnection) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(OpenConnection, "close", interrupted)
        with pytest.raises(KeyboardInterrupt):
            closed.close()
    assert going_on.resolve(record(1, 2, 2)) == Lost(response(1))
