"""The decision on withdrawals, row by row, as ``test_decision`` has it for attempts."""

from __future__ import annotations

from functools import partial
from typing import get_args

import pytest

from resolution_ledger import Closed, Lost, OutsideWorkspace, Replayed, Withdrawn
from resolution_ledger.domain.decision import InstanceState, decide
from resolution_ledger.domain.events import (
    AttemptConflicted,
    AttemptLost,
    Event,
    InstanceClosed,
    ResolutionAdopted,
    ResolutionWon,
    Withdrawal,
    WithdrawalFenced,
    WithdrawalLate,
    WithdrawalLost,
)
from resolution_ledger.domain.records import Reason
from samples import OTHER_WORKSPACE, WORKSPACE, attempt, instance, response, withdrawal
from unit.scenarios import FENCED, WINNING, Given, Scenario, conflict

EXPIRED, WITHDRAWN = withdrawal("expired"), withdrawal("withdrawn")

each_reason = pytest.mark.parametrize("reason", get_args(Reason))


@pytest.fixture(params=[ResolutionWon, ResolutionAdopted], ids=["won", "adopted"])
def given(request: pytest.FixtureRequest) -> Given:
    """What is on record. It begins with a win, witnessed or adopted: the rules are the same."""
    return partial(Scenario, win=request.param)


def test_there_are_two_reasons() -> None:
    """Each is tried below."""
    assert set(get_args(Reason)) == {"expired", "withdrawn"}


# Row 1: nothing is on record


@each_reason
@pytest.mark.parametrize("workspace", [WORKSPACE, OTHER_WORKSPACE])
def test_a_withdrawal_that_comes_first_closes_the_instance(reason: Reason, workspace: str) -> None:
    """For whatever reason, from any workspace: the fence is put up by it."""
    Scenario().when(withdrawal(reason, workspace)).then(Withdrawn(), InstanceClosed)


# Row 2: the fence, before everything else


@each_reason
def test_a_withdrawal_from_another_workspace_than_the_winners_is_fenced(
    given: Given, reason: Reason
) -> None:
    """It is told nothing of who won."""
    history = given(WINNING, attempt(1, 1))
    history.when(withdrawal(reason, OTHER_WORKSPACE)).then(FENCED, WithdrawalFenced)


@each_reason
@pytest.mark.parametrize("closed", get_args(Reason))
def test_a_withdrawal_from_another_workspace_than_the_closing_one_is_fenced(
    closed: Reason, reason: Reason
) -> None:
    """The same reason or another: it is told nothing of either."""
    history = Scenario(withdrawal(closed))
    history.when(withdrawal(reason, OTHER_WORKSPACE)).then(FENCED, WithdrawalFenced)


def test_each_fenced_withdrawal_is_on_record_by_itself(given: Given) -> None:
    """Another reason is another submission."""
    history = given(WINNING, withdrawal("expired", OTHER_WORKSPACE))
    history.when(withdrawal("withdrawn", OTHER_WORKSPACE)).then(FENCED, WithdrawalFenced)
    history.when(withdrawal("expired", OTHER_WORKSPACE)).then(FENCED, None)


def test_what_was_fenced_is_no_withdrawal_of_the_winning_workspace(given: Given) -> None:
    """The same reason from there is new."""
    history = given(WINNING, withdrawal("expired", OTHER_WORKSPACE))
    history.when(EXPIRED).then(Lost(response(0)), WithdrawalLost)


def test_what_was_fenced_is_no_withdrawal_of_the_closing_workspace() -> None:
    """Nor of that one."""
    history = Scenario(EXPIRED, withdrawal("withdrawn", OTHER_WORKSPACE))
    history.when(WITHDRAWN).then(Closed("expired"), WithdrawalLate)


def test_a_fenced_withdrawal_is_no_fenced_attempt(given: Given) -> None:
    """A workspace that tried both has both on record."""
    history = given(WINNING, attempt(1, 1, OTHER_WORKSPACE))
    history.when(withdrawal("expired", OTHER_WORKSPACE)).then(FENCED, WithdrawalFenced)


# Row 3: a closed instance


