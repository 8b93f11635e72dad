"""A process that competes: it gets jobs through a pipe, and sends what its threads did."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack
from itertools import chain
from multiprocessing.connection import Connection
from pathlib import Path
from threading import Barrier, Thread
from typing import Any, NamedTuple

from resolution_ledger import (  # type: ignore[import-not-found, unused-ignore]
    ResolutionRecord,
)

from .contender import Contender
from .kinds import KINDS
from .measurements import Durability
from .submissions import Minter
from .waits import Calls

_APART = 10**9
"""Between the numbers of two workers' submissions."""


class Job(NamedTuple):
    """What all workers do at the same time."""

    kind: str
    path: Path
    durability: Durability
    threads: int
    seconds: float
    prepared: int
    """How many submissions each worker has ready. Whoever does more mints them between its
    calls, which counts against its throughput and not among its waits."""


class Stock:
    """Submissions that are used again for each job, on another file."""

    def __init__(self, minter: Minter) -> None:
        self._minter = minter
        self._records: list[ResolutionRecord] = []

    def __call__(self, contender: Contender, prepared: int) -> Iterator[Any]:
        """So many in the form that the contender takes, and more as they are asked for."""
        if missing := prepared - len(self._records):
            self._records += self._minter.first_attempts(max(missing, 0))
        ready = [contender.submission(record) for record in self._records[:prepared]]
        gc.collect()
        gc.freeze()  # what is prepared is not looked through while the clock runs
        return chain(ready, map(contender.submission, self._later(prepared)))

    def _later(self, number: int) -> Iterator[ResolutionRecord]:
        while True:
            if number == len(self._records):
                self._records += self._minter.first_attempts(1)
            yield self._records[number]
            number += 1


def work(number: int, pipe: Connection) -> None:
    """Do jobs until there is None."""
    stock = Stock(Minter((number + 1) * _APART))
    while (job := pipe.recv()) is not None:
        pipe.send(do(job, stock, pipe))


def do(job: Job, stock: Stock, pipe: Connection) -> list[Calls]:
    """Get ready, say so, begin at the time that is the answer, and return what each thread did."""
    kind = KINDS[job.kind]
    with ExitStack() as stack:
        contender = stack.enter_context(kind.open(job.path, job.durability))
        submissions = stock(contender, job.prepared)
        ready, begin = Barrier(job.threads + 1), Barrier(job.threads + 1)
        took: list[list[float]] = [[] for _ in range(job.threads)]
        start = 0.0

        def run(mine: list[float]) -> None:
            with ExitStack() as own:
                resolve = contender.resolve
                if not kind.shared:
                    resolve = own.enter_context(kind.open(job.path, job.durability)).resolve
                ready.wait()
                begin.wait()
                compete(resolve, submissions, start, job.seconds, mine)

        threads = [Thread(target=run, args=(mine,)) for mine in took]
        for thread in threads:
            thread.start()
        ready.wait()
        pipe.send(None)
        start = pipe.recv()
        begin.wait()
        for thread in threads:
            thread.join()
    gc.unfreeze()
    return [Calls(mine) for mine in took]


def compete(
    resolve: Callable[[Any], object],
    submissions: Iterable[Any],
    start: float,
    seconds: float,
    took: list[float],
) -> None:
    """Win one instance after the other, from a moment on, for so many seconds.

    Whoever comes too late, since others kept it from running at all, has waited from the start:
    its first call began then.
    """
    clock = time.time  # the one that all processes share
    end = start + seconds
    time.sleep(max(0.0, start - clock()))
    before = start
    for submission in submissions:
        resolve(submission)
        now = clock()
        took.append(now - before)
        if now > end:
            return
        before = clock()
