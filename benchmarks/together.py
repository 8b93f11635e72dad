"""What threads get that share a ledger: ``python -m benchmarks.together``.

Beside a plain table to which each thread has a connection of its own. All of them win, each time
another instance, for some seconds.
"""

from __future__ import annotations

import argparse
import sqlite3
from collections.abc import Callable, Iterable
from contextlib import closing
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from threading import Barrier, Thread
from time import perf_counter
from typing import Any, NamedTuple, get_args

from resolution_ledger import (  # type: ignore[import-not-found, unused-ignore]
    ResolutionLedger,
    ResolutionRecord,
)

from .environment import environment
from .measurements import Durability
from .plain import CREATE, OneRow, Submission
from .submissions import WORKSPACE, Minter

_PATIENCE = 60.0
"""Seconds that a call waits for others."""

_MOST_A_SECOND = 40_000
"""Submissions to have ready: more than any contender gets done."""

Resolve = Callable[[Any], object]


class Crowd(NamedTuple):
    """What the threads got done."""

    a_second: float
    p99: float
    """Milliseconds."""
    longest: float


def run(
    open_one: Callable[[], Resolve], threads: int, submissions: Iterable[Any], seconds: float
) -> Crowd:
    """Have so many threads resolve one after the other of the submissions."""
    took: list[list[float]] = [[] for _ in range(threads)]
    start = Barrier(threads)
    left = iter(submissions)  # for all: whoever is faster does more

    def work(mine: list[float]) -> None:
        resolve = open_one()
        start.wait()
        now = perf_counter()
        end = now + seconds
        for submission in left:
            before = now
            resolve(submission)
            now = perf_counter()
            mine.append(now - before)
            if now > end:
                return

    crowd = [Thread(target=work, args=(mine,)) for mine in took]
    for thread in crowd:
        thread.start()
    for thread in crowd:
        thread.join()
    assert next(left, None) is not None, "there was not enough to do"
    calls = sorted(one for each in took for one in each)
    return Crowd(len(calls) / seconds, calls[len(calls) * 99 // 100] * 1000, calls[-1] * 1000)


def ours(
    path: Path, durability: Durability, threads: int, submissions: list[Any], seconds: float
) -> Crowd:
    """One ledger object for all threads."""
    with ResolutionLedger.open(
        path, workspace=WORKSPACE, durability=durability, lock_timeout=_PATIENCE
    ) as ledger:
        ledger.create()
        return run(lambda: ledger.resolve, threads, submissions, seconds)


def plain(
    path: Path, durability: Durability, threads: int, submissions: list[Any], seconds: float
) -> Crowd:
    """A connection for each thread."""
    connections: list[sqlite3.Connection] = []

    def open_one() -> Resolve:
        connection = sqlite3.connect(
            path, isolation_level=None, timeout=_PATIENCE, check_same_thread=False
        )
        connections.append(connection)
        connection.execute(f"PRAGMA synchronous = {durability}")
        return OneRow(connection).resolve

    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute(CREATE)
        crowd = run(open_one, threads, submissions, seconds)
    for connection in connections:
        connection.close()
    return crowd


def submission_of(record: ResolutionRecord) -> Submission:
    """The form that the plain table takes."""
    return Submission(
        record.instance.text, WORKSPACE, record.response.text, record.idempotency_key.text
    )


def measure(
    threads: int, seconds: float, durability: Durability, directory: str | None
) -> tuple[Crowd, Crowd]:
    """Ours, and the plain table, on fresh files."""
    records = Minter().first_attempts(int(_MOST_A_SECOND * seconds))
    forms = list(map(submission_of, records))
    with TemporaryDirectory(dir=directory) as folder:
        mine = ours(Path(folder, "ours.db"), durability, threads, records, seconds)
        return mine, plain(Path(folder, "plain.db"), durability, threads, forms, seconds)


def main() -> None:
    """Print a table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.together", description=__doc__)
    parser.add_argument("--threads", type=int, default=32)
    parser.add_argument("--seconds", type=float, default=3.0, help="for each contender")
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--dir", metavar="DIR", help="where the files go, on the disk to measure")
    options = parser.parse_args()
    print(", ".join(f"{name} {value}" for name, value in environment().items()))
    print(f"{options.threads} threads; medians of {options.repeat} runs, milliseconds")
    for durability in get_args(Durability):
        runs = [
            measure(options.threads, options.seconds, durability, options.dir)
            for _ in range(options.repeat)
        ]
        for name, crowds in zip(("ours", "plain"), zip(*runs, strict=True), strict=True):
            a_second, p99, longest = (median(column) for column in zip(*crowds, strict=True))
            print(
                f"{durability:7} {name:6} {a_second:8,.0f} wins a second"
                f"   p99 {p99:8.1f}   longest {longest:8.1f}"
            )


if __name__ == "__main__":
    main()
