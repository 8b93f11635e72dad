"""What waiting costs, and how soon it ends: ``python -m benchmarks.waiting``.

A waiter is woken by a win in its own process and by one in another process, a hundred waiters
idle, and an event loop goes on while calls are made and cancelled in it.
"""

from __future__ import annotations

import argparse
import asyncio
import multiprocessing
import random
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from time import perf_counter, process_time, sleep, time_ns
from typing import Any

from resolution_ledger import (  # type: ignore[import-not-found, unused-ignore]
    AsyncResolutionLedger,
    ResolutionLedger,
    ResolutionRecord,
)

from .environment import environment
from .submissions import WORKSPACE, Minter

WINS, WAITERS, CALLS = 300, 100, 1_000
_IDLE = 5.0
"""Seconds for which the waiters idle."""
_PAUSE = 0.15
"""Seconds before each win, at most: long enough for whoever looks to have become idle."""
_TICK = 0.001
"""Seconds after which the event loop is to come back."""

_Wins = list[tuple[ResolutionRecord, float]]
"""What to win with, and how long to pause before."""


def plan(minter: Minter, wins: int) -> _Wins:
    """Wins with irregular pauses between them, so that they meet every phase of the looking."""
    draw = random.Random(0)  # noqa: S311 (the same draw in every run, no secret)
    return [(record, draw.uniform(_PAUSE / 3, _PAUSE)) for record in minter.first_attempts(wins)]


def win_each(path: Path, wins: _Wins, told: Any) -> None:
    """Win, and tell when that was acknowledged, by the clock that all processes share."""
    with ResolutionLedger.open(path, workspace=WORKSPACE) as ledger:
        ledger.create()
        for record, pause in wins:
            sleep(pause)
            ledger.resolve(record)
            told.put(time_ns())


def latencies(path: Path, wins: _Wins, *, own_process: bool) -> list[float]:
    """Milliseconds from each acknowledged win to the return of the waiter, sorted.

    In one process the waiter may well be first: it is woken before the winner returns.
    """
    context = multiprocessing.get_context("spawn")
    told = context.Queue()
    woken = []
    with ResolutionLedger.open(path, workspace=WORKSPACE) as ledger, ThreadPoolExecutor() as pool:
        ledger.create()
        if own_process:
            winning = pool.submit(win_each, path, wins, told)
        else:
            winner = context.Process(target=win_each, args=(path, wins, told))
            winner.start()
        for record, _ in wins:
            assert ledger.wait(record.instance) == record.response
            woken.append(time_ns())
        won = [told.get() for _ in wins]
        if own_process:
            winning.result()
        else:
            winner.join()
    return sorted((after - before) / 1e6 for before, after in zip(won, woken, strict=True))


def idle(path: Path, minter: Minter, seconds: float) -> float:
    """The share of a core that a process takes in which many wait and nothing happens."""
    with (
        ThreadPoolExecutor(WAITERS) as pool,
        ResolutionLedger.open(path, workspace=WORKSPACE) as ledger,
    ):
        ledger.create()
        waits = [
            pool.submit(ledger.wait, record.instance, seconds + 1.0)
            for record in minter.first_attempts(WAITERS)
        ]
        sleep(0.5)
        began, busy = perf_counter(), process_time()
        sleep(seconds)
        share = (process_time() - busy) / (perf_counter() - began)
        assert not any(wait.done() for wait in waits)
        assert {wait.result() for wait in waits} == {None}
    return share


async def longest_stall(path: Path, minter: Minter, calls: int) -> tuple[float, float]:
    """Milliseconds by which the loop came back too late at worst: without and with calls."""
    stalls = [0.0]

    async def watch() -> None:
        before = perf_counter()
        while True:
            await asyncio.sleep(_TICK)
            now = perf_counter()
            stalls[-1] = max(stalls[-1], now - before - _TICK)
            before = now

    draw = random.Random(0)  # noqa: S311 (as above)
    async with AsyncResolutionLedger.open(path, workspace=WORKSPACE) as ledger:
        await ledger.create()
        records = minter.first_attempts(calls)
        watching = asyncio.create_task(watch())
        await asyncio.sleep(1)
        stalls.append(0.0)

        async def call(record: ResolutionRecord, n: int) -> None:
            work: Callable[[], Any] = (
                lambda: ledger.resolve(record),
                lambda: ledger.wait(record.instance, 0.01),
                lambda: ledger.history(record.instance),
                lambda: ledger.withdraw(record.instance, "expired"),
            )[n % 4]
            calling = asyncio.ensure_future(work())
            await asyncio.wait([calling], timeout=draw.uniform(0, 0.01))
            calling.cancel()
            await asyncio.gather(calling, return_exceptions=True)
            await work()

        for begin in range(0, calls, 50):
            batch = enumerate(records[begin : begin + 50], start=begin)
            await asyncio.gather(*(call(record, n) for n, record in batch))
        watching.cancel()
    return stalls[0] * 1000, stalls[1] * 1000


def line(what: str, measured: str, wanted: str = "") -> None:
    """Print a row."""
    print(f"{what:<50} {measured:>12}   {wanted}", flush=True)


def show(what: str, took: list[float], wanted: tuple[str, str] = ("", "")) -> None:
    """Print the ordinary and the rare latency."""
    line(f"{what}, median", f"{median(took):.2f} ms", wanted[0])
    line(f"{what}, p99", f"{took[-1 - len(took) // 100]:.2f} ms", wanted[1])


def main() -> None:
    """``python -m benchmarks.waiting``."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.waiting", description=__doc__)
    parser.add_argument("--wins", type=int, default=WINS, help=f"wins to wait for ({WINS})")
    parser.add_argument("--seconds", type=float, default=_IDLE, help=f"of idling ({_IDLE:.0f})")
    parser.add_argument("--dir", metavar="DIR", help="where the files go, on the disk to measure")
    options = parser.parse_args()
    print(", ".join(f"{what} {value}" for what, value in environment().items()))
    minter = Minter()
    with TemporaryDirectory(dir=options.dir) as directory:
        there, here, quiet, called = (Path(directory) / f"{n}.db" for n in range(4))
        took = latencies(there, plan(minter, options.wins), own_process=False)
        show("a win in another process", took, ("at most 20 ms", "at most 100 ms"))
        show(
            "a win in the same process",
            latencies(here, plan(minter, options.wins), own_process=True),
        )
        share = idle(quiet, minter, options.seconds)
        line(f"{WAITERS} idle waiters, share of a core", f"{share:.2%}", "under 2 %")
        alone, stall = asyncio.run(longest_stall(called, minter, CALLS))
        line("longest stall of an idle event loop", f"{alone:.1f} ms")
        line(f"the same with {CALLS:,} calls, each cancelled", f"{stall:.1f} ms", "under 50 ms")


if __name__ == "__main__":
    main()
