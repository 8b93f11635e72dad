"""The decision, row by row: given what is on record, when this attempt comes, then ...

Each row is checked for two things: the right answer with the right event, and the same answer
with nothing more on record when the very same submission comes again. What comes after a win is
checked twice: after one that was witnessed, and after one that was adopted. What comes after a
withdrawal has closed the instance is checked for each reason. The withdrawals' own table is in
``test_decision_of_withdrawals``.
"""

from __future__ import annotations

from functools import partial
from typing import get_args

import pytest

from resolution_ledger import Closed, Lost, OutsideWorkspace, Replayed, ResolutionError, Won
from resolution_ledger.domain.decision import InstanceState, decide, fold
from resolution_ledger.domain.events import (
    Attempt,
    AttemptConflicted,
    AttemptFenced,
    AttemptLate,
    AttemptLost,
    AttemptReplayed,
    Event,
    InstanceClosed,
    ResolutionAdopted,
    ResolutionWon,
)
from resolution_ledger.domain.records import Reason
from samples import OTHER_WORKSPACE, WORKSPACE, attempt, instance, response, withdrawal
from unit.scenarios import FENCED, WINNING, Given, Scenario, conflict


@pytest.fixture(params=[ResolutionWon, ResolutionAdopted], ids=["won", "adopted"])
def given(request: pytest.FixtureRequest) -> Given:
    """What is on record. It begins with a win, witnessed or adopted: the rules are the same."""
    return partial(Scenario, win=request.param)


each_reason = pytest.mark.parametrize("reason", get_args(Reason))

each_submission = pytest.mark.parametrize(
    ("r", "k"),
    [
        pytest.param(0, 0, id="the winning submission itself"),
        pytest.param(0, 9, id="the winning response"),
        pytest.param(9, 0, id="the winner's key"),
        pytest.param(9, 1, id="a loser's key"),
        pytest.param(1, 1, id="a loser's submission"),
        pytest.param(9, 9, id="something new"),
    ],
)


# Row 1: nothing is on record


def test_the_first_attempt_wins() -> None:
    """Whatever it is."""
    Scenario().when(WINNING).then(Won(), ResolutionWon)


@pytest.mark.parametrize("workspace", [WORKSPACE, OTHER_WORKSPACE])
def test_the_first_attempt_of_any_workspace_wins(workspace: str) -> None:
    """The fence is put up by whoever wins."""
    Scenario().when(attempt(1, 2, workspace)).then(Won(), ResolutionWon)


# Row 2: the fence, before everything else


@each_submission
def test_whatever_comes_from_another_workspace_is_fenced(given: Given, r: int, k: int) -> None:
    """The fence stands before replays and conflicts."""
    history = given(WINNING, attempt(1, 1))
    history.when(attempt(r, k, OTHER_WORKSPACE)).then(FENCED, AttemptFenced)


@each_reason
@pytest.mark.parametrize(("r", "k"), [(1, 1), (1, 9), (9, 1), (9, 9)])
def test_whatever_comes_from_another_workspace_to_a_closed_instance_is_fenced(
    reason: Reason, r: int, k: int
) -> None:
    """The fence stands before the closing: that, too, is the workspace's own business."""
    history = Scenario(withdrawal(reason), attempt(1, 1))
    history.when(attempt(r, k, OTHER_WORKSPACE)).then(FENCED, AttemptFenced)


def test_each_fenced_submission_is_on_record_by_itself(given: Given) -> None:
    """Another key or response is another submission."""
    history = given(WINNING, attempt(1, 1, OTHER_WORKSPACE))
    history.when(attempt(1, 2, OTHER_WORKSPACE)).then(FENCED, AttemptFenced)
    history.when(attempt(2, 1, OTHER_WORKSPACE)).then(FENCED, AttemptFenced)


def test_what_was_fenced_is_no_submission_of_the_winning_workspace(given: Given) -> None:
    """The same response under the same key from there is new."""
    history = given(WINNING, attempt(1, 1, OTHER_WORKSPACE))
    history.when(attempt(1, 1)).then(Lost(response(0)), AttemptLost)


