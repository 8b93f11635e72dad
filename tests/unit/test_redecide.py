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
    AttemptLost,
    AttemptReplayed,
    ResolutionAdopted,
    ResolutionWon,
    Win,
)
from samples import OTHER_WORKSPACE, attempt, instance

WINNING = attempt(0, 0)

each_win = pytest.mark.parametrize("win", [ResolutionWon, ResolutionAdopted])
each_kind = pytest.mark.parametrize("kind", EVENT_TYPES.values(), ids=EVENT_TYPES)

BY_THE_RULES: dict[type[AttemptEvent], Attempt] = {
    AttemptReplayed: attempt(0, 1),
    AttemptLost: attempt(1, 1),
    AttemptConflicted: attempt(1, 0),
    AttemptFenced: attempt(1, 1, OTHER_WORKSPACE),
}
each_rule = pytest.mark.parametrize(
    ("expected", "later"), BY_THE_RULES.items(), ids=[kind.tag for kind in BY_THE_RULES]
)


def after(win: type[Win]) -> InstanceState:
    """The state in which an instance is resolved, and nothing else is on record."""
    return fold(instance(0), [win(WINNING, 0)])


@each_kind
def test_what_stands_first_has_won_or_was_adopted(kind: type[AttemptEvent]) -> None:
    """The rules know of no win that was not witnessed; that one is taken at its word."""
    expected = ResolutionAdopted if kind is ResolutionAdopted else ResolutionWon
    assert redecide(InstanceState(instance(0)), kind(WINNING, 0)) is expected


@each_win
@each_rule
@each_kind
def test_after_a_win_the_rules_alone_decide(
    win: type[Win], expected: type[AttemptEvent], later: Attempt, kind: type[AttemptEvent]
) -> None:
    """Whatever kind the event claims to be of: a second win, adopted or not, is none."""
    assert redecide(after(win), kind(later, 0)) is expected


@each_win
@each_kind
@pytest.mark.parametrize("label", ["", "tty"])
def test_a_retransmission_of_the_win_should_not_be_on_record(
    win: type[Win], kind: type[AttemptEvent], label: str
) -> None:
    """Under no name, whoever claims to have sent it."""
    assert redecide(after(win), kind(attempt(0, 0, by=label), 1)) is None


@each_win
@each_rule
@each_kind
def test_a_retransmission_of_what_came_later_should_not_be_on_record(
    win: type[Win], expected: type[AttemptEvent], later: Attempt, kind: type[AttemptEvent]
) -> None:
    """Under no name either."""
    state = after(win)
    state.apply(expected(later, 0))
    assert redecide(state, kind(later, 1)) is None


@each_kind
def test_to_decide_again_leaves_the_state_as_it_was(kind: type[AttemptEvent]) -> None:
    """Only an event that is applied changes it."""
    state = InstanceState(instance(0))
    redecide(state, kind(WINNING, 0))
    assert (state.won, state.key_owners, state.on_record) == (None, {}, set())
