"""The ledger for event loops: waiting, watching and closing."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from threading import Event, active_count
from typing import Any

import pytest

from integration.loops import open_async, run, until_somebody_waits
from listeners import listeners, see_that_nobody_listens
from processes import PATIENCE
from resolution_ledger import (
    Closed,
    LedgerClosed,
    Lost,
    ResolutionLedger,
    StoreUnavailable,
    Withdrawn,
    Won,
)
from resolution_ledger.infra.news import announce
from resolution_ledger.infra.store import EventStore
from resolution_ledger.infra.targets import open_target
from samples import instance, record, response


@pytest.fixture(autouse=True)
def nobody_is_left() -> Iterator[None]:
    """Nobody waits afterwards, and no thread looks."""
    yield
    see_that_nobody_listens()


def test_a_ledger_that_is_not_there_can_be_neither_read_nor_waited_for(path: Path) -> None:
    async def ask() -> None:
        async with open_async(path) as ledger:
            for call in ("winner", "history", "wait"):
                with pytest.raises(StoreUnavailable):
                    await getattr(ledger, call)(instance(1))
            with pytest.raises(StoreUnavailable):
                await anext(ledger.watch())
            assert listeners() == 0
            await ledger.create()
            assert await ledger.wait(instance(1), 0) is None

    run(ask())


def test_a_watch_tells_what_is_there_and_what_is_added(path: Path) -> None:
    async def ask() -> list[int]:
        async with open_async(path) as ledger, asyncio.TaskGroup() as tasks:
            for n in range(5):
                await ledger.resolve(record(n, 1, 1))
            told: list[int] = []

            async def watch() -> None:
                async for attempt in ledger.watch(2):
                    told.append(attempt.sequence)
                    if attempt.sequence == 25:
                        break

            tasks.create_task(watch())
            for n in range(5, 25):
                await ledger.resolve(record(n, 1, 1))
        return told

    assert run(ask()) == [*range(3, 26)]


def test_many_waits_take_no_threads(path: Path, ledger: ResolutionLedger) -> None:
    """A few look, however many wait."""
    before = active_count()

    async def ask() -> list[object]:
        async with open_async(path) as waiter, asyncio.TaskGroup() as tasks:
            await waiter.create()
            waits = [tasks.create_task(waiter.wait(instance(n))) for n in range(500)]
            await until_somebody_waits(500)
            assert active_count() - before <= 20
            for n in range(500):
                ledger.resolve(record(n, n, n))
        return [wait.result() for wait in waits]

    assert run(ask()) == [response(n) for n in range(500)]


def test_close_lets_calls_in_flight_finish_and_ends_waits(path: Path) -> None:
    inside, go_on = Event(), Event()

    def clock() -> int:
        inside.set()
        assert go_on.wait(PATIENCE)
        return 0

    async def ask() -> None:
        ledger = open_async(path, clock=clock)
        await ledger.create()
        waits = [asyncio.ensure_future(ledger.wait(instance(n))) for n in range(2, 30)]
        waits.append(asyncio.ensure_future(anext(ledger.watch())))
        await until_somebody_waits(len(waits))
        resolving = asyncio.ensure_future(ledger.resolve(record(1, 1, 1)))
        await asyncio.to_thread(inside.wait, PATIENCE)
        closings = [asyncio.ensure_future(ledger.close()) for _ in range(2)]
        await asyncio.wait(closings, timeout=0.1)
        assert not any(closing.done() for closing in closings)
        go_on.set()
        assert await resolving == Won()
        await asyncio.gather(*closings)
        for told in await asyncio.gather(*waits, return_exceptions=True):
            assert isinstance(told, LedgerClosed)

    run(ask())


def test_a_ledger_in_memory_serves_many_tasks_at_once() -> None:
    """One of their answers wins, and whoever waits or watches is told."""

    async def ask() -> None:
        async with open_async(":memory:") as ledger:
            await ledger.create()
            async with asyncio.TaskGroup() as tasks:
                waits = [tasks.create_task(ledger.wait(instance(n))) for n in (1, 2)]
                watch = ledger.watch()
                first = tasks.create_task(anext(watch))
                await until_somebody_waits(3)
                told = await asyncio.gather(*(ledger.resolve(record(1, n, n)) for n in range(100)))
                assert await ledger.withdraw(instance(2), "expired") == Withdrawn()
            winner = response(told.index(Won()))
            assert [wait.result() for wait in waits] == [winner, Closed("expired")]
            assert Counter(told) == {Won(): 1, Lost(winner): 99}
            history = await ledger.history(instance(1))
            assert history == (first.result(), *[await anext(watch) for _ in range(99)])
            assert history[:0:-1] == await ledger.losers(100)
            assert await ledger.winner(instance(1)) == winner
        with pytest.raises(LedgerClosed):
            await ledger.winner(instance(1))

    run(ask())


def test_whoever_is_told_in_vain_looks_once_and_waits_on(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    looks: list[object] = []
    settled = EventStore.settled

    def look(store: EventStore, *asked: Any) -> object:
        looks.append(asked)
        return settled(store, *asked)

    async def ask() -> None:
        async with open_async(path) as waiter:
            await waiter.create()
            wait = asyncio.ensure_future(waiter.wait(instance(1)))
            await until_somebody_waits()
            for _ in range(3):
                announce(open_target(path, lock_timeout=0), instance(1).text)
                await asyncio.sleep(0.1)
            assert not wait.done()
            await waiter.resolve(record(1, 1, 1))
            assert await wait == response(1)

    monkeypatch.setattr(EventStore, "settled", look)
    run(ask())
    assert len(looks) < 20
