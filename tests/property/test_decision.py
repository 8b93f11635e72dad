"""The decision over whole histories: what holds whoever comes in whichever order."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from random import Random

from hypothesis import given
from hypothesis import strategies as st

import strategies
from resolution_ledger import OutsideWorkspace, Replayed, Won
from resolution_ledger.domain.decision import InstanceState, decide, fold, redecide
from resolution_ledger.domain.events import (
    Attempt,
    AttemptConflicted,
    AttemptEvent,
    AttemptFenced,
    ResolutionAdopted,
    ResolutionWon,
    Submission,
    Win,
)
from resolution_ledger.infra.fingerprints import fingerprint_of, fingerprints_for
from samples import instance

INSTANCE = instance(0)
histories = st.lists(strategies.attempts, max_size=40)
wins = st.sampled_from([ResolutionWon, ResolutionAdopted])


def recorded(attempts: Iterable[Attempt], win: type[Win] = ResolutionWon) -> list[AttemptEvent]:
    """The events that these attempts, one after the other, leave on record after such a win."""
    state, events = InstanceState(INSTANCE), list[AttemptEvent]()
    for tick, attempt in enumerate(attempts):
        event_type = decide(state, attempt).event
        if event_type is ResolutionWon:
            event_type = win
        if event_type is not None:
            events.append(event_type(attempt, tick))
            state.apply(events[-1])
    return events


def decided(events: Iterable[AttemptEvent], attempt: Attempt) -> tuple[str, object]:
    """The decision on these events, in a form that can be compared (errors cannot)."""
    decision = decide(fold(INSTANCE, events), attempt)
    return repr(decision.answer), decision.event


@given(histories, wins)
def test_whatever_is_on_record_is_decided_again_as_it_was(
    attempts: list[Attempt], win: type[Win]
) -> None:
    """From the events before it alone."""
    events = recorded(attempts, win)
    for n, event in enumerate(events):
        assert redecide(fold(INSTANCE, events[:n]), event) is type(event)
        if win is ResolutionWon:
            assert decide(fold(INSTANCE, events[:n]), event.cause).event is type(event)


@given(histories, wins)
def test_nothing_that_is_on_record_belongs_there_a_second_time(
    attempts: list[Attempt], win: type[Win]
) -> None:
    """Neither at the end nor anywhere after its place."""
    events = recorded(attempts, win)
    for n in range(len(events)):
        state = fold(INSTANCE, events[: n + 1])
        assert [redecide(state, event) for event in events[: n + 1]] == [None] * (n + 1)


@given(histories.filter(bool), wins, strategies.attempts)
def test_no_adopted_win_belongs_after_a_win(
    attempts: list[Attempt], win: type[Win], attempt: Attempt
) -> None:
    """What the rules say of its attempt belongs there, if anything does."""
    events = recorded(attempts, win)
    state = fold(INSTANCE, events)
    found = redecide(state, ResolutionAdopted(attempt, 0))
    assert found is decide(state, attempt).event
    assert found not in {ResolutionAdopted, ResolutionWon}


@given(histories.filter(bool), strategies.attempts)
def test_after_an_adopted_win_every_attempt_gets_the_answer_that_it_gets_after_a_won_one(
    attempts: list[Attempt], attempt: Attempt
) -> None:
    """And leaves the same on record."""
    won, adopted = recorded(attempts), recorded(attempts, ResolutionAdopted)
    assert adopted == [ResolutionAdopted(won[0].cause, won[0].tick), *won[1:]]
    assert decided(adopted, attempt) == decided(won, attempt)


@given(histories.filter(bool))
def test_exactly_one_attempt_wins_and_it_is_the_first(attempts: list[Attempt]) -> None:
    """Nothing that comes later changes it."""
    events = recorded(attempts)
    assert [isinstance(event, ResolutionWon) for event in events] == [
        True,
        *[False] * (len(events) - 1),
    ]
    assert events[0].cause == attempts[0]


@given(histories.filter(bool), wins, strategies.attempts, st.randoms(use_true_random=False))
def test_the_events_found_by_fingerprint_decide_as_the_whole_stream_does(
    attempts: list[Attempt], win: type[Win], attempt: Attempt, random: Random
) -> None:
    """And so does any selection that holds these and keeps the order."""
    first, *later = recorded(attempts, win)
    found = fingerprints_for(INSTANCE.text, attempt)
    needed = [fingerprint_of(INSTANCE.text, event) in found for event in later]
    on_all = decided([first, *later], attempt)
    assert decided([first, *_selected(later, needed)], attempt) == on_all
    more = [must or random.random() < 0.5 for must in needed]
    assert decided([first, *_selected(later, more)], attempt) == on_all


def _selected(events: list[AttemptEvent], chosen: list[bool]) -> list[AttemptEvent]:
    return [event for event, wanted in zip(events, chosen, strict=True) if wanted]


@given(histories)
def test_a_fingerprint_finds_a_handful_of_events_at_most(attempts: list[Attempt]) -> None:
    """Two of a key, one of a submission: what an attempt costs does not grow."""
    later = recorded(attempts)[1:]
    refusals = [event for event in later if isinstance(event, AttemptConflicted | AttemptFenced)]
    uses = [event for event in later if event not in refusals]
    assert all(n <= 2 for n in Counter(fingerprint_of(INSTANCE.text, e) for e in uses).values())
    assert all(n == 1 for n in Counter(fingerprint_of(INSTANCE.text, e) for e in refusals).values())


@given(histories)
def test_the_same_submission_gets_the_same_answer_ever_after(attempts: list[Attempt]) -> None:
    """Except that Won becomes Replayed; and it leaves nothing more on record."""
    state = InstanceState(INSTANCE)
    told: dict[Submission, tuple[Attempt, str]] = {}
    for attempt in attempts:
        decision = decide(state, attempt)
        if decision.event is not None:
            state.apply(decision.event(attempt, 0))
        answer = decision.answer
        if answer == Won():
            answer = Replayed(attempt.response, own=True)
        told.setdefault(attempt.submission, (attempt, repr(answer)))
        for earlier, expected in told.values():
            again = decide(state, earlier)
            assert (repr(again.answer), again.event) == (expected, None)


@given(histories.filter(bool), strategies.attempts)
def test_outside_the_workspace_nothing_is_told_of_the_winner(
    attempts: list[Attempt], attempt: Attempt
) -> None:
    """Neither who it is nor where."""
    events = recorded(attempts)
    winning = events[0].cause
    answer = decide(fold(INSTANCE, events), attempt).answer
    assert isinstance(answer, OutsideWorkspace) is (attempt.workspace != winning.workspace)
    if isinstance(answer, OutsideWorkspace):
        told = f"{answer} {answer!r} {answer.args} {vars(answer)}"
        assert winning.response.text not in told
        assert winning.workspace not in told
        assert set(vars(answer)) == {"instance", "workspace"}
