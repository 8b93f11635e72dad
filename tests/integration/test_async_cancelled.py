"""Calls that are cancelled, loops that end: made again, each call gets the one right answer."""

from __future__ import annotations

import asyncio
import gc
import logging
import os
import random
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from integration import waiters
from integration.loops import open_async, run, until_somebody_waits
from listeners import listeners, see_that_nobody_listens, until
from processes import PATIENCE, run_alone
from resolution_ledger import (
    AsyncResolutionLedger,
    Closed,
    LedgerAdmin,
    Replayed,
    ResolutionLedger,
    StoreUnavailable,
    Withdrawn,
    Won,
)
from samples import instance, record, response

CALLS = 1_000


@pytest.fixture(autouse=True)
def nobody_is_left() -> Iterator[None]:
    """Nobody waits afterwards, and no thread looks."""
    yield
    see_that_nobody_listens()


@pytest.mark.parametrize("seed", range(2))
def test_a_call_that_was_cancelled_at_any_moment_gets_its_answer_when_it_is_made_again(
    path: Path, seed: int
) -> None:
    draw = random.Random(seed)  # noqa: S311 (a reproducible draw, no secret)

    async def cancel_and_repeat(ledger: AsyncResolutionLedger, n: int) -> None:
        call, right = a_call(ledger, draw.randrange(4), n)
        first = asyncio.ensure_future(call())
        await asyncio.sleep(draw.choice((0, 0.0005, 0.005)) * draw.random())
        first.cancel()
        told = await asyncio.gather(first, return_exceptions=True)
        assert right(told[0]) or isinstance(told[0], asyncio.CancelledError)
        assert right(await call())

    async def ask() -> None:
        async with open_async(path, durability="normal") as ledger:
            await ledger.resolve(record(0, 0, 0))
            for begin in range(1, CALLS, 20):
                async with asyncio.TaskGroup() as tasks:
                    for n in range(begin, begin + 20):
                        tasks.create_task(cancel_and_repeat(ledger, n))
            assert listeners() == 0

    run(ask())
    with LedgerAdmin.open(path) as admin:
        assert admin.verify().clean
        attempts = Counter(
            (one.instance, one.response, one.idempotency_key, one.workspace)
            for one in admin.attempts()
        )
    assert set(attempts.values()) == {1}
    assert len(attempts) > CALLS / 3


def a_call(
    ledger: AsyncResolutionLedger, kind: int, n: int
) -> tuple[Callable[[], Awaitable[Any]], Callable[[object], bool]]:
    """Something to ask of instance ``n``, and whether an answer to it is right."""
    if kind == 0:
        return lambda: ledger.resolve(
            record(n, n, n)
        ), lambda told: told in {Won(), Replayed(response(n), own=True)}
    if kind == 1:
        return lambda: ledger.withdraw(
            instance(n), "expired"
        ), lambda told: told in {Withdrawn(), Closed("expired")}
    if kind == 2:
        return lambda: ledger.wait(instance(n), 0.002), lambda told: told is None
    return lambda: ledger.history(
        instance(0)
    ), lambda told: isinstance(told, tuple) and [one.response for one in told] == [response(0)]


def test_a_cancelled_wait_leaves_nobody(path: Path) -> None:
    async def ask() -> None:
        async with open_async(path) as ledger:
            await ledger.create()
            for wait in (lambda: ledger.wait(instance(1)), lambda: anext(ledger.watch())):
                waiting = asyncio.ensure_future(wait())
                await until_somebody_waits()
                waiting.cancel()
                await asyncio.wait([waiting])
                assert waiting.cancelled()
                assert listeners() == 0
            async with asyncio.timeout(PATIENCE):
                with pytest.raises(TimeoutError):
                    async with asyncio.timeout(0.05):
                        await ledger.wait(instance(1), PATIENCE)
            assert listeners() == 0

    run(ask())


async def wait_and_fail(ledger: AsyncResolutionLedger) -> None:
    async with asyncio.TaskGroup() as tasks:
        for n in range(50):
            tasks.create_task(ledger.wait(instance(n)))
        await until_somebody_waits(50)
        raise ZeroDivisionError


def test_a_task_group_that_fails_takes_its_waits_with_it(path: Path) -> None:
    async def ask() -> None:
        async with open_async(path) as ledger:
            await ledger.create()
            with pytest.raises(ExceptionGroup):
                await wait_and_fail(ledger)
            assert listeners() == 0
            assert await ledger.resolve(record(1, 1, 1)) == Won()

    run(ask())


def test_a_watch_that_is_left_half_way_leaves_nobody(path: Path) -> None:
    async def ask() -> None:
        async with open_async(path) as ledger:
            for n in range(3):
                await ledger.resolve(record(n, 1, 1))
            watch = ledger.watch()
            assert (await anext(watch)).sequence == 1
            assert listeners() == 0
            assert (await anext(watch)).sequence == 2

    run(ask())


@pytest.mark.parametrize("kept", [True, False], ids=["kept", "dropped"])
def test_a_loop_that_ends_while_somebody_waits_in_it_keeps_nobody_else_from_news(
    path: Path, ledger: ResolutionLedger, caplog: pytest.LogCaptureFixture, *, kept: bool
) -> None:
    """Nor does the thread that looks for all go on for ever on its account."""
    caplog.set_level(logging.CRITICAL, "asyncio")
    waiter, loop = open_async(path), asyncio.new_event_loop()
    loop.run_until_complete(waiter.create())
    tasks = [loop.create_task(waiter.wait(instance(n))) for n in range(5)]
    loop.run_until_complete(until_somebody_waits(5))
    loop.close()
    if not kept:
        tasks.clear()
    with ThreadPoolExecutor(1) as threads:
        waiting = threads.submit(ledger.wait, instance(1))
        until(lambda: listeners() == 1)  # those in the loop are forgotten
        with ResolutionLedger.open(path, workspace=ledger.workspace) as another:
            assert another.resolve(record(1, 1, 1)) == Won()
        assert waiting.result(PATIENCE) == response(1)
    see_that_nobody_listens()
    tasks.clear()
    gc.collect()
    run(waiter.close())


def test_one_ledger_may_serve_one_loop_after_another(path: Path) -> None:
    ledger = open_async(path)
    for n in range(3):
        assert run(ledger.resolve(record(n, 1, 1))) == Won()
        assert run(ledger.wait(instance(n))) == response(1)
        assert run(ledger.wait(instance(10 + n), 0.001)) is None
    run(ledger.close())


def test_where_no_thread_can_be_started_nobody_is_told_that_the_ledger_is_closed(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A call that is in the queue may be made all the same."""

    def submit(*_: object) -> None:
        raise RuntimeError("can't start new thread")

    async def ask() -> None:
        async with open_async(path) as ledger:
            with monkeypatch.context() as patch:
                patch.setattr(ThreadPoolExecutor, "submit", submit)
                with pytest.raises(StoreUnavailable, match="can't start new thread") as failed:
                    await ledger.resolve(record(1, 1, 1))
            assert failed.value.outcome_unknown
            assert await ledger.resolve(record(1, 1, 1)) == Won()

    run(ask())


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there are no forks here")
def test_a_child_can_go_on_with_the_ledger_that_its_parent_has_used(path: Path) -> None:
    told = run_alone(waiters.fork_with_an_async_ledger, str(path))
    assert told == {"child": ["Won", response(1)], "parent": ["Won", response(2)]}
