"""The list of losers: for people, newest first, replays left out."""

from __future__ import annotations

import pytest

from answers import answer, outcomes
from resolution_ledger import ResolutionLedger
from samples import OTHER_WORKSPACE, instance, record


def test_losers_are_listed_newest_first_over_all_instances(ledger: ResolutionLedger) -> None:
    for n in range(3):
        ledger.resolve(record(n, 1, 1))
    for n in (2, 0, 1):
        ledger.resolve(record(n, 2, 2))
    assert [loser.instance for loser in ledger.losers()] == [instance(1), instance(0), instance(2)]


def test_replays_and_wins_are_no_losers(ledger: ResolutionLedger) -> None:
    for r, k in [(1, 1), (1, 2), (2, 3), (3, 3), (1, 4)]:
        answer(ledger, record(1, r, k))
    assert outcomes(ledger.history(instance(1))) == [
        "won", "replayed", "lost", "conflicted", "replayed",
    ]  # fmt: skip
    assert outcomes(ledger.losers()) == ["conflicted", "lost"]


def test_losers_are_those_of_the_workspace(
    ledger: ResolutionLedger, other: ResolutionLedger
) -> None:
    ledger.resolve(record(1, 1, 1))
    ledger.resolve(record(1, 2, 2))
    answer(other, record(1, 3, 3))
    assert outcomes(ledger.losers()) == ["lost"]
    (fenced,) = other.losers()
    assert fenced.outcome == "fenced"
    assert fenced.workspace == OTHER_WORKSPACE


def test_a_loser_is_told_just_as_history_tells_it(ledger: ResolutionLedger) -> None:
    ledger.resolve(record(1, 1, 1))
    answer(ledger, record(1, 2, 1, "web:7f3a"))
    answer(ledger, record(1, 2, 2, "\U0001f600"))
    assert ledger.losers() == tuple(reversed(ledger.history(instance(1))[1:]))


@pytest.mark.parametrize(("limit", "listed"), [(1, 1), (20, 20), (25, 25), (2**63 - 1, 25)])
def test_no_more_losers_are_listed_than_asked_for(
    ledger: ResolutionLedger, limit: int, listed: int
) -> None:
    ledger.resolve(record(1, 0, 0))
    for n in range(1, 26):
        ledger.resolve(record(1, n, n))
    assert [loser.position for loser in ledger.losers(limit)] == list(range(26, 26 - listed, -1))
    assert len(ledger.losers()) == 20


def test_there_are_no_losers_where_nobody_has_lost(ledger: ResolutionLedger) -> None:
    ledger.resolve(record(1, 1, 1))
    assert ledger.losers() == ()
