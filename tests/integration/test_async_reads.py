"""While calls wait for a lock that somebody else holds, those that only read do not."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from inside import OpenLedger
from integration.loops import open_async, run, until_somebody_waits
from listeners import see_that_nobody_listens
from resolution_ledger import AsyncResolutionLedger, Replayed, Won
from samples import instance, record, response

PENDING = 40
"""More than there are threads for."""


@pytest.fixture(autouse=True)
def nobody_is_left() -> Iterator[None]:
    """Nobody waits afterwards, and no thread looks."""
    yield
    see_that_nobody_listens()


@pytest.fixture
def locked(
    open_ledger: OpenLedger, foreign: Callable[[], sqlite3.Connection]
) -> sqlite3.Connection:
    """Somebody else's connection, in the middle of a write; before it, response 0 won twice."""
    with open_ledger() as ledger:
        ledger.resolve(record(0, 0, 0))
        ledger.resolve(record(1, 0, 0))
        ledger.resolve(record(1, 1, 1))
    connection = foreign()
    connection.execute("BEGIN IMMEDIATE")
    return connection


Call = Callable[[AsyncResolutionLedger], Awaitable[Any]]

READS: dict[str, tuple[Call, object]] = {
    "wait in vain": (lambda ledger: ledger.wait(instance(9), timeout=0.1), None),
    "look": (lambda ledger: ledger.wait(instance(9), timeout=0), None),
    "wait for an answer": (lambda ledger: ledger.wait(instance(0)), response(0)),
    "winner": (lambda ledger: ledger.winner(instance(0)), response(0)),
    "history": (lambda ledger: _sequences(ledger.history(instance(1))), [2, 3]),
    "losers": (lambda ledger: _sequences(ledger.losers()), [3]),
    "watch": (lambda ledger: _sequences(_two_of(ledger)), [1, 2]),
    "create": (lambda ledger: ledger.create(), None),
}


async def _sequences(attempts: Awaitable[Any]) -> list[int]:
    return [attempt.sequence for attempt in await attempts]


async def _two_of(ledger: AsyncResolutionLedger) -> list[Any]:
    watch = ledger.watch()
    return [await anext(watch), await anext(watch)]


def test_what_only_reads_is_answered_before_the_lock_is_let_go(
    path: Path, locked: sqlite3.Connection
) -> None:
    async def ask() -> None:
        async with open_async(path) as ledger:
            resolves = [
                asyncio.ensure_future(ledger.resolve(record(n, n, n)))
                for n in range(100, 100 + PENDING)
            ]
            withdrawal = asyncio.ensure_future(ledger.withdraw(instance(50), "expired"))
            waits = [asyncio.ensure_future(ledger.wait(instance(n))) for n in range(100, 150)]
            await until_somebody_waits(len(waits))
            for name, (call, answer) in READS.items():
                if name != "create":
                    assert await call(ledger) == answer
            pending = (*resolves, withdrawal, *waits)
            assert not any(call.done() for call in pending)
            locked.execute("ROLLBACK")
            assert await asyncio.gather(*resolves) == [Won()] * PENDING
            await withdrawal
            for wait in waits[PENDING:]:
                wait.cancel()
            assert await asyncio.gather(*waits[:PENDING]) == [
                response(n) for n in range(100, 100 + PENDING)
            ]
            await asyncio.wait(waits)

    run(ask())


@pytest.mark.parametrize(("call", "answer"), READS.values(), ids=READS)
def test_a_single_call_that_need_not_write_does_not_wait_for_the_lock(
    path: Path, locked: sqlite3.Connection, call: Call, answer: object
) -> None:
    """Nor is there a call before it that could have opened what it needs."""

    async def ask() -> None:
        async with open_async(path) as ledger:
            assert await call(ledger) == answer
            assert locked.in_transaction

    run(ask())


def test_retransmissions_are_answered_while_others_hold_the_lock(
    path: Path, locked: sqlite3.Connection
) -> None:
    async def ask() -> None:
        async with open_async(path) as ledger:
            calls = [ledger.resolve(record(0, 0, 0)) for _ in range(PENDING)]
            told = await asyncio.gather(*calls)
            assert told == [Replayed(response(0), own=True)] * PENDING
            assert locked.in_transaction

    run(ask())