@pytest.mark.parametrize(("first", "second"), [(EXPIRED, WITHDRAWN), (WITHDRAWN, EXPIRED)])
def test_a_withdrawal_for_another_reason_is_late(first: Withdrawal, second: Withdrawal) -> None:
    """It is told the reason that counts: the first one."""
    Scenario(first).when(second).then(Closed(first.reason), WithdrawalLate)


@each_reason
def test_the_withdrawal_that_closed_the_instance_is_told_so_when_it_comes_again(
    reason: Reason,
) -> None:
    """Whoever lost the reply to its Withdrawn learns it here."""
    Scenario(withdrawal(reason)).when(withdrawal(reason)).then(Closed(reason), None)


def test_late_answers_change_nothing_for_a_withdrawal() -> None:
    """Theirs is another table."""
    history = Scenario(EXPIRED, attempt(0, 0), attempt(1, 1, OTHER_WORKSPACE))
    history.when(WITHDRAWN).then(Closed("expired"), WithdrawalLate)
    history.when(EXPIRED).then(Closed("expired"), None)


# Row 4: a response has won


@each_reason
def test_a_withdrawal_after_a_win_has_lost(given: Given, reason: Reason) -> None:
    """And is told to which response."""
    given(WINNING).when(withdrawal(reason)).then(Lost(response(0)), WithdrawalLost)


def test_each_withdrawal_that_lost_is_on_record_by_itself(given: Given) -> None:
    """Another reason is another submission."""
    history = given(WINNING, EXPIRED)
    history.when(WITHDRAWN).then(Lost(response(0)), WithdrawalLost)
    history.when(EXPIRED).then(Lost(response(0)), None)


def test_after_a_withdrawal_has_lost_keys_belong_to_whom_they_belonged(given: Given) -> None:
    """And the winner has still won."""
    history = given(WINNING, attempt(1, 1), EXPIRED)
    history.when(WINNING).then(Replayed(response(0), own=True), None)
    history.when(attempt(2, 1)).then(conflict(1, existing=1, presented=2), AttemptConflicted)
    history.when(attempt(2, 2)).then(Lost(response(0)), AttemptLost)


# Throughout


@pytest.mark.parametrize(
    ("earlier", "answer"),
    [(EXPIRED, Lost(response(0))), (withdrawal("expired", OTHER_WORKSPACE), FENCED)],
    ids=["lost", "fenced"],
)
def test_a_withdrawal_is_the_same_whoever_claims_to_have_sent_it(
    given: Given, earlier: Withdrawal, answer: Lost | OutsideWorkspace
) -> None:
    """A label is shown, never compared."""
    again = withdrawal("expired", earlier.workspace, by="web:7f3a")
    given(WINNING, earlier).when(again).then(answer, None)


def test_a_withdrawal_that_closed_is_the_same_whoever_claims_to_have_sent_it() -> None:
    """And so is one that came too late."""
    history = Scenario(withdrawal("expired", by="tty"), withdrawal("withdrawn", by="tty"))
    for reason in get_args(Reason):
        history.when(withdrawal(reason, by="web:7f3a")).then(Closed("expired"), None)


@each_reason
def test_a_decision_leaves_the_state_as_it_was(reason: Reason) -> None:
    """Only an event changes it."""
    state = InstanceState(instance(0))
    for _ in range(2):
        assert decide(state, withdrawal(reason)).answer == Withdrawn()
    assert (state.first, state.key_owners, state.on_record) == (None, {}, set())


@pytest.mark.parametrize("n", [0, 1])
@pytest.mark.parametrize(
    "first",
    [ResolutionWon(WINNING, 0), ResolutionAdopted(WINNING, 0), InstanceClosed(EXPIRED, 0)],
    ids=["won", "adopted", "closed"],
)
def test_a_refusal_names_the_instance_and_the_workspace_that_asked(first: Event, n: int) -> None:
    """Nothing else: not who was first, nor where, nor why."""
    state = InstanceState(instance(n))
    state.apply(first)
    answer = decide(state, withdrawal("withdrawn", OTHER_WORKSPACE)).answer
    assert isinstance(answer, OutsideWorkspace)
    assert vars(answer) == {"instance": instance(n), "workspace": OTHER_WORKSPACE}