def test_what_was_fenced_is_no_submission_of_the_closing_workspace() -> None:
    """Nor of that one."""
    history = Scenario(withdrawal("expired"), attempt(1, 1, OTHER_WORKSPACE))
    history.when(attempt(1, 1)).then(Closed("expired"), AttemptLate)


# Row 3: a closed instance


@each_reason
def test_an_answer_to_a_closed_instance_is_late(reason: Reason) -> None:
    """And is told why it was closed."""
    Scenario(withdrawal(reason)).when(attempt(0, 0)).then(Closed(reason), AttemptLate)


def test_each_late_submission_is_on_record_by_itself() -> None:
    """Another key or response is another submission."""
    history = Scenario(withdrawal("expired"), attempt(1, 1))
    history.when(attempt(1, 2)).then(Closed("expired"), AttemptLate)
    history.when(attempt(2, 2)).then(Closed("expired"), AttemptLate)
    history.when(attempt(1, 1)).then(Closed("expired"), None)


def test_a_late_attempt_never_comes_to_own_its_key() -> None:
    """Row 3 comes before row 5: on a closed instance no key is in conflict."""
    history = Scenario(withdrawal("expired"), attempt(1, 1))
    for r in (2, 3, 2):
        history.when(attempt(r, 1)).then_answer(Closed("expired"))
    assert history.state.key_owners == {}


def test_a_late_attempt_owns_no_key_wherever_it_stands() -> None:
    """Not even in a log that says what the rules do not."""
    state = fold(instance(0), [ResolutionWon(WINNING, 0), AttemptLate(attempt(1, 1), 1)])
    assert decide(state, attempt(2, 1)).answer == Lost(response(0))


@each_reason
def test_later_withdrawals_do_not_change_what_an_answer_is_told(reason: Reason) -> None:
    """The reason is that of the withdrawal that closed the instance."""
    history = Scenario(withdrawal("expired"), withdrawal(reason), withdrawal("withdrawn", "ws-2"))
    history.when(attempt(0, 0)).then(Closed("expired"), AttemptLate)


# Row 4: the response that has won


def test_the_winning_response_under_a_new_key_is_replayed(given: Given) -> None:
    """It has won, but not through this submission."""
    given(WINNING).when(attempt(0, 1)).then(Replayed(response(0), own=False), AttemptReplayed)


def test_the_winning_submission_is_told_that_it_had_won(given: Given) -> None:
    """Whoever lost the reply to its Won learns it here."""
    given(WINNING).when(WINNING).then(Replayed(response(0), own=True), None)


def test_the_winning_response_under_a_losers_key_is_replayed(given: Given) -> None:
    """Row 4 comes before row 5."""
    history = given(WINNING, attempt(1, 1))
    history.when(attempt(0, 1)).then(Replayed(response(0), own=False), AttemptReplayed)


# Row 5: a key that belongs to another response


def test_the_winners_key_belongs_to_the_winner(given: Given) -> None:
    """Its promise was to send that response."""
    given(WINNING).when(attempt(1, 0)).then(conflict(0, existing=0, presented=1), AttemptConflicted)


def test_a_key_belongs_to_the_loser_that_first_used_it(given: Given) -> None:
    """A key is a promise whether it won or not."""
    history = given(WINNING, attempt(1, 1))
    history.when(attempt(2, 1)).then(conflict(1, existing=1, presented=2), AttemptConflicted)


def test_a_key_belongs_to_the_replay_that_first_used_it(given: Given) -> None:
    """To the response that has won, then."""
    history = given(WINNING, attempt(0, 1))
    history.when(attempt(1, 1)).then(conflict(1, existing=0, presented=1), AttemptConflicted)


def test_a_replay_under_a_losers_key_does_not_take_it_over(given: Given) -> None:
    """The first use counts."""
    history = given(WINNING, attempt(1, 1), attempt(0, 1))
    history.when(attempt(2, 1)).then(conflict(1, existing=1, presented=2), AttemptConflicted)
    history.when(attempt(1, 1)).then(Lost(response(0)), None)


def test_a_conflicted_attempt_does_not_come_to_own_the_key(given: Given) -> None:
    """However often it is tried, by whomever."""
    history = given(WINNING, attempt(1, 1), attempt(2, 1), attempt(3, 1))
    history.when(attempt(4, 1)).then(conflict(1, existing=1, presented=4), AttemptConflicted)
    history.when(attempt(2, 1)).then(conflict(1, existing=1, presented=2), None)


