"""The fence: a workspace sees its own attempts and its own winners, and nothing else."""

from __future__ import annotations

from answers import answer, outcomes
from resolution_ledger import ResolutionLedger, Won
from samples import OTHER_WORKSPACE, WORKSPACE, instance, record, response


def test_a_winner_is_seen_only_in_the_workspace_that_it_won_in(
    ledger: ResolutionLedger, other: ResolutionLedger
) -> None:
    ledger.resolve(record(1, 1, 1))
    assert ledger.winner(instance(1)) == response(1)
    assert other.winner(instance(1)) is None


def test_history_holds_only_the_workspaces_own_attempts(
    ledger: ResolutionLedger, other: ResolutionLedger
) -> None:
    ledger.resolve(record(1, 1, 1))
    answer(other, record(1, 1, 1))
    ledger.resolve(record(1, 2, 2))
    answer(other, record(1, 3, 3))
    mine, theirs = ledger.history(instance(1)), other.history(instance(1))
    assert outcomes(mine) == ["won", "lost"]
    assert {attempt.workspace for attempt in mine} == {WORKSPACE}
    assert outcomes(theirs) == ["fenced", "fenced"]
    assert {attempt.workspace for attempt in theirs} == {OTHER_WORKSPACE}
    assert [attempt.response for attempt in theirs] == [response(1), response(3)]


def test_a_fenced_workspace_may_still_win_other_instances(
    ledger: ResolutionLedger, other: ResolutionLedger
) -> None:
    ledger.resolve(record(1, 1, 1))
    answer(other, record(1, 2, 2))
    assert other.resolve(record(2, 2, 2)) == Won()
    assert other.winner(instance(2)) == response(2)
    assert ledger.winner(instance(2)) is None


def test_one_submission_from_two_workspaces_is_two_submissions(
    ledger: ResolutionLedger, other: ResolutionLedger
) -> None:
    assert answer(ledger, record(1, 1, 1)) == ("won",)
    assert answer(other, record(1, 1, 1)) == ("outside", instance(1), OTHER_WORKSPACE)
    assert answer(ledger, record(1, 1, 1)) == ("replayed", response(1), True)


def test_a_ledger_tells_its_workspace(ledger: ResolutionLedger, other: ResolutionLedger) -> None:
    assert ledger.workspace == WORKSPACE
    assert other.workspace == OTHER_WORKSPACE
