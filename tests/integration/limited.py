"""Workers for ``test_unreachable``: processes that may not do what they please."""

from __future__ import annotations

import os
import resource
import tempfile
from collections.abc import Callable
from multiprocessing.synchronize import Barrier
from pathlib import Path

from resolution_ledger import LedgerAdmin, ResolutionError, ResolutionLedger, StoreUnavailable, Won
from samples import WORKSPACE, instance, record

NOBODY = 65534


def outcomes_without_privileges(_: Barrier, path: str) -> dict[str, str]:
    """What each call comes to for a user who is not root."""
    if os.geteuid() == 0:
        os.seteuid(NOBODY)
    with ResolutionLedger.open(path, workspace=WORKSPACE) as ledger:
        calls: dict[str, Callable[[], object]] = {
            "winner": lambda: ledger.winner(instance(1)),
            "history": lambda: ledger.history(instance(1)),
            "losers": ledger.losers,
            "retransmission": lambda: ledger.resolve(record(1, 1, 1)),
            "resolve": lambda: ledger.resolve(record(2, 2, 2)),
        }
        outcomes = {}
        for name, call in calls.items():
            try:
                outcomes[name] = type(call()).__name__
            except ResolutionError as error:
                outcomes[name] = type(error).__name__
    return outcomes


def fill_the_disk(_: Barrier, path: str, room: int) -> tuple[int, list[object], object]:
    """Resolve until no file may grow beyond ``room`` bytes, then once more with room.

    Returns how many attempts were acknowledged, who won them, and the last answer.
    """
    most = resource.getrlimit(resource.RLIMIT_FSIZE)[1]
    resource.setrlimit(resource.RLIMIT_FSIZE, (room, most))
    with ResolutionLedger.open(path, workspace=WORKSPACE, lock_timeout=1.0) as ledger:
        acknowledged = 0
        try:
            while acknowledged < 1000:
                assert ledger.resolve(record(acknowledged, 1, 1, "x" * 500)) == Won()
                acknowledged += 1
        except StoreUnavailable:
            pass
        resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))
        again = ledger.resolve(record(acknowledged, 1, 1))
        winners: list[object] = [ledger.winner(instance(n)) for n in range(acknowledged)]
    return acknowledged, winners, again


def create_without_privileges(_: Barrier, path: str) -> dict[str, object]:
    """What a user who may only read is told of a ledger that is there."""
    if os.geteuid() == 0:
        os.seteuid(NOBODY)
    with ResolutionLedger.open(path, workspace=WORKSPACE) as ledger:
        ledger.create()
        told: dict[str, object] = {"create": None, "winner": ledger.winner(instance(1))}
        ledger.create()
        try:
            told["resolve"] = ledger.resolve(record(2, 2, 2))
        except ResolutionError as error:
            told["resolve"] = type(error).__name__
    return told


def shared_directory() -> Path:
    """A directory that every user can enter, unlike those of pytest."""
    directory = Path(tempfile.mkdtemp(prefix="ledger-"))
    directory.chmod(0o755)
    return directory


def examine_without_privileges(_: Barrier, path: str) -> list[str]:
    """The subjects that a user who may only read is warned of."""
    if os.geteuid() == 0:
        os.seteuid(NOBODY)
    with LedgerAdmin.open(path) as admin:
        return [seen.subject for seen in admin.examine().warnings]
