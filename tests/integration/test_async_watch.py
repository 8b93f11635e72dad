"""A step of a watch may be cancelled and taken again: no event is missed, none comes twice."""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncIterator, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Event

import pytest

from integration.loops import open_async, run, until_somebody_waits
from listeners import listeners, see_that_nobody_listens
from processes import PATIENCE
from resolution_ledger import LedgerClosed, RecordedAttempt, ResolutionLedger
from resolution_ledger.infra.store import EventStore
from samples import OTHER_WORKSPACE, WORKSPACE, record

LENGTH = 1500
"""Events that are committed while somebody watches: more than are read at once."""


@pytest.fixture(autouse=True)
def nobody_is_left() -> Iterator[None]:
    """Nobody waits afterwards, and no thread looks."""
    yield
    see_that_nobody_listens()


def commit(path: Path, stop: Event, length: int = LENGTH) -> None:
    """Events of a workspace, and in between as many of another one."""
    with (
        ResolutionLedger.open(path, workspace=WORKSPACE, durability="normal") as ledger,
        ResolutionLedger.open(path, workspace=OTHER_WORKSPACE, durability="normal") as other,
    ):
        for n in range(length // 2):
            if stop.is_set():
                return
            ledger.resolve(record(n, n, n))
            other.resolve(record(10_000 + n, n, n))


class Committing:
    """In here, a thread commits."""

    def __init__(self, path: Path) -> None:
        self._path, self._stop = path, Event()
        self._threads = ThreadPoolExecutor(1)

    def __enter__(self) -> None:
        self._done = self._threads.submit(commit, self._path, self._stop)

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._done.result(PATIENCE)
        self._threads.shutdown()


OWN = [*range(1, LENGTH, 2)]
"""The sequences of the workspace's own events."""


def test_a_step_that_has_timed_out_can_be_taken_again(path: Path) -> None:
    async def ask() -> None:
        async with open_async(path) as ledger:
            await ledger.create()
            watch = ledger.watch()
            for n in range(1, 6):
                for _ in range(3):
                    with pytest.raises(TimeoutError):
                        await asyncio.wait_for(anext(watch), 0.01)
                await ledger.resolve(record(n, n, n))
                assert (await anext(watch)).sequence == n
            assert listeners() == 0

    run(ask())


def test_a_step_that_was_cancelled_while_it_waited_can_be_taken_again(path: Path) -> None:
    async def ask() -> None:
        async with open_async(path) as ledger:
            await ledger.create()
            watch = ledger.watch()
            for n in range(1, 20):
                step = asyncio.ensure_future(anext(watch))
                await until_somebody_waits()
                resolving = asyncio.ensure_future(ledger.resolve(record(n, n, n)))
                if n % 2:
                    await resolving  # so that it has been told, or is just about to be
                step.cancel()
                await resolving
                told = (await asyncio.gather(step, return_exceptions=True))[0]
                if isinstance(told, asyncio.CancelledError):
                    told = await anext(watch)
                assert told.sequence == n

    run(ask())


async def steps(watch: AsyncIterator[RecordedAttempt], seed: int, last: int) -> list[int]:
    """Take steps, many of which are cancelled at some moment, until the last event."""
    draw = random.Random(seed)  # noqa: S311 (a reproducible draw, no secret)
    told: list[int] = []
    while not told or told[-1] < last:
        step = asyncio.ensure_future(anext(watch))
        for _ in range(draw.randrange(4)):
            await asyncio.sleep(draw.choice((0, 0, 0.0005, 0.003)) * draw.random())
        if draw.randrange(3):
            step.cancel()
        (one,) = await asyncio.gather(step, return_exceptions=True)
        if isinstance(one, RecordedAttempt):
            told.append(one.sequence)
        else:
            assert isinstance(one, asyncio.CancelledError)
    return told


@pytest.mark.parametrize("seed", range(3))
def test_with_steps_cancelled_at_any_moment_none_is_missed_and_none_comes_twice(
    path: Path, seed: int
) -> None:
    async def ask() -> list[int]:
        async with open_async(path) as ledger:
            await ledger.create()
            with Committing(path):
                return await steps(ledger.watch(), seed, OWN[-1])

    assert run(ask()) == OWN


@pytest.mark.parametrize("tasks", [2, 5])
def test_tasks_that_take_steps_of_one_watch_get_each_event_once(path: Path, tasks: int) -> None:
    """Each in the order of commits."""

    async def take(watch: AsyncIterator[RecordedAttempt]) -> list[int]:
        told: list[int] = []
        try:
            async for attempt in watch:
                told.append(attempt.sequence)
                await asyncio.sleep(0)
        except LedgerClosed:
            pass
        return told

    async def ask() -> list[list[int]]:
        ledger = open_async(path)
        await ledger.create()
        watch = ledger.watch()
        taking = [asyncio.ensure_future(take(watch)) for _ in range(tasks)]
        with Committing(path):
            watched = ledger.watch()
            while (await anext(watched)).sequence < OWN[-1]:
                pass
        await until_somebody_waits(tasks)
        await ledger.close()
        return list(await asyncio.gather(*taking))

    told = run(ask())
    assert all(one == sorted(one) for one in told)
    assert sorted(sequence for one in told for sequence in one) == OWN


def test_tasks_of_which_some_are_cancelled_get_each_event_once(path: Path) -> None:
    async def ask() -> list[int]:
        async with open_async(path) as ledger:
            await ledger.create()
            watch, told = ledger.watch(), set[int]()
            draw = random.Random(0)  # noqa: S311 (a reproducible draw, no secret)
            with Committing(path):
                twice: list[int] = []
                while len(told) < len(OWN):
                    taking = [asyncio.ensure_future(anext(watch)) for _ in range(3)]
                    await asyncio.sleep(draw.choice((0, 0.002)) * draw.random())
                    for step in taking:
                        step.cancel()
                    for one in await asyncio.gather(*taking, return_exceptions=True):
                        if isinstance(one, RecordedAttempt):
                            twice += [one.sequence] * (one.sequence in told)
                            told.add(one.sequence)
            assert twice == []
            return sorted(told)

    assert run(ask()) == OWN


def test_a_step_that_fails_can_be_taken_again(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What could not be read then may be readable now."""
    next_page = EventStore.next_page
    failures = [ZeroDivisionError(), StopIteration()]

    def fail(*asked: object) -> object:
        if failures:
            raise failures.pop()
        return next_page(*asked)  # type: ignore[arg-type]

    async def ask() -> None:
        async with open_async(path) as ledger:
            await ledger.resolve(record(1, 1, 1))
            monkeypatch.setattr(EventStore, "next_page", fail)
            watch = ledger.watch()
            for error in (RuntimeError, ZeroDivisionError):
                with pytest.raises(error):
                    await anext(watch)
            assert (await anext(watch)).sequence == 1

    run(ask())
