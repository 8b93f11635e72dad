"""What ``verify`` and ``rebuild`` take on a large ledger, beside a plain copy, and who waits.

``python -m benchmarks.long_runs --events 1000000``: a ledger is built, its read models are
copied by plain SQL, verified, emptied and rebuilt, alone and while four processes write.
"""

from __future__ import annotations

import argparse
import multiprocessing
import resource
import sqlite3
from collections.abc import Callable
from contextlib import closing
from itertools import chain
from multiprocessing.synchronize import Barrier, Event
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter, sleep
from typing import Any, NamedTuple

from resolution_ledger import (  # type: ignore[import-not-found, unused-ignore]
    IdempotencyKey,
    InstanceId,
    LedgerAdmin,
    Report,
    ResolutionLedger,
    ResolutionRecord,
    ResponseId,
)
from resolution_ledger.infra.sqlite.connection import (  # type: ignore[import-not-found, unused-ignore]
    OpenConnection,
)

from .big_ledger import build, mixed
from .submissions import WORKSPACE

WRITERS = 4
_ALONE = 20.0
"""Seconds for which the writers run without a rebuild."""

_COPY = """
    CREATE TABLE copied_winners (
        instance_id TEXT PRIMARY KEY NOT NULL, workspace_key TEXT NOT NULL,
        response_id TEXT NOT NULL, idempotency_key TEXT NOT NULL, resolved_tick INTEGER NOT NULL
    ) WITHOUT ROWID;
    CREATE TABLE copied_losers (
        sequence INTEGER PRIMARY KEY NOT NULL, instance_id TEXT NOT NULL,
        position INTEGER NOT NULL, outcome TEXT NOT NULL, workspace_key TEXT NOT NULL,
        response_id TEXT NOT NULL, idempotency_key TEXT NOT NULL, submitted_by TEXT NOT NULL,
        attempted_tick INTEGER NOT NULL
    );
    CREATE INDEX copied_newest ON copied_losers (workspace_key) WHERE outcome <> 'replayed';
"""
_EMPTY = "DELETE FROM interaction_resolutions; DELETE FROM losing_attempts"


def plain_copy(path: Path) -> float:
    """Rows a second in which SQL copies the finished read models, in the order of their keys."""
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.executescript(_COPY)
        began = perf_counter()
        rows = sum(
            connection.execute(f"INSERT INTO {copy} SELECT * FROM {table} ORDER BY 1").rowcount
            for copy, table in (
                ("copied_winners", "interaction_resolutions"),
                ("copied_losers", "losing_attempts"),
            )
        )
        took = perf_counter() - began
        connection.executescript("DROP TABLE copied_winners; DROP TABLE copied_losers")
    return rows / took


def run(path: Path, method: str, results: multiprocessing.Queue[Any]) -> None:
    """In a process of its own: events a second, findings, memory, and the longest write lock."""
    longest = _watch_the_lock()
    with LedgerAdmin.open(path) as admin:
        call: Callable[[], Report] = getattr(admin, method)
        began = perf_counter()
        report = call()
        took = perf_counter() - began
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    results.put((report.length / took, report.count, memory, longest[0]))


def _watch_the_lock() -> list[float]:
    """Have the longest time between a lock and the end of its commit recorded."""
    longest, began = [0.0], [0.0]
    begin, commit = OpenConnection.begin, OpenConnection.commit

    def timed_begin(self: OpenConnection) -> None:
        begin(self)
        began[0] = perf_counter()

    def timed_commit(self: OpenConnection) -> None:
        commit(self)
        longest[0] = max(longest[0], perf_counter() - began[0])

    OpenConnection.begin, OpenConnection.commit = timed_begin, timed_commit
    return longest


class Waits(NamedTuple):
    """What four writers met with."""

    rate: float
    """Wins a second, of all together."""
    rare: float
    """Seconds that one call in a thousand took, or longer."""
    longest: float

    def __str__(self) -> str:
        return (
            f"{self.rate:,.0f} wins/s, one in a thousand waits {self.rare * 1000:.0f} ms,"
            f" the longest {self.longest * 1000:.0f} ms"
        )


def write(
    path: Path, number: int, ready: Barrier, stop: Event, results: multiprocessing.Queue[Any]
) -> None:
    """A writer: win after win until told to stop; what each took."""
    took: list[float] = []
    response = ResponseId.mint("yes")
    with ResolutionLedger.open(path, workspace=WORKSPACE, lock_timeout=60) as ledger:
        ready.wait()
        while not stop.is_set():
            instance = InstanceId.mint([number, len(took), perf_counter()])
            began = perf_counter()
            ledger.resolve(ResolutionRecord(instance, response, IdempotencyKey(str(len(took)))))
            took.append(perf_counter() - began)
    results.put(took)


def with_writers(path: Path, meanwhile: Callable[[], None]) -> Waits:
    """What four writers meet with while something else goes on."""
    context = multiprocessing.get_context("spawn")
    ready, stop, results = context.Barrier(WRITERS + 1), context.Event(), context.Queue()
    writers = [
        context.Process(target=write, args=(path, number, ready, stop, results))
        for number in range(WRITERS)
    ]
    for writer in writers:
        writer.start()
    ready.wait()
    began = perf_counter()
    meanwhile()
    stop.set()
    took = sorted(chain.from_iterable(results.get() for _ in writers))
    lasted = perf_counter() - began
    for writer in writers:
        writer.join()
    return Waits(len(took) / lasted, took[-1 - len(took) // 1000], took[-1])


def main() -> None:
    """``python -m benchmarks.long_runs``."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.long_runs", description=__doc__)
    parser.add_argument("--events", type=int, default=1_000_000)
    parser.add_argument("--dir", metavar="DIR", help="where the files go, on the disk to measure")
    options = parser.parse_args()
    context = multiprocessing.get_context("spawn")

    def alone(method: str) -> tuple[float, int, float, float]:
        results = context.Queue()
        process = context.Process(target=run, args=(path, method, results))
        process.start()
        measured: tuple[float, int, float, float] = results.get()
        process.join()
        return measured

    def empty() -> None:
        with closing(sqlite3.connect(path, timeout=60)) as connection:
            connection.executescript(_EMPTY)

    with TemporaryDirectory(dir=options.dir) as directory:
        path = Path(directory) / "big.db"
        build(path, mixed(options.events))
        plain = plain_copy(path)
        print(f"plain copy of the read models: {plain:,.0f} rows/s")

        def show(what: str, measured: tuple[float, int, float, float]) -> None:
            rate, count, memory, longest = measured
            print(
                f"{what}: {rate:,.0f} events/s, {rate / plain:.3f} of the copy,"
                f" {count:,} findings, {memory:.0f} MB, longest write lock {longest * 1000:.0f} ms",
                flush=True,
            )

        show("verify, nothing wrong", alone("verify"))
        show("rebuild, nothing wrong", alone("rebuild"))
        empty()
        show("verify, emptied", alone("verify"))
        show("rebuild, emptied", alone("rebuild"))
        print(f"four writers alone: {with_writers(path, lambda: sleep(_ALONE))}")
        empty()
        beside = with_writers(
            path, lambda: show("rebuild, emptied, beside four writers", alone("rebuild"))
        )
        print(f"four writers beside it: {beside}")
        show("verify afterwards", alone("verify"))


if __name__ == "__main__":
    main()
