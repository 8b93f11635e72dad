"""An operation, made again and again until each of its database calls has failed once."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any, get_args

from msgspec import Struct

from integration.failing import (
    CONTENTION,
    CORRUPT,
    Fault,
    Kind,
    When,
    can_fail,
    failing,
    really_connect,
)
from resolution_ledger import (
    CorruptLedger,
    IdempotencyConflict,
    LedgerAdmin,
    LedgerNotEmpty,
    NotALedger,
    NothingToAdopt,
    OutsideWorkspace,
    ResolutionLedger,
    StoreBusy,
    StoreError,
    StoreUnavailable,
)
from samples import WORKSPACE, instance, record

LOCK_TIMEOUT = 0.05
"""Seconds. Nobody else is there, so whoever waits waits for the fault."""

Door = Any
"""A ``ResolutionLedger`` or a ``LedgerAdmin``: calls know which."""


def make_ledger(path: Path) -> None:
    """In it, response 1 has won instance 1, response 2 has lost, and instance 4 is closed."""
    with ResolutionLedger.open(path, workspace=WORKSPACE) as ledger:
        ledger.resolve(record(1, 1, 1))
        ledger.resolve(record(1, 2, 2))
        ledger.withdraw(instance(4), "expired")


def open_ledger(path: Path, workspace: str = WORKSPACE) -> ResolutionLedger:
    return ResolutionLedger.open(
        path, workspace=workspace, durability="normal", lock_timeout=LOCK_TIMEOUT
    )


def open_admin(path: Path) -> LedgerAdmin:
    return LedgerAdmin.open(path, lock_timeout=LOCK_TIMEOUT)


def use(ledger: ResolutionLedger) -> None:
    """Have it keep a connection that reads and one that writes."""
    ledger.winner(instance(1))
    told(lambda: ledger.resolve(record(1, 1, 1)))


class Operation(Struct, frozen=True):
    """A call, and what comes of it."""

    call: Callable[[Door], object]
    answer: object
    """What it returns, or how it refuses."""
    again: object
    """What the same call returns after it."""
    adds: int = 1
    """Events."""
    make: Callable[[Path], None] = make_ledger
    """Makes the file that it is tried on."""
    open: Callable[[Path], Door] = open_ledger
    warm_up: Callable[[Door], None] = use
    """What has been done with the door before. Else connections are opened in the call."""
    partly: bool = False
    """It may be done in parts, each committed, so that the rest is done by the next call."""


def sweep(operation: Operation, kinds: Sequence[Kind], when: When, folder: Path) -> list[str]:
    """The calls that have failed: all that there are. See :func:`check` for what is asked.

    Each fails with one of the kinds, taken in turn; with each of them if ``EVERY_KIND`` is set in
    the environment, which takes some minutes for all operations.
    """
    original, failed = folder / "whole" / "ledger.db", []
    original.parent.mkdir()
    operation.make(original)
    if when == "after":  # where somebody is in the way, a statement has had no effect
        kinds = [kind for kind in kinds if kind not in CONTENTION]
    with can_fail():
        n = 0
        while True:
            n += 1
            # Not the same one for each n in each sweep.
            drawn = [kinds[(n + get_args(When).index(when)) % len(kinds)]]
            faults = [
                Fault(n, kind, when) for kind in (kinds if "EVERY_KIND" in os.environ else drawn)
            ]
            for fault in faults:
                place = folder / f"{fault.kind.name} {n}"
                shutil.copytree(original.parent, place)
                try:
                    check(operation, fault, place / original.name)
                except BaseException as error:
                    error.add_note(f"{fault.kind.name} {when} call {n}: {fault.fired}")
                    raise
                shutil.rmtree(place)
            fired = [fault.fired for fault in faults if fault.fired is not None]
            if not fired:
                return failed
            failed += fired


def check(operation: Operation, fault: Fault, path: Path) -> None:
    """See that a call that fails is told of by a named error, and leaves everything in order."""
    others = set(os.listdir(path.parent))
    with operation.open(path) as door:
        operation.warm_up(door)
        before = length(path)
        with failing(fault):
            outcome = told(lambda: operation.call(door))
        recorded = length(path) - before
        if isinstance(outcome, StoreError):
            assert isinstance(outcome, errors_for(fault)), repr(outcome)
            assert recorded == 0 or (outcome.outcome_unknown and recorded == operation.adds)
        elif isinstance(outcome, MemoryError):
            assert recorded in (0, operation.adds)
        else:
            assert outcome == operation.answer
            assert recorded == operation.adds
        see_that_nobody_holds_the_lock(path)
        second = told(lambda: operation.call(door))
        failed = isinstance(outcome, Exception)
        if failed and operation.partly:
            assert not isinstance(second, Exception)
        else:
            assert second == (operation.answer if failed and not recorded else operation.again)
        assert told(lambda: operation.call(door)) == operation.again
        assert length(path) == before + operation.adds
    with LedgerAdmin.open(path) as admin:
        assert admin.verify().findings == ()
    # Nothing is left half made, and the last connection to go takes the log with it.
    assert set(os.listdir(path.parent)) <= others | {path.name, f"{path.name}-gate"}


def errors_for(fault: Fault) -> tuple[type[StoreError], ...]:
    """What callers are told."""
    kinds: tuple[type[StoreError], ...] = (StoreUnavailable,)
    if fault.fired != "ROLLBACK":
        if fault.kind in CONTENTION:
            kinds = (StoreBusy,)
        elif fault.kind is CORRUPT:
            kinds = (CorruptLedger, NotALedger)
    # What failed first may have been got over, and the ROLLBACK was called for by something else.
    return (*kinds, StoreUnavailable) if fault.stuck else kinds


def told(call: Callable[[], object]) -> object:
    """What a call returns, or what it raises, as far as it may raise it."""
    try:
        return call()
    except OutsideWorkspace as error:
        return OutsideWorkspace, error.instance, error.workspace
    except IdempotencyConflict as error:
        return IdempotencyConflict, error.key, error.existing, error.presented
    except (LedgerNotEmpty, NothingToAdopt) as error:
        return type(error)
    except (StoreError, MemoryError) as error:
        return error


def length(path: Path) -> int:
    """Events in the log, if there is one."""
    if not path.exists():
        return 0
    with closing(really_connect(path, isolation_level=None, timeout=0)) as onlooker:
        tables = onlooker.execute("SELECT name FROM sqlite_master").fetchall()
        if ("resolution_events",) not in tables:
            return 0
        ((events,),) = onlooker.execute("SELECT count(*) FROM resolution_events")
        return int(events)


def see_that_nobody_holds_the_lock(path: Path) -> None:
    if path.exists():
        with closing(really_connect(path, isolation_level=None, timeout=0)) as onlooker:
            onlooker.execute("BEGIN IMMEDIATE")
            onlooker.execute("ROLLBACK")
