"""Workers with many threads at one ledger object: they race, and fork in the middle of it."""

from __future__ import annotations

import asyncio
import os
import signal
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from itertools import count
from multiprocessing.synchronize import Barrier
from threading import Event, Thread
from typing import Any, Self

from integration.forking import Forked
from integration.loops import open_async
from listeners import listeners, see_that_nobody_listens, somebody_looks, until, until_listening
from processes import PATIENCE
from resolution_ledger import ResolutionLedger, Won
from resolution_ledger.infra.sqlite import writer
from samples import WORKSPACE, instance, record, response

THREADS = 8
LOCK_TIMEOUT = 1.0
FORKS = 10
FAR = 100_000
"""Between the instances of one process and those of the next."""


def open_at(path: str) -> ResolutionLedger:
    """A ledger object that waits long enough for any lock, and for no disk."""
    return ResolutionLedger.open(
        path, workspace=WORKSPACE, durability="normal", lock_timeout=PATIENCE
    )


class Busy:
    """In here, threads win instances as fast as they can; afterwards, what each was told."""

    def __init__(self, ledger: ResolutionLedger, first: int) -> None:
        self.won = 0
        self.wrong: list[str] = []
        self._ledger, self._numbers, self._stop = ledger, count(first), Event()
        self._threads = [Thread(target=self._win) for _ in range(THREADS)]

    def _win(self) -> None:
        for n in self._numbers:
            if self._stop.is_set():
                return
            try:
                told = self._ledger.resolve(record(n, 1, 1))
            except Exception as error:  # noqa: BLE001 (the test is to show it)
                self.wrong.append(repr(error))
                return
            if told == Won():
                self.won += 1
            else:
                self.wrong.append(repr(told))

    def __enter__(self) -> Self:
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        for thread in self._threads:
            thread.join(PATIENCE)
            if thread.is_alive():
                self.wrong.append("a thread hangs")


def fork_among_threads(_: Barrier, path: str) -> tuple[int, list[str]]:
    """Fork while others resolve; both sides go on. How many wins there were; what went wrong."""
    ledger, children = open_at(path), list[Forked]()
    ledger.create()

    def child(first: int) -> tuple[int, list[str]]:
        with Busy(ledger, first) as busy:
            until(lambda: busy.won >= 20 or busy.wrong)
        return busy.won, busy.wrong

    with Busy(ledger, 0) as busy:
        for n in range(FORKS):
            before = busy.won
            until(lambda: busy.won > before + 5 or busy.wrong)  # noqa: B023 (called before it changes)
            children.append(Forked().run(partial(child, (n + 1) * FAR)))
    told = [(busy.won, busy.wrong), *(forked.result() for forked in children)]
    return sum(won for won, _ in told), [one for _, wrong in told for one in wrong]


def fork_while_the_call_waits(_: Barrier, path: str, until_done: bool) -> list[str]:  # noqa: FBT001
    """A handler forks while a call waits for another thread's turn, which ends only in the parent.

    What the call comes to, in the parent and in the child.
    """
    inside, go_on, children = Event(), Event(), list[int]()
    receiving, sending = os.pipe()

    def clock() -> int:
        if not inside.is_set():
            inside.set()
            assert go_on.wait(PATIENCE)
        return 0

    if not until_done:
        writer.PATIENCE = 0.1 - LOCK_TIMEOUT  # what a fork waits for, all in all, is 0.1 seconds
    timeout = PATIENCE if until_done else LOCK_TIMEOUT
    ledger = ResolutionLedger.open(path, workspace=WORKSPACE, lock_timeout=timeout, clock=clock)

    def fork(*_: object) -> None:
        children.append(os.fork())
        go_on.set()

    signal.signal(signal.SIGALRM, fork)
    thread = Thread(target=ledger.resolve, args=(record(1, 1, 1),))
    thread.start()
    assert inside.wait(PATIENCE)
    signal.setitimer(signal.ITIMER_REAL, 0.2)
    if until_done:
        Thread(target=lambda: (until(lambda: signal.getitimer(signal.ITIMER_REAL)[0] == 0),
                               go_on.set())).start()  # fmt: skip
    try:
        told = type(ledger.resolve(record(2, 2, 2))).__name__
    except Exception as error:  # noqa: BLE001 (whatever it is, the test is to show it)
        told = type(error).__name__
    if children == [0]:
        os.write(sending, told.encode())
        os._exit(0)
    thread.join(PATIENCE)
    os.close(sending)
    with os.fdopen(receiving, "rb") as results:
        seen = results.read().decode()
    os.waitpid(children[0], 0)
    return [told, seen]


def fork_inside_a_loop(_: Barrier, path: str) -> dict[str, object]:
    """A coroutine forks while others wait in its loop. What the child sees, and what they do."""

    async def ask() -> dict[str, object]:
        async with open_async(path) as ledger:
            await ledger.create()
            waits = [asyncio.ensure_future(ledger.wait(instance(n))) for n in (1, 2)]
            waits.append(asyncio.ensure_future(anext(ledger.watch())))
            while listeners() < 3 or not somebody_looks():  # noqa: ASYNC110 (nothing tells)
                await asyncio.sleep(0.001)
            woken: list[object] = []
            loop: Any = asyncio.get_running_loop()

            def child() -> list[object]:
                seen: list[object] = [listeners(), somebody_looks()]
                loop.call_soon_threadsafe = lambda *_: woken.append(1)
                with open_at(path) as own:
                    seen.append(type(own.resolve(record(1, 1, 1))).__name__)
                    with ThreadPoolExecutor(1) as threads:
                        waiting = threads.submit(own.wait, instance(3))
                        until_listening()
                        own.resolve(record(3, 3, 3))
                        seen.append(waiting.result(PATIENCE) == response(3))
                see_that_nobody_listens()
                return [*seen, len(woken)]

            forked = Forked().run(child)
            seen = await asyncio.to_thread(forked.result)
            told: list[object] = [await waits[0], (await waits[2]).sequence]
            await ledger.resolve(record(2, 2, 2))
            told.append(await waits[1])
            return {"child": seen, "parent": told}

    async def patiently() -> dict[str, object]:
        async with asyncio.timeout(PATIENCE):
            return await ask()

    told = asyncio.run(patiently())
    see_that_nobody_listens()
    return told
