"""Closing a ledger in an event loop: once begun it is done, whatever becomes of who asked."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Event, Semaphore
from threading import enumerate as threads
from typing import Any

import pytest

from inside import kept_connections
from integration.loops import open_async, run
from listeners import see_that_nobody_listens, until
from processes import PATIENCE
from resolution_ledger import AsyncResolutionLedger, LedgerClosed, ResolutionLedger, Won
from resolution_ledger.infra.store import EventStore
from samples import WORKSPACE, instance, record, response


@pytest.fixture(autouse=True)
def nobody_is_left() -> Iterator[None]:
    """Nobody waits afterwards, and no thread looks or is kept for calls."""
    yield
    see_that_nobody_listens()
    until(lambda: not kept_threads())


def kept_threads() -> list[str]:
    """The threads in which calls are made."""
    return [one.name for one in threads() if one.name.startswith("resolution-ledger")]


class Slow:
    """A ledger in which a call stands in the middle of a write, until it may go on."""

    def __init__(self, path: Path) -> None:
        self.inside, self.go_on = Event(), Event()
        self.ledger = open_async(path, clock=self._clock)

    def _clock(self) -> int:
        self.inside.set()
        assert self.go_on.wait(PATIENCE)
        return 0

    async def resolve(self) -> asyncio.Task[Any]:
        """A call that stands."""
        resolving = asyncio.ensure_future(self.ledger.resolve(record(1, 1, 1)))
        assert await asyncio.to_thread(self.inside.wait, PATIENCE)
        return resolving


async def see_that_it_is_closed(ledger: AsyncResolutionLedger) -> None:
    """Sooner or later. Then every call says so, and nothing is kept open."""
    async with asyncio.timeout(PATIENCE):
        while kept_threads():  # noqa: ASYNC110 (nothing tells)
            await asyncio.sleep(0.001)
    calls: list[Callable[[], Awaitable[object]]] = [
        ledger.create,
        lambda: ledger.resolve(record(1, 1, 1)),
        lambda: ledger.wait(instance(1)),
        lambda: ledger.winner(instance(1)),
        lambda: anext(ledger.watch()),
    ]
    for call in calls:
        with pytest.raises(LedgerClosed):
            await call()
    assert kept_connections(ledger) == []  # type: ignore[arg-type]
    await ledger.close()


async def leave(ledger: AsyncResolutionLedger, inside: Event) -> None:
    """Leave its block at once, as soon as a call stands."""
    async with ledger:
        await asyncio.to_thread(inside.wait, PATIENCE)


@pytest.mark.parametrize("again", [1, 3])
def test_a_block_that_is_cancelled_while_it_is_left_closes_its_ledger(
    path: Path, again: int
) -> None:
    """However often it is."""

    async def ask() -> None:
        slow = Slow(path)
        await slow.ledger.create()
        resolving = await slow.resolve()
        for _ in range(again):
            leaving = asyncio.ensure_future(leave(slow.ledger, slow.inside))
            await asyncio.wait([leaving], timeout=0.1)
            assert not leaving.done()
            leaving.cancel()
            with pytest.raises(asyncio.CancelledError):
                await leaving
        assert not resolving.done()
        slow.go_on.set()
        assert await resolving == Won()
        await see_that_it_is_closed(slow.ledger)

    run(ask())


def test_a_block_that_runs_out_of_time_while_it_is_left_closes_its_ledger(path: Path) -> None:
    async def ask() -> None:
        slow = Slow(path)
        await slow.ledger.create()
        resolving = await slow.resolve()
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(slow.ledger.close(), 0.1)
        slow.go_on.set()
        assert await resolving == Won()
        await see_that_it_is_closed(slow.ledger)

    run(ask())


def test_a_close_goes_on_while_more_calls_wait_than_there_are_threads_for(path: Path) -> None:
    """They end as they would have. Those that come afterwards are refused."""

    async def ask() -> None:
        slow = Slow(path)
        await slow.ledger.create()
        resolving = await slow.resolve()
        calls = [asyncio.ensure_future(slow.ledger.resolve(record(n, n, n))) for n in range(2, 50)]
        calls += [asyncio.ensure_future(slow.ledger.wait(instance(n))) for n in range(100, 150)]
        await asyncio.sleep(0)
        closing = asyncio.ensure_future(slow.ledger.close())
        await asyncio.wait([closing], timeout=0.1)
        closing.cancel()
        await asyncio.wait([closing])
        slow.go_on.set()
        assert await resolving == Won()
        told = await asyncio.gather(*calls, return_exceptions=True)
        assert all(one == Won() or isinstance(one, LedgerClosed) for one in told)
        await see_that_it_is_closed(slow.ledger)
        with ResolutionLedger.open(path, workspace=WORKSPACE) as ledger:
            recorded = [ledger.winner(instance(n)) for n in range(2, 50)]
        assert recorded == [
            response(n) if one == Won() else None
            for n, one in zip(range(2, 50), told, strict=False)
        ]

    run(ask())


def test_a_close_that_is_cancelled_before_there_is_a_thread_for_it_is_done(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All threads are with the database, reading."""
    standing, go_on, history = Semaphore(0), Event(), EventStore.history

    def slowly(*asked: Any) -> object:
        standing.release()
        assert go_on.wait(PATIENCE)
        return history(*asked)

    async def ask() -> None:
        ledger = open_async(path)
        await ledger.create()
        monkeypatch.setattr(EventStore, "history", slowly)
        reading = [asyncio.ensure_future(ledger.history(instance(1))) for _ in range(8)]
        for _ in reading:
            assert await asyncio.to_thread(standing.acquire, timeout=PATIENCE)
        closing = asyncio.ensure_future(ledger.close())
        await asyncio.wait([closing], timeout=0.05)
        closing.cancel()
        await asyncio.wait([closing])
        go_on.set()
        for told in await asyncio.gather(*reading, return_exceptions=True):
            assert told == () or isinstance(told, LedgerClosed)
        await see_that_it_is_closed(ledger)

    run(ask())


def test_a_close_whose_loop_has_ended_is_done_all_the_same(
    path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """And nobody hears of it."""
    slow = Slow(path)

    async def ask() -> None:
        await slow.ledger.create()
        await slow.resolve()
        closing = asyncio.ensure_future(slow.ledger.close())
        await asyncio.wait([closing], timeout=0.1)

    run(ask())
    slow.go_on.set()
    until(lambda: not kept_threads())
    run(see_that_it_is_closed(slow.ledger))
    assert caplog.messages == []
    with ResolutionLedger.open(path, workspace=WORKSPACE) as ledger:
        assert ledger.winner(instance(1)) == response(1)


def test_a_ledger_that_was_never_used_can_be_closed(path: Path) -> None:
    async def ask() -> None:
        ledger = open_async(path)
        async with ledger:
            pass
        await see_that_it_is_closed(ledger)

    run(ask())
    assert not path.exists()


def test_a_ledger_is_closed_in_another_loop_than_it_was_used_in(path: Path) -> None:
    ledger = open_async(path)
    assert run(ledger.resolve(record(1, 1, 1))) == Won()
    with ThreadPoolExecutor(1) as others:
        others.submit(run, ledger.close()).result(PATIENCE)
    run(see_that_it_is_closed(ledger))
