"""Arms a client with what it is to carry."""

from __future__ import annotations

from random import Random

from resolution_ledger.infra.sqlite.connection import OpenConnection

from ..place import Place
from ..plan import ClientPlan
from . import deaths, interruptions, shortages
from .inside import Inside

_KINDS: tuple[type[Inside], ...] = (
    deaths.KillInTransaction,
    deaths.KillInCommit,
    deaths.KillInWrite,
    deaths.StopInTransaction,
    deaths.Fork,
    deaths.ExitInFlight,
    interruptions.Interrupt,
    interruptions.InterruptThread,
    interruptions.SteppedClock,
    interruptions.FailingClock,
    shortages.FullDatabase,
    shortages.QueryOnly,
    shortages.SmallFiles,
)


def arm(place: Place, plan: ClientPlan) -> list[Inside]:
    """Its nemeses, which from now on see every transaction begin and end."""
    nemeses = [
        kind(place, plan.name, Random(f"{plan.seed}/{kind.name}"))
        for kind in _KINDS
        if kind.name in plan.nemeses
    ]
    for nemesis in nemeses:
        nemesis.arm()
    _see_transactions(nemeses)
    return nemeses


def _see_transactions(nemeses: list[Inside]) -> None:
    """The ledger's own steps, as they are or as a test has planted them."""
    begin, commit = OpenConnection.begin, OpenConnection.commit

    def begin_seen(connection: OpenConnection) -> None:
        for nemesis in nemeses:
            nemesis.begun(connection)
        begin(connection)

    def commit_seen(connection: OpenConnection) -> None:
        for nemesis in nemeses:
            nemesis.committing(connection)
        commit(connection)

    OpenConnection.begin = begin_seen  # type: ignore[method-assign]
    OpenConnection.commit = commit_seen  # type: ignore[method-assign]
