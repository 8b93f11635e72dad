"""What the contract holds for: the databases, and the doors to them.

A backend is a function: given an empty directory, it yields an ``OpenLedger``, which opens
any number of ledger objects on one and the same ledger, and closes them at the end.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from pathlib import Path
from typing import Protocol, cast

import pytest

from contract.in_a_loop import InALoop, running_loop
from resolution_ledger import AsyncResolutionLedger, ResolutionLedger
from resolution_ledger.infra.sqlite.databases import open_database
from resolution_ledger.infra.store import EventStore
from samples import WORKSPACE


class OpenLedger(Protocol):
    """Opens one more ledger object on the same ledger."""

    def __call__(
        self, *, workspace: str = WORKSPACE, clock: Callable[[], int] = time.time_ns
    ) -> ResolutionLedger:
        """A ledger object of its own for ``workspace``."""


Backend = Callable[[Path], AbstractContextManager[OpenLedger]]


@contextmanager
def in_memory(_: Path) -> Iterator[OpenLedger]:
    """SQLite's memory: only ledger objects over one and the same connection share it."""
    database = open_database(":memory:", durability="normal", lock_timeout=60.0)

    def open_ledger(
        *, workspace: str = WORKSPACE, clock: Callable[[], int] = time.time_ns
    ) -> ResolutionLedger:
        return ResolutionLedger(EventStore(database, clock), workspace)

    yield open_ledger
    database.close()


@contextmanager
def in_file(directory: Path) -> Iterator[OpenLedger]:
    """A SQLite file: every ledger object has its own connections."""
    with ExitStack() as stack:

        def open_ledger(
            *, workspace: str = WORKSPACE, clock: Callable[[], int] = time.time_ns
        ) -> ResolutionLedger:
            ledger = ResolutionLedger.open(
                directory / "ledger.db", workspace=workspace, clock=clock, lock_timeout=60.0
            )
            return stack.enter_context(ledger)

        yield open_ledger


@contextmanager
def in_loop(directory: Path) -> Iterator[OpenLedger]:
    """A SQLite file, through asynchronous ledger objects that share one event loop."""
    with running_loop() as loop, ExitStack() as stack:

        def open_ledger(
            *, workspace: str = WORKSPACE, clock: Callable[[], int] = time.time_ns
        ) -> ResolutionLedger:
            ledger = AsyncResolutionLedger.open(
                directory / "ledger.db", workspace=workspace, clock=clock, lock_timeout=60.0
            )
            return cast(ResolutionLedger, stack.enter_context(InALoop(ledger, loop)))

        yield open_ledger


BACKENDS: dict[str, Backend] = {"memory": in_memory, "file": in_file, "async": in_loop}

in_the_callers_thread = pytest.mark.parametrize(
    "new_ledger", sorted(BACKENDS.keys() - {"async"}), indirect=True
)
"""For what a clock does with the ledger that reads it. Where calls are made in other threads than
their callers', a clock that calls the ledger waits for itself, and nobody can tell it so."""
