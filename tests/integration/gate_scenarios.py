"""Workers for ``test_gate_of_a_ledger``: processes that fork and are interrupted at the gate."""

from __future__ import annotations

import gc
import os
import random
import signal
import sqlite3
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from itertools import count
from multiprocessing.synchronize import Barrier
from pathlib import Path
from time import sleep
from typing import Any

from integration.gates import descriptors, gate_of, helpers, is_free, somebody_at_the_gate
from integration.racing import line_up
from listeners import until
from processes import PATIENCE
from resolution_ledger import ResolutionError, ResolutionLedger
from resolution_ledger.infra.sqlite import line
from samples import WORKSPACE, record


class Interruption(Exception):
    """What the handler raises."""


def interrupt(*_: object) -> None:
    raise Interruption


def be_interrupted_in_line(
    _: Barrier, path: str, interruptions: int, seed: int
) -> dict[str, object]:
    """Line up for each call, behind others, and be interrupted so many times; what is left."""
    line_up()
    line._LONGEST = 0.002  # noqa: SLF001 (so that giving up is interrupted, too)
    draw = random.Random(seed)  # noqa: S311 (a reproducible draw, no secret)
    signal.signal(signal.SIGALRM, interrupt)
    errors, locked, held, stop = list[str](), 0, 0, threading.Event()

    def come_and_go() -> None:
        while not stop.is_set():
            with somebody_at_the_gate(Path(path)):
                sleep(0.0005)
            sleep(0.0005)

    with (
        ResolutionLedger.open(path, workspace=WORKSPACE, durability="normal") as ledger,
        closing(sqlite3.connect(path, isolation_level=None, timeout=0)) as foreign,
        ThreadPoolExecutor(1) as threads,
    ):
        ledger.resolve(record(0, 1, 1))
        for n in range(interruptions):
            others = n % 2
            if others:
                stop.clear()
                coming = threads.submit(come_and_go)
            try:
                signal.setitimer(signal.ITIMER_REAL, draw.uniform(0.00001, 0.003 * (1 + others)))
                for k in count():
                    ledger.resolve(record(0, 2 + k, (n + 1) * 100_000 + k))
            except Interruption:
                pass
            except ResolutionError as error:
                errors.append(repr(error))
            finally:
                signal.setitimer(signal.ITIMER_REAL, 0)
            if others:
                stop.set()
                coming.result(PATIENCE)
            try:
                foreign.execute("BEGIN IMMEDIATE")
                foreign.execute("ROLLBACK")
            except sqlite3.OperationalError:
                locked += 1
            held += not is_free_soon(path)
    return {"errors": errors, "locked": locked, "held": held}


def is_free_soon(path: str) -> bool:
    """Whether nobody is at the gate, but for a helper that gives the lock back just now."""
    for _ in range(200):
        if is_free(Path(path)):
            return True
        sleep(0.001)
    return False


def open_and_close_many(_: Barrier, path: str, times: int, how: str) -> dict[str, int]:
    """Ledger objects that had to wait at the gate, so many; what is left of them."""
    line_up()
    place = Path(path)
    closed: list[ResolutionLedger] = []
    before = len(descriptors())
    with ThreadPoolExecutor(1) as threads:
        for n in range(times):
            ledger = ResolutionLedger.open(path, workspace=WORKSPACE, durability="normal")
            with somebody_at_the_gate(place):
                call = threads.submit(ledger.resolve, record(n, 1, 1))
                until(helpers)
            call.result(PATIENCE)
            if how == "closed":
                ledger.close()
                closed.append(ledger)  # and is still there
            del ledger, call
    gc.collect()
    until(lambda: helpers() == 0)
    return {"descriptors": len(descriptors()) - before, "free": is_free(place)}


def fork_at_the_gate(path: str, where: str, told: Any) -> None:
    """Fork before, inside or after a call that has lined up. Both stay; what the child has open."""
    line_up()
    line._LONGEST = PATIENCE  # noqa: SLF001 (whoever is in line stays there)

    def fork(*_: object) -> int:
        if os.fork() == 0:
            told.put((os.getpid(), descriptors().count(str(gate_of(Path(path))))))
            signal.pause()
        return 0

    ledger = ResolutionLedger.open(
        path,
        workspace=WORKSPACE,
        clock=fork if where == "inside" else lambda: 0,
        lock_timeout=PATIENCE,
    )
    signal.signal(signal.SIGALRM, fork)
    if where == "in line":
        signal.setitimer(signal.ITIMER_REAL, 0.2)
    ledger.resolve(record(1, 1, 1))
    if where == "afterwards":
        fork()
    told.put("done")
    signal.pause()
