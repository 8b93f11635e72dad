"""Closing a question: a withdrawal and the answers compete for the same first place."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from answers import answer, outcomes
from contract.backends import OpenLedger
from resolution_ledger import (
    Closed,
    Lost,
    OutsideWorkspace,
    RecordedAttempt,
    Replayed,
    ResolutionLedger,
    Withdrawn,
    Won,
)
from samples import OTHER_WORKSPACE, WORKSPACE, instance, key, record, response
from submissions import Closing

TICK = 1_700_000_000_000_000_000

each_reason = pytest.mark.parametrize("reason", ["expired", "withdrawn"])


# A withdrawal that comes first


@each_reason
def test_a_withdrawal_that_comes_first_closes_the_instance(
    ledger: ResolutionLedger, reason: Any
) -> None:
    assert ledger.withdraw(instance(1), reason) == Withdrawn()
    assert outcomes(ledger.history(instance(1))) == ["closed"]
    assert ledger.winner(instance(1)) is None
    assert ledger.losers() == ()


@each_reason
def test_an_answer_to_a_closed_instance_comes_too_late(
    ledger: ResolutionLedger, reason: Any
) -> None:
    ledger.withdraw(instance(1), reason)
    assert ledger.resolve(record(1, 1, 1)) == Closed(reason)
    assert outcomes(ledger.history(instance(1))) == ["closed", "late"]
    assert ledger.winner(instance(1)) is None


def test_on_a_closed_instance_no_key_comes_into_conflict(ledger: ResolutionLedger) -> None:
    ledger.withdraw(instance(1), "expired")
    for r in (1, 2, 3):
        assert ledger.resolve(record(1, r, 7)) == Closed("expired")
    assert outcomes(ledger.history(instance(1))) == ["closed", "late", "late", "late"]


def test_a_withdrawal_for_another_reason_is_told_the_first(ledger: ResolutionLedger) -> None:
    ledger.withdraw(instance(1), "expired")
    assert ledger.withdraw(instance(1), "withdrawn") == Closed("expired")
    assert outcomes(ledger.history(instance(1))) == ["closed", "withdrawal-late"]
    assert ledger.resolve(record(1, 1, 1)) == Closed("expired")


@pytest.mark.parametrize(
    ("send", "outcome"),
    [
        (lambda ledger: ledger.resolve(record(1, 1, 1)), "fenced"),
        (lambda ledger: ledger.withdraw(instance(1), "expired"), "withdrawal-fenced"),
        (lambda ledger: ledger.withdraw(instance(1), "withdrawn"), "withdrawal-fenced"),
    ],
    ids=["an answer", "the same reason", "another reason"],
)
def test_another_workspace_is_told_nothing_of_a_closing(
    ledger: ResolutionLedger,
    other: ResolutionLedger,
    send: Callable[[ResolutionLedger], object],
    outcome: str,
) -> None:
    ledger.withdraw(instance(1), "expired", "scheduler")
    with pytest.raises(OutsideWorkspace) as refusal:
        send(other)
    assert vars(refusal.value) == {"instance": instance(1), "workspace": OTHER_WORKSPACE}
    for told_only_there in (WORKSPACE, "expired", "scheduler"):
        assert told_only_there not in str(refusal.value)
    assert outcomes(other.history(instance(1))) == [outcome]
    assert other.winner(instance(1)) is None


# A withdrawal that comes after an answer


@each_reason
def test_a_withdrawal_after_an_answer_has_lost_and_the_answer_counts(
    ledger: ResolutionLedger, reason: Any
) -> None:
    ledger.resolve(record(1, 1, 1))
    assert ledger.withdraw(instance(1), reason) == Lost(response(1))
    assert outcomes(ledger.history(instance(1))) == ["won", "withdrawal-lost"]
    assert ledger.winner(instance(1)) == response(1)
    assert ledger.resolve(record(1, 1, 1)) == Replayed(response(1), own=True)


@each_reason
def test_another_workspace_than_the_winners_can_close_nothing(
    ledger: ResolutionLedger, other: ResolutionLedger, reason: Any
) -> None:
    ledger.resolve(record(1, 1, 1, "tty"))
    with pytest.raises(OutsideWorkspace) as refusal:
        other.withdraw(instance(1), reason)
    assert vars(refusal.value) == {"instance": instance(1), "workspace": OTHER_WORKSPACE}
    assert WORKSPACE not in str(refusal.value)
    assert response(1).text not in str(refusal.value)
    assert outcomes(other.history(instance(1))) == ["withdrawal-fenced"]
    assert ledger.winner(instance(1)) == response(1)


def test_a_withdrawal_that_came_to_nothing_changes_nothing_for_later_answers(
    ledger: ResolutionLedger,
) -> None:
    ledger.resolve(record(1, 1, 1))
    ledger.resolve(record(1, 2, 2))
    ledger.withdraw(instance(1), "expired")
    assert ledger.resolve(record(1, 1, 3)) == Replayed(response(1), own=False)
    assert answer(ledger, record(1, 3, 2)) == ("conflict", key(2), response(2), response(3))
    assert ledger.resolve(record(1, 3, 4)) == Lost(response(1))


def test_to_close_one_instance_closes_no_other(ledger: ResolutionLedger) -> None:
    ledger.withdraw(instance(1), "expired")
    assert ledger.resolve(record(2, 1, 1)) == Won()
    assert ledger.withdraw(instance(3), "expired") == Withdrawn()


# What is told of it


def test_a_withdrawal_is_recorded_with_everything_that_was_claimed(
    open_ledger: OpenLedger,
) -> None:
    ledger = open_ledger(clock=lambda: TICK)
    ledger.withdraw(instance(1), "expired", "scheduler")
    ledger.resolve(record(1, 1, 1, "tty"))
    ledger.withdraw(instance(1), "withdrawn", submitted_by="\u00e9")
    assert ledger.history(instance(1)) == (
        RecordedAttempt(
            instance(1), 1, 1, "closed", None, None, "scheduler", WORKSPACE, TICK, "expired"
        ),
        RecordedAttempt(instance(1), 2, 2, "late", response(1), key(1), "tty", WORKSPACE, TICK),
        RecordedAttempt(
            instance(1), 3, 3, "withdrawal-late", None, None, "\u00e9", WORKSPACE, TICK, "withdrawn"
        ),
    )


def test_each_workspace_sees_its_own_withdrawals_alone(
    ledger: ResolutionLedger, other: ResolutionLedger
) -> None:
    ledger.withdraw(instance(1), "expired")
    answer(other, Closing(instance(1), "withdrawn"))
    answer(other, record(1, 1, 1))
    ledger.withdraw(instance(1), "withdrawn")
    mine, theirs = ledger.history(instance(1)), other.history(instance(1))
    assert outcomes(mine) == ["closed", "withdrawal-late"]
    assert [attempt.position for attempt in mine] == [1, 4]
    assert {attempt.workspace for attempt in mine} == {WORKSPACE}
    assert outcomes(theirs) == ["withdrawal-fenced", "fenced"]
    assert [attempt.position for attempt in theirs] == [2, 3]
    assert {attempt.workspace for attempt in theirs} == {OTHER_WORKSPACE}


def test_a_closed_instance_has_no_winner_for_anybody(
    ledger: ResolutionLedger, other: ResolutionLedger
) -> None:
    ledger.withdraw(instance(1), "withdrawn")
    for door in (ledger, other):
        answer(door, record(1, 1, 1))
        assert door.winner(instance(1)) is None


def test_late_answers_are_losers_and_withdrawals_are_not(
    ledger: ResolutionLedger, other: ResolutionLedger
) -> None:
    ledger.withdraw(instance(1), "expired")
    ledger.resolve(record(2, 1, 1))
    for sent in (
        record(1, 1, 1),
        Closing(instance(1), "withdrawn"),
        Closing(instance(2), "expired"),
        record(1, 2, 2),
    ):
        answer(ledger, sent)
        answer(other, sent)
    assert outcomes(ledger.losers()) == ["late", "late"]
    assert ledger.losers() == (
        ledger.history(instance(1))[3],
        ledger.history(instance(1))[1],
    )
    assert outcomes(other.losers()) == ["fenced", "fenced"]


def test_the_first_call_of_a_ledger_may_be_a_withdrawal(open_ledger: OpenLedger) -> None:
    assert open_ledger().withdraw(instance(1), "expired") == Withdrawn()
    assert open_ledger().resolve(record(1, 1, 1)) == Closed("expired")
