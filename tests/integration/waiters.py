"""Workers for the tests of waiting: other processes, and what interrupts those who wait."""

from __future__ import annotations

import asyncio
import os
import random
import signal
from collections.abc import Callable, Iterable
from multiprocessing.synchronize import Barrier
from threading import Thread
from typing import Any

from integration.forking import Forked
from listeners import (
    listeners,
    see_that_nobody_listens,
    somebody_looks,
    until,
    until_listening,
)
from processes import PATIENCE
from resolution_ledger import AsyncResolutionLedger, Closed, LedgerClosed, ResolutionLedger
from resolution_ledger.infra import news
from samples import OTHER_WORKSPACE, WORKSPACE, instance, record, response

AGAIN = 0.05
"""Seconds until the next signal: Python does not notice one that comes just as a thread falls
asleep, before it is woken."""


class Interruption(Exception):
    """What a handler raises."""


def open_at(path: str, **options: Any) -> ResolutionLedger:
    """A ledger object that waits long enough for any lock, and for no disk."""
    return ResolutionLedger.open(
        path, workspace=WORKSPACE, durability="normal", lock_timeout=PATIENCE, **options
    )


def end_each(_: Barrier, path: str, answered: Iterable[int], closed: Iterable[int]) -> None:
    """Answer some instances, each with the response of its number, and close others."""
    with open_at(path) as ledger:
        for n in answered:
            ledger.resolve(record(n, n, n))
        for n in closed:
            ledger.withdraw(instance(n), "expired")


def append_in_both_workspaces(barrier: Barrier, path: str, number: int, count: int) -> None:
    """Attempts that win, lose and are fenced, as fast as they can be written."""
    with (
        open_at(path) as ours,
        ResolutionLedger.open(path, workspace=OTHER_WORKSPACE, lock_timeout=PATIENCE) as theirs,
    ):
        barrier.wait()
        for n in range(count):
            door = (ours, theirs)[n % 2]
            door.resolve(record(1_000 * (n % 2) + n, number, number))


def fork_while_a_thread_waits(_: Barrier, path: str) -> dict[str, object]:
    """Parent and child go on, and each is told of what the other one has done."""
    ledger = open_at(path)
    ledger.create()
    told: list[object] = []
    thread = Thread(target=lambda: told.append(ledger.wait(instance(1))))
    thread.start()
    until_listening()
    until(somebody_looks)

    def child() -> list[object]:
        seen: list[object] = [listeners(), somebody_looks()]
        seen += [ledger.wait(instance(1), 0.01), type(ledger.resolve(record(2, 2, 2))).__name__]
        seen += [ledger.wait(instance(3)), ledger.wait(instance(2))]
        ledger.resolve(record(1, 1, 1))
        see_that_nobody_listens()
        return seen

    forked = Forked().run(child)
    seen = ledger.wait(instance(2))
    ledger.resolve(record(3, 3, 3))
    thread.join(PATIENCE)
    return {"child": forked.result(), "parent": seen, "thread": told}


def fork_inside_a_wait(_: Barrier, path: str) -> list[object]:
    """A handler forks while the main thread waits: both processes wait on, and both are told."""
    ledger = open_at(path)
    ledger.create()
    children: list[int] = []
    receiving, sending = os.pipe()

    def fork(*_: object) -> None:
        children.append(os.fork())

    signal.signal(signal.SIGALRM, fork)
    signal.setitimer(signal.ITIMER_REAL, 0.2)

    def resolve_after_the_fork() -> None:
        until(lambda: children)
        ledger.resolve(record(1, 1, 1))

    thread = Thread(target=resolve_after_the_fork)
    thread.start()
    told = ledger.wait(instance(1))
    if children == [0]:
        left = f"{told == response(1)} {listeners()}"
        os.write(sending, left.encode())
        os._exit(0)
    thread.join(PATIENCE)
    os.waitpid(children[0], 0)
    return [told, os.read(receiving, 100).decode()]


def wait_under_fire(_: Barrier, path: str, interruptions: int, seed: int) -> dict[str, object]:
    """Wait and be interrupted, so many times; then say what is left of it."""
    draw = random.Random(seed)  # noqa: S311 (a reproducible draw, no secret)

    def interrupt(*_: object) -> None:
        signal.setitimer(signal.ITIMER_REAL, 5)  # not while this one is being handled
        raise Interruption

    signal.signal(signal.SIGALRM, interrupt)
    left = 0
    with open_at(path) as ledger:
        ledger.create()
        calls: list[Callable[[], object]] = [
            lambda: ledger.wait(instance(1)),
            lambda: next(ledger.watch()),
            lambda: ledger.wait(instance(1), 0.0001),
        ]
        for _ in range(interruptions):
            call = draw.choice(calls)
            try:
                longest = draw.choice((0.0003, 0.003))
                signal.setitimer(signal.ITIMER_REAL, draw.uniform(0.00001, longest), AGAIN)
                while True:
                    call()
            except Interruption:
                signal.setitimer(signal.ITIMER_REAL, 0)
                left += listeners()
        news.announce = lambda *_: None  # so that only the thread can tell
        thread = Thread(target=lambda: (until_listening(), ledger.resolve(record(1, 1, 1))))
        thread.start()
        told = ledger.wait(instance(1), PATIENCE)
        thread.join()
    see_that_nobody_listens()
    return {"left": left, "told": told}


def wait_and_handle(_: Barrier, path: str, what: str, times: int) -> list[object]:
    """A handler uses the ledger for which the call that it interrupts is waiting."""
    draw = random.Random(what)  # noqa: S311 (as above)
    told: list[object] = []
    with open_at(path) as keeper:
        keeper.create()
    for n in range(times):
        ledger, attempt, another = open_at(path), record(n, 1, 1), instance(times + 1)

        def handler(*_: object) -> None:
            signal.setitimer(signal.ITIMER_REAL, 0)
            if what == "closes":
                ledger.close()  # noqa: B023 (it is called in this round)
                return
            if what == "waits":
                assert ledger.wait(another, 0.001) is None  # noqa: B023 (as above)
            ledger.resolve(attempt)  # noqa: B023 (as above)

        signal.signal(signal.SIGALRM, handler)
        longest = draw.choice((0.0003, 0.003))
        signal.setitimer(signal.ITIMER_REAL, draw.uniform(0.00001, longest), AGAIN)
        try:
            told.append(ledger.wait(attempt.instance, PATIENCE))
        except LedgerClosed:
            told.append(Closed("withdrawn"))
        signal.setitimer(signal.ITIMER_REAL, 0)
        ledger.close()
    see_that_nobody_listens()
    return told


def fork_with_an_async_ledger(_: Barrier, path: str) -> dict[str, object]:
    """Its threads stay behind in the parent."""
    ledger = AsyncResolutionLedger.open(path, workspace=WORKSPACE, lock_timeout=PATIENCE)

    async def use(own: int, other: int) -> list[object]:
        async with asyncio.timeout(PATIENCE / 2):
            answer = await ledger.resolve(record(own, own, own))
            return [type(answer).__name__, await ledger.wait(instance(other))]

    asyncio.run(ledger.create())
    forked = Forked().run(lambda: asyncio.run(use(2, 1)))
    return {"parent": asyncio.run(use(1, 2)), "child": forked.result()}
