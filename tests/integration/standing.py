"""A call that stands between BEGIN and COMMIT, and those that wait behind it."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from threading import Event
from typing import Any

from inside import OpenLedger, database_of
from listeners import until
from processes import PATIENCE
from resolution_ledger import ResolutionLedger
from samples import record


class Standing:
    """A clock at which a call stands until it is let go on."""

    def __init__(self) -> None:
        self._inside, self._go_on = Event(), Event()

    def __call__(self) -> int:
        self._inside.set()
        assert self._go_on.wait(PATIENCE)
        return 0

    def wait_for(self) -> None:
        """Until a call stands there."""
        assert self._inside.wait(PATIENCE)

    def let_go(self) -> None:
        """From now on no call stands there."""
        self._go_on.set()


@contextmanager
def one_inside(
    open_ledger: OpenLedger, threads: ThreadPoolExecutor, **options: Any
) -> Iterator[Future[Any]]:
    """In here, a thread wins instance 0 through a ledger object of its own, and stands inside."""
    clock = Standing()
    ledger = open_ledger(clock=clock, lock_timeout=PATIENCE, **options)
    call = threads.submit(ledger.resolve, record(0, 1, 1))
    clock.wait_for()
    try:
        yield call
    finally:
        clock.let_go()


def waiting(ledger: ResolutionLedger) -> int:
    """How many calls wait for their turn to write, here or where it shares a connection."""
    return len(database_of(ledger).writer._waiting.calls)  # noqa: SLF001 (nobody else can tell)


def until_waiting(ledger: ResolutionLedger, number: int) -> None:
    """Go on once so many do."""
    until(lambda: waiting(ledger) == number)
