"""Real processes: each starts fresh, with connections of its own, and all start at once.

A worker is a function in a module that a fresh process can import: one of those here, or one
in a helper module beside the tests. Its first parameter is the barrier at which all wait.
"""

from __future__ import annotations

import multiprocessing
import sqlite3
import traceback
from collections.abc import Callable, Iterable, Sequence
from contextlib import closing
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from multiprocessing.synchronize import Barrier
from typing import Any

from resolution_ledger import (
    Closed,
    Lost,
    Replayed,
    ResolutionLedger,
    ResolutionRecord,
    Won,
)
from samples import WORKSPACE, record

PATIENCE = 120.0
"""Seconds after which a process counts as hanging. Nothing is ever asserted to be faster."""

Answers = list[Won | Lost | Replayed | Closed]

spawning = multiprocessing.get_context("spawn")


def run_together(worker: Callable[..., Any], arguments: Sequence[tuple[Any, ...]]) -> list[Any]:
    """What ``worker(barrier, *arguments[n])`` returns, each in a process of its own.

    :raises AssertionError: with the traceback of the first worker that raised or died.
    """
    barrier = spawning.Barrier(len(arguments), timeout=PATIENCE)
    started = [_start(worker, barrier, own) for own in arguments]
    try:
        reports = [_report(process, results) for process, results in started]
    finally:
        for process, results in started:
            _end(process, results)
    failures = [failure for failure, _ in reports if failure]
    # A worker that fails breaks the barrier for the others, whose errors say nothing.
    failures.sort(key=lambda failure: "BrokenBarrierError" in failure)
    assert not failures, failures[0]
    return [result for _, result in reports]


def run_alone(worker: Callable[..., Any], *arguments: Any) -> Any:
    """What ``worker(barrier, *arguments)`` returns in one fresh process."""
    (result,) = run_together(worker, [arguments])
    return result


def _start(
    worker: Callable[..., Any], barrier: Barrier, arguments: tuple[Any, ...]
) -> tuple[BaseProcess, Connection]:
    receiving, sending = spawning.Pipe(duplex=False)
    process = spawning.Process(target=_work, args=(sending, worker, barrier, arguments))
    process.start()
    sending.close()  # so that the death of the process is seen as the end of its results
    return process, receiving


def _work(
    results: Connection, worker: Callable[..., Any], barrier: Barrier, arguments: tuple[Any, ...]
) -> None:
    try:
        results.send((None, worker(barrier, *arguments)))
    except BaseException:  # noqa: BLE001 (whatever it is, the test is to show it)
        barrier.abort()
        results.send((traceback.format_exc(), None))


def _report(process: BaseProcess, results: Connection) -> tuple[str | None, Any]:
    if not results.poll(PATIENCE):
        return f"{process.name} hangs", None
    try:
        failure, result = results.recv()
    except EOFError:
        process.join(PATIENCE)
        return f"{process.name} died with exit code {process.exitcode}", None
    return failure, result


def _end(process: BaseProcess, results: Connection) -> None:
    process.join(1)
    if process.is_alive():
        process.kill()
        process.join()
    process.close()
    results.close()


# Workers that more than one test uses


def resolve_each(
    barrier: Barrier, path: str, response: int, key: int, instances: Iterable[int]
) -> Answers:
    """Give one response to each instance, through a fresh ledger object for every call."""
    answers: Answers = []
    for n in instances:
        barrier.wait()
        with ResolutionLedger.open(path, workspace=WORKSPACE, lock_timeout=PATIENCE) as ledger:
            answers.append(ledger.resolve(record(n, response, key)))
    return answers


def stop_inside_the_transaction(path: str, attempt: ResolutionRecord, inside: Any) -> None:
    """Resolve, and stop where the clock is read: between BEGIN and COMMIT. To be killed."""

    def clock() -> int:
        inside.set()
        spawning.Event().wait(PATIENCE)
        return 0

    with ResolutionLedger.open(path, workspace=WORKSPACE, clock=clock) as ledger:
        ledger.resolve(attempt)


def ledger_id(path: str) -> str:
    """The identity of the ledger at a path, read by a connection that is not ours."""
    with closing(sqlite3.connect(path)) as connection:
        ((identity,),) = connection.execute("SELECT ledger_id FROM resolution_ledger_meta")
    return str(identity)
