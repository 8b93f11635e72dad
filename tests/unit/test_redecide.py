"""Deciding once more what is on record: does the log say what the rules say?"""

from __future__ import annotations

import pytest

from resolution_ledger.domain.decision import InstanceState, fold, redecide
from resolution_ledger.domain.events import (
    EVENT_TYPES,
    Attempt,
    AttemptConflicted,
    AttemptEvent,
    AttemptFenced,
    AttemptLate,
    AttemptLost,
    AttemptReplayed,
    Event,
    InstanceClosed,
    ResolutionAdopted,
    ResolutionWon,
    Withdrawal,
    WithdrawalEvent,
    WithdrawalFenced,
    WithdrawalLate,
    WithdrawalLost,
)
from samples import OTHER_WORKSPACE, attempt, instance, withdrawal

Cause = Attempt | Withdrawal

WINNING, CLOSING = attempt(0, 0), withdrawal("expired")

KINDS = {
    Attempt: [kind for kind in EVENT_TYPES.values() if issubclass(kind, AttemptEvent)],
    Withdrawal: [kind for kind in EVENT_TYPES.values() if issubclass(kind, WithdrawalEvent)],
}
"""What each can lead to."""

WON = [ResolutionWon(WINNING, 0)]
ADOPTED = [ResolutionAdopted(WINNING, 0)]
CLOSED = [InstanceClosed(CLOSING, 0)]

AFTER_A_WIN: dict[type[Event], Cause] = {
    AttemptReplayed: attempt(0, 1),
    AttemptLost: attempt(1, 1),
    AttemptConflicted: attempt(1, 0),
    AttemptFenced: attempt(1, 1, OTHER_WORKSPACE),
    WithdrawalLost: withdrawal("expired"),
    WithdrawalFenced: withdrawal("expired", OTHER_WORKSPACE),
}
AFTER_A_CLOSING: dict[type[Event], Cause] = {
    AttemptLate: attempt(0, 0),
    AttemptFenced: attempt(1, 1, OTHER_WORKSPACE),
    WithdrawalLate: withdrawal("withdrawn"),
    WithdrawalFenced: withdrawal("expired", OTHER_WORKSPACE),
}

each_kind = pytest.mark.parametrize("kind", EVENT_TYPES.values(), ids=EVENT_TYPES)
each_rule = pytest.mark.parametrize(
    ("before", "expected", "later", "kind"),
    [
        pytest.param(before, expected, later, kind, id=f"{before[0].tag}-{expected.tag}-{kind.tag}")
        for before, rules in ((WON, AFTER_A_WIN), (ADOPTED, AFTER_A_WIN), (CLOSED, AFTER_A_CLOSING))
        for expected, later in rules.items()
        for kind in KINDS[type(later)]
    ],
)


def cause_of(kind: type[Event]) -> Cause:
    """What can lead to an event of this kind, and comes first in all that follows."""
    return WINNING if kind in KINDS[Attempt] else CLOSING


def test_every_kind_is_by_some_rule() -> None:
    """Of those that stand after the first event."""
    first = {ResolutionWon, ResolutionAdopted, InstanceClosed}
    assert {*AFTER_A_WIN, *AFTER_A_CLOSING} | first == {*EVENT_TYPES.values()}
    assert {*KINDS[Attempt], *KINDS[Withdrawal]} == {*EVENT_TYPES.values()}


@pytest.mark.parametrize("kind", KINDS[Attempt])
def test_an_attempt_that_stands_first_has_won_or_was_adopted(kind: type[Event]) -> None:
    """The rules know of no win that was not witnessed; that one is taken at its word."""
    expected = ResolutionAdopted if kind is ResolutionAdopted else ResolutionWon
    assert redecide(InstanceState(instance(0)), kind(WINNING, 0)) is expected


@pytest.mark.parametrize("kind", KINDS[Withdrawal])
def test_a_withdrawal_that_stands_first_has_closed_the_instance(kind: type[Event]) -> None:
    """Whatever kind the event claims to be of."""
    assert redecide(InstanceState(instance(0)), kind(CLOSING, 0)) is InstanceClosed


@each_rule
def test_after_the_first_event_the_rules_alone_decide(
    before: list[Event], expected: type[Event], later: Cause, kind: type[Event]
) -> None:
    """Whatever kind the event claims to be of: a second win or closing, adopted or not, is none."""
    assert redecide(fold(instance(0), before), kind(later, 0)) is expected


@each_rule
def test_a_retransmission_of_what_came_later_should_not_be_on_record(
    before: list[Event], expected: type[Event], later: Cause, kind: type[Event]
) -> None:
    """Under no name."""
    state = fold(instance(0), [*before, expected(later, 0)])
    assert redecide(state, kind(later, 1)) is None


@pytest.mark.parametrize("before", [WON, ADOPTED], ids=["won", "adopted"])
@pytest.mark.parametrize("kind", KINDS[Attempt])
@pytest.mark.parametrize("label", ["", "tty"])
def test_a_retransmission_of_the_win_should_not_be_on_record(
    before: list[Event], kind: type[Event], label: str
) -> None:
    """Under no name either, whoever claims to have sent it."""
    assert redecide(fold(instance(0), before), kind(attempt(0, 0, by=label), 1)) is None


@pytest.mark.parametrize("kind", KINDS[Withdrawal])
@pytest.mark.parametrize("label", ["", "tty"])
def test_a_retransmission_of_the_closing_should_not_be_on_record(
    kind: type[Event], label: str
) -> None:
    """Under no name either, whoever claims to have sent it."""
    assert redecide(fold(instance(0), CLOSED), kind(withdrawal("expired", by=label), 1)) is None


@each_kind
def test_to_decide_again_leaves_the_state_as_it_was(kind: type[Event]) -> None:
    """Only an event that is applied changes it."""
    state = InstanceState(instance(0))
    redecide(state, kind(cause_of(kind), 0))
    assert (state.first, state.key_owners, state.on_record) == (None, {}, set())
