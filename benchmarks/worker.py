"""A process that competes: it gets jobs through a pipe, and sends what its threads did."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, suppress
from itertools import count
from multiprocessing.connection import Connection
from pathlib import Path
from threading import Barrier, BrokenBarrierError
from typing import Any, NamedTuple

from resolution_ledger import (  # type: ignore[import-not-found, unused-ignore]
    ResolutionRecord,
)

from .contender import Contender, WrongAnswer
from .kinds import KINDS
from .measurements import Durability
from .submissions import Minter
from .waits import Calls

_APART = 10**9
"""Between the numbers of two workers' submissions."""


_NO_CAUSE = (BrokenBarrierError, type(None))
"""How those end who only waited for a thread that failed, or who did not fail."""


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
    """A worker's submissions, which are used again for each job, on another file."""

    def __init__(self, first: int) -> None:
        self._first = first
        self._records: list[ResolutionRecord] = []

    def prepare(self, number: int, contender: Contender) -> Callable[[], Iterator[Any]]:
        """Have so many ready, in the form that the contender takes.

        To be called by each thread, for the next of them all as long as it asks.
        """
        for missing in range(len(self._records), number):
            self._records.append(self._mint(missing))
        ready = [contender.submission(record) for record in self._records[:number]]
        numbers = count()  # for all threads: whoever is faster does more

        def take() -> Iterator[Any]:
            for each in numbers:
                if each < number:
                    yield ready[each]
                else:
                    yield contender.submission(self._mint(each))

        return take

    def _mint(self, number: int) -> ResolutionRecord:
        (record,) = Minter(self._first + 2 * number).first_attempts(1)
        return record


def work(number: int, pipe: Connection) -> None:
    """Do jobs until there is None."""
    stock = Stock((number + 1) * _APART)
    while (job := pipe.recv()) is not None:
        pipe.send(do(job, stock, pipe))


def do(job: Job, stock: Stock, pipe: Connection) -> list[Calls]:
    """Get ready, say so, begin at the time that is the answer, and return what each thread did."""
    kind = KINDS[job.kind]
    with (
        kind.open(job.path, job.durability) as contender,
        ThreadPoolExecutor(job.threads) as threads,
    ):
        take = stock.prepare(job.prepared, contender)
        gc.collect()
        gc.freeze()  # what is prepared is not looked through while the clock runs
        ready, begin = Barrier(job.threads + 1), Barrier(job.threads + 1)
        start = 0.0

        def run() -> Calls:
            with ExitStack() as own:
                try:
                    resolve = contender.resolve
                    if not kind.shared:
                        resolve = own.enter_context(kind.open(job.path, job.durability)).resolve
                    ready.wait()
                    begin.wait()
                except BaseException:
                    ready.abort()  # the others are not to wait for this one
                    raise
                calls, answers = compete(resolve, take(), start, job.seconds)
                for outcome in map(contender.outcome, answers):
                    if outcome != "won":
                        raise WrongAnswer(f"{contender.name}: {outcome} instead of won")
                return calls

        running = [threads.submit(run) for _ in range(job.threads)]
        with suppress(BrokenBarrierError):  # whoever broke it says why
            ready.wait()
            pipe.send(None)
            start = pipe.recv()
            begin.wait()
    gc.unfreeze()
    errors = (each.exception() for each in running)
    if error := next((each for each in errors if not isinstance(each, _NO_CAUSE)), None):
        raise error
    return [each.result() for each in running]


def compete(
    resolve: Callable[[Any], object], submissions: Iterable[Any], start: float, seconds: float
) -> tuple[Calls, list[object]]:
    """Win one instance after the other, from a moment on, for so many seconds.

    Returns what the calls took, and what they returned.

    Whoever comes too late, since others kept it from running at all, has waited from the start:
    its first call began then.
    """
    clock = time.time  # the one that all processes share
    end = start + seconds
    took: list[float] = []
    answers: list[object] = []
    time.sleep(max(0.0, start - clock()))
    for submission in submissions:
        before = clock() if took else start
        answers.append(resolve(submission))
        now = clock()
        took.append(now - before)
        if now > end:
            break
    return Calls(took), answers
