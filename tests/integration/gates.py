"""Others at the gate of a ledger, and in front of its write lock."""

from __future__ import annotations

import _thread
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from integration.racing import line_up
from resolution_ledger import ResolutionLedger
from resolution_ledger.infra.sqlite.gate import SUFFIX
from samples import WORKSPACE, record


def gate_of(path: Path) -> Path:
    """The file at which the processes that write to a ledger line up."""
    return path.with_name(path.name + SUFFIX)


@contextmanager
def somebody_at_the_gate(path: Path) -> Iterator[None]:
    """In here, somebody has come through and goes no further."""
    import fcntl  # noqa: PLC0415 (not on every system)

    file = os.open(gate_of(path), os.O_RDONLY | os.O_CREAT)
    try:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield
    finally:
        os.close(file)


def is_free(path: Path) -> bool:
    """Whether nobody is at the gate."""
    import fcntl  # noqa: PLC0415 (as above)

    file = os.open(gate_of(path), os.O_RDONLY | os.O_CREAT)
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    finally:
        os.close(file)
    return True


def win_and_win(path: str, first: int, at_work: Any) -> None:
    """Win instances from ``first`` on, always through the gate. To be stopped or killed."""
    line_up()
    with ResolutionLedger.open(path, workspace=WORKSPACE, durability="normal") as ledger:
        n = first
        while True:
            ledger.resolve(record(n, n, n))
            at_work.set()
            n += 1


def descriptors() -> list[str]:
    """What this process has open, where a system tells."""
    names = []
    for number in os.listdir("/proc/self/fd"):
        try:
            names.append(os.readlink(f"/proc/self/fd/{number}"))
        except FileNotFoundError:  # the one that lists them
            continue
    return names


def helpers() -> int:
    """How many threads wait at gates."""
    # They are not among the threads that Python's module has started.
    started = [
        thread
        for thread in threading.enumerate()
        if not isinstance(thread, threading._DummyThread)  # noqa: SLF001 (stands for one of ours)
    ]
    return _thread._count() - (len(started) - 1)  # noqa: SLF001 (there is no other way)
