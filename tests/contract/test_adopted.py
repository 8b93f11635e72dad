"""A win that was decided before the log began counts like one that the ledger has witnessed."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from msgspec.structs import replace

from answers import answer, everything, outcomes
from contract.backends import OpenLedger
from contract.behind import adopt, unbroken
from contract.draws import some_submissions
from resolution_ledger import ResolutionLedger
from samples import OTHER_WORKSPACE, WORKSPACE, instance, record, response
from submissions import Closing

INSTANCES = range(20)


def test_an_adopted_win_names_the_winner_and_is_told_in_history(
    ledger: ResolutionLedger, other: ResolutionLedger
) -> None:
    adopt(ledger, record(1, 1, 1), 5)
    assert ledger.winner(instance(1)) == response(1)
    assert other.winner(instance(1)) is None
    assert outcomes(ledger.history(instance(1))) == ["adopted"]
    assert ledger.losers() == ()


@pytest.mark.parametrize("reason", ["expired", "withdrawn"])
def test_an_instance_with_an_adopted_win_can_be_closed_no_more(
    ledger: ResolutionLedger, other: ResolutionLedger, reason: str
) -> None:
    adopt(ledger, record(1, 1, 1), 5)
    assert answer(ledger, Closing(instance(1), reason)) == ("lost", response(1))
    assert answer(other, Closing(instance(1), reason))[0] == "outside"
    assert outcomes(ledger.history(instance(1))) == ["adopted", "withdrawal-lost"]
    assert ledger.winner(instance(1)) == response(1)


@pytest.mark.parametrize("seed", [1, 2])
def test_whatever_comes_after_an_adopted_win_is_answered_as_after_a_won_one(
    new_ledger: Callable[[], OpenLedger], seed: int
) -> None:
    """And leaves the same on record."""
    there = [
        {
            name: open_ledger(workspace=name, clock=lambda: 0)
            for name in (WORKSPACE, OTHER_WORKSPACE)
        }
        for open_ledger in (new_ledger(), new_ledger())
    ]
    witnessed, adopted = there
    for n in INSTANCES:
        witnessed[WORKSPACE].resolve(record(n, 0, 0))
        adopt(adopted[WORKSPACE], record(n, 0, 0), 0)
    for workspace, sent in some_submissions(seed, 500, len(INSTANCES)):
        told, same = (answer(doors[workspace], sent) for doors in there)
        assert told == same
    logs = [everything(doors.values(), INSTANCES) for doors in there]
    assert logs[1] == [
        replace(attempt, outcome="adopted") if attempt.outcome == "won" else attempt
        for attempt in logs[0]
    ]
    assert witnessed[WORKSPACE].losers(1000) == adopted[WORKSPACE].losers(1000)
    assert [unbroken(doors[WORKSPACE]) for doors in there] == [len(logs[0])] * 2
