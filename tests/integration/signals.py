"""Workers for ``test_signals``: processes in which a handler raises at any moment."""

from __future__ import annotations

import os
import random
import signal
import sqlite3
import sys
from collections.abc import Callable
from contextlib import closing
from functools import partial
from multiprocessing.synchronize import Barrier
from threading import Event, Thread
from time import monotonic

from inside import kept_connections
from resolution_ledger import LedgerClosed, ResolutionError, ResolutionLedger
from samples import WORKSPACE, instance, record


class Interruption(Exception):
    """What the handler raises."""


def _interrupt(*_: object) -> None:
    raise Interruption


def call_under_fire(_: Barrier, path: str, interruptions: int, seed: int) -> dict[str, object]:
    """Call and be interrupted, so many times; then say what is left of it."""
    draw = random.Random(seed)  # noqa: S311 (a reproducible draw, no secret)
    signal.signal(signal.SIGALRM, _interrupt)
    ledger = ResolutionLedger.open(path, workspace=WORKSPACE, durability="normal", lock_timeout=1.0)
    with closing(sqlite3.connect(path, isolation_level=None, timeout=0)) as foreign:
        ledger.resolve(record(0, 1, 1))
        errors, locked, hit, n = [], 0, 0, 0
        while hit < interruptions:
            n += 1
            win, loss = record(n, 1, 1), record(0, 1 + n, n)
            try:
                signal.setitimer(signal.ITIMER_REAL, draw.uniform(0.00001, 0.0003))
                ledger.resolve(win)
                ledger.resolve(loss)
                ledger.winner(loss.instance)
                ledger.history(win.instance)
                while True:
                    pass
            except Interruption:
                hit += 1
            except ResolutionError as error:
                errors.append(repr(error))
                signal.setitimer(signal.ITIMER_REAL, 0)
            try:
                foreign.execute("BEGIN IMMEDIATE")
                foreign.execute("ROLLBACK")
            except sqlite3.OperationalError:
                locked += 1
    began = monotonic()
    ledger.close()
    return {
        "errors": errors,
        "locked": locked,
        "closing": monotonic() - began,
        "left open": len(kept_connections(ledger)),
    }


def call_near_the_end_of_the_stack(_: Barrier, path: str) -> list[str]:
    """Call from ever deeper in the stack, and see that each next call works."""
    told = []
    with ResolutionLedger.open(path, workspace=WORKSPACE, lock_timeout=1.0) as ledger:
        ledger.resolve(record(0, 1, 1))

        def deeper(levels: int, call: Callable[[], object]) -> object:
            return deeper(levels - 1, call) if levels else call()

        limit = sys.getrecursionlimit()
        for n, room in enumerate(range(5, 60), start=1):
            attempt = record(n, 1, 1)
            calls: list[Callable[[], object]] = [partial(ledger.resolve, attempt), ledger.losers]
            for call in calls:
                try:
                    deeper(limit - room - _depth(), call)
                except RecursionError:
                    pass
                except ResolutionError as error:
                    told.append(repr(error))
                try:
                    ledger.resolve(attempt)
                except ResolutionError as error:
                    told.append(repr(error))
    return told


def _depth() -> int:
    depth, frame = 0, sys._getframe()  # noqa: SLF001 (there is no other way)
    while frame.f_back is not None:
        depth, frame = depth + 1, frame.f_back
    return depth


def interrupt_a_fork(_: Barrier, path: str) -> dict[str, object]:
    """A handler raises while the fork waits for another thread; Python forks all the same."""
    inside, go_on = Event(), Event()

    def clock() -> int:
        inside.set()
        assert go_on.wait(60)
        return 0

    signal.signal(signal.SIGALRM, _interrupt)
    sys.unraisablehook = lambda _: None
    slow = ResolutionLedger.open(path, workspace=WORKSPACE, clock=clock)
    others = [ResolutionLedger.open(path, workspace=WORKSPACE) for _ in range(5)]
    for n, ledger in enumerate(others):
        ledger.resolve(record(100 + n, 1, 1))
        ledger.winner(instance(100))
    if os.fork() == 0:  # a first fork, which goes well
        os._exit(0)
    os.wait()
    thread = Thread(target=lambda: slow.resolve(record(1, 1, 1)))
    thread.start()
    assert inside.wait(60)
    receiving, sending = os.pipe()
    signal.setitimer(signal.ITIMER_REAL, 0.3)
    child = os.fork()
    if child == 0:
        used = 0
        for ledger in (slow, *others):
            for connection in kept_connections(ledger):
                used += connection.usable
            try:
                ledger.resolve(record(200, 1, 1))
                used += 100  # it must not decide beside the parent's inherited connections
            except ResolutionError:
                pass
        os.write(sending, str(used).encode())
        os._exit(0)
    os.waitpid(child, 0)
    go_on.set()
    thread.join(60)
    answers = [
        type(ledger.resolve(record(300 + n, 1, 1))).__name__ for n, ledger in enumerate(others)
    ]
    answers.append(type(slow.resolve(record(1, 1, 1))).__name__)
    return {"used in the child": int(os.read(receiving, 100)), "parent": answers}


def handle_by_using_the_ledger(_: Barrier, path: str, what: str, interruptions: int) -> int:
    """A handler that reads, closes or forks comes while a call reads; how often it came."""
    ledgers = [ResolutionLedger.open(path, workspace=WORKSPACE)]
    ledgers[0].resolve(record(1, 1, 1))
    hit = 0

    def handler(*_: object) -> None:
        nonlocal hit
        hit += 1
        if what == "reads":
            assert ledgers[0].winner(instance(1)) is not None
        elif what == "closes":
            ledgers[0].close()
        elif os.fork() == 0:
            os._exit(0)

    draw = random.Random(0)  # noqa: S311 (a reproducible draw, no secret)
    signal.signal(signal.SIGALRM, handler)
    while hit < interruptions:
        before = hit
        signal.setitimer(signal.ITIMER_REAL, draw.uniform(0.000001, 0.0001))
        try:
            while hit == before:
                ledgers[0].winner(instance(1))
        except LedgerClosed:
            ledgers[0] = ResolutionLedger.open(path, workspace=WORKSPACE)
    signal.setitimer(signal.ITIMER_REAL, 0)
    return hit


def fork_inside_a_write(_: Barrier, path: str, forks: int) -> list[str]:
    """A handler forks inside ``resolve``; the child goes on for a while. What went wrong."""
    ledger = ResolutionLedger.open(path, workspace=WORKSPACE, durability="normal", lock_timeout=2.0)
    ledger.resolve(record(0, 1, 1))
    children: list[int] = []
    in_child = False

    def handler(*_: object) -> None:
        nonlocal in_child
        pid = os.fork()
        if pid == 0:
            in_child = True
        else:
            children.append(pid)

    signal.signal(signal.SIGALRM, handler)
    draw = random.Random(1)  # noqa: S311 (as above)
    wrong = []
    for n in range(1, forks + 1):
        attempt = record(n, 1, 1)
        signal.setitimer(signal.ITIMER_REAL, draw.uniform(0.000001, 0.0001))
        try:
            ledger.resolve(attempt)
        except ResolutionError as error:
            if not in_child:
                wrong.append(repr(error))
        if in_child:
            signal.pause()  # still there, with whatever lock it may have taken
        while len(children) < n:
            pass
        try:
            ledger.resolve(record(10_000 + n, 1, 1))
        except ResolutionError as error:
            wrong.append(repr(error))
        os.kill(children[-1], signal.SIGKILL)
        os.waitpid(children[-1], 0)
    return wrong