def test_a_fenced_attempt_does_not_come_to_own_the_key(given: Given) -> None:
    """Or a stranger could spoil the keys of a workspace."""
    history = given(WINNING, attempt(1, 1, OTHER_WORKSPACE))
    history.when(attempt(2, 1)).then(Lost(response(0)), AttemptLost)


# Row 6: all others


def test_another_response_under_another_key_has_lost(given: Given) -> None:
    """And is told to whom."""
    given(WINNING).when(attempt(1, 1)).then(Lost(response(0)), AttemptLost)


def test_a_loser_under_one_more_key_has_lost_once_more(given: Given) -> None:
    """It is another submission, and goes on record."""
    given(WINNING, attempt(1, 1)).when(attempt(1, 2)).then(Lost(response(0)), AttemptLost)


def test_a_response_whose_key_was_refused_may_come_under_another_key(given: Given) -> None:
    """A conflict is about the key."""
    given(WINNING, attempt(1, 0)).when(attempt(1, 1)).then(Lost(response(0)), AttemptLost)


@each_reason
@each_submission
@pytest.mark.parametrize("workspace", [WORKSPACE, OTHER_WORKSPACE])
def test_a_withdrawal_that_came_to_nothing_changes_no_answer(
    given: Given, reason: Reason, r: int, k: int, workspace: str
) -> None:
    """It closes nothing, owns no key, and is no attempt."""
    plain, after = given(WINNING, attempt(1, 1)), given(WINNING, attempt(1, 1))
    after.when(withdrawal(reason, workspace)).then_answer(
        Lost(response(0)) if workspace == WORKSPACE else FENCED
    )
    assert after.decide(attempt(r, k)) == plain.decide(attempt(r, k))


# Throughout


@pytest.mark.parametrize(
    ("earlier", "answer"),
    [
        (attempt(0, 0, by="tty"), Replayed(response(0), own=True)),
        (attempt(0, 1, by="tty"), Replayed(response(0), own=False)),
        (attempt(1, 1, by="tty"), Lost(response(0))),
        (attempt(1, 0, by="tty"), conflict(0, existing=0, presented=1)),
        (attempt(1, 1, OTHER_WORKSPACE, by="tty"), FENCED),
    ],
    ids=["won", "replayed", "lost", "conflicted", "fenced"],
)
def test_a_submission_is_the_same_whoever_claims_to_have_sent_it(
    given: Given, earlier: Attempt, answer: Won | Lost | Replayed | ResolutionError
) -> None:
    """A label is shown, never compared."""
    same = Attempt(earlier.workspace, earlier.response, earlier.idempotency_key, "web:7f3a")
    given(WINNING, earlier).when(same).then(answer, None)


def test_a_late_submission_is_the_same_whoever_claims_to_have_sent_it() -> None:
    """Whoever closed the instance, too."""
    history = Scenario(withdrawal("expired", by="tty"), attempt(1, 1, by="tty"))
    history.when(attempt(1, 1, by="web:7f3a")).then(Closed("expired"), None)


def test_a_decision_leaves_the_state_as_it_was() -> None:
    """Only an event changes it."""
    state = InstanceState(instance(0))
    assert [repr(decide(state, WINNING)) for _ in range(2)] == [repr(decide(state, WINNING))] * 2
    assert (state.first, state.key_owners, state.on_record) == (None, {}, set())


@pytest.mark.parametrize("n", [0, 1])
@pytest.mark.parametrize(
    "first", [ResolutionWon(WINNING, 0), InstanceClosed(withdrawal("expired"), 0)]
)
def test_a_refusal_names_the_instance_that_was_asked_about(n: int, first: Event) -> None:
    """A state knows of one instance alone, so no other has a say in its keys."""
    state = InstanceState(instance(n))
    state.apply(first)
    answer = decide(state, attempt(0, 0, OTHER_WORKSPACE)).answer
    assert isinstance(answer, OutsideWorkspace)
    assert answer.instance == instance(n)
    assert answer.workspace == OTHER_WORKSPACE
