"""The decision, row by row: given what is on record, when this attempt comes, then ...

Each row is checked for two things: the right answer with the right event, and the same answer
with nothing more on record when the very same submission comes again. Each is checked twice:
after a win that was witnessed, and after one that was adopted.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import pytest

from resolution_ledger import (
    IdempotencyConflict,
    Lost,
    OutsideWorkspace,
    Replayed,
    ResolutionError,
    Won,
)
from resolution_ledger.domain.decision import InstanceState, decide
from resolution_ledger.domain.events import (
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
from samples import OTHER_WORKSPACE, WORKSPACE, attempt, instance, key, response


class Scenario:
    """``given(...).when(...).then(...)``."""

    def __init__(self, *before: Attempt, win: type[Win] = ResolutionWon) -> None:
        self._state = InstanceState(instance(0))
        self._win = win
        for earlier in before:
            self._decide(earlier)

    def when(self, now: Attempt) -> Scenario:
        """Let this attempt come."""
        self._attempt = now
        return self

    def then(
        self, answer: Won | Lost | Replayed | ResolutionError, event: type[AttemptEvent] | None
    ) -> None:
        """It gets this answer and this event, and no second event if it comes again."""
        assert self._decide(self._attempt) == (repr(answer), event)
        again = Replayed(self._attempt.response, own=True) if answer == Won() else answer
        assert self._decide(self._attempt) == (repr(again), None)

    def _decide(self, now: Attempt) -> tuple[str, type[AttemptEvent] | None]:
        decision = decide(self._state, now)
        if decision.event is not None:
            event = self._win if decision.event is ResolutionWon else decision.event
            self._state.apply(event(now, 0))
        return repr(decision.answer), decision.event  # equal errors have equal texts only


Given = Callable[..., Scenario]


@pytest.fixture(params=[ResolutionWon, ResolutionAdopted], ids=["won", "adopted"])
def given(request: pytest.FixtureRequest) -> Given:
    """What is on record. It begins with a win, witnessed or adopted: the rules are the same."""
    return partial(Scenario, win=request.param)


WINNING = attempt(0, 0)
FENCED = OutsideWorkspace(instance(0), OTHER_WORKSPACE)


def conflict(k: int, *, existing: int, presented: int) -> IdempotencyConflict:
    """The refusal of a key that belongs to another response."""
    return IdempotencyConflict(key(k), response(existing), response(presented))


# Row 1: nothing is on record


def test_the_first_attempt_wins() -> None:
    """Whatever it is."""
    Scenario().when(WINNING).then(Won(), ResolutionWon)


@pytest.mark.parametrize("workspace", [WORKSPACE, OTHER_WORKSPACE])
def test_the_first_attempt_of_any_workspace_wins(workspace: str) -> None:
    """The fence is put up by whoever wins."""
    Scenario().when(attempt(1, 2, workspace)).then(Won(), ResolutionWon)


# Row 2: the fence, before everything else


@pytest.mark.parametrize(
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
def test_whatever_comes_from_another_workspace_is_fenced(given: Given, r: int, k: int) -> None:
    """The fence stands before replays and conflicts."""
    history = given(WINNING, attempt(1, 1))
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


# Row 3: the response that has won


def test_the_winning_response_under_a_new_key_is_replayed(given: Given) -> None:
    """It has won, but not through this submission."""
    given(WINNING).when(attempt(0, 1)).then(Replayed(response(0), own=False), AttemptReplayed)


def test_the_winning_submission_is_told_that_it_had_won(given: Given) -> None:
    """Whoever lost the reply to its Won learns it here."""
    given(WINNING).when(WINNING).then(Replayed(response(0), own=True), None)


def test_the_winning_response_under_a_losers_key_is_replayed(given: Given) -> None:
    """Row 3 comes before row 4."""
    history = given(WINNING, attempt(1, 1))
    history.when(attempt(0, 1)).then(Replayed(response(0), own=False), AttemptReplayed)


# Row 4: a key that belongs to another response


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


# Row 5: all others


def test_another_response_under_another_key_has_lost(given: Given) -> None:
    """And is told to whom."""
    given(WINNING).when(attempt(1, 1)).then(Lost(response(0)), AttemptLost)


def test_a_loser_under_one_more_key_has_lost_once_more(given: Given) -> None:
    """It is another submission, and goes on record."""
    given(WINNING, attempt(1, 1)).when(attempt(1, 2)).then(Lost(response(0)), AttemptLost)


def test_a_response_whose_key_was_refused_may_come_under_another_key(given: Given) -> None:
    """A conflict is about the key."""
    given(WINNING, attempt(1, 0)).when(attempt(1, 1)).then(Lost(response(0)), AttemptLost)


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


def test_a_decision_leaves_the_state_as_it_was() -> None:
    """Only an event changes it."""
    state = InstanceState(instance(0))
    assert [repr(decide(state, WINNING)) for _ in range(2)] == [repr(decide(state, WINNING))] * 2
    assert state.won is None


@pytest.mark.parametrize("n", [0, 1])
def test_a_refusal_names_the_instance_that_was_asked_about(n: int) -> None:
    """A state knows of one instance alone, so no other has a say in its keys."""
    state = InstanceState(instance(n))
    state.apply(ResolutionWon(WINNING, 0))
    answer = decide(state, attempt(0, 0, OTHER_WORKSPACE)).answer
    assert isinstance(answer, OutsideWorkspace)
    assert answer.instance == instance(n)
    assert answer.workspace == OTHER_WORKSPACE
